/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM dyndbg

#if !defined(_TRACE_DYNDBG_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_DYNDBG_H

#include <linux/dynamic_debug.h>
#include <linux/printk.h>
#include <linux/tracepoint.h>

/*
 * A message of a site that has the flag T. @size is that of its text, with the
 * NUL, as far as it is recorded.
 */
TRACE_EVENT(dyndbg_message,
	    TP_PROTO(const struct _ddebug *site, const char *device,
		     struct va_format *vaf, unsigned int size),
	    TP_ARGS(site, device, vaf, size),
	    TP_STRUCT__entry(__string(module, site->modname)
			     __string(function, site->function)
			     __string(device, device)
			     __field(unsigned int, line)
			     __dynamic_array(char, message, size)),
	    TP_fast_assign(__assign_str(module);
			   __assign_str(function);
			   __assign_str(device);
			   __entry->line = site->lineno;
			   ddebug_print_message(__get_str(message), size, vaf);),
	    TP_printk("%s:%s:%u %s%s%s", __get_str(module),
		      __get_str(function), __entry->line, __get_str(device),
		      /* libtraceevent knows no unary * */
		      __get_dynamic_array_len(device) > 1 ? ": " : "",
		      __get_str(message))
);

#endif /* _TRACE_DYNDBG_H */

#include <trace/define_trace.h>

/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM dyndbg

#if !defined(_TRACE_DYNDBG_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_DYNDBG_H

#include <linux/dynamic_debug.h>
#include <linux/tracepoint.h>

struct va_format;

/* In lib/dynamic_debug.c */
unsigned int ddebug_message_size(struct va_format *vaf);
void ddebug_message(char *message, unsigned int size, struct va_format *vaf);

/* A message of a site that has the flag T */
TRACE_EVENT(dyndbg_message,
	    TP_PROTO(const struct _ddebug *site, const char *device,
		     struct va_format *vaf),
	    TP_ARGS(site, device, vaf),
	    TP_STRUCT__entry(__string(module, site->modname)
			     __string(function, site->function)
			     __string(device, device)
			     __field(unsigned int, line)
			     __dynamic_array(char, message,
					     ddebug_message_size(vaf))),
	    TP_fast_assign(__assign_str(module);
			   __assign_str(function);
			   __assign_str(device);
			   __entry->line = site->lineno;
			   ddebug_message(__get_dynamic_array(message),
					  __get_dynamic_array_len(message),
					  vaf);),
	    TP_printk("%s:%s:%u %s%s%s", __get_str(module),
		      __get_str(function), __entry->line, __get_str(device),
		      *__get_str(device) ? ": " : "", __get_str(message))
);

#endif /* _TRACE_DYNDBG_H */

#include <trace/define_trace.h>

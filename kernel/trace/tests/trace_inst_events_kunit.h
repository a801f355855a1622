/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM trace_inst_kunit

#if !defined(_TRACE_INST_EVENTS_KUNIT_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_INST_EVENTS_KUNIT_H

#include <linux/tracepoint.h>

/* The line has three characters for each byte of @len, and more. */
DECLARE_EVENT_CLASS(inst_kunit,
		    TP_PROTO(u32 source, u32 seq, u32 len),
		    TP_ARGS(source, seq, len),
		    TP_STRUCT__entry(__field(u32, source)
				     __field(u32, seq)
				     __dynamic_array(u8, pattern, len)),
		    TP_fast_assign(__entry->source = source;
				   __entry->seq = seq;
				   memset(__get_dynamic_array(pattern),
					  seq & 0xff, len);),
		    TP_printk("source=%u seq=%u pattern=%s", __entry->source,
			      __entry->seq,
			      __print_hex(__get_dynamic_array(pattern),
					  __get_dynamic_array_len(pattern)))
);

DEFINE_EVENT(inst_kunit, inst_kunit,
	     TP_PROTO(u32 source, u32 seq, u32 len),
	     TP_ARGS(source, seq, len)
);

DEFINE_EVENT(inst_kunit, inst_kunit_other,
	     TP_PROTO(u32 source, u32 seq, u32 len),
	     TP_ARGS(source, seq, len)
);

u32 inst_kunit_print(u32 seq);

/* To print it calls the suite of readers. */
DEFINE_EVENT_PRINT(inst_kunit, inst_kunit_print_hook,
		   TP_PROTO(u32 source, u32 seq, u32 len),
		   TP_ARGS(source, seq, len),
		   TP_printk("seq=%u", inst_kunit_print(__entry->seq))
);

#endif /* _TRACE_INST_EVENTS_KUNIT_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE trace_inst_events_kunit

#include <trace/define_trace.h>

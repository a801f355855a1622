/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM trace_instance_kunit

#if !defined(_TRACE_INSTANCE_KUNIT_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_INSTANCE_KUNIT_H

#include <linux/tracepoint.h>

TRACE_EVENT(no_fields_kunit,
	    TP_PROTO(int unused),
	    TP_ARGS(unused),
	    TP_STRUCT__entry(),
	    TP_fast_assign(),
	    TP_printk("%s", "nothing")
);

#endif /* _TRACE_INSTANCE_KUNIT_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE trace_instance_kunit

#include <trace/define_trace.h>

/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM quilt_bench

#if !defined(_QUILT_BENCH_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _QUILT_BENCH_EVENTS_H

#include <linux/tracepoint.h>

TRACE_EVENT(bench_two_u64,
	TP_PROTO(u64 a, u64 b),
	TP_ARGS(a, b),
	TP_STRUCT__entry(
		__field(u64, a)
		__field(u64, b)
	),
	TP_fast_assign(
		__entry->a = a;
		__entry->b = b;
	),
	TP_printk("a=%llu b=%llu", __entry->a, __entry->b)
);

TRACE_EVENT(bench_int_string,
	TP_PROTO(int number, const char *name),
	TP_ARGS(number, name),
	TP_STRUCT__entry(
		__field(int, number)
		__string(name, name)
	),
	TP_fast_assign(
		__entry->number = number;
		__assign_str(name);
	),
	TP_printk("number=%d name=%s", __entry->number, __get_str(name))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE quilt_bench_events
#include <trace/define_trace.h>

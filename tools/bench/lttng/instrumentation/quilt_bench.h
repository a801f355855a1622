/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM bench

#if !defined(_LTTNG_QUILT_BENCH_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LTTNG_QUILT_BENCH_H

#include <lttng/tracepoint-event.h>

LTTNG_TRACEPOINT_EVENT(bench_two_u64,
	TP_PROTO(u64 a, u64 b),
	TP_ARGS(a, b),
	TP_FIELDS(
		ctf_integer(uint64_t, a, a)
		ctf_integer(uint64_t, b, b)
	)
)

LTTNG_TRACEPOINT_EVENT(bench_int_string,
	TP_PROTO(int number, const char *name),
	TP_ARGS(number, name),
	TP_FIELDS(
		ctf_integer(int, number, number)
		ctf_string(name, name)
	)
)

#endif

#include <lttng/define_trace.h>

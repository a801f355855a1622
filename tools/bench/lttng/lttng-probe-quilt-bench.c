// SPDX-License-Identifier: GPL-2.0
/*
 * LTTng's side of the events of the module quilt_bench: what one record of
 * LTTng costs that has the same fields as one of ftrace.
 */
#include <linux/module.h>
#include <lttng/tracer.h>

#include "../module/quilt_bench_events.h"

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define LTTNG_PACKAGE_BUILD
#define CREATE_TRACE_POINTS
#define TRACE_INCLUDE_PATH instrumentation
#define TRACE_INCLUDE_FILE quilt_bench

#include "instrumentation/quilt_bench.h"

MODULE_DESCRIPTION("LTTng probes for the events of quilt_bench");
MODULE_LICENSE("GPL and additional rights");

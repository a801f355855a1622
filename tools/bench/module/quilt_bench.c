// SPDX-License-Identifier: GPL-2.0
/*
 * What does one record cost? Each row of bench_rows[] is a loop around one
 * way to record something. Loading the module with row=N sets the row up,
 * times it and prints one line; unloading undoes the setup. In between the
 * caller can read from tracefs that the records were really written.
 *
 * A batch of the loop runs with interrupts off on one CPU. On x86_64 the
 * clock is the TSC: under QEMU with -icount shift=0 it counts the
 * instructions that the guest has executed. On arm64 it is the virtual
 * counter, which counts them there in steps of 16. Elsewhere it is ktime,
 * in nanoseconds.
 *
 * A row with .irqs is timed call by call with interrupts on, and sleeps between
 * two calls: what a call queues, for an interrupt of this CPU, belongs to its
 * cost, and a task that it wakes is to wait again.
 *
 * A new row: a loop made by BENCH_LOOP(), a setup and a teardown if nothing
 * here fits, a line in bench_rows[]. The module is built against the base
 * too, so what only the quilt has goes under an #ifdef; the report leaves
 * the base's column of such a row empty.
 */
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/timex.h>
#include <linux/trace.h>
#include <linux/trace_events.h>
#include <linux/umh.h>

#if __has_include(<linux/trace_instance.h>)
#include <linux/trace_instance.h>
#define BENCH_INSTANCES
#endif

#if __has_include(<linux/ktrace.h>)
#include <linux/ktrace.h>
#endif

#define CREATE_TRACE_POINTS
#include "quilt_bench_events.h"

#define MAX_EXPORTS	16

static uint row;
module_param(row, uint, 0444);
MODULE_PARM_DESC(row, "index of the row to run");

static char *name;
module_param(name, charp, 0444);
MODULE_PARM_DESC(name, "name of the row to run, instead of its index");

static ulong calls = 20000;
module_param(calls, ulong, 0444);
MODULE_PARM_DESC(calls, "calls in a batch");

static uint batches = 3;
module_param(batches, uint, 0444);
MODULE_PARM_DESC(batches, "batches that are timed");

static uint irq_calls = 1001;
module_param(irq_calls, uint, 0444);
MODULE_PARM_DESC(irq_calls, "calls that are timed for a row with interrupts on");

static char *only;
module_param(only, charp, 0444);
MODULE_PARM_DESC(only, "rows that have not this in their names are left out");

static int exporters = -1;
module_param(exporters, int, 0444);
MODULE_PARM_DESC(exporters, "how many exporters the row has, instead of its own number");

static char *before;
module_param(before, charp, 0444);
MODULE_PARM_DESC(before, "shell command behind the row's setup, for a tracer that is none of ftrace's");

static char *after;
module_param(after, charp, 0444);
MODULE_PARM_DESC(after, "shell command before the row's teardown");

static ulong warmup = 60000;
module_param(warmup, ulong, 0444);
MODULE_PARM_DESC(warmup, "calls before the first timed batch, enough to fill the buffer once");

struct bench_row {
	const char	*name;
	void		(*loop)(u64 n);
	int		(*setup)(const struct bench_row *row);
	void		(*teardown)(const struct bench_row *row);
	const char	*system;	/* quilt_bench unless told */
	const char	*event;		/* for the event_* setups */
	int		exports;
	int		records;	/* a call writes into buffers that tracefs shows */
	uint		kib;		/* for the snapshot_* setups */
	const char	*shell;		/* what snapshot_setup() and file_setup() do, too */
	const char	*undo;		/* the same for file_teardown() */
	bool		irqs;		/* the handlers of interrupts count */
	uint		rest;		/* us between two calls of these, 500 unless told */
};

#ifdef CONFIG_X86_64
#ifndef CONFIG_UML
#define BENCH_UNIT "instructions"
static u64 bench_clock(void)
{
	return get_cycles();
}
#endif
#endif
#ifdef CONFIG_ARM64
#define BENCH_UNIT "instructions"
static u64 bench_clock(void)
{
	return mul_u64_u32_div(get_cycles(), NSEC_PER_SEC, arch_timer_get_cntfrq());
}
#endif
#ifndef BENCH_UNIT
#define BENCH_UNIT "ns"
static u64 bench_clock(void)
{
	return ktime_get_ns();
}
#endif

/* The body sees the number of the call in i. */
#define BENCH_LOOP(name, body)				\
static noinline void name(u64 n)			\
{							\
	for (u64 i = 0; i < n; i++) {			\
		body;					\
		barrier();				\
	}						\
}

/* Text gets longer with the number: these have 7 digits each. */
#define VALUE_A	(1000000 + i)
#define VALUE_B	7654321ULL

static ulong calls_made;
static struct trace_buffer *ring;
static const u64 ring_record[3] = { 1, 2, 3 };
static struct trace_array *instance;

/* Exactly two instructions a call: the reader of the result checks the clock with it. */
static noinline void loop_two_instructions(u64 n)
{
#ifdef CONFIG_X86_64
	asm volatile("1: dec %0; jnz 1b" : "+r" (n) : : "cc");
#elif defined(CONFIG_ARM64)
	asm volatile("1: subs %0, %0, #1; b.ne 1b" : "+r" (n) : : "cc");
#endif
}

BENCH_LOOP(loop_empty, )
BENCH_LOOP(loop_two_u64, trace_bench_two_u64(VALUE_A, VALUE_B))
BENCH_LOOP(loop_int_string, trace_bench_int_string(i, "link_down"))
BENCH_LOOP(loop_ring, ring_buffer_write(ring, sizeof(ring_record), (void *)ring_record))
BENCH_LOOP(loop_puts, trace_puts("link_down\n"))
BENCH_LOOP(loop_printk, trace_printk("a=%llu b=%llu\n", VALUE_A, VALUE_B))
#ifdef CONFIG_DYNAMIC_DEBUG_CORE
BENCH_LOOP(loop_pr_debug, dynamic_pr_debug("a=%llu b=%llu\n", VALUE_A, VALUE_B))
#endif
BENCH_LOOP(loop_printk_string, trace_printk("number=%d name=%s\n", (int)i, "link_down"))
BENCH_LOOP(loop_array_printk,
	   trace_array_printk(instance, _THIS_IP_, "a=%llu b=%llu\n", VALUE_A, VALUE_B))

#ifdef ktrace
#define BENCH_KTRACE
BENCH_LOOP(loop_ktrace_two_u64,
	   ktrace(bench_ktrace_two_u64, "a=%llu b=%llu", VALUE_A, VALUE_B))
BENCH_LOOP(loop_ktrace_int_string,
	   ktrace(bench_ktrace_int_string, "number=%d name=%s", (int)i, "link_down"))
#endif

BENCH_LOOP(loop_snapshot, tracing_snapshot())

static const char *event_system(const struct bench_row *row)
{
	return row->system ?: "quilt_bench";
}

static int ring_setup(const struct bench_row *row)
{
	ring = ring_buffer_alloc(1 << 20, RB_FL_OVERWRITE);
	return ring ? 0 : -ENOMEM;
}

static void ring_teardown(const struct bench_row *row)
{
	ulong records = ring_buffer_entries(ring) + ring_buffer_overruns(ring);

	if (records != calls_made)
		pr_err("bench: error: %lu records in the ring buffer, not %lu\n",
		       records, calls_made);
	ring_buffer_free(ring);
}

static void noop_write(struct trace_export *export, const void *buf, unsigned int len)
{
}

static struct trace_export exports[MAX_EXPORTS];

static void exports_unregister(int n)
{
	while (n--)
		unregister_ftrace_export(&exports[n]);
}

static int exports_register(int n)
{
	int ret;

	for (int i = 0; i < n; i++) {
		exports[i].write = noop_write;
		exports[i].flags = TRACE_EXPORT_EVENT;
		ret = register_ftrace_export(&exports[i]);
		if (ret) {
			exports_unregister(i);
			return ret;
		}
	}
	return 0;
}

static int exports_of(const struct bench_row *row)
{
	return exporters < 0 ? row->exports : min(exporters, MAX_EXPORTS);
}

static int event_setup(const struct bench_row *row)
{
	int ret = exports_register(exports_of(row));

	if (ret)
		return ret;
	ret = trace_set_clr_event(event_system(row), row->event, 1);
	if (ret)
		exports_unregister(exports_of(row));
	return ret;
}

static void event_teardown(const struct bench_row *row)
{
	trace_set_clr_event(event_system(row), row->event, 0);
	exports_unregister(exports_of(row));
}

/* All exporters come and go first: with none left nothing of them may remain. */
static int event_setup_exports_gone(const struct bench_row *row)
{
	int ret = exports_register(MAX_EXPORTS);

	if (ret)
		return ret;
	exports_unregister(MAX_EXPORTS);
	return event_setup(row);
}

#ifdef TRACE_EXPORT_TRACER
#define BENCH_INSTANCE_EXPORTS
static void noop_write_record(struct trace_export *export,
			      const struct trace_export_record *record)
{
}

static int event_setup_record(const struct bench_row *row)
{
	exports[0].write_record = noop_write_record;
	return event_setup(row);
}

static void event_teardown_record(const struct bench_row *row)
{
	event_teardown(row);
	exports[0].write_record = NULL;
}
#endif

static void instance_destroy(struct trace_array *tr)
{
#ifdef BENCH_PUT_AND_DESTROY
	if (trace_array_put_and_destroy(tr))
		trace_array_put(tr);
#else
	trace_array_put(tr);
	trace_array_destroy(tr);
#endif
}

static void instance_teardown(const struct bench_row *row)
{
	if (row->event)
		trace_array_set_clr_event(instance, event_system(row), row->event, false);
	instance_destroy(instance);
}

static int instance_setup(const struct bench_row *row)
{
	int ret;

	instance = trace_array_get_by_name("quilt_bench", NULL);
	if (!instance)
		return -ENOMEM;
	ret = trace_array_init_printk(instance);
	if (!ret && row->event)
		ret = trace_array_set_clr_event(instance, event_system(row), row->event,
						true);
	if (ret)
		instance_teardown(row);
	return ret;
}

#ifdef BENCH_INSTANCE_EXPORTS
static struct trace_array *exporting;

static void elsewhere_end(void)
{
	trace_array_unregister_export(exporting, &exports[0]);
	instance_destroy(exporting);
}

static void elsewhere_teardown(const struct bench_row *row)
{
	instance_teardown(row);
	elsewhere_end();
}

/* The export is on an instance other than the event's. */
static int elsewhere_setup(const struct bench_row *row)
{
	int ret;

	exporting = trace_array_get_by_name("quilt_bench_exporting", NULL);
	if (!exporting)
		return -ENOMEM;
	exports[0].write = noop_write;
	exports[0].flags = TRACE_EXPORT_EVENT;
	ret = trace_array_register_export(exporting, &exports[0]);
	if (ret) {
		instance_destroy(exporting);
		return ret;
	}
	ret = instance_setup(row);
	if (ret)
		elsewhere_end();
	return ret;
}

static int here_setup(const struct bench_row *row)
{
	int ret = instance_setup(row);

	if (ret)
		return ret;
	exports[0].write = noop_write;
	exports[0].flags = TRACE_EXPORT_EVENT;
	ret = trace_array_register_export(instance, &exports[0]);
	if (ret)
		instance_teardown(row);
	return ret;
}

static void here_teardown(const struct bench_row *row)
{
	trace_array_unregister_export(instance, &exports[0]);
	instance_teardown(row);
}
#endif

/* A task that waits in a file, until snapshot_teardown() */
#define WAITER(file)	"{ cat " file " >/dev/null & echo $! >/waiter; }"

static int run_shell(const char *command)
{
	char *argv[] = { "/bin/sh", "-c", (char *)command, NULL };
	char *envp[] = { "PATH=/sbin:/bin:/usr/sbin:/usr/bin", NULL };

	return call_usermodehelper(argv[0], argv, envp, UMH_WAIT_PROC) ? -EIO : 0;
}

/* The base has nothing but the file to set the size. */
static int snapshot_shell(const char *what, uint kib)
{
	char command[256];

	snprintf(command, sizeof(command),
		 "cd /sys/kernel/tracing && echo %u >buffer_size_kb && %s", kib, what);
	return run_shell(command);
}

/* In the directory of the event */
static int event_shell(const struct bench_row *row, const char *command)
{
	char what[160];

	snprintf(what, sizeof(what), "cd events/%s/%s && %s", event_system(row),
		 row->event, command);
	return snapshot_shell(what, 1408);
}

static int file_setup(const struct bench_row *row)
{
	return event_shell(row, row->shell) ?: event_setup(row);
}

static void file_teardown(const struct bench_row *row)
{
	event_teardown(row);
	if (event_shell(row, row->undo))
		pr_err("bench: error: the event can't be reset\n");
}

#ifdef CONFIG_DYNAMIC_DEBUG_CORE
static int log_setup(const struct bench_row *row)
{
	return snapshot_shell(row->shell, 1408);
}

static void log_teardown(const struct bench_row *row)
{
	if (snapshot_shell(row->undo, 1408))
		pr_err("bench: error: the site can't be reset\n");
}
#endif

#define ROW_FILTER							\
	.setup = file_setup, .teardown = file_teardown, .records = 1,	\
	.shell = "echo 'a != 1' >filter", .undo = "echo 0 >filter"

/* A trigger that looks at each record, and does nothing */
#define ROW_TRIGGER							\
	.setup = file_setup, .teardown = file_teardown, .records = 1,	\
	.shell = "echo 'stacktrace if a == 1' >trigger",		\
	.undo = "echo '!stacktrace' >trigger"

/* The target of the function tracers */
static __attribute__((__noipa__)) void bench_function(unsigned long i)
{
	barrier();
}

BENCH_LOOP(loop_function, bench_function(i))

static int __maybe_unused function_setup(const struct bench_row *row)
{
	char what[80];

	snprintf(what, sizeof(what),
		 "echo bench_function >set_ftrace_filter && echo %s >current_tracer", row->event);
	return snapshot_shell(what, 1408);
}

static void __maybe_unused function_teardown(const struct bench_row *row)
{
	if (snapshot_shell("echo nop >current_tracer && echo >set_ftrace_filter", 1408))
		pr_err("bench: error: the tracer can't be reset\n");
}

static int snapshot_setup(const struct bench_row *row)
{
	char what[160];
	int ret;

	snprintf(what, sizeof(what), "echo 1 >snapshot%s%s",
		 row->shell ? " && " : "", row->shell ?: "");
	ret = snapshot_shell(what, row->kib);
	/* A task that is to wait in a file gets there. */
	if (!ret && row->shell)
		msleep(100);

	return ret;
}

static void snapshot_teardown(const struct bench_row *row)
{
	if (snapshot_shell("if [ -e /waiter ]; then read -r pid </waiter; kill $pid; >/waiter; fi; echo 0 >snapshot",
			   1408))
		pr_err("bench: error: the snapshot buffer can't be freed\n");
}

#ifdef BENCH_INSTANCES
BENCH_LOOP(loop_array_snapshot, trace_array_snapshot(instance))
BENCH_LOOP(loop_array_off_on,
	   trace_array_set_tracing(instance, false); trace_array_set_tracing(instance, true))

static int array_snapshot_setup(const struct bench_row *row)
{
	int ret = instance_setup(row);

	if (ret)
		return ret;
	ret = trace_array_snapshot_alloc(instance);
	if (ret)
		instance_teardown(row);
	return ret;
}

static void array_snapshot_teardown(const struct bench_row *row)
{
	trace_array_snapshot_free(instance);
	instance_teardown(row);
}
#endif

static const struct bench_row bench_rows[] = {
	{ "two instructions", loop_two_instructions },
	{ "empty loop", loop_empty },
	{ "tracepoint off", loop_two_u64 },
	{ "ring_buffer_write() 24 bytes", loop_ring, ring_setup, ring_teardown },
	{ "TRACE_EVENT two u64", loop_two_u64, event_setup, event_teardown,
	  .event = "bench_two_u64", .records = 1 },
	{ "TRACE_EVENT two u64, 0 exporters (16 gone)", loop_two_u64,
	  event_setup_exports_gone, event_teardown,
	  .event = "bench_two_u64", .records = 1 },
	{ "TRACE_EVENT two u64, 1 exporter", loop_two_u64, event_setup, event_teardown,
	  .event = "bench_two_u64", .exports = 1, .records = 1 },
	{ "TRACE_EVENT two u64, 4 exporters", loop_two_u64, event_setup, event_teardown,
	  .event = "bench_two_u64", .exports = 4, .records = 1 },
	{ "TRACE_EVENT two u64, 16 exporters", loop_two_u64, event_setup, event_teardown,
	  .event = "bench_two_u64", .exports = 16, .records = 1 },
	{ "TRACE_EVENT two u64, in an instance", loop_two_u64,
	  instance_setup, instance_teardown,
	  .event = "bench_two_u64", .records = 1 },
#ifdef BENCH_INSTANCE_EXPORTS
	{ "TRACE_EVENT two u64, 1 exporter with context", loop_two_u64,
	  event_setup_record, event_teardown_record,
	  .event = "bench_two_u64", .exports = 1, .records = 1 },
	{ "TRACE_EVENT two u64, in an instance, 1 exporter on it", loop_two_u64,
	  here_setup, here_teardown,
	  .event = "bench_two_u64", .records = 1 },
	{ "TRACE_EVENT two u64, in an instance, 1 exporter on another", loop_two_u64,
	  elsewhere_setup, elsewhere_teardown,
	  .event = "bench_two_u64", .records = 1 },
#endif
	{ "TRACE_EVENT two u64, a filter", loop_two_u64, .event = "bench_two_u64", ROW_FILTER },
	{ "TRACE_EVENT two u64, a trigger", loop_two_u64, .event = "bench_two_u64", ROW_TRIGGER },
	{ "tracepoint off, int + string", loop_int_string },
	{ "TRACE_EVENT int + string", loop_int_string, event_setup, event_teardown,
	  .event = "bench_int_string", .records = 1 },
#ifdef BENCH_KTRACE
	{ "ktrace() off", loop_ktrace_two_u64 },
	{ "ktrace() two u64", loop_ktrace_two_u64, event_setup, event_teardown,
	  .system = KBUILD_MODNAME, .event = "bench_ktrace_two_u64", .records = 1 },
	{ "ktrace() two u64, in an instance", loop_ktrace_two_u64,
	  instance_setup, instance_teardown,
	  .system = KBUILD_MODNAME, .event = "bench_ktrace_two_u64", .records = 1 },
	{ "ktrace() two u64, 1 exporter", loop_ktrace_two_u64, event_setup, event_teardown,
	  .system = KBUILD_MODNAME, .event = "bench_ktrace_two_u64", .exports = 1, .records = 1 },
	{ "ktrace() two u64, a filter", loop_ktrace_two_u64,
	  .system = KBUILD_MODNAME, .event = "bench_ktrace_two_u64", ROW_FILTER },
	{ "ktrace() two u64, a trigger", loop_ktrace_two_u64,
	  .system = KBUILD_MODNAME, .event = "bench_ktrace_two_u64", ROW_TRIGGER },
	{ "ktrace() int + string", loop_ktrace_int_string, event_setup, event_teardown,
	  .system = KBUILD_MODNAME, .event = "bench_ktrace_int_string", .records = 1 },
#endif
	{ "trace_puts()", loop_puts, .records = 1 },
#ifdef CONFIG_DYNAMIC_DEBUG_CORE
#define DYNDBG(flags)	"echo func loop_pr_debug " flags " >/proc/dynamic_debug/control"
	{ "pr_debug() off", loop_pr_debug },
	{ "pr_debug() two u64, printed", loop_pr_debug, log_setup, log_teardown,
	  .shell = DYNDBG("+p"), .undo = DYNDBG("-p") },
#ifdef _DPRINTK_FLAGS_TRACE
	{ "pr_debug() two u64, recorded", loop_pr_debug, file_setup, file_teardown,
	  .system = "dyndbg", .event = "dyndbg_message", .records = 1,
	  .shell = DYNDBG("+T"), .undo = DYNDBG("-T") },
#endif
#endif
	{ "trace_printk() two u64", loop_printk, .records = 1 },
	{ "trace_printk() int + string", loop_printk_string, .records = 1 },
	{ "trace_array_printk() two u64, in an instance", loop_array_printk,
	  instance_setup, instance_teardown, .records = 1 },
	{ "function not traced", loop_function },
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	{ "function tracer", loop_function, function_setup, function_teardown,
	  .event = "function", .records = 1 },
	{ "function graph tracer, entry + return", loop_function,
	  function_setup, function_teardown, .event = "function_graph", .records = 2 },
#endif
	{ "tracing_snapshot(), interrupts on", loop_snapshot,
	  snapshot_setup, snapshot_teardown, .kib = 64, .irqs = true },
	{ "tracing_snapshot(), interrupts on, a task in trace_pipe", loop_snapshot,
	  snapshot_setup, snapshot_teardown, .kib = 64, .irqs = true,
	  .shell = WAITER("trace_pipe") },
#ifdef BENCH_SNAPSHOT_PIPE
	{ "tracing_snapshot(), interrupts on, snapshot_pipe was opened", loop_snapshot,
	  snapshot_setup, snapshot_teardown, .kib = 64, .irqs = true,
	  .shell = ": >>snapshot_pipe" },
	/* Long enough for the task to wait again: a grace period of RCU has to end. */
	{ "tracing_snapshot(), interrupts on, a task in snapshot_pipe", loop_snapshot,
	  snapshot_setup, snapshot_teardown, .kib = 64, .irqs = true,
	  .shell = WAITER("snapshot_pipe"), .rest = 60000 },
#endif
	{ "tracing_snapshot(), 64 KiB a CPU", loop_snapshot,
	  snapshot_setup, snapshot_teardown, .kib = 64 },
	{ "tracing_snapshot(), 4 MiB a CPU", loop_snapshot,
	  snapshot_setup, snapshot_teardown, .kib = 4 << 10 },
	{ "tracing_snapshot(), 256 MiB a CPU", loop_snapshot,
	  snapshot_setup, snapshot_teardown, .kib = 256 << 10 },
#ifdef BENCH_INSTANCES
	{ "trace_array_snapshot()", loop_array_snapshot,
	  array_snapshot_setup, array_snapshot_teardown },
	{ "trace_array_set_tracing() off and on", loop_array_off_on,
	  instance_setup, instance_teardown },
#endif
};

static bool left_out;
static uint rows = ARRAY_SIZE(bench_rows);
module_param(rows, uint, 0444);
MODULE_PARM_DESC(rows, "how many rows there are, to be read from sysfs");

static u64 bench_batch(const struct bench_row *row)
{
	unsigned long flags;
	u64 start, end;

	local_irq_save(flags);
	start = bench_clock();
	row->loop(calls);
	end = bench_clock();
	local_irq_restore(flags);
	calls_made += calls;
	cond_resched();
	return end - start;
}

static int compare_u64(const void *a, const void *b)
{
	return cmp_int(*(const u64 *)a, *(const u64 *)b);
}

static u64 bench_call(const struct bench_row *row)
{
	u64 start, end;

	preempt_disable();
	start = bench_clock();
	row->loop(1);
	end = bench_clock();
	preempt_enable();

	return end - start;
}

static int bench_run_irqs(const struct bench_row *row)
{
	u64 *times = kcalloc(irq_calls, sizeof(*times), GFP_KERNEL);
	unsigned long rest = row->rest ?: 500;

	if (!times)
		return -ENOMEM;

	for (int i = -10; i < (int)irq_calls; i++) {
		u64 time = bench_call(row);

		if (i >= 0)
			times[i] = time;
		usleep_range(rest, 2 * rest);
	}
	sort(times, irq_calls, sizeof(*times), compare_u64, NULL);
	pr_info("bench: row|%s|%s|1|%llu|%llu|%llu|0\n", row->name, BENCH_UNIT,
		times[0], times[irq_calls / 2], times[irq_calls - 1]);
	kfree(times);

	return 0;
}

static int bench_run(const struct bench_row *row)
{
	u64 *times;

	if (row->irqs)
		return bench_run_irqs(row);

	times = kcalloc(batches, sizeof(*times), GFP_KERNEL);
	if (!times)
		return -ENOMEM;

	while (calls_made < warmup)
		bench_batch(row);
	for (int i = 0; i < batches; i++)
		times[i] = bench_batch(row);
	sort(times, batches, sizeof(*times), compare_u64, NULL);

	/* name, unit, calls a batch, least, median, most, records that tracefs must have seen */
	pr_info("bench: row|%s|%s|%lu|%llu|%llu|%llu|%lu\n", row->name, BENCH_UNIT, calls,
		times[0], times[batches / 2], times[batches - 1], calls_made * row->records);
	kfree(times);
	return 0;
}

static int __init bench_init(void)
{
	const struct bench_row *r;
	int ret = 0;

	for (row = name ? 0 : row; name && row < rows; row++) {
		if (!strcmp(bench_rows[row].name, name))
			break;
	}
	if (row >= rows || !calls || !batches)
		return -EINVAL;

	r = &bench_rows[row];
	left_out = only && !strstr(r->name, only);
	if (left_out)
		return 0;

	if (r->setup)
		ret = r->setup(r);
	if (ret)
		return ret;
	if (before)
		ret = run_shell(before);
	if (!ret)
		ret = bench_run(r);
	if (after && run_shell(after))
		pr_err("bench: error: the command that ends the row fails\n");
	if (ret && r->teardown)
		r->teardown(r);
	return ret;
}

static void __exit bench_exit(void)
{
	const struct bench_row *r = &bench_rows[row];

	if (r->teardown && !left_out)
		r->teardown(r);
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("Cost of one trace record");
MODULE_LICENSE("GPL");

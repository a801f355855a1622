// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for trace instances: making one, and opening its files, while
 * allocations fail one after the other; stack traces of what it prints; events
 * that are injected into it; flags and time stamps of its records; and
 * tracepoints of system calls.
 */

#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/irqflags.h>
#include <linux/kallsyms.h>
#include <linux/preempt.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/static_call.h>
#include <linux/trace.h>
#include <trace/events/sched.h>
#include <trace/events/syscalls.h>

#include "trace_kunit.h"

#define CREATE_TRACE_POINTS
#include "trace_instance_kunit.h"

#define INSTANCE	"trace_instance_kunit"
#define OTHER		"trace_instance_kunit_other"

/* Without memory */

static int make_other(struct kunit *test)
{
	return trace_kunit_mkdir(test, OTHER);
}

#ifdef CONFIG_FUNCTION_TRACER
#define OPS	64

/* The next allocations get memory that is free. KASAN needs no such test. */
static bool ops_are_free(struct kunit *test, struct ftrace_ops *ops)
{
	struct ftrace_ops **taken;
	bool free = false;

	taken = kunit_kcalloc(test, OPS, sizeof(*taken), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, taken);
	for (int i = 0; i < OPS; i++) {
		taken[i] = kzalloc_obj(**taken);
		if (ops && taken[i] == ops)
			free = true;
	}
	for (int i = 0; i < OPS; i++)
		kfree(taken[i]);
	kunit_kfree(test, taken);

	return free;
}

static void check_ops(struct kunit *test, struct trace_array *tr)
{
	bool free = ops_are_free(test, tr->ops);

	KUNIT_EXPECT_FALSE(test, free);
	/* Nobody may use them, or free them once more. */
	if (free)
		tr->ops = NULL;
}
#else
static void check_ops(struct kunit *test, struct trace_array *tr)
{
}
#endif

static void check_made(struct kunit *test, int ret)
{
	struct trace_array *tr = trace_kunit_find(OTHER);

	if (ret) {
		/* tracefs does not tell why it could not make a directory. */
		KUNIT_EXPECT_TRUE(test, ret == -ENOMEM || ret == -EINVAL);
		KUNIT_EXPECT_NULL(test, tr);
		return;
	}

	KUNIT_ASSERT_NOT_NULL(test, tr);
	check_ops(test, tr);
	KUNIT_EXPECT_EQ(test, trace_kunit_rmdir(test, OTHER), 0);
	KUNIT_EXPECT_NULL(test, trace_kunit_find(OTHER));
}

static void make_without_memory(struct kunit *test)
{
	trace_kunit_without_memory(test, make_other, check_made);
}

static struct file *opened;

static int open_trace(struct kunit *test)
{
	opened = trace_kunit_open(test, INSTANCE, "trace", O_RDONLY);

	return PTR_ERR_OR_ZERO(opened);
}

#define RECORDS		10

/* All records, each once, or an error */
static void check_opened(struct kunit *test, int ret)
{
	struct trace_kunit *env = test->priv;
	unsigned int records = 0;
	const char *text;

	KUNIT_EXPECT_EQ(test, env->tr->stop_count, ret ? 0 : 1);
	if (ret) {
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	} else {
		/* Stop if the text does not end. */
		while (records <= RECORDS &&
		       trace_kunit_read(test, opened) > 0) {
			for (text = env->text; (text = strstr(text, "record"));
			     text++)
				records++;
		}
		KUNIT_EXPECT_EQ(test, records, RECORDS);
		__fput_sync(opened);
	}
	KUNIT_EXPECT_EQ(test, env->tr->ref, 2);
	KUNIT_EXPECT_EQ(test, env->tr->stop_count, 0);
}

static void open_without_memory(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	char pause[] = "pause-on-trace";

	KUNIT_ASSERT_EQ(test, trace_set_options(env->tr, pause), 0);
	for (int i = 0; i < RECORDS; i++)
		__trace_array_puts(env->tr, _THIS_IP_, "record\n", 7);
	trace_kunit_without_memory(test, open_trace, check_opened);

	/* A leaked iterator would make this fail. */
	KUNIT_EXPECT_EQ(test, trace_kunit_write(test, "buffer_size_kb", "64"),
			0);
}

/* Stack traces of trace_array_printk() and others */

#ifdef CONFIG_STACKTRACE
#define FRAMES		16
/* Functions of tracing itself may come first. */
#define OWN_FRAMES	3

/* Copies the first frames of the next stack trace in the ring buffer. */
static unsigned int next_stack(struct trace_array *tr, unsigned long *frames)
{
	struct ring_buffer_event *event;
	struct stack_entry *entry;
	unsigned int nr;

	while ((event = ring_buffer_consume(tr->array_buffer.buffer,
					    raw_smp_processor_id(), NULL,
					    NULL))) {
		entry = ring_buffer_event_data(event);
		if (entry->ent.type != TRACE_STACK)
			continue;
		nr = min(entry->size, FRAMES);
		memcpy(frames, entry->caller, nr * sizeof(*frames));
		return nr;
	}

	return 0;
}

static noinline void call_printk(struct trace_array *tr)
{
	trace_array_printk(tr, _THIS_IP_, "text\n");
	/* Keep the compiler from making this a tail call. */
	barrier();
}

static __printf(2, 3) noinline void call_vprintk(struct trace_array *tr,
						 const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	trace_array_vprintk(tr, _THIS_IP_, fmt, args);
	va_end(args);
	barrier();
}

static noinline void call_puts(struct trace_array *tr)
{
	__trace_array_puts(tr, _THIS_IP_, "text\n", 5);
	barrier();
}

static void expect_caller(struct kunit *test, const char *caller)
{
	struct trace_kunit *env = test->priv;
	unsigned long frames[FRAMES];
	char name[KSYM_SYMBOL_LEN];
	unsigned int nr, i;

	nr = next_stack(env->tr, frames);
	KUNIT_EXPECT_GT(test, nr, 0);
	for (i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "%ps", (void *)frames[i]);
		if (strstarts(name, caller))
			break;
	}
	KUNIT_EXPECT_LE_MSG(test, i, OWN_FRAMES, "%s is not there",
			    caller);
	KUNIT_EXPECT_LT(test, i, nr);
}

/* UML finds no reliable function without frame pointers. */
static void need_stack(struct kunit *test)
{
	unsigned long frames[FRAMES];

	if (stack_trace_save(frames, FRAMES, 0) < 2)
		kunit_skip(test, "stacks can't be walked");
}

static void stack_has_caller(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	char stacktrace[] = "stacktrace";

	need_stack(test);
	if (!IS_ENABLED(CONFIG_KALLSYMS))
		kunit_skip(test, "needs CONFIG_KALLSYMS");

	KUNIT_ASSERT_EQ(test, trace_array_init_printk(env->tr), 0);
	KUNIT_ASSERT_EQ(test, trace_set_options(env->tr, stacktrace), 0);
	call_printk(env->tr);
	expect_caller(test, "call_printk");
	call_vprintk(env->tr, "%s\n", "text");
	expect_caller(test, "call_vprintk");
	call_puts(env->tr);
	expect_caller(test, "call_puts");
}

static noinline void call_dump(int skip)
{
	trace_dump_stack(skip);
	barrier();
}

static noinline void call_dump_for_caller(void)
{
	call_dump(1);
	barrier();
}

static void expect_first(struct kunit *test, const char *caller)
{
	struct trace_kunit *env = test->priv;
	unsigned long frames[FRAMES];
	char name[KSYM_SYMBOL_LEN];

	KUNIT_ASSERT_GT(test, next_stack(env->tr, frames), 0);
	snprintf(name, sizeof(name), "%ps", (void *)frames[0]);
	/* The compiler may have made a variant of it. */
	name[strcspn(name, ".")] = '\0';
	KUNIT_EXPECT_STREQ(test, name, caller);
}

static void dump_begins_with_caller(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	char dest[] = "trace_printk_dest";

	need_stack(test);
	if (!IS_ENABLED(CONFIG_KALLSYMS))
		kunit_skip(test, "needs CONFIG_KALLSYMS");
	if (IS_ENABLED(CONFIG_RISCV))
		kunit_skip(test, "arch_stack_walk() counts itself");

	/* Until the end of the instance */
	KUNIT_ASSERT_EQ(test, trace_set_options(env->tr, dest), 0);
	call_dump(0);
	expect_first(test, "call_dump");
	call_dump_for_caller();
	expect_first(test, "call_dump_for_caller");
}

/* The option of another instance, the top level, does not matter. */
static void stack_is_option_of_instance(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	char stacktrace[] = "stacktrace";
	unsigned long frames[FRAMES];

	need_stack(test);
	KUNIT_ASSERT_EQ(test, trace_array_init_printk(env->tr), 0);
	call_printk(env->tr);
	KUNIT_EXPECT_EQ(test, next_stack(env->tr, frames), 0);

	KUNIT_ASSERT_EQ(test, trace_set_options(env->tr, stacktrace), 0);
	call_printk(env->tr);
	KUNIT_EXPECT_GT(test, next_stack(env->tr, frames), 0);
}
#endif

/* Events that are injected */

static unsigned int records_in_trace(struct kunit *test, const char *record)
{
	struct trace_kunit *env = test->priv;
	unsigned int records = 0;
	struct file *file;
	const char *text;

	file = trace_kunit_open(test, INSTANCE, "trace", O_RDONLY);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	while (trace_kunit_read(test, file) > 0) {
		for (text = env->text; (text = strstr(text, record)); text++)
			records++;
	}
	__fput_sync(file);

	return records;
}

/* The record has room for a complete struct trace_entry. */
static void inject_without_fields(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct ring_buffer_event *event;
	int ret;

	trace_no_fields_kunit(0);
	ret = trace_kunit_write(test,
				"events/" INSTANCE "/no_fields_kunit/inject",
				"\n");
	if (ret == -ENOENT)
		kunit_skip(test, "needs CONFIG_TRACE_EVENT_INJECT");

	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(env->tr->array_buffer.buffer),
			1);
	KUNIT_EXPECT_EQ(test, records_in_trace(test, "no_fields_kunit: nothing"),
			1);
	event = ring_buffer_consume(env->tr->array_buffer.buffer,
				    raw_smp_processor_id(), NULL, NULL);
	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_EXPECT_GE(test, ring_buffer_event_length(event),
			sizeof(struct trace_entry));
}

/* Flags and time stamps of records */

static void write_record(struct trace_array *tr)
{
	__trace_array_puts(tr, _THIS_IP_, "text\n", 5);
}

/* These of the flags in @mask are in the last record of the instance. */
static void expect_flags(struct kunit *test, unsigned int mask,
			 unsigned int flags)
{
	struct trace_kunit *env = test->priv;
	struct trace_buffer *buffer = env->tr->array_buffer.buffer;
	struct ring_buffer_event *event;
	unsigned int found = ~0;

	while ((event = ring_buffer_consume(buffer, raw_smp_processor_id(),
					    NULL, NULL))) {
		struct trace_entry *entry = ring_buffer_event_data(event);

		found = entry->flags & mask;
	}
	KUNIT_EXPECT_EQ(test, found, flags);
}

static void flags_of_context(struct kunit *test)
{
	const unsigned int mask = TRACE_FLAG_NMI | TRACE_FLAG_HARDIRQ |
				  TRACE_FLAG_SOFTIRQ | TRACE_FLAG_BH_OFF;
	struct trace_kunit *env = test->priv;

	write_record(env->tr);
	expect_flags(test, mask, 0);

	local_bh_disable();
	write_record(env->tr);
	local_bh_enable();
	expect_flags(test, mask, TRACE_FLAG_BH_OFF);

	scoped_guard(irqsave) {
		__preempt_count_add(HARDIRQ_OFFSET);
		write_record(env->tr);
		__preempt_count_sub(HARDIRQ_OFFSET);
	}
	expect_flags(test, mask, TRACE_FLAG_HARDIRQ);
}

static void flags_of_resched(struct kunit *test)
{
	const bool lazy = IS_ENABLED(CONFIG_ARCH_HAS_PREEMPT_LAZY);
	const struct {
		int		bit;
		unsigned int	flag;
	} cases[] = {
		{ TIF_NEED_RESCHED, TRACE_FLAG_NEED_RESCHED },
		{ TIF_NEED_RESCHED_LAZY, lazy ? TRACE_FLAG_NEED_RESCHED_LAZY :
						TRACE_FLAG_NEED_RESCHED },
	};
	const unsigned long work = _TIF_NEED_RESCHED | _TIF_NEED_RESCHED_LAZY;
	struct trace_kunit *env = test->priv;

	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		scoped_guard(irqsave) {
			/* Again if another CPU asks for more meanwhile. */
			do {
				clear_tsk_need_resched(current);
				set_tsk_thread_flag(current, cases[i].bit);
				write_record(env->tr);
			} while ((read_thread_flags() & work) !=
				 BIT(cases[i].bit));
			/* Somebody may have asked before. */
			set_need_resched_current();
		}
		expect_flags(test, TRACE_FLAG_NEED_RESCHED |
				   TRACE_FLAG_NEED_RESCHED_LAZY,
			     cases[i].flag);
	}
}

/* The time between two readings does not fit the header of a record. */
static u64 clock_with_gaps(void)
{
	static u64 now;

	return now += BIT_ULL(TS_SHIFT);
}

/* The header of a record comes after a time stamp of its own. */
static void stamps_before_records(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_buffer *buffer = env->tr->array_buffer.buffer;

	ring_buffer_set_clock(buffer, clock_with_gaps);
	for (int abs = 0; abs < 2; abs++) {
		ring_buffer_set_time_stamp_abs(buffer, abs);
		for (int i = 0; i < RECORDS; i++)
			write_record(env->tr);
		KUNIT_EXPECT_EQ(test, records_in_trace(test, ": text\n"),
				(abs + 1) * RECORDS);
	}
}

/* Names of tasks */

static void names_without_memory(struct kunit *test)
{
	unsigned int left;

	if (trace_sched_switch_enabled())
		kunit_skip(test, "sched_switch is in use");

	trace_kunit_failslab(test);
	for (unsigned int nth = 1; nth < 100; nth++) {
		trace_kunit_fail(nth);
		tracing_start_cmdline_record();
		left = trace_kunit_fail_stop();
		/* All probes or none */
		KUNIT_EXPECT_EQ(test, trace_sched_switch_enabled(),
				trace_sched_wakeup_enabled());
		/* kmemleak can do without its memory. */
		if (!left && !IS_ENABLED(CONFIG_DEBUG_KMEMLEAK))
			KUNIT_EXPECT_FALSE(test, trace_sched_switch_enabled());

		tracing_start_cmdline_record();
		KUNIT_EXPECT_TRUE(test, trace_sched_switch_enabled());
		tracing_stop_cmdline_record();
		tracing_stop_cmdline_record();
		KUNIT_EXPECT_FALSE(test, trace_sched_switch_enabled());
		if (left) {
			KUNIT_EXPECT_GT(test, nth, 1);
			return;
		}
	}
	KUNIT_FAIL(test, "allocations do not end");
}

/* As long as anybody wants the name or the process of a task */
static void names_of_two_users(struct kunit *test)
{
	if (trace_sched_switch_enabled())
		kunit_skip(test, "sched_switch is in use");

	tracing_start_cmdline_record();
	tracing_start_tgid_record();
	tracing_stop_cmdline_record();
	KUNIT_EXPECT_TRUE(test, trace_sched_switch_enabled());

	tracing_start_cmdline_record();
	tracing_stop_tgid_record();
	KUNIT_EXPECT_TRUE(test, trace_sched_switch_enabled());

	tracing_stop_cmdline_record();
	KUNIT_EXPECT_FALSE(test, trace_sched_switch_enabled());
}

/* Tracepoints of system calls */

#if defined(CONFIG_HAVE_SYSCALL_TRACEPOINTS) && defined(CONFIG_HAVE_STATIC_CALL)
static void probe(void *data, struct pt_regs *regs, long id)
{
}

static void unregister_probe(void *data)
{
	unregister_trace_sys_enter(probe, data);
	tracepoint_synchronize_unregister();
}

/* A direct call might be made with the data of the previous probe. */
static void one_probe_is_iterated_over(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, register_trace_sys_enter(probe, test), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, unregister_probe,
							test), 0);
	KUNIT_EXPECT_PTR_EQ(test,
			    (void *)static_call_query(tp_func_sys_enter),
			    (void *)__traceiter_sys_enter);
}
#endif

static int instance_init(struct kunit *test)
{
	struct trace_kunit *env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);

	trace_kunit_init(test, env, INSTANCE);

	return 0;
}

static struct kunit_case instance_cases[] = {
	KUNIT_CASE_SLOW(make_without_memory),
	KUNIT_CASE(open_without_memory),
#ifdef CONFIG_STACKTRACE
	KUNIT_CASE(stack_has_caller),
	KUNIT_CASE(dump_begins_with_caller),
	KUNIT_CASE(stack_is_option_of_instance),
#endif
	KUNIT_CASE(inject_without_fields),
	KUNIT_CASE(flags_of_context),
	KUNIT_CASE(flags_of_resched),
	KUNIT_CASE(stamps_before_records),
	KUNIT_CASE(names_without_memory),
	KUNIT_CASE(names_of_two_users),
#if defined(CONFIG_HAVE_SYSCALL_TRACEPOINTS) && defined(CONFIG_HAVE_STATIC_CALL)
	KUNIT_CASE(one_probe_is_iterated_over),
#endif
	{}
};

static struct kunit_suite instance_suite = {
	.name		= "trace_instance",
	.init		= instance_init,
	.test_cases	= instance_cases,
};

kunit_test_suite(instance_suite);

MODULE_DESCRIPTION("KUnit tests for trace instances");
MODULE_LICENSE("GPL");

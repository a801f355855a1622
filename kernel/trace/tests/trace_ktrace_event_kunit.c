// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for what ktrace events do as any trace events do: filters,
 * triggers, pids, instances, perf, exports and inject, also in interrupts and
 * NMIs.
 */

#include <kunit/test.h>
#include <linux/ctype.h>
#include <linux/hardirq.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/kallsyms.h>
#include <linux/ktrace.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/trace.h>
#include <linux/trace_clock.h>

#include "trace_ktrace_kunit.h"

/* The line is the last statement here, and it is not in the next one. */
static noinline void trace_number(int number)
{
	ktrace(kunit_number, "number=%d str=%s", number, "text");
}

static noinline int trace_number_and_more(int number)
{
	ktrace(kunit_number, "number=%d str=%s", number, "text");

	return number + 1;
}

/* With more arguments than registers are used for, last statement again */
static noinline void trace_numbers(int number)
{
	ktrace(kunit_numbers, "%d %d %d %d %d %d %d", number, 2, 3, 4, 5, 6, 7);
}

static void filters(struct kunit *test)
{
	ktrace_kunit_switch(test, "kunit_number", true);
	ktrace_kunit_set(test, "kunit_number", "filter",
			 "number > 2 && str ~ \"te*\"");
	for (int i = 1; i < 5; i++)
		trace_number(i);
	ktrace_kunit_expect(test,
			    "kunit_number: number=3 str=text\n"
			    "kunit_number: number=4 str=text\n");

	ktrace_kunit_set(test, "kunit_number", "filter", "str == \"no\"");
	ktrace_kunit_clear(test);
	trace_number(5);
	ktrace_kunit_expect(test, "");
}

static void triggers(struct kunit *test)
{
	struct ktrace_kunit *ctx = test->priv;

	ktrace_kunit_switch(test, "kunit_number", true);
	ktrace_kunit_set(test, "kunit_number", "trigger",
			 "traceoff if number == 2");
	for (int i = 1; i < 5; i++)
		trace_number(i);
	ktrace_kunit_expect(test,
			    "kunit_number: number=1 str=text\n"
			    "kunit_number: number=2 str=text\n");
	KUNIT_EXPECT_FALSE(test, tracer_tracing_is_on(ctx->env.tr));
	ktrace_kunit_set(test, "kunit_number", "trigger",
			 "!traceoff if number == 2");
	tracer_tracing_on(ctx->env.tr);

	/* A trigger switches a site on while its event is off. */
	ktrace_kunit_switch(test, "kunit_number", false);
	ktrace_kunit_set(test, "kunit_number", "trigger",
			 "traceoff if number == 7");
	ktrace_kunit_clear(test);
	trace_number(6);
	KUNIT_EXPECT_TRUE(test, tracer_tracing_is_on(ctx->env.tr));
	trace_number(7);
	KUNIT_EXPECT_FALSE(test, tracer_tracing_is_on(ctx->env.tr));
	ktrace_kunit_expect(test, "");
	ktrace_kunit_set(test, "kunit_number", "trigger",
			 "!traceoff if number == 7");
	tracer_tracing_on(ctx->env.tr);
}

static void pids(struct kunit *test)
{
	pid_t me = task_pid_nr(current);
	char pid[16];

	ktrace_kunit_switch(test, "kunit_number", true);
	snprintf(pid, sizeof(pid), "%d", me + 1);
	KUNIT_ASSERT_EQ(test, trace_kunit_write(test, "set_event_pid", pid), 0);
	trace_number(1);
	snprintf(pid, sizeof(pid), "%d", me);
	KUNIT_ASSERT_EQ(test, trace_kunit_write(test, "set_event_pid", pid), 0);
	trace_number(2);
	KUNIT_ASSERT_EQ(test, trace_kunit_write(test, "set_event_notrace_pid",
						pid), 0);
	trace_number(3);
	ktrace_kunit_expect(test, "kunit_number: number=2 str=text\n");
}

#define SECOND	KTRACE_KUNIT_INSTANCE "_second"

static void remove_second(void *data)
{
	struct kunit *test = data;

	KUNIT_EXPECT_EQ(test, trace_kunit_rmdir(test, SECOND), 0);
}

static void two_instances(struct kunit *test)
{
	struct trace_array *second;

	KUNIT_ASSERT_EQ(test, trace_kunit_mkdir(test, SECOND), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, remove_second,
							test), 0);
	second = trace_kunit_find(SECOND);
	KUNIT_ASSERT_NOT_NULL(test, second);

	ktrace_kunit_switch(test, "kunit_number", true);
	trace_number(1);
	KUNIT_ASSERT_EQ(test,
			trace_array_set_clr_event(second, KTRACE_KUNIT_SYSTEM,
						  "kunit_number", true), 0);
	trace_number(2);
	ktrace_kunit_switch(test, "kunit_number", false);
	trace_number(3);
	ktrace_kunit_expect(test,
			    "kunit_number: number=1 str=text\n"
			    "kunit_number: number=2 str=text\n");
	ktrace_kunit_expect_in(test, SECOND,
			       "kunit_number: number=2 str=text\n"
			       "kunit_number: number=3 str=text\n");

	/* Removed while the event is on there */
	kunit_release_action(test, remove_second, test);
	KUNIT_EXPECT_NULL(test, trace_kunit_find(SECOND));
	trace_number(4);
	ktrace_kunit_expect(test,
			    "kunit_number: number=1 str=text\n"
			    "kunit_number: number=2 str=text\n");
}

/* Off with tracing_on, nothing is recorded, and nothing goes wrong. */
static void tracing_is_off(struct kunit *test)
{
	struct ktrace_kunit *ctx = test->priv;

	ktrace_kunit_switch(test, "kunit_number", true);
	tracer_tracing_off(ctx->env.tr);
	trace_number(1);
	tracer_tracing_on(ctx->env.tr);
	trace_number(2);
	ktrace_kunit_expect(test, "kunit_number: number=2 str=text\n");
}

static struct trace_event_file *find_file(struct kunit *test, const char *name)
{
	struct ktrace_kunit *ctx = test->priv;
	struct trace_event_file *file;

	scoped_guard(mutex, &event_mutex)
		file = find_event_file(ctx->env.tr, KTRACE_KUNIT_SYSTEM, name);
	KUNIT_ASSERT_NOT_NULL(test, file);

	return file;
}

/* Does the text begin with the function, which may have a suffix, as ".isra.0"? */
static bool begins_with_function(const char *text, const char *func)
{
	size_t len = strlen(func);

	return strstarts(text, func) && !isalnum(text[len]) && text[len] != '_';
}

#ifdef CONFIG_PERF_EVENTS
struct perf_seen {
	int		count;
	unsigned long	ip;
};

static void count_for_perf(struct perf_event *event,
			   struct perf_sample_data *data, struct pt_regs *regs)
{
	struct perf_seen *seen = event->overflow_handler_context;

	seen->count++;
	seen->ip = instruction_pointer(regs);
}

static void expect_ip(struct kunit *test, struct perf_seen *seen,
		      const char *func)
{
	char symbol[KSYM_SYMBOL_LEN];

	KUNIT_EXPECT_EQ(test, seen->count, 1);
	seen->count = 0;
	/* Some architectures have no registers of the caller. */
	if (!IS_ENABLED(CONFIG_X86) && !IS_ENABLED(CONFIG_ARM64))
		return;

	snprintf(symbol, sizeof(symbol), "%ps", (void *)seen->ip);
	KUNIT_EXPECT_TRUE_MSG(test, begins_with_function(symbol, func),
			      "%s is not in %s", symbol, func);
}

static struct perf_event *perf_counter(struct kunit *test, const char *name,
				       struct perf_seen *seen)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_TRACEPOINT,
		.size		= sizeof(attr),
		.sample_period	= 1,
	};
	struct perf_event *event;

	attr.config = find_file(test, name)->event_call->event.type;
	event = perf_event_create_kernel_counter(&attr, -1, current,
						 count_for_perf, seen);
	KUNIT_ASSERT_FALSE(test, IS_ERR(event));

	return event;
}

/* Alone, with nobody else who wants the event */
static void by_perf(struct kunit *test)
{
	struct perf_seen seen = {};
	struct perf_event *event;

	event = perf_counter(test, "kunit_number", &seen);
	trace_number(1);
	expect_ip(test, &seen, "trace_number");
	trace_number_and_more(1);
	expect_ip(test, &seen, "trace_number_and_more");
	perf_event_release_kernel(event);
	trace_number(2);
	KUNIT_EXPECT_EQ(test, seen.count, 0);

	event = perf_counter(test, "kunit_numbers", &seen);
	trace_numbers(1);
	expect_ip(test, &seen, "trace_numbers");
	perf_event_release_kernel(event);
	ktrace_kunit_expect(test, "");
}
#endif

/* The first function of a stack trace is the one with the line. */
static void expect_on_top(struct kunit *test, const char *func)
{
	const char *text = ktrace_kunit_records(test);
	const char *top;

	/* UML has frames only where it has frame pointers. */
	if (IS_ENABLED(CONFIG_UML) && !IS_ENABLED(CONFIG_FRAME_POINTER)) {
		KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(text, "<stack trace>\n"),
					  "%s", text);
		return;
	}

	top = strstr(text, "<stack trace>\n => ");
	/* arch_stack_walk() of riscv counts itself. */
	if (top && IS_ENABLED(CONFIG_RISCV))
		top = strstr(top + strlen("<stack trace>\n"), "\n => ");
	KUNIT_EXPECT_NOT_NULL_MSG(test, top, "%s", text);
	if (!top)
		return;

	top = strstr(top, " => ") + strlen(" => ");
	KUNIT_EXPECT_TRUE_MSG(test, begins_with_function(top, func), "%s", text);
	ktrace_kunit_clear(test);
}

static void with_stacktrace(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_STACKTRACE))
		kunit_skip(test, "no stack traces");

	ktrace_kunit_switch(test, "kunit_number", true);
	ktrace_kunit_switch(test, "kunit_numbers", true);
	KUNIT_ASSERT_EQ(test, trace_kunit_write(test, "options/stacktrace",
						"1"), 0);
	trace_number(1);
	expect_on_top(test, "trace_number");
	trace_number_and_more(1);
	expect_on_top(test, "trace_number_and_more");
	trace_numbers(1);
	expect_on_top(test, "trace_numbers");

	/* A trigger makes its own. */
	KUNIT_ASSERT_EQ(test, trace_kunit_write(test, "options/stacktrace",
						"0"), 0);
	ktrace_kunit_set(test, "kunit_number", "trigger", "stacktrace");
	trace_number(1);
	expect_on_top(test, "trace_number");
	ktrace_kunit_set(test, "kunit_number", "trigger", "!stacktrace");
}

struct exported {
	struct trace_export	export;
	unsigned int		type;
	unsigned int		records;
	int			number;
};

static void count_exported(struct trace_export *export, const void *rec,
			   unsigned int len)
{
	struct exported *exported = container_of(export, struct exported,
						 export);
	const struct trace_entry *entry = rec;

	/* The export gets the events of all instances. */
	if (entry->type != exported->type)
		return;

	exported->records++;
	exported->number = *(int *)(rec + sizeof(*entry));
}

static void exported(struct kunit *test)
{
	struct exported exported = {
		.export.write	= count_exported,
		.export.flags	= TRACE_EXPORT_EVENT,
	};

	exported.type = find_file(test, "kunit_number")->event_call->event.type;
	ktrace_kunit_switch(test, "kunit_number", true);
	KUNIT_ASSERT_EQ(test, register_ftrace_export(&exported.export), 0);
	trace_number(41);
	trace_number(42);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_export(&exported.export), 0);
	trace_number(43);
	KUNIT_EXPECT_EQ(test, exported.records, 2);
	KUNIT_EXPECT_EQ(test, exported.number, 42);
	ktrace_kunit_expect(test,
			    "kunit_number: number=41 str=text\n"
			    "kunit_number: number=42 str=text\n"
			    "kunit_number: number=43 str=text\n");
}

/* Contexts */

static void trace_from_irq(struct irq_work *work)
{
	trace_number(in_hardirq() ? 1 : 0);
}

static void from_interrupt(struct kunit *test)
{
	struct irq_work work = IRQ_WORK_INIT_HARD(trace_from_irq);

	ktrace_kunit_switch(test, "kunit_number", true);
	irq_work_queue(&work);
	irq_work_sync(&work);
	ktrace_kunit_expect(test, "kunit_number: number=1 str=text\n");
}

/* Set by a case for the next time that an interrupt can come */
static bool interrupt_comes;

/* All that tracing sees of an interrupt */
static void maybe_interrupt(void)
{
	unsigned long flags;

	if (!interrupt_comes)
		return;

	interrupt_comes = false;
	local_irq_save(flags);
	__preempt_count_add(HARDIRQ_OFFSET);
	trace_number(1);
	__preempt_count_sub(HARDIRQ_OFFSET);
	local_irq_restore(flags);
}

static u64 interrupted_clock(void)
{
	maybe_interrupt();

	return trace_clock_local();
}

/* The interrupt comes while a place in the buffer is looked for. */
static void interrupted_reservation(struct kunit *test)
{
	struct ktrace_kunit *ctx = test->priv;
	struct trace_buffer *buffer = ctx->env.tr->array_buffer.buffer;

	ktrace_kunit_switch(test, "kunit_number", true);
	ring_buffer_set_clock(buffer, interrupted_clock);
	interrupt_comes = true;
	trace_number(0);
	KUNIT_EXPECT_FALSE(test, interrupt_comes);
	trace_number(2);
	ring_buffer_set_clock(buffer, trace_clock_local);
	ktrace_kunit_expect(test,
			    "kunit_number: number=1 str=text\n"
			    "kunit_number: number=0 str=text\n"
			    "kunit_number: number=2 str=text\n");
}

static void interrupted_export(struct trace_export *export, const void *rec,
			       unsigned int len)
{
	struct exported *exported = container_of(export, struct exported,
						 export);
	const struct trace_entry *entry = rec;

	if (entry->type == exported->type)
		maybe_interrupt();
}

/* The interrupt comes while a record is there that is not committed. */
static void interrupted_record(struct kunit *test)
{
	struct exported exported = {
		.export.write	= interrupted_export,
		.export.flags	= TRACE_EXPORT_EVENT,
	};

	exported.type = find_file(test, "kunit_number")->event_call->event.type;
	ktrace_kunit_switch(test, "kunit_number", true);
	KUNIT_ASSERT_EQ(test, register_ftrace_export(&exported.export), 0);
	interrupt_comes = true;
	trace_number(0);
	trace_number(2);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_export(&exported.export), 0);
	KUNIT_EXPECT_FALSE(test, interrupt_comes);
	ktrace_kunit_expect(test,
			    "kunit_number: number=0 str=text\n"
			    "kunit_number: number=1 str=text\n"
			    "kunit_number: number=2 str=text\n");
}

static void from_nmi(struct kunit *test)
{
	unsigned long flags;

	/* The ring buffer does without, where it has to. */
	if (!IS_ENABLED(CONFIG_ARCH_HAVE_NMI_SAFE_CMPXCHG))
		kunit_skip(test, "no records in NMIs");

	ktrace_kunit_switch(test, "kunit_number", true);
	local_irq_save(flags);
	nmi_enter();
	trace_number(1);
	nmi_exit();
	local_irq_restore(flags);
	ktrace_kunit_expect(test, "kunit_number: number=1 str=text\n");
}

/* Records that user space writes */

static noinline void trace_injected(const char *str)
{
	ktrace(kunit_injected, "str=%s end=%d", str, 1);
}

static noinline void trace_no_fields(void)
{
	ktrace(kunit_no_fields, "no argument, 100%% of it");
}

static void injected(struct kunit *test)
{
	struct ring_buffer_event *rb;

	if (!IS_ENABLED(CONFIG_TRACE_EVENT_INJECT))
		kunit_skip(test, "no inject");

	/* The events are off. */
	trace_injected("none");
	trace_no_fields();
	ktrace_kunit_set(test, "kunit_no_fields", "inject", "\n");
	ktrace_kunit_set(test, "kunit_injected", "inject",
			 "str=\"text\" end=-2\n");
	ktrace_kunit_set(test, "kunit_injected", "inject", "end=3\n");
	ktrace_kunit_expect(test,
			    "kunit_no_fields: no argument, 100% of it\n"
			    "kunit_injected: str=text end=-2\n"
			    "kunit_injected: str= end=3\n");

	/* The final 0 that it adds is behind what each record begins with. */
	rb = ktrace_kunit_consume(test);
	KUNIT_EXPECT_GT(test, ring_buffer_event_length(rb),
			sizeof(struct trace_entry));
}

static struct kunit_case event_cases[] = {
	KUNIT_CASE(filters),
	KUNIT_CASE(triggers),
	KUNIT_CASE(pids),
	KUNIT_CASE(two_instances),
	KUNIT_CASE(tracing_is_off),
	KUNIT_CASE(with_stacktrace),
#ifdef CONFIG_PERF_EVENTS
	KUNIT_CASE(by_perf),
#endif
	KUNIT_CASE(exported),
	KUNIT_CASE(from_interrupt),
	KUNIT_CASE(interrupted_reservation),
	KUNIT_CASE(interrupted_record),
	KUNIT_CASE(from_nmi),
	KUNIT_CASE(injected),
	{}
};

static struct kunit_suite event_suite = {
	.name		= "trace_ktrace_event",
	.init		= ktrace_kunit_init,
	.test_cases	= event_cases,
};

kunit_test_suite(event_suite);

MODULE_DESCRIPTION("KUnit tests for ktrace events as trace events");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the types of records that trace exports get.
 *
 * One mirror is registered for the type of the test, and one for all others. The
 * two together must have what the ring buffer has, byte for byte, with the same
 * time stamps.
 */

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/sched.h>
#include <linux/trace.h>

#include "../trace_export_core.h"
#include "trace_export_helpers.h"

/*
 * @make has to make @records of @type for the mirror of that type, and @rest for
 * the mirror of all other types.
 */
static void expect_types(struct kunit *test, void (*make)(struct kunit *test),
			 int type, int records, int rest)
{
	struct export_kunit *ctx = test->priv;
	struct mirror *mirror, *other;

	trace_array_set_clr_event(ctx->env.tr, EXPORT_KUNIT, NULL, false);
	mirror = export_mirror_new(test, type);
	other = export_mirror_new(test, ALL_TYPES & ~type);
	make(test);
	KUNIT_EXPECT_EQ(test, export_mirror_expect(test, mirror, other, type),
			records);
	for (int i = 0; i < records; i++)
		KUNIT_EXPECT_EQ(test, mirror->record[i].type, type);
	KUNIT_EXPECT_EQ(test, atomic_read(&other->got), rest);
}

static void set_option(struct kunit *test, const char *option)
{
	struct export_kunit *ctx = test->priv;
	char buf[32];

	strscpy(buf, option);
	KUNIT_ASSERT_EQ(test, trace_set_options(ctx->env.tr, buf), 0);
}

static void enable_event(struct kunit *test)
{
	struct export_kunit *ctx = test->priv;

	KUNIT_ASSERT_EQ(test, trace_array_set_clr_event(ctx->env.tr,
							EXPORT_KUNIT, NULL,
							true), 0);
}

static void make_event(struct kunit *test)
{
	enable_event(test);
	for (int i = 0; i < 8; i++)
		trace_export_kunit(0, i, 8 * i);
}

static void record_of_event(struct kunit *test)
{
	expect_types(test, make_event, TRACE_EXPORT_EVENT, 8, 0);
}

static void make_filtered_event(struct kunit *test)
{
	enable_event(test);
	export_kunit_filter(test, "seq & 1");
	for (int i = 0; i < 16; i++)
		trace_export_kunit(0, i, 16 * i);
}

static void record_of_filtered_event(struct kunit *test)
{
	expect_types(test, make_filtered_event, TRACE_EXPORT_EVENT, 8, 0);
}

static void restore_printk_dest(void *tr)
{
	char option[] = "trace_printk_dest";

	trace_set_options(tr, option);
}

static void make_printk(struct kunit *test)
{
	static const char fmt[] __used = "%d\n";
	struct export_kunit *ctx = test->priv;

	KUNIT_ASSERT_EQ(test, trace_array_init_printk(ctx->env.tr), 0);
	trace_array_puts(ctx->env.tr, "puts");
	trace_array_printk(ctx->env.tr, _THIS_IP_, "%s", "printk");

	/* trace_printk() and trace_puts(), without their banner */
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test,
							restore_printk_dest,
							printk_trace), 0);
	set_option(test, "trace_printk_dest");
	__trace_bputs(_THIS_IP_, "bputs");
	__trace_bprintk(_THIS_IP_, fmt, 42);
	__trace_puts(_THIS_IP_, "puts");
}

static void record_of_printk(struct kunit *test)
{
	expect_types(test, make_printk, TRACE_EXPORT_PRINTK, 5, 0);
}

static void make_marker(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, trace_kunit_write(test, "trace_marker", "one"),
			0);
	KUNIT_EXPECT_EQ(test, trace_kunit_write(test, "trace_marker", "two\n"),
			0);
}

static void record_of_marker(struct kunit *test)
{
	expect_types(test, make_marker, TRACE_EXPORT_MARKER, 2, 0);
}

static void make_raw_marker(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, trace_kunit_write(test, "trace_marker_raw",
						"abcdefghij"), 0);
}

static void record_of_raw_marker(struct kunit *test)
{
	expect_types(test, make_raw_marker, TRACE_EXPORT_RAW_MARKER, 1, 0);
}

static void make_stack(struct kunit *test)
{
	enable_event(test);
	set_option(test, "stacktrace");
	set_option(test, "userstacktrace");
	trace_export_kunit(0, 0, 8);
}

/* The rest is the event. */
static void record_of_stack(struct kunit *test)
{
	int stacks = IS_ENABLED(CONFIG_USER_STACKTRACE_SUPPORT) ? 2 : 1;

	expect_types(test, make_stack, TRACE_EXPORT_STACK, stacks, 1);
}

static void make_printk_stack(struct kunit *test)
{
	struct export_kunit *ctx = test->priv;

	KUNIT_ASSERT_EQ(test, trace_array_init_printk(ctx->env.tr), 0);
	set_option(test, "stacktrace");
	trace_array_printk(ctx->env.tr, _THIS_IP_, "%s", "printk");
}

/* The stack goes to the instance of the text. */
static void record_of_printk_stack(struct kunit *test)
{
	struct mirror *elsewhere = export_mirror_alloc(test, ALL_TYPES);

	export_kunit_register(test, export_kunit_other(test),
			      &elsewhere->export);
	expect_types(test, make_printk_stack, TRACE_EXPORT_STACK, 1, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&elsewhere->got), 0);
}

#ifdef CONFIG_DYNAMIC_FTRACE
static noinline void export_kunit_traced_type(void)
{
	barrier();
}

static void trace_function_with(struct kunit *test, const char *tracer)
{
	char filter[] = "export_kunit_traced_type";
	struct export_kunit *ctx = test->priv;

	KUNIT_ASSERT_EQ(test, ftrace_set_filter(ctx->env.tr->ops, filter,
						strlen(filter), 1), 0);
	KUNIT_ASSERT_EQ(test, tracing_set_tracer(ctx->env.tr, tracer), 0);
}

static void make_function(struct kunit *test)
{
	struct export_kunit *ctx = test->priv;
	int times = 4;

	trace_function_with(test, "function");
	for (int i = 0; i < 4; i++)
		export_kunit_traced_type();

	/* One record, and one for the repeats when another caller comes. */
	set_option(test, "func-no-repeats");
	/* Repeats are calls from the same place: do not unroll. */
	OPTIMIZER_HIDE_VAR(times);
	while (times--)
		export_kunit_traced_type();
	export_kunit_traced_type();
	/* Another tracer would clear the ring buffer. */
	tracer_tracing_off(ctx->env.tr);
}

static void record_of_function(struct kunit *test)
{
	expect_types(test, make_function, TRACE_EXPORT_FUNCTION, 4 + 3, 0);
}
#else
static void record_of_function(struct kunit *test)
{
	kunit_skip(test, "needs CONFIG_DYNAMIC_FTRACE");
}
#endif

#if defined(CONFIG_FUNCTION_GRAPH_TRACER) && defined(CONFIG_DYNAMIC_FTRACE)
static void make_graph(struct kunit *test)
{
	struct export_kunit *ctx = test->priv;

	trace_function_with(test, "function_graph");
	for (int i = 0; i < 4; i++)
		export_kunit_traced_type();
	tracer_tracing_off(ctx->env.tr);
}

static void record_of_graph(struct kunit *test)
{
	expect_types(test, make_graph, TRACE_EXPORT_GRAPH, 8, 0);
}
#else
static void record_of_graph(struct kunit *test)
{
	kunit_skip(test, "needs CONFIG_FUNCTION_GRAPH_TRACER");
}
#endif

#ifdef CONFIG_SCHED_TRACER
static int complete_it(void *done)
{
	complete(done);

	return 0;
}

static void switch_tracing(struct kunit *test, bool on)
{
	KUNIT_ASSERT_EQ(test, trace_kunit_write(test, "tracing_on",
						on ? "1" : "0"), 0);
}

/*
 * The tracer wakeup_rt needs neither hardware nor time. It records the wakeup of
 * a real-time thread and the switch to it, and adds a function and a stack to
 * each of them; these are the rest.
 */
static void record_of_tracer(struct kunit *test)
{
	struct export_kunit *ctx = test->priv;
	struct mirror *mirror, *other;
	struct completion *done;
	struct task_struct *task;
	int ret;

	if (tracing_thresh)
		kunit_skip(test, "tracing_thresh is set, latencies are kept");

	trace_array_set_clr_event(ctx->env.tr, EXPORT_KUNIT, NULL, false);
	/* Not all functions between the two */
	if (IS_ENABLED(CONFIG_FUNCTION_TRACER))
		set_option(test, "nofunction-trace");
	ret = tracing_set_tracer(ctx->env.tr, "wakeup_rt");
	if (ret == -EBUSY)
		kunit_skip(test, "one of the wakeup tracers is in use");
	KUNIT_ASSERT_EQ(test, ret, 0);
	/* No latency is the longest one, for which buffers are swapped. */
	ctx->env.tr->max_latency = ULONG_MAX;

	done = kunit_kzalloc(test, sizeof(*done), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, done);
	init_completion(done);
	task = trace_kunit_thread(test, complete_it, done,
				  raw_smp_processor_id());
	sched_set_fifo(task);

	/* Others wake up, too: buffer and mirrors begin and end together. */
	switch_tracing(test, false);
	mirror = export_mirror_new(test, TRACE_EXPORT_TRACER);
	other = export_mirror_new(test, ALL_TYPES & ~TRACE_EXPORT_TRACER);
	switch_tracing(test, true);
	wake_up_process(task);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(done,
							  TRACE_KUNIT_TIMEOUT),
			0);
	switch_tracing(test, false);
	synchronize_rcu();

	KUNIT_EXPECT_GE(test, export_mirror_expect(test, mirror, other,
						   TRACE_EXPORT_TRACER), 1);
}
#else
static void record_of_tracer(struct kunit *test)
{
	kunit_skip(test, "needs CONFIG_SCHED_TRACER");
}
#endif

/* What a trigger looks at while recording is off is no record. */
static void no_record_while_off(struct kunit *test)
{
	struct mirror *mirror = export_mirror_new(test, ALL_TYPES);
	struct export_kunit *ctx = test->priv;

	set_option(test, "stacktrace");
	export_kunit_trigger(test, "traceon if seq == 12345");
	tracer_tracing_off(ctx->env.tr);
	trace_export_kunit(0, 0, 8);
	KUNIT_EXPECT_EQ(test, atomic_read(&mirror->got), 0);

	/* The event and its stack */
	tracer_tracing_on(ctx->env.tr);
	trace_export_kunit(0, 1, 8);
	KUNIT_EXPECT_EQ(test, export_mirror_expect(test, mirror, NULL,
						   ALL_TYPES), 2);
	export_kunit_trigger(test, "!traceon");
}

/* Records that no export wants take no longer. Events have no key. */
static void keys_come_and_go(struct kunit *test)
{
	struct export_kunit *ctx = test->priv;
	int before[TRACE_EXPORT_NR_TYPES];

	for (int i = 0; i < ARRAY_SIZE(before); i++)
		before[i] = static_key_count(&trace_export_keys[i].key);

	for (int type = BIT(0); type < ALL_TYPES; type <<= 1) {
		int keys = type & ~TRACE_EXPORT_EVENT;
		struct export_registration *reg;
		struct mirror *mirror;

		mirror = export_mirror_alloc(test, type);
		reg = export_kunit_register(test, ctx->env.tr, &mirror->export);
		for (int i = 0; i < ARRAY_SIZE(before); i++)
			KUNIT_EXPECT_EQ(test, before[i] + !!(keys & BIT(i)),
					static_key_count(&trace_export_keys[i].key));

		export_kunit_unregister(test, reg);
		for (int i = 0; i < ARRAY_SIZE(before); i++)
			KUNIT_EXPECT_EQ(test, before[i],
					static_key_count(&trace_export_keys[i].key));
	}
}

static struct kunit_case types_cases[] = {
	KUNIT_CASE(record_of_event),
	KUNIT_CASE(record_of_filtered_event),
	KUNIT_CASE(record_of_printk),
	KUNIT_CASE(record_of_marker),
	KUNIT_CASE(record_of_raw_marker),
	KUNIT_CASE(record_of_stack),
	KUNIT_CASE(record_of_printk_stack),
	KUNIT_CASE(record_of_function),
	KUNIT_CASE(record_of_graph),
	KUNIT_CASE(record_of_tracer),
	KUNIT_CASE(no_record_while_off),
	KUNIT_CASE(keys_come_and_go),
	{}
};

static struct kunit_suite types_suite = {
	.name		= "trace_export_types",
	.init		= export_kunit_init_counter,
	.test_cases	= types_cases,
};

kunit_test_suite(types_suite);

MODULE_DESCRIPTION("KUnit tests for the types of records of trace exports");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for trace exports, see register_ftrace_export().
 *
 * Nothing but the event of trace_export_helpers.h is traced, in an instance of
 * its own.
 *
 * The concurrent cases need two CPUs: they trace on both while threads register,
 * unregister, poison and free exports. Under KASAN a callback that runs too late
 * is a use after free; without it the magic of the sink tells.
 */

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/poison.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/trace.h>

#include "trace_export_helpers.h"

#define MAX_LEN		400

static unsigned int cycles = 200;
module_param(cycles, uint, 0444);
MODULE_PARM_DESC(cycles, "register/unregister cycles of each thread");

/* Registration */

static void export_without_write(struct kunit *test)
{
	struct trace_export export = { .flags = TRACE_EXPORT_EVENT };

	kunit_warning_suppress(test) {
		KUNIT_EXPECT_EQ(test, register_ftrace_export(&export), -EINVAL);
	}
	KUNIT_EXPECT_EQ(test, unregister_ftrace_export(&export), -ENOENT);
}

static void export_with_invalid_flags(struct kunit *test)
{
	static const int invalid[] = {
		0, BIT(30), INT_MIN, TRACE_EXPORT_EVENT | BIT(30), -1,
	};

	for (int i = 0; i < ARRAY_SIZE(invalid); i++) {
		struct sink *sink = export_sink_alloc(test, invalid[i]);

		KUNIT_EXPECT_EQ(test, register_ftrace_export(&sink->export),
				-EINVAL);
		KUNIT_EXPECT_EQ(test, unregister_ftrace_export(&sink->export),
				-ENOENT);
	}
}

static void export_registered_twice(struct kunit *test)
{
	struct sink *sink = export_sink_new(test, TRACE_EXPORT_EVENT);

	KUNIT_ASSERT_EQ(test, register_ftrace_export(&sink->export), -EEXIST);

	trace_export_kunit(0, 0, 8);
	export_sink_expect(test, sink, 1);

	export_sink_unregister(test, sink);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_export(&sink->export), -ENOENT);
	trace_export_kunit(0, 1, 8);
	export_sink_expect(test, sink, 1);
}

static void export_registered_again(struct kunit *test)
{
	struct sink *sink = export_sink_alloc(test, TRACE_EXPORT_EVENT);

	for (int i = 0; i < 3; i++) {
		export_sink_register(test, sink);
		trace_export_kunit(0, i, 8);
		export_sink_unregister(test, sink);
		export_sink_expect(test, sink, i + 1);
	}
}

static void export_unknown_unregistered(struct kunit *test)
{
	struct sink *live = export_sink_new(test, TRACE_EXPORT_EVENT);
	struct sink *unknown = export_sink_alloc(test, TRACE_EXPORT_EVENT);

	KUNIT_EXPECT_EQ(test, unregister_ftrace_export(&unknown->export),
			-ENOENT);

	trace_export_kunit(0, 0, 8);
	export_sink_expect(test, live, 1);
	export_sink_expect(test, unknown, 0);
}

/* The flags at unregister time would take away the key of the live export. */
static void export_flags_changed(struct kunit *test)
{
	struct sink *live = export_sink_new(test, TRACE_EXPORT_EVENT);
	struct sink *sink = export_sink_new(test, TRACE_EXPORT_MARKER);

	sink->export.flags = TRACE_EXPORT_EVENT;
	export_sink_unregister(test, sink);

	trace_export_kunit(0, 0, 8);
	export_sink_expect(test, live, 1);
}

static void export_flags_added(struct kunit *test)
{
	struct sink *live = export_sink_new(test, TRACE_EXPORT_EVENT);
	struct sink *sink = export_sink_new(test, TRACE_EXPORT_MARKER);

	sink->export.flags |= TRACE_EXPORT_EVENT;
	trace_export_kunit(0, 0, 8);
	export_sink_expect(test, live, 1);
	export_sink_expect(test, sink, 0);

	sink->export.flags = TRACE_EXPORT_MARKER;
}

/* Which records */

/* Three exports; the first, the last and the one between leave, in turn. */
static void export_complete_in_order(struct kunit *test)
{
	for (int leaves = 0; leaves < 3; leaves++) {
		struct sink *sink[3];
		int i;

		for (i = 0; i < 3; i++)
			sink[i] = export_sink_new(test, TRACE_EXPORT_EVENT);

		for (i = 0; i < 100; i++)
			trace_export_kunit(i % SOURCES, i / SOURCES, i);
		export_sink_unregister(test, sink[leaves]);
		for (i = 100; i < 200; i++)
			trace_export_kunit(i % SOURCES, i / SOURCES, i);

		for (i = 0; i < 3; i++) {
			export_sink_expect(test, sink[i], i == leaves ? 100 : 200);
			if (i != leaves)
				export_sink_unregister(test, sink[i]);
		}
	}
}

static void export_other_types(struct kunit *test)
{
	struct sink *sink = export_sink_new(test, TRACE_EXPORT_FUNCTION |
						  TRACE_EXPORT_MARKER);
	struct sink *live = export_sink_new(test, TRACE_EXPORT_EVENT);

	trace_export_kunit(0, 0, 8);
	export_sink_expect(test, sink, 0);
	export_sink_expect(test, live, 1);
}

static void expect_bytes_as_committed(struct kunit *test)
{
	struct sink *sink = export_sink_alloc(test, TRACE_EXPORT_EVENT);
	struct export_kunit *ctx = test->priv;

	sink->copy = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sink->copy);
	export_sink_register(test, sink);

	for (int len = 0; len <= MAX_LEN; len++) {
		struct ring_buffer_event *event;

		trace_export_kunit(0, len, len);
		event = export_kunit_next(ctx->env.tr);
		KUNIT_ASSERT_NOT_NULL(test, event);
		KUNIT_EXPECT_EQ(test, sink->len,
				ring_buffer_event_length(event));
		KUNIT_EXPECT_MEMEQ(test, sink->copy,
				   ring_buffer_event_data(event),
				   min(sink->len,
				       ring_buffer_event_length(event)));
		KUNIT_ASSERT_NULL(test, export_kunit_next(ctx->env.tr));
	}
	export_sink_expect(test, sink, MAX_LEN + 1);
}

static void export_bytes_as_committed(struct kunit *test)
{
	expect_bytes_as_committed(test);
}

static void export_bytes_with_filter(struct kunit *test)
{
	export_kunit_filter(test, "source < 2");
	expect_bytes_as_committed(test);
}

static void export_nothing_filtered_out(struct kunit *test)
{
	struct sink *sink = export_sink_new(test, TRACE_EXPORT_EVENT);

	export_kunit_filter(test, "source == 1");
	for (int i = 0; i < 10; i++) {
		trace_export_kunit(0, i, 8);
		trace_export_kunit(1, i, 8);
	}
	export_sink_expect(test, sink, 10);
	KUNIT_EXPECT_EQ(test, sink->next[0], 0);
}

static void expect_nothing_while_off(struct kunit *test)
{
	struct sink *sink = export_sink_new(test, TRACE_EXPORT_EVENT);
	struct export_kunit *ctx = test->priv;

	tracer_tracing_off(ctx->env.tr);
	trace_export_kunit(0, 0, 8);
	KUNIT_EXPECT_NULL(test, export_kunit_next(ctx->env.tr));
	export_sink_expect(test, sink, 0);

	tracer_tracing_on(ctx->env.tr);
	trace_export_kunit(0, 0, 8);
	export_sink_expect(test, sink, 1);
}

static void export_nothing_while_off(struct kunit *test)
{
	expect_nothing_while_off(test);
}

static void export_nothing_while_off_with_filter(struct kunit *test)
{
	export_kunit_filter(test, "source == 0");
	expect_nothing_while_off(test);
}

static void export_nothing_while_off_with_trigger(struct kunit *test)
{
	export_kunit_trigger(test, "traceon if seq == 12345");
	expect_nothing_while_off(test);
	export_kunit_trigger(test, "!traceon");
}

static noinline void export_kunit_traced_function(void)
{
	barrier();
}

#define NESTED		8

/* Readers and exports get the same time stamps. */
static void export_nested_time_stamps(struct kunit *test)
{
	struct ring_buffer_event *events[NESTED], *event;
	struct export_kunit *ctx = test->priv;
	u64 stamps[NESTED] = {}, ts;
	struct trace_buffer *buffer;
	int cpu;

	/* No two readings are the same. */
	KUNIT_ASSERT_EQ(test, tracing_set_clock(ctx->env.tr, "counter"), 0);
	buffer = ctx->env.tr->array_buffer.buffer;
	cpu = get_cpu();

	/* Two fit in each level, as if one was in an interrupt. */
	for (int i = 0; i < NESTED; i++) {
		if (i % 2 == 0)
			ring_buffer_nest_start(buffer);
		events[i] = ring_buffer_lock_reserve(buffer, sizeof(u32));
	}

	for (int i = NESTED - 1; i >= 0; i--) {
		if (events[i]) {
			stamps[i] = ring_buffer_event_time_stamp(buffer,
								 events[i]);
			ring_buffer_unlock_commit(buffer);
		}
		if (i % 2 == 0)
			ring_buffer_nest_end(buffer);
	}
	put_cpu();

	for (int i = 0; i < NESTED; i++) {
		event = ring_buffer_consume(buffer, cpu, &ts, NULL);
		KUNIT_ASSERT_NOT_NULL(test, event);
		KUNIT_EXPECT_EQ(test, stamps[i], ts);
	}
	KUNIT_EXPECT_NULL(test, ring_buffer_consume(buffer, cpu, &ts, NULL));
}

static void export_functions(struct kunit *test)
{
#ifdef CONFIG_DYNAMIC_FTRACE
	char filter[] = "export_kunit_traced_function";
	struct export_kunit *ctx = test->priv;
	struct sink *sink, *other;

	KUNIT_ASSERT_EQ(test, ftrace_set_filter(ctx->env.tr->ops, filter,
						strlen(filter), 1), 0);
	KUNIT_ASSERT_EQ(test, tracing_set_tracer(ctx->env.tr, "function"), 0);
	sink = export_sink_new(test, TRACE_EXPORT_FUNCTION);
	other = export_sink_new(test, TRACE_EXPORT_EVENT);

	for (int i = 0; i < 10; i++)
		export_kunit_traced_function();

	KUNIT_EXPECT_EQ(test, tracing_set_tracer(ctx->env.tr, "nop"), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&sink->functions), 10);
	KUNIT_EXPECT_EQ(test, atomic_read(&other->functions), 0);
#else
	export_kunit_traced_function();
	kunit_skip(test, "needs CONFIG_DYNAMIC_FTRACE");
#endif
}

/* Concurrency */

struct slow_sink {
	struct trace_export	export;
	bool			inside;
	bool			unregistered;
	bool			too_late;
};

/* Long enough for an unregister that does not wait to return meanwhile. */
static void slow_write(struct trace_export *export, const void *buf,
		       unsigned int len)
{
	struct slow_sink *slow = container_of(export, struct slow_sink, export);

	/* pairs with smp_load_acquire() in export_unregister_waits() */
	smp_store_release(&slow->inside, true);
	for (int i = 0; i < 200 && !READ_ONCE(slow->unregistered); i++)
		mdelay(1);
	slow->too_late = READ_ONCE(slow->unregistered);
}

static int trace_once(void *unused)
{
	trace_export_kunit(0, 0, 8);

	return 0;
}

static void export_unregister_waits(struct kunit *test)
{
	struct task_struct *tracer;
	struct slow_sink *slow;
	unsigned long deadline;
	int cpu[2];

	trace_kunit_two_cpus(test, cpu);
	slow = kunit_kzalloc(test, sizeof(*slow), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, slow);
	slow->export.write = slow_write;
	slow->export.flags = TRACE_EXPORT_EVENT;

	tracer = trace_kunit_thread(test, trace_once, NULL, cpu[1]);
	KUNIT_ASSERT_EQ(test, register_ftrace_export(&slow->export), 0);
	wake_up_process(tracer);

	/* No assertion while it is registered. */
	deadline = jiffies + TRACE_KUNIT_TIMEOUT;
	/* pairs with smp_store_release() in slow_write() */
	while (!smp_load_acquire(&slow->inside)) {
		if (time_after(jiffies, deadline))
			break;
		cond_resched();
	}
	KUNIT_EXPECT_TRUE(test, slow->inside);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_export(&slow->export), 0);
	WRITE_ONCE(slow->unregistered, true);

	trace_kunit_stop(test, tracer);
	KUNIT_EXPECT_FALSE(test, slow->too_late);
}

struct writer {
	struct task_struct	*task;
	u32			source;
	u32			written;
};

static int write_records(void *data)
{
	struct writer *writer = data;

	while (!kthread_should_stop()) {
		trace_export_kunit(writer->source, writer->written++, 8);
		cond_resched();
	}

	return 0;
}

struct churner {
	struct task_struct	*task;
	struct completion	done;
	unsigned int		cycle;
	int			failed;
};

struct race {
	struct churner		churner[2];
	struct writer		writer[SOURCES];
};

/* Slow, so that an unregister nearly always meets it. */
static void churn_write(struct trace_export *export, const void *buf,
			unsigned int len)
{
	struct sink *sink = container_of(export, struct sink, export);

	atomic_inc(&sink->records);
	udelay(5);
	if (READ_ONCE(sink->magic) != SINK_ALIVE)
		atomic_inc(&export_late_writes);
}

/* Register, wait for a record, unregister, poison, free. */
static int churn_once(int flags)
{
	unsigned long deadline = jiffies + TRACE_KUNIT_TIMEOUT;
	struct sink *sink;
	int ret;

	sink = kzalloc_obj(*sink);
	if (!sink)
		return -ENOMEM;

	export_sink_init(sink, flags);
	sink->export.write = churn_write;
	ret = register_ftrace_export(&sink->export);
	if (ret)
		goto free;

	while (!atomic_read(&sink->records)) {
		if (time_after(jiffies, deadline)) {
			ret = -ETIME;
			break;
		}
		cond_resched();
	}

	ret = unregister_ftrace_export(&sink->export) ?: ret;
	memset(sink, POISON_FREE, sizeof(*sink));
free:
	kfree(sink);

	return ret;
}

static int churn_exports(void *data)
{
	struct churner *churner = data;
	unsigned int i;

	for (i = 0; i < cycles && !churner->failed; i++) {
		if (kthread_should_stop())
			break;
		churner->failed = churn_once(i & 1 ? TRACE_EXPORT_EVENT :
					     TRACE_EXPORT_EVENT |
					     TRACE_EXPORT_MARKER);
		WRITE_ONCE(churner->cycle, i + 1);
	}
	complete(&churner->done);

	return 0;
}

/* Waits for all cycles, however many, as long as they go on. */
static bool churner_done(struct churner *churner)
{
	unsigned int cycle;

	do {
		cycle = READ_ONCE(churner->cycle);
		if (wait_for_completion_timeout(&churner->done, TRACE_KUNIT_TIMEOUT))
			return true;
	} while (READ_ONCE(churner->cycle) != cycle);

	return false;
}

static void export_register_race(struct kunit *test)
{
	struct churner *churner;
	struct writer *writer;
	struct sink *steady;
	struct race *race;
	u32 written = 0;
	int cpu[2];
	int i;

	trace_kunit_two_cpus(test, cpu);
	race = kunit_kzalloc(test, sizeof(*race), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, race);
	atomic_set(&export_late_writes, 0);
	steady = export_sink_new(test, TRACE_EXPORT_EVENT);

	for (i = 0; i < ARRAY_SIZE(race->writer); i++) {
		writer = &race->writer[i];
		writer->source = i;
		writer->task = trace_kunit_thread(test, write_records, writer, cpu[i]);
		wake_up_process(writer->task);
	}
	for (i = 0; i < ARRAY_SIZE(race->churner); i++) {
		churner = &race->churner[i];
		init_completion(&churner->done);
		churner->task = trace_kunit_thread(test, churn_exports, churner, -1);
		wake_up_process(churner->task);
	}

	for (i = 0; i < ARRAY_SIZE(race->churner); i++) {
		churner = &race->churner[i];
		KUNIT_EXPECT_TRUE(test, churner_done(churner));
		trace_kunit_stop(test, churner->task);
		KUNIT_EXPECT_EQ(test, churner->failed, 0);
	}
	for (i = 0; i < ARRAY_SIZE(race->writer); i++) {
		writer = &race->writer[i];
		trace_kunit_stop(test, writer->task);
		written += writer->written;
	}

	KUNIT_EXPECT_GT(test, written, 0);
	export_sink_expect(test, steady, written);
	KUNIT_EXPECT_EQ(test, atomic_read(&export_late_writes), 0);
}

static struct kunit_case export_cases[] = {
	KUNIT_CASE(export_without_write),
	KUNIT_CASE(export_with_invalid_flags),
	KUNIT_CASE(export_registered_twice),
	KUNIT_CASE(export_registered_again),
	KUNIT_CASE(export_unknown_unregistered),
	KUNIT_CASE(export_flags_changed),
	KUNIT_CASE(export_flags_added),
	KUNIT_CASE(export_complete_in_order),
	KUNIT_CASE(export_other_types),
	KUNIT_CASE(export_bytes_as_committed),
	KUNIT_CASE(export_bytes_with_filter),
	KUNIT_CASE(export_nothing_filtered_out),
	KUNIT_CASE(export_nothing_while_off),
	KUNIT_CASE(export_nothing_while_off_with_filter),
	KUNIT_CASE(export_nothing_while_off_with_trigger),
	KUNIT_CASE(export_nested_time_stamps),
	KUNIT_CASE(export_functions),
	KUNIT_CASE(export_unregister_waits),
	KUNIT_CASE_SLOW(export_register_race),
	{}
};

static struct kunit_suite export_suite = {
	.name		= "trace_export",
	.init		= export_kunit_init,
	.test_cases	= export_cases,
};

kunit_test_suite(export_suite);

MODULE_DESCRIPTION("KUnit tests for trace exports");
MODULE_LICENSE("GPL");

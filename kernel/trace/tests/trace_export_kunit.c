// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for trace exports, see register_ftrace_export().
 *
 * Records are self-describing: source (who wrote it), seq (per source, from 0)
 * and a byte pattern made of seq, of any length. A sink is an export that
 * checks each record it gets, so that a short, foreign, lost, doubled or
 * reordered record is noticed where it happens. The event is enabled in an
 * instance of its own; nothing else in the system is traced or touched.
 *
 * What would be caught: see the name of each case. The concurrent cases need
 * two CPUs: they trace on both while threads register, unregister, poison and
 * free exports. Under KASAN a callback that runs too late is a use after free;
 * without it the magic of the sink tells.
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

#include "../trace.h"

#define CREATE_TRACE_POINTS
#include "trace_export_kunit.h"

#define INSTANCE	"trace_export_kunit"
#define SINK_ALIVE	0x600df00d
#define SOURCES		2
#define MAX_LEN		400

static unsigned int cycles = 200;
module_param(cycles, uint, 0444);
MODULE_PARM_DESC(cycles, "register/unregister cycles of each thread");

struct context {
	struct trace_array	*tr;
	struct trace_event_file	*file;
};

struct sink {
	struct trace_export	export;
	u32			magic;
	/* Next sequence number of each source; a source writes on one CPU. */
	u32			next[SOURCES];
	atomic_t		records;
	atomic_t		functions;
	atomic_t		wrong;
	/* The last record, for a test that looks at the bytes. */
	u8			*copy;
	unsigned int		len;
};

static atomic_t late_writes;

static bool record_intact(const void *buf, unsigned int len)
{
	const struct trace_event_raw_export_kunit *rec = buf;
	unsigned int offset, size;

	if (len < sizeof(*rec))
		return false;

	offset = rec->__data_loc_pattern & 0xffff;
	size = rec->__data_loc_pattern >> 16;
	if (offset + size > len)
		return false;

	return !size || !memchr_inv(buf + offset, rec->seq & 0xff, size);
}

static void sink_write(struct trace_export *export, const void *buf,
		       unsigned int len)
{
	struct sink *sink = container_of(export, struct sink, export);
	const struct trace_event_raw_export_kunit *rec = buf;

	if (READ_ONCE(sink->magic) != SINK_ALIVE) {
		atomic_inc(&late_writes);
		return;
	}

	if (rec->ent.type == TRACE_FN) {
		atomic_inc(&sink->functions);
		return;
	}

	if (rec->ent.type != event_export_kunit.event.type)
		return;

	if (!record_intact(buf, len) || rec->source >= SOURCES ||
	    rec->seq != sink->next[rec->source]++)
		atomic_inc(&sink->wrong);

	if (sink->copy) {
		memcpy(sink->copy, buf, min(len, PAGE_SIZE));
		sink->len = len;
	}
	atomic_inc(&sink->records);
}

static void sink_init(struct sink *sink, int flags)
{
	sink->magic = SINK_ALIVE;
	sink->export.write = sink_write;
	sink->export.flags = flags;
}

static struct sink *sink_alloc(struct kunit *test, int flags)
{
	struct sink *sink = kunit_kzalloc(test, sizeof(*sink), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, sink);
	sink_init(sink, flags);

	return sink;
}

static void sink_unregister(void *sink)
{
	unregister_ftrace_export(&((struct sink *)sink)->export);
}

static void sink_register(struct kunit *test, struct sink *sink)
{
	KUNIT_ASSERT_EQ(test, register_ftrace_export(&sink->export), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, sink_unregister,
							sink), 0);
}

static struct sink *sink_new(struct kunit *test, int flags)
{
	struct sink *sink = sink_alloc(test, flags);

	sink_register(test, sink);

	return sink;
}

static void expect_records(struct kunit *test, struct sink *sink, int records)
{
	KUNIT_EXPECT_EQ(test, atomic_read(&sink->records), records);
	KUNIT_EXPECT_EQ(test, atomic_read(&sink->wrong), 0);
}

static void set_filter(struct kunit *test, const char *filter)
{
	struct context *ctx = test->priv;
	char buf[64];

	strscpy(buf, filter);
	guard(mutex)(&event_mutex);
	KUNIT_ASSERT_EQ(test, apply_event_filter(ctx->file, buf), 0);
}

static void set_trigger(struct kunit *test, const char *trigger)
{
	struct context *ctx = test->priv;
	char buf[64];

	strscpy(buf, trigger);
	guard(mutex)(&event_mutex);
	KUNIT_ASSERT_EQ(test, trigger_process_regex(ctx->file, buf), 0);
}

/* The next record of the instance, on whichever CPU, or NULL. */
static struct ring_buffer_event *next_committed(struct trace_array *tr)
{
	struct ring_buffer_event *event = NULL;
	int cpu;

	for_each_online_cpu(cpu) {
		event = ring_buffer_consume(tr->array_buffer.buffer, cpu, NULL,
					    NULL);
		if (event)
			break;
	}

	return event;
}

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
		struct sink *sink = sink_alloc(test, invalid[i]);

		KUNIT_EXPECT_EQ(test, register_ftrace_export(&sink->export),
				-EINVAL);
		KUNIT_EXPECT_EQ(test, unregister_ftrace_export(&sink->export),
				-ENOENT);
	}
}

static void export_registered_twice(struct kunit *test)
{
	struct sink *sink = sink_new(test, TRACE_EXPORT_EVENT);

	KUNIT_ASSERT_EQ(test, register_ftrace_export(&sink->export), -EEXIST);

	trace_export_kunit(0, 0, 8);
	expect_records(test, sink, 1);

	kunit_release_action(test, sink_unregister, sink);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_export(&sink->export), -ENOENT);
	trace_export_kunit(0, 1, 8);
	expect_records(test, sink, 1);
}

static void export_registered_again(struct kunit *test)
{
	struct sink *sink = sink_alloc(test, TRACE_EXPORT_EVENT);

	for (int i = 0; i < 3; i++) {
		sink_register(test, sink);
		trace_export_kunit(0, i, 8);
		kunit_release_action(test, sink_unregister, sink);
		expect_records(test, sink, i + 1);
	}
}

static void export_unknown_unregistered(struct kunit *test)
{
	struct sink *live = sink_new(test, TRACE_EXPORT_EVENT);
	struct sink *unknown = sink_alloc(test, TRACE_EXPORT_EVENT);

	KUNIT_EXPECT_EQ(test, unregister_ftrace_export(&unknown->export),
			-ENOENT);

	trace_export_kunit(0, 0, 8);
	expect_records(test, live, 1);
	expect_records(test, unknown, 0);
}

/* The flags at unregister time would take away the key of the live export. */
static void export_flags_changed(struct kunit *test)
{
	struct sink *live = sink_new(test, TRACE_EXPORT_EVENT);
	struct sink *sink = sink_new(test, TRACE_EXPORT_MARKER);

	sink->export.flags = TRACE_EXPORT_EVENT;
	kunit_release_action(test, sink_unregister, sink);

	trace_export_kunit(0, 0, 8);
	expect_records(test, live, 1);
}

static void export_flags_added(struct kunit *test)
{
	struct sink *live = sink_new(test, TRACE_EXPORT_EVENT);
	struct sink *sink = sink_new(test, TRACE_EXPORT_MARKER);

	sink->export.flags |= TRACE_EXPORT_EVENT;
	trace_export_kunit(0, 0, 8);
	expect_records(test, live, 1);
	expect_records(test, sink, 0);

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
			sink[i] = sink_new(test, TRACE_EXPORT_EVENT);

		for (i = 0; i < 100; i++)
			trace_export_kunit(i % SOURCES, i / SOURCES, i);
		kunit_release_action(test, sink_unregister, sink[leaves]);
		for (i = 100; i < 200; i++)
			trace_export_kunit(i % SOURCES, i / SOURCES, i);

		for (i = 0; i < 3; i++) {
			expect_records(test, sink[i], i == leaves ? 100 : 200);
			if (i != leaves)
				kunit_release_action(test, sink_unregister,
						     sink[i]);
		}
	}
}

static void export_other_types(struct kunit *test)
{
	struct sink *sink = sink_new(test, TRACE_EXPORT_FUNCTION |
					   TRACE_EXPORT_MARKER);
	struct sink *live = sink_new(test, TRACE_EXPORT_EVENT);

	trace_export_kunit(0, 0, 8);
	expect_records(test, sink, 0);
	expect_records(test, live, 1);
}

static void expect_bytes_as_committed(struct kunit *test)
{
	struct sink *sink = sink_alloc(test, TRACE_EXPORT_EVENT);
	struct context *ctx = test->priv;

	sink->copy = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sink->copy);
	sink_register(test, sink);

	for (int len = 0; len <= MAX_LEN; len++) {
		struct ring_buffer_event *event;

		trace_export_kunit(0, len, len);
		event = next_committed(ctx->tr);
		KUNIT_ASSERT_NOT_NULL(test, event);
		KUNIT_EXPECT_EQ(test, sink->len,
				ring_buffer_event_length(event));
		KUNIT_EXPECT_MEMEQ(test, sink->copy,
				   ring_buffer_event_data(event),
				   min(sink->len,
				       ring_buffer_event_length(event)));
		KUNIT_ASSERT_NULL(test, next_committed(ctx->tr));
	}
	expect_records(test, sink, MAX_LEN + 1);
}

static void export_bytes_as_committed(struct kunit *test)
{
	expect_bytes_as_committed(test);
}

static void export_bytes_with_filter(struct kunit *test)
{
	set_filter(test, "source < 2");
	expect_bytes_as_committed(test);
}

static void export_nothing_filtered_out(struct kunit *test)
{
	struct sink *sink = sink_new(test, TRACE_EXPORT_EVENT);

	set_filter(test, "source == 1");
	for (int i = 0; i < 10; i++) {
		trace_export_kunit(0, i, 8);
		trace_export_kunit(1, i, 8);
	}
	expect_records(test, sink, 10);
	KUNIT_EXPECT_EQ(test, sink->next[0], 0);
}

static void expect_nothing_while_off(struct kunit *test)
{
	struct sink *sink = sink_new(test, TRACE_EXPORT_EVENT);
	struct context *ctx = test->priv;

	tracer_tracing_off(ctx->tr);
	trace_export_kunit(0, 0, 8);
	KUNIT_EXPECT_NULL(test, next_committed(ctx->tr));
	expect_records(test, sink, 0);

	tracer_tracing_on(ctx->tr);
	trace_export_kunit(0, 0, 8);
	expect_records(test, sink, 1);
}

static void export_nothing_while_off(struct kunit *test)
{
	expect_nothing_while_off(test);
}

static void export_nothing_while_off_with_filter(struct kunit *test)
{
	set_filter(test, "source == 0");
	expect_nothing_while_off(test);
}

static void export_nothing_while_off_with_trigger(struct kunit *test)
{
	set_trigger(test, "traceon if seq == 12345");
	expect_nothing_while_off(test);
	set_trigger(test, "!traceon");
}

static noinline void export_kunit_traced_function(void)
{
	barrier();
}

static void export_functions(struct kunit *test)
{
#ifdef CONFIG_DYNAMIC_FTRACE
	char filter[] = "export_kunit_traced_function";
	struct context *ctx = test->priv;
	struct sink *sink, *other;

	KUNIT_ASSERT_EQ(test, ftrace_set_filter(ctx->tr->ops, filter,
						strlen(filter), 1), 0);
	KUNIT_ASSERT_EQ(test, tracing_set_tracer(ctx->tr, "function"), 0);
	sink = sink_new(test, TRACE_EXPORT_FUNCTION);
	other = sink_new(test, TRACE_EXPORT_EVENT);

	for (int i = 0; i < 10; i++)
		export_kunit_traced_function();

	KUNIT_EXPECT_EQ(test, tracing_set_tracer(ctx->tr, "nop"), 0);
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

/* Two CPUs for the test; the caller runs on the first one. */
static void need_two_cpus(struct kunit *test, int cpu[2])
{
	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");

	cpu[0] = cpumask_first(cpu_online_mask);
	cpu[1] = cpumask_next(cpu[0], cpu_online_mask);
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current,
						   cpumask_of(cpu[0])), 0);
}

static void export_unregister_waits(struct kunit *test)
{
	struct task_struct *tracer;
	struct slow_sink *slow;
	int cpu[2];

	need_two_cpus(test, cpu);
	slow = kunit_kzalloc(test, sizeof(*slow), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, slow);
	slow->export.write = slow_write;
	slow->export.flags = TRACE_EXPORT_EVENT;

	tracer = kthread_create_on_cpu(trace_once, NULL, cpu[1], "once/%u");
	KUNIT_ASSERT_FALSE(test, IS_ERR(tracer));
	get_task_struct(tracer);
	KUNIT_EXPECT_EQ(test, register_ftrace_export(&slow->export), 0);
	wake_up_process(tracer);

	/* pairs with smp_store_release() in slow_write() */
	while (!smp_load_acquire(&slow->inside))
		cond_resched();
	KUNIT_EXPECT_EQ(test, unregister_ftrace_export(&slow->export), 0);
	WRITE_ONCE(slow->unregistered, true);

	kthread_stop_put(tracer);
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
	struct completion	done;
	int			failed;
};

/* Slow, so that an unregister nearly always meets it. */
static void churn_write(struct trace_export *export, const void *buf,
			unsigned int len)
{
	struct sink *sink = container_of(export, struct sink, export);

	atomic_inc(&sink->records);
	udelay(5);
	if (READ_ONCE(sink->magic) != SINK_ALIVE)
		atomic_inc(&late_writes);
}

/* Register, wait for a record, unregister, poison, free. */
static int churn_once(int flags)
{
	unsigned long deadline = jiffies + 30 * HZ;
	struct sink *sink;
	int ret;

	sink = kzalloc_obj(*sink);
	if (!sink)
		return -ENOMEM;

	sink_init(sink, flags);
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

	for (unsigned int i = 0; i < cycles && !churner->failed; i++)
		churner->failed = churn_once(i & 1 ? TRACE_EXPORT_EVENT :
					     TRACE_EXPORT_EVENT |
					     TRACE_EXPORT_MARKER);
	complete(&churner->done);

	return 0;
}

static void export_register_race(struct kunit *test)
{
	struct churner churner[2] = {};
	struct writer writer[SOURCES] = {};
	struct sink *steady;
	u32 written = 0;
	int cpu[2];
	int i;

	need_two_cpus(test, cpu);
	atomic_set(&late_writes, 0);
	steady = sink_new(test, TRACE_EXPORT_EVENT);

	for (i = 0; i < SOURCES; i++) {
		writer[i].source = i;
		writer[i].task = kthread_create_on_cpu(write_records,
						       &writer[i], cpu[i],
						       "writer/%u");
		KUNIT_ASSERT_FALSE(test, IS_ERR(writer[i].task));
		wake_up_process(writer[i].task);
	}
	for (i = 0; i < ARRAY_SIZE(churner); i++) {
		init_completion(&churner[i].done);
		if (IS_ERR(kthread_run(churn_exports, &churner[i],
				       "churner/%d", i))) {
			churner[i].failed = -ENOMEM;
			complete(&churner[i].done);
		}
	}

	for (i = 0; i < ARRAY_SIZE(churner); i++) {
		wait_for_completion(&churner[i].done);
		KUNIT_EXPECT_EQ(test, churner[i].failed, 0);
	}
	for (i = 0; i < SOURCES; i++) {
		kthread_stop(writer[i].task);
		written += writer[i].written;
	}

	KUNIT_EXPECT_GT(test, written, 0);
	expect_records(test, steady, written);
	KUNIT_EXPECT_EQ(test, atomic_read(&late_writes), 0);
}

static int export_init(struct kunit *test)
{
	struct context *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	test->priv = ctx;

	ctx->tr = trace_array_get_by_name(INSTANCE, NULL);
	KUNIT_ASSERT_NOT_NULL(test, ctx->tr);
	ctx->file = trace_get_event_file(INSTANCE, INSTANCE, "export_kunit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(ctx->file));
	KUNIT_ASSERT_EQ(test, trace_array_set_clr_event(ctx->tr, INSTANCE,
							"export_kunit", true),
			0);

	return 0;
}

static void export_exit(struct kunit *test)
{
	struct context *ctx = test->priv;

	if (!ctx || !ctx->tr)
		return;

	if (!IS_ERR_OR_NULL(ctx->file)) {
		trace_array_set_clr_event(ctx->tr, INSTANCE, NULL, false);
		trace_put_event_file(ctx->file);
	}
	trace_array_put(ctx->tr);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(ctx->tr), 0);
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
	KUNIT_CASE(export_functions),
	KUNIT_CASE(export_unregister_waits),
	KUNIT_CASE_SLOW(export_register_race),
	{}
};

static struct kunit_suite export_suite = {
	.name		= "trace_export",
	.init		= export_init,
	.exit		= export_exit,
	.test_cases	= export_cases,
};

kunit_test_suite(export_suite);

MODULE_DESCRIPTION("KUnit tests for trace exports");
MODULE_LICENSE("GPL");

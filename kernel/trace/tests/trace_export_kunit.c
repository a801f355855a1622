// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for trace exports, see register_ftrace_export().
 *
 * Records are self-describing: source (who wrote it), seq (per source, from 0)
 * and a byte pattern made of seq, of any length. A sink is an export that
 * checks each record it gets, so that a short, foreign, lost, doubled or
 * reordered record is noticed where it happens. The event is enabled in an
 * instance of its own; nothing else in the system is traced or touched.
 * A mirror is an export that keeps what it gets, to be compared with what is
 * read from the ring buffer.
 *
 * What would be caught: see the name of each case. The concurrent cases need
 * two CPUs: they trace on both while threads register, unregister, poison and
 * free exports. Under KASAN a callback that runs too late is a use after free;
 * without it the magic of the sink tells.
 */

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/hardirq.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/poison.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>
#include <linux/seq_buf.h>
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
	int ret;

	strscpy(buf, filter);
	/* Not the assertion: it ends the thread, with the mutex locked. */
	scoped_guard(mutex, &event_mutex)
		ret = apply_event_filter(ctx->file, buf);
	KUNIT_ASSERT_EQ(test, ret, 0);
}

static void set_trigger(struct kunit *test, const char *trigger)
{
	struct context *ctx = test->priv;
	char buf[64];
	int ret;

	strscpy(buf, trigger);
	scoped_guard(mutex, &event_mutex)
		ret = trigger_process_regex(ctx->file, buf);
	KUNIT_ASSERT_EQ(test, ret, 0);
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

#define NESTED		8

/* What is read, and what an export is told, have the same time stamps. */
static void export_nested_time_stamps(struct kunit *test)
{
	struct ring_buffer_event *events[NESTED], *event;
	struct context *ctx = test->priv;
	u64 stamps[NESTED] = {}, ts;
	struct trace_buffer *buffer;
	int cpu;

	/* No two readings are the same. */
	KUNIT_ASSERT_EQ(test, tracing_set_clock(ctx->tr, "counter"), 0);
	buffer = ctx->tr->array_buffer.buffer;
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

static void thread_stop(void *task)
{
	kthread_stop_put(task);
}

/*
 * A thread that the caller wakes up. It is stopped when thread_stop() is
 * released, or when the test ends. An assertion leaves the stack of the test
 * before that: @data must not be there.
 */
static struct task_struct *thread_new(struct kunit *test, int (*fn)(void *data),
				      void *data, int cpu)
{
	struct task_struct *task;

	if (cpu < 0)
		task = kthread_create(fn, data, "export_kunit");
	else
		task = kthread_create_on_cpu(fn, data, cpu, "export_kunit/%u");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, thread_stop,
							task), 0);

	return task;
}

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
	unsigned long deadline;
	int cpu[2];

	need_two_cpus(test, cpu);
	slow = kunit_kzalloc(test, sizeof(*slow), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, slow);
	slow->export.write = slow_write;
	slow->export.flags = TRACE_EXPORT_EVENT;

	tracer = thread_new(test, trace_once, NULL, cpu[1]);
	KUNIT_ASSERT_EQ(test, register_ftrace_export(&slow->export), 0);
	wake_up_process(tracer);

	/* No assertion while it is registered. */
	deadline = jiffies + 30 * HZ;
	/* pairs with smp_store_release() in slow_write() */
	while (!smp_load_acquire(&slow->inside)) {
		if (time_after(jiffies, deadline))
			break;
		cond_resched();
	}
	KUNIT_EXPECT_TRUE(test, slow->inside);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_export(&slow->export), 0);
	WRITE_ONCE(slow->unregistered, true);

	kunit_release_action(test, thread_stop, tracer);
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
		if (wait_for_completion_timeout(&churner->done, 60 * HZ))
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

	need_two_cpus(test, cpu);
	race = kunit_kzalloc(test, sizeof(*race), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, race);
	atomic_set(&late_writes, 0);
	steady = sink_new(test, TRACE_EXPORT_EVENT);

	for (i = 0; i < ARRAY_SIZE(race->writer); i++) {
		writer = &race->writer[i];
		writer->source = i;
		writer->task = thread_new(test, write_records, writer, cpu[i]);
		wake_up_process(writer->task);
	}
	for (i = 0; i < ARRAY_SIZE(race->churner); i++) {
		churner = &race->churner[i];
		init_completion(&churner->done);
		churner->task = thread_new(test, churn_exports, churner, -1);
		wake_up_process(churner->task);
	}

	for (i = 0; i < ARRAY_SIZE(race->churner); i++) {
		churner = &race->churner[i];
		KUNIT_EXPECT_TRUE(test, churner_done(churner));
		kunit_release_action(test, thread_stop, churner->task);
		KUNIT_EXPECT_EQ(test, churner->failed, 0);
	}
	for (i = 0; i < ARRAY_SIZE(race->writer); i++) {
		writer = &race->writer[i];
		kunit_release_action(test, thread_stop, writer->task);
		written += writer->written;
	}

	KUNIT_EXPECT_GT(test, written, 0);
	expect_records(test, steady, written);
	KUNIT_EXPECT_EQ(test, atomic_read(&late_writes), 0);
}

/* One instance, every type, and what is known of a record */

#define OTHER_INSTANCE	"trace_export_kunit_other"
#define MIRROR_RECORDS	16
#define MIRROR_BYTES	1024
#define ALL_TYPES	0xff

struct mirror {
	struct trace_export		export;
	/* A callback may be interrupted by another one. */
	atomic_t			got;
	struct trace_export_record	record[MIRROR_RECORDS];
	/* Those that were met in the ring buffer. */
	bool				met[MIRROR_RECORDS];
	u8				data[MIRROR_RECORDS][MIRROR_BYTES];
	/* Called by the first callback, or by all, to make records inside. */
	void (*inside)(void);
	bool always;
};

static void mirror_write(struct trace_export *export,
			 const struct trace_export_record *record)
{
	struct mirror *mirror = container_of(export, struct mirror, export);
	int i = atomic_inc_return(&mirror->got) - 1;

	if (i < MIRROR_RECORDS) {
		mirror->record[i] = *record;
		mirror->record[i].data = mirror->data[i];
		memcpy(mirror->data[i], record->data,
		       min(record->len, MIRROR_BYTES));
	}
	if (mirror->inside && (!i || mirror->always))
		mirror->inside();
}

static struct mirror *mirror_alloc(struct kunit *test, int flags)
{
	struct mirror *mirror = kunit_kzalloc(test, sizeof(*mirror), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mirror);
	mirror->export.write_record = mirror_write;
	mirror->export.flags = flags;
	mirror->export.name = "mirror";

	return mirror;
}

struct registration {
	struct trace_array	*tr;
	struct trace_export	*export;
};

static void array_unregister(void *data)
{
	struct registration *reg = data;

	trace_array_unregister_export(reg->tr, reg->export);
}

/* Until the test ends, or until array_unregister() is released. */
static struct registration *array_register(struct kunit *test,
					   struct trace_array *tr,
					   struct trace_export *export)
{
	struct registration *reg = kunit_kzalloc(test, sizeof(*reg), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, reg);
	reg->tr = tr;
	reg->export = export;
	KUNIT_ASSERT_EQ(test, trace_array_register_export(tr, export), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, array_unregister,
							reg), 0);

	return reg;
}

static struct mirror *mirror_new(struct kunit *test, int flags)
{
	struct mirror *mirror = mirror_alloc(test, flags);
	struct context *ctx = test->priv;

	array_register(test, ctx->tr, &mirror->export);

	return mirror;
}

static void other_destroy(void *data)
{
	struct trace_array *tr = data;

	trace_array_set_clr_event(tr, INSTANCE, NULL, false);
	trace_array_put(tr);
	trace_array_destroy(tr);
}

static struct trace_array *other_instance(struct kunit *test)
{
	struct trace_array *tr = trace_array_get_by_name(OTHER_INSTANCE, NULL);

	KUNIT_ASSERT_NOT_NULL(test, tr);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, other_destroy,
							tr), 0);
	KUNIT_ASSERT_EQ(test, trace_array_set_clr_event(tr, INSTANCE,
							"export_kunit", true),
			0);

	return tr;
}

/* Can a record that starts with @ent be one of @type? */
static bool can_be(const struct trace_entry *ent, int type)
{
	switch (ent->type) {
	case TRACE_FN:
	case TRACE_FUNC_REPEATS:
		return type == TRACE_EXPORT_FUNCTION;
	case TRACE_PRINT:
		return type == TRACE_EXPORT_PRINTK ||
		       type == TRACE_EXPORT_MARKER;
	case TRACE_BPRINT:
	case TRACE_BPUTS:
		return type == TRACE_EXPORT_PRINTK;
	case TRACE_RAW_DATA:
		return type == TRACE_EXPORT_RAW_MARKER;
	case TRACE_GRAPH_ENT:
	case TRACE_GRAPH_RETADDR_ENT:
	case TRACE_GRAPH_RET:
		return type == TRACE_EXPORT_GRAPH;
	case TRACE_STACK:
	case TRACE_USER_STACK:
		return type == TRACE_EXPORT_STACK;
	}

	return type == (ent->type < __TRACE_LAST_TYPE ? TRACE_EXPORT_TRACER :
							TRACE_EXPORT_EVENT);
}

/* The first record of @cpu that was not met yet, or NULL. */
static struct trace_export_record *mirror_next(struct mirror *mirror, int cpu)
{
	int got = min(atomic_read(&mirror->got), MIRROR_RECORDS);

	for (int i = 0; i < got; i++) {
		if (mirror->record[i].cpu != cpu || mirror->met[i])
			continue;
		mirror->met[i] = true;
		return &mirror->record[i];
	}

	return NULL;
}

/*
 * What the ring buffer holds is what @mirror got, as to the records of @type,
 * and what @other got, as to the rest. Without @other there is no rest.
 * Returns how many of @type there are.
 */
static int expect_mirrored(struct kunit *test, struct mirror *mirror,
			   struct mirror *other, int type)
{
	struct context *ctx = test->priv;
	int records = 0, rest = 0, cpu;

	for_each_online_cpu(cpu) {
		struct ring_buffer_event *event;
		unsigned long lost;
		u64 ts;

		for (;;) {
			struct trace_export_record *got = NULL;
			struct trace_entry *ent;

			event = ring_buffer_consume(ctx->tr->array_buffer.buffer,
						    cpu, &ts, &lost);
			if (!event)
				break;

			ent = ring_buffer_event_data(event);
			if (can_be(ent, type)) {
				records++;
				got = mirror_next(mirror, cpu);
			} else if (other) {
				rest++;
				got = mirror_next(other, cpu);
			}
			KUNIT_ASSERT_NOT_NULL_MSG(test, got,
						  "a record of type %d was not exported",
						  ent->type);
			if (can_be(ent, type))
				KUNIT_EXPECT_EQ(test, got->type, type);
			else
				KUNIT_EXPECT_TRUE(test, can_be(ent, got->type));
			KUNIT_EXPECT_PTR_EQ(test, got->tr, ctx->tr);
			KUNIT_EXPECT_EQ(test, got->ts, ts);
			KUNIT_ASSERT_EQ(test, got->len,
					ring_buffer_event_length(event));
			KUNIT_ASSERT_LE(test, got->len, MIRROR_BYTES);
			KUNIT_EXPECT_MEMEQ(test, got->data, ent, got->len);
			KUNIT_EXPECT_EQ(test, lost, 0);
		}
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&mirror->got), records);
	if (other)
		KUNIT_EXPECT_EQ(test, atomic_read(&other->got), rest);

	return records;
}

static void on_one_cpu(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test,
			set_cpus_allowed_ptr(current,
					     cpumask_of(raw_smp_processor_id())),
			0);
}

static void array_isolated(struct kunit *test)
{
	struct trace_array *other = other_instance(test);
	struct sink *mine = sink_alloc(test, TRACE_EXPORT_EVENT);
	struct sink *its = sink_alloc(test, TRACE_EXPORT_EVENT);
	struct sink *all = sink_new(test, TRACE_EXPORT_EVENT);
	struct sink *top = sink_alloc(test, TRACE_EXPORT_EVENT);
	struct context *ctx = test->priv;

	array_register(test, ctx->tr, &mine->export);
	array_register(test, other, &its->export);
	array_register(test, NULL, &top->export);

	trace_array_set_clr_event(other, INSTANCE, NULL, false);
	trace_export_kunit(0, 0, 8);
	expect_records(test, mine, 1);
	expect_records(test, its, 0);
	expect_records(test, all, 1);
	expect_records(test, top, 0);

	trace_array_set_clr_event(ctx->tr, INSTANCE, NULL, false);
	trace_array_set_clr_event(other, INSTANCE, NULL, true);
	trace_export_kunit(1, 0, 8);
	expect_records(test, mine, 1);
	expect_records(test, its, 1);
	expect_records(test, all, 2);
	expect_records(test, top, 0);
}

static void array_top_level(struct kunit *test)
{
	struct sink *top = sink_alloc(test, TRACE_EXPORT_EVENT);
	struct context *ctx = test->priv;

	array_register(test, NULL, &top->export);
	KUNIT_EXPECT_EQ(test, trace_array_register_export(top_trace_array(),
							  &top->export),
			-EEXIST);
	KUNIT_ASSERT_EQ(test, trace_set_clr_event(INSTANCE, NULL, 1), 0);
	trace_array_set_clr_event(ctx->tr, INSTANCE, NULL, false);
	trace_export_kunit(0, 0, 8);
	trace_set_clr_event(INSTANCE, NULL, 0);
	expect_records(test, top, 1);
}

static void array_in_several(struct kunit *test)
{
	struct sink *sink = sink_alloc(test, TRACE_EXPORT_EVENT);
	struct trace_array *other = other_instance(test);
	struct context *ctx = test->priv;
	struct registration *reg;

	array_register(test, ctx->tr, &sink->export);
	reg = array_register(test, other, &sink->export);

	trace_array_set_clr_event(ctx->tr, INSTANCE, NULL, false);
	trace_export_kunit(0, 0, 8);
	expect_records(test, sink, 1);

	kunit_release_action(test, array_unregister, reg);
	trace_export_kunit(0, 1, 8);
	expect_records(test, sink, 1);

	trace_array_set_clr_event(ctx->tr, INSTANCE, NULL, true);
	trace_export_kunit(0, 1, 8);
	expect_records(test, sink, 2);
}

static void array_overlaps(struct kunit *test)
{
	struct sink *one = sink_alloc(test, TRACE_EXPORT_EVENT);
	struct sink *all = sink_new(test, TRACE_EXPORT_EVENT);
	struct trace_array *other = other_instance(test);
	struct context *ctx = test->priv;

	array_register(test, ctx->tr, &one->export);
	KUNIT_EXPECT_EQ(test, trace_array_register_export(ctx->tr,
							  &one->export),
			-EEXIST);
	KUNIT_EXPECT_EQ(test, register_ftrace_export(&one->export), -EEXIST);
	KUNIT_EXPECT_EQ(test, trace_array_register_export(ctx->tr,
							  &all->export),
			-EEXIST);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_export(&one->export), -ENOENT);
	KUNIT_EXPECT_EQ(test, trace_array_unregister_export(other,
							    &one->export),
			-ENOENT);
	KUNIT_EXPECT_EQ(test, trace_array_unregister_export(ctx->tr,
							    &all->export),
			-ENOENT);

	trace_array_set_clr_event(other, INSTANCE, NULL, false);
	trace_export_kunit(0, 0, 8);
	expect_records(test, one, 1);
	expect_records(test, all, 1);
}

static void array_invalid(struct kunit *test)
{
	struct trace_export none = { .flags = TRACE_EXPORT_EVENT };
	struct sink *sink = sink_alloc(test, 0);
	struct context *ctx = test->priv;

	KUNIT_EXPECT_EQ(test, trace_array_register_export(ctx->tr,
							  &sink->export),
			-EINVAL);
	kunit_warning_suppress(test) {
		KUNIT_EXPECT_EQ(test, trace_array_register_export(ctx->tr,
								  &none),
				-EINVAL);
	}
}

static void array_keeps_instance(struct kunit *test)
{
	struct sink *sink = sink_alloc(test, TRACE_EXPORT_EVENT);
	struct trace_array *tr;

	/* No more assertions: nobody would remove the instance. */
	tr = trace_array_get_by_name(OTHER_INSTANCE, NULL);
	KUNIT_ASSERT_NOT_NULL(test, tr);
	KUNIT_EXPECT_EQ(test, trace_array_register_export(tr, &sink->export),
			0);
	trace_array_put(tr);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), -EBUSY);
	KUNIT_EXPECT_EQ(test, trace_array_unregister_export(tr, &sink->export),
			0);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
	KUNIT_EXPECT_EQ(test, trace_array_register_export(tr, &sink->export),
			-ENODEV);
}

static void array_made_later(struct kunit *test)
{
	struct sink *all = sink_new(test, TRACE_EXPORT_EVENT);
	struct context *ctx = test->priv;

	other_instance(test);
	trace_array_set_clr_event(ctx->tr, INSTANCE, NULL, false);
	trace_export_kunit(0, 0, 8);
	expect_records(test, all, 1);
}

/*
 * What @make makes: @records of @type, for the mirror of that type alone, and
 * @rest for the mirror of all others.
 */
static void expect_types(struct kunit *test, void (*make)(struct kunit *test),
			 int type, int records, int rest)
{
	struct mirror *mirror, *other;
	struct context *ctx = test->priv;

	on_one_cpu(test);
	trace_array_set_clr_event(ctx->tr, INSTANCE, NULL, false);
	mirror = mirror_new(test, type);
	other = mirror_new(test, ALL_TYPES & ~type);
	make(test);
	KUNIT_EXPECT_EQ(test, expect_mirrored(test, mirror, other, type),
			records);
	KUNIT_EXPECT_EQ(test, atomic_read(&other->got), rest);
}

static void expect_only(struct kunit *test, void (*make)(struct kunit *test),
			int records, int type)
{
	expect_types(test, make, type, records, 0);
}

static void enable_event(struct kunit *test)
{
	struct context *ctx = test->priv;

	KUNIT_ASSERT_EQ(test, trace_array_set_clr_event(ctx->tr, INSTANCE,
							NULL, true), 0);
}

static void make_event(struct kunit *test)
{
	enable_event(test);
	for (int i = 0; i < 8; i++)
		trace_export_kunit(0, i, 8 * i);
}

static void record_of_event(struct kunit *test)
{
	expect_only(test, make_event, 8, TRACE_EXPORT_EVENT);
}

static void make_filtered_event(struct kunit *test)
{
	enable_event(test);
	set_filter(test, "seq & 1");
	for (int i = 0; i < 16; i++)
		trace_export_kunit(0, i, 16 * i);
}

static void record_of_filtered_event(struct kunit *test)
{
	expect_only(test, make_filtered_event, 8, TRACE_EXPORT_EVENT);
}

static void make_printk(struct kunit *test)
{
	static const char fmt[] __used = "%d\n";
	char option[] = "trace_printk_dest";
	struct context *ctx = test->priv;

	KUNIT_ASSERT_EQ(test, trace_array_init_printk(ctx->tr), 0);
	trace_array_puts(ctx->tr, "puts");
	trace_array_printk(ctx->tr, _THIS_IP_, "%s", "printk");

	/* trace_printk() and trace_puts(), without their banner */
	KUNIT_ASSERT_EQ(test, trace_set_options(ctx->tr, option), 0);
	__trace_bputs(_THIS_IP_, "bputs");
	__trace_bprintk(_THIS_IP_, fmt, 42);
	__trace_puts(_THIS_IP_, "puts");
}

static void record_of_printk(struct kunit *test)
{
	expect_only(test, make_printk, 5, TRACE_EXPORT_PRINTK);
}

static ssize_t use_file(struct kunit *test, const char *name, const char *in,
			char *out, size_t len)
{
	struct vfsmount *mnt;
	struct file *file;
	char __user *user;
	ssize_t ret;
	loff_t pos = 0;
	char path[64];

	user = (char __user *)kunit_vm_mmap(test, NULL, 0, PAGE_SIZE,
					    PROT_READ | PROT_WRITE,
					    MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL((void __force *)user));

	mnt = kern_mount(get_fs_type("tracefs"));
	KUNIT_ASSERT_FALSE(test, IS_ERR(mnt));
	snprintf(path, sizeof(path), "instances/" INSTANCE "/%s", name);
	file = file_open_root_mnt(mnt, path, in ? O_WRONLY : O_RDONLY, 0);
	if (IS_ERR(file)) {
		ret = PTR_ERR(file);
	} else if (in) {
		ret = copy_to_user(user, in, len) ? -EFAULT :
		      vfs_write(file, user, len, &pos);
	} else {
		ret = vfs_read(file, user, len, &pos);
		if (ret > 0 && copy_from_user(out, user, ret))
			ret = -EFAULT;
	}
	if (!IS_ERR(file))
		__fput_sync(file);
	kern_unmount(mnt);

	return ret;
}

static void make_marker(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, use_file(test, "trace_marker", "one", NULL, 3),
			3);
	KUNIT_EXPECT_EQ(test, use_file(test, "trace_marker", "two\n", NULL, 4),
			4);
}

static void record_of_marker(struct kunit *test)
{
	expect_only(test, make_marker, 2, TRACE_EXPORT_MARKER);
}

static void make_raw_marker(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, use_file(test, "trace_marker_raw", "abcdefghij",
				       NULL, 10), 10);
}

static void record_of_raw_marker(struct kunit *test)
{
	expect_only(test, make_raw_marker, 1, TRACE_EXPORT_RAW_MARKER);
}

static void make_stack(struct kunit *test)
{
	struct context *ctx = test->priv;
	char user[] = "userstacktrace";
	char kernel[] = "stacktrace";

	enable_event(test);
	KUNIT_ASSERT_EQ(test, trace_set_options(ctx->tr, kernel), 0);
	KUNIT_ASSERT_EQ(test, trace_set_options(ctx->tr, user), 0);
	trace_export_kunit(0, 0, 8);
}

/* The rest is the event whose stacks they are. */
static void record_of_stack(struct kunit *test)
{
	int stacks = IS_ENABLED(CONFIG_USER_STACKTRACE_SUPPORT) ? 2 : 1;

	expect_types(test, make_stack, TRACE_EXPORT_STACK, stacks, 1);
}

static void make_printk_stack(struct kunit *test)
{
	struct context *ctx = test->priv;
	char on[] = "stacktrace";

	KUNIT_ASSERT_EQ(test, trace_array_init_printk(ctx->tr), 0);
	KUNIT_ASSERT_EQ(test, trace_set_options(ctx->tr, on), 0);
	trace_array_printk(ctx->tr, _THIS_IP_, "%s", "printk");
}

/* A stack goes to where the text went whose stack it is. */
static void record_of_printk_stack(struct kunit *test)
{
	struct mirror *elsewhere = mirror_alloc(test, ALL_TYPES);

	array_register(test, other_instance(test), &elsewhere->export);
	expect_types(test, make_printk_stack, TRACE_EXPORT_STACK, 1, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&elsewhere->got), 0);
}

#ifdef CONFIG_DYNAMIC_FTRACE
static void trace_function_with(struct kunit *test, const char *tracer)
{
	char filter[] = "export_kunit_traced_function";
	struct context *ctx = test->priv;

	KUNIT_ASSERT_EQ(test, ftrace_set_filter(ctx->tr->ops, filter,
						strlen(filter), 1), 0);
	KUNIT_ASSERT_EQ(test, tracing_set_tracer(ctx->tr, tracer), 0);
}

static void make_function(struct kunit *test)
{
	char option[] = "func-no-repeats";
	struct context *ctx = test->priv;
	int times = 4;

	trace_function_with(test, "function");
	for (int i = 0; i < 4; i++)
		export_kunit_traced_function();

	/* One record, and one for the repeats when another caller comes. */
	KUNIT_ASSERT_EQ(test, trace_set_options(ctx->tr, option), 0);
	/* Repeats are calls from the same place: do not unroll. */
	OPTIMIZER_HIDE_VAR(times);
	while (times--)
		export_kunit_traced_function();
	export_kunit_traced_function();
	/* Another tracer would clear the ring buffer. */
	tracer_tracing_off(ctx->tr);
}
#endif

static void record_of_function(struct kunit *test)
{
#ifdef CONFIG_DYNAMIC_FTRACE
	expect_only(test, make_function, 4 + 3, TRACE_EXPORT_FUNCTION);
#else
	kunit_skip(test, "needs CONFIG_DYNAMIC_FTRACE");
#endif
}

#if defined(CONFIG_FUNCTION_GRAPH_TRACER) && defined(CONFIG_DYNAMIC_FTRACE)
static void make_graph(struct kunit *test)
{
	struct context *ctx = test->priv;

	trace_function_with(test, "function_graph");
	for (int i = 0; i < 4; i++)
		export_kunit_traced_function();
	tracer_tracing_off(ctx->tr);
}
#endif

static void record_of_graph(struct kunit *test)
{
#if defined(CONFIG_FUNCTION_GRAPH_TRACER) && defined(CONFIG_DYNAMIC_FTRACE)
	expect_only(test, make_graph, 8, TRACE_EXPORT_GRAPH);
#else
	kunit_skip(test, "needs CONFIG_FUNCTION_GRAPH_TRACER");
#endif
}

#ifdef CONFIG_SCHED_TRACER
static int complete_it(void *done)
{
	complete(done);

	return 0;
}
#endif

/*
 * Tracer wakeup_rt, because it needs neither hardware nor time: it records
 * that a real-time thread is woken up, and the switch to it. It adds a
 * function and a stack to each of them; these are the rest.
 */
static void record_of_tracer(struct kunit *test)
{
#ifdef CONFIG_SCHED_TRACER
	struct mirror *mirror, *other;
	struct context *ctx = test->priv;
	char option[] = "nofunction-trace";
	struct completion *done;
	struct task_struct *task;
	int ret;

	if (tracing_thresh)
		kunit_skip(test, "tracing_thresh is set, latencies are kept");

	on_one_cpu(test);
	trace_array_set_clr_event(ctx->tr, INSTANCE, NULL, false);
	/* Not all functions from the one to the other. */
	if (IS_ENABLED(CONFIG_FUNCTION_TRACER))
		KUNIT_ASSERT_EQ(test, trace_set_options(ctx->tr, option), 0);
	ret = tracing_set_tracer(ctx->tr, "wakeup_rt");
	if (ret == -EBUSY)
		kunit_skip(test, "one of the wakeup tracers is in use");
	KUNIT_ASSERT_EQ(test, ret, 0);
	/* No latency is the longest one, for which buffers are swapped. */
	ctx->tr->max_latency = ULONG_MAX;

	done = kunit_kzalloc(test, sizeof(*done), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, done);
	init_completion(done);
	task = thread_new(test, complete_it, done, raw_smp_processor_id());
	sched_set_fifo(task);

	/* Others wake up, too: from and to where buffer and mirrors agree. */
	KUNIT_ASSERT_EQ(test, use_file(test, "tracing_on", "0", NULL, 1), 1);
	mirror = mirror_new(test, TRACE_EXPORT_TRACER);
	other = mirror_new(test, ALL_TYPES & ~TRACE_EXPORT_TRACER);
	KUNIT_ASSERT_EQ(test, use_file(test, "tracing_on", "1", NULL, 1), 1);
	wake_up_process(task);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(done, 30 * HZ), 0);
	KUNIT_ASSERT_EQ(test, use_file(test, "tracing_on", "0", NULL, 1), 1);
	synchronize_rcu();

	KUNIT_EXPECT_GE(test, expect_mirrored(test, mirror, other,
					      TRACE_EXPORT_TRACER), 1);
	KUNIT_EXPECT_EQ(test, tracing_set_tracer(ctx->tr, "nop"), 0);
#else
	kunit_skip(test, "needs CONFIG_SCHED_TRACER");
#endif
}

static void record_as_text(struct kunit *test)
{
	struct mirror *mirror = mirror_new(test, TRACE_EXPORT_EVENT);
	char small[8], text[128];
	struct seq_buf s;

	trace_export_kunit(1, 2, 3);
	KUNIT_ASSERT_EQ(test, atomic_read(&mirror->got), 1);

	seq_buf_init(&s, text, sizeof(text));
	KUNIT_EXPECT_EQ(test, trace_export_print(&s, &mirror->record[0]), 0);
	KUNIT_EXPECT_STREQ(test, seq_buf_str(&s),
			   "export_kunit: source=1 seq=2 len=3\n");

	seq_buf_init(&s, small, sizeof(small));
	KUNIT_EXPECT_EQ(test, trace_export_print(&s, &mirror->record[0]),
			-E2BIG);
	KUNIT_EXPECT_STREQ(test, seq_buf_str(&s), "export_");
	KUNIT_EXPECT_EQ(test, trace_export_print(&s, &mirror->record[0]),
			-E2BIG);

	((struct trace_entry *)mirror->data[0])->type = U16_MAX;
	KUNIT_EXPECT_EQ(test, trace_export_print(&s, &mirror->record[0]),
			-ENOENT);

	mirror->record[0].len = sizeof(struct trace_entry) - 1;
	KUNIT_EXPECT_EQ(test, trace_export_print(&s, &mirror->record[0]),
			-EINVAL);
}

/* The tracer looks for the return behind the entry, in the ring buffer. */
static void text_of_graph_consumes_nothing(struct kunit *test)
{
	struct ftrace_graph_ent_entry entry = {
		.ent.type	= TRACE_GRAPH_ENT,
		.graph_ent.func	= (unsigned long)export_kunit_traced_function,
	};
	struct trace_export_record record = {
		.data	= &entry,
		.len	= sizeof(entry),
		.type	= TRACE_EXPORT_GRAPH,
	};
	struct context *ctx = test->priv;
	struct trace_buffer *buffer;
	struct seq_buf s;
	char text[128];

	if (!IS_ENABLED(CONFIG_FUNCTION_GRAPH_TRACER))
		kunit_skip(test, "needs CONFIG_FUNCTION_GRAPH_TRACER");

	on_one_cpu(test);
	buffer = ctx->tr->array_buffer.buffer;
	for (int i = 0; i < 4; i++)
		trace_export_kunit(0, i, 8);
	KUNIT_ASSERT_EQ(test, ring_buffer_entries(buffer), 4);

	record.tr = ctx->tr;
	record.cpu = raw_smp_processor_id();
	seq_buf_init(&s, text, sizeof(text));
	KUNIT_EXPECT_EQ(test, trace_export_print(&s, &record), 0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(seq_buf_str(&s),
					   "export_kunit_traced_function"));
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(buffer), 4);
}

static void text_needs_instance(struct kunit *test)
{
	struct mirror *mirror = mirror_alloc(test, TRACE_EXPORT_EVENT);
	struct trace_array *other = other_instance(test);
	struct registration *reg;
	struct seq_buf s;
	char text[128];

	reg = array_register(test, other, &mirror->export);
	trace_export_kunit(1, 2, 3);
	KUNIT_ASSERT_EQ(test, atomic_read(&mirror->got), 1);

	seq_buf_init(&s, text, sizeof(text));
	KUNIT_EXPECT_EQ(test, trace_export_print(&s, &mirror->record[0]), 0);

	kunit_release_action(test, array_unregister, reg);
	kunit_release_action(test, other_destroy, other);
	seq_buf_clear(&s);
	KUNIT_EXPECT_EQ(test, trace_export_print(&s, &mirror->record[0]),
			-ENODEV);
	KUNIT_EXPECT_EQ(test, seq_buf_used(&s), 0);
}

/* What the file shows of the export named mirror. */
static void expect_shown(struct kunit *test, const char *line)
{
	char *text = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, text);
	KUNIT_ASSERT_GT(test, use_file(test, "exports", NULL, text,
				       PAGE_SIZE - 1), 0);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(text, line), "no \"%s\" in\n%s",
			      line, text);
}

static void file_shows_exports(struct kunit *test)
{
	struct trace_array *other = other_instance(test);
	struct mirror *mirror, *unseen;
	char line[80];

	on_one_cpu(test);
	trace_array_set_clr_event(other, INSTANCE, NULL, false);
	unseen = mirror_alloc(test, TRACE_EXPORT_PRINTK);
	unseen->export.name = "unseen";
	array_register(test, other, &unseen->export);
	mirror = mirror_new(test, TRACE_EXPORT_EVENT | TRACE_EXPORT_STACK);
	expect_shown(test, "\nmirror instance event,stack 0 0 0\n");

	trace_export_kunit(0, 0, 8);
	trace_export_kunit(0, 1, 8);
	snprintf(line, sizeof(line), "\nmirror instance event,stack 2 %u 0\n",
		 2 * mirror->record[0].len);
	expect_shown(test, line);
	/* Exactly these two lines: that of the other instance is not there. */
	snprintf(line, sizeof(line),
		 "# name scope types records bytes missed\nmirror instance event,stack 2 %u 0\n",
		 2 * mirror->record[0].len);
	expect_shown(test, line);
}

/* Callbacks that make records */

static void trace_inside(void)
{
	trace_export_kunit(1, 0, 8);
}

static void recursion_is_missed(struct kunit *test)
{
	struct trace_array *other = other_instance(test);
	struct mirror *mirror = mirror_alloc(test, TRACE_EXPORT_EVENT);
	struct context *ctx = test->priv;

	mirror->inside = trace_inside;
	array_register(test, ctx->tr, &mirror->export);
	array_register(test, other, &mirror->export);

	trace_array_set_clr_event(other, INSTANCE, NULL, false);
	trace_export_kunit(0, 0, 8);
	/* Both are in the ring buffer. */
	KUNIT_EXPECT_EQ(test, atomic_read(&mirror->got), 1);
	KUNIT_EXPECT_NOT_NULL(test, next_committed(ctx->tr));
	KUNIT_EXPECT_NOT_NULL(test, next_committed(ctx->tr));
	KUNIT_EXPECT_NULL(test, next_committed(ctx->tr));
	expect_shown(test, " 1\n");

	atomic_set(&mirror->got, 0);
	trace_array_set_clr_event(other, INSTANCE, NULL, true);
	trace_export_kunit(0, 1, 8);
	/* One for each instance, and of those inside none. */
	KUNIT_EXPECT_EQ(test, atomic_read(&mirror->got), 2);
	KUNIT_EXPECT_NOT_NULL(test, next_committed(other));
	KUNIT_EXPECT_NOT_NULL(test, next_committed(other));
}

static void unregister_all(void *export)
{
	unregister_ftrace_export(export);
}

static void recursion_is_counted(struct kunit *test)
{
	struct mirror *all = mirror_alloc(test, TRACE_EXPORT_EVENT);
	struct trace_array *other = other_instance(test);
	struct context *ctx = test->priv;
	char line[80];

	on_one_cpu(test);
	all->inside = trace_inside;
	KUNIT_ASSERT_EQ(test, register_ftrace_export(&all->export), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, unregister_all,
							&all->export), 0);
	trace_export_kunit(0, 0, 8);
	snprintf(line, sizeof(line), "\nmirror all event 2 %u 2\n",
		 2 * all->record[0].len);
	expect_shown(test, line);
	kunit_release_action(test, unregister_all, &all->export);
	KUNIT_EXPECT_EQ(test, atomic_read(&all->got), 2);

	/* Which of the two instances comes first is not defined. */
	KUNIT_EXPECT_NOT_NULL(test, next_committed(other));
	KUNIT_EXPECT_NOT_NULL(test, next_committed(ctx->tr));
}

/* As from an NMI in the middle of the callback. */
static void trace_in_nmi(void)
{
	unsigned long flags;

	local_irq_save(flags);
	nmi_enter();
	trace_export_kunit(1, 0, 8);
	nmi_exit();
	local_irq_restore(flags);
}

static void nested_nmi_is_exported(struct kunit *test)
{
	struct mirror *mirror = mirror_alloc(test, TRACE_EXPORT_EVENT);
	struct context *ctx = test->priv;

	if (!IS_ENABLED(CONFIG_ARCH_HAVE_NMI_SAFE_CMPXCHG))
		kunit_skip(test, "no records from NMI on this architecture");

	on_one_cpu(test);
	mirror->inside = trace_in_nmi;
	array_register(test, ctx->tr, &mirror->export);
	trace_export_kunit(0, 0, 8);
	KUNIT_EXPECT_EQ(test, expect_mirrored(test, mirror, NULL,
					      TRACE_EXPORT_EVENT), 2);
}

/*
 * As from an interrupt that has not counted itself yet, or no more. It looks
 * the same as a callback that turns interrupts off itself, once.
 */
static void trace_with_irqs_off(void)
{
	unsigned long flags;

	local_irq_save(flags);
	trace_export_kunit(1, 0, 8);
	trace_export_kunit(1, 1, 8);
	local_irq_restore(flags);
}

static void nested_irq_edge_is_exported(struct kunit *test)
{
	struct mirror *mirror = mirror_alloc(test, TRACE_EXPORT_EVENT);
	struct context *ctx = test->priv;

	on_one_cpu(test);
	mirror->inside = trace_with_irqs_off;
	array_register(test, ctx->tr, &mirror->export);
	trace_export_kunit(0, 0, 8);
	KUNIT_EXPECT_EQ(test, expect_mirrored(test, mirror, NULL,
					      TRACE_EXPORT_EVENT), 3);
	expect_shown(test, " 0\n");
}

/*
 * The callbacks for the two records inside make records again. These are in
 * neither mirror nor ring buffer, and none is missed: the ring buffer itself
 * refuses what nests deeper than once in a context, see trace_recursive_lock(),
 * and what is not reserved never comes to the exports.
 */
static void recursion_ends_with_irqs_off(struct kunit *test)
{
	struct mirror *mirror = mirror_alloc(test, TRACE_EXPORT_EVENT);
	struct context *ctx = test->priv;

	on_one_cpu(test);
	mirror->inside = trace_with_irqs_off;
	mirror->always = true;
	array_register(test, ctx->tr, &mirror->export);
	trace_export_kunit(0, 0, 8);
	KUNIT_EXPECT_EQ(test, expect_mirrored(test, mirror, NULL,
					      TRACE_EXPORT_EVENT), 3);
	expect_shown(test, " 0\n");
}

static bool irq_traced;

static void trace_irq_work(struct irq_work *work)
{
	trace_export_kunit(1, 0, 8);
	WRITE_ONCE(irq_traced, true);
}

static DEFINE_IRQ_WORK(irq_tracer, trace_irq_work);

/* An interrupt in the middle of the callback: wait for it there. */
static void trace_in_irq(void)
{
	irq_work_queue(&irq_tracer);
	for (int i = 0; i < 1000 && !READ_ONCE(irq_traced); i++)
		mdelay(1);
}

static void nested_irq_is_exported(struct kunit *test)
{
	struct mirror *mirror = mirror_alloc(test, TRACE_EXPORT_EVENT);
	struct context *ctx = test->priv;

	on_one_cpu(test);
	WRITE_ONCE(irq_traced, false);
	mirror->inside = trace_in_irq;
	array_register(test, ctx->tr, &mirror->export);
	trace_export_kunit(0, 0, 8);
	irq_work_sync(&irq_tracer);
	KUNIT_EXPECT_TRUE(test, irq_traced);
	KUNIT_EXPECT_EQ(test, expect_mirrored(test, mirror, NULL,
					      TRACE_EXPORT_EVENT), 2);
}

/* An action, not exit(): exports hold on to the instance until theirs ran. */
static void export_cleanup(void *data)
{
	struct kunit *test = data;
	struct context *ctx = test->priv;

	if (!IS_ERR_OR_NULL(ctx->file)) {
		trace_array_set_clr_event(ctx->tr, INSTANCE, NULL, false);
		trace_put_event_file(ctx->file);
	}
	trace_array_put(ctx->tr);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(ctx->tr), 0);
}

static int export_init(struct kunit *test)
{
	struct context *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	test->priv = ctx;

	ctx->tr = trace_array_get_by_name(INSTANCE, NULL);
	KUNIT_ASSERT_NOT_NULL(test, ctx->tr);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, export_cleanup,
							test), 0);
	ctx->file = trace_get_event_file(INSTANCE, INSTANCE, "export_kunit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(ctx->file));
	KUNIT_ASSERT_EQ(test, trace_array_set_clr_event(ctx->tr, INSTANCE,
							"export_kunit", true),
			0);

	return 0;
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
	.init		= export_init,
	.test_cases	= export_cases,
};

static int array_init(struct kunit *test)
{
	struct context *ctx;
	int ret;

	ret = export_init(test);
	if (ret)
		return ret;

	/* No two readings are the same: no time stamp is right by chance. */
	ctx = test->priv;
	return tracing_set_clock(ctx->tr, "counter");
}

static struct kunit_case array_cases[] = {
	KUNIT_CASE(array_isolated),
	KUNIT_CASE(array_top_level),
	KUNIT_CASE(array_in_several),
	KUNIT_CASE(array_overlaps),
	KUNIT_CASE(array_invalid),
	KUNIT_CASE(array_keeps_instance),
	KUNIT_CASE(array_made_later),
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
	KUNIT_CASE(record_as_text),
	KUNIT_CASE(text_of_graph_consumes_nothing),
	KUNIT_CASE(text_needs_instance),
	KUNIT_CASE(file_shows_exports),
	KUNIT_CASE(recursion_is_missed),
	KUNIT_CASE(recursion_is_counted),
	KUNIT_CASE(nested_nmi_is_exported),
	KUNIT_CASE(nested_irq_edge_is_exported),
	KUNIT_CASE(recursion_ends_with_irqs_off),
	KUNIT_CASE(nested_irq_is_exported),
	{}
};

static struct kunit_suite array_suite = {
	.name		= "trace_export_array",
	.init		= array_init,
	.test_cases	= array_cases,
};

kunit_test_suites(&export_suite, &array_suite);

MODULE_DESCRIPTION("KUnit tests for trace exports");
MODULE_LICENSE("GPL");

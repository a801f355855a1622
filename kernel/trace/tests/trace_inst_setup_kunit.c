// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for setting up and switching trace instances in kernel code, and
 * for what all functions of trace_instance.c refuse.
 */

#include <kunit/test.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>

#include "trace_inst_kunit.h"

/* Errors of all functions */

static int set_tracing_on(struct trace_array *tr)
{
	return trace_array_set_tracing(tr, true);
}

static int set_tracing_off(struct trace_array *tr)
{
	return trace_array_set_tracing(tr, false);
}

static int set_buffer_size(struct trace_array *tr)
{
	return trace_array_set_buffer_size(tr, SZ_64K);
}

static int set_event_filter(struct trace_array *tr)
{
	return trace_array_set_event_filter(tr, INST_SYSTEM, INST_EVENT,
					    "seq == 1");
}

static int open_reader(struct trace_array *tr)
{
	struct trace_array_reader *reader = trace_array_reader_open(tr, 0);

	trace_array_reader_close(reader);

	return PTR_ERR_OR_ZERO(reader);
}

static const struct {
	const char	*name;
	int		(*call)(struct trace_array *tr);
	bool		writes;
} calls[] = {
	{ "set_tracing on",	set_tracing_on,			true },
	{ "set_tracing off",	set_tracing_off,		true },
	{ "clear",		trace_array_clear,		false },
	{ "set_buffer_size",	set_buffer_size,		true },
	{ "set_event_filter",	set_event_filter,		true },
	{ "snapshot_alloc",	trace_array_snapshot_alloc,	true },
	{ "snapshot",		trace_array_snapshot,		true },
	{ "reader_open",	open_reader,			false },
};

static void expect_untouched(struct kunit *test, unsigned long size)
{
	KUNIT_EXPECT_EQ(test, inst_buffer_size(test), size);
	inst_expect_file(test, "tracing_on", "1\n");
	inst_expect_file(test, INST_FILES "filter", "none\n");
	inst_expect_in_file(test, "snapshot", "Snapshot is freed");
}

static void call_without_instance(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(calls); i++)
		KUNIT_EXPECT_EQ_MSG(test, calls[i].call(NULL), -EINVAL, "%s",
				    calls[i].name);
	trace_array_snapshot_free(NULL);
	trace_array_reader_close(NULL);
	trace_array_reader_close(ERR_PTR(-ENOMEM));
}

static void make_writable(void *tr)
{
	((struct trace_array *)tr)->flags &= ~TRACE_ARRAY_FL_RDONLY;
}

/* The kernel creates such an instance at boot only. */
static void call_with_read_only_instance(struct kunit *test)
{
	unsigned long size = inst_buffer_size(test);
	struct trace_array *tr = inst_tr(test);

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, make_writable,
							tr), 0);
	tr->flags |= TRACE_ARRAY_FL_RDONLY;
	for (int i = 0; i < ARRAY_SIZE(calls); i++)
		KUNIT_EXPECT_EQ_MSG(test, calls[i].call(tr),
				    calls[i].writes ? -EACCES : 0, "%s",
				    calls[i].name);
	kunit_release_action(test, make_writable, tr);
	expect_untouched(test, size);
}

static void enable_tracing(void *unused)
{
	tracing_disabled = 0;
}

static void call_with_tracing_disabled(struct kunit *test)
{
	unsigned long size = inst_buffer_size(test);

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, enable_tracing,
							NULL), 0);
	tracing_disabled = 1;
	for (int i = 0; i < ARRAY_SIZE(calls); i++)
		KUNIT_EXPECT_EQ_MSG(test, calls[i].call(inst_tr(test)), -ENODEV,
				    "%s", calls[i].name);
	kunit_release_action(test, enable_tracing, NULL);
	expect_untouched(test, size);
}

/* Recording */

static void expect_tracing(struct kunit *test, bool on, u32 seq)
{
	inst_expect_file(test, "tracing_on", on ? "1\n" : "0\n");
	KUNIT_EXPECT_EQ(test, trace_array_clear(inst_tr(test)), 0);
	inst_record(seq, 1);
	inst_expect_records(test, 0, seq, on);
}

static void tracing_on_and_off(struct kunit *test)
{
	struct trace_array *tr = inst_tr(test);

	inst_enable(test);
	expect_tracing(test, true, 0);
	for (int i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, trace_array_set_tracing(tr, false), 0);
		expect_tracing(test, false, 1);
	}
	for (int i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, trace_array_set_tracing(tr, true), 0);
		expect_tracing(test, true, 2);
	}

	KUNIT_EXPECT_EQ(test, inst_in_nmi(set_tracing_off, tr), 0);
	expect_tracing(test, false, 3);
	KUNIT_EXPECT_EQ(test, inst_in_nmi(set_tracing_on, tr), 0);
	expect_tracing(test, true, 4);

	inst_write(test, "tracing_on", "0");
	KUNIT_EXPECT_EQ(test, trace_array_set_tracing(tr, true), 0);
	expect_tracing(test, true, 5);
}

struct switcher {
	struct trace_array	*tr;
	int			ret;
	bool			late;
};

/* Stops the instance when its reader waits, and wakes a reader that is not. */
static int stop_waiting_reader(void *data)
{
	struct switcher *switcher = data;
	struct trace_array *tr = switcher->tr;
	unsigned long end = jiffies + TRACE_KUNIT_TIMEOUT;

	while (!READ_ONCE(tr->pipe_waiters) && !kthread_should_stop())
		schedule_timeout_uninterruptible(1);
	switcher->ret = trace_array_set_tracing(tr, false);

	while (!kthread_should_stop()) {
		schedule_timeout_uninterruptible(1);
		if (time_before(jiffies, end))
			continue;
		switcher->late = true;
		ring_buffer_wake_waiters(tr->array_buffer.buffer,
					 RING_BUFFER_ALL_CPUS);
	}

	return 0;
}

/* A reader that has read something gets EOF, as there will be no more. */
static void tracing_off_wakes_reader(struct kunit *test)
{
	struct switcher *switcher = kunit_kzalloc(test, sizeof(*switcher),
						  GFP_KERNEL);
	struct task_struct *task;
	struct file *pipe;

	KUNIT_ASSERT_NOT_NULL(test, switcher);
	switcher->tr = inst_tr(test);
	task = trace_kunit_thread(test, stop_waiting_reader, switcher, -1);
	inst_enable(test);
	inst_record(0, 1);
	pipe = trace_kunit_open(test, INST_NAME, "trace_pipe", O_RDONLY);
	KUNIT_ASSERT_FALSE(test, IS_ERR(pipe));
	KUNIT_EXPECT_GT(test, trace_kunit_read(test, pipe), 0);

	wake_up_process(task);
	KUNIT_EXPECT_EQ(test, trace_kunit_read(test, pipe), 0);
	trace_kunit_stop(test, task);
	__fput_sync(pipe);
	KUNIT_EXPECT_EQ(test, switcher->ret, 0);
	KUNIT_EXPECT_FALSE(test, switcher->late);
	inst_expect_file(test, "tracing_on", "0\n");
}

static void clear_records(struct kunit *test)
{
	inst_enable(test);
	inst_record(0, 10);
	inst_expect_records(test, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, trace_array_clear(inst_tr(test)), 0);
	inst_expect_records(test, 0, 0, 0);
	inst_record(10, 5);
	inst_expect_records(test, 0, 10, 5);
}

/* The size of the ring buffer */

static void buffer_size(struct kunit *test)
{
	const unsigned long asked = 16 * PAGE_SIZE;
	struct trace_array *tr = inst_tr(test);
	unsigned long size;
	char text[32];

	/* The file makes a number of whole sub-buffers of a size, too. */
	snprintf(text, sizeof(text), "%lu", asked >> 10);
	inst_write(test, "buffer_size_kb", text);
	size = inst_buffer_size(test);
	KUNIT_ASSERT_GE(test, size, asked);
	snprintf(text, sizeof(text), "%lu\n", size >> 10);

	KUNIT_EXPECT_EQ(test, trace_array_set_buffer_size(tr, 16 * asked), 0);
	KUNIT_EXPECT_GE(test, inst_buffer_size(test), 16 * asked);
	KUNIT_EXPECT_EQ(test, trace_array_set_buffer_size(tr, asked), 0);
	KUNIT_EXPECT_EQ(test, inst_buffer_size(test), size);
	inst_expect_file(test, "buffer_size_kb", text);

	/* Rounded up */
	KUNIT_EXPECT_EQ(test, trace_array_set_buffer_size(tr, size + 1), 0);
	KUNIT_EXPECT_GT(test, inst_buffer_size(test), size);
	KUNIT_EXPECT_EQ(test, trace_array_set_buffer_size(tr, size), 0);
	KUNIT_EXPECT_EQ(test, inst_buffer_size(test), size);
	KUNIT_EXPECT_EQ(test, trace_array_set_buffer_size(tr, 1), 0);
	KUNIT_EXPECT_LT(test, inst_buffer_size(test), size);
	KUNIT_EXPECT_GT(test, inst_buffer_size(test), 0);

	inst_enable(test);
	inst_record(0, 10);
	inst_expect_records(test, 0, 0, 10);
}

static void buffer_size_refused(struct kunit *test)
{
	const u64 memory = (u64)totalram_pages() << PAGE_SHIFT;
	const unsigned long too_much[] = {
		min(2 * memory, ULONG_MAX), ULONG_MAX - PAGE_SIZE, ULONG_MAX,
	};
	unsigned long size = inst_buffer_size(test);
	struct trace_array *tr = inst_tr(test);

	inst_enable(test);
	inst_record(0, 10);
	KUNIT_EXPECT_EQ(test, trace_array_set_buffer_size(tr, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, inst_buffer_size(test), size);
	for (int i = 0; i < ARRAY_SIZE(too_much); i++) {
		KUNIT_EXPECT_EQ_MSG(test,
				    trace_array_set_buffer_size(tr, too_much[i]),
				    -ENOMEM, "%lu", too_much[i]);
		KUNIT_EXPECT_EQ(test, inst_buffer_size(test), size);
	}
	inst_expect_records(test, 0, 0, 10);
}

/* The snapshot buffer gets the size as well. */
static void buffer_size_while_read(struct kunit *test)
{
	unsigned long size = inst_buffer_size(test);
	struct trace_array *tr = inst_tr(test);
	struct trace_array_reader *reader;

	KUNIT_ASSERT_EQ(test, trace_array_snapshot_alloc(tr), 0);
	for (int flags = 0; flags <= TRACE_ARRAY_READ_SNAPSHOT; flags++) {
		reader = inst_open(test, flags);
		KUNIT_EXPECT_EQ(test, trace_array_set_buffer_size(tr, 2 * size),
				-EBUSY);
		inst_close(test, reader);
		KUNIT_EXPECT_EQ(test, inst_buffer_size(test), size);
	}
	KUNIT_EXPECT_EQ(test, trace_array_set_buffer_size(tr, 2 * size), 0);
	KUNIT_EXPECT_EQ(test, inst_buffer_size(test), 2 * size);
	trace_array_snapshot_free(tr);
}

static void buffer_size_of_snapshot(struct kunit *test)
{
	struct inst_kunit *inst = test->priv;
	struct trace_array *tr = inst_tr(test);
	unsigned long size = SZ_64K;

	KUNIT_ASSERT_EQ(test, trace_array_set_buffer_size(tr, size), 0);
	KUNIT_ASSERT_EQ(test, trace_array_snapshot_alloc(tr), 0);
	for (int i = 0; i < 2; i++) {
		KUNIT_EXPECT_GE(test, inst_buffer_size(test), size);
		KUNIT_EXPECT_EQ(test,
				ring_buffer_size(tr->snapshot_buffer.buffer,
						 inst->cpu),
				inst_buffer_size(test));
		size *= 2;
		KUNIT_EXPECT_EQ(test, trace_array_set_buffer_size(tr, size), 0);
	}
	trace_array_snapshot_free(tr);
}

static struct kunit_case setup_cases[] = {
	KUNIT_CASE(call_without_instance),
	KUNIT_CASE(call_with_read_only_instance),
	KUNIT_CASE(call_with_tracing_disabled),
	KUNIT_CASE(tracing_on_and_off),
	KUNIT_CASE(tracing_off_wakes_reader),
	KUNIT_CASE(clear_records),
	KUNIT_CASE(buffer_size),
	KUNIT_CASE(buffer_size_refused),
	KUNIT_CASE(buffer_size_while_read),
	KUNIT_CASE(buffer_size_of_snapshot),
	{}
};

static struct kunit_suite setup_suite = {
	.name		= "trace_inst_setup",
	.init		= inst_kunit_init,
	.test_cases	= setup_cases,
};

kunit_test_suite(setup_suite);

MODULE_DESCRIPTION("KUnit tests for setting up trace instances");
MODULE_LICENSE("GPL");

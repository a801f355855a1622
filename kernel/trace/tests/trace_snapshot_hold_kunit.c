// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for snapshots that are held or refused, and for what taking one
 * leaves undone when nobody reads or waits.
 */

#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/trace.h>
#include <linux/uaccess.h>

#include "trace_snapshot_pipe_kunit.h"

static bool never(struct trace_array *tr, void *cond_data)
{
	return false;
}

/* Write to an open file. Returns an error, or 0. */
static int tell(struct kunit *test, struct file *file, const char *text)
{
	struct trace_kunit *env = test->priv;
	size_t len = strlen(text);
	loff_t pos = 0;
	ssize_t ret;

	if (copy_to_user(env->user, text, len))
		return -EFAULT;
	ret = vfs_write(file, env->user, len, &pos);

	return ret == len ? 0 : ret;
}

static void expect_missed(struct kunit *test, unsigned int nr, const char *why)
{
	const char *text = snap_text(test, "snapshot_stat");
	char line[64];

	snprintf(line, sizeof(line), "\nmissed: %u\nlast_missed: %s\n", nr, why);
	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(text, line), "%s in %s", line,
				  text);
}

static void hold_keeps_snapshot(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;
	struct file *file;

	file = snap_open(test, "snapshot_pipe", O_RDWR | O_NONBLOCK);
	KUNIT_EXPECT_EQ(test, tell(test, file, "hold"), -ENODEV);
	snap_enable(test);
	snap_write_records(test, 3);
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);

	/* A second write changes nothing. */
	for (int i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, tell(test, file, "hold\n"), 0);
	snap_write_records(test, 2);
	KUNIT_EXPECT_EQ(test, snap_take(test), -EBUSY);
	expect_missed(test, 1, "held");
	KUNIT_EXPECT_EQ(test, tell(test, file, "1"), -EBUSY);
	KUNIT_EXPECT_EQ(test, snap_take_by_kernel(tr), -EBUSY);
	KUNIT_EXPECT_EQ(test, trace_kunit_write(test, "snapshot", "1"), -EBUSY);
	expect_missed(test, 4, "held");
	KUNIT_EXPECT_EQ(test, trace_kunit_write(test, "snapshot", "0"), -EBUSY);
	KUNIT_EXPECT_EQ(test, trace_kunit_write(test, "snapshot", "2"), -EBUSY);
	KUNIT_EXPECT_EQ(test, snap_write_enabled(test, "0"), -EBUSY);
	KUNIT_EXPECT_EQ(test, tr->snapshots.count, 1);
	snap_expect_records(test, file, 1, 3, 0);

	/* The next one has what was recorded meanwhile. */
	KUNIT_EXPECT_EQ(test, tell(test, file, "release"), 0);
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	snap_expect_records(test, file, 4, 5, 0);

	/* So does the end of the reader. */
	KUNIT_EXPECT_EQ(test, tell(test, file, "hold"), 0);
	snap_close(test, file);
	KUNIT_EXPECT_EQ(test, tr->snapshots.holds, 0);
	KUNIT_EXPECT_EQ(test, tr->snapshot, 0);
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	KUNIT_EXPECT_EQ(test, snap_write_enabled(test, "0"), 0);
}

static void hold_by_readers_only(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct file *file;

	snap_enable(test);
	file = snap_open(test, "snapshot_pipe", O_WRONLY);
	KUNIT_EXPECT_EQ(test, tell(test, file, "hold"), -EINVAL);
	KUNIT_EXPECT_EQ(test, tell(test, file, "release"), -EINVAL);
	KUNIT_EXPECT_EQ(test, tell(test, file, "1"), 0);
	snap_close(test, file);

	file = snap_open(test, "snapshot_pipe", O_RDWR | O_NONBLOCK);
	KUNIT_EXPECT_EQ(test, tell(test, file, "release"), 0);
	KUNIT_EXPECT_EQ(test, tell(test, file, "holds"), -EINVAL);
	KUNIT_EXPECT_EQ(test, env->tr->snapshots.holds, 0);
	KUNIT_EXPECT_EQ(test, env->tr->snapshot, 0);
	snap_close(test, file);
}

/* Old records may be left then, so it holds nothing. */
static void hold_is_interrupted(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;
	struct file *file;
	int ret;

	snap_enable(test);
	file = snap_open(test, "snapshot_pipe", O_RDWR);
	snap_write_records(test, 1);
	KUNIT_EXPECT_EQ(test, snap_take_by_kernel(tr), 0);

	allow_signal(SIGINT);
	send_sig(SIGINT, current, 1);
	ret = tell(test, file, "hold");
	flush_signals(current);
	disallow_signal(SIGINT);
	KUNIT_EXPECT_EQ(test, ret, -ERESTARTSYS);
	KUNIT_EXPECT_EQ(test, tr->snapshots.holds, 0);
	KUNIT_EXPECT_EQ(test, tr->snapshot, 0);

	KUNIT_EXPECT_EQ(test, tell(test, file, "hold"), 0);
	KUNIT_EXPECT_EQ(test, tr->snapshots.holds, 1);
	snap_close(test, file);
}

/* Two readers: the snapshot is held until both have released it. */
static void hold_by_two(struct kunit *test)
{
	struct file *file[2];
	char name[64];
	int cpu[2];

	trace_kunit_two_cpus(test, cpu);
	snap_enable(test);
	for (int i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "per_cpu/cpu%d/snapshot_pipe",
			 cpu[i]);
		file[i] = snap_open(test, name, O_RDWR | O_NONBLOCK);
		KUNIT_EXPECT_EQ(test, tell(test, file[i], "hold"), 0);
	}
	KUNIT_EXPECT_EQ(test, tell(test, file[0], "release"), 0);
	KUNIT_EXPECT_EQ(test, snap_take(test), -EBUSY);
	snap_close(test, file[1]);
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	snap_close(test, file[0]);
}

static void hold_and_latency_tracer(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;
	struct file *file;

	if (!IS_ENABLED(CONFIG_SCHED_TRACER))
		kunit_skip(test, "needs CONFIG_SCHED_TRACER");

	snap_enable(test);
	file = snap_open(test, "snapshot_pipe", O_RDWR | O_NONBLOCK);
	KUNIT_EXPECT_EQ(test, tell(test, file, "hold"), 0);
	KUNIT_ASSERT_EQ(test, tracing_set_tracer(tr, "wakeup"), 0);

	/* Its snapshots do not depend on the reader. */
	KUNIT_EXPECT_EQ(test, snap_take_by_kernel(tr), 0);
	KUNIT_EXPECT_EQ(test, tell(test, file, "release"), 0);
	KUNIT_EXPECT_EQ(test, tell(test, file, "hold"), -EBUSY);
	KUNIT_EXPECT_EQ(test, tracing_set_tracer(tr, "nop"), 0);
	KUNIT_EXPECT_EQ(test, tell(test, file, "hold"), 0);
	snap_close(test, file);
	KUNIT_EXPECT_EQ(test, tr->snapshot, 0);
}

static void set_resetting(struct trace_array *tr, int nr)
{
	guard(trace_max_lock_irqsave)(tr);
	tr->resetting += nr;
}

static void missed_are_counted(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;
	struct file *file;

	KUNIT_EXPECT_EQ(test, snap_take_by_kernel(tr), -ENODEV);
	expect_missed(test, 1, "no buffer");
	KUNIT_EXPECT_EQ(test, snap_take(test), -ENODEV);
	expect_missed(test, 2, "no buffer");

	/* It can't be allocated. */
	file = snap_open(test, "snapshot", O_RDONLY);
	KUNIT_EXPECT_EQ(test, trace_kunit_write(test, "snapshot", "1"), -EBUSY);
	expect_missed(test, 3, "read");
	snap_close(test, file);

	/* A trigger stops tracing then. */
	tracing_snapshot_instance(tr);
	expect_missed(test, 4, "no buffer");
	KUNIT_EXPECT_FALSE(test, tracer_tracing_is_on(tr));
	tracer_tracing_on(tr);
	snap_enable(test);

	tracing_stop_tr(tr);
	KUNIT_EXPECT_EQ(test, snap_take_by_kernel(tr), -EAGAIN);
	tracing_start_tr(tr);
	expect_missed(test, 5, "stopped");

	set_resetting(tr, 1);
	tracing_snapshot_instance(tr);
	set_resetting(tr, -1);
	expect_missed(test, 6, "clearing");

	/* An unmet condition is not counted. A snapshot beside it is. */
	KUNIT_ASSERT_EQ(test, tracing_snapshot_cond_enable(tr, NULL, never), 0);
	tracing_snapshot_cond(tr, NULL);
	expect_missed(test, 6, "clearing");
	tracing_snapshot_instance(tr);
	expect_missed(test, 7, "condition");
	KUNIT_EXPECT_EQ(test, trace_kunit_write(test, "snapshot", "1"), -EBUSY);
	KUNIT_EXPECT_EQ(test, trace_kunit_write(test, "snapshot", "2"), -EBUSY);
	KUNIT_EXPECT_EQ(test, tracing_snapshot_cond_disable(tr), 0);
	expect_missed(test, 8, "condition");

	tr->mapped = 1;
	tracing_snapshot_instance(tr);
	expect_missed(test, 9, "mapped");
	KUNIT_EXPECT_EQ(test, snap_take(test), -EBUSY);
	tr->mapped = 0;
	expect_missed(test, 10, "mapped");

	KUNIT_EXPECT_EQ(test, tr->snapshots.count, 0);
	KUNIT_EXPECT_EQ(test, snap_take_by_kernel(tr), 0);
	expect_missed(test, 10, "mapped");
	KUNIT_EXPECT_EQ(test, tr->snapshots.count, 1);
}

/* Whether it has an irq_work queued, before that can run */
static bool take_wakes(struct trace_array *tr)
{
	guard(irq)();
	WARN_ON(update_max_tr(tr, current, smp_processor_id(), NULL));

	return irq_work_is_pending(&tr->pipe_wake_work);
}

static void woken_if_it_waits(struct kunit *test)
{
	static const char * const names[] = {
		"snapshot_stat", "snapshot_pipe", "trace_pipe",
	};
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;
	struct file *file;

	snap_enable(test);
	for (int i = 0; i < ARRAY_SIZE(names); i++) {
		file = snap_open(test, names[i], O_RDONLY | O_NONBLOCK);
		KUNIT_EXPECT_FALSE(test, take_wakes(tr));
		vfs_poll(file, NULL);
		KUNIT_EXPECT_TRUE(test, take_wakes(tr));
		irq_work_sync(&tr->pipe_wake_work);
		/* The task does not wait again. */
		KUNIT_EXPECT_EQ(test, tr->waiters, 0);
		KUNIT_EXPECT_FALSE(test, tr->pipe_waiters);
		KUNIT_EXPECT_FALSE(test, take_wakes(tr));
		snap_close(test, file);
	}
}

/* Each exchange changes the number twice, and marks cost nothing before. */
static void marks_begin_with_pipe(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;
	unsigned int swaps = tr->snapshot_swaps;
	struct file *file;

	snap_enable(test);
	KUNIT_EXPECT_EQ(test, snap_take_by_kernel(tr), 0);
	KUNIT_EXPECT_EQ(test, trace_snapshot_swaps(tr), swaps + 2);
	KUNIT_EXPECT_FALSE(test, tr->snapshots.piped);
	KUNIT_EXPECT_NULL(test, memchr_inv(&tr->snapshots.rcu, 0,
					   sizeof(tr->snapshots.rcu)));
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	KUNIT_EXPECT_TRUE(test, tr->snapshots.piped);

	/* The first reader begins with a snapshot as it is. */
	snap_write_records(test, 2);
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	file = snap_open(test, "snapshot_pipe", O_RDONLY | O_NONBLOCK);
	snap_expect_records(test, file, 1, 2, 0);
	snap_close(test, file);
}

static struct kunit_case hold_cases[] = {
	KUNIT_CASE(hold_keeps_snapshot),
	KUNIT_CASE(hold_by_readers_only),
	KUNIT_CASE(hold_is_interrupted),
	KUNIT_CASE(hold_by_two),
	KUNIT_CASE(hold_and_latency_tracer),
	KUNIT_CASE(missed_are_counted),
	KUNIT_CASE(woken_if_it_waits),
	KUNIT_CASE(marks_begin_with_pipe),
	{}
};

static struct kunit_suite hold_suite = {
	.name		= "trace_snapshot_hold",
	.init		= snap_init,
	.test_cases	= hold_cases,
};

kunit_test_suite(hold_suite);

MODULE_DESCRIPTION("KUnit tests for snapshots that are held or refused");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for snapshot_enabled, and for snapshots that are refused: who has
 * a reference on the snapshot buffer, who keeps it, and what is as it was after
 * an error.
 */

#include <kunit/test.h>
#include <linux/cleanup.h>
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/ring_buffer.h>
#include <linux/trace.h>
#include <linux/uaccess.h>

#include "trace_snapshot_pipe_kunit.h"

static bool never(struct trace_array *tr, void *cond_data)
{
	return false;
}

static void expect_enabled(struct kunit *test, bool enabled)
{
	struct trace_kunit *env = test->priv;

	KUNIT_EXPECT_STREQ(test, snap_text(test, "snapshot_enabled"),
			   enabled ? "1\n" : "0\n");
	KUNIT_EXPECT_EQ(test, env->tr->allocated_snapshot, enabled);
}

static void enabled_states(struct kunit *test)
{
	static const char * const refused[] = { "2", "-1", "x", "1x", "\n" };
	struct trace_kunit *env = test->priv;

	for (int state = 0; state < 2; state++) {
		for (int i = 0; i < 2; i++) {
			KUNIT_EXPECT_EQ(test,
					snap_write_enabled(test, state ? "1" :
							   "0\n"), 0);
			expect_enabled(test, state);
		}
		for (int i = 0; i < ARRAY_SIZE(refused); i++)
			KUNIT_EXPECT_EQ(test,
					snap_write_enabled(test, refused[i]),
					-EINVAL);
		KUNIT_EXPECT_EQ(test,
				snap_write_enabled(test,
						   "99999999999999999999"),
				-ERANGE);
		expect_enabled(test, state);
	}
	/* Nobody has a reference on it. */
	KUNIT_EXPECT_EQ(test, env->tr->snapshot, 0);
}

/* "1" to a file that is open, with the @nth allocation failing; what is left */
static int write_failing(struct kunit *test, const char *name,
			 unsigned int *nth)
{
	struct file *file = snap_open(test, name, O_WRONLY);
	struct trace_kunit *env = test->priv;
	loff_t pos = 0;
	ssize_t ret;

	ret = copy_to_user(env->user, "1", 1) ? -EFAULT : 0;
	if (!ret) {
		trace_kunit_fail(*nth);
		ret = vfs_write(file, env->user, 1, &pos);
		*nth = trace_kunit_fail_stop();
	}
	snap_close(test, file);

	return min(ret, 0);
}

/* Each allocation fails in turn, and nothing changes. */
static void enabled_without_memory(struct kunit *test)
{
	struct snap_kunit *snap = test->priv;
	struct trace_array *tr = snap->env.tr;
	struct trace_buffer *buffer = tr->snapshot_buffer.buffer;
	unsigned long size = ring_buffer_size(buffer, snap->cpu);
	unsigned int left = UINT_MAX, failed = 0;

	trace_kunit_failslab(test);
	KUNIT_EXPECT_EQ(test, write_failing(test, "snapshot_enabled", &left),
			0);
	for (unsigned int nth = 1; nth <= UINT_MAX - left; nth++) {
		unsigned int n = nth;
		int ret;

		KUNIT_ASSERT_EQ(test, snap_write_enabled(test, "0"), 0);
		ret = write_failing(test, "snapshot_enabled", &n);
		/* Some allocations may fail without an error. */
		if (!ret)
			continue;

		failed++;
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
		expect_enabled(test, false);
		KUNIT_EXPECT_FALSE(test, tr->snapshot_enabled);
		KUNIT_EXPECT_EQ(test, tr->snapshot, 0);
		KUNIT_EXPECT_EQ(test, ring_buffer_size(buffer, snap->cpu),
				size);
	}
	KUNIT_EXPECT_GT(test, failed, 0);

	snap_enable(test);
	KUNIT_EXPECT_EQ(test, ring_buffer_size(tr->array_buffer.buffer,
					       snap->cpu),
			ring_buffer_size(buffer, snap->cpu));
}

/* Get and put the buffer as a latency tracer does. */
static void get_buffer(struct kunit *test)
{
	struct trace_kunit *env = test->priv;

	KUNIT_ASSERT_EQ(test, tracing_arm_snapshot(env->tr), 0);
}

static void put_buffer(struct kunit *test)
{
	struct trace_kunit *env = test->priv;

	guard(mutex)(&trace_types_lock);

	tracing_release_snapshot(env->tr);
}

static void enabled_by_others(struct kunit *test)
{
	struct trace_kunit *env = test->priv;

	/* A trigger, for example */
	KUNIT_ASSERT_EQ(test, tracing_arm_snapshot(env->tr), 0);
	expect_enabled(test, true);
	snap_enable(test);
	KUNIT_EXPECT_EQ(test, snap_write_enabled(test, "0"), -EBUSY);
	expect_enabled(test, true);
	KUNIT_EXPECT_EQ(test, env->tr->snapshot, 1);
	tracing_disarm_snapshot(env->tr);
	KUNIT_EXPECT_EQ(test, snap_write_enabled(test, "0"), 0);
	expect_enabled(test, false);

	/* Somebody whose buffer stays when it was asked for meanwhile */
	get_buffer(test);
	expect_enabled(test, true);
	KUNIT_EXPECT_EQ(test, snap_write_enabled(test, "0"), -EBUSY);
	snap_enable(test);
	/* A refused write does not give it up. */
	KUNIT_EXPECT_EQ(test, snap_write_enabled(test, "0"), -EBUSY);
	put_buffer(test);
	expect_enabled(test, true);
	KUNIT_EXPECT_EQ(test, snap_write_enabled(test, "0"), 0);
	expect_enabled(test, false);

	/* It goes if it was not asked for. */
	get_buffer(test);
	put_buffer(test);
	expect_enabled(test, false);
}

/* The buffer that user space asked for is empty when others have left it. */
static void enabled_is_emptied(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;
	struct file *file;

	snap_enable(test);
	file = snap_open(test, "snapshot_pipe", O_RDONLY | O_NONBLOCK);
	get_buffer(test);
	snap_write_records(test, 3);
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(tr->snapshot_buffer.buffer),
			3);
	put_buffer(test);
	expect_enabled(test, true);
	KUNIT_EXPECT_EQ(test, tr->snapshot, 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(tr->snapshot_buffer.buffer),
			0);
	KUNIT_EXPECT_EQ(test, trace_kunit_read(test, file), -EAGAIN);

	/* The live buffer is still there. */
	snap_write_records(test, 2);
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	snap_expect_records(test, file, 4, 5, 0);
	snap_close(test, file);
}

/* A user comes and goes, and the buffer goes with it. */
static void expect_not_kept(struct kunit *test)
{
	struct trace_kunit *env = test->priv;

	KUNIT_EXPECT_FALSE(test, env->tr->snapshot_enabled);
	get_buffer(test);
	put_buffer(test);
	expect_enabled(test, false);
}

static void enabled_until_given_up(struct kunit *test)
{
	/* User space has a buffer, and did not ask for it to be kept. */
	KUNIT_EXPECT_EQ(test, trace_kunit_write(test, "snapshot", "1"), 0);
	expect_enabled(test, true);
	expect_not_kept(test);

	/* Either file can give it up. */
	snap_enable(test);
	KUNIT_EXPECT_EQ(test, snap_write_enabled(test, "0"), 0);
	expect_not_kept(test);
	snap_enable(test);
	KUNIT_EXPECT_EQ(test, trace_kunit_write(test, "snapshot", "0"), 0);
	expect_enabled(test, false);
	expect_not_kept(test);

	/* Emptying it does not free it. */
	snap_enable(test);
	KUNIT_EXPECT_EQ(test, trace_kunit_write(test, "snapshot", "2"), 0);
	get_buffer(test);
	put_buffer(test);
	expect_enabled(test, true);
}

static void enabled_with_latency_tracer(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;
	struct file *file;

	if (!IS_ENABLED(CONFIG_SCHED_TRACER))
		kunit_skip(test, "needs CONFIG_SCHED_TRACER");

	KUNIT_ASSERT_EQ(test, tracing_set_tracer(tr, "wakeup"), 0);

	/* The buffer is the tracer's, and goes with it. */
	expect_enabled(test, true);
	KUNIT_EXPECT_EQ(test, snap_write_enabled(test, "1"), -EBUSY);
	KUNIT_EXPECT_EQ(test, tracing_set_tracer(tr, "nop"), 0);
	expect_enabled(test, false);

	snap_enable(test);
	file = snap_open(test, "snapshot_pipe", O_RDONLY | O_NONBLOCK);
	snap_write_records(test, 3);
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	snap_expect_poll(test, file, EPOLLIN | EPOLLRDNORM | EPOLLPRI);
	KUNIT_EXPECT_EQ(test, tracing_set_tracer(tr, "wakeup"), 0);
	expect_enabled(test, true);
	KUNIT_EXPECT_EQ(test, snap_write_enabled(test, "1"), -EBUSY);
	KUNIT_EXPECT_EQ(test, snap_write_enabled(test, "0"), -EBUSY);
	KUNIT_EXPECT_EQ(test, snap_take(test), -EBUSY);
	KUNIT_EXPECT_EQ(test, trace_kunit_read(test, file), -EBUSY);
	snap_expect_poll(test, file, EPOLLERR);

	/* It leaves no records behind, and no reference. */
	KUNIT_EXPECT_EQ(test, tracing_set_tracer(tr, "nop"), 0);
	expect_enabled(test, true);
	KUNIT_EXPECT_EQ(test, tr->snapshot, 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(tr->snapshot_buffer.buffer),
			0);
	KUNIT_EXPECT_EQ(test, trace_kunit_read(test, file), -EAGAIN);
	KUNIT_EXPECT_EQ(test, snap_write_enabled(test, "0"), 0);
	expect_enabled(test, false);
	snap_close(test, file);
}

static void enabled_with_mapped_buffer(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;

	tr->mapped = 1;
	KUNIT_EXPECT_EQ(test, snap_write_enabled(test, "1"), -EBUSY);
	tr->mapped = 0;
	expect_enabled(test, false);
	KUNIT_EXPECT_FALSE(test, tr->snapshot_enabled);
	snap_enable(test);
	tr->mapped = 1;
	KUNIT_EXPECT_EQ(test, snap_write_enabled(test, "1"), -EBUSY);
	KUNIT_EXPECT_EQ(test, snap_take(test), -EBUSY);
	expect_enabled(test, true);
	KUNIT_EXPECT_EQ(test, snap_write_enabled(test, "0"), 0);
	tr->mapped = 0;
	expect_enabled(test, false);
	KUNIT_EXPECT_EQ(test, tr->snapshot, 0);
}

static int take_as(struct kunit *test, const char *text)
{
	return trace_kunit_write(test, "snapshot_pipe", text);
}

static void take_refused(struct kunit *test)
{
	static const char * const refused[] = { "0", "2", "-1", "x", "\n" };
	struct snap_kunit *snap = test->priv;
	struct trace_array *tr = snap->env.tr;
	struct file *file;
	loff_t pos = 0;
	char name[64];

	KUNIT_EXPECT_EQ(test, snap_take(test), -ENODEV);
	snap_enable(test);
	for (int i = 0; i < ARRAY_SIZE(refused); i++)
		KUNIT_EXPECT_EQ(test, take_as(test, refused[i]), -EINVAL);
	KUNIT_EXPECT_EQ(test, take_as(test, "99999999999999999999"), -ERANGE);

	file = snap_open(test, "snapshot_pipe", O_WRONLY);
	KUNIT_EXPECT_EQ(test, vfs_write(file, NULL, 2, &pos), -EFAULT);
	snap_close(test, file);

	/* Somebody reads "trace", and tracing is stopped for that long. */
	KUNIT_ASSERT_EQ(test, trace_kunit_write(test, "trace_options",
						"pause-on-trace"), 0);
	file = snap_open(test, "trace", O_RDONLY);
	KUNIT_EXPECT_EQ(test, snap_take(test), -EBUSY);
	snap_close(test, file);

	KUNIT_ASSERT_EQ(test, tracing_snapshot_cond_enable(tr, NULL, never), 0);
	KUNIT_EXPECT_EQ(test, snap_take(test), -EBUSY);
	KUNIT_EXPECT_EQ(test, tracing_snapshot_cond_disable(tr), 0);

	if (!IS_ENABLED(CONFIG_RING_BUFFER_ALLOW_SWAP)) {
		snprintf(name, sizeof(name), "per_cpu/cpu%d/snapshot_pipe",
			 snap->cpu);
		KUNIT_EXPECT_EQ(test, trace_kunit_write(test, name, "1"),
				-EINVAL);
	}

	/* None was taken, and nobody has a reference. */
	KUNIT_EXPECT_EQ(test, tr->snapshots.count, 0);
	KUNIT_EXPECT_EQ(test, tr->snapshot, 0);
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	KUNIT_EXPECT_EQ(test, tr->snapshots.count, 1);
}

/* The buffer has to grow for the snapshot, which fails. */
static void take_without_memory(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;
	unsigned int n, failed = 0;
	int ret;

	trace_kunit_failslab(test);
	snap_enable(test);
	for (unsigned int nth = 1; ; nth++) {
		u64 count = tr->snapshots.count;

		ret = ring_buffer_resize(tr->snapshot_buffer.buffer, 1,
					 RING_BUFFER_ALL_CPUS);
		KUNIT_ASSERT_EQ(test, ret, 0);
		n = nth;
		ret = write_failing(test, "snapshot_pipe", &n);
		if (!ret)
			break;

		failed++;
		KUNIT_ASSERT_EQ(test, ret, -ENOMEM);
		KUNIT_EXPECT_EQ(test, tr->snapshots.count, count);
		KUNIT_EXPECT_EQ(test, tr->snapshot, 0);
	}
	KUNIT_EXPECT_GT(test, failed, 0);
	KUNIT_EXPECT_EQ(test, tr->snapshots.count, 1);
}

static void set_resetting(struct trace_array *tr, int nr)
{
	guard(trace_max_lock_irqsave)(tr);
	tr->resetting += nr;
}

/*
 * As tracing_begin_reset() and tracing_end_reset() do it, but without the mutex
 * that lets writes to files wait.
 */
static void take_while_cleared(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;

	snap_enable(test);
	for (int nr = 1; nr <= 2; nr++) {
		set_resetting(tr, nr);
		KUNIT_EXPECT_EQ(test, snap_take_by_kernel(tr), -EAGAIN);
		KUNIT_EXPECT_EQ(test, snap_take(test), -EBUSY);
		KUNIT_EXPECT_EQ(test, trace_kunit_write(test, "snapshot", "1"),
				-EBUSY);
		set_resetting(tr, -nr);
		KUNIT_EXPECT_EQ(test, snap_take_by_kernel(tr), 0);
	}

	/* A snapshot can be taken while tracing is off. */
	tracer_tracing_off(tr);
	KUNIT_EXPECT_EQ(test, snap_take_by_kernel(tr), 0);
	tracer_tracing_on(tr);
}

static struct kunit_case enabled_cases[] = {
	KUNIT_CASE(enabled_states),
	KUNIT_CASE(enabled_without_memory),
	KUNIT_CASE(enabled_by_others),
	KUNIT_CASE(enabled_is_emptied),
	KUNIT_CASE(enabled_until_given_up),
	KUNIT_CASE(enabled_with_latency_tracer),
	KUNIT_CASE(enabled_with_mapped_buffer),
	KUNIT_CASE(take_refused),
	KUNIT_CASE(take_without_memory),
	KUNIT_CASE(take_while_cleared),
	{}
};

static struct kunit_suite enabled_suite = {
	.name		= "trace_snapshot_enabled",
	.init		= snap_init,
	.test_cases	= enabled_cases,
};

kunit_test_suite(enabled_suite);

MODULE_DESCRIPTION("KUnit tests for snapshot_enabled");
MODULE_LICENSE("GPL");

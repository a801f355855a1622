// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the end of trace instances: trace_array_put_and_destroy()
 * beside trace_array_put(), rmdir, and others who use the instance.
 */

#include <kunit/test.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/ring_buffer.h>
#include <linux/trace.h>

#include "trace_kunit.h"

#define INSTANCE	"trace_destroy_kunit"
#define RACES		20

static struct trace_array *get_instance(struct kunit *test)
{
	struct trace_array *tr = trace_array_get_by_name(INSTANCE, NULL);

	KUNIT_ASSERT_NOT_NULL(test, tr);

	return tr;
}

/* The instance exists with its files, or does not exist. */
static void expect_instance(struct kunit *test, struct trace_array *tr)
{
	struct file *file = trace_kunit_open(test, INSTANCE, "trace", O_RDONLY);

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(file), tr ? 0 : -ENOENT);
	if (!IS_ERR(file))
		__fput_sync(file);
	KUNIT_EXPECT_PTR_EQ(test, trace_kunit_find(INSTANCE), tr);
}

static void destroy_new(struct kunit *test)
{
	struct trace_array *tr = get_instance(test);

	expect_instance(test, tr);
	KUNIT_EXPECT_EQ(test, trace_array_put_and_destroy(tr), 0);
	expect_instance(test, NULL);
	KUNIT_EXPECT_EQ(test, trace_array_put_and_destroy(NULL), -EINVAL);
}

static void destroy_what_user_space_made(struct kunit *test)
{
	struct trace_array *tr;

	KUNIT_ASSERT_EQ(test, trace_kunit_mkdir(test, INSTANCE), 0);
	tr = get_instance(test);
	expect_instance(test, tr);
	KUNIT_EXPECT_EQ(test, trace_array_put_and_destroy(tr), 0);
	expect_instance(test, NULL);
}

/* The pointer can't become stale as long as there is the reference. */
static void no_rmdir_before(struct kunit *test)
{
	struct trace_array *tr = get_instance(test);

	KUNIT_EXPECT_EQ(test, trace_kunit_rmdir(test, INSTANCE), -EBUSY);
	expect_instance(test, tr);
	KUNIT_EXPECT_EQ(test, trace_array_put_and_destroy(tr), 0);
	expect_instance(test, NULL);
	KUNIT_EXPECT_EQ(test, trace_kunit_rmdir(test, INSTANCE), -ENOENT);
}

/* Nothing has changed after -EBUSY. It goes on recording, too. */
static void expect_busy(struct kunit *test, struct trace_array *tr)
{
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	unsigned long entries = ring_buffer_entries(buffer);
	int ref = tr->ref;

	KUNIT_EXPECT_EQ(test, trace_array_put_and_destroy(tr), -EBUSY);
	KUNIT_EXPECT_EQ(test, tr->ref, ref);
	KUNIT_EXPECT_EQ(test, trace_kunit_rmdir(test, INSTANCE), -EBUSY);
	expect_instance(test, tr);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(buffer), entries);
	KUNIT_EXPECT_GT(test, trace_array_printk(tr, _THIS_IP_, "busy\n"), 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(buffer), entries + 1);
}

static void busy_with_open_file(struct kunit *test)
{
	static const char * const names[] = {
		"trace", "trace_pipe", "per_cpu/cpu0/trace_pipe_raw",
		"events/enable",
	};
	struct trace_array *tr = get_instance(test);

	KUNIT_ASSERT_EQ(test, trace_array_init_printk(tr), 0);
	for (int i = 0; i < ARRAY_SIZE(names); i++) {
		struct file *file = trace_kunit_open(test, INSTANCE, names[i],
						     O_RDONLY);

		KUNIT_EXPECT_FALSE(test, IS_ERR(file));
		if (IS_ERR(file))
			continue;
		expect_busy(test, tr);
		__fput_sync(file);
	}
	KUNIT_EXPECT_EQ(test, trace_array_put_and_destroy(tr), 0);
	expect_instance(test, NULL);
}

static void busy_with_second_user(struct kunit *test)
{
	struct trace_array *tr = get_instance(test);

	KUNIT_ASSERT_EQ(test, trace_array_init_printk(tr), 0);
	KUNIT_ASSERT_PTR_EQ(test, get_instance(test), tr);
	expect_busy(test, tr);
	/* One user leaves, and the other one destroys it. */
	trace_array_put(tr);
	KUNIT_EXPECT_EQ(test, trace_array_put_and_destroy(tr), 0);
	expect_instance(test, NULL);
}

static void same_name_again(struct kunit *test)
{
	struct trace_array *tr = get_instance(test);

	KUNIT_ASSERT_EQ(test, trace_array_init_printk(tr), 0);
	KUNIT_EXPECT_GT(test, trace_array_printk(tr, _THIS_IP_, "old\n"), 0);
	trace_array_put(tr);
	KUNIT_ASSERT_EQ(test, trace_kunit_rmdir(test, INSTANCE), 0);
	expect_instance(test, NULL);

	tr = get_instance(test);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(tr->array_buffer.buffer), 0);
	KUNIT_EXPECT_EQ(test, trace_array_put_and_destroy(tr), 0);
	expect_instance(test, NULL);
}

struct remover {
	struct kunit	*test;
	unsigned int	removed;
};

/* No rmdir may succeed, as there is always a reference. */
static int remove_all_the_time(void *data)
{
	struct remover *remover = data;

	while (!kthread_should_stop()) {
		if (!trace_kunit_rmdir(remover->test, INSTANCE))
			remover->removed++;
		cond_resched();
	}

	return 0;
}

/* rmdir looks the instance up, and has the directory for a moment. */
static int destroy_beside_rmdir(struct trace_array *tr)
{
	unsigned long end = jiffies + TRACE_KUNIT_TIMEOUT;
	int ret;

	while ((ret = trace_array_put_and_destroy(tr)) == -EBUSY &&
	       time_before(jiffies, end))
		cond_resched();
	/* The reference is still there. */
	if (ret)
		trace_array_put(tr);

	return ret;
}

/* The kernel never destroys an instance that user space has removed. */
static void race_with_rmdir(struct kunit *test)
{
	struct task_struct *task;
	struct remover *remover;
	int cpu[2];

	trace_kunit_two_cpus(test, cpu);
	remover = kunit_kzalloc(test, sizeof(*remover), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, remover);
	remover->test = test;
	task = trace_kunit_thread(test, remove_all_the_time, remover, cpu[1]);
	wake_up_process(task);
	for (int i = 0; i < RACES; i++) {
		struct trace_array *tr = get_instance(test);

		cond_resched();
		KUNIT_EXPECT_PTR_EQ(test, trace_kunit_find(INSTANCE), tr);
		KUNIT_ASSERT_EQ(test, destroy_beside_rmdir(tr), 0);
		KUNIT_EXPECT_NULL(test, trace_kunit_find(INSTANCE));
	}
	trace_kunit_stop(test, task);
	KUNIT_EXPECT_EQ(test, remover->removed, 0);
}

static int destroy_init(struct kunit *test)
{
	struct trace_kunit *env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);

	trace_kunit_init(test, env, NULL);

	return 0;
}

static struct kunit_case destroy_cases[] = {
	KUNIT_CASE(destroy_new),
	KUNIT_CASE(destroy_what_user_space_made),
	KUNIT_CASE(no_rmdir_before),
	KUNIT_CASE(busy_with_open_file),
	KUNIT_CASE(busy_with_second_user),
	KUNIT_CASE(same_name_again),
	KUNIT_CASE(race_with_rmdir),
	{}
};

static struct kunit_suite destroy_suite = {
	.name		= "trace_destroy",
	.init		= destroy_init,
	.test_cases	= destroy_cases,
};

kunit_test_suite(destroy_suite);

MODULE_DESCRIPTION("KUnit tests for the end of trace instances");
MODULE_LICENSE("GPL");

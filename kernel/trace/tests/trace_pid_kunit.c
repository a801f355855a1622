// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the pid filters of trace instances: what forks and exits of
 * the tasks in a filter do to it.
 */

#include <kunit/test.h>
#include <linux/irqflags.h>
#include <linux/sched.h>

#include "../trace.h"

struct pids {
	struct trace_pid_list	*list;
	struct task_struct	*parent;
	struct task_struct	*child;
};

static void child_joins_and_leaves(struct kunit *test)
{
	struct pids *pids = test->priv;

	pids->child->pid = 20;
	KUNIT_EXPECT_EQ(test, trace_filter_add_remove_task(pids->list,
							   pids->parent,
							   pids->child), 0);
	KUNIT_EXPECT_TRUE(test, trace_pid_list_is_set(pids->list, 20));

	KUNIT_EXPECT_EQ(test, trace_filter_add_remove_task(pids->list, NULL,
							   pids->child), 0);
	KUNIT_EXPECT_FALSE(test, trace_pid_list_is_set(pids->list, 20));
}

static void child_of_stranger_stays_out(struct kunit *test)
{
	struct pids *pids = test->priv;

	pids->parent->pid = 11;
	pids->child->pid = 20;
	KUNIT_EXPECT_EQ(test, trace_filter_add_remove_task(pids->list,
							   pids->parent,
							   pids->child), 0);
	KUNIT_EXPECT_FALSE(test, trace_pid_list_is_set(pids->list, 20));
}

/*
 * Each child needs a part of the list of its own, and with interrupts off
 * nobody can bring new ones: the spare parts run out. Those children that
 * were announced as members are members, and one was refused.
 */
static void lost_child_is_announced(struct kunit *test)
{
	struct pids *pids = test->priv;
	int ret = 0, i;

	scoped_guard(irqsave) {
		for (i = 1; !ret && i <= 2 * CHUNK_ALLOC; i++) {
			pids->child->pid = i * LOWER_MAX;
			ret = trace_filter_add_remove_task(pids->list,
							   pids->parent,
							   pids->child);
		}
	}

	KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	KUNIT_EXPECT_FALSE(test, trace_pid_list_is_set(pids->list,
						       pids->child->pid));
	for (i -= 2; i > 0; i--)
		KUNIT_EXPECT_TRUE(test, trace_pid_list_is_set(pids->list,
							      i * LOWER_MAX));
}

static void pids_free(void *list)
{
	trace_pid_list_free(list);
}

static int pids_init(struct kunit *test)
{
	struct pids *pids = kunit_kzalloc(test, sizeof(*pids), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pids);
	test->priv = pids;
	pids->parent = kunit_kzalloc(test, sizeof(*pids->parent), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pids->parent);
	pids->child = kunit_kzalloc(test, sizeof(*pids->child), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pids->child);

	pids->list = trace_pid_list_alloc();
	KUNIT_ASSERT_NOT_NULL(test, pids->list);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, pids_free,
							pids->list), 0);
	pids->parent->pid = 10;

	return trace_pid_list_set(pids->list, pids->parent->pid);
}

static struct kunit_case pids_cases[] = {
	KUNIT_CASE(child_joins_and_leaves),
	KUNIT_CASE(child_of_stranger_stays_out),
	KUNIT_CASE(lost_child_is_announced),
	{}
};

static struct kunit_suite pids_suite = {
	.name		= "trace_pid",
	.init		= pids_init,
	.test_cases	= pids_cases,
};

kunit_test_suite(pids_suite);

MODULE_DESCRIPTION("KUnit tests for the pid filters of trace instances");
MODULE_LICENSE("GPL");

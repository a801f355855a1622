// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the pid filters of trace instances: forks and exits of the
 * tasks in a filter change it.
 */

#include <kunit/test.h>
#include <linux/irqflags.h>
#include <linux/kmsg_dump.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "../trace.h"

struct pids {
	struct trace_pid_list	*list;
	struct task_struct	*parent;
	struct task_struct	*child;
	char			line[256];
};

static void child_joins_and_leaves(struct kunit *test)
{
	struct pids *pids = test->priv;

	pids->child->pid = 20;
	trace_filter_add_remove_task(pids->list, pids->parent, pids->child);
	KUNIT_EXPECT_TRUE(test, trace_pid_list_is_set(pids->list, 20));

	trace_filter_add_remove_task(pids->list, NULL, pids->child);
	KUNIT_EXPECT_FALSE(test, trace_pid_list_is_set(pids->list, 20));
}

static void child_of_stranger_stays_out(struct kunit *test)
{
	struct pids *pids = test->priv;

	pids->parent->pid = 11;
	pids->child->pid = 20;
	trace_filter_add_remove_task(pids->list, pids->parent, pids->child);
	KUNIT_EXPECT_FALSE(test, trace_pid_list_is_set(pids->list, 20));
}

static void go_to_end_of_log(struct kmsg_dump_iter *iter)
{
	size_t len;

	kmsg_dump_rewind(iter);
	while (kmsg_dump_get_line(iter, false, NULL, 0, &len))
		;
}

/* How often the kernel log has this text from @iter on */
static unsigned int count_in_log(struct pids *pids, struct kmsg_dump_iter iter,
				 const char *text)
{
	unsigned int nr = 0;
	size_t len;

	while (kmsg_dump_get_line(&iter, false, pids->line,
				  sizeof(pids->line) - 1, &len)) {
		pids->line[len] = '\0';
		if (strstr(pids->line, text))
			nr++;
	}

	return nr;
}

/*
 * Each child needs a chunk of the list of its own. With interrupts off there
 * are no new chunks, so they run out. The log names the first child that is not
 * in the list, and no other one. All filters share the ratelimit: the message
 * would be missing if ten children were lost just before.
 */
static void lost_child_is_announced(struct kunit *test)
{
	struct pids *pids = test->priv;
	struct kmsg_dump_iter before;
	bool found = true;
	char text[64];
	int i;

	if (!IS_ENABLED(CONFIG_PRINTK))
		kunit_skip(test, "needs CONFIG_PRINTK");

	go_to_end_of_log(&before);
	scoped_guard(irqsave) {
		for (i = 1; found && i <= 2 * CHUNK_ALLOC; i++) {
			pids->child->pid = i * LOWER_MAX;
			trace_filter_add_remove_task(pids->list, pids->parent,
						     pids->child);
			found = trace_pid_list_is_set(pids->list,
						      pids->child->pid);
		}
	}

	KUNIT_EXPECT_FALSE(test, found);
	KUNIT_EXPECT_GT(test, i, 2);
	snprintf(text, sizeof(text), "pid %d: cannot add child %d to",
		 pids->parent->pid, pids->child->pid);
	KUNIT_EXPECT_EQ(test, count_in_log(pids, before, text), 1);
	KUNIT_EXPECT_EQ(test, count_in_log(pids, before, " to pid filter ("),
			1);
}

KUNIT_DEFINE_ACTION_WRAPPER(pids_free, trace_pid_list_free,
			    struct trace_pid_list *);

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
	/* No task has this pid: it is in no other line of the log. */
	pids->parent->pid = PID_MAX_LIMIT - 1;

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

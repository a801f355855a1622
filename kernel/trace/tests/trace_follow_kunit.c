// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for sets of followed tasks: who gets into a set, who gets the
 * flag that makes its system calls come to the tracepoints, and that both
 * hold while tasks are forked all the time.
 *
 * The thread that runs a test is the task that is followed; it forks kernel
 * threads as its children. Most tests need no system call: the flag is looked
 * at where it is.
 */

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/cred.h>
#include <linux/kthread.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/static_call.h>
#include <linux/thread_info.h>
#include <linux/trace_follow.h>

#include <trace/events/syscalls.h>

#include "../trace.h"

/* A child that says who follows it, and waits to be let go. */
struct child {
	struct completion	started;
	struct completion	go;
	struct completion	done;
	unsigned long		trace_follow;
	bool			flag;
};

static bool syscalls_come(struct task_struct *t)
{
	return test_task_syscall_work(t, SYSCALL_TRACEPOINT);
}

static int child_fn(void *data)
{
	struct child *child = data;

	child->trace_follow = READ_ONCE(current->trace_follow);
	child->flag = syscalls_come(current);
	complete(&child->started);
	wait_for_completion(&child->go);
	complete(&child->done);
	do_exit(0);
}

static void fork_child(struct kunit *test, struct child *child)
{
	pid_t pid;

	init_completion(&child->started);
	init_completion(&child->go);
	init_completion(&child->done);
	pid = kernel_thread(child_fn, child, "follow-child",
			    CLONE_FS | CLONE_FILES | SIGCHLD);
	KUNIT_ASSERT_GT(test, pid, 0);
	wait_for_completion(&child->started);
}

static void end_child(struct child *child)
{
	complete(&child->go);
	wait_for_completion(&child->done);
}

static bool am_followed(const struct trace_follow *follow)
{
	return follow->mask && trace_follow_has(follow, current);
}

static int follow_me(struct trace_follow *follow, bool replace)
{
	struct pid *pid = task_pid(current);

	return trace_follow_pids(follow, &pid, 1, replace);
}

static void empty_set_has_all(struct kunit *test)
{
	struct trace_follow *follow = test->priv;

	KUNIT_EXPECT_TRUE(test, trace_follow_has(follow, current));
	KUNIT_EXPECT_TRUE(test, trace_follow_has(follow, &init_task));
}

static void pid_with_its_children(struct kunit *test)
{
	struct trace_follow *follow = test->priv;
	struct child before, after;

	fork_child(test, &before);
	KUNIT_EXPECT_EQ(test, follow_me(follow, true), 0);
	KUNIT_EXPECT_TRUE(test, am_followed(follow));
	KUNIT_EXPECT_FALSE(test, trace_follow_has(follow, &init_task));
	KUNIT_EXPECT_FALSE(test, before.trace_follow & follow->mask);

	fork_child(test, &after);
	KUNIT_EXPECT_TRUE(test, after.trace_follow & follow->mask);
	end_child(&after);
	end_child(&before);

	trace_follow_clear(follow);
	KUNIT_EXPECT_EQ(test, follow->mask, 0);
	KUNIT_EXPECT_EQ(test, current->trace_follow, 0);
}

/* A child that is there already, as the walk over the tasks finds it. */
static void pid_with_children_it_has(struct kunit *test)
{
	struct trace_follow *follow = test->priv;
	struct task_struct *t, *found = NULL;
	struct child child;

	fork_child(test, &child);
	KUNIT_ASSERT_EQ(test, follow_me(follow, true), 0);

	scoped_guard(rcu) {
		for_each_process(t) {
			if (rcu_access_pointer(t->real_parent) == current)
				found = t;
		}
		KUNIT_EXPECT_NOT_NULL(test, found);
		if (found)
			KUNIT_EXPECT_TRUE(test, trace_follow_has(follow, found));
	}
	end_child(&child);
}

/* A walk has come to the parent after the fork had looked at it. */
static void fork_looks_again(struct kunit *test)
{
	struct trace_follow *follow = test->priv;
	struct task_struct *t, *found = NULL;
	struct child child;

	fork_child(test, &child);
	KUNIT_ASSERT_EQ(test, follow_me(follow, true), 0);

	scoped_guard(rcu) {
		for_each_process(t) {
			if (rcu_access_pointer(t->real_parent) == current)
				found = t;
		}
		KUNIT_EXPECT_NOT_NULL(test, found);
		if (found) {
			clear_bit(__ffs(follow->mask), &found->trace_follow);
			KUNIT_EXPECT_FALSE(test, trace_follow_has(follow, found));
			trace_follow_forked(found);
			KUNIT_EXPECT_TRUE(test, trace_follow_has(follow, found));
		}
	}
	end_child(&child);
}

static void strangers_child_is_none(struct kunit *test)
{
	struct trace_follow *follow = test->priv;
	struct pid *init = task_pid(kthreadd_task);
	struct child child;

	fork_child(test, &child);
	end_child(&child);

	/* Kernel threads are children of kthreadd, current is one of them. */
	KUNIT_ASSERT_EQ(test, trace_follow_pids(follow, &init, 1, true), 0);
	KUNIT_EXPECT_TRUE(test, am_followed(follow));
	trace_follow_clear(follow);

	KUNIT_ASSERT_EQ(test, follow_me(follow, true), 0);
	KUNIT_EXPECT_FALSE(test, trace_follow_has(follow, kthreadd_task));
}

static void gone_pid_changes_nothing(struct kunit *test)
{
	struct trace_follow *follow = test->priv;
	struct pid *pids[2] = { task_pid(current) };
	struct child child;
	unsigned long mask;

	fork_child(test, &child);
	scoped_guard(rcu) {
		struct task_struct *t;

		for_each_process(t) {
			if (rcu_access_pointer(t->real_parent) == current)
				pids[1] = get_pid(task_pid(t));
		}
	}
	KUNIT_ASSERT_NOT_NULL(test, pids[1]);
	end_child(&child);
	while (pid_has_task(pids[1], PIDTYPE_PID))
		schedule_timeout_uninterruptible(1);

	KUNIT_EXPECT_EQ(test, trace_follow_pids(follow, pids, 2, true),
			-ESRCH);
	KUNIT_EXPECT_EQ(test, follow->mask, 0);
	KUNIT_EXPECT_EQ(test, current->trace_follow, 0);

	KUNIT_EXPECT_EQ(test, follow_me(follow, true), 0);
	mask = follow->mask;
	KUNIT_EXPECT_EQ(test, trace_follow_pids(follow, pids, 2, false),
			-ESRCH);
	KUNIT_EXPECT_EQ(test, follow->mask, mask);
	KUNIT_EXPECT_TRUE(test, am_followed(follow));
	put_pid(pids[1]);
}

static void replaced_choice_is_gone(struct kunit *test)
{
	struct trace_follow *follow = test->priv;
	struct pid *init = task_pid(kthreadd_task);
	unsigned long mask;

	KUNIT_ASSERT_EQ(test, trace_follow_pids(follow, &init, 1, true), 0);
	mask = follow->mask;
	KUNIT_ASSERT_EQ(test, follow_me(follow, true), 0);
	KUNIT_EXPECT_FALSE(test, follow->mask & mask);
	KUNIT_EXPECT_FALSE(test, kthreadd_task->trace_follow & mask);
	KUNIT_EXPECT_FALSE(test, current->trace_follow & mask);
	KUNIT_EXPECT_TRUE(test, am_followed(follow));
	KUNIT_EXPECT_FALSE(test, trace_follow_has(follow, kthreadd_task));
}

static void command_by_name(struct kunit *test)
{
	static char names[][TASK_COMM_LEN] = { "follow-a", "follow-b" };
	struct trace_follow *follow = test->priv;
	char old[TASK_COMM_LEN];
	struct child child;

	get_task_comm(old, current);
	KUNIT_ASSERT_EQ(test, trace_follow_comms(follow, names, 1, true), 0);
	KUNIT_EXPECT_FALSE(test, am_followed(follow));

	/* Takes the name, and is followed, with what it forks. */
	set_task_comm(current, names[0]);
	KUNIT_EXPECT_TRUE(test, am_followed(follow));
	fork_child(test, &child);
	KUNIT_EXPECT_TRUE(test, child.trace_follow & follow->mask);
	end_child(&child);

	/* Stays, whatever its name is. */
	set_task_comm(current, names[1]);
	KUNIT_EXPECT_TRUE(test, am_followed(follow));

	/* Has the name already. */
	KUNIT_ASSERT_EQ(test, trace_follow_comms(follow, names + 1, 1, true),
			0);
	KUNIT_EXPECT_TRUE(test, am_followed(follow));

	/* Has none of the names. */
	KUNIT_ASSERT_EQ(test, trace_follow_comms(follow, names, 1, true), 0);
	KUNIT_EXPECT_FALSE(test, am_followed(follow));
	KUNIT_ASSERT_EQ(test, trace_follow_comms(follow, names + 1, 1, false),
			0);
	KUNIT_EXPECT_TRUE(test, am_followed(follow));

	set_task_comm(current, old);
}

static void change_uid(struct kunit *test, kuid_t uid)
{
	struct cred *new = prepare_creds();

	KUNIT_ASSERT_NOT_NULL(test, new);
	new->uid = uid;
	commit_creds(new);
}

static void user_by_uid(struct kunit *test)
{
	struct trace_follow *follow = test->priv;
	kuid_t uids[] = { KUIDT_INIT(4711), KUIDT_INIT(4712) };
	int sets = static_key_count(&trace_follow_by_uid.key);

	KUNIT_ASSERT_EQ(test, trace_follow_uids(follow, uids, 1, true), 0);
	KUNIT_EXPECT_FALSE(test, am_followed(follow));

	change_uid(test, uids[0]);
	KUNIT_EXPECT_TRUE(test, am_followed(follow));
	change_uid(test, uids[1]);
	KUNIT_EXPECT_TRUE(test, am_followed(follow));

	KUNIT_EXPECT_EQ(test, trace_follow_uids(follow, uids, 1, true), 0);
	KUNIT_EXPECT_FALSE(test, am_followed(follow));
	KUNIT_EXPECT_EQ(test, trace_follow_uids(follow, uids + 1, 1, false),
			0);
	KUNIT_EXPECT_TRUE(test, am_followed(follow));

	/* A change of the user costs nothing when nobody asks for it. */
	trace_follow_clear(follow);
	KUNIT_EXPECT_FALSE(test, am_followed(follow));
	KUNIT_EXPECT_EQ(test, static_key_count(&trace_follow_by_uid.key), sets);

	change_uid(test, GLOBAL_ROOT_UID);
}

static bool anybody_is_followed(void)
{
	struct task_struct *p, *t;

	guard(rcu)();
	for_each_process_thread(p, t) {
		if (READ_ONCE(t->trace_follow))
			return true;
	}

	return false;
}

/* There are as many choices as bits, and a bit comes back. */
static void bits_run_out(struct kunit *test)
{
	struct trace_follow *follows;
	int i, nr, ret = 0;

	if (anybody_is_followed())
		kunit_skip(test, "somebody else follows tasks");

	follows = kunit_kcalloc(test, BITS_PER_LONG + 1, sizeof(*follows),
				GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, follows);

	for (nr = 0; nr < BITS_PER_LONG + 1; nr++) {
		trace_follow_init(&follows[nr]);
		ret = follow_me(&follows[nr], true);
		if (ret)
			break;
	}
	KUNIT_EXPECT_EQ(test, ret, -ENOSPC);
	KUNIT_EXPECT_EQ(test, nr, BITS_PER_LONG);

	for (i = 0; i < nr; i++) {
		KUNIT_EXPECT_EQ(test, hweight_long(follows[i].mask), 1);
		KUNIT_EXPECT_TRUE(test, am_followed(&follows[i]));
		trace_follow_clear(&follows[i]);
	}
	KUNIT_EXPECT_EQ(test, current->trace_follow, 0);

	KUNIT_EXPECT_EQ(test, follow_me(&follows[0], true), 0);
	trace_follow_clear(&follows[0]);
}

static void __maybe_unused probe(void *data, struct pt_regs *regs, long id)
{
}

static int get_probe(struct trace_follow *follow)
{
	return trace_follow_syscalls_get(follow, &__tracepoint_sys_enter,
					 probe, follow);
}

static void put_probe(struct trace_follow *follow)
{
	trace_follow_syscalls_put(follow, &__tracepoint_sys_enter, probe,
				  follow);
}

static void flag_of_the_followed(struct kunit *test)
{
	struct trace_follow *follow = test->priv;
	struct child child;

	KUNIT_ASSERT_FALSE(test, syscalls_come(current));
	KUNIT_ASSERT_EQ(test, follow_me(follow, true), 0);
	KUNIT_EXPECT_FALSE(test, syscalls_come(current));

	KUNIT_ASSERT_EQ(test, get_probe(follow), 0);
	KUNIT_EXPECT_TRUE(test, syscalls_come(current));
	KUNIT_EXPECT_FALSE(test, syscalls_come(kthreadd_task));
	fork_child(test, &child);
	KUNIT_EXPECT_TRUE(test, child.flag);
	end_child(&child);

	put_probe(follow);
	KUNIT_EXPECT_FALSE(test, syscalls_come(current));
}

static void flag_follows_the_choice(struct kunit *test)
{
	static char name[][TASK_COMM_LEN] = { "follow-a" };
	struct trace_follow *follow = test->priv;
	char old[TASK_COMM_LEN];

	get_task_comm(old, current);

	/* No choice: all. */
	KUNIT_ASSERT_EQ(test, get_probe(follow), 0);
	KUNIT_EXPECT_TRUE(test, syscalls_come(current));
	KUNIT_EXPECT_TRUE(test, syscalls_come(kthreadd_task));

	KUNIT_ASSERT_EQ(test, trace_follow_comms(follow, name, 1, true), 0);
	KUNIT_EXPECT_FALSE(test, syscalls_come(current));
	KUNIT_EXPECT_FALSE(test, syscalls_come(kthreadd_task));

	set_task_comm(current, name[0]);
	KUNIT_EXPECT_TRUE(test, syscalls_come(current));
	KUNIT_EXPECT_FALSE(test, syscalls_come(kthreadd_task));
	set_task_comm(current, old);

	trace_follow_clear(follow);
	KUNIT_EXPECT_TRUE(test, syscalls_come(kthreadd_task));
	put_probe(follow);
	KUNIT_EXPECT_FALSE(test, syscalls_come(current));
	KUNIT_EXPECT_FALSE(test, syscalls_come(kthreadd_task));
}

/* A probe that wants all tasks gets them, in spite of the others. */
static void flag_of_all(struct kunit *test)
{
	struct trace_follow *follow = test->priv;
	struct child child;

	KUNIT_ASSERT_EQ(test, follow_me(follow, true), 0);
	KUNIT_ASSERT_EQ(test, get_probe(follow), 0);

	KUNIT_ASSERT_EQ(test, register_trace_sys_enter(probe, NULL), 0);
	KUNIT_EXPECT_TRUE(test, syscalls_come(kthreadd_task));
	KUNIT_ASSERT_EQ(test, register_trace_sys_exit(probe, NULL), 0);
	unregister_trace_sys_enter(probe, NULL);
	KUNIT_EXPECT_TRUE(test, syscalls_come(kthreadd_task));
	fork_child(test, &child);
	KUNIT_EXPECT_TRUE(test, child.flag);
	end_child(&child);
	unregister_trace_sys_exit(probe, NULL);

	KUNIT_EXPECT_FALSE(test, syscalls_come(kthreadd_task));
	KUNIT_EXPECT_TRUE(test, syscalls_come(current));

	/* The last one that wants few goes first. */
	KUNIT_ASSERT_EQ(test, register_trace_sys_enter(probe, NULL), 0);
	put_probe(follow);
	KUNIT_EXPECT_TRUE(test, syscalls_come(kthreadd_task));
	unregister_trace_sys_enter(probe, NULL);
	KUNIT_EXPECT_FALSE(test, syscalls_come(kthreadd_task));
	KUNIT_EXPECT_FALSE(test, syscalls_come(current));
	tracepoint_synchronize_unregister();
}

static void flag_of_two_sets(struct kunit *test)
{
	struct trace_follow *follow = test->priv;
	struct trace_follow *other;

	other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, other);
	trace_follow_init(other);
	KUNIT_ASSERT_EQ(test, follow_me(other, true), 0);
	KUNIT_ASSERT_EQ(test, follow_me(follow, true), 0);
	KUNIT_ASSERT_EQ(test, get_probe(follow), 0);
	KUNIT_ASSERT_EQ(test, get_probe(other), 0);

	put_probe(follow);
	KUNIT_EXPECT_TRUE(test, syscalls_come(current));
	KUNIT_EXPECT_FALSE(test, syscalls_come(kthreadd_task));

	trace_follow_clear(other);
	KUNIT_EXPECT_TRUE(test, syscalls_come(kthreadd_task));
	put_probe(other);
	KUNIT_EXPECT_FALSE(test, syscalls_come(kthreadd_task));
	KUNIT_EXPECT_FALSE(test, syscalls_come(current));
	tracepoint_synchronize_unregister();
}

/* A direct call might be made with the data of the probe before. */
static void one_probe_is_iterated_over(struct kunit *test)
{
#ifdef CONFIG_HAVE_STATIC_CALL
	void *call;

	KUNIT_ASSERT_EQ(test, register_trace_sys_enter(probe, NULL), 0);
	call = static_call_query(tp_func_sys_enter);
	unregister_trace_sys_enter(probe, NULL);
	KUNIT_EXPECT_PTR_EQ(test, call, (void *)__traceiter_sys_enter);
#else
	kunit_skip(test, "has no static calls");
#endif
}

struct storm {
	struct completion	done;
	struct trace_follow	*follow;
	bool			stop;
	unsigned long		forks;
	unsigned long		wrong;
};

struct storm_child {
	struct completion	done;
};

static int storm_child_fn(void *data)
{
	struct storm_child *child = data;

	complete(&child->done);
	do_exit(0);
}

/* The children of a task that is followed and has the flag have both. */
static int storm_fn(void *data)
{
	struct storm *storm = data;
	struct storm_child child;
	struct task_struct *t;

	while (!READ_ONCE(storm->stop)) {
		init_completion(&child.done);
		if (kernel_thread(storm_child_fn, &child, "follow-storm",
				  CLONE_FS | CLONE_FILES | SIGCHLD) < 0)
			continue;
		wait_for_completion(&child.done);
		storm->forks++;
	}

	scoped_guard(rcu) {
		for_each_process(t) {
			if (trace_follow_has(storm->follow, t) &&
			    !syscalls_come(t))
				storm->wrong++;
		}
	}
	complete(&storm->done);
	do_exit(0);
}

/*
 * One task forks without end, while the set that it is in, and those who want
 * all tasks, come and go. At each turn all tasks are looked at: who is
 * followed has the flag, who is not has none, unless all have it.
 */
static void flags_in_a_fork_storm(struct kunit *test)
{
	struct trace_follow *follow = test->priv;
	struct storm storm = { .follow = follow };
	struct task_struct *p, *t;
	unsigned long wrong = 0;
	struct pid *pid;
	pid_t nr;
	int i;

	init_completion(&storm.done);
	nr = kernel_thread(storm_fn, &storm, "follow-storm",
			   CLONE_FS | CLONE_FILES | SIGCHLD);
	KUNIT_ASSERT_GT(test, nr, 0);
	pid = find_get_pid(nr);
	KUNIT_EXPECT_NOT_NULL(test, pid);

	KUNIT_EXPECT_EQ(test, get_probe(follow), 0);
	for (i = 0; pid && i < 200; i++) {
		if (trace_follow_pids(follow, &pid, 1, true))
			wrong++;
		if (i % 3 == 0 && register_trace_sys_exit(probe, NULL))
			wrong++;
		cond_resched();
		read_lock(&tasklist_lock);
		for_each_process_thread(p, t) {
			if (syscalls_come(t) !=
			    (i % 3 == 0 || trace_follow_has(follow, t)))
				wrong++;
		}
		read_unlock(&tasklist_lock);
		if (i % 3 == 0)
			unregister_trace_sys_exit(probe, NULL);
		if (i % 5 == 0)
			trace_follow_pids(follow, NULL, 0, true);
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);

	if (pid)
		KUNIT_EXPECT_EQ(test, trace_follow_pids(follow, &pid, 1, true),
				0);
	WRITE_ONCE(storm.stop, true);
	wait_for_completion(&storm.done);
	KUNIT_EXPECT_EQ(test, storm.wrong, 0);
	KUNIT_EXPECT_GT(test, storm.forks, 0);
	kunit_info(test, "%lu forks\n", storm.forks);

	put_probe(follow);
	put_pid(pid);
	tracepoint_synchronize_unregister();
}

static void follow_clear(void *follow)
{
	trace_follow_clear(follow);
}

static int follow_init(struct kunit *test)
{
	struct trace_follow *follow;

	follow = kunit_kzalloc(test, sizeof(*follow), GFP_KERNEL);
	if (!follow)
		return -ENOMEM;
	trace_follow_init(follow);
	test->priv = follow;
	if (current->trace_follow)
		kunit_skip(test, "somebody else follows this thread");
	if (syscalls_come(current))
		kunit_skip(test, "somebody else traces system calls");

	return kunit_add_action_or_reset(test, follow_clear, follow);
}

static struct kunit_case follow_cases[] = {
	KUNIT_CASE(empty_set_has_all),
	KUNIT_CASE(pid_with_its_children),
	KUNIT_CASE(pid_with_children_it_has),
	KUNIT_CASE(fork_looks_again),
	KUNIT_CASE(strangers_child_is_none),
	KUNIT_CASE(gone_pid_changes_nothing),
	KUNIT_CASE(replaced_choice_is_gone),
	KUNIT_CASE(command_by_name),
	KUNIT_CASE(user_by_uid),
	KUNIT_CASE(bits_run_out),
	KUNIT_CASE(flag_of_the_followed),
	KUNIT_CASE(flag_follows_the_choice),
	KUNIT_CASE(flag_of_all),
	KUNIT_CASE(flag_of_two_sets),
	KUNIT_CASE(one_probe_is_iterated_over),
	KUNIT_CASE_SLOW(flags_in_a_fork_storm),
	{}
};

static struct kunit_suite follow_suite = {
	.name		= "trace_follow",
	.init		= follow_init,
	.test_cases	= follow_cases,
};

kunit_test_suite(follow_suite);

MODULE_DESCRIPTION("KUnit tests for sets of followed tasks");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the tasks that the system call events of an instance make
 * come to sys_enter and sys_exit: those in set_event_pid, or all.
 *
 * The tests look at the flag of tasks, so that they need no system call. They
 * set the list as a write to set_event_pid does, because user memory, which
 * such a write takes, is not there in a kernel thread of UML.
 */

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>
#include <linux/thread_info.h>
#include <trace/events/sched.h>
#include <trace/events/syscalls.h>

#include "../trace.h"
#include "trace_kunit.h"

#define OTHER	"kunit_syscall_other"

struct syscall_env {
	struct trace_kunit	kunit;
	struct trace_array	*other;
	struct task_struct	*stranger;
};

/* A child that looks at its own flag, and waits. */
struct child {
	struct completion	started;
	struct completion	go;
	struct completion	done;
	pid_t			pid;
	bool			flag;
};

static bool comes(struct task_struct *task)
{
	return test_task_syscall_work(task, SYSCALL_TRACEPOINT);
}

static void enable(struct kunit *test, struct trace_array *tr, bool on)
{
	KUNIT_ASSERT_EQ(test, trace_array_set_clr_event(tr, "raw_syscalls",
							NULL, on), 0);
}

static struct trace_pid_list *pids_of(struct trace_array *tr)
{
	return rcu_dereference_protected(tr->filtered_pids,
					 lockdep_is_held(&event_mutex));
}

/* @list takes the place of the list that is in use. */
static void set_list(struct trace_array *tr, struct trace_pid_list *list)
{
	struct trace_pid_list *old;

	guard(mutex)(&event_mutex);

	if (list)
		WARN_ON_ONCE(trace_event_prepare_pids(tr));
	old = rcu_replace_pointer(tr->filtered_pids, list,
				  lockdep_is_held(&event_mutex));
	trace_event_update_syscalls(tr);
	tracepoint_synchronize_unregister();
	trace_pid_list_free(old);
}

/* The list has @nr pids from @pid on. */
static void set_pids(struct kunit *test, struct trace_array *tr, pid_t pid,
		     unsigned int nr)
{
	struct trace_pid_list *list = trace_pid_list_alloc();

	KUNIT_ASSERT_NOT_NULL(test, list);
	while (nr--)
		trace_pid_list_set(list, pid++);
	set_list(tr, list);
}

static void set_task(struct kunit *test, struct trace_array *tr,
		     struct task_struct *task)
{
	set_pids(test, tr, task->pid, 1);
}

static int child_fn(void *data)
{
	struct child *child = data;

	child->pid = current->pid;
	child->flag = comes(current);
	complete(&child->started);
	wait_for_completion(&child->go);
	complete(&child->done);
	do_exit(0);
}

static void fork_task(struct kunit *test, struct child *child,
		      unsigned long flags)
{
	init_completion(&child->started);
	init_completion(&child->go);
	init_completion(&child->done);
	KUNIT_ASSERT_GT(test, kernel_thread(child_fn, child, "child",
					    CLONE_FS | CLONE_FILES | flags), 0);
	wait_for_completion(&child->started);
}

static void fork_child(struct kunit *test, struct child *child)
{
	fork_task(test, child, SIGCHLD);
}

static void end_child(struct child *child)
{
	complete(&child->go);
	wait_for_completion(&child->done);
}

static void all_without_a_list(struct kunit *test)
{
	struct syscall_env *env = test->priv;
	struct trace_array *tr = env->kunit.tr;

	enable(test, tr, true);
	KUNIT_EXPECT_TRUE(test, comes(current));
	KUNIT_EXPECT_TRUE(test, comes(env->stranger));
	enable(test, tr, false);
	KUNIT_EXPECT_FALSE(test, comes(current));
	KUNIT_EXPECT_FALSE(test, comes(env->stranger));
}

static void list_before_the_event(struct kunit *test)
{
	struct syscall_env *env = test->priv;
	struct trace_array *tr = env->kunit.tr;

	set_task(test, tr, current);
	KUNIT_EXPECT_FALSE(test, comes(current));
	enable(test, tr, true);
	KUNIT_EXPECT_TRUE(test, comes(current));
	KUNIT_EXPECT_FALSE(test, comes(env->stranger));
	enable(test, tr, false);
	KUNIT_EXPECT_FALSE(test, comes(current));
	set_list(tr, NULL);
}

static void event_before_the_list(struct kunit *test)
{
	struct syscall_env *env = test->priv;
	struct trace_array *tr = env->kunit.tr;

	enable(test, tr, true);
	set_task(test, tr, current);
	KUNIT_EXPECT_TRUE(test, comes(current));
	KUNIT_EXPECT_FALSE(test, comes(env->stranger));

	set_task(test, tr, env->stranger);
	KUNIT_EXPECT_FALSE(test, comes(current));
	KUNIT_EXPECT_TRUE(test, comes(env->stranger));

	set_list(tr, NULL);
	KUNIT_EXPECT_TRUE(test, comes(current));
	KUNIT_EXPECT_TRUE(test, comes(env->stranger));
	enable(test, tr, false);
}

static void instances_add_up(struct kunit *test)
{
	struct syscall_env *env = test->priv;
	struct trace_array *tr = env->kunit.tr;
	struct child child;

	set_task(test, tr, current);
	enable(test, tr, true);
	enable(test, env->other, true);
	KUNIT_EXPECT_TRUE(test, comes(kthreadd_task));
	fork_child(test, &child);
	KUNIT_EXPECT_TRUE(test, child.flag);
	end_child(&child);

	set_task(test, env->other, env->stranger);
	KUNIT_EXPECT_TRUE(test, comes(current));
	KUNIT_EXPECT_TRUE(test, comes(env->stranger));
	KUNIT_EXPECT_FALSE(test, comes(kthreadd_task));

	enable(test, tr, false);
	KUNIT_EXPECT_FALSE(test, comes(current));
	KUNIT_EXPECT_TRUE(test, comes(env->stranger));

	enable(test, env->other, false);
	KUNIT_EXPECT_FALSE(test, comes(env->stranger));
	set_list(env->other, NULL);
	set_list(tr, NULL);
}

static void enter_probe(void *data, struct pt_regs *regs, long id)
{
}

static void exit_probe(void *data, struct pt_regs *regs, long ret)
{
}

/* As perf, BPF and modules do it: such a probe gets all tasks. */
static void other_probes_get_all(struct kunit *test)
{
	struct syscall_env *env = test->priv;
	struct trace_array *tr = env->kunit.tr;

	set_task(test, tr, current);
	for (int first = 0; first < 2; first++) {
		if (first)
			enable(test, tr, true);
		KUNIT_ASSERT_EQ(test, register_trace_sys_enter(enter_probe,
							       env), 0);
		KUNIT_ASSERT_EQ(test, register_trace_sys_exit(exit_probe, env),
				0);
		if (!first)
			enable(test, tr, true);
		KUNIT_EXPECT_TRUE(test, comes(env->stranger));

		unregister_trace_sys_enter(enter_probe, env);
		KUNIT_EXPECT_TRUE(test, comes(env->stranger));
		unregister_trace_sys_exit(exit_probe, env);
		KUNIT_EXPECT_FALSE(test, comes(env->stranger));
		KUNIT_EXPECT_TRUE(test, comes(current));
		enable(test, tr, false);
		KUNIT_EXPECT_FALSE(test, comes(current));
	}

	/* The events go first. */
	enable(test, tr, true);
	KUNIT_ASSERT_EQ(test, register_trace_sys_exit(exit_probe, env), 0);
	enable(test, tr, false);
	KUNIT_EXPECT_TRUE(test, comes(env->stranger));
	unregister_trace_sys_exit(exit_probe, env);
	KUNIT_EXPECT_FALSE(test, comes(env->stranger));
	KUNIT_EXPECT_FALSE(test, comes(current));
	tracepoint_synchronize_unregister();
	set_list(tr, NULL);
}

static void follow_fork(struct kunit *test, struct trace_array *tr, bool on)
{
	guard(mutex)(&event_mutex);

	KUNIT_EXPECT_EQ(test,
			set_tracer_flag(tr, TRACE_ITER(EVENT_FORK), on), 0);
}

static bool in_list(struct trace_array *tr, pid_t pid)
{
	guard(mutex)(&event_mutex);

	return trace_pid_list_is_set(pids_of(tr), pid);
}

static void children(struct kunit *test)
{
	struct syscall_env *env = test->priv;
	struct trace_array *tr = env->kunit.tr;
	struct child child;

	set_task(test, tr, current);
	enable(test, tr, true);
	fork_child(test, &child);
	KUNIT_EXPECT_FALSE(test, child.flag);
	end_child(&child);

	follow_fork(test, tr, true);
	fork_child(test, &child);
	KUNIT_EXPECT_TRUE(test, child.flag);
	KUNIT_EXPECT_TRUE(test, in_list(tr, child.pid));
	end_child(&child);

	/* The child of a task that is not in the list */
	set_task(test, tr, env->stranger);
	fork_child(test, &child);
	KUNIT_EXPECT_FALSE(test, child.flag);
	end_child(&child);

	follow_fork(test, tr, false);
	enable(test, tr, false);
	set_list(tr, NULL);
}

/* Only a fork adds to the list, whether event-fork or the pid comes first. */
static void children_already_there(struct kunit *test)
{
	struct syscall_env *env = test->priv;
	struct trace_array *tr = env->kunit.tr;
	struct child child, thread;
	struct task_struct *task;

	fork_child(test, &child);
	fork_task(test, &thread, CLONE_THREAD | CLONE_SIGHAND);
	task = find_get_task_by_vpid(child.pid);
	KUNIT_ASSERT_NOT_NULL(test, task);
	enable(test, tr, true);
	for (int first = 0; first < 2; first++) {
		if (first)
			follow_fork(test, tr, true);
		set_task(test, tr, current);
		if (!first)
			follow_fork(test, tr, true);
		KUNIT_EXPECT_TRUE(test, in_list(tr, current->pid));
		KUNIT_EXPECT_FALSE(test, in_list(tr, child.pid));
		KUNIT_EXPECT_FALSE(test, in_list(tr, thread.pid));
		KUNIT_EXPECT_FALSE(test, comes(task));
		follow_fork(test, tr, false);
	}

	end_child(&thread);
	end_child(&child);
	put_task_struct(task);
	enable(test, tr, false);
	set_list(tr, NULL);
}

/* A pid may be in the list before there is a task. */
static void pid_to_come(struct kunit *test)
{
	struct syscall_env *env = test->priv;
	struct trace_array *tr = env->kunit.tr;
	struct child child;

	fork_child(test, &child);
	end_child(&child);
	set_pids(test, tr, child.pid + 1, 4096);
	enable(test, tr, true);
	KUNIT_EXPECT_FALSE(test, comes(current));
	fork_child(test, &child);
	KUNIT_EXPECT_TRUE(test, child.flag);
	end_child(&child);
	enable(test, tr, false);
	set_list(tr, NULL);
}

/*
 * A thread that execs gets the pid of its group. Here its pid gets into the
 * list behind the back of all others.
 */
static void exec_changes_the_pid(struct kunit *test)
{
	struct syscall_env *env = test->priv;
	struct trace_array *tr = env->kunit.tr;
	struct linux_binprm *bprm;

	/* Others may trace execs, and look at the name. */
	bprm = kunit_kzalloc(test, sizeof(*bprm), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bprm);
	bprm->filename = "kunit";

	set_task(test, tr, env->stranger);
	enable(test, tr, true);
	scoped_guard(mutex, &event_mutex)
		trace_pid_list_set(pids_of(tr), current->pid);

	trace_sched_process_exec(current, current->pid, bprm);
	KUNIT_EXPECT_FALSE(test, comes(current));
	trace_sched_process_exec(current, current->pid + 1, bprm);
	KUNIT_EXPECT_TRUE(test, comes(current));

	scoped_guard(mutex, &event_mutex)
		trace_pid_list_clear(pids_of(tr), current->pid);
	trace_sched_process_exec(current, current->pid + 1, bprm);
	KUNIT_EXPECT_FALSE(test, comes(current));
	enable(test, tr, false);
	set_list(tr, NULL);
}

static int prepare(struct trace_array *tr)
{
	guard(mutex)(&event_mutex);

	return trace_event_prepare_pids(tr);
}

/* A list that is refused for want of memory leaves no probe behind. */
static void list_without_memory(struct kunit *test)
{
	struct syscall_env *env = test->priv;
	struct trace_array *tr = env->kunit.tr;
	unsigned int left;
	int ret;

	if (trace_sched_process_exec_enabled())
		kunit_skip(test, "sched_process_exec is in use");

	trace_kunit_failslab(test);
	enable(test, tr, true);
	for (unsigned int nth = 1; nth < 100; nth++) {
		trace_kunit_fail(nth);
		ret = prepare(tr);
		left = trace_kunit_fail_stop();
		/* kmemleak can do without its memory. */
		if (left || !IS_ENABLED(CONFIG_DEBUG_KMEMLEAK) || ret)
			KUNIT_EXPECT_EQ(test, ret, left ? 0 : -ENOMEM);
		KUNIT_EXPECT_EQ(test, trace_sched_process_exec_enabled(), !ret);
		KUNIT_EXPECT_TRUE(test, comes(env->stranger));

		set_task(test, tr, current);
		KUNIT_EXPECT_TRUE(test, comes(current));
		KUNIT_EXPECT_FALSE(test, comes(env->stranger));
		set_list(tr, NULL);
		KUNIT_EXPECT_FALSE(test, trace_sched_process_exec_enabled());
		if (left) {
			KUNIT_EXPECT_GT(test, nth, 1);
			enable(test, tr, false);
			return;
		}
	}
	KUNIT_FAIL(test, "allocations do not end");
}

/* A task is freed, and another one has its pid already. */
static void pid_used_again(struct kunit *test)
{
	struct syscall_env *env = test->priv;
	struct trace_array *tr = env->kunit.tr;
	struct task_struct *gone;

	gone = kunit_kzalloc(test, sizeof(*gone), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, gone);
	gone->pid = env->stranger->pid;

	set_task(test, tr, env->stranger);
	enable(test, tr, true);
	follow_fork(test, tr, true);
	KUNIT_EXPECT_TRUE(test, comes(env->stranger));
	trace_sched_process_free(gone);
	KUNIT_EXPECT_FALSE(test, in_list(tr, env->stranger->pid));
	KUNIT_EXPECT_FALSE(test, comes(env->stranger));

	follow_fork(test, tr, false);
	enable(test, tr, false);
	set_list(tr, NULL);
}

/* Triggers without a condition fire for all tasks. */
static void trigger_gets_all(struct kunit *test)
{
	static const char * const events[] = { "raw_syscalls", "sched" };
	static const char * const names[] = { "sys_exit", "sched_process_exit" };
	struct syscall_env *env = test->priv;
	struct trace_array *tr = env->kunit.tr;
	struct trace_event_file *file;

	set_task(test, tr, current);
	enable(test, tr, true);
	for (int i = 0; i < ARRAY_SIZE(events); i++) {
		scoped_guard(mutex, &event_mutex) {
			file = find_event_file(tr, events[i], names[i]);
			KUNIT_EXPECT_NOT_NULL(test, file);
			if (!file)
				continue;
			KUNIT_EXPECT_EQ(test,
					trace_event_trigger_enable_disable(file, 1),
					0);
			KUNIT_EXPECT_EQ(test, comes(env->stranger), !i);
			KUNIT_EXPECT_TRUE(test, comes(current));
			KUNIT_EXPECT_EQ(test,
					trace_event_trigger_enable_disable(file, 0),
					0);
		}
		KUNIT_EXPECT_FALSE(test, comes(env->stranger));
		KUNIT_EXPECT_TRUE(test, comes(current));
	}
	enable(test, tr, false);
	set_list(tr, NULL);
}

/* All that changes flags, while the test forks. */
static int change_flags(void *data)
{
	struct syscall_env *env = data;

	while (!kthread_should_stop()) {
		trace_array_set_clr_event(env->other, "raw_syscalls", NULL,
					  true);
		if (!register_trace_sys_exit(exit_probe, env))
			unregister_trace_sys_exit(exit_probe, env);
		trace_array_set_clr_event(env->other, "raw_syscalls", NULL,
					  false);
		cond_resched();
	}
	tracepoint_synchronize_unregister();

	return 0;
}

static void no_child_is_lost(struct kunit *test)
{
	struct syscall_env *env = test->priv;
	struct trace_array *tr = env->kunit.tr;
	struct task_struct *thread;
	unsigned int lost = 0;
	struct child child;

	set_task(test, tr, current);
	follow_fork(test, tr, true);
	enable(test, tr, true);
	thread = trace_kunit_thread(test, change_flags, env, -1);
	wake_up_process(thread);
	for (int i = 0; i < 300; i++) {
		fork_child(test, &child);
		lost += !child.flag || !in_list(tr, child.pid);
		end_child(&child);
	}
	trace_kunit_stop(test, thread);
	KUNIT_EXPECT_EQ(test, lost, 0);
	KUNIT_EXPECT_TRUE(test, comes(current));
	KUNIT_EXPECT_FALSE(test, comes(env->stranger));

	enable(test, tr, false);
	follow_fork(test, tr, false);
	set_list(tr, NULL);
	KUNIT_EXPECT_FALSE(test, comes(current));
}

static int stranger_fn(void *data)
{
	while (!kthread_should_stop()) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (!kthread_should_stop())
			schedule();
		__set_current_state(TASK_RUNNING);
	}

	return 0;
}

static void remove_other(void *data)
{
	struct kunit *test = data;
	struct syscall_env *env = test->priv;

	trace_array_put(env->other);
	KUNIT_EXPECT_EQ(test, trace_kunit_rmdir(test, OTHER), 0);
}

static int syscall_kunit_init(struct kunit *test)
{
	struct syscall_env *env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, env);
	trace_kunit_init(test, &env->kunit, "kunit_syscall");
	env->other = trace_array_get_by_name(OTHER, NULL);
	KUNIT_ASSERT_NOT_NULL(test, env->other);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, remove_other,
							test), 0);
	env->stranger = trace_kunit_thread(test, stranger_fn, NULL, -1);
	if (comes(current))
		kunit_skip(test, "somebody else traces system calls");

	return 0;
}

static struct kunit_case syscall_cases[] = {
	KUNIT_CASE(all_without_a_list),
	KUNIT_CASE(list_before_the_event),
	KUNIT_CASE(event_before_the_list),
	KUNIT_CASE(instances_add_up),
	KUNIT_CASE(other_probes_get_all),
	KUNIT_CASE(children),
	KUNIT_CASE(children_already_there),
	KUNIT_CASE(pid_to_come),
	KUNIT_CASE(exec_changes_the_pid),
	KUNIT_CASE(list_without_memory),
	KUNIT_CASE(pid_used_again),
	KUNIT_CASE(trigger_gets_all),
	KUNIT_CASE_SLOW(no_child_is_lost),
	{}
};

static struct kunit_suite syscall_suite = {
	.name		= "trace_follow_syscalls",
	.init		= syscall_kunit_init,
	.test_cases	= syscall_cases,
};

kunit_test_suite(syscall_suite);

MODULE_DESCRIPTION("KUnit tests for the tasks of system call events");
MODULE_LICENSE("GPL");

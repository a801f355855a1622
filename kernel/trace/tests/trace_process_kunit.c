// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the tracer "process": that it records what the followed
 * tasks do, all of it and nothing else, and how that is printed. The thread
 * that runs a test is the task that is followed. Its system calls are made up
 * by calling the tracepoints.
 */

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>
#include <linux/seq_buf.h>
#include <linux/signal.h>
#include <linux/trace.h>

#include <trace/events/signal.h>

#ifdef CONFIG_FTRACE_SYSCALLS
#include <asm/unistd.h>
#include <trace/events/syscalls.h>
#endif

#include "../trace.h"

#define INSTANCE	"trace_process_kunit"
#define OTHER		"trace_process_kunit_other"
#define NEW_NAME	"kunit-process"
#define TEXT_SIZE	65536
#define OPENAT		": openat(dfd=0, filename=NULL, flags=0x0, mode=0000)\n"

static void choose_me(struct kunit *test, struct trace_array *tr)
{
	struct pid *pid = task_pid(current);

	KUNIT_ASSERT_EQ(test, trace_follow_pids(&tr->follow, &pid, 1, true),
			0);
}

static void choose_other(struct kunit *test, struct trace_array *tr)
{
	struct pid *pid = find_get_pid(1);

	KUNIT_ASSERT_EQ(test, trace_follow_pids(&tr->follow, &pid, 1, true),
			0);
	put_pid(pid);
}

static u64 start_of_child;

static int child_fn(void *done)
{
	start_of_child = current->trace_syscall_start;
	complete(done);
	do_exit(3 << 8);
}

static void instance_destroy(void *tr)
{
	trace_array_set_tracer(tr, "nop");
	trace_array_put(tr);
	trace_array_destroy(tr);
}

/* The child may still be on its way out when this returns. */
static pid_t fork_child(struct kunit *test)
{
	DECLARE_COMPLETION_ONSTACK(done);
	pid_t nr;

	nr = kernel_thread(child_fn, &done, "process-child",
			   CLONE_FS | CLONE_FILES | SIGCHLD);
	KUNIT_ASSERT_GT(test, nr, 0);
	wait_for_completion(&done);

	return nr;
}

static char *text_of(struct kunit *test, struct trace_array *tr)
{
	char *text = kunit_kzalloc(test, TEXT_SIZE, GFP_KERNEL);
	struct seq_buf s;

	KUNIT_ASSERT_NOT_NULL(test, text);
	seq_buf_init(&s, text, TEXT_SIZE - 1);
	KUNIT_ASSERT_EQ(test, trace_array_read(tr, 0, &s), 0);

	return text;
}

static bool has(struct kunit *test, struct trace_array *tr, const char *what)
{
	return strstr(text_of(test, tr), what);
}

static void forks_and_exits(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	char what[64];
	pid_t nr;

	choose_me(test, tr);
	KUNIT_ASSERT_EQ(test, trace_array_set_tracer(tr, "process"), 0);
	nr = fork_child(test);
	while (!has(test, tr, ": +++ exited with 3 +++"))
		schedule_timeout_uninterruptible(1);

	snprintf(what, sizeof(what), ": fork child=%d ", nr);
	KUNIT_EXPECT_TRUE(test, has(test, tr, what));
	snprintf(what, sizeof(what), "-%d ", nr);
	KUNIT_EXPECT_TRUE(test, has(test, tr, what));
	KUNIT_EXPECT_TRUE(test, has(test, tr, "# process trace, version 1\n"));
}

static void strangers_are_not_recorded(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	char what[64];
	pid_t nr;

	choose_other(test, tr);
	KUNIT_ASSERT_EQ(test, trace_array_set_tracer(tr, "process"), 0);
	nr = fork_child(test);
	snprintf(what, sizeof(what), "child=%d ", nr);
	KUNIT_EXPECT_FALSE(test, has(test, tr, what));

	/* Nor is anybody after the tracer has been left. */
	choose_me(test, tr);
	KUNIT_ASSERT_EQ(test, trace_array_set_tracer(tr, "nop"), 0);
	nr = fork_child(test);
	snprintf(what, sizeof(what), "child=%d ", nr);
	KUNIT_EXPECT_FALSE(test, has(test, tr, what));
}

static void deliver(int sig, int code)
{
	struct k_sigaction ka = {};
	struct kernel_siginfo info;

	clear_siginfo(&info);
	info.si_signo = sig;
	info.si_code = code;
	/* In the same place as the id of a timer, and as the band of a file. */
	info.si_pid = 4711;
	trace_signal_deliver(sig, &info, &ka);
}

static void senders_of_signals(struct kunit *test)
{
	struct trace_array *tr = test->priv;

	choose_me(test, tr);
	KUNIT_ASSERT_EQ(test, trace_array_set_tracer(tr, "process"), 0);

	deliver(SIGTERM, SI_USER);
	deliver(SIGUSR1, SI_QUEUE);
	deliver(SIGCHLD, CLD_EXITED);
	KUNIT_EXPECT_TRUE(test, has(test, tr, "--- SIGTERM code=SI_USER sender=4711 "));
	KUNIT_EXPECT_TRUE(test, has(test, tr, "--- SIGUSR1 code=SI_QUEUE sender=4711 "));
	KUNIT_EXPECT_TRUE(test, has(test, tr, "--- SIGCHLD code=CLD_EXITED sender=4711 "));

	deliver(SIGALRM, SI_TIMER);
	deliver(SIGIO, POLL_IN);
	KUNIT_EXPECT_FALSE(test, has(test, tr, "SI_TIMER sender="));
	KUNIT_EXPECT_TRUE(test, has(test, tr, "--- SIGALRM code=SI_TIMER "));
	KUNIT_EXPECT_TRUE(test, has(test, tr, "--- SIGIO "));
	KUNIT_EXPECT_FALSE(test, has(test, tr, "--- SIGIO code=POLL_IN sender="));
}

#ifdef CONFIG_FTRACE_SYSCALLS

/* A string that is not in user space can't be read, which is no harm. */
static void syscalls_with_names(struct kunit *test)
{
	struct trace_array *tr = test->priv;
	struct pt_regs *regs;

	regs = kunit_kzalloc(test, sizeof(*regs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, regs);

	choose_me(test, tr);
	KUNIT_ASSERT_EQ(test, trace_array_set_tracer(tr, "process"), 0);
	trace_sys_enter(regs, __NR_openat);
	trace_sys_exit(regs, -ENOENT);
	trace_sys_enter(regs, __NR_openat);
	trace_sys_exit(regs, 17);
	KUNIT_EXPECT_TRUE(test, has(test, tr, OPENAT));
	KUNIT_EXPECT_TRUE(test, has(test, tr, "() = -1 ENOENT <"));
	KUNIT_EXPECT_TRUE(test, has(test, tr, "() = 17 <"));

	/* What seccomp refuses has not entered, and no time. */
	trace_sys_exit(regs, 20);
	KUNIT_EXPECT_TRUE(test, has(test, tr, "() = 20\n"));

	/* One that no kernel has. */
	trace_sys_enter(regs, NR_syscalls + 100);
	KUNIT_EXPECT_TRUE(test, has(test, tr, ": syscall_"));

	/* What entered before it was followed has no time. */
	KUNIT_ASSERT_EQ(test, trace_array_set_tracer(tr, "nop"), 0);
	KUNIT_ASSERT_EQ(test, trace_array_set_tracer(tr, "process"), 0);
	trace_sys_exit(regs, 18);
	KUNIT_EXPECT_TRUE(test, has(test, tr, "() = 18\n"));

	/* Off */
	choose_other(test, tr);
	trace_sys_exit(regs, 19);
	KUNIT_EXPECT_FALSE(test, has(test, tr, "() = 19"));
}

/*
 * The time of a system call is in the task, for all instances. What is left of
 * one that the task left without being followed is not that of another.
 */
static void times_of_others(struct kunit *test)
{
	char comms[1][TASK_COMM_LEN] = { NEW_NAME };
	struct trace_array *other, *tr = test->priv;
	char was[TASK_COMM_LEN];
	struct pt_regs *regs;

	regs = kunit_kzalloc(test, sizeof(*regs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, regs);
	other = trace_array_create(OTHER);
	KUNIT_ASSERT_FALSE(test, IS_ERR(other));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, instance_destroy,
							other), 0);

	KUNIT_ASSERT_EQ(test, trace_follow_comms(&other->follow, comms, 1,
						 true), 0);
	KUNIT_ASSERT_EQ(test, trace_array_set_tracer(other, "process"), 0);
	choose_me(test, tr);
	KUNIT_ASSERT_EQ(test, trace_array_set_tracer(tr, "process"), 0);

	trace_sys_enter(regs, __NR_openat);
	KUNIT_EXPECT_NE(test, current->trace_syscall_start, 0);
	fork_child(test);
	KUNIT_EXPECT_EQ(test, start_of_child, 0);

	/* The exit is seen by nobody, and then there is another one. */
	KUNIT_ASSERT_EQ(test, trace_array_set_tracer(tr, "nop"), 0);
	strscpy(was, current->comm);
	set_task_comm(current, comms[0]);
	trace_sys_exit(regs, 21);
	set_task_comm(current, was);
	KUNIT_EXPECT_TRUE(test, has(test, other, "() = 21\n"));
}

#endif

static int process_init(struct kunit *test)
{
	struct trace_array *tr = trace_array_create(INSTANCE);

	if (IS_ERR(tr))
		return PTR_ERR(tr);
	test->priv = tr;

	return kunit_add_action_or_reset(test, instance_destroy, tr);
}

static struct kunit_case process_cases[] = {
	KUNIT_CASE(forks_and_exits),
	KUNIT_CASE(strangers_are_not_recorded),
	KUNIT_CASE(senders_of_signals),
#ifdef CONFIG_FTRACE_SYSCALLS
	KUNIT_CASE(syscalls_with_names),
	KUNIT_CASE(times_of_others),
#endif
	{}
};

static struct kunit_suite process_suite = {
	.name		= "trace_process",
	.init		= process_init,
	.test_cases	= process_cases,
};

kunit_test_suite(process_suite);

MODULE_DESCRIPTION("KUnit tests for the tracer process");
MODULE_LICENSE("GPL");

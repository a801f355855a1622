// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the tracer "process": that it records what the followed
 * tasks do, all of it and nothing else, and how that is printed. The thread
 * that runs a test is the task that is followed. Its system calls are made up
 * by calling the tracepoints.
 */

#include <kunit/test.h>
#include <linux/binfmts.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/sched/task.h>
#include <linux/signal.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include <asm/syscall.h>
#include <asm/unistd.h>

#include <trace/events/sched.h>
#include <trace/events/signal.h>
#include <trace/events/syscalls.h>
#include <trace/events/task.h>

#include "../trace_output.h"
#include "../trace_process.h"
#include "trace_kunit.h"

#define INSTANCE	"trace_process_kunit"
#define STRING		"kunit string"
#define NO_ADDRESS	8
#define TEXT_SIZE	SZ_64K
#define NO_ENTRY	(IS_ENABLED(CONFIG_SYMBOLIC_ERRNAME) ? \
			 "openat() = -1 ENOENT <" : "openat() = -2 <")
#define OPENAT		": openat(dfd=0, filename=NULL, flags=0x0, mode=0000)\n"

struct process_kunit {
	struct trace_kunit	env;
	char			text[TEXT_SIZE];
};

static void choose_me(struct kunit *test, struct trace_array *tr)
{
	struct pid *pid = task_pid(current);

	KUNIT_ASSERT_EQ(test, trace_follow_pids(&tr->follow, &pid, 1, true),
			0);
}

static void choose_other(struct kunit *test, struct trace_array *tr)
{
	struct pid *pid = find_get_pid(1);
	int ret;

	ret = trace_follow_pids(&tr->follow, &pid, 1, true);
	put_pid(pid);
	KUNIT_ASSERT_EQ(test, ret, 0);
}

static void set_tracer(struct kunit *test, struct trace_array *tr,
		       const char *tracer)
{
	KUNIT_ASSERT_EQ(test, tracing_set_tracer(tr, tracer), 0);
}

static int child_fn(void *data)
{
	do_exit(3 << 8);
}

/* The child has exited when this returns. Nobody has to reap it. */
static pid_t fork_child(struct kunit *test)
{
	pid_t nr;

	nr = kernel_thread(child_fn, NULL, "process-child",
			   CLONE_FS | CLONE_FILES | SIGCHLD);
	KUNIT_ASSERT_GT(test, nr, 0);
	kernel_wait4(nr, NULL, 0, NULL);

	return nr;
}

static bool file_has(struct kunit *test, struct trace_array *tr,
		     const char *name, const char *what)
{
	struct process_kunit *process = test->priv;
	size_t keep = strlen(what), len = 0;
	bool found = false;
	struct file *file;
	ssize_t ret;

	file = trace_kunit_open(test, tr->name, name, O_RDONLY);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	process->text[0] = '\0';
	while ((ret = trace_kunit_read(test, file)) > 0) {
		/* The records of other tasks may be more than fits. */
		if (len + ret >= sizeof(process->text)) {
			found = found || strstr(process->text, what);
			memmove(process->text, process->text + len - keep, keep);
			len = keep;
		}
		memcpy(process->text + len, process->env.text, ret);
		len += ret;
		process->text[len] = '\0';
	}
	__fput_sync(file);
	KUNIT_ASSERT_EQ(test, ret, 0);

	return found || strstr(process->text, what);
}

static bool has(struct kunit *test, struct trace_array *tr, const char *what)
{
	return file_has(test, tr, "trace", what);
}

static void forks_and_exits(struct kunit *test)
{
	struct process_kunit *process = test->priv;
	struct trace_array *tr = process->env.tr;
	char what[64];
	pid_t nr;

	choose_me(test, tr);
	set_tracer(test, tr, "process");
	nr = fork_child(test);

	snprintf(what, sizeof(what), ": fork child=%d ", nr);
	KUNIT_EXPECT_TRUE(test, has(test, tr, what));
	snprintf(what, sizeof(what), "-%d ", nr);
	KUNIT_EXPECT_TRUE(test, has(test, tr, what));
	KUNIT_EXPECT_TRUE(test, has(test, tr, ": +++ exited with 3 +++"));
	KUNIT_EXPECT_TRUE(test, has(test, tr, "# process trace, version 1\n"));

	/* The first and the last flag that has a name, one that has none */
	trace_task_newtask(current, CLONE_VM | CLONE_INTO_CGROUP | BIT_ULL(63));
	KUNIT_EXPECT_TRUE(test, has(test, tr,
				    " flags=CLONE_VM|CLONE_INTO_CGROUP|0x8000000000000000\n"));
	trace_task_newtask(current, 0);
	KUNIT_EXPECT_TRUE(test, has(test, tr, " flags=0\n"));
}

static void strangers_are_not_recorded(struct kunit *test)
{
	struct process_kunit *process = test->priv;
	struct trace_array *tr = process->env.tr;
	char what[64];
	pid_t nr;

	choose_other(test, tr);
	set_tracer(test, tr, "process");
	nr = fork_child(test);
	snprintf(what, sizeof(what), "child=%d ", nr);
	KUNIT_EXPECT_FALSE(test, has(test, tr, what));

	/* Nobody is recorded after another tracer was set. */
	choose_me(test, tr);
	set_tracer(test, tr, "nop");
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
	struct process_kunit *process = test->priv;
	struct trace_array *tr = process->env.tr;

	choose_me(test, tr);
	set_tracer(test, tr, "process");

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

/*
 * Names of files and programs must not look like records, or like the end of
 * a name. UTF-8 is printed as it is, and in octal what only looks like it.
 */
static const struct {
	const char	*name;
	const char	*text;
} hostile[] = {
	{ "plain name",			"plain name" },
	{ "",				"" },
	{ "a\"b",			"a\\\"b" },
	{ "a\\",			"a\\\\" },
	{ "a\n      init-1 : exit",	"a\\n      init-1 : exit" },
	{ "\r\033[2J\177",		"\\r\\e[2J\\177" },
	{ "\303\244\342\202\254\360\237\220\247", "\303\244\342\202\254\360\237\220\247" },
	/* A lone byte, and sequences that are cut short */
	{ "\202 \303",			"\\202 \\303" },
	{ "\303\"\342\202",		"\\303\\\"\\342\\202" },
	{ "\360\237\220",		"\\360\\237\\220" },
	/* Longer than need be, a surrogate, and beyond the last character */
	{ "\300\257",			"\\300\\257" },
	{ "\340\200\257",		"\\340\\200\\257" },
	{ "\355\240\200",		"\\355\\240\\200" },
	{ "\364\220\200\200",		"\\364\\220\\200\\200" },
	/* A control sequence, the order of letters, and the end of a line */
	{ "\302\2332J",			"\\302\\2332J" },
	{ "\342\200\256gpj.exe",	"\\342\\200\\256gpj.exe" },
	{ "\342\200\250",		"\\342\\200\\250" },
	/* The first character behind the controls */
	{ "\302\240",			"\302\240" },
	{ "%s%n",			"%s%n" },
	/* A long one, with escapes in it */
	{ "0123456789012345678901234567890\"\n01234567890123456789012345678",
	  "0123456789012345678901234567890\\\"\\n01234567890123456789012345678" },
};

static void hostile_names_of_files(struct kunit *test)
{
	struct process_kunit *process = test->priv;
	struct trace_array *tr = process->env.tr;
	struct linux_binprm *bprm;
	char what[256];

	bprm = kunit_kzalloc(test, sizeof(*bprm), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bprm);
	choose_me(test, tr);
	set_tracer(test, tr, "process");

	for (int i = 0; i < ARRAY_SIZE(hostile); i++) {
		bprm->filename = hostile[i].name;
		trace_sched_process_exec(current, current->pid, bprm);
		snprintf(what, sizeof(what), ": exec \"%s\"\n",
			 hostile[i].text);
		KUNIT_EXPECT_TRUE_MSG(test, has(test, tr, what), "%s", what);
	}
}

/* A name that is cut says so. */
static void long_names_of_files(struct kunit *test)
{
	struct process_kunit *process = test->priv;
	struct trace_array *tr = process->env.tr;
	struct linux_binprm *bprm;
	char name[300], what[320];

	bprm = kunit_kzalloc(test, sizeof(*bprm), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bprm);
	choose_me(test, tr);
	set_tracer(test, tr, "process");
	memset(name, 'x', sizeof(name));
	bprm->filename = name;

	name[255] = '\0';
	trace_sched_process_exec(current, current->pid, bprm);
	snprintf(what, sizeof(what), ": exec \"%s\"\n", name);
	KUNIT_EXPECT_TRUE(test, has(test, tr, what));
	KUNIT_EXPECT_FALSE(test, has(test, tr, "\"..."));

	name[255] = 'x';
	name[256] = '\0';
	trace_sched_process_exec(current, current->pid, bprm);
	snprintf(what, sizeof(what), ": exec \"%.255s\"...\n", name);
	KUNIT_EXPECT_TRUE(test, has(test, tr, what));
}

/* The tracepoints are told these, and no record must have them. */
#define OTHER_CALL		__NR_getuid
#define OTHER_RESULT		-EDOM

static struct pt_regs *new_regs(struct kunit *test, int nr)
{
	struct pt_regs *regs = kunit_kzalloc(test, sizeof(*regs), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, regs);
	syscall_set_nr(current, regs, nr);
#ifdef CONFIG_S390
	/* Without this flag, syscall_get_nr() returns -1. */
	set_pt_regs_flag(regs, PIF_SYSCALL);
#endif

	return regs;
}

/* Clocks may be coarse: this one begins later than all that was done before. */
static void enter(struct pt_regs *regs)
{
	u64 now = ktime_get_ns();

	while (ktime_get_ns() == now)
		cpu_relax();
	trace_sys_enter(regs, OTHER_CALL);
}

/* The arguments of the tracepoints are not the same everywhere. */
static void leave(struct pt_regs *regs, int ret)
{
	int error = min(ret, 0);

	/* The sign has become a flag before the tracepoint is called. */
	if (IS_ENABLED(CONFIG_PPC))
		error = -error;
	syscall_set_return_value(current, regs, error, ret);
	trace_sys_exit(regs, OTHER_RESULT);
}

static void syscalls_with_names(struct kunit *test)
{
	struct process_kunit *process = test->priv;
	struct trace_array *tr = process->env.tr;
	struct pt_regs *regs = new_regs(test, __NR_openat);
	char what[32];

	choose_me(test, tr);
	set_tracer(test, tr, "process");
	enter(regs);
	leave(regs, -ENOENT);
	enter(regs);
	leave(regs, 17);
	KUNIT_EXPECT_TRUE(test, has(test, tr, OPENAT));
	KUNIT_EXPECT_TRUE(test, has(test, tr, NO_ENTRY));
	KUNIT_EXPECT_TRUE(test, has(test, tr, "() = 17 <"));

	/* A call that seccomp refuses has not entered, and has no time. */
	leave(regs, 20);
	KUNIT_EXPECT_TRUE(test, has(test, tr, "() = 20\n"));

	/* One that no kernel has. */
	syscall_set_nr(current, regs, NR_syscalls + 100);
	trace_sys_enter(regs, OTHER_CALL);
	snprintf(what, sizeof(what), ": syscall_%d(", NR_syscalls + 100);
	KUNIT_EXPECT_TRUE(test, has(test, tr, what));

	/* Off */
	choose_other(test, tr);
	leave(regs, 19);
	KUNIT_EXPECT_FALSE(test, has(test, tr, "() = 19"));
}

static bool has_result(struct kunit *test, struct trace_array *tr,
		       const char *name, int ret, bool with_time)
{
	char what[32];

	snprintf(what, sizeof(what), "() = %d%s", ret, with_time ? " <" : "\n");

	return file_has(test, tr, name, what);
}

/* The call takes no longer than all of this, and as long as it waits. */
static void time_of_a_call(struct kunit *test)
{
	struct process_kunit *process = test->priv;
	struct trace_array *tr = process->env.tr;
	struct pt_regs *regs = new_regs(test, __NR_openat);
	u64 start, entered, least, most, us;
	unsigned int ns;
	int parsed;
	char *time;

	choose_me(test, tr);
	set_tracer(test, tr, "process");
	start = ktime_get_ns();
	enter(regs);
	entered = ktime_get_ns();
	while (ktime_get_ns() < entered + 10 * NSEC_PER_USEC)
		cpu_relax();
	least = ktime_get_ns() - entered;
	leave(regs, 100);
	most = ktime_get_ns() - start;

	KUNIT_ASSERT_TRUE(test, has(test, tr, "() = 100 <"));
	time = strstr(process->text, "() = 100 <");
	parsed = sscanf(time, "() = 100 <%llu.%3u us>\n", &us, &ns);
	KUNIT_ASSERT_EQ(test, parsed, 2);
	KUNIT_EXPECT_GE(test, us * NSEC_PER_USEC + ns, least);
	KUNIT_EXPECT_LE(test, us * NSEC_PER_USEC + ns, most);
}

/* The record of the exit is enough, wherever it is, and wherever others are. */
static void time_in_each_file(struct kunit *test)
{
	struct process_kunit *process = test->priv;
	struct trace_array *tr = process->env.tr;
	struct pt_regs *regs = new_regs(test, __NR_openat);
	char name[32];
	int cpu[2];

	trace_kunit_two_cpus(test, cpu);
	choose_me(test, tr);
	set_tracer(test, tr, "process");
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current,
						   cpumask_of(cpu[0])), 0);
	enter(regs);
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current,
						   cpumask_of(cpu[1])), 0);
	leave(regs, 100);

	snprintf(name, sizeof(name), "per_cpu/cpu%d/trace", cpu[1]);
	KUNIT_EXPECT_TRUE(test, has_result(test, tr, "trace", 100, true));
	KUNIT_EXPECT_TRUE(test, has_result(test, tr, name, 100, true));

	while (ring_buffer_consume(tr->array_buffer.buffer, cpu[0], NULL, NULL))
		;
	KUNIT_EXPECT_FALSE(test, has(test, tr, "openat(dfd="));
	KUNIT_EXPECT_TRUE(test, has_result(test, tr, "trace", 100, true));

	if (!IS_ENABLED(CONFIG_TRACER_SNAPSHOT))
		return;
	KUNIT_ASSERT_EQ(test, trace_kunit_write(test, "snapshot", "1"), 0);
	KUNIT_EXPECT_FALSE(test, has(test, tr, "() = 100"));
	KUNIT_EXPECT_TRUE(test, has_result(test, tr, "snapshot", 100, true));
}

/* The probes run while nothing can be recorded. */
static void time_with_tracing_off(struct kunit *test)
{
	struct process_kunit *process = test->priv;
	struct trace_array *tr = process->env.tr;
	struct pt_regs *regs = new_regs(test, __NR_openat);

	choose_me(test, tr);
	set_tracer(test, tr, "process");
	tracer_tracing_off(tr);
	enter(regs);
	tracer_tracing_on(tr);
	leave(regs, 100);
	KUNIT_EXPECT_TRUE(test, has_result(test, tr, "trace", 100, true));

	enter(regs);
	tracer_tracing_off(tr);
	leave(regs, 200);
	tracer_tracing_on(tr);
	/* Refused by seccomp */
	leave(regs, 300);
	KUNIT_EXPECT_FALSE(test, has(test, tr, "() = 200"));
	KUNIT_EXPECT_TRUE(test, has_result(test, tr, "trace", 300, false));
}

static void set_syscalls(struct kunit *test, struct trace_array *tr, bool set)
{
	guard(mutex)(&trace_types_lock);

	KUNIT_EXPECT_EQ(test,
			tr->current_trace->set_flag(tr, 0, PROCESS_OPT_SYSCALLS,
						    set), 0);
}

/* Ways to leave what an instance records, and to come back */
static void come_by_tracer(struct kunit *test, struct trace_array *tr, bool in)
{
	set_tracer(test, tr, in ? "process" : "nop");
}

static void come_by_option(struct kunit *test, struct trace_array *tr, bool in)
{
	set_syscalls(test, tr, in);
}

static void come_by_pid(struct kunit *test, struct trace_array *tr, bool in)
{
	if (in)
		choose_me(test, tr);
	else
		choose_other(test, tr);
}

static void come_by_more_pids(struct kunit *test, struct trace_array *tr,
			      bool in)
{
	struct pid *pid = task_pid(current);

	if (in)
		KUNIT_ASSERT_EQ(test, trace_follow_pids(&tr->follow, &pid, 1,
							false), 0);
	else
		choose_other(test, tr);
}

static void come_with_all(struct kunit *test, struct trace_array *tr, bool in)
{
	if (in)
		trace_follow_clear(&tr->follow);
	else
		choose_other(test, tr);
}

static void come_by_command(struct kunit *test, struct trace_array *tr, bool in)
{
	char comm[1][TASK_COMM_LEN] = { "process-other" };

	if (in)
		get_task_comm(comm[0], current);
	else
		trace_follow_clear(&tr->follow);
	KUNIT_ASSERT_EQ(test, trace_follow_comms(&tr->follow, comm, 1, true),
			0);
}

static void come_by_rename(struct kunit *test, struct trace_array *tr, bool in)
{
	static char comm[1][TASK_COMM_LEN] = { "process-kunit" };
	char old[TASK_COMM_LEN];

	if (in) {
		get_task_comm(old, current);
		set_task_comm(current, comm[0]);
		set_task_comm(current, old);
		return;
	}

	trace_follow_clear(&tr->follow);
	KUNIT_ASSERT_EQ(test, trace_follow_comms(&tr->follow, comm, 1, true),
			0);
}

static void (* const come[])(struct kunit *test, struct trace_array *tr,
			     bool in) = {
	come_by_tracer, come_by_option, come_by_pid, come_by_more_pids,
	come_with_all, come_by_command, come_by_rename,
};

/* Other tasks, which some of these let in, too, have no such results. */
enum {
	RESULT_AWAY	= 1234500100,
	RESULT_BACK,
	RESULT_NEXT,
};

/* Others write no records meanwhile. */
static void expect_no_time(struct kunit *test, struct trace_array *tr, int way)
{
	tracer_tracing_off(tr);
	KUNIT_EXPECT_FALSE_MSG(test, has_result(test, tr, "trace", RESULT_AWAY,
						false), "%d", way);
	KUNIT_EXPECT_FALSE_MSG(test, has_result(test, tr, "trace", RESULT_AWAY,
						true), "%d", way);
	KUNIT_EXPECT_TRUE_MSG(test, has_result(test, tr, "trace", RESULT_BACK,
					       false), "%d", way);
	tracer_tracing_on(tr);
}

/* The exit of one call and the entry of the next one are not seen. */
static void no_time_after_leaving(struct kunit *test)
{
	struct process_kunit *process = test->priv;
	struct trace_array *tr = process->env.tr;
	struct pt_regs *regs = new_regs(test, __NR_openat);

	for (int i = 0; i < ARRAY_SIZE(come); i++) {
		choose_me(test, tr);
		set_tracer(test, tr, "process");
		enter(regs);
		come[i](test, tr, false);
		leave(regs, RESULT_AWAY);
		enter(regs);
		come[i](test, tr, true);
		leave(regs, RESULT_BACK);
		expect_no_time(test, tr, i);

		enter(regs);
		leave(regs, RESULT_NEXT);
		tracer_tracing_off(tr);
		KUNIT_EXPECT_TRUE_MSG(test, has_result(test, tr, "trace",
						       RESULT_NEXT, true),
				      "%d", i);
		tracer_tracing_on(tr);
		set_tracer(test, tr, "nop");
		trace_follow_clear(&tr->follow);
	}
}

static void remove_other(void *data)
{
	struct kunit *test = data;

	KUNIT_EXPECT_EQ(test, trace_kunit_rmdir(test, INSTANCE "_other"), 0);
}

static struct trace_array *new_other(struct kunit *test)
{
	struct trace_array *tr;

	KUNIT_ASSERT_EQ(test, trace_kunit_mkdir(test, INSTANCE "_other"), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, remove_other,
							test), 0);
	tr = trace_kunit_find(INSTANCE "_other");
	KUNIT_ASSERT_NOT_NULL(test, tr);
	choose_me(test, tr);
	set_tracer(test, tr, "process");

	return tr;
}

/* Another instance knows when a call was entered, and does not see its exit. */
static void no_time_of_others(struct kunit *test)
{
	struct process_kunit *process = test->priv;
	struct trace_array *other, *tr = process->env.tr;
	struct pt_regs *regs = new_regs(test, __NR_openat);

	other = new_other(test);
	for (int i = 0; i < ARRAY_SIZE(come); i++) {
		choose_me(test, tr);
		set_tracer(test, tr, "process");
		come[i](test, tr, false);
		choose_me(test, other);
		enter(regs);
		choose_other(test, other);
		leave(regs, RESULT_AWAY);
		come[i](test, tr, true);
		leave(regs, RESULT_BACK);
		expect_no_time(test, tr, i);
		set_tracer(test, tr, "nop");
		trace_follow_clear(&tr->follow);
	}
}

/*
 * A change goes on while a call returns. When it is done, at a time before the
 * call, an exit without an entry must not find the time of that call.
 */
static void no_time_during_a_change(struct kunit *test)
{
	struct process_kunit *process = test->priv;
	struct trace_array *tr = process->env.tr;
	struct pt_regs *regs = new_regs(test, __NR_openat);

	choose_me(test, tr);
	set_tracer(test, tr, "process");
	trace_follow_join_begin(&tr->follow);
	trace_follow_join_begin(&tr->follow);
	/* Sets the time, and is about to say that the change is done. */
	trace_follow_join_end(&tr->follow);
	enter(regs);
	leave(regs, 100);
	atomic_dec(&tr->follow.joining);
	leave(regs, 200);
	KUNIT_EXPECT_TRUE(test, has_result(test, tr, "trace", 100, false));
	KUNIT_EXPECT_TRUE(test, has_result(test, tr, "trace", 200, false));

	enter(regs);
	leave(regs, 300);
	KUNIT_EXPECT_TRUE(test, has_result(test, tr, "trace", 300, true));
}

/* The first one takes the time, if the call is its own. */
static void time_for_one_of_two(struct kunit *test)
{
	struct process_kunit *process = test->priv;
	struct trace_array *other, *tr = process->env.tr;
	struct pt_regs *regs = new_regs(test, __NR_openat);

	choose_me(test, tr);
	set_tracer(test, tr, "process");
	other = new_other(test);

	enter(regs);
	leave(regs, 100);
	KUNIT_EXPECT_TRUE(test, has_result(test, tr, "trace", 100, true));
	KUNIT_EXPECT_TRUE(test, has_result(test, other, "trace", 100, false));

	enter(regs);
	choose_me(test, tr);
	leave(regs, 200);
	KUNIT_EXPECT_TRUE(test, has_result(test, tr, "trace", 200, false));
	KUNIT_EXPECT_TRUE(test, has_result(test, other, "trace", 200, true));
}

/* A filter leaves out records, and not what the task does. */
static void time_with_a_filter(struct kunit *test)
{
	struct process_kunit *process = test->priv;
	struct trace_array *tr = process->env.tr;
	struct pt_regs *regs = new_regs(test, __NR_openat);
	const char *file = "process_trace_taskcomm_filter";

	choose_me(test, tr);
	set_tracer(test, tr, "process");
	KUNIT_ASSERT_EQ(test, trace_kunit_write(test, file, "nobody"), 0);
	enter(regs);
	leave(regs, 100);
	KUNIT_ASSERT_EQ(test, trace_kunit_write(test, file, "\n"), 0);
	/* Refused by seccomp */
	leave(regs, 200);
	KUNIT_EXPECT_FALSE(test, has(test, tr, "() = 100"));
	KUNIT_EXPECT_TRUE(test, has_result(test, tr, "trace", 200, false));

	KUNIT_ASSERT_EQ(test, trace_kunit_write(test, file, "nobody"), 0);
	enter(regs);
	KUNIT_ASSERT_EQ(test, trace_kunit_write(test, file, "\n"), 0);
	leave(regs, 300);
	KUNIT_EXPECT_TRUE(test, has_result(test, tr, "trace", 300, true));
}

static int return_fn(void *data)
{
	leave(data, 0);
	do_exit(0);
}

/* Its parent has entered the call that a child comes back from. */
static void no_time_for_a_child(struct kunit *test)
{
	struct process_kunit *process = test->priv;
	struct trace_array *tr = process->env.tr;
	struct pt_regs *regs = new_regs(test, __NR_openat);
	pid_t nr;

	choose_me(test, tr);
	set_tracer(test, tr, "process");
	enter(regs);
	nr = kernel_thread(return_fn, regs, "process-child",
			   CLONE_FS | CLONE_FILES | SIGCHLD);
	KUNIT_ASSERT_GT(test, nr, 0);
	kernel_wait4(nr, NULL, 0, NULL);
	leave(regs, 100);
	KUNIT_EXPECT_TRUE(test, has_result(test, tr, "trace", 0, false));
	KUNIT_EXPECT_TRUE(test, has_result(test, tr, "trace", 100, true));
}

static void enter_openat(struct pt_regs *regs, unsigned long filename)
{
	unsigned long args[6] = { 0, filename };

	syscall_set_arguments(current, regs, args);
	trace_sys_enter(regs, OTHER_CALL);
}

/* A string that is not in user space can't be read, which is no harm. */
static void strings_of_syscalls(struct kunit *test)
{
	struct process_kunit *process = test->priv;
	struct trace_array *tr = process->env.tr;
	char __user *user = process->env.user;
	struct pt_regs *regs = new_regs(test, __NR_openat);
	char what[64];

	KUNIT_ASSERT_EQ(test, copy_to_user(user, STRING, sizeof(STRING)), 0);
	choose_me(test, tr);
	set_tracer(test, tr, "process");
	enter_openat(regs, (unsigned long)user);
	enter_openat(regs, NO_ADDRESS);

	snprintf(what, sizeof(what), "filename=0x%lx \"%s\", ",
		 (unsigned long)user, STRING);
	KUNIT_EXPECT_TRUE(test, has(test, tr, what));
	snprintf(what, sizeof(what), "filename=0x%x, ", NO_ADDRESS);
	KUNIT_EXPECT_TRUE(test, has(test, tr, what));
}

static void hostile_strings(struct kunit *test)
{
	struct process_kunit *process = test->priv;
	struct trace_array *tr = process->env.tr;
	char __user *user = process->env.user;
	struct pt_regs *regs = new_regs(test, __NR_openat);
	char what[256];

	choose_me(test, tr);
	set_tracer(test, tr, "process");

	for (int i = 0; i < ARRAY_SIZE(hostile); i++) {
		KUNIT_ASSERT_EQ(test, copy_to_user(user, hostile[i].name,
						   strlen(hostile[i].name) + 1),
				0);
		enter_openat(regs, (unsigned long)user);
		snprintf(what, sizeof(what), "filename=0x%lx \"%s\", flags",
			 (unsigned long)user, hostile[i].text);
		KUNIT_EXPECT_TRUE_MSG(test, has(test, tr, what), "%s", what);
	}
}

/* Each stands behind its argument, also when the other one can't be read. */
static void strings_of_two_arguments(struct kunit *test)
{
	struct process_kunit *process = test->priv;
	struct trace_array *tr = process->env.tr;
	char __user *user = process->env.user;
	unsigned long to = (unsigned long)user + 4;
	unsigned long args[6] = { 0, (unsigned long)user, 1, to, 2 };
	struct pt_regs *regs = new_regs(test, __NR_renameat2);
	char what[128];

	KUNIT_ASSERT_EQ(test, copy_to_user(user, "old\0new", 8), 0);
	choose_me(test, tr);
	set_tracer(test, tr, "process");

	syscall_set_arguments(current, regs, args);
	trace_sys_enter(regs, OTHER_CALL);
	args[1] = NO_ADDRESS;
	syscall_set_arguments(current, regs, args);
	trace_sys_enter(regs, OTHER_CALL);

	/* The trace is read to where the strings were. */
	snprintf(what, sizeof(what), "=0x%lx \"old\", newdfd=1, newname=0x%lx \"new\", ",
		 (unsigned long)user, to);
	KUNIT_EXPECT_TRUE(test, has(test, tr, what));
	snprintf(what, sizeof(what), "=0x%x, newdfd=1, newname=0x%lx \"new\", ",
		 NO_ADDRESS, to);
	KUNIT_EXPECT_TRUE(test, has(test, tr, what));
}

/* As many arguments as there are: none. */
static void records_are_small(struct kunit *test)
{
	struct process_kunit *process = test->priv;
	struct trace_array *tr = process->env.tr;
	struct pt_regs *regs = new_regs(test, __NR_getppid);
	unsigned long bytes = 0;
	int cpu;

	choose_me(test, tr);
	set_tracer(test, tr, "process");
	tracing_reset_online_cpus(&tr->array_buffer);
	trace_sys_enter(regs, OTHER_CALL);
	leave(regs, 1);

	for_each_tracing_cpu(cpu)
		bytes += ring_buffer_bytes_cpu(tr->array_buffer.buffer, cpu);
	KUNIT_EXPECT_GT(test, bytes, 0);
	KUNIT_EXPECT_LE(test, bytes, 64);
	KUNIT_EXPECT_TRUE(test, has(test, tr, ": getppid()\n"));
}

static void records_as_numbers(struct kunit *test)
{
	struct process_kunit *process = test->priv;
	struct trace_array *tr = process->env.tr;
	struct pt_regs *regs = new_regs(test, __NR_openat);
	char raw[] = "raw";
	char what[64];

	choose_me(test, tr);
	set_tracer(test, tr, "process");
	KUNIT_ASSERT_EQ(test, trace_set_options(tr, raw), 0);

	trace_task_newtask(current, CLONE_VM);
	snprintf(what, sizeof(what), " %d %d 100\n", current->pid,
		 current->tgid);
	KUNIT_EXPECT_TRUE(test, has(test, tr, what));
	fork_child(test);
	KUNIT_EXPECT_TRUE(test, has(test, tr, " 768 1\n"));
	deliver(SIGTERM, SI_USER);
	KUNIT_EXPECT_TRUE(test, has(test, tr, " 15 0 0 4711 0\n"));
	enter_openat(regs, 0);
	snprintf(what, sizeof(what), " %d 0 0 0 0 0\n", __NR_openat);
	KUNIT_EXPECT_TRUE(test, has(test, tr, what));
	leave(regs, -ENOENT);
	/* Without the time */
	snprintf(what, sizeof(what), " %d 0 -2\n", __NR_openat);
	KUNIT_EXPECT_TRUE(test, has(test, tr, what));
}

/* More arguments than fit, and strings of arguments that no system call has */
static void made_up_records(struct kunit *test)
{
	struct process_sys_enter_entry *entry;
	struct trace_iterator *iter;
	struct trace_event *event;
	size_t size = struct_size(entry, args, 8);

	entry = kunit_kzalloc(test, size + sizeof(STRING), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, entry);
	iter = kunit_kzalloc(test, sizeof(*iter), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, iter);
	trace_event_read_lock();
	event = ftrace_find_event(TRACE_PROCESS_SYS_ENTER);
	trace_event_read_unlock();
	KUNIT_ASSERT_NOT_NULL(test, event);

	entry->ent.type = TRACE_PROCESS_SYS_ENTER;
	entry->nr = NR_syscalls;
	entry->strings_mask = BIT(6) | BIT(7);
	memcpy(&entry->args[8], STRING, sizeof(STRING));
	iter->ent = &entry->ent;
	for (int i = 0; i < 2; i++) {
		entry->nr_args = i ? 255 : 8;
		iter->ent_size = i ? size : size + sizeof(STRING);
		trace_seq_init(&iter->seq);
		KUNIT_EXPECT_EQ(test, event->funcs->trace(iter, 0, event),
				TRACE_TYPE_HANDLED);
		KUNIT_EXPECT_TRUE(test, strstr(seq_buf_str(&iter->seq.seq),
					       "(0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)\n"));
	}
}

static int start_tracer(struct kunit *test)
{
	struct process_kunit *process = test->priv;

	return tracing_set_tracer(process->env.tr, "process");
}

static void check_started(struct kunit *test, int ret)
{
	struct process_kunit *process = test->priv;

	if (ret)
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	set_tracer(test, process->env.tr, "nop");
}

/* A start that fails leaves nothing that keeps the next one from starting. */
static void start_without_memory(struct kunit *test)
{
	struct process_kunit *process = test->priv;

	/* The ring buffer gets its full size before. */
	set_tracer(test, process->env.tr, "process");
	set_tracer(test, process->env.tr, "nop");
	trace_kunit_without_memory(test, start_tracer, check_started);
}

static int process_init(struct kunit *test)
{
	struct process_kunit *process = kunit_kzalloc(test, sizeof(*process),
						      GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, process);
	trace_kunit_init(test, &process->env, INSTANCE);

	return 0;
}

static struct kunit_case process_cases[] = {
	KUNIT_CASE(forks_and_exits),
	KUNIT_CASE(strangers_are_not_recorded),
	KUNIT_CASE(senders_of_signals),
	KUNIT_CASE(hostile_names_of_files),
	KUNIT_CASE(long_names_of_files),
	KUNIT_CASE(syscalls_with_names),
	KUNIT_CASE(time_of_a_call),
	KUNIT_CASE(time_in_each_file),
	KUNIT_CASE(time_with_tracing_off),
	KUNIT_CASE(no_time_after_leaving),
	KUNIT_CASE(no_time_of_others),
	KUNIT_CASE(no_time_during_a_change),
	KUNIT_CASE(time_for_one_of_two),
	KUNIT_CASE(no_time_for_a_child),
	KUNIT_CASE(time_with_a_filter),
	KUNIT_CASE(strings_of_syscalls),
	KUNIT_CASE(strings_of_two_arguments),
	KUNIT_CASE(hostile_strings),
	KUNIT_CASE(records_are_small),
	KUNIT_CASE(records_as_numbers),
	KUNIT_CASE(made_up_records),
	KUNIT_CASE(start_without_memory),
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

// SPDX-License-Identifier: GPL-2.0
/*
 * Do strace and the tracer "process" report the same of a program and all that it
 * starts?
 *
 * usage: process-compare [-p | -a [-x CALL]...] [-e CODE] [-m MUTATION] PROGRAM [ARG]...
 *
 *		 Both watch the same run, so all has to be the same in both: for
 *		 each task the system calls, with numbers, arguments and
 *		 results, the signals, and how it ended. The text of "trace" is
 *		 compared as well: names of calls, errors and signals, results.
 *   -p		 Paths: the strings that the tracer has read, beside those that
 *		 strace prints.
 *   -a		 Apart: a run under strace, one under the tracer, and one under
 *		 neither. Addresses are not randomized; pids are compared by
 *		 their place in the tree. Output and exit code of the three runs
 *		 have to be the same, too.
 *   -x CALL	 leaves out a call whose number of times, or result, depends on
 *		 the time; wait4 takes the handling of SIGCHLD with it
 *   -e CODE	 is the exit code that PROGRAM has to have.
 *   -m MUTATION  spoils a record of the tracer: drop, twice, swap, call,
 *		 argument, result, signal, code, errno, sender, exit, dead, fork,
 *		 flags, thread, task, path, text, inner-fork (in a pid namespace),
 *		 or leaves one out: no-signal, no-deadly, no-exec, no-fork. The comparison has to fail.
 *
 * PROGRAM is a path. Differences that have a reason are in the list below, and are
 * counted. With any other difference the exit code is 1.
 *
 * It reads per_cpu/cpuN/trace_pipe_raw of the trace instance "strace", by the
 * format files of the records.
 */

#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "compare.h"

#define STRACE		"/usr/bin/strace"

static const char * const difference_texts[NR_DIFFERENCES] = {
	[CHILD_RETURNS]	= "a new task comes back from the fork that made it, which strace leaves out",
	[SIGRETURN]	= "rt_sigreturn returns without its number, which the task has forgotten then",
	[OTHER_SIZE]	= "an execve between 32 and 64 bits returns with its number there",
	[NO_RESULT]	= "a call in which a task was killed has a result, which ptrace does not tell",
	[KILLED]	= "a task is killed by a SIGKILL, which ptrace does not tell",
	[STOPPED_BY]	= "strace tells that a task has stopped, and the tracer which signal it got",
	[LIFE]		= "a fork or exec is recorded, which strace shows as a call only",
	[NAMES]		= "a call has the name of the kernel's function: newfstat for fstat",
	[COMPAT_NAMES]	= "a call of a 32-bit task, or of a number that is none, has neither name nor strings",
	[NOT_ENTERED]	= "a task is killed while ptrace stops it before a call, which is not made then",
	[STARTER]	= "the program is started by another one, with pointers of its own",
	[UNSEEN]	= "a signal is ignored, and delivered only if there is ptrace",
	[RESTARTED]	= "a call is interrupted by such a signal, and restarted",
	[DEADLY]	= "a deadly signal is delivered as SIGKILL to a task without ptrace",
	[TIMING]	= "calls, or handled SIGCHLDs, are left out as they depend on the time",
	[ONLY_STRACE]	= "a string is of data, and the tracer reads names only",
	[REAPED]	= "a sender in a pid namespace has been reaped, and has no pid outside of it",
};

struct run strace = { .name = "strace" }, tracer = { .name = "tracer" };
bool apart, paths;
const char *mutation, *excluded[16];
int nr_excluded;

static void put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		fail("%s to %s: %s", text, file, strerror(errno));
	close(fd);
}

static int run(char **argv, bool followed, const char *output, int *pid)
{
	char number[16];
	int status = -1, got, fd;
	pid_t child, ended;

	fflush(stdout);
	child = fork();
	if (!child) {
		personality(ADDR_NO_RANDOMIZE);
		fd = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		dup2(fd, 1);
		close(fd);
		fd = open("/tmp/errors", O_WRONLY | O_CREAT | O_TRUNC, 0600);
		dup2(fd, 2);
		close(fd);
		snprintf(number, sizeof(number), "%d", getpid());
		if (followed)
			put(INSTANCE "/set_follow_pid", number);
		execv(argv[0], argv);
		fail("%s: %s", argv[0], strerror(errno));
	}
	/* Orphans come here. */
	while ((ended = wait(&got)) > 0) {
		if (ended == child)
			status = got;
	}
	if (pid)
		*pid = child;
	return status;
}

static int run_strace(char **argv, bool followed)
{
	static char *raw[] = { "-X", "raw", "-e", "raw=all" };
	static char *words[] = { "-s", "4096" };
	char *command[64] = { STRACE, "-ff", "-n", "-o", LOGS "/log" };
	int n = 5, i;

	for (i = 0; i < (paths ? 2 : 4); i++)
		command[n++] = (paths ? words : raw)[i];
	for (; *argv && n < 63; argv++)
		command[n++] = *argv;
	if (system("rm -rf " LOGS) || mkdir(LOGS, 0700))
		fail(LOGS);
	return run(command, followed, "/tmp/output.strace", &strace.starter);
}

static void same_outputs(const char *one, const char *two)
{
	char *a = read_whole(one), *b = read_whole(two);

	if (strcmp(a, b))
		fail("%s and %s are not the same", one, two);
	free(a);
	free(b);
}

static void run_apart(char **argv)
{
	int alone = run(argv, false, "/tmp/output", NULL);

	strace.status = run_strace(argv, false);
	tracer.status = run(argv, true, "/tmp/output.tracer", &tracer.starter);
	put(INSTANCE "/tracing_on", "0");
	if (strace.status != alone || tracer.status != alone)
		fail("ended with %#x, under strace with %#x, under the tracer with %#x", alone,
		     strace.status, tracer.status);
	same_outputs("/tmp/output", "/tmp/output.strace");
	same_outputs("/tmp/output", "/tmp/output.tracer");
	read_tracer();
	place_tracer(tracer.starter);
	cut_beginning(&tracer.task[0]);
	read_strace();
	strcpy(strace.task[0].place, "0");
	place_strace(&strace.task[0]);
}

static void run_together(char **argv)
{
	strace.status = run_strace(argv, true);
	put(INSTANCE "/tracing_on", "0");
	read_tracer();
	read_strace();
	place_tracer(root_of_strace());
	cut_beginning(&tracer.task[0]);
	for (unsigned int i = 0; i < strace.nr; i++) {
		const struct task *task = task_of(&tracer, strace.task[i].pid);

		if (!task)
			fail("the tracer has nothing of %d", strace.task[i].pid);
		strcpy(strace.task[i].place, task->place);
	}
}

int main(int argc, char **argv)
{
	int opt, code = -1;

	while ((opt = getopt(argc, argv, "+pax:e:m:")) != -1) {
		if (opt == 'p')
			paths = true;
		else if (opt == 'a')
			apart = true;
		else if (opt == 'x' && nr_excluded < 16)
			excluded[nr_excluded++] = optarg;
		else if (opt == 'e')
			code = atoi(optarg);
		else if (opt == 'm')
			mutation = optarg;
		else
			fail("usage: process-compare [-p | -a [-x CALL]...] [-e CODE] [-m MUTATION] PROGRAM [ARG]...");
	}
	if (optind == argc)
		fail("which program?");
	setlinebuf(stdout);
	prctl(PR_SET_CHILD_SUBREAPER, 1);

	if (apart)
		run_apart(argv + optind);
	else
		run_together(argv + optind);
	if (WIFEXITED(strace.status) && WEXITSTATUS(strace.status) >= 97 &&
	    WEXITSTATUS(strace.status) <= 99)
		fail("the job failed: %d", WEXITSTATUS(strace.status));
	if (code >= 0 && (!WIFEXITED(strace.status) || WEXITSTATUS(strace.status) != code))
		fail("the job ended with %#x, and not with exit code %d", strace.status, code);
	if (mutation)
		spoil();
	if (strace.nr != tracer.nr)
		fail("strace has seen %u tasks, the tracer %u", strace.nr, tracer.nr);
	for (unsigned int i = 0; i < strace.nr; i++) {
		struct task *task = &strace.task[i], *other = task_at(&tracer, task->place);

		if (!other)
			fail("the tracer has nothing of %d (%s)", task->pid, task->place);
		if (apart) {
			leave_out(task, true);
			leave_out(other, false);
		}
		compare_task(task, other);
	}
	compare_ends();
	check_numbers();

	for (int i = 0; i < NR_DIFFERENCES; i++) {
		if (differences[i])
			printf("  %5" PRIu64 " times: %s\n", differences[i], difference_texts[i]);
	}
	printf("%u tasks, %" PRIu64 " calls, %" PRIu64 " signals, %" PRIu64
	       " strings are the same, %s %d\n", strace.nr, calls, signals, strings,
	       WIFEXITED(strace.status) ? "exit code" : "killed by",
	       WIFEXITED(strace.status) ? WEXITSTATUS(strace.status) : WTERMSIG(strace.status));

	return 0;
}

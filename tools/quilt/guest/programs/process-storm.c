// SPDX-License-Identifier: GPL-2.0
/*
 * A storm of processes that knows what it has done, for the scenario
 * process-storm; and one that goes on until it is told to stop, for the
 * scenario process-torture.
 *
 * usage: process-storm [-j FORKERS] PROCESSES    (4 forkers)
 *        process-storm -s FILE                   until there is FILE
 *        process-storm exit CODE
 *        process-storm calls N                   N times getppid()
 *        process-storm perf ENTER EXIT N         the same, and are they counted
 *                                                by perf, at the tracepoints
 *                                                with these numbers?
 *
 * Several forkers make processes, each in a different way from the one before:
 * by fork or vfork, that exit or are killed, exec, have threads, or have a child
 * that outlives them. It prints a line for each task:
 *
 *   PARENT TASK fork|thread EXECS END
 *
 * where END is the exit code, or the name of the signal that has killed it. The
 * first line is of process-storm itself, with a parent of 0.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_FORKERS	16
#define MAX_THREADS	3

enum way {
	EXITS, IS_VFORKED, IS_TERMINATED, EXITS_TOO, HAS_ORPHAN, EXECS, IS_KILLED, HAS_THREADS,
	EXECS_FROM_THREAD,
	NR_WAYS
};

/* A child writes this for its forker before it ends. Each forker has one. */
struct told {
	pid_t	grandchild;
	pid_t	thread[MAX_THREADS];
	int	threads;
};

static struct told *told;
static const char *stop;
static FILE *report;

__attribute__((noreturn, format(printf, 1, 2)))
static void fail(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fprintf(stderr, "process-storm: ");
	vfprintf(stderr, fmt, args);
	fprintf(stderr, ": %s\n", strerror(errno));
	va_end(args);
	_exit(99);
}

static void tell(pid_t parent, pid_t task, const char *kind, int execs, int status)
{
	if (stop)
		return;
	fprintf(report, "%d %d %s %d ", parent, task, kind, execs);
	if (WIFSIGNALED(status))
		fprintf(report, "SIG%s\n", sigabbrev_np(WTERMSIG(status)));
	else
		fprintf(report, "%d\n", WEXITSTATUS(status));
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) != pid) {
		if (errno != EINTR)
			fail("waitpid(%d)", pid);
	}
	return status;
}

static void exec_exit(int code)
{
	char number[16], *argv[] = { "/usr/bin/process-storm", "exit", number, NULL };
	char *envp[] = { NULL };

	snprintf(number, sizeof(number), "%d", code);
	execve(argv[0], argv, envp);
	_exit(98);
}

static void *thread(void *arg)
{
	*(pid_t *)arg = syscall(SYS_gettid);
	return NULL;
}

static void have_threads(struct told *t)
{
	pthread_t threads[MAX_THREADS];

	for (t->threads = 0; t->threads < MAX_THREADS; t->threads++) {
		if (pthread_create(&threads[t->threads], NULL, thread, &t->thread[t->threads]))
			fail("pthread_create");
	}
	for (int i = 0; i < MAX_THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void *thread_that_execs(void *arg)
{
	*(pid_t *)arg = syscall(SYS_gettid);
	exec_exit(77);
	return NULL;
}

/* The new program has the pid of the first thread. */
static void exec_from_thread(struct told *t)
{
	pthread_t execs;

	t->threads = 1;
	if (pthread_create(&execs, NULL, thread_that_execs, &t->thread[0]))
		fail("pthread_create");
	for (;;)
		pause();
}

static void have_orphan(struct told *t, int code)
{
	int fds[2];
	pid_t pid;
	char c;

	if (pipe(fds))
		fail("pipe");
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (!pid) {
		/* Until its parent is gone, and with it the other end */
		close(fds[1]);
		_exit(read(fds[0], &c, 1) ? 99 : code ^ 1);
	}
	t->grandchild = pid;
}

__attribute__((noreturn))
static void be_child(enum way way, int code, struct told *t)
{
	switch (way) {
	case IS_TERMINATED:
		kill(getpid(), SIGTERM);
		break;
	case IS_KILLED:
		kill(getpid(), SIGKILL);
		break;
	case HAS_ORPHAN:
		have_orphan(t, code);
		break;
	case EXECS:
		exec_exit(code);
		break;
	case HAS_THREADS:
		have_threads(t);
		break;
	case EXECS_FROM_THREAD:
		exec_from_thread(t);
		break;
	default:
		break;
	}
	_exit(code);
}

static void make_process(enum way way, int code, struct told *t)
{
	pid_t self = getpid(), pid;
	int status;

	t->grandchild = 0;
	t->threads = 0;
	pid = way == IS_VFORKED || way == EXECS ? vfork() : fork();
	if (pid < 0)
		fail("fork");
	if (!pid)
		be_child(way, code, t);

	status = wait_for(pid);
	if (way == EXECS_FROM_THREAD) {
		/* The first thread ends, and the other one has its pid then. */
		tell(self, pid, "fork", 0, 0);
		tell(pid, t->thread[0], "thread", 1, status);
		return;
	}
	tell(self, pid, "fork", way == EXECS, status);
	for (int i = 0; i < t->threads; i++)
		tell(pid, t->thread[i], "thread", 0, 0);
	if (t->grandchild)
		tell(pid, t->grandchild, "fork", 0, wait_for(t->grandchild));
}

/* How many processes it takes */
static int weight(enum way way)
{
	return way == HAS_ORPHAN ? 2 : 1;
}

static void be_forker(int nr, long processes)
{
	char name[64];

	/* Orphans come to their forker. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	snprintf(name, sizeof(name), "/tmp/storm.%d", nr);
	report = fopen(name, "w");
	if (!report)
		fail("%s", name);
	for (long i = 0, n = 0; stop ? access(stop, F_OK) : n < processes; i++) {
		enum way way = (i + nr) % NR_WAYS;

		/* The last one may be one too much. */
		if (!stop && n + weight(way) > processes)
			way = EXITS;
		make_process(way, (i + nr) % 97, &told[nr]);
		n += weight(way);
	}
	if (fclose(report))
		fail("%s", name);
	_exit(nr);
}

static void print_report(int nr)
{
	char name[64], line[128];

	snprintf(name, sizeof(name), "/tmp/storm.%d", nr);
	report = fopen(name, "r");
	if (!report)
		fail("%s", name);
	while (fgets(line, sizeof(line), report))
		fputs(line, stdout);
	fclose(report);
	unlink(name);
}

static void call(long n)
{
	while (n--)
		syscall(SYS_getppid);
}

static int open_perf(int id)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = id, .disabled = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (fd < 0)
		fail("perf_event_open");
	return fd;
}

static long count_of(int fd)
{
	unsigned long long count;

	if (read(fd, &count, sizeof(count)) != sizeof(count))
		fail("read");
	return count;
}

/* The ioctls that enable and disable are seen by half, and by the other one. */
static int count_by_perf(int enter, int exit, long n)
{
	int fds[2] = { open_perf(enter), open_perf(exit) };
	long entered, exited;

	ioctl(fds[0], PERF_EVENT_IOC_ENABLE, 0);
	ioctl(fds[1], PERF_EVENT_IOC_ENABLE, 0);
	call(n);
	ioctl(fds[1], PERF_EVENT_IOC_DISABLE, 0);
	ioctl(fds[0], PERF_EVENT_IOC_DISABLE, 0);
	entered = count_of(fds[0]);
	exited = count_of(fds[1]);
	if (entered == n + 3 && exited == n + 1)
		return 0;
	printf("perf has counted %ld entries of %ld, and %ld exits of %ld\n", entered, n + 3,
	       exited, n + 1);
	return 1;
}

int main(int argc, char **argv)
{
	int forkers = 4, opt, status;
	pid_t pid[MAX_FORKERS];
	long processes;

	if (argc == 3 && !strcmp(argv[1], "exit"))
		return atoi(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "calls")) {
		call(atol(argv[2]));
		return 0;
	}
	if (argc == 5 && !strcmp(argv[1], "perf"))
		return count_by_perf(atoi(argv[2]), atoi(argv[3]), atol(argv[4]));
	while ((opt = getopt(argc, argv, "j:s:")) != -1) {
		if (opt == 'j')
			forkers = atoi(optarg);
		else if (opt == 's')
			stop = optarg;
		else
			return 2;
	}
	if ((optind == argc && !stop) || forkers < 1 || forkers > MAX_FORKERS) {
		fprintf(stderr, "usage: process-storm [-j FORKERS] PROCESSES | -s FILE |"
			" exit CODE | calls N | perf ENTER EXIT N\n");
		return 2;
	}
	/* The forkers are processes as well. */
	processes = stop ? 0 : atol(argv[optind]) - forkers;
	told = mmap(NULL, sizeof(*told) * MAX_FORKERS, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (told == MAP_FAILED)
		fail("mmap");

	if (!stop)
		printf("0 %d fork 1 0\n", getpid());
	fflush(stdout);
	for (int i = 0; i < forkers; i++) {
		pid[i] = fork();
		if (!pid[i])
			be_forker(i, processes / forkers + (i < processes % forkers));
	}
	for (int i = 0; i < forkers; i++) {
		status = wait_for(pid[i]);
		if (status != i << 8)
			fail("a forker ended with %#x", status);
		report = stdout;
		tell(getpid(), pid[i], "fork", 0, status);
		print_report(i);
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The jobs of the scenario process-strace: things that a tracer of processes may get
 * wrong. But for "restarts" and "exec-from-thread" each job does the same each time
 * it runs, as tasks wait for pipes or for the end of other tasks.
 *
 * usage: process-jobs calls             system calls that go well and that fail
 *        process-jobs family            fork, vfork, clone3, orphans, exit codes
 *        process-jobs signals           raised, handled, ignored, deadly
 *        process-jobs restarts          system calls that are interrupted
 *        process-jobs threads           some end, some are ended
 *        process-jobs exec-from-thread  which takes the place of all others
 *        process-jobs chain N           N times vfork and exec
 *        process-jobs exit CODE
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS		4

static char self[] = "/usr/bin/process-jobs";

__attribute__((noreturn))
static void fail(const char *what)
{
	printf("process-jobs: %s: %s\n", what, strerror(errno));
	exit(99);
}

/* Is this how the child ended, or was stopped? */
static void expect(pid_t pid, int flags, int status)
{
	int got;

	if (waitpid(pid, &got, flags) != pid)
		fail("waitpid");
	if (got != status) {
		printf("process-jobs: status %#x, and not %#x\n", got, status);
		exit(99);
	}
}

#define EXITED(code)	((code) << 8)
#define KILLED(sig)	(sig)
#define STOPPED(sig)	(0x7f | (sig) << 8)
#define CONTINUED	0xffff

/* calls */

/* As 32-bit programs call the kernel; a 64-bit one can do so as well. */
static long int80(long nr)
{
#ifdef __x86_64__
	long ret;

	asm volatile("int $0x80" : "=a" (ret) : "0" (nr) : "memory", "r8", "r9", "r10", "r11");

	return ret;
#else
	return nr;
#endif
}

/* open() of the C library is openat(). */
static void open_name(long name)
{
#ifdef SYS_open
	syscall(SYS_open, name, O_RDONLY);
#else
	syscall(SYS_openat, AT_FDCWD, name, O_RDONLY, 0);
#endif
}

/* stat() of the C library is newfstatat(), but not that of musl or Go. */
static void stat_names(void)
{
#ifdef SYS_stat
	struct stat stat;

	if (syscall(SYS_stat, "/etc/passwd", &stat) || syscall(SYS_lstat, "/etc/passwd", &stat))
		fail("/etc/passwd");
	syscall(SYS_stat, "/nowhere", &stat);
	syscall(SYS_lstat, 1L, &stat);
#endif
}

static void calls_with_names(void)
{
	char name[600];

	if (open("/nowhere", O_RDONLY) >= 0 || errno != ENOENT)
		fail("/nowhere");
	open("/no\n\t\"where\\\1\377", O_RDONLY);
	open("/\303\244 \342\202\254 \342\200\256 \302\205 \360\237\220\247", O_RDONLY);
	open("", O_RDONLY);
	stat_names();
	open_name(1);
	open_name(-4096);
	open_name(0);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	open(name, O_RDONLY);
	name[200] = '\0';
	open(name, O_RDONLY);
	if (mkdir("jobs", 0750) || chdir("jobs") || symlink("b", "a") || chdir(".."))
		fail("jobs");
	if (rename("jobs/a", "jobs/c") || readlink("jobs/c", name, sizeof(name)) != 1)
		fail("jobs/c");
	link("jobs/c", "/dev/d");
	if (unlink("jobs/c") || rmdir("jobs"))
		fail("jobs");
	access("/etc/passwd", R_OK);
	chmod("/nowhere", 0600);
	truncate("/nowhere", 1L << 40);
}

static void calls_with_numbers(void)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fds[2];

	if (page == MAP_FAILED || mprotect(page, 4096, PROT_READ) || munmap(page, 4096))
		fail("mmap");
	mmap((void *)0x12345678, ~0UL, -1, -1, 77, 1L << 50);
	close(-1);
	close(INT32_MAX);
	lseek(0, INT64_MIN / 2, SEEK_END);
	if (pipe(fds))
		fail("pipe");
	lseek(fds[0], 1, SEEK_SET);
	if (write(fds[1], "four", 4) != 4 || read(fds[0], &fds, 0))
		fail("write");
	syscall(SYS_write, fds[1], 8L, 8L);
	syscall(SYS_pwrite64, fds[1], "x", 1, -5L);
	socketpair(AF_UNIX, SOCK_STREAM, 0, NULL);
	syscall(SYS_fcntl, 0, -1, ~0UL);
	umask(022);
	syscall(SYS_getpriority, 0, 0);
	syscall(9999, 1, 2, 3, 4, 5, 6);
	syscall(100000, -1L, INT64_MAX);
	int80(20);
	int80(24);
	int80(9999);
}

static int calls(void)
{
	calls_with_names();
	calls_with_numbers();

	return 0;
}

/* family */

static void child_with(int code)
{
	pid_t pid = fork();

	if (!pid)
		_exit(code);
	expect(pid, 0, EXITED(code & 0xff));
}

static void child_of_vfork(int code)
{
	pid_t pid = vfork();

	if (!pid)
		_exit(code);
	expect(pid, 0, EXITED(code));
}

static void child_of_clone3(int code)
{
	struct clone_args args = { .exit_signal = SIGCHLD };
	pid_t pid = syscall(SYS_clone3, &args, sizeof(args));

	if (pid < 0)
		fail("clone3");
	if (!pid)
		_exit(code);
	expect(pid, 0, EXITED(code));
}

/* A child whose end sends no signal to its parent */
static void child_without_signal(int code)
{
	struct clone_args args = {};
	pid_t pid = syscall(SYS_clone3, &args, sizeof(args));

	if (!pid)
		_exit(code);
	expect(pid, __WALL, EXITED(code));
}

/* Its parent, which has the last writing end of the pipe, ends first. */
static void orphan(void)
{
	int fds[2];
	pid_t pid;
	char c;

	if (pipe(fds))
		fail("pipe");
	pid = fork();
	if (!pid) {
		if (fork())
			_exit(3);
		close(fds[1]);
		_exit(read(fds[0], &c, 1) ? 99 : 4);
	}
	close(fds[0]);
	close(fds[1]);
	expect(pid, 0, EXITED(3));
}

static void spawn(const char *path, int code)
{
	char number[16], *argv[] = { self, "exit", number, NULL }, *envp[] = { NULL };
	pid_t pid;
	int err;

	snprintf(number, sizeof(number), "%d", code);
	err = posix_spawn(&pid, path, NULL, NULL, argv, envp);
	if (err) {
		errno = err;
		if (err != ENOENT)
			fail("posix_spawn");
		return;
	}
	expect(pid, 0, EXITED(code));
}

static int family(void)
{
	struct clone_args bad = { .flags = CLONE_THREAD };

	child_with(0);
	child_with(1);
	child_with(255);
	child_with(256 + 42);
	child_of_vfork(5);
	child_of_clone3(6);
	child_without_signal(7);
	orphan();
	spawn(self, 8);
	spawn("/nowhere", 9);
	syscall(SYS_clone3, &bad, sizeof(bad));
	syscall(SYS_clone3, NULL, 1);
	execl("/nowhere", "nowhere", NULL);
	execl("/etc/passwd", "passwd", NULL);

	return 17;
}

/* signals */

static sigjmp_buf back;
static volatile sig_atomic_t handled;

static void handler(int sig)
{
	(void)sig;
	handled++;
}

static void handler_that_raises(int sig)
{
	(void)sig;
	raise(SIGUSR2);
}

static void handler_that_jumps(int sig)
{
	siglongjmp(back, sig);
}

static void handler_with_info(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)context;
	handled += info->si_value.sival_int;
}

static void set_handler(int sig, void (*function)(int), int flags)
{
	struct sigaction sa = { .sa_handler = function, .sa_flags = flags };

	if (sigaction(sig, &sa, NULL))
		fail("sigaction");
}

static void handled_signals(void)
{
	struct sigaction sa = {
		.sa_sigaction = handler_with_info, .sa_flags = SA_SIGINFO | SA_NODEFER,
	};
	sigset_t set, old;

	set_handler(SIGUSR2, handler, 0);
	set_handler(SIGUSR1, handler_that_raises, SA_RESTART);
	raise(SIGUSR1);
	kill(getpid(), SIGUSR1);
	sigaction(SIGRTMIN + 3, &sa, NULL);
	sigqueue(getpid(), SIGRTMIN + 3, (union sigval){ .sival_int = 7 });

	/* Three at once, in the order of their numbers. */
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGRTMIN + 3);
	sigprocmask(SIG_BLOCK, &set, &old);
	raise(SIGUSR2);
	raise(SIGUSR1);
	sigqueue(getpid(), SIGRTMIN + 3, (union sigval){ .sival_int = 1 });
	sigqueue(getpid(), SIGRTMIN + 3, (union sigval){ .sival_int = 2 });
	sigsuspend(&old);
	sigprocmask(SIG_SETMASK, &old, NULL);

	/* One that is taken, and not delivered. */
	sigprocmask(SIG_BLOCK, &set, &old);
	raise(SIGUSR2);
	sigwaitinfo(&set, NULL);
	sigprocmask(SIG_SETMASK, &old, NULL);

	set_handler(SIGUSR1, SIG_IGN, 0);
	raise(SIGUSR1);
	raise(SIGWINCH);
}

/* The timer rings when nothing else is done. */
static void alarms(void)
{
	sigset_t set, old;

	set_handler(SIGALRM, handler, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_BLOCK, &set, &old);
	ualarm(1000, 0);
	sigsuspend(&old);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

static void faults(void)
{
	volatile int *volatile nowhere = (int *)16;

	set_handler(SIGSEGV, handler_that_jumps, SA_NODEFER);
	set_handler(SIGFPE, handler_that_jumps, SA_NODEFER);
	set_handler(SIGILL, handler_that_jumps, SA_NODEFER);
	set_handler(SIGTRAP, handler, 0);
	if (!sigsetjmp(back, 1))
		*nowhere = 1;
#ifdef __x86_64__
	if (!sigsetjmp(back, 1))
		asm volatile("idivl %0" : : "r" (0) : "eax", "edx");
	if (!sigsetjmp(back, 1))
		asm volatile("ud2");
	asm volatile("int3");
#endif
	signal(SIGSEGV, SIG_DFL);
}

static void deadly_signals(void)
{
	static const int signals[] = {
		SIGTERM, SIGKILL, SIGABRT, SIGSEGV, SIGHUP, SIGPIPE, SIGUSR1, SIGALRM, 64,
	};

	for (unsigned int i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		pid_t pid = fork();

		if (!pid) {
			signal(signals[i], SIG_DFL);
			kill(getpid(), signals[i]);
			_exit(99);
		}
		expect(pid, 0, KILLED(signals[i]));
	}
}

static void broken_pipe(void)
{
	int fds[2];
	pid_t pid;

	if (pipe(fds))
		fail("pipe");
	close(fds[0]);
	pid = fork();
	if (!pid) {
		write(fds[1], "x", 1);
		_exit(99);
	}
	close(fds[1]);
	expect(pid, 0, KILLED(SIGPIPE));
}

static void stop_and_go(void)
{
	int fds[2];
	pid_t pid;
	char c;

	if (pipe(fds))
		fail("pipe");
	pid = fork();
	if (!pid) {
		close(fds[1]);
		raise(SIGSTOP);
		_exit(read(fds[0], &c, 1) ? 99 : 23);
	}
	close(fds[0]);
	expect(pid, WUNTRACED, STOPPED(SIGSTOP));
	kill(pid, SIGCONT);
	expect(pid, WCONTINUED, CONTINUED);
	close(fds[1]);
	expect(pid, 0, EXITED(23));
}

/* The pending signal interrupts this at once. */
static void interrupted(void)
{
	sigset_t set, old;

	set_handler(SIGUSR2, handler, SA_RESTART);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, &old);
	raise(SIGUSR2);
	if (!ppoll(NULL, 0, NULL, &old) || errno != EINTR)
		fail("ppoll");
	sigprocmask(SIG_SETMASK, &old, NULL);
}

static int signals(void)
{
	handled_signals();
	alarms();
	interrupted();
	faults();
	deadly_signals();
	broken_pipe();
	stop_and_go();

	return handled;
}

/* restarts: this depends on the time. */

static void interrupt_a_child(int flags, int code)
{
	struct timespec time = { .tv_nsec = 100000000 };
	int fds[2];
	pid_t pid;
	char c;

	/* Before the child could get one. */
	set_handler(SIGUSR2, handler, flags);
	if (pipe(fds))
		fail("pipe");
	pid = fork();
	if (!pid) {
		close(fds[1]);
		if (read(fds[0], &c, 1) && errno != EINTR)
			_exit(99);
		nanosleep(&time, NULL);
		_exit(code);
	}
	close(fds[0]);
	for (int i = 0; i < 3; i++) {
		usleep(20000);
		kill(pid, SIGUSR2);
		kill(pid, SIGSTOP);
		kill(pid, SIGCONT);
	}
	close(fds[1]);
	usleep(50000);
	kill(pid, SIGSTOP);
	kill(pid, SIGCONT);
	expect(pid, 0, EXITED(code));
}

static int restarts(void)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART };
	pid_t pid;

	/* Before the child could send it. */
	sigaction(SIGUSR1, &sa, NULL);
	interrupt_a_child(0, 24);
	interrupt_a_child(SA_RESTART, 25);

	pid = fork();
	if (!pid) {
		usleep(20000);
		kill(getppid(), SIGUSR1);
		usleep(20000);
		_exit(26);
	}
	expect(pid, 0, EXITED(26));
	return 0;
}

/* threads */

static int up[2], down[2];

static void *thread_that_works(void *arg)
{
	long nr = (long)arg;
	char c = nr;

	syscall(SYS_getppid, nr);
	syscall(SYS_gettid, nr, nr);
	syscall(SYS_lseek, -1 - nr, nr, nr);
	write(up[1], &c, 1);
	read(down[0], &c, 1);

	return arg;
}

/* It is in the middle of this when the process ends. */
static void *thread_that_waits(void *arg)
{
	char c = (long)arg;
	int fds[2];

	if (pipe(fds))
		fail("pipe");
	write(up[1], &c, 1);
	read(fds[0], &c, 1);

	return arg;
}

static void *thread_that_execs(void *arg)
{
	char *argv[] = { self, "exit", "44", NULL }, *envp[] = { NULL };

	/* Most likely, the others wait by then. */
	usleep(50000);
	execve(self, argv, envp);
	return arg;
}

static pthread_t start(void *(*function)(void *), long nr)
{
	pthread_t thread;
	char c;

	if (pthread_create(&thread, NULL, function, (void *)nr))
		fail("pthread_create");
	if (nr >= 0 && read(up[0], &c, 1) != 1)
		fail("read");

	return thread;
}

static int threads(void)
{
	pthread_t thread[THREADS];

	if (pipe(up) || pipe(down))
		fail("pipe");
	for (int i = 0; i < THREADS; i++)
		thread[i] = start(thread_that_works, i);
	for (int i = 0; i < THREADS; i++)
		start(thread_that_waits, i);
	write(down[1], "four", THREADS);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);

	return 33;
}

static int exec_from_thread(void)
{
	if (pipe(up))
		fail("pipe");
	start(thread_that_waits, 0);
	start(thread_that_execs, -1);
	pause();

	return 99;
}

/* chain */

static int chain(int length)
{
	char number[16], *argv[] = { self, "chain", number, NULL };
	pid_t pid;

	if (!length)
		return 0;
	snprintf(number, sizeof(number), "%d", length - 1);
	pid = vfork();
	if (!pid) {
		execv(self, argv);
		_exit(99);
	}
	expect(pid, 0, EXITED(length - 1));

	return length;
}

int main(int argc, char **argv)
{
	const char *job = argc > 1 ? argv[1] : "";
	int number = argc > 2 ? atoi(argv[2]) : 0;

	if (!strcmp(job, "calls"))
		return calls();
	if (!strcmp(job, "family"))
		return family();
	if (!strcmp(job, "signals"))
		return signals();
	if (!strcmp(job, "restarts"))
		return restarts();
	if (!strcmp(job, "threads"))
		return threads();
	if (!strcmp(job, "exec-from-thread"))
		return exec_from_thread();
	if (!strcmp(job, "chain"))
		return chain(number);
	if (!strcmp(job, "exit"))
		return number;

	printf("process-jobs: no job '%s'\n", job);
	return 99;
}

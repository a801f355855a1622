// SPDX-License-Identifier: GPL-2.0
/*
 * The tracer "process" reads strings of user space, and a page may come late, or
 * not at all. Here userfaultfd delivers one late, with a thread in the middle of
 * openat(). Meanwhile others are traced, the tracer is left and begun anew, its
 * instance is removed, and the process is killed.
 *
 * usage: process-fault DIRECTORY [-b]
 *
 *   DIRECTORY  an instance to make
 *   -b         leave the main step of each test out: all of them have to fail
 *
 * The last line is a summary.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *dir;
static const char *late = "/late";
static char *page;
static long page_size;
static int faults;
static pid_t opener;
static pthread_t opens;
static bool broken;

__attribute__((noreturn))
static void fail(const char *what)
{
	error(1, errno, "process-fault: %s", what);
	abort();
}

static void in_dir(char *path, size_t size, const char *file)
{
	snprintf(path, size, "%s/%s", dir, file);
}

static void set(const char *file, const char *text)
{
	char path[256];
	int fd;

	in_dir(path, sizeof(path), file);
	fd = open(path, O_WRONLY | O_TRUNC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fail(path);
	close(fd);
}

static void follow(pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", pid);
	set("set_follow_pid", text);
}

/* How many lines of a task have a text? That they are read is not recorded. */
static int lines(pid_t pid, const char *text)
{
	char path[256], line[4096], task[32];
	int nr = 0;
	FILE *f;

	snprintf(task, sizeof(task), "-%d ", pid);
	set("tracing_on", "0");
	in_dir(path, sizeof(path), "trace");
	f = fopen(path, "r");
	if (!f)
		fail(path);
	while (fgets(line, sizeof(line), f))
		nr += line[0] != '#' && strstr(line, task) && strstr(line, text);
	fclose(f);
	set("tracing_on", "1");

	return nr;
}

/* A page that is not there, and that is asked for at faults */
static void take_page(void)
{
	struct uffdio_api api = {
		.api = UFFD_API,
		.features = UFFD_FEATURE_THREAD_ID,
	};
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	faults = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (faults < 0 || ioctl(faults, UFFDIO_API, &api))
		fail("userfaultfd");

	page = mmap(NULL, page_size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		fail("mmap");

	reg.range.start = (unsigned long)page;
	reg.range.len = page_size;
	if (ioctl(faults, UFFDIO_REGISTER, &reg))
		fail("UFFDIO_REGISTER");
}

static void give_page(void)
{
	struct uffdio_copy copy = {
		.dst = (unsigned long)page,
		.len = page_size,
	};
	char *from = aligned_alloc(page_size, page_size);

	if (!from)
		fail("aligned_alloc");
	memset(from, 0, page_size);
	strcpy(from, late);
	copy.src = (unsigned long)from;
	if (ioctl(faults, UFFDIO_COPY, &copy))
		fail("UFFDIO_COPY");
	free(from);
}

static void drop_page(void)
{
	munmap(page, page_size);
	close(faults);
}

static void *open_late(void *unused)
{
	opener = gettid();
	if (syscall(SYS_openat, AT_FDCWD, page, O_RDONLY) >= 0 || errno != ENOENT)
		fail("openat of the late page");

	return unused;
}

/* A traced thread waits for the page. */
static void start(void)
{
	struct uffd_msg msg;

	if (mkdir(dir, 0755) && errno != EEXIST)
		fail(dir);
	set("options/lifecycle", "1");
	set("options/syscalls", "1");
	follow(getpid());
	set("current_tracer", "process");

	take_page();
	if (pthread_create(&opens, NULL, open_late, NULL))
		fail("pthread_create");
	if (read(faults, &msg, sizeof(msg)) != sizeof(msg) ||
	    msg.event != UFFD_EVENT_PAGEFAULT)
		fail("no fault");
}

static void finish(void)
{
	give_page();
	pthread_join(opens, NULL);
	drop_page();
}

/* How many records of the late call there are, and of its end */
static bool is_late(int enters, int exits)
{
	int entered = lines(opener, late);
	int exited = lines(opener, "openat() = -1 ENOENT");

	if (entered == enters && exited == exits)
		return true;

	printf("  %d of %d enter, %d of %d exit\n", entered, enters, exited, exits);

	return false;
}

/* Neither the others nor the string are affected. */
static bool waits(void)
{
	bool ok;

	start();
	open("/early", O_RDONLY);
	ok = lines(getpid(), "\"/early\"") == 1 && lines(opener, "openat(") == 0;
	finish();
	if (broken)
		late = "/soon";
	ok = is_late(1, 1) && ok;
	late = "/late";
	set("current_tracer", "nop");

	return ok;
}

static bool tracer_is_left(void)
{
	start();
	if (!broken)
		set("current_tracer", "nop");
	finish();

	return is_late(0, 0);
}

static bool syscalls_go_off(void)
{
	bool ok;

	start();
	if (!broken)
		set("options/syscalls", "0");
	finish();
	ok = is_late(0, 0);
	set("current_tracer", "nop");

	return ok;
}

/* The record depends on the time at which the page comes. */
static bool tracer_begins_anew(void)
{
	bool ok;

	start();
	open("/before", O_RDONLY);
	if (!broken) {
		set("current_tracer", "nop");
		set("current_tracer", "process");
	}
	open("/early", O_RDONLY);
	finish();
	ok = lines(getpid(), "\"/before\"") == 0 && lines(getpid(), "\"/early\"") == 1 &&
		is_late(1, 1);
	set("current_tracer", "nop");

	return ok;
}

static bool another_is_chosen(void)
{
	pid_t pid = fork();
	bool ok;

	if (pid < 0)
		fail("fork");
	while (!pid)
		pause();

	start();
	if (!broken)
		follow(pid);
	finish();
	ok = is_late(0, 0);
	set("current_tracer", "nop");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);

	return ok;
}

static pid_t remover;

static void *remove_dir(void *unused)
{
	__atomic_store_n(&remover, gettid(), __ATOMIC_RELEASE);
	if (!broken && rmdir(dir))
		fail(dir);
	__atomic_store_n(&remover, -1, __ATOMIC_RELEASE);

	return unused;
}

/* The task that removes the instance sleeps, or is done. */
static bool sleeps(void)
{
	pid_t pid = __atomic_load_n(&remover, __ATOMIC_ACQUIRE);
	char path[64], text[256] = "", *state;
	int fd;

	if (pid <= 0)
		return pid < 0;
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", pid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return true;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	state = strrchr(text, ')');

	return state && (state[2] == 'D' || state[2] == 'S');
}

static bool instance_is_removed(void)
{
	pthread_t removes;

	start();
	remover = 0;
	if (pthread_create(&removes, NULL, remove_dir, NULL))
		fail("pthread_create");
	while (!sleeps())
		sched_yield();
	finish();
	pthread_join(removes, NULL);

	return access(dir, F_OK);
}

/* The page never comes. */
static bool process_is_killed(void)
{
	int ready[2], status;
	pid_t pid;
	bool ok;
	char c;

	if (pipe(ready))
		fail("pipe");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		start();
		if (write(ready[1], "", 1) != 1)
			fail("write");
		for (;;)
			pause();
	}
	close(ready[1]);
	if (pid < 0 || read(ready[0], &c, 1) != 1)
		fail("fork");
	kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid)
		fail("waitpid");
	close(ready[0]);
	ok = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL &&
		lines(pid, broken ? "exited" : "killed by SIGKILL") == 1;
	set("current_tracer", "nop");

	return ok;
}

static const struct {
	const char *name;
	bool (*run)(void);
} tests[] = {
	{ "waits", waits },
	{ "tracer_is_left", tracer_is_left },
	{ "syscalls_go_off", syscalls_go_off },
	{ "tracer_begins_anew", tracer_begins_anew },
	{ "another_is_chosen", another_is_chosen },
	{ "instance_is_removed", instance_is_removed },
	{ "process_is_killed", process_is_killed },
};

int main(int argc, char **argv)
{
	unsigned int failed = 0, nr = sizeof(tests) / sizeof(*tests);

	if (argc < 2)
		return 2;
	dir = argv[1];
	broken = argc > 2;
	page_size = sysconf(_SC_PAGESIZE);
	setvbuf(stdout, NULL, _IOLBF, 0);

	for (unsigned int i = 0; i < nr; i++) {
		bool ok = tests[i].run();

		printf("%s %s\n", ok ? "ok" : "not ok", tests[i].name);
		failed += !ok;
	}
	if (rmdir(dir))
		fail(dir);
	printf("%u passed, %u failed\n", nr - failed, failed);

	return !!failed;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Random operations on the files of tracefs, by several processes at once.
 *
 * usage: tracefs-storm SECONDS [SEED [PROCESSES]]
 *
 * Each process makes and removes instances, and opens files that it finds at
 * random: it reads them, writes words that some file knows, garbage and long
 * texts, polls, seeks, splices, maps. The kernel has to survive it and to answer
 * each operation with one of the errno values that the documentation names, and
 * before it would report a hung task. The parent looks after that, counts, and
 * ends with 1 if something is wrong. The same seed makes the same choices, as far
 * as the files are the same.
 */

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRACEFS		"/sys/kernel/tracing"
#define MAX_PROCS	64
#define TRACE_MMAP_IOCTL_GET_READER	_IO('R', 0x20)

/* The current operation of a process, for its parent */
struct work {
	char			what[200];
	uint64_t		since;
	uint64_t		done;
	uint64_t		worked;
	unsigned int		strange;
};

static struct work *works, *work;
static uint64_t state;

static const char * const words[] = {
	"0", "1", "2", "3", "-1", "10", "64", "100", "1024", "4096",
	"18446744073709551615", "nop", "function", "function_graph", "blk",
	"irqsoff", "wakeup", "osnoise", "timerlat", "process", "local", "global",
	"counter", "mono", "boot", "uptime", "x86-tsc", "perf", "traceon",
	"traceoff:3", "snapshot", "snapshot:1", "!snapshot", "!traceon",
	"hold", "release",
	"!traceoff:0", "stacktrace", "!stacktrace", "enable_event:sched:sched_switch",
	"!enable_event:sched:sched_switch", "hist:keys=common_pid",
	"!hist:keys=common_pid", "hist:keys=common_pid:pause", "common_pid == 1",
	"common_pid > 0 && common_cpu < 2", "next_comm ~ \"s*\"", "((", "none",
	"sched:*", "!sched:*", "ktrace:*", "!ktrace:*", "syscalls",
	"sched_switch", "irq", "!*:*",
	"vfs_*", "ksys_read", "schedule:traceoff:1", "!schedule:traceoff",
	"schedule:snapshot", "!schedule:snapshot", "schedule:stacktrace:2",
	"p:storm/one vfs_read", "-:storm/one", "r:storm/two ksys_write $retval",
	"-:storm/two", "f:storm/three vfs_write", "-:storm/three",
	"t:storm/four sched_switch", "-:storm/four", "storm_five int a; char b[]",
	"!storm_five", "s:six pid_t pid", "-:six", "u:seven", "record-tgid",
	"norecord-tgid", "irq-info", "noirq-info", "raw", "noraw", "bin", "nobin",
	"hex", "nohex", "overwrite", "nooverwrite", "pause-on-trace",
	"nopause-on-trace", "event-fork", "noevent-fork", "stacktrace",
	"nostacktrace", "a:sched:sched_switch", "100 200", "sh\nbusybox", "*:*",
	"function,event", "all", "marker", "=p", "+t", ":mod:", "",
	"module vmlinux +e", "module vmlinux -e", "func vfs_* -e", "func * +e",
	"system * name * -e", "file shmem.c line 1-1000 +e", "line -100 -e",
	"name shmem* +e", "=e", "func -e", "event,stack", "none,all",
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);

	return t.tv_sec * 1000ULL + t.tv_nsec / 1000000;
}

static unsigned int draw(unsigned int n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;

	return (state >> 20) % n;
}

/*
 * The files of the quilt, and the errno values that Documentation/trace names for
 * reading and writing them, with those of any file below.
 */
static const struct {
	const char	*name;
	int		errs[10];
} documented[] = {
	{ "exports", { ENODEV } },
	{ "snapshot_enabled", { EBUSY, ERANGE, ENODEV } },
	{ "snapshot_pipe", { EBUSY, ERANGE, ENODEV, ENXIO } },
	{ "snapshot_stat", { ENODEV } },
	{ "ktrace_sites", { ENOENT, E2BIG } },
	{ "set_follow_pid", { ESRCH, E2BIG, ENOSPC } },
	{ "set_follow_comm", { ENAMETOOLONG, E2BIG, ENOSPC } },
	{ "set_follow_uid", { E2BIG, ENOSPC } },
	{ "event-follow", { ERANGE } },
};

/* The name of the file in work->what: "read PATH/NAME" or "write PATH/NAME: TEXT" */
static int is_file(const char *name)
{
	const char *path = strchr(work->what, '/');
	size_t len = path ? strcspn(path, ": ") : 0, size = strlen(name);

	return len > size && path[len - size - 1] == '/' &&
	       !strncmp(path + len - size, name, size);
}

static int is_of_any_file(int err)
{
	switch (err) {
	case ENOENT: case EACCES: case EBADF: case EFAULT: case EINTR: case EAGAIN:
	case EINVAL: case ENOMEM: case ESPIPE: case ENODEV: case EOVERFLOW:
		return 1;
	case EBUSY:
		/* There is one reader of snapshot_pipe. */
		return !strncmp(work->what, "open ", 5);
	}

	return 0;
}

/* Of tracefs, of the file systems below it, and of the calls used here */
static int is_documented(int err)
{
	for (size_t i = 0; i < sizeof(documented) / sizeof(*documented); i++) {
		if (!is_file(documented[i].name))
			continue;
		for (size_t j = 0; j < 10; j++) {
			if (documented[i].errs[j] == err)
				return 1;
		}
		return is_of_any_file(err);
	}
	switch (err) {
	case EPERM: case ENOENT: case ESRCH: case EINTR: case EIO: case ENXIO:
	case E2BIG: case EBADF: case EAGAIN: case ENOMEM: case EACCES: case EFAULT:
	case EBUSY: case EEXIST: case ENODEV: case ENOTDIR: case EISDIR:
	case EINVAL: case ENOTTY: case EFBIG: case ENOSPC: case ESPIPE: case EROFS:
	case ERANGE: case ENAMETOOLONG: case ENOTEMPTY: case EOPNOTSUPP:
	case EOVERFLOW: case EILSEQ: case ECANCELED: case ETIMEDOUT: case ENOSYS:
		return 1;
	}

	return 0;
}

static void __attribute__((format(printf, 1, 2))) begin(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(work->what, sizeof(work->what), fmt, args);
	va_end(args);
	__atomic_store_n(&work->since, now(), __ATOMIC_RELEASE);
}

static long end(long ret)
{
	int err = errno;

	__atomic_store_n(&work->since, 0, __ATOMIC_RELEASE);
	work->done++;
	if (ret >= 0) {
		work->worked++;
	} else if (!is_documented(err)) {
		work->strange++;
		printf("strange errno %d (%s): %s\n", err, strerror(err), work->what);
		fflush(stdout);
	}

	return ret;
}

/* A file below @path, or none. Directories of events are many, so go down. */
static int find_file(char *path, size_t size)
{
	for (int depth = 0; depth < 8; depth++) {
		struct dirent *entry;
		unsigned int n = 0;
		struct stat st;
		size_t len;
		DIR *dir;
		char name[256] = "";

		begin("readdir %s", path);
		dir = opendir(path);
		if (!dir)
			return end(-1);
		/* Each has the same chance. */
		while ((entry = readdir(dir))) {
			if (entry->d_name[0] != '.' && !draw(++n))
				snprintf(name, sizeof(name), "%s", entry->d_name);
		}
		closedir(dir);
		end(0);
		len = strlen(path);
		if (!n || len + strlen(name) + 2 > size)
			return -1;
		sprintf(path + len, "/%s", name);
		if (lstat(path, &st))
			return -1;
		if (!S_ISDIR(st.st_mode))
			return 0;
	}

	return -1;
}

/* Operations that stop or fill a machine, with any kernel */
static int is_left_out(const char *path, const char *text)
{
	unsigned long long n = strtoull(text, NULL, 0);

	/* CPUs go offline, or have their interrupts off, for long. */
	if (strstr(text, "mmiotrace") || strstr(text, "hwlat"))
		return 1;
	/* Takes all memory for names, or for records; more than a machine has is refused. */
	if (strstr(path, "saved_cmdlines_size"))
		return n > 10000;

	return strstr(path, "buffer_size_kb") && n > 4096 && n < 1000000000;
}

static const char *draw_text(char *buf, size_t size)
{
	static char line[4096];
	unsigned int lines = 0;
	const char *name;
	FILE *file;
	size_t len;

	switch (draw(8)) {
	case 0:
		len = draw(size - 1);
		for (size_t i = 0; i < len; i++)
			buf[i] = draw(4) ? 32 + draw(95) : draw(256);
		buf[len] = 0;
		return buf;
	case 1:
		len = draw(size - 1);
		memset(buf, "a1 :"[draw(4)], len);
		buf[len] = 0;
		return buf;
	case 2:
		/* Words that the kernel says itself */
		name = draw(2) ? TRACEFS "/available_tracers" : TRACEFS "/set_event";
		file = fopen(name, "re");
		buf[0] = 0;
		while (file && lines < 200 && fgets(line, sizeof(line), file)) {
			if (!draw(++lines))
				snprintf(buf, size, "%s", line);
		}
		if (file)
			fclose(file);
		if (strchr(name, 'v') && strchr(buf, ' '))
			buf[strcspn(buf, " ")] = 0;
		return buf;
	case 3:
		snprintf(buf, size, "%s %s\n", words[draw(sizeof(words) / sizeof(*words))],
			 words[draw(sizeof(words) / sizeof(*words))]);
		return buf;
	}

	snprintf(buf, size, "%s\n", words[draw(sizeof(words) / sizeof(*words))]);

	return buf;
}

static void splice_some(int fd)
{
	int fds[2];

	if (pipe2(fds, O_NONBLOCK | O_CLOEXEC))
		return;
	end(splice(fd, NULL, fds[1], NULL, 4096U << draw(5),
		   draw(2) ? SPLICE_F_NONBLOCK : 0));
	close(fds[0]);
	close(fds[1]);
}

static void map_some(int fd)
{
	size_t size = 4096UL << draw(6);
	char *map = mmap(NULL, size, draw(4) ? PROT_READ : PROT_READ | PROT_WRITE,
			 MAP_SHARED, fd, 4096 * draw(3));

	if (end(map == MAP_FAILED ? -1 : 0))
		return;
	begin("ioctl of a map");
	end(ioctl(fd, TRACE_MMAP_IOCTL_GET_READER));
	munmap(map, size);
}

static void operate(const char *path, int fd)
{
	static char buf[70000];
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLPRI };
	size_t size = draw(3) ? 4096 : draw(sizeof(buf));
	const char *text;

	switch (draw(12)) {
	case 0 ... 4:
		begin("read %s", path);
		end(read(fd, buf, size));
		break;
	case 5 ... 7:
		text = draw_text(buf, draw(10) ? 200 : sizeof(buf));
		if (is_left_out(path, text))
			break;
		begin("write %s: %.60s", path, text);
		end(write(fd, text, strlen(text)));
		break;
	case 8:
		begin("poll %s", path);
		end(poll(&p, 1, draw(20)));
		break;
	case 9:
		begin("lseek %s", path);
		end(lseek(fd, (off_t)draw(100000) - 100, draw(3)));
		break;
	case 10:
		begin("splice %s", path);
		splice_some(fd);
		break;
	case 11:
		begin("mmap %s", path);
		map_some(fd);
		break;
	}
}

static void instance(int nr)
{
	char path[100];

	snprintf(path, sizeof(path), TRACEFS "/instances/storm%d", nr);
	if (draw(2)) {
		begin("mkdir %s", path);
		end(mkdir(path, 0700));
	} else {
		begin("rmdir %s", path);
		end(rmdir(path));
	}
}

static void one_file(void)
{
	static const int modes[] = { O_RDONLY, O_RDONLY, O_WRONLY, O_RDWR,
				     O_WRONLY | O_TRUNC, O_WRONLY | O_APPEND };
	int fd, flags = modes[draw(6)] | O_CLOEXEC;
	char path[512] = TRACEFS;
	unsigned int n = 1 + draw(6);

	/* More often than there are directories */
	if (!draw(3))
		sprintf(path, TRACEFS "/instances/storm%d", draw(3));
	if (find_file(path, sizeof(path)))
		return;
	if ((flags & O_TRUNC) && is_left_out(path, ""))
		return;
	if (draw(4))
		flags |= O_NONBLOCK;
	begin("open %s (%#o)", path, flags);
	fd = end(open(path, flags));
	if (fd < 0)
		return;
	while (n--)
		operate(path, fd);
	begin("close %s", path);
	end(close(fd));
}

static void on_alarm(int sig)
{
	(void)sig;
}

static void run(int nr, uint64_t seed, uint64_t until)
{
	/* This wakes calls that wait for records, again and again. */
	struct itimerval timer = { { 0, 50000 }, { 0, 50000 } };
	struct sigaction action = { .sa_handler = on_alarm };

	work = &works[nr];
	state = seed * 0x9e3779b97f4a7c15ULL + nr + 1;
	for (int i = 0; i < 10; i++)
		draw(2);
	sigaction(SIGALRM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	setitimer(ITIMER_REAL, &timer, NULL);
	while (now() < until) {
		if (draw(20))
			one_file();
		else
			instance(draw(3));
	}
}

/* Seconds after which the kernel reports a hung task, too */
static unsigned int hung_after(void)
{
	FILE *file = fopen("/proc/sys/kernel/hung_task_timeout_secs", "r");
	unsigned int secs = 0;

	if (file) {
		if (fscanf(file, "%u", &secs) != 1)
			secs = 0;
		fclose(file);
	}

	return secs ?: 120;
}

/* Prints and counts those that are in one operation for too long. */
static int look_after(int procs, pid_t *pids, unsigned int limit)
{
	int stuck = 0;

	for (int i = 0; i < procs; i++) {
		uint64_t since = __atomic_load_n(&works[i].since, __ATOMIC_ACQUIRE);
		char command[100];

		if (!since || now() < since + limit * 1000ULL)
			continue;
		stuck++;
		printf("stuck for %u s: %s\n", limit, works[i].what);
		snprintf(command, sizeof(command), "cat /proc/%d/stack /proc/%d/wchan",
			 pids[i], pids[i]);
		fflush(stdout);
		if (system(command))
			printf("no stack\n");
	}

	return stuck;
}

int main(int argc, char **argv)
{
	int seconds = argc > 1 ? atoi(argv[1]) : 0;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	int procs = argc > 3 ? atoi(argv[3]) : 4;
	uint64_t until = now() + seconds * 1000ULL, done = 0, worked = 0;
	int left = procs, bad = 0, status;
	unsigned int limit = hung_after();
	pid_t pids[MAX_PROCS], pid;

	if (seconds < 1 || procs < 1 || procs > MAX_PROCS) {
		fprintf(stderr, "usage: tracefs-storm SECONDS [SEED [PROCESSES]]\n");
		return 2;
	}
	works = mmap(NULL, sizeof(*works) * procs, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (works == MAP_FAILED)
		return 2;
	printf("seed %llu, %d processes, %d s\n", (unsigned long long)seed, procs, seconds);
	fflush(stdout);
	for (int i = 0; i < procs; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			run(i, seed, until);
			_exit(0);
		}
	}
	while (left) {
		pid = waitpid(-1, &status, WNOHANG);
		if (pid > 0) {
			left--;
			if (status) {
				bad++;
				printf("a process ended with %#x\n", status);
			}
		} else if (look_after(procs, pids, limit)) {
			return 1;
		} else {
			poll(NULL, 0, 200);
		}
	}
	for (int i = 0; i < procs; i++) {
		done += works[i].done;
		worked += works[i].worked;
		bad += works[i].strange;
	}
	printf("%llu operations, %llu worked, %d wrong\n", (unsigned long long)done,
	       (unsigned long long)worked, bad);

	return bad || !worked;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Has one allocation after the other fail in operations on the quilt's files: the
 * first one in the first attempt, the second one in the next, until no allocation
 * of an attempt fails.
 *
 * usage: failnth [-ab] [-m DIR] [OPERATION]...
 *
 *   OPERATION  those in the table at the end; all of them unless told; !OPERATION:
 *              all but this one
 *   -a         all allocations; else those after the 48th at growing distances,
 *              as some operations have thousands
 *   -m DIR     where the modules are
 *   -b         spoil the compared state, which has to be noticed
 *
 * An attempt that fails has to say ENOMEM, and nothing may have changed in the
 * files named below. An attempt that succeeds is undone, and then nothing may have
 * changed either. At least one failed allocation has to make its attempt fail.
 *
 * Needs CONFIG_FAULT_INJECTION, FAILSLAB and FAIL_PAGE_ALLOC, also for allocations
 * that may sleep, and the current directory has to be tracefs. The memory of this
 * program is locked, so that page faults allocate nothing.
 */

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define I		"instances/failnth/"
#define MARKERS		20
#define STATE_SIZE	(1 << 20)

struct operation {
	const char	*name;
	/* Not armed: makes the same state for each attempt. */
	void		(*prepare)(void);
	/* Armed: 0 or -errno */
	int		(*run)(void);
	/* Not armed: after each attempt. Returns what is wrong. */
	const char	*(*check)(int ret);
	/* Not armed: after one that succeeded, 0 or -errno */
	int		(*undo)(void);
	/* One that is allowed besides ENOMEM */
	int		also;
	/* Nothing that it allocates makes it fail. */
	int		always;
};

static const char *modules = "/modules";
static int fail_nth, broken, all_of_them;
static pid_t some_task, other_task;
static unsigned int round_nr;

static const char *const state_files[] = {
	"ktrace_sites", "set_event", "exports", "current_tracer",
	I "buffer_size_kb", I "buffer_subbuf_size_kb", I "tracing_on",
	I "snapshot_enabled", I "snapshot_stat", I "current_tracer", I "trace",
	I "set_follow_pid", I "set_follow_comm", I "set_follow_uid",
	I "process_trace_uid_filter", I "process_trace_taskcomm_filter",
	I "process_trace_syscalls", I "exports", I "set_event",
	I "events/oom/mark_victim/trigger",
};

/* Reads a file; an error is part of the text. */
static size_t read_file(const char *path, char *buf, size_t size)
{
	size_t used = 0;
	ssize_t n = 0;
	int fd;

	fd = open(path, O_RDONLY);
	if (fd < 0)
		return snprintf(buf, size, "%s\n", strerror(errno));
	while (used < size - 1) {
		n = read(fd, buf + used, size - 1 - used);
		if (n <= 0)
			break;
		used += n;
	}
	if (n < 0)
		used += snprintf(buf + used, size - used, "%s\n", strerror(errno));
	buf[used] = '\0';
	close(fd);

	return used;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The order in a directory is not part of the state. */
static size_t read_instances(char *buf, size_t size)
{
	char *names[64];
	struct dirent *entry;
	size_t used = 0;
	int nr = 0;
	DIR *dir;

	dir = opendir("instances");
	if (!dir)
		error(1, errno, "instances");
	while ((entry = readdir(dir)) && nr < 64)
		names[nr++] = strdup(entry->d_name);
	closedir(dir);
	qsort(names, nr, sizeof(*names), by_name);
	for (int i = 0; i < nr; i++) {
		used += snprintf(buf + used, size - used, "%s ", names[i]);
		free(names[i]);
	}

	return used;
}

/* Names of the modules, without use counts and addresses */
static size_t read_modules(char *buf, size_t size)
{
	static char text[65536];
	size_t used = 0;

	read_file("/proc/modules", text, sizeof(text));
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		used += snprintf(buf + used, size - used, "%.*s ",
				 (int)strcspn(line, " "), line);

	return used;
}

static void read_state(char *buf)
{
	size_t used = 0;

	for (size_t i = 0; i < sizeof(state_files) / sizeof(*state_files); i++) {
		used += snprintf(buf + used, STATE_SIZE - used, "== %s\n",
				 state_files[i]);
		used += read_file(state_files[i], buf + used, STATE_SIZE - used);
	}
	used += snprintf(buf + used, STATE_SIZE - used, "== instances: ");
	used += read_instances(buf + used, STATE_SIZE - used);
	used += snprintf(buf + used, STATE_SIZE - used, "\n== modules: ");
	used += read_modules(buf + used, STATE_SIZE - used);
	snprintf(buf + used, STATE_SIZE - used, "\n");
}

/* The first lines that are not the same, and where */
static void print_difference(const char *before, const char *after)
{
	const char *file = before, *a = before, *b = after;

	while (*a && *b) {
		size_t la = strcspn(a, "\n"), lb = strcspn(b, "\n");

		if (la != lb || memcmp(a, b, la)) {
			printf("    %.*s\n    < %.*s\n    > %.*s\n",
			       (int)strcspn(file, "\n"), file, (int)la, a,
			       (int)lb, b);
			return;
		}
		if (!strncmp(a, "== ", 3))
			file = a;
		a += la + !!a[la];
		b += lb + !!b[lb];
	}
	printf("    one has more than the other\n");
}

/* As a shell does: echo TEXT >PATH, or >>PATH */
static int put(const char *path, const char *text, int flags)
{
	int fd, ret = 0;

	fd = open(path, O_WRONLY | flags);
	if (fd < 0)
		return -errno;
	if (text[0] && write(fd, text, strlen(text)) < 0)
		ret = -errno;
	if (close(fd) && !ret)
		ret = -errno;

	return ret;
}

static int set(const char *path, const char *text)
{
	return put(path, text, O_TRUNC);
}

static void must(int ret, const char *what)
{
	if (ret)
		error(1, -ret, "%s", what);
}

static void must_set(const char *path, const char *text)
{
	must(set(path, text), path);
}

/* Opening a file, and nothing else */

static int opened = -1;

static int open_file(const char *path)
{
	opened = open(path, O_RDONLY | O_NONBLOCK);

	return opened < 0 ? -errno : 0;
}

static int close_file(void)
{
	int ret = close(opened) ? -errno : 0;

	opened = -1;

	return ret;
}

/* Snapshots */

static void snapshot_off(void)
{
	must_set(I "snapshot_enabled", "0");
}

static int enable_snapshot(void)
{
	return set(I "snapshot_enabled", "1");
}

static int disable_snapshot(void)
{
	return set(I "snapshot_enabled", "0");
}

static void snapshot_on(void)
{
	must_set(I "snapshot_enabled", "1");
}

static int open_pipe(void)
{
	return open_file(I "snapshot_pipe");
}

static int open_cpu_pipe(void)
{
	return open_file(I "per_cpu/cpu0/snapshot_pipe");
}

static int open_stat(void)
{
	return open_file(I "snapshot_stat");
}

static int take_snapshot(void)
{
	return set(I "snapshot_pipe", "1");
}

/* A snapshot that can't be taken leaves the records where they are. */
static void put_markers(void)
{
	char text[32];

	must_set(I "snapshot_enabled", "1");
	must_set(I "trace", " ");
	round_nr++;
	for (int i = 0; i < MARKERS; i++) {
		snprintf(text, sizeof(text), "marker %u.%u", round_nr, i);
		must_set(I "trace_marker", text);
	}
}

static const char *has_markers(const char *text)
{
	char marker[32];

	for (int i = 0; i < MARKERS; i++) {
		snprintf(marker, sizeof(marker), "marker %u.%u\n", round_nr, i);
		text = strstr(text, marker);
		if (!text)
			return "a record is missing, or comes too late";
		text += strlen(marker);
		if (strstr(text, marker))
			return "a record is there twice";
	}

	return NULL;
}

static const char *check_taken(int ret)
{
	static char text[65536];

	read_file(ret ? I "trace" : I "snapshot", text, sizeof(text));
	if (broken)
		*strstr(text, "marker") = 'M';

	return has_markers(text);
}

static void open_taken(const char *path)
{
	/* Records of one CPU for the file of one CPU */
	put_markers();
	must(take_snapshot(), "no snapshot");
	must(open_file(path), path);
}

static void open_taken_pipe(void)
{
	open_taken(I "snapshot_pipe");
}

static char consumed[1 << 17];
static size_t nr_consumed;
static int splice_pipe[2];

static int read_pipe(void)
{
	ssize_t n = read(opened, consumed, sizeof(consumed) - 1);

	nr_consumed = n > 0 ? n : 0;

	return n < 0 ? -errno : 0;
}

static int splice_snapshot(void)
{
	ssize_t n = splice(opened, NULL, splice_pipe[1], NULL, 65536,
			   SPLICE_F_NONBLOCK);

	return n < 0 ? -errno : 0;
}

/* The records that the attempt got and those that are left add up. */
static const char *check_consumed(int ret)
{
	ssize_t n;

	if (ret)
		nr_consumed = 0;
	while ((n = read(opened, consumed + nr_consumed,
			 sizeof(consumed) - 1 - nr_consumed)) > 0)
		nr_consumed += n;
	consumed[nr_consumed] = '\0';
	nr_consumed = 0;
	close_file();

	return has_markers(consumed);
}

static const char *check_spliced(int ret)
{
	ssize_t n;

	nr_consumed = 0;
	while ((n = read(splice_pipe[0], consumed + nr_consumed,
			 sizeof(consumed) - 1 - nr_consumed)) > 0)
		nr_consumed += n;

	return ret && nr_consumed ? "failed, and spliced" : check_consumed(0);
}

/* At an event that nothing else enables */
static int set_trigger(void)
{
	return put(I "events/oom/mark_victim/trigger", "snapshot",
		   O_APPEND);
}

/*
 * Mainline allocates the buffer before it registers the trigger. When that fails,
 * the buffer stays until it is freed by hand.
 */
static const char *check_trigger(int ret)
{
	return ret && disable_snapshot() ? "the buffer can't be freed" : NULL;
}

static int unset_trigger(void)
{
	int ret = put(I "events/oom/mark_victim/trigger", "!snapshot",
		      O_APPEND);

	return ret ?: disable_snapshot();
}

static int resize(void)
{
	return set(I "buffer_size_kb", "32");
}

static int resize_back(void)
{
	return set(I "buffer_size_kb", "8");
}

static int resize_subbufs(void)
{
	return set(I "buffer_subbuf_size_kb", "8");
}

static int resize_subbufs_back(void)
{
	return set(I "buffer_subbuf_size_kb", "4") ?: resize_back();
}

/* A new geometry of the buffers removes their records. */
static void empty_snapshot(void)
{
	snapshot_on();
	must_set(I "trace", " ");
}

/* Instances */

static int make_instance(void)
{
	return mkdir("instances/failnth_other", 0755) ? -errno : 0;
}

static int remove_instance(void)
{
	return rmdir("instances/failnth_other") ? -errno : 0;
}

static void have_instance(void)
{
	if (mkdir("instances/failnth_other", 0755) && errno != EEXIST)
		error(1, errno, "no instance");
}

/* ktrace */

static int mute_sites(void)
{
	return set("ktrace_sites", "module ktrace_sample name net* -e");
}

static int unmute_sites(void)
{
	return set("ktrace_sites", "module ktrace_sample +e");
}

static int enable_ktrace(void)
{
	return put(I "set_event", "ktrace:netdev_event", O_APPEND);
}

static int disable_ktrace(void)
{
	return put(I "set_event", "!ktrace:netdev_event", O_APPEND);
}

/* Modules */

static int kmsg, module_fd = -1;

static int open_module(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s.ko", modules, name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		error(1, errno, "%s", path);

	return fd;
}

static int load_module(void)
{
	return syscall(SYS_finit_module, module_fd, "", 0) ? -errno : 0;
}

static int unload_module(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? -errno : 0;
}

static void open_sample(void)
{
	module_fd = open_module("ktrace-sample");
	lseek(kmsg, 0, SEEK_END);
}

static int unload_sample(void)
{
	return unload_module("ktrace_sample");
}

static void load_ktrace(void)
{
	static char names[4096];

	read_modules(names, sizeof(names));
	if (strstr(names, "ktrace_sample "))
		return;
	open_sample();
	must(load_module(), "ktrace-sample");
	close(module_fd);
}

/* The kernel's log names the sites without an event. */
static const char *check_sample(int ret)
{
	static char text[1 << 18];
	unsigned int sites = 0, off = 0;
	char line[1024];
	int told = 0;
	ssize_t n;

	close(module_fd);
	while ((n = read(kmsg, line, sizeof(line) - 1)) > 0) {
		line[n] = '\0';
		told += !!strstr(line, "ktrace: ");
	}
	if (ret)
		return NULL;

	read_file("ktrace_sites", text, sizeof(text));
	for (char *p = text; (p = strstr(p, "[ktrace_sample]")); p++) {
		sites++;
		off += !!memmem(p, strcspn(p, "\n"), " refused ", 9);
	}
	if (!told && (sites < 4 || off))
		return "a site is off, and no message";
	if (told && sites >= 4 && !off)
		return "a message, and all sites are there";

	return NULL;
}

static void open_demo(void)
{
	module_fd = open_module("export_demo");
}

static const char *close_demo(int ret)
{
	(void)ret;
	close(module_fd);

	return NULL;
}

static int unload_demo(void)
{
	return unload_module("export_demo");
}

static int open_exports(void)
{
	return open_file(I "exports");
}

/* Followed tasks and the tracer of processes */

static char pid_text[16], other_pid_text[16];

static void follow_some(void)
{
	must_set(I "set_follow_pid", pid_text);
}

static int follow_pid(void)
{
	return set(I "set_follow_pid", other_pid_text);
}

static int follow_pid_too(void)
{
	return put(I "set_follow_pid", other_pid_text, O_APPEND);
}

static int follow_some_again(void)
{
	return set(I "set_follow_pid", pid_text);
}

static void follow_no_pid(void)
{
	must_set(I "set_follow_pid", "\n");
}

static int follow_process(void)
{
	return set(I "process_follow_pid", other_pid_text);
}

static int follow_no_process(void)
{
	return set(I "process_follow_pid", "0");
}

static void follow_some_comm(void)
{
	must_set(I "set_follow_comm", "some");
}

static int follow_comm(void)
{
	return set(I "set_follow_comm", "other");
}

static int follow_some_comm_again(void)
{
	return set(I "set_follow_comm", "some");
}

static void follow_no_comm(void)
{
	must_set(I "set_follow_comm", "\n");
}

static int follow_no_comm_again(void)
{
	return set(I "set_follow_comm", "\n");
}

/* As ": >FILE" does: open() alone does the operation. */
static int clear_comm(void)
{
	return set(I "set_follow_comm", "");
}

static const char *check_cleared(int ret)
{
	char text[64];

	read_file(I "set_follow_comm", text, sizeof(text));

	return !ret && text[0] ? "no error, and it is not cleared" : NULL;
}

static void follow_some_uid(void)
{
	must_set(I "set_follow_comm", "\n");
	must_set(I "set_follow_uid", "1000");
}

static int follow_uid(void)
{
	return set(I "set_follow_uid", "2000");
}

static int follow_some_uid_again(void)
{
	return set(I "set_follow_uid", "1000");
}

static void follow_nobody(void)
{
	must_set(I "set_follow_uid", "\n");
	must_set(I "current_tracer", "nop");
	must_set(I "trace", " ");
}

static int start_tracer(void)
{
	return set(I "current_tracer", "process");
}

/* All tasks are traced meanwhile. */
static int stop_tracer(void)
{
	return set(I "current_tracer", "nop") ?: set(I "trace", " ");
}

/* Of the tracer's two filters, the wider one. */
static void with_filter(void)
{
	must_set(I "current_tracer", "nop");
	must_set(I "process_trace_uid_filter", "3000");
}

static void trace_some_users(void)
{
	must_set(I "current_tracer", "process");
	must_set(I "process_trace_uid_filter", "3000");
}

static int filter_uid(void)
{
	return set(I "process_trace_uid_filter", "4000");
}

static int filter_uid_back(void)
{
	return set(I "process_trace_uid_filter", "3000");
}

static int filter_comm(void)
{
	return set(I "process_trace_taskcomm_filter", "other");
}

static int filter_comm_back(void)
{
	return set(I "process_trace_taskcomm_filter", "\n");
}

static void trace_no_syscalls(void)
{
	must_set(I "current_tracer", "process");
	must_set(I "process_trace_syscalls", "0");
}

static int trace_syscalls(void)
{
	return set(I "process_trace_syscalls", "1");
}

static int trace_no_syscalls_again(void)
{
	return set(I "process_trace_syscalls", "0");
}

static void syscall_event(void)
{
	must_set(I "process_trace_syscalls", "1");
	must_set(I "process_trace_uid_filter", "-1");
	must_set(I "current_tracer", "nop");
	must_set(I "set_follow_uid", "1000");
	must_set(I "options/event-follow", "1");
}

static int enable_syscall(void)
{
	return put(I "set_event", "syscalls:sys_enter_openat", O_APPEND);
}

static int disable_syscall(void)
{
	return put(I "set_event", "!syscalls:*", O_APPEND);
}

static const struct operation operations[] = {
	{ .name = "snapshot_enabled", .prepare = snapshot_off,
	  .run = enable_snapshot, .undo = disable_snapshot },
	{ .name = "open_snapshot_pipe", .prepare = snapshot_on,
	  .run = open_pipe, .undo = close_file },
	{ .name = "open_cpu_snapshot_pipe", .prepare = snapshot_on,
	  .run = open_cpu_pipe, .undo = close_file },
	{ .name = "open_snapshot_stat", .prepare = snapshot_on,
	  .run = open_stat, .undo = close_file },
	{ .name = "take_snapshot", .prepare = put_markers,
	  .run = take_snapshot, .check = check_taken },
	{ .name = "read_snapshot_pipe", .prepare = open_taken_pipe,
	  .run = read_pipe, .check = check_consumed, .always = 1 },
	{ .name = "splice_snapshot_pipe", .prepare = open_taken_pipe,
	  .run = splice_snapshot, .check = check_spliced },
	{ .name = "buffer_size", .prepare = empty_snapshot,
	  .run = resize, .undo = resize_back },
	{ .name = "subbuf_size", .prepare = empty_snapshot,
	  .run = resize_subbufs, .undo = resize_subbufs_back },
	{ .name = "snapshot_trigger", .prepare = snapshot_off,
	  .run = set_trigger, .check = check_trigger, .undo = unset_trigger },
	/* Mainline has no other error for a directory that it can't make. */
	{ .name = "make_instance", .run = make_instance, .undo = remove_instance,
	  .also = EINVAL },
	{ .name = "remove_instance", .prepare = have_instance,
	  .run = remove_instance, .always = 1 },
	{ .name = "load_ktrace_module", .prepare = open_sample,
	  .run = load_module, .check = check_sample, .undo = unload_sample },
	{ .name = "ktrace_sites", .prepare = load_ktrace,
	  .run = mute_sites, .undo = unmute_sites },
	{ .name = "enable_ktrace", .prepare = load_ktrace,
	  .run = enable_ktrace, .undo = disable_ktrace },
	{ .name = "open_exports", .run = open_exports, .undo = close_file },
	{ .name = "load_export_module", .prepare = open_demo,
	  .run = load_module, .check = close_demo, .undo = unload_demo },
	{ .name = "set_follow_pid", .prepare = follow_some,
	  .run = follow_pid, .undo = follow_some_again },
	{ .name = "add_follow_pid", .prepare = follow_some,
	  .run = follow_pid_too, .undo = follow_some_again },
	{ .name = "process_follow_pid", .prepare = follow_no_pid,
	  .run = follow_process, .undo = follow_no_process },
	{ .name = "set_follow_comm", .prepare = follow_some_comm,
	  .run = follow_comm, .undo = follow_some_comm_again },
	{ .name = "first_follow_comm", .prepare = follow_no_comm,
	  .run = follow_comm, .undo = follow_no_comm_again },
	{ .name = "clear_follow_comm", .prepare = follow_some_comm,
	  .run = clear_comm, .check = check_cleared, .undo = follow_some_comm_again },
	{ .name = "set_follow_uid", .prepare = follow_some_uid,
	  .run = follow_uid, .undo = follow_some_uid_again },
	{ .name = "process_tracer", .prepare = follow_nobody,
	  .run = start_tracer, .undo = stop_tracer },
	{ .name = "process_tracer_filtered", .prepare = with_filter,
	  .run = start_tracer, .undo = stop_tracer },
	{ .name = "process_trace_uid_filter", .prepare = trace_some_users,
	  .run = filter_uid, .undo = filter_uid_back },
	{ .name = "process_trace_taskcomm_filter", .prepare = trace_some_users,
	  .run = filter_comm, .undo = filter_comm_back },
	{ .name = "process_trace_syscalls", .prepare = trace_no_syscalls,
	  .run = trace_syscalls, .undo = trace_no_syscalls_again },
	{ .name = "followed_syscall_event", .prepare = syscall_event,
	  .run = enable_syscall, .undo = disable_syscall },
};

static void arm(unsigned int nth)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", nth);
	if (pwrite(fail_nth, text, strlen(text), 0) < 0)
		error(1, errno, "fail-nth");
}

/* Disarms. True if the allocation has not been reached. */
static int armed(void)
{
	char text[16] = "";

	if (pread(fail_nth, text, sizeof(text) - 1, 0) < 0)
		error(1, errno, "fail-nth");
	arm(0);

	return atoi(text) > 0;
}

/* Returns what is wrong with an attempt, and counts those that failed. */
static const char *attempt(const struct operation *op, unsigned int nth,
			   unsigned int *failed, int *done)
{
	static char before[STATE_SIZE], after[STATE_SIZE], text[128];
	const char *wrong = NULL;
	int ret, err;

	if (op->prepare)
		op->prepare();
	read_state(before);
	arm(nth);
	ret = op->run();
	err = ret;
	*done = armed();

	if (op->check)
		wrong = op->check(ret);
	if (wrong)
		return wrong;

	if (ret) {
		++*failed;
		if (*done || (ret != -ENOMEM && ret != -op->also)) {
			snprintf(text, sizeof(text), "it fails: %s", strerror(-ret));
			return text;
		}
	} else if (op->undo) {
		ret = op->undo();
		if (ret) {
			snprintf(text, sizeof(text), "can't be undone: %s",
				 strerror(-ret));
			return text;
		}
	} else {
		/* The next prepare() undoes its changes. */
		return NULL;
	}

	read_state(after);
	if (broken && !op->check)
		after[strlen(after) / 2] ^= 1;
	if (strcmp(before, after)) {
		print_difference(before, after);
		return err ? "it fails and changes something" :
			"something has changed when it is undone";
	}

	return NULL;
}

static int try_all(const struct operation *op)
{
	unsigned int attempts = 0, failed = 0, wrong = 0, nth;
	const char *what;
	int done = 0;

	for (nth = 1; !done; nth += all_of_them || nth < 48 ? 1 : nth / 16) {
		what = attempt(op, nth, &failed, &done);
		attempts++;
		if (!what)
			continue;
		printf("  %s: allocation %u: %s\n", op->name, nth, what);
		if (++wrong == 5)
			break;
	}
	if (!wrong && !failed && !op->always) {
		printf("  %s: no allocation makes it fail\n", op->name);
		wrong++;
	}
	printf("%s %s: %u attempts, %u of them fail\n", wrong ? "not ok" : "ok",
	       op->name, attempts, failed);
	fflush(stdout);

	return wrong;
}

/* A task to follow, which does nothing */
static pid_t sleeper(char *text, size_t size)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	if (pid < 0)
		error(1, errno, "fork");
	snprintf(text, size, "%d", pid);

	return pid;
}

static int chosen(const struct operation *op, char **names)
{
	int others = !*names || **names == '!';

	for (; *names; names++) {
		if (**names == '!' && !strcmp(*names + 1, op->name))
			return 0;
		if (!strcmp(*names, op->name))
			return 1;
	}

	return others;
}

int main(int argc, char **argv)
{
	unsigned int passed = 0, failed = 0;
	int c;

	while ((c = getopt(argc, argv, "abm:")) > 0) {
		switch (c) {
		case 'a':
			all_of_them = 1;
			break;
		case 'b':
			broken = 1;
			break;
		case 'm':
			modules = optarg;
			break;
		default:
			return 2;
		}
	}

	some_task = sleeper(pid_text, sizeof(pid_text));
	other_task = sleeper(other_pid_text, sizeof(other_pid_text));
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		error(1, errno, "mlockall");
	fail_nth = open("/proc/thread-self/fail-nth", O_RDWR);
	if (fail_nth < 0)
		error(1, errno, "/proc/thread-self/fail-nth");
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	if (kmsg < 0 || pipe2(splice_pipe, O_NONBLOCK))
		error(1, errno, "/dev/kmsg, or a pipe");
	if (mkdir("instances/failnth", 0755) && errno != EEXIST)
		error(1, errno, "no instance");
	must_set(I "buffer_size_kb", "8");

	for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++) {
		if (!chosen(&operations[i], argv + optind))
			continue;
		if (try_all(&operations[i]))
			failed++;
		else
			passed++;
	}

	must_set(I "set_follow_pid", "\n");
	must_set(I "set_follow_comm", "\n");
	must_set(I "set_follow_uid", "\n");
	must_set(I "current_tracer", "nop");
	unload_sample();
	kill(some_task, SIGKILL);
	kill(other_task, SIGKILL);
	if (rmdir("instances/failnth"))
		error(1, errno, "the instance can't be removed");

	printf("%u passed, %u failed\n", passed, failed);

	return failed || !passed;
}

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
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define INSTANCE	"/sys/kernel/tracing/instances/strace"
#define FORMATS		"/sys/kernel/tracing/events/ftrace"
#define LOGS		"/tmp/strace"
#define STRACE		"/usr/bin/strace"
#define MAX_ARGS	6
/* Not by way of the tracepoint of exits, there. */
#ifdef __aarch64__
#define CHILD_IS_SEEN	false
#else
#define CHILD_IS_SEEN	true
#endif

enum difference {
	CHILD_RETURNS, SIGRETURN, OTHER_SIZE, NO_RESULT, KILLED, STOPPED_BY, LIFE, NAMES, COMPAT_NAMES,
	NOT_ENTERED, STARTER, UNSEEN, RESTARTED, DEADLY, TIMING, ONLY_STRACE, REAPED,
	NR_DIFFERENCES
};

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

static uint64_t differences[NR_DIFFERENCES];

enum kind { ENTER, RETURN, SIGNAL, END, FORK, EXEC, STOPPED, SUPERSEDED };

static const char * const kind_names[] = {
	"call", "result", "signal", "end", "fork", "exec", "stop", "superseded",
};

struct event {
	enum kind	kind;
	int		pid;
	uint64_t	ts;
	long		nr;
	int		compat;
	unsigned int	nargs;
	uint64_t	args[MAX_ARGS];
	int64_t		ret;
	int		sig, code, sender, errnum;
	/* END: as of wait(), and the last one of its process? */
	int		status;
	bool		dead;
	/* FORK: the child; EXEC and SUPERSEDED: the thread */
	int		other;
	/* FORK: the process of the child, and the flags */
	int		tgid;
	uint64_t	flags;
	/* For each argument, as the tracer has read or strace printed it */
	char		*strings[MAX_ARGS + 1];
	unsigned int	cut;
	char		*text;
};

struct events {
	struct event	*event;
	size_t		nr, size;
};

struct task {
	int		pid, parent, tgid;
	char		place[128];
	unsigned int	children;
	/* The pid namespace, that of its children, and its pid there; 0: the initial one */
	int		ns, child_ns, number;
	struct events	events;
};

struct run {
	const char	*name;
	struct task	task[1024];
	unsigned int	nr;
	int		starter;
	int		status;
};

static struct run strace = { .name = "strace" }, tracer = { .name = "tracer" };
static struct events all;
static bool apart, paths;
static const char *mutation, *excluded[16];
static int nr_excluded, namespaces;
static uint64_t calls, signals, strings;

__attribute__((noreturn, format(printf, 1, 2)))
static void fail(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	printf("process-compare: ");
	vprintf(fmt, args);
	printf("\n");
	va_end(args);
	exit(1);
}

static void *more(void *p, size_t size)
{
	p = realloc(p, size);
	if (!p)
		fail("no memory");
	return p;
}

static struct event *add(struct events *events)
{
	if (events->nr == events->size) {
		events->size = events->size ? events->size * 2 : 64;
		events->event = more(events->event, events->size * sizeof(*events->event));
	}
	memset(&events->event[events->nr], 0, sizeof(*events->event));
	return &events->event[events->nr++];
}

static void remove_event(struct events *events, size_t i)
{
	events->nr--;
	memmove(&events->event[i], &events->event[i + 1],
		(events->nr - i) * sizeof(*events->event));
}

static struct task *task_of(struct run *run, int pid)
{
	for (unsigned int i = 0; i < run->nr; i++) {
		if (run->task[i].pid == pid)
			return &run->task[i];
	}
	return NULL;
}

static struct task *task_at(struct run *run, const char *place)
{
	for (unsigned int i = 0; i < run->nr; i++) {
		if (!strcmp(run->task[i].place, place))
			return &run->task[i];
	}
	return NULL;
}

static struct task *add_task(struct run *run, int pid)
{
	struct task *task = &run->task[run->nr++];

	if (run->nr == sizeof(run->task) / sizeof(*run->task))
		fail("too many tasks");
	task->pid = pid;
	return task;
}

/* Where it is in the tree: the second child of the first is 0.1.2. */
static void place_child(struct run *run, struct task *parent, int pid)
{
	struct task *child = task_of(run, pid);

	if (!child)
		fail("%s: there is nothing of %d, a child of %d", run->name, pid, parent->pid);
	child->parent = parent->pid;
	snprintf(child->place, sizeof(child->place), "%.100s.%u", parent->place,
		 ++parent->children);
}

static bool is_fork(long nr, int compat)
{
	if (compat)
		return nr == 2 || nr == 120 || nr == 190 || nr == 435;
#ifdef SYS_fork
	if (nr == SYS_fork || nr == SYS_vfork)
		return true;
#endif
	return nr == SYS_clone || nr == SYS_clone3;
}

static bool is_exec(long nr, int compat)
{
	return compat ? nr == 11 || nr == 358 : nr == SYS_execve || nr == SYS_execveat;
}

static bool is_sigreturn(const struct event *e)
{
	return e->nr == SYS_rt_sigreturn || (e->compat && (e->nr == 173 || e->nr == 119));
}

static bool is_restart(int64_t ret)
{
	return ret <= -512 && ret >= -516;
}

static char *read_whole(const char *path)
{
	size_t size = 0;
	char *text = NULL;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fail("%s: %s", path, strerror(errno));
	do {
		text = more(text, size + 65537);
		n = read(fd, text + size, 65536);
		if (n < 0)
			fail("%s: %s", path, strerror(errno));
		size += n;
	} while (n);
	text[size] = '\0';
	close(fd);

	return text;
}

/*
 * The output of strace: one file for each task, which has lines like these, raw or
 * with strings.
 *
 * [ 257] openat(0xffffff9c, 0x7ffff7ff30b1, 0x80000, 0) = 0x3
 * [  34] pause()                          = ?
 * [  62] --- SIGTERM {si_signo=15, si_code=0, si_pid=27809, si_uid=0} ---
 * [  62] +++ killed by SIGTERM +++
 */

static int signal_number(const char *name, size_t len)
{
	static const char * const names[] = {
		[SIGHUP] = "HUP", [SIGINT] = "INT", [SIGQUIT] = "QUIT", [SIGILL] = "ILL",
		[SIGTRAP] = "TRAP", [SIGABRT] = "ABRT", [SIGBUS] = "BUS", [SIGFPE] = "FPE",
		[SIGKILL] = "KILL", [SIGUSR1] = "USR1", [SIGSEGV] = "SEGV", [SIGUSR2] = "USR2",
		[SIGPIPE] = "PIPE", [SIGALRM] = "ALRM", [SIGTERM] = "TERM", [SIGCHLD] = "CHLD",
		[SIGCONT] = "CONT", [SIGSTOP] = "STOP", [SIGWINCH] = "WINCH", [SIGSYS] = "SYS",
	};

	if (len > 6 && !strncmp(name, "SIGRT_", 6))
		return 32 + atoi(name + 6);
	for (unsigned int i = 1; i < sizeof(names) / sizeof(*names); i++) {
		if (names[i] && strlen(names[i]) + 3 == len && !strncmp(name + 3, names[i], len - 3))
			return i;
	}
	return 0;
}

static long field(const char *line, const char *name)
{
	const char *at = strstr(line, name);

	return at ? (int)strtol(at + strlen(name), NULL, 0) : 0;
}

static void parse_signal(struct event *e, const char *text)
{
	e->kind = SIGNAL;
	e->sig = signal_number(text + 4, strcspn(text + 4, " "));
	e->code = (int)strtoul(strstr(text, "si_code=") ? strstr(text, "si_code=") + 8 : "0", NULL, 0);
	e->sender = field(text, "si_pid=");
	e->errnum = field(text, "si_errno=");
}

static void parse_end(struct event *e, const char *text)
{
	e->kind = END;
	if (!strncmp(text, "+++ exited with ", 16)) {
		e->status = atoi(text + 16) << 8;
	} else if (!strncmp(text, "+++ killed by ", 14)) {
		e->status = signal_number(text + 14, strcspn(text + 14, " "));
		if (strstr(text, "(core dumped)"))
			e->status |= 0x80;
	} else {
		e->kind = SUPERSEDED;
		if (sscanf(text, "+++ superseded by execve in pid %d", &e->other) != 1)
			fail("strace: what is this: %s", text);
	}
}

/* The end of the argument that begins here */
static const char *end_of_argument(const char *p)
{
	int depth = 0;
	bool quoted = false;

	for (; *p; p++) {
		if (quoted) {
			if (*p == '\\' && p[1])
				p++;
			else if (*p == '"')
				quoted = false;
		} else if (*p == '"') {
			quoted = true;
		} else if (strchr("([{", *p)) {
			depth++;
		} else if (strchr(")]}", *p)) {
			if (!depth--)
				break;
		} else if (*p == ',' && !depth) {
			break;
		}
	}
	return p;
}

/* The text between quotes, as the task has it; NULL when it is no string */
static char *unquote(const char *p)
{
	char *text = more(NULL, strlen(p) + 4), *to = text;
	static const char from[] = "nrtfv\"\\", into[] = "\n\r\t\f\v\"\\";
	const char *known;

	if (*p++ != '"')
		return NULL;
	for (; *p && *p != '"'; p++) {
		if (*p != '\\') {
			*to++ = *p;
		} else if (p++, (known = strchr(from, *p)) && *p) {
			*to++ = into[known - from];
		} else {
			int byte = 0, n;

			for (n = 0; n < 3 && *p >= '0' && *p <= '7'; n++, p++)
				byte = byte * 8 + *p - '0';
			*to++ = byte;
			p--;
		}
	}
	*to = '\0';
	return text;
}

static void parse_result(struct event *e, const char *text)
{
	static const char * const restarts[] = {
		"SYS", "NOINTR", "NOHAND", NULL, "_RESTARTBLOCK",
	};

	e->kind = RETURN;
	e->text = strdup(text);
	for (int i = 0; !strncmp(text, "? ERESTART", 10) && i < 5; i++) {
		if (restarts[i] && !strncmp(text + 10, restarts[i], strlen(restarts[i])))
			e->ret = -512 - i;
	}
	if (e->ret)
		return;
	if (!strncmp(text, "-1 E", 4)) {
		int number;

		/* "-1 ENOENT (...)" says the number with words only. */
		if (sscanf(text, "-1 %*[A-Z0-9_] (Unknown error %d)", &number) == 1) {
			e->ret = -number;
			return;
		}
		for (number = 1; number < 200; number++) {
			const char *name = strerrorname_np(number);

			if (name && !strncmp(text + 3, name, strlen(name)) &&
			    text[3 + strlen(name)] == ' ') {
				e->ret = -number;
				return;
			}
		}
		fail("strace: what is this error: %s", text);
	}
	e->ret = strtoull(text, NULL, 0);
}

static void parse_call(struct task *task, long nr, const char *text)
{
	struct event *e = add(&task->events);
	const char *p = strchr(text, '('), *end;
	const char *name_end = p;

	if (!p)
		fail("strace: what is this: %s", text);
	e->kind = ENTER;
	e->pid = task->pid;
	e->nr = nr;
	e->text = strndup(text, name_end - text);
	if (nr < 0 && !strncmp(e->text, "syscall_", 8))
		e->nr = strtoul(e->text + 8, NULL, 0);
	nr = e->nr;

	for (p++; *p && *p != ')'; p = end + strspn(end, ", ")) {
		end = end_of_argument(p);
		if (e->nargs < MAX_ARGS) {
			e->args[e->nargs] = strtoull(p, NULL, 0);
			e->strings[e->nargs] = paths ? unquote(p) : NULL;
			e->nargs++;
		}
		if (*end == ')' || !*end) {
			p = end;
			break;
		}
		/* "AT_FDCWD <unfinished ...>" does not come with -ff. */
	}
	/* Its thread is the first one then, whose file has the rest. */
	if (strstr(text, "<pid changed to "))
		return;
	p = strstr(p, " = ");
	if (!p)
		fail("strace: a call without result: %s", text);
	p += 3;
	if (!strcmp(p, "?"))
		return;
	e = add(&task->events);
	e->pid = task->pid;
	e->nr = nr;
	parse_result(e, p);
}

static void parse_line(struct task *task, const char *line)
{
	const char *text = strchr(line, ']');
	long nr = strtol(line + 1, NULL, 10);
	struct event *e;

	if (*line != '[' || !text || text[1] != ' ')
		fail("strace: what is this: %s", line);
	if (line[1] == '?')
		nr = -1;
	text += 2;
	if (!strncmp(text, "[ Process PID=", 14))
		return;
	if (!strncmp(text, "<... ", 5)) {
		/* The rest of an execve that another thread began */
		text = strstr(text, " = ");
		e = add(&task->events);
		e->pid = task->pid;
		e->nr = nr;
		parse_result(e, text ? text + 3 : "?");
	} else if (!strncmp(text, "--- stopped by ", 15)) {
		e = add(&task->events);
		e->kind = STOPPED;
	} else if (!strncmp(text, "---", 3)) {
		parse_signal(e = add(&task->events), text);
	} else if (!strncmp(text, "+++", 3)) {
		parse_end(e = add(&task->events), text);
	} else {
		parse_call(task, nr, text);
		return;
	}
	e->pid = task->pid;
	if (!e->text)
		e->text = strdup(text);
}

/* The calls of a 32-bit task are known by their names. */
static void find_compat(struct task *task)
{
	static const struct {
		const char *name;
		int nr, compat_nr;
	} known[] = {
		{ "open", 2, 5 }, { "read", 0, 3 }, { "openat", 257, 295 }, { "mmap2", -1, 192 },
		{ "getpid", 39, 20 }, { "getuid", 102, 24 }, { "rt_sigaction", 13, 174 },
		{ "kill", 62, 37 }, { "rt_sigreturn", 15, 173 }, { "fork", 57, 2 },
		{ "waitpid", -1, 7 }, { "execve", 59, 11 }, { "exit", 60, 1 }, { "brk", 12, 45 },
		{ "write", 1, 4 }, { "exit_group", 231, 252 },
	};

	for (size_t i = 0; i < task->events.nr; i++) {
		struct event *e = &task->events.event[i];

		/* -1: a name that the other ones do not have either */
		e->compat = -1;
		if (e->kind != ENTER)
			continue;
		for (unsigned int k = 0; k < sizeof(known) / sizeof(*known); k++) {
			if (!strcmp(e->text, known[k].name))
				e->compat = e->nr == known[k].compat_nr ? 1 :
					    e->nr == known[k].nr ? 0 : -1;
		}
	}
}

static void read_strace(void)
{
	char path[64], *text, *line, *end;
	FILE *list = popen("ls -v " LOGS, "r");
	int pid;

	while (fscanf(list, " log.%d", &pid) == 1) {
		struct task *task = add_task(&strace, pid);

		snprintf(path, sizeof(path), LOGS "/log.%d", pid);
		text = read_whole(path);
		for (line = text; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			parse_line(task, line);
		}
		free(text);
		find_compat(task);
	}
	pclose(list);
	if (!strace.nr)
		fail("strace has written nothing");
}

static void place_strace(struct task *task)
{
	for (size_t i = 0; i < task->events.nr; i++) {
		const struct event *e = &task->events.event[i];

		if (e->kind == RETURN && e->ret > 0 && i && task->events.event[i - 1].kind == ENTER &&
		    is_fork(e->nr, task->events.event[i - 1].compat == 1)) {
			struct task *child = task_of(&strace, e->ret);

			place_child(&strace, task, e->ret);
			place_strace(child);
		}
	}
}

/* The records of the tracer */

struct format_field {
	const char	*name;
	int		offset, size;
};

enum { FORK_FORMAT, EXEC_FORMAT, EXIT_FORMAT, SIGNAL_FORMAT, ENTER_FORMAT, RETURN_FORMAT,
       NR_FORMATS };

static struct format {
	const char		*name;
	int			id;
	struct format_field	field[8];
} formats[NR_FORMATS] = {
	[FORK_FORMAT] = { "process_fork", 0, { { "child" }, { "child_tgid" }, { "clone_flags" } } },
	[EXEC_FORMAT] = { "process_exec", 0, { { "old_pid" }, { "filename" } } },
	[EXIT_FORMAT] = { "process_exit", 0, { { "code" }, { "group_dead" } } },
	[SIGNAL_FORMAT] = { "process_signal", 0, { { "sig" }, { "code" }, { "sender" }, { "errno" } } },
	[ENTER_FORMAT] = { "process_sys_enter", 0, { { "nr" }, { "compat" }, { "args" },
		{ "strings_mask" }, { "strings_cut" }, { "nr_args" } } },
	[RETURN_FORMAT] = { "process_sys_exit", 0, { { "nr" }, { "compat" }, { "ret" } } },
};

static void read_format(struct format *format)
{
	char path[128], *text, *at, pattern[64];

	snprintf(path, sizeof(path), FORMATS "/%s/format", format->name);
	text = read_whole(path);
	at = strstr(text, "ID: ");
	format->id = at ? atoi(at + 4) : 0;
	for (struct format_field *f = format->field; f->name; f++) {
		at = NULL;
		for (const char *end = ";[("; *end && !at; end++) {
			snprintf(pattern, sizeof(pattern), " %s%c", f->name, *end);
			at = strstr(text, pattern);
		}
		if (!at || sscanf(strstr(at, "offset:"), "offset:%d;\tsize:%d;", &f->offset,
				  &f->size) != 2)
			fail("%s has no field %s", path, f->name);
	}
	free(text);
}

static int64_t get(const struct format *format, int index, const char *data)
{
	const struct format_field *f = &format->field[index];
	int64_t val64;
	int32_t val;
	uint16_t val16;

	switch (f->size) {
	case 1:
		return (uint8_t)data[f->offset];
	case 2:
		memcpy(&val16, data + f->offset, 2);
		return val16;
	case 4:
		memcpy(&val, data + f->offset, 4);
		return val;
	default:
		memcpy(&val64, data + f->offset, 8);
		return val64;
	}
}

static void take_strings(struct event *e, const struct format *format, const char *data,
			 unsigned int mask, size_t len)
{
	/* Behind the arguments */
	const char *p = data + format->field[2].offset + get(format, 5, data) * sizeof(long);
	const char *end = data + len;

	for (unsigned int i = 0; i < MAX_ARGS; i++) {
		if (!(mask & (1 << i)))
			continue;
		if (p >= end)
			fail("tracer: a record is too short for its strings");
		e->strings[i] = strndup(p, end - p);
		p += strlen(e->strings[i]) + 1;
	}
}

static void take_record(uint64_t ts, const char *data, size_t len)
{
	struct event *e = add(&all);
	const struct format *format;
	unsigned int i;
	uint16_t type;

	memcpy(&type, data, sizeof(type));
	memcpy(&e->pid, data + 4, sizeof(e->pid));
	e->ts = ts;
	for (i = 0; i < NR_FORMATS && formats[i].id != type; i++)
		;
	format = &formats[i];
	switch (i) {
	case FORK_FORMAT:
		e->kind = FORK;
		e->other = get(format, 0, data);
		e->tgid = get(format, 1, data);
		e->flags = get(format, 2, data);
		break;
	case EXEC_FORMAT:
		e->kind = EXEC;
		e->other = get(format, 0, data);
		e->strings[0] = strdup(data + format->field[1].offset);
		break;
	case EXIT_FORMAT:
		e->kind = END;
		e->status = get(format, 0, data);
		e->dead = get(format, 1, data);
		break;
	case SIGNAL_FORMAT:
		e->kind = SIGNAL;
		e->sig = get(format, 0, data);
		e->code = get(format, 1, data);
		e->sender = get(format, 2, data);
		e->errnum = get(format, 3, data);
		break;
	case ENTER_FORMAT:
		e->kind = ENTER;
		e->nr = get(format, 0, data);
		e->compat = get(format, 1, data);
		e->nargs = get(format, 5, data);
		if (e->nargs > MAX_ARGS)
			fail("tracer: a call with %u arguments", e->nargs);
		memcpy(e->args, data + format->field[2].offset, e->nargs * sizeof(long));
		e->cut = get(format, 4, data);
		take_strings(e, format, data, get(format, 3, data), len);
		break;
	case RETURN_FORMAT:
		e->kind = RETURN;
		e->nr = get(format, 0, data);
		e->compat = get(format, 1, data);
		e->ret = get(format, 2, data);
		break;
	default:
		fail("tracer: a record of type %u", type);
	}
}

/* Pages of the ring buffer: events/header_page and events/header_event */
static void take_page(const char *page, size_t size)
{
	uint64_t ts, commit;
	const char *p = page + 16, *end;

	memcpy(&ts, page, 8);
	memcpy(&commit, page + 8, 8);
	if (commit & (1u << 31))
		fail("tracer: records are lost: the buffer is too small");
	end = p + (commit & 0xfffff);
	if (end > page + size)
		fail("tracer: a page has %zu bytes and says %zu", size, (size_t)commit);
	while (p < end) {
		uint32_t word, len, extra;
		const char *data = p + 4;

		memcpy(&word, p, 4);
		memcpy(&extra, p + 4, 4);
		len = (word & 0x1f) * 4;
		switch (word & 0x1f) {
		case 29:	/* padding */
			ts += word >> 5;
			p += extra + 4;
			continue;
		case 30:	/* a long time */
			ts += (word >> 5) + ((uint64_t)extra << 27);
			p += 8;
			continue;
		case 31:	/* a time of its own */
			ts = (word >> 5) + ((uint64_t)extra << 27);
			p += 8;
			continue;
		case 0:
			len = extra - 4;
			data = p + 8;
			break;
		}
		ts += word >> 5;
		take_record(ts, data, len);
		p = data + ((len + 3) & ~3U);
	}
}

static int by_time(const void *one, const void *two)
{
	const struct event *a = one, *b = two;

	return a->ts < b->ts ? -1 : a->ts > b->ts;
}

/* The part of each line behind the time: "openat(dfd=AT_FDCWD, ..." */
static void take_texts(char *text)
{
	char *line, *end, *body;
	size_t i = 0;

	for (line = text; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		if (*line == '#' || !*line)
			continue;
		body = strstr(line, ": ");
		if (!body || i == all.nr)
			fail("tracer: trace has %s", body ? "more lines than records" : line);
		all.event[i++].text = strdup(body + 2);
	}
	if (i != all.nr)
		fail("tracer: trace has %zu lines, and there are %zu records", i, all.nr);
	free(text);
}

static void read_tracer(void)
{
	static char page[1 << 16];
	char path[128], *text = read_whole(INSTANCE "/trace");
	ssize_t n;

	for (int i = 0; i < NR_FORMATS; i++)
		read_format(&formats[i]);
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
		int fd;

		snprintf(path, sizeof(path), INSTANCE "/per_cpu/cpu%d/trace_pipe_raw", cpu);
		fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			fail("%s: %s", path, strerror(errno));
		while ((n = read(fd, page, sizeof(page))) > 0)
			take_page(page, n);
		if (n < 0 && errno != EAGAIN)
			fail("%s: %s", path, strerror(errno));
		close(fd);
	}
	qsort(all.event, all.nr, sizeof(*all.event), by_time);
	take_texts(text);
}

static bool is(const struct event *e, enum kind kind)
{
	return e && e->kind == kind;
}

/* A new task is in the namespace of its parent, or in the one that this has made. */
static void place_in_namespace(const struct task *parent, struct task *child, uint64_t flags)
{
	child->ns = flags & CLONE_THREAD ? parent->ns : parent->child_ns;
	if (flags & CLONE_NEWPID)
		child->ns = ++namespaces;
	child->child_ns = child->ns;
	if (!child->ns)
		child->number = child->pid;
	else if (child->ns != parent->ns)
		child->number = 1;
}

/* unshare(CLONE_NEWPID) is for the children. */
static void leave_namespace(struct task *task, const struct event *e)
{
	const struct events *before = &task->events;

	if (e->kind == RETURN && e->nr == SYS_unshare && !e->compat && !e->ret && before->nr &&
	    is(&before->event[before->nr - 1], ENTER) &&
	    before->event[before->nr - 1].args[0] & CLONE_NEWPID)
		task->child_ns = ++namespaces;
}

/* The pid of a task as another one sees it, 0 if it does not */
static int pid_seen(const struct task *viewer, int pid)
{
	const struct task *task = task_of(&tracer, pid);

	if (!viewer->ns)
		return pid;
	return task && task->ns == viewer->ns ? task->number : 0;
}

static const struct task *task_with_number(int ns, int number)
{
	for (unsigned int i = 0; i < tracer.nr; i++) {
		if (tracer.task[i].ns == ns && tracer.task[i].number == number)
			return &tracer.task[i];
	}
	return NULL;
}

/* In a namespace, a fork returns the pid there, and its record has the one outside. */
static void number_tasks(void)
{
	for (unsigned int i = 0; i < tracer.nr; i++) {
		const struct events *events = &tracer.task[i].events;
		int ns = tracer.task[i].ns;

		for (size_t j = 0; ns && j + 1 < events->nr; j++) {
			const struct event *e = &events->event[j];
			struct task *child = e->kind == FORK ? task_of(&tracer, e->other) : NULL;

			if (!child || child->ns != ns || e[1].kind != RETURN)
				continue;
			if (task_with_number(ns, e[1].ret))
				fail("two tasks have the pid %" PRId64 " in a namespace", e[1].ret);
			child->number = e[1].ret;
		}
	}
}

/* Is that the pid that the task itself sees? */
static void check_numbers(void)
{
	for (unsigned int i = 0; i < tracer.nr; i++) {
		const struct task *task = &tracer.task[i];

		for (size_t j = 0; j < task->events.nr; j++) {
			const struct event *e = &task->events.event[j];

			if (e->kind == RETURN && !e->compat &&
			    (e->nr == SYS_gettid || e->nr == SYS_set_tid_address) &&
			    e->ret != pid_seen(task, task->pid))
				fail("task %d has the pid %" PRId64 " in its namespace, and not %d",
				     task->pid, e->ret, task->number);
		}
	}
}

/* All that come from the one that was started */
static void place_tracer(int root)
{
	struct task *task = add_task(&tracer, root);

	strcpy(task->place, "0");
	task->tgid = root;
	task->number = root;
	for (size_t i = 0; i < all.nr; i++) {
		struct event *e = &all.event[i];

		task = task_of(&tracer, e->pid);
		if (!task)
			continue;
		if (e->kind == FORK) {
			if (task_of(&tracer, e->other))
				fail("tracer: %d is forked twice", e->other);
			add_task(&tracer, e->other)->tgid = e->tgid;
			task = task_of(&tracer, e->pid);
			place_child(&tracer, task, e->other);
			place_in_namespace(task, task_of(&tracer, e->other), e->flags);
		}
		leave_namespace(task, e);
		*add(&task->events) = *e;
	}
	number_tasks();
}

/* The child of strace that strace looks at */
static int root_of_strace(void)
{
	int root = 0;

	for (size_t i = 0; i < all.nr; i++) {
		const struct event *e = &all.event[i];

		if (e->kind != FORK || e->pid != strace.starter || !task_of(&strace, e->other))
			continue;
		if (root)
			fail("strace has started %d and %d", root, e->other);
		root = e->other;
	}
	if (!root)
		fail("the tracer has no child of strace");
	return root;
}

/* Removes the events before the start of the program. */
static void cut_beginning(struct task *task)
{
	while (task->events.nr && !(task->events.event[0].kind == ENTER &&
				    is_exec(task->events.event[0].nr, 0)))
		remove_event(&task->events, 0);
	if (!task->events.nr)
		fail("no execve in %d", task->pid);
}

/* Runs */

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

/* Places of pids, and what depends on the time */

static bool same_pid(uint64_t one, uint64_t two)
{
	const struct task *a = task_of(&strace, one), *b = task_of(&tracer, two);

	return a && b && *a->place && !strcmp(a->place, b->place);
}

static bool same_value(uint64_t one, uint64_t two)
{
	if (one == two)
		return true;
	if (!apart)
		return false;
	if (one == (uint64_t)strace.starter && two == (uint64_t)getpid())
		return true;
	return same_pid(one, two) || same_pid(-one, -two);
}

static bool is_excluded(const char *name)
{
	for (int i = 0; i < nr_excluded; i++) {
		if (!strcmp(name, excluded[i]))
			return true;
	}
	return false;
}

static const char *name_of(const struct event *e)
{
	static char name[64];
	const char *text = e->text ? e->text : "";

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, "("), text);
	return name;
}

static bool unseen(int sig)
{
	return sig == SIGCHLD || sig == SIGCONT || sig == SIGURG || sig == SIGWINCH;
}

static bool is_handled_next(const struct events *events, size_t i)
{
	for (i++; i < events->nr; i++) {
		const struct event *e = &events->event[i];

		if (e->kind == ENTER)
			return is_sigreturn(e);
	}
	return false;
}

/*
 * A signal that a task has sent, and that has no effect: there is no handler, and
 * the task does not end. One that can't be ignored is never like that.
 */
static bool has_no_effect(const struct events *events, size_t i)
{
	const struct event *e = &events->event[i], *next = i + 1 < events->nr ? e + 1 : NULL;

	return e->code <= 0 && e->sig != SIGKILL && e->sig != SIGSTOP && next &&
		next->kind != END && next->kind != SUPERSEDED && !is_handled_next(events, i);
}

/*
 * Apart: what may be there in one run and not in the other. A SIGCHLD with a
 * handler that does nothing but return is there in both, at another place.
 */
static void leave_out(struct task *task, bool of_strace)
{
	struct events *events = &task->events;
	bool children = is_excluded("wait4");

	for (size_t i = 0; i < events->nr; i++) {
		struct event *e = &events->event[i];
		long nr = e->nr;

		if (e->kind == SIGNAL && e->sig == SIGCHLD && children &&
		    is_handled_next(events, i)) {
			differences[TIMING] += of_strace;
			remove_event(events, i);
			while (!(events->event[i].kind == ENTER && is_sigreturn(&events->event[i])))
				i++;
			remove_event(events, i);
			remove_event(events, i);
			i = -1;
		} else if (e->kind == SIGNAL && unseen(e->sig) && !is_handled_next(events, i)) {
			differences[UNSEEN] += of_strace;
			remove_event(events, i--);
		} else if (e->kind == STOPPED) {
			differences[STOPPED_BY]++;
			remove_event(events, i--);
		} else if (e->kind == ENTER && is_excluded(name_of(e))) {
			differences[TIMING] += of_strace;
			remove_event(events, i);
			if (i < events->nr && events->event[i].kind == RETURN &&
			    events->event[i].nr == nr)
				remove_event(events, i);
			i--;
		}
	}
	for (size_t i = 0; i + 1 < events->nr; i++) {
		struct event *e = &events->event[i];

		if (e->kind == RETURN && is_restart(e->ret) && e[1].kind == ENTER &&
		    e[1].nr == e->nr) {
			differences[RESTARTED]++;
			remove_event(events, i);
			remove_event(events, i);
			i--;
		}
	}
}

/* One record is spoilt. */

static bool can_be_spoilt(const struct task *task, size_t i)
{
	const struct event *e = &task->events.event[i];
	bool plain = e->kind == ENTER && !e->compat && !is_fork(e->nr, 0) && !is_exec(e->nr, 0);

	/* With a result, and in the middle, so that no rule is about it */
	plain = plain && i > 8 && i + 8 < task->events.nr && e[1].kind == RETURN &&
		e[1].nr == e->nr && e[1].ret >= 0 && e[1].ret < 100 && !is_sigreturn(e);
	if (!strcmp(mutation, "signal") || !strcmp(mutation, "code") || !strcmp(mutation, "sender"))
		return e->kind == SIGNAL && e->sig == SIGUSR2;
	if (!strcmp(mutation, "errno") || !strcmp(mutation, "no-signal"))
		return e->kind == SIGNAL && e->sig == SIGUSR2;
	if (!strcmp(mutation, "no-deadly"))
		return e->kind == SIGNAL && i + 1 < task->events.nr && e[1].kind == END &&
			(e[1].status & 0x7f);
	if (!strcmp(mutation, "exit") || !strcmp(mutation, "dead"))
		return e->kind == END;
	if (!strcmp(mutation, "fork") || !strcmp(mutation, "no-fork") ||
	    !strcmp(mutation, "flags") || !strcmp(mutation, "thread"))
		return e->kind == FORK;
	if (!strcmp(mutation, "inner-fork"))
		return e->kind == FORK && task->ns;
	if (!strcmp(mutation, "no-exec"))
		return e->kind == EXEC;
	if (!strcmp(mutation, "task"))
		return task != tracer.task && !i;
	if (!strcmp(mutation, "path"))
		return e->kind == ENTER && e->strings[1] && *e->strings[1];
	if (!strcmp(mutation, "argument"))
		return plain && (e->nr == SYS_close || e->nr == SYS_rt_sigaction ||
				 e->nr == SYS_rt_sigprocmask || e->nr == SYS_pipe2);
	return plain;
}

static void spoil_one(struct task *task, size_t i)
{
	struct event *e = &task->events.event[i], copy = *e;

	if (!strcmp(mutation, "drop")) {
		remove_event(&task->events, i);
		remove_event(&task->events, i);
	} else if (!strcmp(mutation, "twice")) {
		struct event result = e[1];

		*add(&task->events) = copy;
		*add(&task->events) = result;
		e = task->events.event;
		memmove(&e[i + 2], &e[i], (task->events.nr - i - 2) * sizeof(*e));
	} else if (!strcmp(mutation, "swap")) {
		*e = e[1];
		e[1] = copy;
	} else if (!strcmp(mutation, "call")) {
		e->nr ^= 1;
		e[1].nr ^= 1;
	} else if (!strcmp(mutation, "argument")) {
		e->args[0] ^= 1;
	} else if (!strcmp(mutation, "result")) {
		e[1].ret ^= 1;
	} else if (!strcmp(mutation, "text")) {
		e->text = "getpid()";
	} else if (!strcmp(mutation, "signal")) {
		e->sig = SIGUSR1;
	} else if (!strcmp(mutation, "code")) {
		e->code--;
	} else if (!strcmp(mutation, "sender")) {
		e->sender++;
	} else if (!strcmp(mutation, "exit")) {
		e->status ^= 0x100;
	} else if (!strcmp(mutation, "errno")) {
		e->errnum++;
	} else if (!strcmp(mutation, "dead")) {
		e->dead ^= true;
	} else if (!strcmp(mutation, "fork") || !strcmp(mutation, "inner-fork")) {
		e->other++;
	} else if (!strcmp(mutation, "flags")) {
		e->flags ^= CLONE_FS;
	} else if (!strcmp(mutation, "thread")) {
		e->tgid++;
	} else if (!strncmp(mutation, "no-", 3)) {
		remove_event(&task->events, i);
	} else if (!strcmp(mutation, "task")) {
		task->events.nr = 0;
	} else if (!strcmp(mutation, "path")) {
		e->strings[1][strlen(e->strings[1]) - 1] ^= 1;
	} else {
		fail("no mutation %s", mutation);
	}
}

static void spoil(void)
{
	for (unsigned int t = 0; t < tracer.nr; t++) {
		for (size_t i = 0; i < tracer.task[t].events.nr; i++) {
			if (can_be_spoilt(&tracer.task[t], i)) {
				spoil_one(&tracer.task[t], i);
				return;
			}
		}
	}
	fail("found nothing to spoil");
}

/* Comparison of a task */

static void show(const char *who, const struct events *events, size_t at)
{
	size_t first = at > 3 ? at - 3 : 0;

	printf("  %s:\n", who);
	for (size_t i = first; i < events->nr && i < at + 3; i++) {
		const struct event *e = &events->event[i];

		printf("    %s %-6s %s", i == at ? ">" : " ", kind_names[e->kind],
		       e->text ? e->text : "");
		if (e->kind == ENTER)
			printf(" nr %ld compat %d (%" PRIx64 ", %" PRIx64 ", %" PRIx64 ", %" PRIx64
			       ", %" PRIx64 ", %" PRIx64 ")", e->nr, e->compat, e->args[0], e->args[1],
			       e->args[2], e->args[3], e->args[4], e->args[5]);
		if (e->kind == RETURN)
			printf(" nr %ld compat %d ret %" PRId64, e->nr, e->compat, e->ret);
		if (e->kind == SIGNAL)
			printf(" sig %d code %d sender %d", e->sig, e->code, e->sender);
		printf("\n");
	}
	if (at >= events->nr)
		printf("    > nothing\n");
}

struct pair {
	struct task	*s, *t;
	size_t		i, j;
};

__attribute__((noreturn, format(printf, 2, 3)))
static void differ(const struct pair *p, const char *fmt, ...)
{
	char what[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	show("strace", &p->s->events, p->i);
	show("tracer", &p->t->events, p->j);
	fail("task %d (%s): %s", p->s->pid, p->t->place, what);
}

static struct event *at(struct events *events, size_t i)
{
	return i < events->nr ? &events->event[i] : NULL;
}

/* The names that the kernel has for its functions, and the calls' own */
static bool same_name(const char *call, const char *function)
{
	static const char * const others[][2] = {
		{ "stat", "newstat" }, { "fstat", "newfstat" }, { "lstat", "newlstat" },
		{ "uname", "newuname" }, { "umount2", "umount" }, { "sendfile", "sendfile64" },
		{ "fadvise64", "fadvise64_64" },
	};

	if (!strcmp(call, function))
		return true;
	for (unsigned int i = 0; i < sizeof(others) / sizeof(*others); i++) {
		if (!strcmp(call, others[i][0]) && !strcmp(function, others[i][1])) {
			differences[NAMES]++;
			return true;
		}
	}
	return false;
}

static void compare_call_name(const struct pair *p, const struct event *s, const struct event *t)
{
	/* strace may know a call that the kernel does not have. */
	const struct event *none;
	char number[32];
	const char *name;

	if (!t->text || !s->text)
		return;
	name = name_of(t);
	snprintf(number, sizeof(number), "%s_%ld", t->compat ? "syscall32" : "syscall", t->nr);
	none = at(&p->t->events, p->j + 1);
	if ((t->compat || !strncmp(s->text, "syscall_", 8) ||
	     (is(none, RETURN) && none->ret == -ENOSYS)) && !strcmp(name, number))
		differences[COMPAT_NAMES]++;
	else if (!same_name(s->text, name))
		differ(p, "the call %s is printed as %s", s->text, name);
}

static void compare_result_text(const struct pair *p, const struct event *s, const struct event *t)
{
	const char *text = t->text ? strstr(t->text, ") = ") : NULL;
	size_t len;

	if (!t->text || paths)
		return;
	if (!text)
		differ(p, "a result is printed without one");
	text += 4;
	len = strcspn(text, " ");
	if (!strncmp(text, "-1 E", 4)) {
		len = 3 + strcspn(text + 3, " ");
		if (strncmp(text, s->text, len) || s->text[len] != ' ')
			differ(p, "an error is printed as %.*s", (int)len, text);
	} else if (strtoull(text, NULL, 0) != (uint64_t)t->ret) {
		differ(p, "a result is printed as %.*s", (int)len, text);
	}
}

/* Strings of data, which only strace prints */
static bool is_data(const char *call, unsigned int arg)
{
	static const struct {
		const char	*call;
		unsigned int	arg;
	} data[] = {
		{ "read", 1 }, { "write", 1 }, { "pread64", 1 }, { "pwrite64", 1 },
		{ "readlink", 1 }, { "readlinkat", 2 }, { "getcwd", 0 }, { "getrandom", 0 },
		{ "recvfrom", 1 }, { "sendto", 1 }, { "getxattr", 2 }, { "lgetxattr", 2 },
		{ "prctl", 1 },
	};

	for (unsigned int i = 0; i < sizeof(data) / sizeof(*data); i++) {
		if (!strcmp(call, data[i].call) && arg == data[i].arg)
			return true;
	}
	return false;
}

static void compare_strings(const struct pair *p, const struct event *s, const struct event *t)
{
	for (unsigned int i = 0; i < s->nargs; i++) {
		const char *has = t->strings[i], *wants = s->strings[i];
		bool cut = t->cut & (1 << i);

		if (!has && !wants)
			continue;
		if (!has && (is_data(s->text, i) || t->compat)) {
			differences[t->compat ? COMPAT_NAMES : ONLY_STRACE]++;
			continue;
		}
		if (!has || !wants)
			differ(p, "only the %s has a string for argument %u: %s",
			       has ? "tracer" : "strace", i, has ? has : wants);
		if (cut ? strncmp(has, wants, strlen(has)) || strlen(has) >= strlen(wants) :
			  !!strcmp(has, wants))
			differ(p, "argument %u is \"%s\"%s", i, has, cut ? ", cut" : "");
		strings++;
	}
}

static void compare_call(struct pair *p, const struct event *s, const struct event *t)
{
	unsigned int i;

	if (s->nr != t->nr)
		differ(p, "other calls");
	if (s->compat >= 0 && s->compat != t->compat)
		differ(p, "a call of a 32-bit task, or not?");
	compare_call_name(p, s, t);
	if (paths) {
		compare_strings(p, s, t);
	} else if (apart && !strcmp(p->t->place, "0") && !p->i) {
		differences[STARTER]++;
	} else {
		for (i = 0; i < s->nargs; i++) {
			if (i >= t->nargs)
				differ(p, "there is no argument %u", i);
			if (!same_value(s->args[i], t->args[i]))
				differ(p, "argument %u is another one", i);
		}
	}
	calls++;
	p->i++;
	p->j++;
}

/* Does the call have the same flags? clone3() has them in memory. */
static bool same_flags(const struct event *call, const struct event *fork)
{
	if (call->compat ? call->nr == 2 : false)
		return !fork->flags;
#ifdef SYS_fork
	if (!call->compat && call->nr == SYS_fork)
		return !fork->flags;
	if (!call->compat && call->nr == SYS_vfork)
		return fork->flags == (CLONE_VFORK | CLONE_VM);
#endif
	if (call->compat ? call->nr == 190 : false)
		return fork->flags == (CLONE_VFORK | CLONE_VM);
	if (call->compat ? call->nr == 435 : call->nr == SYS_clone3)
		return true;
	return fork->flags == (call->args[0] & 0xffffff00);
}

/* A fork and an exec have records of their own before they return. */
static void compare_life(const struct pair *p, const struct event *t)
{
	const struct event *life = p->j ? t - 1 : NULL, *call = p->j > 1 ? t - 2 : NULL;
	const struct task *child;

	if (t->ret > 0 && is_fork(t->nr, t->compat)) {
		if (!is(life, FORK) || pid_seen(p->t, life->other) != t->ret)
			differ(p, "no record of the fork");
		if (!is(call, ENTER) || !same_flags(call, life))
			differ(p, "a fork with other flags: %#" PRIx64, life->flags);
		child = task_of(&tracer, life->other);
		if (life->tgid != (life->flags & CLONE_THREAD ? p->t->tgid : life->other) ||
		    !child || child->tgid != life->tgid)
			differ(p, "a child of another process: %d", life->tgid);
	}
	if (!t->ret && is_exec(t->nr, t->compat) && !is(life, EXEC))
		differ(p, "no record of the exec");
}

static void compare_result(struct pair *p, const struct event *s, const struct event *t)
{
	const struct event *end = at(&p->s->events, p->i + 1);

	/* It was killed while strace was about to ask. */
	if (!apart && !strncmp(s->text, "-1 (errno 1844", 14) &&
	    (is(end, END) || is(end, SUPERSEDED))) {
		differences[NO_RESULT]++;
		p->i++;
		p->j++;
		return;
	}

	if (t->nr == -1 && is_sigreturn(s))
		differences[SIGRETURN]++;
	else if (s->nr != t->nr && is_exec(s->nr, !t->compat) && is_exec(t->nr, t->compat))
		differences[OTHER_SIZE]++;
	else if (s->nr != t->nr)
		differ(p, "results of other calls");
	if (!paths && !same_value(s->ret, t->ret))
		differ(p, "other results");
	compare_result_text(p, s, t);
	compare_life(p, t);
	p->i++;
	p->j++;
}

static bool has_ended(const struct task *task, uint64_t ts)
{
	const struct events *events = &task->events;
	const struct event *last = events->nr ? &events->event[events->nr - 1] : NULL;

	return is(last, END) && last->ts < ts;
}

static void compare_sender(const struct pair *p, const struct event *s, const struct event *t)
{
	const struct task *sender = task_with_number(p->t->ns, s->sender);

	if (p->t->ns && !t->sender && sender && has_ended(sender, t->ts))
		differences[REAPED]++;
	else if (!same_value(s->sender, p->t->ns ? pid_seen(p->t, t->sender) : t->sender))
		differ(p, "signals of other senders");
}

static void compare_signal(struct pair *p, const struct event *s, const struct event *t)
{
	const struct event *end = at(&p->s->events, p->i + 1);

	if (apart && t->sig == SIGKILL && s->sig != SIGKILL && is(end, END) &&
	    (end->status & 0x7f) == s->sig) {
		differences[DEADLY]++;
	} else {
		if (s->sig != t->sig)
			differ(p, "other signals");
		if (!paths && s->code != t->code)
			differ(p, "signals with other codes");
		if (!paths && s->errnum != t->errnum)
			differ(p, "signals with other errnos");
		compare_sender(p, s, t);
		if (t->text && s->text && !paths &&
		    strncmp(s->text, t->text, strcspn(s->text, "{")))
			differ(p, "the signal is printed as %s", t->text);
	}
	signals++;
	p->i++;
	p->j++;
}

static void compare_end(struct pair *p, const struct event *s, const struct event *t)
{
	const struct event *before = p->j ? t - 1 : NULL;
	size_t len = s->text ? strlen(s->text) : 0;
	int sig = t->status & 0x7f;

	/* ptrace does not tell a SIGKILL, so this is all that is known of it. */
	if (sig && (!is(before, SIGNAL) || (before->sig != sig && before->sig != SIGKILL)))
		differ(p, "it is killed, and got no signal");

	if (s->kind == SUPERSEDED) {
		const struct event *exec = at(&p->t->events, p->j + 1);

		if (!is(exec, EXEC) || !same_value(s->other, exec->other))
			differ(p, "no exec of another thread");
	} else {
		if (s->status != t->status)
			differ(p, "it ends with %#x, and with %#x", s->status, t->status);
		if (t->text && len && strncmp(s->text, t->text, len))
			differ(p, "the end is printed as %s", t->text);
	}
	p->i++;
	p->j++;
}

/* A record of the tracer alone; true if there was one. */
static bool tracer_alone(struct pair *p, struct event *s, struct event *t)
{
	struct event *next = at(&p->t->events, p->j + 1);
	bool ends = !s || s->kind == END || s->kind == SUPERSEDED;

	if (is(t, FORK)) {
		if (!is(next, RETURN) || next->ret != pid_seen(p->t, t->other))
			differ(p, "a fork of %d has another result", t->other);
		differences[LIFE]++;
	} else if (is(t, EXEC)) {
		if (!is(next, RETURN) || next->ret)
			differ(p, "an exec has another result");
		if (paths && p->j && is(t - 1, ENTER) && t[-1].strings[0] &&
		    strcmp(t->strings[0], t[-1].strings[0]))
			differ(p, "an exec of another file than that of the call");
		differences[LIFE]++;
	} else if (is(t, RETURN) && !p->j && !p->i && is_fork(t->nr, t->compat)) {
		if (t->ret)
			differ(p, "the first result is not 0");
		differences[CHILD_RETURNS]++;
	} else if (is(t, RETURN) && ends && p->j && is(t - 1, ENTER)) {
		differences[NO_RESULT]++;
	} else if (is(t, SIGNAL) && t->sig == SIGKILL && ends && is(next, END)) {
		differences[KILLED]++;
	} else {
		return false;
	}
	p->j++;
	return true;
}

static bool not_entered(struct pair *p, const struct event *s, const struct event *t)
{
	const struct event *end = at(&p->s->events, p->i + 1);

	return !apart && is(s, ENTER) && is(t, RETURN) && s->nr == t->nr && t->ret == -ENOSYS &&
		(is(end, END) || is(end, SUPERSEDED));
}

static void compare_task(struct task *task, struct task *other)
{
	struct pair p = { .s = task, .t = other };

	/* It has come back from a fork, or it is the first one. */
	if (CHILD_IS_SEEN && strcmp(other->place, "0") && !is(at(&other->events, 0), RETURN))
		differ(&p, "it does not come back from its fork");

	for (;;) {
		struct event *s = at(&task->events, p.i), *t = at(&other->events, p.j);

		if (!s && !t)
			break;
		if (is(s, STOPPED)) {
			differences[STOPPED_BY]++;
			p.i++;
		} else if (t && tracer_alone(&p, s, t)) {
			continue;
		} else if (not_entered(&p, s, t)) {
			differences[NOT_ENTERED]++;
			p.i++;
			p.j++;
		} else if (apart && is(s, SIGNAL) && !is(t, SIGNAL) &&
			   has_no_effect(&task->events, p.i)) {
			differences[UNSEEN]++;
			p.i++;
		} else if (s && t && s->kind == t->kind) {
			if (s->kind == ENTER)
				compare_call(&p, s, t);
			else if (s->kind == RETURN)
				compare_result(&p, s, t);
			else if (s->kind == SIGNAL)
				compare_signal(&p, s, t);
			else
				compare_end(&p, s, t);
		} else if (is(s, SUPERSEDED) && is(t, END)) {
			compare_end(&p, s, t);
		} else {
			differ(&p, "a record is missing, or one too much");
		}
	}
}

/* The last one of each process to end says so, and no other. */
static void compare_ends(void)
{
	for (unsigned int i = 0; i < tracer.nr; i++) {
		const struct task *task = &tracer.task[i];
		unsigned int dead = 0;

		if (task->pid != task->tgid)
			continue;
		for (unsigned int j = 0; j < tracer.nr; j++) {
			const struct events *events = &tracer.task[j].events;

			if (tracer.task[j].tgid != task->tgid)
				continue;
			for (size_t k = 0; k < events->nr; k++)
				dead += events->event[k].kind == END && events->event[k].dead;
		}
		if (dead != 1)
			fail("process %d has ended %u times", task->pid, dead);
	}
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

// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "compare.h"

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

void read_strace(void)
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

void place_strace(struct task *task)
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

// SPDX-License-Identifier: GPL-2.0
/* Compares the events of a task in both, one after the other. */
#define _GNU_SOURCE
#include "compare.h"

/* Not by way of the tracepoint of exits, there. */
#ifdef __aarch64__
#define CHILD_IS_SEEN	false
#else
#define CHILD_IS_SEEN	true
#endif

uint64_t differences[NR_DIFFERENCES], calls, signals, strings;

static const char * const kind_names[] = {
	"call", "result", "signal", "end", "fork", "exec", "stop", "superseded",
};

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

void compare_task(struct task *task, struct task *other)
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
void compare_ends(void)
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

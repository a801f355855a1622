// SPDX-License-Identifier: GPL-2.0
/* Apart: what depends on the time, and what only one of the runs has. */
#define _GNU_SOURCE
#include "compare.h"

static bool is_excluded(const char *name)
{
	for (int i = 0; i < nr_excluded; i++) {
		if (!strcmp(name, excluded[i]))
			return true;
	}
	return false;
}

const char *name_of(const struct event *e)
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
bool has_no_effect(const struct events *events, size_t i)
{
	const struct event *e = &events->event[i], *next = i + 1 < events->nr ? e + 1 : NULL;

	return e->code <= 0 && e->sig != SIGKILL && e->sig != SIGSTOP && next &&
		next->kind != END && next->kind != SUPERSEDED && !is_handled_next(events, i);
}

/*
 * Apart: what may be there in one run and not in the other. A SIGCHLD with a
 * handler that does nothing but return is there in both, at another place.
 */
void leave_out(struct task *task, bool of_strace)
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

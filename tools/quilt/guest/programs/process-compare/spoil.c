// SPDX-License-Identifier: GPL-2.0
/* One record is spoilt, which the comparison has to notice. */
#define _GNU_SOURCE
#include "compare.h"

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

void spoil(void)
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

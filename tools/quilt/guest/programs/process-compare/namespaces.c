// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "compare.h"

static int namespaces;

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
void check_numbers(void)
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
void place_tracer(int root)
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
int root_of_strace(void)
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
void cut_beginning(struct task *task)
{
	while (task->events.nr && !(task->events.event[0].kind == ENTER &&
				    is_exec(task->events.event[0].nr, 0)))
		remove_event(&task->events, 0);
	if (!task->events.nr)
		fail("no execve in %d", task->pid);
}

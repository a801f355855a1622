// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <fcntl.h>
#include "compare.h"

void *more(void *p, size_t size)
{
	p = realloc(p, size);
	if (!p)
		fail("no memory");
	return p;
}

struct event *add(struct events *events)
{
	if (events->nr == events->size) {
		events->size = events->size ? events->size * 2 : 64;
		events->event = more(events->event, events->size * sizeof(*events->event));
	}
	memset(&events->event[events->nr], 0, sizeof(*events->event));
	return &events->event[events->nr++];
}

void remove_event(struct events *events, size_t i)
{
	events->nr--;
	memmove(&events->event[i], &events->event[i + 1],
		(events->nr - i) * sizeof(*events->event));
}

struct task *task_of(struct run *run, int pid)
{
	for (unsigned int i = 0; i < run->nr; i++) {
		if (run->task[i].pid == pid)
			return &run->task[i];
	}
	return NULL;
}

struct task *task_at(struct run *run, const char *place)
{
	for (unsigned int i = 0; i < run->nr; i++) {
		if (!strcmp(run->task[i].place, place))
			return &run->task[i];
	}
	return NULL;
}

struct task *add_task(struct run *run, int pid)
{
	struct task *task = &run->task[run->nr++];

	if (run->nr == sizeof(run->task) / sizeof(*run->task))
		fail("too many tasks");
	task->pid = pid;
	return task;
}

/* Where it is in the tree: the second child of the first is 0.1.2. */
void place_child(struct run *run, struct task *parent, int pid)
{
	struct task *child = task_of(run, pid);

	if (!child)
		fail("%s: there is nothing of %d, a child of %d", run->name, pid, parent->pid);
	child->parent = parent->pid;
	snprintf(child->place, sizeof(child->place), "%.100s.%u", parent->place,
		 ++parent->children);
}

bool is_fork(long nr, int compat)
{
	if (compat)
		return nr == 2 || nr == 120 || nr == 190 || nr == 435;
#ifdef SYS_fork
	if (nr == SYS_fork || nr == SYS_vfork)
		return true;
#endif
	return nr == SYS_clone || nr == SYS_clone3;
}

bool is_exec(long nr, int compat)
{
	return compat ? nr == 11 || nr == 358 : nr == SYS_execve || nr == SYS_execveat;
}

bool is_sigreturn(const struct event *e)
{
	return e->nr == SYS_rt_sigreturn || (e->compat && (e->nr == 173 || e->nr == 119));
}

bool is_restart(int64_t ret)
{
	return ret <= -512 && ret >= -516;
}

char *read_whole(const char *path)
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

bool is(const struct event *e, enum kind kind)
{
	return e && e->kind == kind;
}

const struct task *task_with_number(int ns, int number)
{
	for (unsigned int i = 0; i < tracer.nr; i++) {
		if (tracer.task[i].ns == ns && tracer.task[i].number == number)
			return &tracer.task[i];
	}
	return NULL;
}

/* The pid of a task as another one sees it, 0 if it does not */
int pid_seen(const struct task *viewer, int pid)
{
	const struct task *task = task_of(&tracer, pid);

	if (!viewer->ns)
		return pid;
	return task && task->ns == viewer->ns ? task->number : 0;
}

static bool same_pid(uint64_t one, uint64_t two)
{
	const struct task *a = task_of(&strace, one), *b = task_of(&tracer, two);

	return a && b && *a->place && !strcmp(a->place, b->place);
}

bool same_value(uint64_t one, uint64_t two)
{
	if (one == two)
		return true;
	if (!apart)
		return false;
	if (one == (uint64_t)strace.starter && two == (uint64_t)getpid())
		return true;
	return same_pid(one, two) || same_pid(-one, -two);
}

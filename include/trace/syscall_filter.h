/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TRACE_SYSCALL_FILTER_H
#define _TRACE_SYSCALL_FILTER_H

/* Probes at sys_enter and sys_exit that want some tasks, see tracepoint.c */

#include <linux/list.h>
#include <linux/tracepoint.h>
#include <trace/syscall.h>

#if defined(CONFIG_TRACEPOINTS) && defined(CONFIG_HAVE_SYSCALL_TRACEPOINTS)

enum syscall_wanted {
	SYSCALL_WANTED_NONE,
	SYSCALL_WANTED_SOME,
	SYSCALL_WANTED_ALL,
};

/**
 * struct syscall_task_filter - the tasks whose system calls some probes want
 * @match: does @filter want the system calls of @task? Called with a raw
 *	spinlock held and interrupts disabled, also during a fork
 * @list: in the list of the filters that want some tasks
 * @probes: number of probes that are registered with this filter
 * @wanted: what the filter contributes now
 * @restricted: @match decides; if not set, all tasks are wanted
 *
 * The owner sets @match. All else is written by the functions below, under
 * tracepoints_mutex.
 */
struct syscall_task_filter {
	bool			(*match)(struct syscall_task_filter *filter,
					 struct task_struct *task);
	struct list_head	list;
	unsigned int		probes;
	enum syscall_wanted	wanted;
	bool			restricted;
};

int syscall_probe_register(struct tracepoint *tp, void *probe, void *data,
			   struct syscall_task_filter *filter);
void syscall_probe_unregister(struct tracepoint *tp, void *probe, void *data,
			      struct syscall_task_filter *filter);
bool syscall_filter_update(struct syscall_task_filter *filter, bool restricted);
void syscall_filter_refresh(void);
void syscall_filter_update_task(struct task_struct *task);

/* Is @tp sys_enter or sys_exit? */
static inline bool tracepoint_is_syscall(struct tracepoint *tp)
{
	return tp->ext && tp->ext->syscall;
}

extern bool syscall_filters_used;

/**
 * syscall_filter_task_changed - one filter has another answer for a task
 * @task: the task
 *
 * As syscall_filter_update_task(), without the lock while no filter is used.
 *
 * Context: any but NMI, after the answer has changed.
 */
static inline void syscall_filter_task_changed(struct task_struct *task)
{
	/* Pairs with the barrier in syscall_want(). */
	smp_mb();
	if (READ_ONCE(syscall_filters_used))
		syscall_filter_update_task(task);
}

/**
 * syscall_tracepoint_fork - do the system calls of a new task get traced?
 * @p: the new task
 *
 * Context: tasklist_lock is held for write, and @p is in the list of tasks.
 */
static inline void syscall_tracepoint_fork(struct task_struct *p)
{
	if (READ_ONCE(syscall_filters_used))
		syscall_filter_update_task(p);
	else
		syscall_tracepoint_update(p);
}

#else

struct syscall_task_filter {};

static inline bool tracepoint_is_syscall(struct tracepoint *tp)
{
	return false;
}

static inline void syscall_filter_update_task(struct task_struct *task) { }
static inline void syscall_filter_task_changed(struct task_struct *task) { }
static inline void syscall_tracepoint_fork(struct task_struct *p) { }

#endif

#endif /* _TRACE_SYSCALL_FILTER_H */

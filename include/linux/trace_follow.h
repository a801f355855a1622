/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_TRACE_FOLLOW_H
#define _LINUX_TRACE_FOLLOW_H

/* Forks and changed users tell this to kernel/trace/trace_follow.c. */

#include <linux/jump_label.h>
#include <linux/sched.h>

#ifdef CONFIG_TRACE_FOLLOW

DECLARE_STATIC_KEY_FALSE(trace_follow_by_uid);

void __trace_follow_forked(struct task_struct *p, unsigned long missed);
void __trace_follow_commit_creds(void);

/**
 * trace_follow_fork - let those who follow current follow its child as well
 * @p: the child; not those of idle tasks, which are in no list of tasks
 *
 * Context: tasklist_lock is held for write, and nobody can find @p yet. So a
 * walk over the tasks either meets @p, or came to its parent before.
 */
static inline void trace_follow_fork(struct task_struct *p)
{
	WRITE_ONCE(p->trace_follow,
		   p->pid ? READ_ONCE(current->trace_follow) : 0);
#ifdef CONFIG_PROCESS_TRACER
	/* It has not entered the call that it comes back from. */
	p->process_sys_enter = 0;
#endif
}

/**
 * trace_follow_forked - let those who have just found current follow its child
 * @p: the child, which is in the lists of tasks now
 *
 * Tasks are matched under RCU only. A walk that gave current a bit after
 * trace_follow_fork() may have been past the place of @p before @p was there.
 * Either the bit is seen here, or the walk meets @p: the barrier pairs with
 * the one in trace_follow_walk().
 *
 * Context: tasklist_lock is held for write.
 */
static inline void trace_follow_forked(struct task_struct *p)
{
	unsigned long missed;

	/* @p was put in the lists before the word of current is read. */
	smp_mb();
	missed = READ_ONCE(current->trace_follow) & ~READ_ONCE(p->trace_follow);
	if (unlikely(missed && p->pid))
		__trace_follow_forked(p, missed);
}

/**
 * trace_follow_commit_creds - current has new credentials
 *
 * Context: a task, after the credentials can be seen.
 */
static inline void trace_follow_commit_creds(void)
{
	if (static_branch_unlikely(&trace_follow_by_uid))
		__trace_follow_commit_creds();
}

#else

static inline void trace_follow_fork(struct task_struct *p) { }
static inline void trace_follow_forked(struct task_struct *p) { }
static inline void trace_follow_commit_creds(void) { }

#endif /* CONFIG_TRACE_FOLLOW */

#endif /* _LINUX_TRACE_FOLLOW_H */

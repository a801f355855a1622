/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_TRACE_FOLLOW_H
#define _LINUX_TRACE_FOLLOW_H

/* What forks and changed users tell kernel/trace/trace_follow.c. */

#include <linux/jump_label.h>
#include <linux/sched.h>

#ifdef CONFIG_PROCESS_TRACER
/**
 * trace_syscall_start_clear - nobody has seen a task enter a system call
 * @t: the task; it does not call the tracepoints of system calls yet, and what
 *	it may have is of a system call that it left without them
 */
static inline void trace_syscall_start_clear(struct task_struct *t)
{
	WRITE_ONCE(t->trace_syscall_start, 0);
}
#else
static inline void trace_syscall_start_clear(struct task_struct *t) { }
#endif

#ifdef CONFIG_TRACE_FOLLOW

DECLARE_STATIC_KEY_FALSE(trace_follow_by_uid);

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
	trace_syscall_start_clear(p);
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
static inline void trace_follow_commit_creds(void) { }

#endif /* CONFIG_TRACE_FOLLOW */

#endif /* _LINUX_TRACE_FOLLOW_H */

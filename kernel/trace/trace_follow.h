/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TRACE_FOLLOW_H
#define _TRACE_FOLLOW_H

/* Sets of followed tasks, see trace_follow.c. */

#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>

struct cred;
struct dentry;
struct trace_array;

enum trace_follow_kind {
	TRACE_FOLLOW_PID,
	TRACE_FOLLOW_COMM,
	TRACE_FOLLOW_UID,

	TRACE_FOLLOW_NR,
};

struct trace_follow_comms;
struct trace_follow_uids;

/**
 * struct trace_follow - a set of tasks that grows with their forks
 * @mask: a task is in the set when it has one of these bits in its
 *	trace_follow; 0: nobody has chosen, and all tasks are in the set
 * @bits: the bit of each kind of choice, 0 when there is none
 * @comms: the commands that are chosen
 * @uids: the users that are chosen
 * @parent: a set whose choice is used instead, when it has one
 * @node: in the list of the sets in use
 * @syscalls: probes at sys_enter and sys_exit that want the tasks in the set
 * @syscalls_all: such probes that want all tasks
 *
 * All zeroes, but for @parent, is a set in which nobody has chosen. Written
 * with trace_follow_choice_mutex or, @mask, @node and the counters, with
 * trace_follow_mutex held. @mask is read without, @comms and @uids under RCU.
 */
struct trace_follow {
	unsigned long				mask;
	unsigned long				bits[TRACE_FOLLOW_NR];
	struct trace_follow_comms __rcu		*comms;
	struct trace_follow_uids __rcu		*uids;
	const struct trace_follow		*parent;
	struct hlist_node			node;
	unsigned int				syscalls;
	unsigned int				syscalls_all;
};

#ifdef CONFIG_TRACE_FOLLOW

static __always_inline unsigned long
trace_follow_mask(const struct trace_follow *follow)
{
	unsigned long mask = 0;

	if (follow->parent)
		mask = READ_ONCE(follow->parent->mask);

	return mask ?: READ_ONCE(follow->mask);
}

/**
 * trace_follow_has - is a task in a set?
 * @follow: the set
 * @t: the task
 *
 * Context: any.
 *
 * Return: true when @t is followed, or when nobody has chosen.
 */
static __always_inline bool
trace_follow_has(const struct trace_follow *follow, const struct task_struct *t)
{
	unsigned long mask = trace_follow_mask(follow);

	return !mask || (READ_ONCE(t->trace_follow) & mask);
}

int trace_follow_pids(struct trace_follow *follow, struct pid **pids,
		      unsigned int nr, bool replace);
int trace_follow_comms(struct trace_follow *follow,
		       char comms[][TASK_COMM_LEN], unsigned int nr,
		       bool replace);
int trace_follow_uids(struct trace_follow *follow, const kuid_t *uids,
		      unsigned int nr, bool replace);
void trace_follow_clear(struct trace_follow *follow);

int trace_follow_syscalls_get(struct trace_follow *follow,
			      struct tracepoint *tp, void *probe, void *data,
			      bool all);
void trace_follow_syscalls_put(struct trace_follow *follow,
			       struct tracepoint *tp, void *probe, void *data,
			       bool all);
void trace_follow_syscalls_all(struct trace_follow *follow, bool all);

extern const struct file_operations trace_follow_process_fops;

void trace_follow_init_tracefs(struct trace_array *tr, struct dentry *parent);

void trace_array_follow_clear(struct trace_array *tr);
void trace_array_follow_syscalls(struct trace_array *tr, bool all);
bool trace_array_follow_ignores(struct trace_array *tr, struct task_struct *t);

#else

static inline void trace_array_follow_clear(struct trace_array *tr) { }
static inline void trace_array_follow_syscalls(struct trace_array *tr,
					       bool all) { }
static inline bool trace_array_follow_ignores(struct trace_array *tr,
					      struct task_struct *t)
{
	return false;
}

static inline void trace_follow_init_tracefs(struct trace_array *tr,
					     struct dentry *parent) { }

#endif /* CONFIG_TRACE_FOLLOW */

#if defined(CONFIG_TRACE_FOLLOW) && defined(CONFIG_HAVE_SYSCALL_TRACEPOINTS)

/* Only those are called where a user space access may fault. */
static inline bool tracepoint_is_syscall(struct tracepoint *tp)
{
	return tracepoint_is_faultable(tp);
}

int syscall_probe_register(struct trace_array *tr, struct tracepoint *tp,
			   void *probe, void *data);
void syscall_probe_unregister(struct trace_array *tr, struct tracepoint *tp,
			      void *probe, void *data);

#else

static inline bool tracepoint_is_syscall(struct tracepoint *tp)
{
	return false;
}

static inline int
syscall_probe_register(struct trace_array *tr, struct tracepoint *tp,
		       void *probe, void *data)
{
	return tracepoint_probe_register(tp, probe, data);
}

static inline void
syscall_probe_unregister(struct trace_array *tr, struct tracepoint *tp,
			 void *probe, void *data)
{
	tracepoint_probe_unregister(tp, probe, data);
}

#endif

#endif /* _TRACE_FOLLOW_H */

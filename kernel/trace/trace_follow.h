/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TRACE_FOLLOW_H
#define _TRACE_FOLLOW_H

/* Sets of followed tasks, see trace_follow.c. */

#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/uidgid.h>
#include <trace/syscall_filter.h>

struct cred;
struct dentry;
struct trace_array;

enum trace_follow_kind {
	TRACE_FOLLOW_PID,
	TRACE_FOLLOW_COMM,
	TRACE_FOLLOW_UID,

	TRACE_FOLLOW_NR,
};

/* Names or users, sorted: char[TASK_COMM_LEN] or kuid_t */
struct trace_follow_list {
	unsigned int		bit;
	unsigned int		nr;
	u8			items[] __aligned(sizeof(long));
};

/**
 * struct trace_follow - a set of tasks that grows with their forks
 * @mask: a task is in the set when it has one of these bits in its
 *	trace_follow; 0: nobody has chosen, and all tasks are in the set
 * @bits: the bit of each kind of choice, 0 when there is none
 * @lists: the commands and the users that are chosen
 * @node: in the list of the sets with users
 * @lock: held by those who choose
 * @has_events: events of the instance are restricted to the set
 * @filter: of the probes that want the system calls of the set
 * @joining: how many are changing the set, so that tasks may come into it
 * @since: when the last change was done, by ktime_get_ns()
 *
 * @mask is read without the lock, @lists under RCU.
 */
struct trace_follow {
	unsigned long				mask;
	unsigned long				bits[TRACE_FOLLOW_NR];
	struct trace_follow_list __rcu		*lists[TRACE_FOLLOW_NR];
	struct hlist_node			node;
	/* Inside of event_mutex, outside of tracepoints_mutex */
	struct mutex				lock;
	bool					has_events;
	struct syscall_task_filter		filter;
	atomic_t				joining;
	atomic64_t				since;
};

#ifdef CONFIG_TRACE_FOLLOW

static __always_inline unsigned long
trace_follow_mask(const struct trace_follow *follow)
{
	return READ_ONCE(follow->mask);
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

	return (READ_ONCE(t->trace_follow) & mask) || !mask;
}

/**
 * trace_follow_since - since when has a set had its tasks all the time?
 * @follow: the set, in which the caller has just found current
 * @joining: is set when tasks may be coming in
 *
 * A task may have left the set and come back. The time is the same for all
 * tasks, and never goes back.
 *
 * Context: any.
 *
 * Return: the time, by ktime_get_ns(), after which no task has come into the
 * set unless @joining is set. The probes of the set were called for all system
 * calls that current has made since then.
 */
static __always_inline u64
trace_follow_since(const struct trace_follow *follow, bool *joining)
{
	/* Whoever sees that a task is in the set sees who let it in. */
	smp_rmb();
	*joining = atomic_read(&follow->joining);

	/* Whoever sees that this is done sees when. */
	smp_rmb();

	return atomic64_read(&follow->since);
}

void trace_follow_join_begin(struct trace_follow *follow);
void trace_follow_join_end(struct trace_follow *follow);

DEFINE_GUARD(trace_follow_join, struct trace_follow *,
	     trace_follow_join_begin(_T), trace_follow_join_end(_T))

void trace_follow_init(struct trace_follow *follow);
int trace_follow_pids(struct trace_follow *follow, struct pid **pids,
		      unsigned int nr, bool replace);
int trace_follow_comms(struct trace_follow *follow,
		       char comms[][TASK_COMM_LEN], unsigned int nr,
		       bool replace);
int trace_follow_uids(struct trace_follow *follow, const kuid_t *uids,
		      unsigned int nr, bool replace);
void trace_follow_clear(struct trace_follow *follow);

int trace_follow_syscalls_get(struct trace_follow *follow,
			      struct tracepoint *tp, void *probe, void *data);
void trace_follow_syscalls_put(struct trace_follow *follow,
			       struct tracepoint *tp, void *probe, void *data);

void trace_follow_init_tracefs(struct trace_array *tr, struct dentry *parent);

void trace_array_follow_init(struct trace_array *tr);
void trace_array_follow_clear(struct trace_array *tr);

#else

static inline void trace_array_follow_init(struct trace_array *tr) { }
static inline void trace_array_follow_clear(struct trace_array *tr) { }

static inline void trace_follow_init_tracefs(struct trace_array *tr,
					     struct dentry *parent) { }

#endif /* CONFIG_TRACE_FOLLOW */

#endif /* _TRACE_FOLLOW_H */

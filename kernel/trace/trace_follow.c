// SPDX-License-Identifier: GPL-2.0
/*
 * Sets of followed tasks.
 *
 * A set is a bit in task_struct::trace_follow. A fork hands it on, so a set
 * grows without memory, can't lose a child, and is asked with one AND. As the
 * bit goes with the task, a new task with an old pid is not followed by
 * mistake. There are as many bits as a long has, so there can be that many
 * choices at a time in the whole system.
 *
 * These get a bit by choice, and not by fork:
 *
 *  - by pid: tasks that exist, with their threads and all that they have
 *    forked. A walk under tasklist_lock, which keeps forks out. A fork takes
 *    over the bits of its parent and comes into the list under the same lock,
 *    so there is no task that neither meets.
 *  - by command: tasks of that name, found by such a walk, and from then on
 *    those that take the name, by exec or prctl, found at the tracepoint
 *    task_rename.
 *  - by user: tasks with that real uid, found by such a walk, and from then on
 *    those that change to it, found in commit_creds().
 *
 * Nobody leaves a set but by its end or by another choice: what a followed
 * task forks is followed whatever its name or user is.
 *
 * The mutex of a set serializes its choices, which may wait for grace periods
 * of RCU tasks, so that no set waits for the choice of another one. It nests
 * inside event_mutex, trace_types_lock and the locks of the users of the set,
 * and outside of tracepoints_mutex and tasklist_lock.
 */

#include <linux/bsearch.h>
#include <linux/cred.h>
#include <linux/rculist.h>
#include <linux/rcupdate_wait.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/sort.h>
#include <linux/trace_follow.h>
#include <linux/uidgid.h>

#include <trace/events/task.h>

#include "trace.h"
#include "trace_follow.h"

/* Names or users of a choice */
#define TRACE_FOLLOW_MAX	256

/* Sets with users. Read under RCU. */
static HLIST_HEAD(trace_follow_uid_sets);
static DEFINE_SPINLOCK(trace_follow_uid_lock);

DEFINE_STATIC_KEY_FALSE(trace_follow_by_uid);

static unsigned long trace_follow_free = ~0UL;
static struct rcu_head trace_follow_gone[BITS_PER_LONG];

static void trace_follow_bit_free(struct rcu_head *head)
{
	set_bit(head - trace_follow_gone, &trace_follow_free);
}

/*
 * A task that has been reaped is in no list, so no walk takes its bits away,
 * and yet it may run for a little while. It must not be found in the next set
 * that has the bit. Tasks in this state are what RCU tasks waits for.
 */
static void trace_follow_bit_put(unsigned int bit)
{
	call_rcu_tasks(&trace_follow_gone[bit], trace_follow_bit_free);
}

static int trace_follow_bit_get(void)
{
	unsigned int bit;
	int tries = 2;

	while (tries--) {
		for_each_set_bit(bit, &trace_follow_free, BITS_PER_LONG) {
			if (test_and_clear_bit(bit, &trace_follow_free))
				return bit;
		}

		if (IS_ENABLED(CONFIG_TASKS_RCU))
			rcu_barrier_tasks();
		else
			rcu_barrier();
	}

	return -ENOSPC;
}

/* Other tasks are in the set than before. */
static void trace_follow_update_syscalls(struct trace_follow *follow)
{
	lockdep_assert_held(&follow->lock);

	syscall_filter_update(&follow->filter, trace_follow_mask(follow));
	/* The filters of instances ask for the set as well. */
	syscall_filter_refresh();
}

static int trace_follow_comm_cmp(const void *a, const void *b)
{
	return strncmp(a, b, TASK_COMM_LEN - 1);
}

static bool trace_follow_comm_matches(const struct trace_follow_comms *comms,
				      const char *comm)
{
	return bsearch(comm, comms->comms, comms->nr, TASK_COMM_LEN,
		       trace_follow_comm_cmp);
}

static int trace_follow_uid_cmp(const void *a, const void *b)
{
	return cmp_int(__kuid_val(*(const kuid_t *)a),
		       __kuid_val(*(const kuid_t *)b));
}

static bool trace_follow_uid_matches(const struct trace_follow_uids *uids,
				     kuid_t uid)
{
	return bsearch(&uid, uids->uids, uids->nr, sizeof(uid),
		       trace_follow_uid_cmp);
}

static void trace_follow_task(struct task_struct *t, unsigned int bit)
{
	if (!test_and_set_bit(bit, &t->trace_follow))
		syscall_filter_update_task(t);
}

/* A walk has found current while it forked @p. */
void __trace_follow_forked(struct task_struct *p, unsigned long missed)
{
	unsigned int bit;

	for_each_set_bit(bit, &missed, BITS_PER_LONG)
		set_bit(bit, &p->trace_follow);
}

static void trace_follow_rename(void *data, struct task_struct *t,
				const char *comm)
{
	struct trace_follow *follow = data;
	struct trace_follow_comms *comms;

	guard(rcu)();

	comms = rcu_dereference(follow->comms);
	if (comms && trace_follow_comm_matches(comms, comm))
		trace_follow_task(t, comms->bit);
}

void __trace_follow_commit_creds(void)
{
	struct trace_follow_uids *uids;
	struct trace_follow *follow;

	guard(rcu)();

	hlist_for_each_entry_rcu(follow, &trace_follow_uid_sets, node) {
		uids = rcu_dereference(follow->uids);
		if (uids && trace_follow_uid_matches(uids, current_uid()))
			trace_follow_task(current, uids->bit);
	}
}

static bool trace_follow_is_root(struct task_struct *t,
				 const struct trace_follow_comms *comms,
				 const struct trace_follow_uids *uids)
{
	if (comms && trace_follow_comm_matches(comms, t->comm))
		return true;

	return uids && trace_follow_uid_matches(uids, task_uid(t));
}

static bool trace_follow_is_child(struct task_struct *p, unsigned int bit)
{
	struct task_struct *parent;

	parent = rcu_dereference_protected(p->real_parent,
					   lockdep_tasklist_lock_is_held());

	return test_bit(bit, &parent->trace_follow);
}

/*
 * Give @bit to the threads and children of tasks that have it. A parent comes
 * before its children in the list of tasks, also when it has adopted them, so
 * one walk finds them all.
 */
static void trace_follow_family(unsigned int bit)
{
	struct task_struct *p, *t;

	lockdep_assert(lockdep_tasklist_lock_is_held());

	for_each_process(p) {
		if (!test_bit(bit, &p->trace_follow) &&
		    !trace_follow_is_child(p, bit))
			continue;
		for_each_thread(p, t)
			set_bit(bit, &t->trace_follow);
	}
}

/* Give @bit to the tasks that match, and to their threads and children. */
static void trace_follow_walk(unsigned int bit,
			      const struct trace_follow_comms *comms,
			      const struct trace_follow_uids *uids)
{
	struct task_struct *p, *t;

	/* A fork hands on the bit, so it may go on. */
	scoped_guard(rcu) {
		for_each_process_thread(p, t) {
			if (!trace_follow_is_root(t, comms, uids))
				continue;
			set_bit(bit, &t->trace_follow);
			/* Before the next task is read: trace_follow_forked() */
			smp_mb__after_atomic();
		}
	}

	guard(read_lock)(&tasklist_lock);
	trace_follow_family(bit);
}

/* Nobody gives @bit to a task any more, but for forks. */
static void trace_follow_drop(unsigned int bit)
{
	struct task_struct *p, *t;

	read_lock(&tasklist_lock);
	for_each_process_thread(p, t)
		clear_bit(bit, &t->trace_follow);
	read_unlock(&tasklist_lock);

	trace_follow_bit_put(bit);
}

/*
 * @bits takes the place of the bit of @kind, which may be the same one. The
 * set goes from the old choice to the new one in one step: at no time is it
 * one in which nobody has chosen, if it is not to be that.
 */
static void trace_follow_switch(struct trace_follow *follow,
				enum trace_follow_kind kind, unsigned long bits)
{
	unsigned long old = follow->bits[kind];

	lockdep_assert_held(&follow->lock);

	WRITE_ONCE(follow->bits[kind], bits);
	WRITE_ONCE(follow->mask, (follow->mask & ~old) | bits);
	trace_follow_update_syscalls(follow);

	if (old && old != bits)
		trace_follow_drop(__ffs(old));
}

/*
 * A task found by the next choice before the switch has @bit alone, and is in the
 * set from now on. One in which nobody has chosen is to stay that until then.
 */
static void trace_follow_widen(struct trace_follow *follow, unsigned int bit)
{
	lockdep_assert_held(&follow->lock);

	if (!follow->mask)
		return;

	WRITE_ONCE(follow->mask, follow->mask | BIT(bit));
	trace_follow_update_syscalls(follow);
}

/* The bit that the next choice has to use. */
static int trace_follow_next_bit(struct trace_follow *follow,
				 enum trace_follow_kind kind, bool replace)
{
	if (!replace && follow->bits[kind])
		return __ffs(follow->bits[kind]);

	return trace_follow_bit_get();
}

/* The choice that was to have @bit failed. */
static void trace_follow_bit_unget(struct trace_follow *follow,
				   enum trace_follow_kind kind, int bit)
{
	if (follow->bits[kind] != BIT(bit))
		set_bit(bit, &trace_follow_free);
}

static bool trace_follow_match(struct syscall_task_filter *filter,
			       struct task_struct *task)
{
	return trace_follow_has(container_of(filter, struct trace_follow,
					     filter), task);
}

/**
 * trace_follow_init - prepare a set in which nobody has chosen
 * @follow: the set, all zeroes
 */
void trace_follow_init(struct trace_follow *follow)
{
	mutex_init(&follow->lock);
	follow->filter.match = trace_follow_match;
}

/**
 * trace_follow_pids - follow tasks by pid
 * @follow: the set
 * @pids: of threads, whose processes are followed with all their threads
 * @nr: how many; 0 with @replace: nobody is chosen by pid
 * @replace: these instead of those that were chosen before
 *
 * Their children of now, and the children of these, are followed as well if
 * they have forked them.
 *
 * Context: may sleep.
 *
 * Return: 0, -ESRCH when there is no task of one of @pids, or -ENOSPC when
 * there are too many sets. Then nothing has changed.
 */
int trace_follow_pids(struct trace_follow *follow, struct pid **pids,
		      unsigned int nr, bool replace)
{
	struct task_struct *t;
	unsigned int i;
	int bit;

	/* A choice that is made at this moment comes after us. */
	if (!nr && !READ_ONCE(follow->bits[TRACE_FOLLOW_PID]))
		return 0;

	guard(mutex)(&follow->lock);

	if (!nr) {
		if (replace)
			trace_follow_switch(follow, TRACE_FOLLOW_PID, 0);
		return 0;
	}

	bit = trace_follow_next_bit(follow, TRACE_FOLLOW_PID, replace);
	if (bit < 0)
		return bit;

	read_lock(&tasklist_lock);
	for (i = 0; i < nr; i++) {
		if (!pid_task(pids[i], PIDTYPE_PID)) {
			read_unlock(&tasklist_lock);
			trace_follow_bit_unget(follow, TRACE_FOLLOW_PID, bit);
			return -ESRCH;
		}
	}
	for (i = 0; i < nr; i++) {
		t = pid_task(pids[i], PIDTYPE_PID);
		set_bit(bit, &t->group_leader->trace_follow);
	}
	trace_follow_family(bit);
	read_unlock(&tasklist_lock);

	trace_follow_switch(follow, TRACE_FOLLOW_PID, BIT(bit));

	return 0;
}

/**
 * trace_follow_comms - follow tasks by command
 * @follow: the set
 * @comms: the commands
 * @nr: how many; 0 with @replace: nobody is chosen by command
 * @replace: these instead of those that were chosen before
 *
 * Followed are tasks that have one of the names, or will have, and what they
 * have forked and will fork. If it is the main thread of a process that has
 * the name, then all of its threads.
 *
 * Context: may sleep, and waits for a grace period of RCU tasks.
 *
 * Return: 0, -ENOMEM, -E2BIG for more than TRACE_FOLLOW_MAX names, or -ENOSPC
 * when there are too many sets. Then nothing has changed.
 */
int trace_follow_comms(struct trace_follow *follow,
		       char comms[][TASK_COMM_LEN], unsigned int nr,
		       bool replace)
{
	struct trace_follow_comms *old, *new;
	unsigned int kept = 0, i;
	int bit, ret;

	/* A choice that is made at this moment comes after us. */
	if (!nr && !READ_ONCE(follow->bits[TRACE_FOLLOW_COMM]))
		return 0;

	guard(mutex)(&follow->lock);

	old = rcu_dereference_protected(follow->comms,
					lockdep_is_held(&follow->lock));
	if (!nr) {
		if (!replace || !old)
			return 0;
		unregister_trace_task_rename(trace_follow_rename, follow);
		rcu_assign_pointer(follow->comms, NULL);
		/* Not for those at system calls, who may wait for a page. */
		synchronize_srcu(&tracepoint_srcu);
		trace_follow_switch(follow, TRACE_FOLLOW_COMM, 0);
		kfree_rcu_mightsleep(old);
		return 0;
	}

	if (old && !replace)
		kept = old->nr;
	new = kzalloc_flex(*new, comms, min(kept + nr, TRACE_FOLLOW_MAX));
	if (!new)
		return -ENOMEM;
	new->nr = kept;
	if (kept)
		memcpy(new->comms, old->comms, kept * sizeof(*comms));
	for (i = 0; i < nr; i++) {
		if (trace_follow_comm_matches(new, comms[i]))
			continue;
		if (new->nr == TRACE_FOLLOW_MAX) {
			kfree(new);
			return -E2BIG;
		}
		new->nr++;
		memcpy(new->comms[new->nr - 1], comms[i], sizeof(*comms));
		sort(new->comms, new->nr, sizeof(*comms),
		     trace_follow_comm_cmp, NULL);
	}

	bit = trace_follow_next_bit(follow, TRACE_FOLLOW_COMM, replace);
	if (bit < 0) {
		kfree(new);
		return bit;
	}
	new->bit = bit;

	if (!old) {
		ret = register_trace_task_rename(trace_follow_rename, follow);
		if (ret) {
			trace_follow_bit_unget(follow, TRACE_FOLLOW_COMM, bit);
			kfree(new);
			return ret;
		}
	}
	trace_follow_widen(follow, bit);
	rcu_assign_pointer(follow->comms, new);

	/*
	 * __set_task_comm() takes no lock: a task may have passed the
	 * tracepoint while it was off, or with the old names, and not have its
	 * new name yet. The walk would not know it by that.
	 */
	synchronize_rcu();
	synchronize_rcu_tasks();

	trace_follow_walk(bit, new, NULL);

	trace_follow_switch(follow, TRACE_FOLLOW_COMM, BIT(bit));
	kfree(old);

	return 0;
}

/**
 * trace_follow_uids - follow tasks by user
 * @follow: the set
 * @uids: the users
 * @nr: how many; 0 with @replace: nobody is chosen by user
 * @replace: these instead of those that were chosen before
 *
 * Followed are tasks that have one of these as real uid, or will have, and
 * what they have forked and will fork. If it is the main thread of a process
 * that has it, then all of its threads.
 *
 * Context: may sleep.
 *
 * Return: 0, -ENOMEM, -E2BIG for more than TRACE_FOLLOW_MAX users, or -ENOSPC
 * when there are too many sets. Then nothing has changed.
 */
int trace_follow_uids(struct trace_follow *follow, const kuid_t *uids,
		      unsigned int nr, bool replace)
{
	struct trace_follow_uids *old, *new;
	unsigned int kept = 0, i;
	int bit;

	/* A choice that is made at this moment comes after us. */
	if (!nr && !READ_ONCE(follow->bits[TRACE_FOLLOW_UID]))
		return 0;

	guard(mutex)(&follow->lock);

	old = rcu_dereference_protected(follow->uids,
					lockdep_is_held(&follow->lock));
	if (!nr) {
		if (!replace || !old)
			return 0;
		static_branch_dec(&trace_follow_by_uid);
		scoped_guard(spinlock, &trace_follow_uid_lock)
			hlist_del_rcu(&follow->node);
		rcu_assign_pointer(follow->uids, NULL);
		synchronize_rcu();
		trace_follow_switch(follow, TRACE_FOLLOW_UID, 0);
		kfree(old);
		return 0;
	}

	if (old && !replace)
		kept = old->nr;
	new = kzalloc_flex(*new, uids, min(kept + nr, TRACE_FOLLOW_MAX));
	if (!new)
		return -ENOMEM;
	new->nr = kept;
	if (kept)
		memcpy(new->uids, old->uids, kept * sizeof(*uids));
	for (i = 0; i < nr; i++) {
		if (trace_follow_uid_matches(new, uids[i]))
			continue;
		if (new->nr == TRACE_FOLLOW_MAX) {
			kfree(new);
			return -E2BIG;
		}
		new->nr++;
		new->uids[new->nr - 1] = uids[i];
		sort(new->uids, new->nr, sizeof(*uids), trace_follow_uid_cmp,
		     NULL);
	}

	bit = trace_follow_next_bit(follow, TRACE_FOLLOW_UID, replace);
	if (bit < 0) {
		kfree(new);
		return bit;
	}
	new->bit = bit;

	trace_follow_widen(follow, bit);
	rcu_assign_pointer(follow->uids, new);
	if (!old) {
		scoped_guard(spinlock, &trace_follow_uid_lock)
			hlist_add_head_rcu(&follow->node, &trace_follow_uid_sets);
		static_branch_inc(&trace_follow_by_uid);
	}

	/*
	 * commit_creds() looks at the uids after it has published the
	 * credentials. A task that looked before they were there is done
	 * after this, and the walk sees the credentials.
	 */
	synchronize_rcu();

	trace_follow_walk(bit, NULL, new);

	trace_follow_switch(follow, TRACE_FOLLOW_UID, BIT(bit));
	kfree(old);

	return 0;
}

/**
 * trace_follow_clear - nobody is chosen
 * @follow: the set
 *
 * Context: may sleep. After it, and with no probes left, the set may be freed.
 */
void trace_follow_clear(struct trace_follow *follow)
{
	trace_follow_pids(follow, NULL, 0, true);
	trace_follow_comms(follow, NULL, 0, true);
	trace_follow_uids(follow, NULL, 0, true);
}

/**
 * trace_follow_syscalls_get - call a probe for the system calls of a set
 * @follow: the set
 * @tp: sys_enter or sys_exit
 * @probe: the probe; it has to check which task it is called for
 * @data: the data of @probe
 *
 * Only tasks that are in the set come, if nobody else wants more.
 *
 * Context: may sleep.
 *
 * Return: 0 or a negative error number.
 */
int trace_follow_syscalls_get(struct trace_follow *follow,
			      struct tracepoint *tp, void *probe, void *data)
{
	return syscall_probe_register(tp, probe, data, &follow->filter);
}

/**
 * trace_follow_syscalls_put - do not call a probe any more
 * @follow: the set
 * @tp: sys_enter or sys_exit
 * @probe: the probe
 * @data: the data of @probe
 *
 * Context: may sleep. The probe may still run.
 */
void trace_follow_syscalls_put(struct trace_follow *follow,
			       struct tracepoint *tp, void *probe, void *data)
{
	syscall_probe_unregister(tp, probe, data, &follow->filter);
}

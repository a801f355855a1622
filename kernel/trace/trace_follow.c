// SPDX-License-Identifier: GPL-2.0
/*
 * Sets of followed tasks.
 *
 * A set is a bit in task_struct::trace_follow. A fork hands it on, so a set
 * grows without memory and can't lose a child, and one AND tells whether a task
 * is in it. As the bit goes with the task, a new task with an old pid is not
 * followed by mistake. There are as many bits as a long has, so there can be
 * that many choices at a time in the whole system.
 *
 * These tasks get a bit by choice, and not by fork:
 *
 *  - by pid: tasks that exist, with their threads and all that they have
 *    forked. A walk under tasklist_lock, which keeps forks out, finds them. A
 *    child gets the bits of its parent and comes into the list under the same
 *    lock, so it gets the bit from the fork or from the walk.
 *  - by command: tasks of that name, found by such a walk, and from then on
 *    those that take the name, by exec or prctl, found at the tracepoint
 *    task_rename.
 *  - by user: tasks with that real uid, found by such a walk, and from then on
 *    those that change to it, found in commit_creds().
 *
 * A task stays in a set until it ends, or until the choice is replaced. What
 * it forks is followed as well, whatever name and user the child has.
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
#include <linux/timekeeping.h>
#include <linux/trace_follow.h>
#include <linux/uidgid.h>

#include <trace/events/task.h>

#include "trace.h"
#include "trace_follow.h"

/* The most names or users of a choice */
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

	if (syscall_filter_update(&follow->filter, trace_follow_mask(follow)))
		return;

	/* The filter of the instance may ask for the set as well. */
	smp_mb(); /* Pairs with the barrier in syscall_want(). */
	if (READ_ONCE(follow->has_events))
		syscall_filter_refresh();
}

static int trace_follow_comm_cmp(const void *a, const void *b)
{
	return strncmp(a, b, TASK_COMM_LEN - 1);
}

static int trace_follow_uid_cmp(const void *a, const void *b)
{
	return cmp_int(__kuid_val(*(const kuid_t *)a),
		       __kuid_val(*(const kuid_t *)b));
}

/* The items in the lists of each kind */
static const struct {
	size_t		size;
	cmp_func_t	cmp;
} trace_follow_items[TRACE_FOLLOW_NR] = {
	[TRACE_FOLLOW_COMM] = { TASK_COMM_LEN, trace_follow_comm_cmp },
	[TRACE_FOLLOW_UID] = { sizeof(kuid_t), trace_follow_uid_cmp },
};

static bool trace_follow_list_has(const struct trace_follow_list *list,
				  enum trace_follow_kind kind, const void *item)
{
	return bsearch(item, list->items, list->nr,
		       trace_follow_items[kind].size,
		       trace_follow_items[kind].cmp);
}

/**
 * trace_follow_join_begin - tasks may come into a set from here on
 * @follow: the set
 *
 * The probes of a set, too, may begin to run for its tasks only between this
 * and trace_follow_join_end(), for trace_follow_since().
 *
 * Context: any but NMI. Several may do this at a time, or one more than once.
 */
void trace_follow_join_begin(struct trace_follow *follow)
{
	atomic_inc(&follow->joining);
	smp_mb__after_atomic(); /* Pairs with trace_follow_since(). */
}

/**
 * trace_follow_join_end - the tasks are in the set, and get their probes called
 * @follow: the set
 *
 * Context: as trace_follow_join_begin().
 */
void trace_follow_join_end(struct trace_follow *follow)
{
	s64 since = atomic64_read(&follow->since);
	s64 now;

	/* The time is later than all that was done. */
	smp_mb();
	now = ktime_get_ns();
	while (since < now &&
	       !atomic64_try_cmpxchg(&follow->since, &since, now))
		;
	smp_mb__before_atomic(); /* Pairs with trace_follow_since(). */
	atomic_dec(&follow->joining);
}

static void trace_follow_task(struct trace_follow *follow,
			      struct task_struct *t, unsigned int bit)
{
	if (test_bit(bit, &t->trace_follow))
		return;

	guard(trace_follow_join)(follow);

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
	struct trace_follow_list *list;

	guard(rcu)();

	list = rcu_dereference(follow->lists[TRACE_FOLLOW_COMM]);
	if (list && trace_follow_list_has(list, TRACE_FOLLOW_COMM, comm))
		trace_follow_task(follow, t, list->bit);
}

void __trace_follow_commit_creds(void)
{
	kuid_t uid = current_uid();
	struct trace_follow_list *list;
	struct trace_follow *follow;

	guard(rcu)();

	hlist_for_each_entry_rcu(follow, &trace_follow_uid_sets, node) {
		list = rcu_dereference(follow->lists[TRACE_FOLLOW_UID]);
		if (list && trace_follow_list_has(list, TRACE_FOLLOW_UID, &uid))
			trace_follow_task(follow, current, list->bit);
	}
}

static bool trace_follow_is_root(struct task_struct *t,
				 const struct trace_follow_list *list,
				 enum trace_follow_kind kind)
{
	kuid_t uid;

	if (kind == TRACE_FOLLOW_COMM)
		return trace_follow_list_has(list, kind, t->comm);

	uid = task_uid(t);

	return trace_follow_list_has(list, kind, &uid);
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

/* Give its bit to the tasks in @list, and to their threads and children. */
static void trace_follow_walk(const struct trace_follow_list *list,
			      enum trace_follow_kind kind)
{
	struct task_struct *p, *t;

	/* A fork hands on the bit, so it may go on. */
	scoped_guard(rcu) {
		for_each_process_thread(p, t) {
			if (!trace_follow_is_root(t, list, kind))
				continue;
			set_bit(list->bit, &t->trace_follow);
			/* Before the next task is read: trace_follow_forked() */
			smp_mb__after_atomic();
		}
	}

	guard(read_lock)(&tasklist_lock);
	trace_follow_family(list->bit);
}

/* Take @bit away from all tasks. Only forks still hand it on. */
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
 * mask changes in one step. It is never 0 in between, as that would stand for
 * all tasks.
 */
static void trace_follow_switch(struct trace_follow *follow,
				enum trace_follow_kind kind, unsigned long bits)
{
	unsigned long old = follow->bits[kind];

	lockdep_assert_held(&follow->lock);

	guard(trace_follow_join)(follow);

	WRITE_ONCE(follow->bits[kind], bits);
	WRITE_ONCE(follow->mask, (follow->mask & ~old) | bits);
	trace_follow_update_syscalls(follow);

	if (old && old != bits)
		trace_follow_drop(__ffs(old));
}

/*
 * The next choice finds tasks before it is switched to. They have only @bit, so
 * add it to the mask at once. An empty mask stands for all tasks, and stays
 * empty until the switch.
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
 * Their present children, and the children of these, are followed as well.
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

	/* With an old bit they are in the set at once. */
	guard(trace_follow_join)(follow);

	for (i = 0; i < nr; i++) {
		t = pid_task(pids[i], PIDTYPE_PID);
		set_bit(bit, &t->group_leader->trace_follow);
	}
	trace_follow_family(bit);
	read_unlock(&tasklist_lock);

	trace_follow_switch(follow, TRACE_FOLLOW_PID, BIT(bit));

	return 0;
}

/* The next list of @follow, with a bit. @old: items that it keeps, or NULL */
static struct trace_follow_list *
trace_follow_list_new(struct trace_follow *follow, enum trace_follow_kind kind,
		      const struct trace_follow_list *old, const void *items,
		      unsigned int nr)
{
	struct trace_follow_list *new __free(kfree) = NULL;
	size_t size = trace_follow_items[kind].size;
	unsigned int kept = old ? old->nr : 0;
	int bit;

	new = kzalloc_flex(*new, items, min(kept + nr, TRACE_FOLLOW_MAX) * size);
	if (!new)
		return ERR_PTR(-ENOMEM);

	new->nr = kept;
	if (kept)
		memcpy(new->items, old->items, kept * size);
	for (; nr; nr--, items += size) {
		if (trace_follow_list_has(new, kind, items))
			continue;
		if (new->nr == TRACE_FOLLOW_MAX)
			return ERR_PTR(-E2BIG);
		memcpy(new->items + new->nr++ * size, items, size);
		sort(new->items, new->nr, size, trace_follow_items[kind].cmp,
		     NULL);
	}

	bit = trace_follow_next_bit(follow, kind, !old);
	if (bit < 0)
		return ERR_PTR(bit);
	new->bit = bit;

	return_ptr(new);
}

/* From now on tasks are looked up in the list when their name or user changes. */
static int trace_follow_list_start(struct trace_follow *follow,
				   enum trace_follow_kind kind)
{
	if (kind == TRACE_FOLLOW_COMM)
		return register_trace_task_rename(trace_follow_rename, follow);

	scoped_guard(spinlock, &trace_follow_uid_lock)
		hlist_add_head_rcu(&follow->node, &trace_follow_uid_sets);
	static_branch_inc(&trace_follow_by_uid);

	return 0;
}

/* When this returns, only forks still give the bit of the list to a task. */
static void trace_follow_list_stop(struct trace_follow *follow,
				   enum trace_follow_kind kind)
{
	if (kind == TRACE_FOLLOW_COMM) {
		unregister_trace_task_rename(trace_follow_rename, follow);
		RCU_INIT_POINTER(follow->lists[kind], NULL);
		/* Not for probes at system calls, which may wait for a page. */
		synchronize_srcu(&tracepoint_srcu);
		return;
	}

	static_branch_dec(&trace_follow_by_uid);
	scoped_guard(spinlock, &trace_follow_uid_lock)
		hlist_del_rcu(&follow->node);
	RCU_INIT_POINTER(follow->lists[kind], NULL);
	synchronize_rcu();
}

/* Nobody is about to take a name or a user without being looked up. */
static void trace_follow_list_wait(enum trace_follow_kind kind)
{
	/*
	 * commit_creds() looks at the list after it has published the
	 * credentials. If a task has looked before the list was there, it is
	 * done after this, and the walk sees its credentials.
	 */
	synchronize_rcu();

	/*
	 * __set_task_comm() takes no lock: a task may have passed the
	 * tracepoint while it was off, or with the old names, and not have its
	 * new name yet. The walk would then miss it.
	 */
	if (kind == TRACE_FOLLOW_COMM)
		synchronize_rcu_tasks();
}

static int trace_follow_list_choose(struct trace_follow *follow,
				    enum trace_follow_kind kind,
				    const void *items, unsigned int nr,
				    bool replace)
{
	struct trace_follow_list *old, *new;
	int ret;

	/* A choice that is made at this moment comes after us. */
	if (!nr && !READ_ONCE(follow->bits[kind]))
		return 0;

	guard(mutex)(&follow->lock);

	old = rcu_dereference_protected(follow->lists[kind],
					lockdep_is_held(&follow->lock));
	if (!nr) {
		if (!replace || !old)
			return 0;
		trace_follow_list_stop(follow, kind);
		trace_follow_switch(follow, kind, 0);
		kfree_rcu_mightsleep(old);
		return 0;
	}

	new = trace_follow_list_new(follow, kind, replace ? NULL : old, items,
				    nr);
	if (IS_ERR(new))
		return PTR_ERR(new);

	if (!old) {
		ret = trace_follow_list_start(follow, kind);
		if (ret) {
			trace_follow_bit_unget(follow, kind, new->bit);
			kfree(new);
			return ret;
		}
	}
	trace_follow_widen(follow, new->bit);
	rcu_assign_pointer(follow->lists[kind], new);
	trace_follow_list_wait(kind);
	scoped_guard(trace_follow_join, follow) {
		trace_follow_walk(new, kind);
		trace_follow_switch(follow, kind, BIT(new->bit));
	}
	kfree(old);

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
 * Return: 0, -ENOMEM, -E2BIG for more than TRACE_FOLLOW_MAX names, -ENOSPC when
 * there are too many sets, or why the probe of renames can't be registered.
 * Then nothing has changed.
 */
int trace_follow_comms(struct trace_follow *follow,
		       char comms[][TASK_COMM_LEN], unsigned int nr,
		       bool replace)
{
	return trace_follow_list_choose(follow, TRACE_FOLLOW_COMM, comms, nr,
					replace);
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
	return trace_follow_list_choose(follow, TRACE_FOLLOW_UID, uids, nr,
					replace);
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

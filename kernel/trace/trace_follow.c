// SPDX-License-Identifier: GPL-2.0
/*
 * Sets of followed tasks.
 *
 * A set is a bit in task_struct::trace_follow. A fork hands it on, so a set
 * grows without memory, can't lose a child, and is asked with one AND. As the
 * bit goes with the task, a new task with an old pid is not followed by
 * mistake. There are as many bits as a long has, so there can be that many
 * choices at a time in the whole system, minus one for the walks.
 *
 * Who gets a bit by choice, and not by fork:
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
 * trace_follow_choice_mutex serializes the choices, which may wait for grace
 * periods of RCU tasks. trace_follow_mutex is for the list, the masks and the
 * probes: who only enables an event does not wait for a choice. Both nest
 * inside event_mutex, trace_types_lock and the locks of the users of a set, the
 * second inside the first, and outside of tracepoints_mutex and tasklist_lock.
 */

#include <linux/cred.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate_wait.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/trace_follow.h>
#include <linux/uidgid.h>

#include <trace/events/task.h>

#include "trace.h"
#include "trace_follow.h"

/* A walk compares all of them with all tasks, and forks wait for it. */
#define TRACE_FOLLOW_MAX	256

struct trace_follow_comms {
	unsigned int		bit;
	unsigned int		nr;
	char			comms[][TASK_COMM_LEN] __counted_by(nr);
};

struct trace_follow_uids {
	unsigned int		bit;
	unsigned int		nr;
	kuid_t			uids[] __counted_by(nr);
};

static DEFINE_MUTEX(trace_follow_choice_mutex);
static DEFINE_MUTEX(trace_follow_mutex);

/* Sets with a choice or with probes. Read under RCU. */
static HLIST_HEAD(trace_follow_list);

DEFINE_STATIC_KEY_FALSE(trace_follow_by_uid);

/* Is set in no task but while a walk holds tasklist_lock. */
#define TRACE_FOLLOW_WALK	0

static unsigned long trace_follow_free = ~BIT(TRACE_FOLLOW_WALK);
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

	lockdep_assert_held(&trace_follow_choice_mutex);

	while (tries--) {
		bit = find_first_bit(&trace_follow_free, BITS_PER_LONG);
		if (bit < BITS_PER_LONG) {
			clear_bit(bit, &trace_follow_free);
			return bit;
		}

		if (IS_ENABLED(CONFIG_TASKS_RCU))
			rcu_barrier_tasks();
		else
			rcu_barrier();
	}

	return -ENOSPC;
}

/* The system calls of whom do the probes of all sets want? */
static void trace_follow_update_syscalls(void)
{
#ifdef CONFIG_HAVE_SYSCALL_TRACEPOINTS
	struct trace_follow *follow;
	unsigned long mask = 0;
	bool all = false;

	lockdep_assert_held(&trace_follow_mutex);

	hlist_for_each_entry(follow, &trace_follow_list, node) {
		all |= follow->syscalls_all;
		if (!follow->syscalls)
			continue;
		if (trace_follow_mask(follow))
			mask |= trace_follow_mask(follow);
		else
			all = true;
	}

	syscall_follow(mask, all);
#endif
}

/* The list has what a fork, a walk or commit_creds() may have to look at. */
static void trace_follow_use(struct trace_follow *follow)
{
	lockdep_assert_held(&trace_follow_mutex);

	if (hlist_unhashed(&follow->node))
		hlist_add_head_rcu(&follow->node, &trace_follow_list);
}

static void trace_follow_unuse(struct trace_follow *follow)
{
	lockdep_assert_held(&trace_follow_mutex);

	if (follow->mask || follow->syscalls || follow->syscalls_all ||
	    rcu_access_pointer(follow->uids) || hlist_unhashed(&follow->node))
		return;

	hlist_del_init_rcu(&follow->node);
	synchronize_rcu();
}

static bool trace_follow_comm_matches(const struct trace_follow_comms *comms,
				      const char *comm)
{
	unsigned int i;

	for (i = 0; i < comms->nr; i++) {
		if (!strncmp(comms->comms[i], comm, TASK_COMM_LEN - 1))
			return true;
	}

	return false;
}

static bool trace_follow_uid_matches(const struct trace_follow_uids *uids,
				     kuid_t uid)
{
	unsigned int i;

	for (i = 0; i < uids->nr; i++) {
		if (uid_eq(uids->uids[i], uid))
			return true;
	}

	return false;
}

static void trace_follow_task(struct task_struct *t, unsigned int bit)
{
	if (test_and_set_bit(bit, &t->trace_follow))
		return;

#ifdef CONFIG_HAVE_SYSCALL_TRACEPOINTS
	syscall_follow_task(t);
#endif
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

	hlist_for_each_entry_rcu(follow, &trace_follow_list, node) {
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

static bool trace_follow_is_child(struct task_struct *p)
{
	struct task_struct *parent;

	parent = rcu_dereference_protected(p->real_parent,
					   lockdep_tasklist_lock_is_held());

	return test_bit(TRACE_FOLLOW_WALK, &parent->trace_follow);
}

/*
 * Give @bit to those who match, and to those who are marked for the walk, to
 * their threads, and to all that they have forked. Whose parent has ended may
 * have another one now, but each parent is older than its children, and comes
 * earlier in the list. So one pass finds them all.
 */
static void trace_follow_walk(unsigned int bit,
			      const struct trace_follow_comms *comms,
			      const struct trace_follow_uids *uids)
{
	struct task_struct *p, *t;
	bool whole;

	for_each_process(p) {
		whole = test_bit(TRACE_FOLLOW_WALK, &p->trace_follow) ||
			trace_follow_is_child(p) ||
			trace_follow_is_root(p, comms, uids);

		for_each_thread(p, t) {
			if (whole || trace_follow_is_root(t, comms, uids))
				set_bit(TRACE_FOLLOW_WALK, &t->trace_follow);
		}
	}

	for_each_process_thread(p, t) {
		if (!test_bit(TRACE_FOLLOW_WALK, &t->trace_follow))
			continue;
		set_bit(bit, &t->trace_follow);
		clear_bit(TRACE_FOLLOW_WALK, &t->trace_follow);
	}
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

	lockdep_assert_held(&trace_follow_choice_mutex);

	WRITE_ONCE(follow->bits[kind], bits);
	scoped_guard(mutex, &trace_follow_mutex) {
		WRITE_ONCE(follow->mask, (follow->mask & ~old) | bits);
		if (bits)
			trace_follow_use(follow);
		trace_follow_update_syscalls();
		trace_follow_unuse(follow);
	}

	if (old && old != bits)
		trace_follow_drop(__ffs(old));
}

/*
 * Whom the next choice finds before the switch has @bit alone, and is in the
 * set from now on. One in which nobody has chosen is to stay that until then.
 */
static void trace_follow_widen(struct trace_follow *follow, unsigned int bit)
{
	lockdep_assert_held(&trace_follow_mutex);

	if (!follow->mask)
		return;

	WRITE_ONCE(follow->mask, follow->mask | BIT(bit));
	trace_follow_update_syscalls();
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

/**
 * trace_follow_pids - follow tasks by pid
 * @follow: the set
 * @pids: of threads, whose processes are followed with all their threads
 * @nr: how many; 0 with @replace: nobody is chosen by pid
 * @replace: these instead of those that were chosen before
 *
 * What these tasks have forked that is their child now, or a child of their
 * children, is followed as well.
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

	/* Who makes a choice at this moment comes after us. */
	if (!nr && !READ_ONCE(follow->bits[TRACE_FOLLOW_PID]))
		return 0;

	guard(mutex)(&trace_follow_choice_mutex);

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
		set_bit(TRACE_FOLLOW_WALK, &t->group_leader->trace_follow);
	}
	trace_follow_walk(bit, NULL, NULL);
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

	/* Who makes a choice at this moment comes after us. */
	if (!nr && !READ_ONCE(follow->bits[TRACE_FOLLOW_COMM]))
		return 0;

	guard(mutex)(&trace_follow_choice_mutex);

	old = rcu_dereference_protected(follow->comms,
					lockdep_is_held(&trace_follow_choice_mutex));
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
	scoped_guard(mutex, &trace_follow_mutex)
		trace_follow_widen(follow, bit);
	rcu_assign_pointer(follow->comms, new);

	/*
	 * __set_task_comm() takes no lock: a task may have passed the
	 * tracepoint while it was off, or with the old names, and not have its
	 * new name yet. The walk would not know it by that.
	 */
	synchronize_rcu();
	synchronize_rcu_tasks();

	read_lock(&tasklist_lock);
	trace_follow_walk(bit, new, NULL);
	read_unlock(&tasklist_lock);

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

	/* Who makes a choice at this moment comes after us. */
	if (!nr && !READ_ONCE(follow->bits[TRACE_FOLLOW_UID]))
		return 0;

	guard(mutex)(&trace_follow_choice_mutex);

	old = rcu_dereference_protected(follow->uids,
					lockdep_is_held(&trace_follow_choice_mutex));
	if (!nr) {
		if (!replace || !old)
			return 0;
		static_branch_dec(&trace_follow_by_uid);
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
	}

	bit = trace_follow_next_bit(follow, TRACE_FOLLOW_UID, replace);
	if (bit < 0) {
		kfree(new);
		return bit;
	}
	new->bit = bit;

	scoped_guard(mutex, &trace_follow_mutex) {
		trace_follow_use(follow);
		trace_follow_widen(follow, bit);
		rcu_assign_pointer(follow->uids, new);
	}
	if (!old)
		static_branch_inc(&trace_follow_by_uid);

	/*
	 * commit_creds() looks at the uids after it has published the
	 * credentials. Who has looked before they were there is done with it
	 * after this, and the walk sees the credentials.
	 */
	synchronize_rcu();

	read_lock(&tasklist_lock);
	trace_follow_walk(bit, NULL, new);
	read_unlock(&tasklist_lock);

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

#ifdef CONFIG_HAVE_SYSCALL_TRACEPOINTS
/**
 * trace_follow_syscalls_get - call a probe for the system calls of a set
 * @follow: the set
 * @tp: sys_enter or sys_exit
 * @probe: the probe; it has to look who it is called for
 * @data: what it gets
 * @all: the probe wants all tasks
 *
 * Only tasks that are in the set come by, if nobody else wants more.
 *
 * Context: may sleep.
 *
 * Return: 0 or a negative error number.
 */
int trace_follow_syscalls_get(struct trace_follow *follow,
			      struct tracepoint *tp, void *probe, void *data,
			      bool all)
{
	int ret;

	guard(mutex)(&trace_follow_mutex);

	ret = tracepoint_probe_register_followed(tp, probe, data,
						 TRACEPOINT_DEFAULT_PRIO);
	if (ret)
		return ret;

	if (all)
		follow->syscalls_all++;
	else
		follow->syscalls++;
	trace_follow_use(follow);
	trace_follow_update_syscalls();

	return 0;
}

/**
 * trace_follow_syscalls_put - do not call a probe any more
 * @follow: the set
 * @tp: sys_enter or sys_exit
 * @probe: the probe
 * @data: what it gets
 * @all: as it is now
 *
 * Context: may sleep. The probe may still run.
 */
void trace_follow_syscalls_put(struct trace_follow *follow,
			       struct tracepoint *tp, void *probe, void *data,
			       bool all)
{
	guard(mutex)(&trace_follow_mutex);

	tracepoint_probe_unregister(tp, probe, data);

	if (all)
		follow->syscalls_all--;
	else
		follow->syscalls--;
	trace_follow_update_syscalls();
	trace_follow_unuse(follow);
}

/**
 * syscall_probe_register - call a probe for the system calls of an instance
 * @tr: the instance; those of all tasks, unless its events are restricted
 * @tp: sys_enter or sys_exit
 * @probe: the probe
 * @data: what it gets
 *
 * Context: event_mutex is held, so that the option event-follow does not
 * change.
 *
 * Return: 0 or a negative error number.
 */
int syscall_probe_register(struct trace_array *tr, struct tracepoint *tp,
			   void *probe, void *data)
{
	bool all = !(tr->trace_flags & TRACE_ITER(EVENT_FOLLOW));

	lockdep_assert_held(&event_mutex);

	return trace_follow_syscalls_get(&tr->follow, tp, probe, data, all);
}

/**
 * syscall_probe_unregister - do not call a probe any more
 * @tr: the instance
 * @tp: sys_enter or sys_exit
 * @probe: the probe
 * @data: what it gets
 *
 * Context: event_mutex is held.
 */
void syscall_probe_unregister(struct trace_array *tr, struct tracepoint *tp,
			      void *probe, void *data)
{
	bool all = !(tr->trace_flags & TRACE_ITER(EVENT_FOLLOW));

	lockdep_assert_held(&event_mutex);

	trace_follow_syscalls_put(&tr->follow, tp, probe, data, all);
}
#endif /* CONFIG_HAVE_SYSCALL_TRACEPOINTS */

/**
 * trace_follow_syscalls_all - all probes want all tasks, or those of the set
 * @follow: the set
 * @all: which of both
 *
 * Context: may sleep.
 */
void trace_follow_syscalls_all(struct trace_follow *follow, bool all)
{
	unsigned int probes;

	guard(mutex)(&trace_follow_mutex);

	probes = follow->syscalls + follow->syscalls_all;
	if (!probes)
		return;

	follow->syscalls_all = all ? probes : 0;
	follow->syscalls = all ? 0 : probes;
	trace_follow_update_syscalls();
}

/* The events of @tr want all tasks, or only the followed ones. */
void trace_array_follow_syscalls(struct trace_array *tr, bool all)
{
	trace_follow_syscalls_all(&tr->follow, all);
}

/* Are the events of @tr restricted, and not to those of @t? */
bool trace_array_follow_ignores(struct trace_array *tr, struct task_struct *t)
{
	return (tr->trace_flags & TRACE_ITER(EVENT_FOLLOW)) &&
		!trace_follow_has(&tr->follow, t);
}

/* @tr is about to go. */
void trace_array_follow_clear(struct trace_array *tr)
{
	trace_follow_clear(&tr->follow);
}

/*
 * The files. What is opened with O_TRUNC replaces the choice with the first
 * write that is not refused, or with nothing at the end when there was no
 * write: so a choice that is refused leaves the one before in force.
 */
struct trace_follow_file {
	struct trace_array	*tr;
	enum trace_follow_kind	kind;
	bool			replace;
	bool			written;
	/* In process_follow_pid a 0 stands for all. */
	bool			zero;
};

enum {
	FOLLOW_ERR_BAD_PID,
	FOLLOW_ERR_NO_TASK,
	FOLLOW_ERR_LONG_COMM,
	FOLLOW_ERR_BAD_UID,
	FOLLOW_ERR_NO_BIT,
	FOLLOW_ERR_TOO_LONG,
	FOLLOW_ERR_TOO_MANY,

	FOLLOW_ERR_NR,
};

static const char *trace_follow_errors[FOLLOW_ERR_NR] = {
	[FOLLOW_ERR_BAD_PID]	= "Not a pid",
	[FOLLOW_ERR_NO_TASK]	= "No such task",
	[FOLLOW_ERR_LONG_COMM]	= "Command names have 15 characters at most",
	[FOLLOW_ERR_BAD_UID]	= "Not a user in this user namespace",
	[FOLLOW_ERR_NO_BIT]	= "Too many sets of followed tasks",
	[FOLLOW_ERR_TOO_LONG]	= "More than 65535 bytes",
	[FOLLOW_ERR_TOO_MANY]	= "More than 256 names or users",
};

static void trace_follow_log_err(struct trace_array *tr, const char *cmd,
				 const char *pos, int err)
{
	tracing_log_err(tr, "follow", cmd, trace_follow_errors, err,
			pos ? pos - cmd : 0);
}

/* The next word of @buf, which is cut off there, or NULL. */
static char *trace_follow_word(char **buf, const char *delim)
{
	char *word;

	do {
		word = strsep(buf, delim);
	} while (word && !*word);

	return word;
}

/* How many words can there be, at most? */
static unsigned int trace_follow_count(const char *buf)
{
	return strlen(buf) / 2 + 1;
}

static int trace_follow_parse_pid(const char *word, struct pid **pid, int *err)
{
	pid_t nr;

	*err = FOLLOW_ERR_BAD_PID;
	if (kstrtoint(word, 0, &nr) || nr <= 0)
		return -EINVAL;

	*err = FOLLOW_ERR_NO_TASK;
	*pid = find_get_pid(nr);

	return *pid ? 0 : -ESRCH;
}

static int trace_follow_write_pids(struct trace_follow_file *file,
				   const char *cmd, char *buf)
{
	struct trace_array *tr = file->tr;
	bool replace = file->replace;
	unsigned int nr = 0, i;
	struct pid **pids;
	int ret = 0, err;
	char *word;

	pids = kvcalloc(trace_follow_count(buf), sizeof(*pids), GFP_KERNEL);
	if (!pids)
		return -ENOMEM;

	for (char *rest = buf; (word = trace_follow_word(&rest, " \t\n")); nr++) {
		if (file->zero && !nr && !strcmp(word, "0") &&
		    !trace_follow_word(&rest, " \t\n")) {
			replace = true;
			break;
		}
		ret = trace_follow_parse_pid(word, &pids[nr], &err);
		if (ret) {
			trace_follow_log_err(tr, cmd, cmd + (word - buf), err);
			goto out;
		}
	}

	ret = trace_follow_pids(&tr->follow, pids, nr, replace);
	if (ret == -ESRCH)
		trace_follow_log_err(tr, cmd, NULL, FOLLOW_ERR_NO_TASK);
out:
	for (i = 0; i < nr; i++)
		put_pid(pids[i]);
	kvfree(pids);

	return ret;
}

static int trace_follow_write_comms(struct trace_follow_file *file,
				    const char *cmd, char *buf)
{
	char (*comms)[TASK_COMM_LEN] __free(kvfree) = NULL;
	struct trace_array *tr = file->tr;
	unsigned int nr = 0;
	char *word;

	comms = kvcalloc(trace_follow_count(buf), sizeof(*comms), GFP_KERNEL);
	if (!comms)
		return -ENOMEM;

	/* There are names with spaces. */
	for (char *rest = buf; (word = trace_follow_word(&rest, "\n")); nr++) {
		if (strscpy(comms[nr], word) < 0) {
			trace_follow_log_err(tr, cmd, cmd + (word - buf),
					     FOLLOW_ERR_LONG_COMM);
			return -ENAMETOOLONG;
		}
	}

	return trace_follow_comms(&tr->follow, comms, nr, file->replace);
}

static int trace_follow_write_uids(struct trace_follow_file *file,
				   const char *cmd, char *buf)
{
	kuid_t *uids __free(kvfree) = NULL;
	struct trace_array *tr = file->tr;
	unsigned int nr = 0, uid;
	char *word;

	uids = kvcalloc(trace_follow_count(buf), sizeof(*uids), GFP_KERNEL);
	if (!uids)
		return -ENOMEM;

	for (char *rest = buf; (word = trace_follow_word(&rest, " \t\n")); nr++) {
		uids[nr] = INVALID_UID;
		if (!kstrtouint(word, 0, &uid))
			uids[nr] = make_kuid(current_user_ns(), uid);
		if (!uid_valid(uids[nr])) {
			trace_follow_log_err(tr, cmd, cmd + (word - buf),
					     FOLLOW_ERR_BAD_UID);
			return -EINVAL;
		}
	}

	return trace_follow_uids(&tr->follow, uids, nr, file->replace);
}

static int trace_follow_choose(struct trace_follow_file *file, char *buf)
{
	char *cmd __free(kfree) = kstrdup(buf, GFP_KERNEL);
	int ret = -EINVAL;

	if (!cmd)
		return -ENOMEM;

	switch (file->kind) {
	case TRACE_FOLLOW_PID:
		ret = trace_follow_write_pids(file, cmd, buf);
		break;
	case TRACE_FOLLOW_COMM:
		ret = trace_follow_write_comms(file, cmd, buf);
		break;
	case TRACE_FOLLOW_UID:
		ret = trace_follow_write_uids(file, cmd, buf);
		break;
	case TRACE_FOLLOW_NR:
		break;
	}

	if (ret == -ENOSPC)
		trace_follow_log_err(file->tr, cmd, NULL, FOLLOW_ERR_NO_BIT);
	else if (ret == -E2BIG)
		trace_follow_log_err(file->tr, cmd, NULL, FOLLOW_ERR_TOO_MANY);

	return ret;
}

static int trace_follow_choose_user(struct trace_follow_file *file,
				    const char __user *ubuf, size_t cnt)
{
	char *buf __free(kfree) = NULL;

	if (cnt >= SZ_64K) {
		trace_follow_log_err(file->tr, "", NULL, FOLLOW_ERR_TOO_LONG);
		return -E2BIG;
	}

	buf = memdup_user_nul(ubuf, cnt);
	if (IS_ERR(buf))
		return PTR_ERR(no_free_ptr(buf));

	return trace_follow_choose(file, buf);
}

static ssize_t trace_follow_write(struct file *filp, const char __user *ubuf,
				  size_t cnt, loff_t *ppos)
{
	struct seq_file *m = filp->private_data;
	struct trace_follow_file *file = m->private;
	int ret;

	file->written = true;
	ret = trace_follow_choose_user(file, ubuf, cnt);
	if (ret)
		return ret;

	file->replace = false;
	*ppos += cnt;

	return cnt;
}

/* Who is followed now, as the reader would name them. */
static void trace_follow_show_pids(struct seq_file *m,
				   const struct trace_follow *follow, bool zero)
{
	unsigned long bit = READ_ONCE(follow->bits[TRACE_FOLLOW_PID]);
	struct task_struct *p, *t;
	pid_t nr;

	if (!bit) {
		seq_puts(m, zero ? "0\n" : "no pid\n");
		return;
	}

	guard(rcu)();

	for_each_process_thread(p, t) {
		if (!(READ_ONCE(t->trace_follow) & bit))
			continue;
		nr = task_pid_vnr(t);
		if (nr)
			seq_printf(m, "%d\n", nr);
	}
}

static void trace_follow_show_comms(struct seq_file *m,
				    const struct trace_follow *follow)
{
	const struct trace_follow_comms *comms;
	unsigned int i;

	guard(rcu)();

	comms = rcu_dereference(follow->comms);
	for (i = 0; comms && i < comms->nr; i++)
		seq_printf(m, "%s\n", comms->comms[i]);
}

static void trace_follow_show_uids(struct seq_file *m,
				   const struct trace_follow *follow)
{
	const struct trace_follow_uids *uids;
	unsigned int i;

	guard(rcu)();

	uids = rcu_dereference(follow->uids);
	for (i = 0; uids && i < uids->nr; i++)
		seq_printf(m, "%u\n", from_kuid_munged(seq_user_ns(m),
						       uids->uids[i]));
}

static int trace_follow_show(struct seq_file *m, void *v)
{
	struct trace_follow_file *file = m->private;
	const struct trace_follow *follow = &file->tr->follow;

	switch (file->kind) {
	case TRACE_FOLLOW_PID:
		trace_follow_show_pids(m, follow, file->zero);
		break;
	case TRACE_FOLLOW_COMM:
		trace_follow_show_comms(m, follow);
		break;
	case TRACE_FOLLOW_UID:
		trace_follow_show_uids(m, follow);
		break;
	case TRACE_FOLLOW_NR:
		break;
	}

	return 0;
}

static int trace_follow_open(struct inode *inode, struct file *filp,
			     enum trace_follow_kind kind)
{
	struct trace_array *tr = inode->i_private;
	struct trace_follow_file *file;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;

	file = kzalloc_obj(*file);
	if (!file) {
		trace_array_put(tr);
		return -ENOMEM;
	}
	file->tr = tr;
	file->kind = kind;
	file->replace = (filp->f_mode & FMODE_WRITE) &&
			(filp->f_flags & O_TRUNC);

	ret = single_open(filp, trace_follow_show, file);
	if (ret) {
		kfree(file);
		trace_array_put(tr);
	}

	return ret;
}

static int trace_follow_open_pid(struct inode *inode, struct file *filp)
{
	return trace_follow_open(inode, filp, TRACE_FOLLOW_PID);
}

static int trace_follow_open_process(struct inode *inode, struct file *filp)
{
	struct trace_follow_file *file;
	int ret;

	ret = trace_follow_open(inode, filp, TRACE_FOLLOW_PID);
	if (ret)
		return ret;

	file = ((struct seq_file *)filp->private_data)->private;
	file->zero = true;

	return 0;
}

static int trace_follow_open_comm(struct inode *inode, struct file *filp)
{
	return trace_follow_open(inode, filp, TRACE_FOLLOW_COMM);
}

static int trace_follow_open_uid(struct inode *inode, struct file *filp)
{
	return trace_follow_open(inode, filp, TRACE_FOLLOW_UID);
}

/* Nobody sees an error of close(): this has none. */
static void trace_follow_choose_none(struct trace_follow_file *file)
{
	struct trace_follow *follow = &file->tr->follow;

	switch (file->kind) {
	case TRACE_FOLLOW_PID:
		trace_follow_pids(follow, NULL, 0, true);
		break;
	case TRACE_FOLLOW_COMM:
		trace_follow_comms(follow, NULL, 0, true);
		break;
	case TRACE_FOLLOW_UID:
		trace_follow_uids(follow, NULL, 0, true);
		break;
	case TRACE_FOLLOW_NR:
		break;
	}
}

static int trace_follow_release(struct inode *inode, struct file *filp)
{
	struct seq_file *m = filp->private_data;
	struct trace_follow_file *file = m->private;

	if (file->replace && !file->written)
		trace_follow_choose_none(file);

	trace_array_put(file->tr);
	kfree(file);

	return single_release(inode, filp);
}

static const struct file_operations trace_follow_pid_fops = {
	.open		= trace_follow_open_pid,
	.read		= seq_read,
	.write		= trace_follow_write,
	.llseek		= seq_lseek,
	.release	= trace_follow_release,
};

/* The same choice, as it was typed in 2009. */
const struct file_operations trace_follow_process_fops = {
	.open		= trace_follow_open_process,
	.read		= seq_read,
	.write		= trace_follow_write,
	.llseek		= seq_lseek,
	.release	= trace_follow_release,
};

static const struct file_operations trace_follow_comm_fops = {
	.open		= trace_follow_open_comm,
	.read		= seq_read,
	.write		= trace_follow_write,
	.llseek		= seq_lseek,
	.release	= trace_follow_release,
};

static const struct file_operations trace_follow_uid_fops = {
	.open		= trace_follow_open_uid,
	.read		= seq_read,
	.write		= trace_follow_write,
	.llseek		= seq_lseek,
	.release	= trace_follow_release,
};

void trace_follow_init_tracefs(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("set_follow_pid", TRACE_MODE_WRITE, parent, tr,
			  &trace_follow_pid_fops);
	trace_create_file("set_follow_comm", TRACE_MODE_WRITE, parent, tr,
			  &trace_follow_comm_fops);
	trace_create_file("set_follow_uid", TRACE_MODE_WRITE, parent, tr,
			  &trace_follow_uid_fops);
}

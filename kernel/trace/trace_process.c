// SPDX-License-Identifier: GPL-2.0
/*
 * The tracer "process": what followed tasks do, see trace_follow.c.
 *
 * The options of the tracer choose the records. Each stands for a group
 * of probes, which are there while the tracer is the current one of the
 * instance and the option is set. Probes write records of their own types, see
 * trace_entries.h.
 *
 * All pids in records are those of the initial pid namespace, as the pid of
 * the task that each record has.
 *
 * The options and tr->process_recorded change with trace_types_lock held.
 */

#include <linux/binfmts.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>

#include <trace/events/sched.h>
#include <trace/events/signal.h>
#include <trace/events/task.h>

#include "trace.h"
#include "trace_process.h"

/* With the NUL. A longer name is cut. */
#define PROCESS_FILENAME_MAX	256

static void process_trace_fork(void *data, struct task_struct *child,
			       u64 clone_flags)
{
	struct process_fork_entry *entry;
	struct process_record record;
	struct trace_array *tr = data;

	if (!process_trace_wants(tr, PROCESS_OPT_LIFECYCLE))
		return;

	guard(preempt_notrace)();

	if (!process_trace_reserve(tr, &record, TRACE_PROCESS_FORK,
				   sizeof(*entry)))
		return;
	entry = record.entry;

	entry->child = child->pid;
	entry->child_tgid = child->tgid;
	entry->clone_flags = clone_flags;

	process_trace_commit(&record);
}

static void process_trace_exec(void *data, struct task_struct *p,
			       pid_t old_pid, struct linux_binprm *bprm)
{
	struct process_exec_entry *entry;
	struct process_record record;
	struct trace_array *tr = data;
	unsigned int len;
	bool cut;

	if (!process_trace_wants(tr, PROCESS_OPT_LIFECYCLE))
		return;

	guard(preempt_notrace)();

	len = strnlen(bprm->filename, PROCESS_FILENAME_MAX);
	cut = len == PROCESS_FILENAME_MAX;
	len -= cut;
	if (!process_trace_reserve(tr, &record, TRACE_PROCESS_EXEC,
				   offsetof(typeof(*entry), filename) + len + 1))
		return;
	entry = record.entry;

	entry->old_pid = old_pid;
	entry->cut = cut;
	memcpy(entry->filename, bprm->filename, len);
	entry->filename[len] = '\0';

	process_trace_commit(&record);
}

static void process_trace_exit(void *data, struct task_struct *p,
			       bool group_dead)
{
	struct process_exit_entry *entry;
	struct process_record record;
	struct trace_array *tr = data;

	if (!process_trace_wants(tr, PROCESS_OPT_LIFECYCLE))
		return;

	guard(preempt_notrace)();

	if (!process_trace_reserve(tr, &record, TRACE_PROCESS_EXIT,
				   sizeof(*entry)))
		return;
	entry = record.entry;

	entry->code = p->exit_code;
	entry->group_dead = group_dead;

	process_trace_commit(&record);
}

/* A sender that has been reaped has no pid outside of the namespace. */
static pid_t process_trace_sender(pid_t vpid)
{
	if (task_active_pid_ns(current) == &init_pid_ns)
		return vpid;

	guard(rcu)();

	return pid_nr(find_vpid(vpid));
}

static void process_trace_signal(void *data, int sig,
				 struct kernel_siginfo *info,
				 struct k_sigaction *ka)
{
	struct process_signal_entry *entry;
	struct process_record record;
	struct trace_array *tr = data;

	if (!process_trace_wants(tr, PROCESS_OPT_SIGNALS))
		return;

	guard(preempt_notrace)();

	if (!process_trace_reserve(tr, &record, TRACE_PROCESS_SIGNAL,
				   sizeof(*entry)))
		return;
	entry = record.entry;

	entry->sig = sig;
	entry->errno = 0;
	entry->sender = 0;
	entry->handler = (unsigned long)ka->sa.sa_handler;
	if (info == SEND_SIG_NOINFO) {
		entry->code = SI_USER;
	} else if (info == SEND_SIG_PRIV) {
		entry->code = SI_KERNEL;
	} else {
		entry->errno = info->si_errno;
		entry->code = info->si_code;
		switch (siginfo_layout(sig, info->si_code)) {
		case SIL_KILL:
		case SIL_CHLD:
		case SIL_RT:
			entry->sender = process_trace_sender(info->si_pid);
			break;
		default:
			break;
		}
	}

	process_trace_commit(&record);
}

static int process_trace_start_lifecycle(struct trace_array *tr)
{
	int ret;

	ret = register_trace_task_newtask(process_trace_fork, tr);
	if (ret)
		return ret;

	ret = register_trace_sched_process_exec(process_trace_exec, tr);
	if (ret)
		goto out_fork;

	ret = register_trace_sched_process_exit(process_trace_exit, tr);
	if (!ret)
		return 0;

	unregister_trace_sched_process_exec(process_trace_exec, tr);
out_fork:
	unregister_trace_task_newtask(process_trace_fork, tr);

	return ret;
}

static void process_trace_stop_lifecycle(struct trace_array *tr)
{
	unregister_trace_sched_process_exit(process_trace_exit, tr);
	unregister_trace_sched_process_exec(process_trace_exec, tr);
	unregister_trace_task_newtask(process_trace_fork, tr);
}

static int process_trace_start_signals(struct trace_array *tr)
{
	return register_trace_signal_deliver(process_trace_signal, tr);
}

static void process_trace_stop_signals(struct trace_array *tr)
{
	unregister_trace_signal_deliver(process_trace_signal, tr);
}

static const struct {
	u32	opt;
	int	(*start)(struct trace_array *tr);
	void	(*stop)(struct trace_array *tr);
} process_trace_groups[] = {
	{
		.opt	= PROCESS_OPT_LIFECYCLE,
		.start	= process_trace_start_lifecycle,
		.stop	= process_trace_stop_lifecycle,
	},
	{
		.opt	= PROCESS_OPT_SIGNALS,
		.start	= process_trace_start_signals,
		.stop	= process_trace_stop_signals,
	},
	{
		.opt	= PROCESS_OPT_SYSCALLS,
		.start	= process_trace_start_syscalls,
		.stop	= process_trace_stop_syscalls,
	},
};

static int process_trace_start(struct trace_array *tr, u32 opts, u32 *started)
{
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(process_trace_groups); i++) {
		if (!(opts & process_trace_groups[i].opt))
			continue;
		ret = process_trace_groups[i].start(tr);
		if (ret)
			return ret;
		*started |= process_trace_groups[i].opt;
	}

	return 0;
}

static void process_trace_stop(struct trace_array *tr, u32 opts)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(process_trace_groups); i++) {
		if (opts & process_trace_groups[i].opt)
			process_trace_groups[i].stop(tr);
	}
}

/*
 * No records come after this. Probes at sys_enter may still wait for a page of
 * user space, for as long as that takes, and see then that they are late. The
 * end of an instance waits for them.
 */
static void process_trace_end(struct trace_array *tr, u32 opts)
{
	process_trace_stop(tr, opts);
	synchronize_srcu(&tracepoint_srcu);
	synchronize_rcu();
	tracing_stop_cmdline_record();
}

static void process_trace_reset(struct trace_array *tr)
{
	u32 recorded = tr->process_recorded;

	WRITE_ONCE(tr->process_recorded, 0);
	process_trace_end(tr, recorded);
}

/* Tasks may be in the middle of system calls now. */
static void process_trace_record(struct trace_array *tr, u32 opts)
{
	guard(trace_follow_join)(&tr->follow);

	WRITE_ONCE(tr->process_recorded, opts);
}

static int process_trace_init(struct trace_array *tr)
{
	u32 started = 0;
	int ret;

	tracing_start_cmdline_record();

	ret = process_trace_start(tr, tr->current_trace_flags->val, &started);
	if (ret) {
		process_trace_end(tr, started);
		return ret;
	}

	/* A start that fails leaves no records. */
	process_trace_record(tr, started);

	return 0;
}

static int process_trace_set_flag(struct trace_array *tr, u32 old_flags,
				  u32 bit, int set)
{
	u32 started = 0;
	int ret;

	if (tr->current_trace != &process_tracer ||
	    !!set == !!(tr->process_recorded & bit))
		return 0;

	if (set) {
		ret = process_trace_start(tr, bit, &started);
		if (ret)
			return ret;
		process_trace_record(tr, tr->process_recorded | bit);
	} else {
		WRITE_ONCE(tr->process_recorded, tr->process_recorded & ~bit);
		process_trace_stop(tr, bit);
	}

	return 0;
}

static void process_trace_print_header(struct seq_file *m)
{
	seq_printf(m, "# process trace, version %d\n", PROCESS_TRACE_VERSION);
	trace_default_header(m);
}

static void process_trace_pipe_open(struct trace_iterator *iter)
{
	trace_seq_printf(&iter->seq, "# process trace, version %d\n",
			 PROCESS_TRACE_VERSION);
}

static struct tracer_opt process_trace_opts[] = {
	{ TRACER_OPT(lifecycle, PROCESS_OPT_LIFECYCLE) },
	{ TRACER_OPT(signals, PROCESS_OPT_SIGNALS) },
	{ TRACER_OPT(syscalls, PROCESS_OPT_SYSCALLS) },
	{ }
};

static struct tracer_flags process_trace_flags = {
	.val	= PROCESS_OPT_LIFECYCLE | PROCESS_OPT_SIGNALS |
		  PROCESS_OPT_SYSCALLS,
	.opts	= process_trace_opts,
};

struct tracer process_tracer __read_mostly = {
	.name			= "process",
	.init			= process_trace_init,
	.reset			= process_trace_reset,
	.set_flag		= process_trace_set_flag,
	.print_header		= process_trace_print_header,
	.pipe_open		= process_trace_pipe_open,
	.default_flags		= &process_trace_flags,
	.allow_instances	= true,
};

static __init int process_tracer_init(void)
{
	return register_tracer(&process_tracer);
}
core_initcall(process_tracer_init);

// SPDX-License-Identifier: GPL-2.0
/*
 * The tracer "process": the life, system calls and signals of processes.
 *
 * Who is recorded is up to the instance's set of followed tasks, see
 * trace_follow.c, and to two filters, by user and by command, that are looked
 * at with each record. Where only filters are given, a set of the tracer's own
 * has the tasks that pass them, and what they fork, so that the system calls
 * of all others cost nothing.
 *
 * What is recorded is up to three options. Each stands for a group of
 * probes, which are there while the tracer is the instance's current one and
 * the option is set. Probes write records of their own types, see
 * trace_entries.h, and trace_process_print.c prints them.
 *
 * struct process_trace lives as long as its instance. The options and whether
 * the tracer is active change with trace_types_lock held; process_trace_mutex,
 * which nests inside of it, and outside of what trace_follow.c locks, is for
 * the filters.
 */

#include <linux/binfmts.h>
#include <linux/compat.h>
#include <linux/pid_namespace.h>
#include <linux/sched/task.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/uidgid.h>

#include <trace/events/sched.h>
#include <trace/events/signal.h>
#include <trace/events/task.h>

#include "trace.h"
#include "trace_export_core.h"
#include "trace_process.h"

#ifdef CONFIG_FTRACE_SYSCALLS
#include <asm/syscall.h>
#include <trace/events/syscalls.h>
#include <trace/syscall.h>

#define PROCESS_STRINGS		3
/* One more than can be asked for, to see that there is more, and a NUL. */
#define PROCESS_STRING_SIZE	(SYSCALL_FAULT_USER_MAX + 2)
#endif

#define PROCESS_FILENAME_MAX	256

enum {
	PROCESS_OPT_LIFECYCLE	= BIT(0),
	PROCESS_OPT_SYSCALLS	= BIT(1),
	PROCESS_OPT_SIGNALS	= BIT(2),
};

struct process_filter {
	struct rcu_head		rcu;
	/* Not valid: any */
	kuid_t			uid;
	/* Empty: any */
	char			comm[TASK_COMM_LEN];
};

#ifdef CONFIG_FTRACE_SYSCALLS
/* Who waits for a page in the middle of a string may do so for long. */
struct process_buffer {
	struct rcu_head			rcu;
	struct trace_user_buf_info	info;
};
#endif

struct process_trace {
	struct trace_array		*tr;
	/* Those who pass the filters, while nobody is chosen in tr->follow. */
	struct trace_follow		follow;
	/* NULL: anybody */
	struct process_filter __rcu	*filter;
	/* Options of which records are made. */
	u32				recorded;
	bool				active;
#ifdef CONFIG_FTRACE_SYSCALLS
	/* Strings of system calls, under RCU tasks trace. */
	struct process_buffer		*strings;
	/* System calls that were entered before have no known duration. */
	atomic64_t			since;
#endif
};

static DEFINE_MUTEX(process_trace_mutex);

static bool process_trace_wants(struct process_trace *pt, u32 opt)
{
	struct process_filter *filter;

	if (!(READ_ONCE(pt->recorded) & opt))
		return false;

	if (!trace_follow_has(&pt->follow, current))
		return false;

	guard(rcu)();

	filter = rcu_dereference(pt->filter);
	if (!filter)
		return true;

	if (uid_valid(filter->uid) && !uid_eq(filter->uid, current_uid()))
		return false;

	return !filter->comm[0] ||
		!strncmp(filter->comm, current->comm, TASK_COMM_LEN);
}

struct process_record {
	struct trace_buffer		*buffer;
	struct ring_buffer_event	*event;
};

/*
 * Preemption is off from here to the commit. A snapshot may swap the buffers
 * in between, and whoever reads it waits for us then.
 */
static void *process_trace_reserve(struct process_trace *pt,
				   struct process_record *record, int type,
				   unsigned int size)
{
	record->buffer = READ_ONCE(pt->tr->array_buffer.buffer);
	record->event = trace_buffer_lock_reserve(record->buffer, type, size,
						  tracing_gen_ctx_dec());

	return record->event ? ring_buffer_event_data(record->event) : NULL;
}

static void process_trace_commit(struct process_record *record)
{
	trace_export(record->buffer, record->event, TRACE_EXPORT_TRACER);
	trace_buffer_unlock_commit_nostack(record->buffer, record->event);
}

static void process_trace_fork(void *data, struct task_struct *child,
			       u64 clone_flags)
{
	struct process_trace *pt = data;
	struct process_fork_entry *entry;
	struct process_record record;

	if (!process_trace_wants(pt, PROCESS_OPT_LIFECYCLE))
		return;

	guard(preempt_notrace)();

	entry = process_trace_reserve(pt, &record, TRACE_PROCESS_FORK,
				      sizeof(*entry));
	if (!entry)
		return;

	entry->child = child->pid;
	entry->child_tgid = child->tgid;
	entry->child_vpid = task_pid_vnr(child);
	entry->clone_flags = clone_flags;

	process_trace_commit(&record);
}

static void process_trace_exec(void *data, struct task_struct *p,
			       pid_t old_pid, struct linux_binprm *bprm)
{
	struct process_trace *pt = data;
	struct process_exec_entry *entry;
	struct process_record record;
	unsigned int len;

	if (!process_trace_wants(pt, PROCESS_OPT_LIFECYCLE))
		return;

	guard(preempt_notrace)();

	len = strnlen(bprm->filename, PROCESS_FILENAME_MAX - 1);
	entry = process_trace_reserve(pt, &record, TRACE_PROCESS_EXEC,
				      struct_size(entry, filename, len + 1));
	if (!entry)
		return;

	entry->old_pid = old_pid;
	memcpy(entry->filename, bprm->filename, len);
	entry->filename[len] = '\0';

	process_trace_commit(&record);
}

static void process_trace_exit(void *data, struct task_struct *p,
			       bool group_dead)
{
	struct process_trace *pt = data;
	struct process_exit_entry *entry;
	struct process_record record;

	if (!process_trace_wants(pt, PROCESS_OPT_LIFECYCLE))
		return;

	guard(preempt_notrace)();

	entry = process_trace_reserve(pt, &record, TRACE_PROCESS_EXIT,
				      sizeof(*entry));
	if (!entry)
		return;

	entry->code = p->exit_code;
	entry->group_dead = group_dead;

	process_trace_commit(&record);
}

static void process_trace_signal(void *data, int sig,
				 struct kernel_siginfo *info,
				 struct k_sigaction *ka)
{
	struct process_trace *pt = data;
	struct process_signal_entry *entry;
	struct process_record record;

	if (!process_trace_wants(pt, PROCESS_OPT_SIGNALS))
		return;

	guard(preempt_notrace)();

	entry = process_trace_reserve(pt, &record, TRACE_PROCESS_SIGNAL,
				      sizeof(*entry));
	if (!entry)
		return;

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
			entry->sender = info->si_pid;
			break;
		default:
			break;
		}
	}

	process_trace_commit(&record);
}

#ifdef CONFIG_FTRACE_SYSCALLS

/* What a 32-bit task calls by a number has another name there. */
static bool process_trace_is_compat(struct pt_regs *regs)
{
#ifdef ARCH_TRACE_IGNORE_COMPAT_SYSCALLS
	return arch_trace_is_compat_syscall(regs);
#else
	return in_compat_syscall();
#endif
}

struct process_strings {
	unsigned long		args[PROCESS_STRINGS];
	/* How much to read of each, and of that to show. */
	unsigned int		size[PROCESS_STRINGS];
	unsigned int		max;
	int			len[PROCESS_STRINGS];
	/* Which arguments they are, which of them were cut, and how many. */
	unsigned int		mask;
	unsigned int		cut;
	unsigned int		nr;
};

/* What is where these point to is no string for the kernel. */
static bool process_trace_is_data(int nr)
{
	switch (nr) {
#ifdef __NR_shmdt
	case __NR_shmdt:
#endif
#ifdef __NR_syslog
	case __NR_syslog:
#endif
		return true;
	}

	return false;
}

/* Which arguments of a system call are strings? */
static void process_trace_find_strings(struct process_strings *strings, int nr,
				       const unsigned long *args,
				       unsigned int max)
{
	const struct syscall_metadata *meta = trace_syscall_metadata(nr);
	unsigned int i;

	strings->mask = 0;
	strings->cut = 0;
	strings->nr = 0;
	strings->max = max;

	/* The user_mask of others is for data of any kind. */
	if (!meta || !max || process_trace_is_data(nr) ||
	    (meta->user_arg_size >= 0 && !meta->user_arg_is_str))
		return;

	for (i = 0; i < meta->nb_args; i++) {
		if (!(meta->user_mask & BIT(i)) || !args[i])
			continue;
		if (strings->nr == PROCESS_STRINGS)
			break;
		strings->args[strings->nr] = args[i];
		/* One more, to see that there is more. */
		strings->size[strings->nr] = max + 1;
		if (meta->user_arg_is_str)
			strings->size[strings->nr] =
				min(args[meta->user_arg_size], max + 1UL);
		strings->mask |= BIT(i);
		strings->nr++;
	}
}

/* A page that is not there is fetched, one that does not exist is no error. */
static int process_trace_copy_strings(char *buf, const char __user *ptr,
				      size_t size, void *data)
{
	struct process_strings *strings = data;
	unsigned int i;

	for (i = 0; i < strings->nr; i++, buf += PROCESS_STRING_SIZE) {
		strings->len[i] =
			strncpy_from_user(buf,
					  (char __user *)strings->args[i],
					  strings->size[i]);
	}

	return 0;
}

/* Puts the strings one behind the other, and says how long that is. */
static unsigned int process_trace_pack_strings(struct process_strings *strings,
					       char *buf)
{
	unsigned int mask = strings->mask;
	unsigned int i, size = 0;
	char *from = buf;

	for (i = 0; i < strings->nr; i++, from += PROCESS_STRING_SIZE) {
		unsigned int arg = __ffs(mask);
		int len = strings->len[i];

		mask &= mask - 1;
		if (len < 0) {
			strings->mask &= ~BIT(arg);
			continue;
		}
		if (len > strings->max) {
			len = strings->max;
			strings->cut |= BIT(arg);
		}
		from[len++] = '\0';
		memmove(buf + size, from, len);
		size += len;
	}

	return size;
}

static void process_trace_sys_enter(void *data, struct pt_regs *regs, long id)
{
	struct process_sys_enter_entry *entry;
	struct process_trace *pt = data;
	struct process_strings strings;
	struct process_buffer *buffer;
	struct process_record record;
	unsigned long args[6];
	unsigned int size = 0;
	char *buf = NULL;
	bool compat;

	might_fault();

	if (!trace_follow_has(&pt->follow, current))
		return;

	current->trace_syscall_start = ktime_get_mono_fast_ns();

	if (!process_trace_wants(pt, PROCESS_OPT_SYSCALLS))
		return;

	compat = process_trace_is_compat(regs);
	syscall_get_arguments(current, regs, args);
	process_trace_find_strings(&strings, compat ? -1 : id, args,
				   pt->tr->syscall_buf_sz);

	guard(preempt_notrace)();

	buffer = READ_ONCE(pt->strings);
	if (strings.nr && buffer)
		buf = trace_user_fault_read(&buffer->info, NULL,
					    PROCESS_STRING_SIZE,
					    process_trace_copy_strings,
					    &strings);
	if (buf)
		size = process_trace_pack_strings(&strings, buf);
	else
		strings.mask = 0;

	/*
	 * While a page was waited for the tracer may have been left, and begun
	 * anew with another choice.
	 */
	if (!(READ_ONCE(pt->recorded) & PROCESS_OPT_SYSCALLS) ||
	    READ_ONCE(pt->strings) != buffer ||
	    (strings.nr && !process_trace_wants(pt, PROCESS_OPT_SYSCALLS)))
		return;

	entry = process_trace_reserve(pt, &record, TRACE_PROCESS_SYS_ENTER,
				      struct_size(entry, strings, size));
	if (!entry)
		return;

	entry->nr = id;
	entry->compat = compat;
	entry->strings_mask = strings.mask;
	entry->strings_cut = strings.cut;
	memcpy(entry->args, args, sizeof(args));
	if (size)
		memcpy(entry->strings, buf, size);

	process_trace_commit(&record);
}

/*
 * How long did the system call take? Whoever was not followed yet when it
 * entered has no start, nor has a system call that is refused before it is
 * entered, by seccomp for one.
 */
static u64 process_trace_duration(struct process_trace *pt)
{
	u64 start = current->trace_syscall_start;
	u64 now = ktime_get_mono_fast_ns();

	if (!start || start < atomic64_read(&pt->since))
		return 0;

	/* That clock may go back a little. */
	return now > start ? now - start : 0;
}

/* Comes last, after the probes of all instances. */
static void process_trace_sys_exit_done(void *data, struct pt_regs *regs,
					long ret)
{
	current->trace_syscall_start = 0;
}

/* With trace_types_lock held */
static unsigned int process_trace_syscall_users;

static int process_trace_get_sys_exit_done(void)
{
	int ret;

	lockdep_assert_held(&trace_types_lock);

	if (!process_trace_syscall_users) {
		ret = tracepoint_probe_register_followed(&__tracepoint_sys_exit,
							 process_trace_sys_exit_done,
							 NULL, 0);
		if (ret)
			return ret;
	}
	process_trace_syscall_users++;

	return 0;
}

static void process_trace_put_sys_exit_done(void)
{
	lockdep_assert_held(&trace_types_lock);

	if (!--process_trace_syscall_users)
		tracepoint_probe_unregister(&__tracepoint_sys_exit,
					    process_trace_sys_exit_done, NULL);
}

static void process_trace_sys_exit(void *data, struct pt_regs *regs, long ret)
{
	struct process_sys_exit_entry *entry;
	struct process_trace *pt = data;
	struct process_record record;

	guard(preempt_notrace)();

	if (!process_trace_wants(pt, PROCESS_OPT_SYSCALLS))
		return;

	entry = process_trace_reserve(pt, &record, TRACE_PROCESS_SYS_EXIT,
				      sizeof(*entry));
	if (!entry)
		return;

	entry->nr = syscall_get_nr(current, regs);
	entry->compat = process_trace_is_compat(regs);
	entry->ret = ret;
	entry->duration = process_trace_duration(pt);

	process_trace_commit(&record);
}

static int process_trace_get_buffer(struct process_trace *pt)
{
	struct process_buffer *buffer = kzalloc_obj(*buffer);
	int ret;

	if (!buffer)
		return -ENOMEM;

	ret = trace_user_fault_init(&buffer->info,
				    PROCESS_STRINGS * PROCESS_STRING_SIZE);
	if (ret) {
		kfree(buffer);
		return ret;
	}
	/* Who is at a system call already may see it: all of it, then. */
	smp_store_release(&pt->strings, buffer);

	return 0;
}

static void process_trace_free_buffer(struct rcu_head *rcu)
{
	struct process_buffer *buffer;

	buffer = container_of(rcu, struct process_buffer, rcu);
	trace_user_fault_destroy(&buffer->info);
	kfree(buffer);
}

static void process_trace_put_buffer(struct process_trace *pt)
{
	struct process_buffer *buffer = pt->strings;

	WRITE_ONCE(pt->strings, NULL);
	trace_user_fault_put(&buffer->info);
	call_tracepoint_unregister_syscall(&buffer->rcu,
					   process_trace_free_buffer);
}

static int process_trace_start_syscalls(struct process_trace *pt)
{
	int ret;

	ret = process_trace_get_buffer(pt);
	if (ret)
		return ret;

	ret = process_trace_get_sys_exit_done();
	if (ret)
		goto out_buffer;

	atomic64_set(&pt->since, ktime_get_mono_fast_ns());

	ret = trace_follow_syscalls_get(&pt->follow, &__tracepoint_sys_exit,
					process_trace_sys_exit, pt, false);
	if (ret)
		goto out_done;

	ret = trace_follow_syscalls_get(&pt->follow, &__tracepoint_sys_enter,
					process_trace_sys_enter, pt, false);
	if (!ret)
		return 0;

	trace_follow_syscalls_put(&pt->follow, &__tracepoint_sys_exit,
				  process_trace_sys_exit, pt, false);
out_done:
	process_trace_put_sys_exit_done();
out_buffer:
	process_trace_put_buffer(pt);

	return ret;
}

static void process_trace_stop_syscalls(struct process_trace *pt)
{
	trace_follow_syscalls_put(&pt->follow, &__tracepoint_sys_enter,
				  process_trace_sys_enter, pt, false);
	trace_follow_syscalls_put(&pt->follow, &__tracepoint_sys_exit,
				  process_trace_sys_exit, pt, false);
	process_trace_put_sys_exit_done();
	process_trace_put_buffer(pt);
}

#else

static int process_trace_start_syscalls(struct process_trace *pt)
{
	return -EOPNOTSUPP;
}

static void process_trace_stop_syscalls(struct process_trace *pt) { }

#endif /* CONFIG_FTRACE_SYSCALLS */

static int process_trace_start_lifecycle(struct process_trace *pt)
{
	int ret;

	ret = register_trace_task_newtask(process_trace_fork, pt);
	if (ret)
		return ret;

	ret = register_trace_sched_process_exec(process_trace_exec, pt);
	if (ret)
		goto out_fork;

	ret = register_trace_sched_process_exit(process_trace_exit, pt);
	if (!ret)
		return 0;

	unregister_trace_sched_process_exec(process_trace_exec, pt);
out_fork:
	unregister_trace_task_newtask(process_trace_fork, pt);

	return ret;
}

static void process_trace_stop_lifecycle(struct process_trace *pt)
{
	unregister_trace_sched_process_exit(process_trace_exit, pt);
	unregister_trace_sched_process_exec(process_trace_exec, pt);
	unregister_trace_task_newtask(process_trace_fork, pt);
}

static int process_trace_register(struct process_trace *pt, u32 opt)
{
	switch (opt) {
	case PROCESS_OPT_LIFECYCLE:
		return process_trace_start_lifecycle(pt);
	case PROCESS_OPT_SYSCALLS:
		return process_trace_start_syscalls(pt);
	case PROCESS_OPT_SIGNALS:
		return register_trace_signal_deliver(process_trace_signal, pt);
	}

	return -EINVAL;
}

static void process_trace_unregister(struct process_trace *pt, u32 opt)
{
	switch (opt) {
	case PROCESS_OPT_LIFECYCLE:
		process_trace_stop_lifecycle(pt);
		break;
	case PROCESS_OPT_SYSCALLS:
		process_trace_stop_syscalls(pt);
		break;
	case PROCESS_OPT_SIGNALS:
		unregister_trace_signal_deliver(process_trace_signal, pt);
		break;
	}
}

/*
 * No records come after this. Probes at sys_enter may still wait for a page of
 * user space, for as long as that takes, and see then that they are late.
 */
static void process_trace_synchronize(void)
{
	synchronize_srcu(&tracepoint_srcu);
	synchronize_rcu();
}

/*
 * The tracer's own set has those who pass the filters. The narrower one of
 * the two is enough, and what is chosen anew comes before what is given up,
 * so that there is no time in which it is all tasks.
 */
static int process_trace_follow_filter(struct process_trace *pt,
				       struct process_filter *filter)
{
	bool by_comm = filter && filter->comm[0];
	bool by_uid = !by_comm && filter && uid_valid(filter->uid);
	int ret;

	lockdep_assert_held(&process_trace_mutex);

	if (by_comm) {
		ret = trace_follow_comms(&pt->follow, &filter->comm, 1, true);
		if (ret)
			return ret;
	}
	if (by_uid) {
		ret = trace_follow_uids(&pt->follow, &filter->uid, 1, true);
		if (ret)
			return ret;
	}
	if (!by_comm)
		trace_follow_comms(&pt->follow, NULL, 0, true);
	if (!by_uid)
		trace_follow_uids(&pt->follow, NULL, 0, true);

	return 0;
}

static const u32 process_trace_opts_bits[] = {
	PROCESS_OPT_LIFECYCLE,
	PROCESS_OPT_SIGNALS,
	PROCESS_OPT_SYSCALLS,
};

static void process_trace_end(struct process_trace *pt, u32 registered)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(process_trace_opts_bits); i++) {
		if (registered & process_trace_opts_bits[i])
			process_trace_unregister(pt, process_trace_opts_bits[i]);
	}
	process_trace_synchronize();

	scoped_guard(mutex, &process_trace_mutex) {
		pt->active = false;
		trace_follow_clear(&pt->follow);
	}

	tracing_stop_cmdline_record();
}

static void process_trace_reset(struct trace_array *tr)
{
	struct process_trace *pt = tr->process;
	u32 recorded = pt->recorded;

	WRITE_ONCE(pt->recorded, 0);
	process_trace_end(pt, recorded);
}

static int process_trace_init(struct trace_array *tr)
{
	u32 opts = tr->current_trace_flags->val;
	struct process_trace *pt = tr->process;
	struct process_filter *filter;
	u32 registered = 0;
	unsigned int i;
	int ret;

	if (!pt)
		return -ENOMEM;

	scoped_guard(mutex, &process_trace_mutex) {
		filter = rcu_dereference_protected(pt->filter, true);
		ret = process_trace_follow_filter(pt, filter);
		if (ret)
			return ret;
		pt->active = true;
	}

	tracing_start_cmdline_record();

	for (i = 0; i < ARRAY_SIZE(process_trace_opts_bits); i++) {
		if (!(opts & process_trace_opts_bits[i]))
			continue;
		ret = process_trace_register(pt, process_trace_opts_bits[i]);
		if (ret) {
			process_trace_end(pt, registered);
			return ret;
		}
		registered |= process_trace_opts_bits[i];
	}

	/* A start that fails leaves no records. */
	WRITE_ONCE(pt->recorded, registered);

	return 0;
}

static int process_trace_set_flag(struct trace_array *tr, u32 old_flags,
				  u32 bit, int set)
{
	struct process_trace *pt = tr->process;
	int ret;

	if (bit == PROCESS_OPT_SYSCALLS && set &&
	    !IS_ENABLED(CONFIG_FTRACE_SYSCALLS))
		return -EOPNOTSUPP;

	if (!pt || !pt->active || !!set == !!(pt->recorded & bit))
		return 0;

	if (set) {
		ret = process_trace_register(pt, bit);
		if (ret)
			return ret;
		WRITE_ONCE(pt->recorded, pt->recorded | bit);
	} else {
		WRITE_ONCE(pt->recorded, pt->recorded & ~bit);
		process_trace_unregister(pt, bit);
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
	{ TRACER_OPT(syscalls, PROCESS_OPT_SYSCALLS) },
	{ TRACER_OPT(signals, PROCESS_OPT_SIGNALS) },
	{ }
};

static struct tracer_flags process_trace_flags = {
	.val	= PROCESS_OPT_LIFECYCLE | PROCESS_OPT_SIGNALS |
		  (IS_ENABLED(CONFIG_FTRACE_SYSCALLS) ?
		   PROCESS_OPT_SYSCALLS : 0),
	.opts	= process_trace_opts,
};

static struct tracer process_tracer __read_mostly = {
	.name			= "process",
	.init			= process_trace_init,
	.reset			= process_trace_reset,
	.set_flag		= process_trace_set_flag,
	.print_header		= process_trace_print_header,
	.pipe_open		= process_trace_pipe_open,
	.default_flags		= &process_trace_flags,
	.allow_instances	= true,
};

/* The files. */

enum {
	PROCESS_ERR_BAD_UID,
	PROCESS_ERR_LONG_COMM,
	PROCESS_ERR_MANY_COMMS,
	PROCESS_ERR_BAD_OPT,

	PROCESS_ERR_NR,
};

static const char *process_trace_errors[PROCESS_ERR_NR] = {
	[PROCESS_ERR_BAD_UID]	= "Not a user in this user namespace, nor -1",
	[PROCESS_ERR_LONG_COMM]	= "Command names have 15 characters at most",
	[PROCESS_ERR_MANY_COMMS] = "More than one line",
	[PROCESS_ERR_BAD_OPT]	= "Neither 0 nor 1",
};

static ssize_t process_trace_read_opt(struct file *filp, char __user *ubuf,
				      size_t cnt, loff_t *ppos, u32 opt)
{
	struct trace_array *tr = filp->private_data;
	int val = tracer_get_option(tr, &process_tracer, opt);
	char buf[4];

	if (val < 0)
		return val;

	return simple_read_from_buffer(ubuf, cnt, ppos, buf,
				       scnprintf(buf, sizeof(buf), "%d\n", val));
}

static ssize_t process_trace_write_opt(struct file *filp,
				       const char __user *ubuf, size_t cnt,
				       loff_t *ppos, u32 opt)
{
	struct trace_array *tr = filp->private_data;
	char buf[16] = {};
	unsigned int val;
	int ret;

	if (copy_from_user(buf, ubuf, min(cnt, sizeof(buf) - 1)))
		return -EFAULT;

	ret = cnt < sizeof(buf) ? kstrtouint(buf, 10, &val) : -EINVAL;
	if (!ret && val > 1)
		ret = -EINVAL;
	if (ret) {
		tracing_log_err(tr, "process", strim(buf), process_trace_errors,
				PROCESS_ERR_BAD_OPT, 0);
		return ret;
	}

	ret = tracer_set_option(tr, &process_tracer, opt, val);
	if (ret)
		return ret;

	*ppos += cnt;

	return cnt;
}

#define DEFINE_PROCESS_OPT(name, opt)					\
enum { name##_opt = opt };						\
									\
static ssize_t name##_read(struct file *filp, char __user *ubuf,	\
			   size_t cnt, loff_t *ppos)			\
{									\
	return process_trace_read_opt(filp, ubuf, cnt, ppos,		\
				      name##_opt);			\
}									\
									\
static ssize_t name##_write(struct file *filp, const char __user *ubuf, \
			    size_t cnt, loff_t *ppos)			\
{									\
	return process_trace_write_opt(filp, ubuf, cnt, ppos,		\
				       name##_opt);			\
}									\
									\
static const struct file_operations name##_fops = {			\
	.open		= tracing_open_generic_tr,			\
	.read		= name##_read,					\
	.write		= name##_write,					\
	.llseek		= generic_file_llseek,				\
	.release	= tracing_release_generic_tr,			\
}

DEFINE_PROCESS_OPT(process_trace_lifecycle, PROCESS_OPT_LIFECYCLE);
DEFINE_PROCESS_OPT(process_trace_syscalls, PROCESS_OPT_SYSCALLS);
DEFINE_PROCESS_OPT(process_trace_signals, PROCESS_OPT_SIGNALS);

/* The filter as it is, or one that lets anybody pass. */
static struct process_filter *process_trace_new_filter(struct process_trace *pt)
{
	struct process_filter *old, *new;

	new = kzalloc_obj(*new);
	if (!new)
		return NULL;

	new->uid = INVALID_UID;
	old = rcu_dereference_protected(pt->filter,
					lockdep_is_held(&process_trace_mutex));
	if (old) {
		new->uid = old->uid;
		strscpy(new->comm, old->comm);
	}

	return new;
}

static int process_trace_set_filter(struct process_trace *pt,
				    struct process_filter *new)
{
	struct process_filter *old;
	int ret;

	if (!uid_valid(new->uid) && !new->comm[0]) {
		kfree(new);
		new = NULL;
	}

	if (pt->active) {
		ret = process_trace_follow_filter(pt, new);
		if (ret) {
			kfree(new);
			return ret;
		}
	}

	old = rcu_replace_pointer(pt->filter, new,
				  lockdep_is_held(&process_trace_mutex));
	if (old)
		kfree_rcu(old, rcu);

	return 0;
}

static ssize_t process_trace_read_uid(struct file *filp, char __user *ubuf,
				      size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = filp->private_data;
	struct process_filter *filter;
	kuid_t uid = INVALID_UID;
	char buf[16];
	int len;

	scoped_guard(rcu) {
		filter = rcu_dereference(tr->process->filter);
		if (filter)
			uid = filter->uid;
	}

	if (uid_valid(uid))
		len = scnprintf(buf, sizeof(buf), "%u\n",
				from_kuid_munged(current_user_ns(), uid));
	else
		len = scnprintf(buf, sizeof(buf), "-1\n");

	return simple_read_from_buffer(ubuf, cnt, ppos, buf, len);
}

static int process_trace_parse_uid(const char *buf, kuid_t *uid)
{
	unsigned int nr;

	*uid = INVALID_UID;
	if (!strcmp(buf, "-1"))
		return 0;

	if (kstrtouint(buf, 0, &nr))
		return -EINVAL;

	*uid = make_kuid(current_user_ns(), nr);

	return uid_valid(*uid) ? 0 : -EINVAL;
}

static ssize_t process_trace_write_uid(struct file *filp,
				       const char __user *ubuf, size_t cnt,
				       loff_t *ppos)
{
	struct trace_array *tr = filp->private_data;
	struct process_filter *filter;
	char buf[16] = {};
	kuid_t uid;
	char *word;
	int ret;

	if (copy_from_user(buf, ubuf, min(cnt, sizeof(buf) - 1)))
		return -EFAULT;

	word = strim(buf);
	ret = cnt < sizeof(buf) ? process_trace_parse_uid(word, &uid) : -EINVAL;
	if (ret) {
		tracing_log_err(tr, "process", word, process_trace_errors,
				PROCESS_ERR_BAD_UID, 0);
		return ret;
	}

	guard(mutex)(&process_trace_mutex);

	filter = process_trace_new_filter(tr->process);
	if (!filter)
		return -ENOMEM;
	filter->uid = uid;
	ret = process_trace_set_filter(tr->process, filter);
	if (ret)
		return ret;

	*ppos += cnt;

	return cnt;
}

static const struct file_operations process_trace_uid_fops = {
	.open		= tracing_open_generic_tr,
	.read		= process_trace_read_uid,
	.write		= process_trace_write_uid,
	.llseek		= generic_file_llseek,
	.release	= tracing_release_generic_tr,
};

static ssize_t process_trace_read_comm(struct file *filp, char __user *ubuf,
				       size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = filp->private_data;
	struct process_filter *filter;
	char buf[TASK_COMM_LEN + 1];
	int len = 0;

	scoped_guard(rcu) {
		filter = rcu_dereference(tr->process->filter);
		if (filter && filter->comm[0])
			len = scnprintf(buf, sizeof(buf), "%s\n", filter->comm);
	}

	return simple_read_from_buffer(ubuf, cnt, ppos, buf, len);
}

static ssize_t process_trace_write_comm(struct file *filp,
					const char __user *ubuf, size_t cnt,
					loff_t *ppos)
{
	char *buf __free(kfree) = NULL;
	struct trace_array *tr = filp->private_data;
	struct process_filter *filter;
	size_t len;
	char *comm;
	int ret;

	/* Of what is too long anyhow, a beginning will do. */
	buf = memdup_user_nul(ubuf, min(cnt, PAGE_SIZE - 1));
	if (IS_ERR(buf))
		return PTR_ERR(no_free_ptr(buf));

	/* There are names with spaces. */
	comm = buf;
	len = strcspn(comm, "\n");
	if (len >= TASK_COMM_LEN) {
		comm[len] = '\0';
		tracing_log_err(tr, "process", comm, process_trace_errors,
				PROCESS_ERR_LONG_COMM, 0);
		return -ENAMETOOLONG;
	}
	if (cnt > len + 1) {
		tracing_log_err(tr, "process", comm, process_trace_errors,
				PROCESS_ERR_MANY_COMMS, len);
		return -EINVAL;
	}
	comm[len] = '\0';

	guard(mutex)(&process_trace_mutex);

	filter = process_trace_new_filter(tr->process);
	if (!filter)
		return -ENOMEM;
	strscpy_pad(filter->comm, comm);
	ret = process_trace_set_filter(tr->process, filter);
	if (ret)
		return ret;

	*ppos += cnt;

	return cnt;
}

static const struct file_operations process_trace_comm_fops = {
	.open		= tracing_open_generic_tr,
	.read		= process_trace_read_comm,
	.write		= process_trace_write_comm,
	.llseek		= generic_file_llseek,
	.release	= tracing_release_generic_tr,
};

static const char process_trace_readme[] =
	"The tracer \"process\" in five steps:\n\n"
	"Whom to trace, with all threads and children (0: everybody, unless\n"
	"set_follow_comm or set_follow_uid choose):\n"
	"  # echo PID > process_follow_pid\n\n"
	"What to record of them (1: yes, 0: no):\n"
	"  # echo 1 > process_trace_lifecycle\t- forks, execs, exits\n"
	"  # echo 1 > process_trace_syscalls\t- system calls\n"
	"  # echo 1 > process_trace_signals\t- signals as they are delivered\n\n"
	"Of those, record one user only (-1: any), one command only (empty: any):\n"
	"  # echo UID > process_trace_uid_filter\n"
	"  # echo NAME > process_trace_taskcomm_filter\n\n"
	"Trace:\n"
	"  # echo process > current_tracer\n"
	"  # cat trace_pipe\n\n"
	"Stop:\n"
	"  # echo nop > current_tracer\n\n"
	"Who is not followed pays nothing for system calls. set_follow_pid,\n"
	"set_follow_comm and set_follow_uid are other ways to say whom to\n"
	"follow. See Documentation/trace/process.rst.\n";

static ssize_t process_trace_read_readme(struct file *filp, char __user *ubuf,
					 size_t cnt, loff_t *ppos)
{
	return simple_read_from_buffer(ubuf, cnt, ppos, process_trace_readme,
				       sizeof(process_trace_readme) - 1);
}

static const struct file_operations process_trace_readme_fops = {
	.open		= tracing_open_generic_tr,
	.read		= process_trace_read_readme,
	.llseek		= generic_file_llseek,
	.release	= tracing_release_generic_tr,
};

static bool process_trace_alloc(struct trace_array *tr)
{
	struct process_trace *pt;

	pt = kzalloc_obj(*pt);
	if (!pt)
		return false;

	pt->tr = tr;
	pt->follow.parent = &tr->follow;
	tr->process = pt;

	return true;
}

void process_trace_init_tracefs(struct trace_array *tr, struct dentry *parent)
{
	/* Without memory there is no tracer, and no file that needs it. */
	if (!tr->process && !process_trace_alloc(tr))
		return;

	trace_create_file("process_follow_pid", TRACE_MODE_WRITE, parent, tr,
			  &trace_follow_process_fops);
	trace_create_file("process_trace_lifecycle", TRACE_MODE_WRITE, parent,
			  tr, &process_trace_lifecycle_fops);
	trace_create_file("process_trace_syscalls", TRACE_MODE_WRITE, parent,
			  tr, &process_trace_syscalls_fops);
	trace_create_file("process_trace_signals", TRACE_MODE_WRITE, parent,
			  tr, &process_trace_signals_fops);
	trace_create_file("process_trace_uid_filter", TRACE_MODE_WRITE, parent,
			  tr, &process_trace_uid_fops);
	trace_create_file("process_trace_taskcomm_filter", TRACE_MODE_WRITE,
			  parent, tr, &process_trace_comm_fops);
	trace_create_file("process_trace_README", TRACE_MODE_READ, parent,
			  tr, &process_trace_readme_fops);
}

/* The tracer is not in use, and nobody has one of the files open. */
void process_trace_free(struct trace_array *tr)
{
	struct process_trace *pt = tr->process;

	if (!pt)
		return;

	tr->process = NULL;
	kfree(rcu_dereference_protected(pt->filter, true));
	kfree(pt);
}

static __init int process_tracer_init(void)
{
	struct trace_array *tr = top_trace_array();

	/* It may be on the kernel command line. */
	if (!tr || !process_trace_alloc(tr))
		return -ENOMEM;

	return register_tracer(&process_tracer);
}
core_initcall(process_tracer_init);

// SPDX-License-Identifier: GPL-2.0
/*
 * How the records of the tracer "process" are printed: as text for a person,
 * who may know strace, and as numbers for programs.
 */

#include <linux/errname.h>
#include <linux/fcntl.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/wait.h>
#include <trace/syscall.h>

#include "trace.h"
#include "trace_output.h"
#include "trace_process.h"

static const char * const process_signames[] = {
	[SIGHUP] = "SIGHUP",
	[SIGINT] = "SIGINT",
	[SIGQUIT] = "SIGQUIT",
	[SIGILL] = "SIGILL",
	[SIGTRAP] = "SIGTRAP",
	[SIGABRT] = "SIGABRT",
	[SIGBUS] = "SIGBUS",
	[SIGFPE] = "SIGFPE",
	[SIGKILL] = "SIGKILL",
	[SIGUSR1] = "SIGUSR1",
	[SIGSEGV] = "SIGSEGV",
	[SIGUSR2] = "SIGUSR2",
	[SIGPIPE] = "SIGPIPE",
	[SIGALRM] = "SIGALRM",
	[SIGTERM] = "SIGTERM",
#ifdef SIGSTKFLT
	[SIGSTKFLT] = "SIGSTKFLT",
#endif
#ifdef SIGEMT
	[SIGEMT] = "SIGEMT",
#endif
	[SIGCHLD] = "SIGCHLD",
	[SIGCONT] = "SIGCONT",
	[SIGSTOP] = "SIGSTOP",
	[SIGTSTP] = "SIGTSTP",
	[SIGTTIN] = "SIGTTIN",
	[SIGTTOU] = "SIGTTOU",
	[SIGURG] = "SIGURG",
	[SIGXCPU] = "SIGXCPU",
	[SIGXFSZ] = "SIGXFSZ",
	[SIGVTALRM] = "SIGVTALRM",
	[SIGPROF] = "SIGPROF",
	[SIGWINCH] = "SIGWINCH",
	[SIGIO] = "SIGIO",
	[SIGPWR] = "SIGPWR",
	[SIGSYS] = "SIGSYS",
};

static void process_print_signame(struct trace_seq *s, int sig)
{
	if (sig > 0 && sig < ARRAY_SIZE(process_signames) &&
	    process_signames[sig])
		trace_seq_puts(s, process_signames[sig]);
	else if (sig >= SIGRTMIN && sig <= _NSIG)
		trace_seq_printf(s, "SIGRT_%d", sig - SIGRTMIN);
	else
		trace_seq_printf(s, "%d", sig);
}

/* "|" between the names of the flags, and what has no name as a number. */
static void process_print_flags(struct trace_seq *s, u64 flags,
				const struct trace_print_flags_u64 *names,
				unsigned int nr)
{
	const char *delim = "";
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if ((flags & names[i].mask) != names[i].mask)
			continue;
		trace_seq_printf(s, "%s%s", delim, names[i].name);
		flags &= ~names[i].mask;
		delim = "|";
	}
	if (flags)
		trace_seq_printf(s, "%s0x%llx", delim, flags);
}

#define CLONE(flag)	{ CLONE_##flag, "CLONE_" #flag }

static const struct trace_print_flags_u64 process_clone_flags[] = {
	CLONE(VM),
	CLONE(FS),
	CLONE(FILES),
	CLONE(SIGHAND),
	CLONE(PIDFD),
	CLONE(PTRACE),
	CLONE(VFORK),
	CLONE(PARENT),
	CLONE(THREAD),
	CLONE(NEWNS),
	CLONE(NEWTIME),
	CLONE(SYSVSEM),
	CLONE(SETTLS),
	CLONE(PARENT_SETTID),
	CLONE(CHILD_CLEARTID),
	CLONE(DETACHED),
	CLONE(UNTRACED),
	CLONE(CHILD_SETTID),
	CLONE(NEWCGROUP),
	CLONE(NEWUTS),
	CLONE(NEWIPC),
	CLONE(NEWUSER),
	CLONE(NEWPID),
	CLONE(NEWNET),
	CLONE(IO),
	CLONE(CLEAR_SIGHAND),
	CLONE(INTO_CGROUP),
};

static enum print_line_t
process_fork_print(struct trace_iterator *iter, int flags,
		   struct trace_event *event)
{
	struct process_fork_entry *field;
	struct trace_seq *s = &iter->seq;

	trace_assign_type(field, iter->ent);

	trace_seq_printf(s, "%s child=%d",
			 field->clone_flags & CLONE_THREAD ? "thread" : "fork",
			 field->child);
	/* What it is for its parent, which is in another pid namespace. */
	if (field->child_vpid && field->child_vpid != field->child)
		trace_seq_printf(s, " vpid=%d", field->child_vpid);
	trace_seq_puts(s, " flags=");
	/* Where a signal was for clone() there is a flag of clone3(). */
	process_print_flags(s, field->clone_flags, process_clone_flags,
			    ARRAY_SIZE(process_clone_flags));
	if (!field->clone_flags)
		trace_seq_putc(s, '0');
	trace_seq_putc(s, '\n');

	return trace_handle_return(s);
}

static enum print_line_t
process_fork_raw(struct trace_iterator *iter, int flags,
		 struct trace_event *event)
{
	struct process_fork_entry *field;
	struct trace_seq *s = &iter->seq;

	trace_assign_type(field, iter->ent);

	trace_seq_printf(s, "%d %d %d %llx\n", field->child, field->child_tgid,
			 field->child_vpid, field->clone_flags);

	return trace_handle_return(s);
}

static enum print_line_t
process_fork_hex(struct trace_iterator *iter, int flags,
		 struct trace_event *event)
{
	struct process_fork_entry *field;
	struct trace_seq *s = &iter->seq;

	trace_assign_type(field, iter->ent);

	SEQ_PUT_HEX_FIELD(s, field->child);
	SEQ_PUT_HEX_FIELD(s, field->child_tgid);
	SEQ_PUT_HEX_FIELD(s, field->child_vpid);
	SEQ_PUT_HEX_FIELD(s, field->clone_flags);

	return trace_handle_return(s);
}

static enum print_line_t
process_fork_bin(struct trace_iterator *iter, int flags,
		 struct trace_event *event)
{
	struct process_fork_entry *field;
	struct trace_seq *s = &iter->seq;

	trace_assign_type(field, iter->ent);

	SEQ_PUT_FIELD(s, field->child);
	SEQ_PUT_FIELD(s, field->child_tgid);
	SEQ_PUT_FIELD(s, field->child_vpid);
	SEQ_PUT_FIELD(s, field->clone_flags);

	return trace_handle_return(s);
}

/* A record whose end was overwritten, or made up, need not end with a NUL. */
static int process_room(struct trace_iterator *iter, const void *from)
{
	return max_t(int, 0, (void *)iter->ent + iter->ent_size - from);
}

static enum print_line_t
process_exec_print(struct trace_iterator *iter, int flags,
		   struct trace_event *event)
{
	struct process_exec_entry *field;
	struct trace_seq *s = &iter->seq;
	int len;

	trace_assign_type(field, iter->ent);

	len = strnlen(field->filename, process_room(iter, field->filename));
	trace_seq_printf(s, "exec \"%*pE\"", len, field->filename);
	if (field->old_pid != field->ent.pid)
		trace_seq_printf(s, " by thread %d", field->old_pid);
	trace_seq_putc(s, '\n');

	return trace_handle_return(s);
}

static enum print_line_t
process_exec_raw(struct trace_iterator *iter, int flags,
		 struct trace_event *event)
{
	struct process_exec_entry *field;
	struct trace_seq *s = &iter->seq;
	int len;

	trace_assign_type(field, iter->ent);

	len = strnlen(field->filename, process_room(iter, field->filename));
	trace_seq_printf(s, "%d \"%*pE\"\n", field->old_pid, len,
			 field->filename);

	return trace_handle_return(s);
}

static enum print_line_t
process_exec_hex(struct trace_iterator *iter, int flags,
		 struct trace_event *event)
{
	struct process_exec_entry *field;
	struct trace_seq *s = &iter->seq;

	trace_assign_type(field, iter->ent);

	SEQ_PUT_HEX_FIELD(s, field->old_pid);

	return trace_handle_return(s);
}

static enum print_line_t
process_exec_bin(struct trace_iterator *iter, int flags,
		 struct trace_event *event)
{
	struct process_exec_entry *field;
	struct trace_seq *s = &iter->seq;

	trace_assign_type(field, iter->ent);

	SEQ_PUT_FIELD(s, field->old_pid);

	return trace_handle_return(s);
}

static enum print_line_t
process_exit_print(struct trace_iterator *iter, int flags,
		   struct trace_event *event)
{
	struct process_exit_entry *field;
	struct trace_seq *s = &iter->seq;

	trace_assign_type(field, iter->ent);

	if (field->code & 0x7f) {
		trace_seq_puts(s, "+++ killed by ");
		process_print_signame(s, field->code & 0x7f);
		if (field->code & 0x80)
			trace_seq_puts(s, " (core dumped)");
	} else {
		trace_seq_printf(s, "+++ exited with %d",
				 (field->code >> 8) & 0xff);
	}
	trace_seq_printf(s, " +++%s\n",
			 field->group_dead ? "" : " (one of its threads)");

	return trace_handle_return(s);
}

static enum print_line_t
process_exit_raw(struct trace_iterator *iter, int flags,
		 struct trace_event *event)
{
	struct process_exit_entry *field;
	struct trace_seq *s = &iter->seq;

	trace_assign_type(field, iter->ent);

	trace_seq_printf(s, "%d %d\n", field->code, field->group_dead);

	return trace_handle_return(s);
}

static enum print_line_t
process_exit_hex(struct trace_iterator *iter, int flags,
		 struct trace_event *event)
{
	struct process_exit_entry *field;
	struct trace_seq *s = &iter->seq;

	trace_assign_type(field, iter->ent);

	SEQ_PUT_HEX_FIELD(s, field->code);
	SEQ_PUT_HEX_FIELD(s, field->group_dead);

	return trace_handle_return(s);
}

static enum print_line_t
process_exit_bin(struct trace_iterator *iter, int flags,
		 struct trace_event *event)
{
	struct process_exit_entry *field;
	struct trace_seq *s = &iter->seq;

	trace_assign_type(field, iter->ent);

	SEQ_PUT_FIELD(s, field->code);
	SEQ_PUT_FIELD(s, field->group_dead);

	return trace_handle_return(s);
}

static const char *process_signal_code(int sig, int code)
{
	static const char * const cld[] = {
		[CLD_EXITED]	= "CLD_EXITED",
		[CLD_KILLED]	= "CLD_KILLED",
		[CLD_DUMPED]	= "CLD_DUMPED",
		[CLD_TRAPPED]	= "CLD_TRAPPED",
		[CLD_STOPPED]	= "CLD_STOPPED",
		[CLD_CONTINUED]	= "CLD_CONTINUED",
	};

	switch (code) {
	case SI_USER:
		return "SI_USER";
	case SI_KERNEL:
		return "SI_KERNEL";
	case SI_QUEUE:
		return "SI_QUEUE";
	case SI_TIMER:
		return "SI_TIMER";
	case SI_MESGQ:
		return "SI_MESGQ";
	case SI_ASYNCIO:
		return "SI_ASYNCIO";
	case SI_SIGIO:
		return "SI_SIGIO";
	case SI_TKILL:
		return "SI_TKILL";
	}

	if (sig == SIGCHLD && code > 0 && code < ARRAY_SIZE(cld))
		return cld[code];

	return NULL;
}

static enum print_line_t
process_signal_print(struct trace_iterator *iter, int flags,
		     struct trace_event *event)
{
	struct process_signal_entry *field;
	struct trace_seq *s = &iter->seq;
	const char *name;

	trace_assign_type(field, iter->ent);

	trace_seq_puts(s, "--- ");
	process_print_signame(s, field->sig);
	name = process_signal_code(field->sig, field->code);
	if (name)
		trace_seq_printf(s, " code=%s", name);
	else
		trace_seq_printf(s, " code=%d", field->code);
	if (field->errno)
		trace_seq_printf(s, " errno=%d", field->errno);
	if (field->sender)
		trace_seq_printf(s, " sender=%d", field->sender);
	if (field->handler == (unsigned long)SIG_DFL)
		trace_seq_puts(s, " default");
	else if (field->handler == (unsigned long)SIG_IGN)
		trace_seq_puts(s, " ignored");
	else
		trace_seq_printf(s, " handler=0x%lx", field->handler);
	trace_seq_puts(s, " ---\n");

	return trace_handle_return(s);
}

static enum print_line_t
process_signal_raw(struct trace_iterator *iter, int flags,
		   struct trace_event *event)
{
	struct process_signal_entry *field;
	struct trace_seq *s = &iter->seq;

	trace_assign_type(field, iter->ent);

	trace_seq_printf(s, "%d %d %d %d %lx\n", field->sig, field->errno,
			 field->code, field->sender, field->handler);

	return trace_handle_return(s);
}

static enum print_line_t
process_signal_hex(struct trace_iterator *iter, int flags,
		   struct trace_event *event)
{
	struct process_signal_entry *field;
	struct trace_seq *s = &iter->seq;

	trace_assign_type(field, iter->ent);

	SEQ_PUT_HEX_FIELD(s, field->sig);
	SEQ_PUT_HEX_FIELD(s, field->errno);
	SEQ_PUT_HEX_FIELD(s, field->code);
	SEQ_PUT_HEX_FIELD(s, field->sender);
	SEQ_PUT_HEX_FIELD(s, field->handler);

	return trace_handle_return(s);
}

static enum print_line_t
process_signal_bin(struct trace_iterator *iter, int flags,
		   struct trace_event *event)
{
	struct process_signal_entry *field;
	struct trace_seq *s = &iter->seq;

	trace_assign_type(field, iter->ent);

	SEQ_PUT_FIELD(s, field->sig);
	SEQ_PUT_FIELD(s, field->errno);
	SEQ_PUT_FIELD(s, field->code);
	SEQ_PUT_FIELD(s, field->sender);
	SEQ_PUT_FIELD(s, field->handler);

	return trace_handle_return(s);
}

/* sys_openat is called openat by those who call it. */
static void process_print_syscall_name(struct trace_seq *s, int nr, bool compat)
{
	const struct syscall_metadata *meta;
	const char *name;

	meta = compat ? NULL : trace_syscall_metadata(nr);
	if (!meta) {
		trace_seq_printf(s, "%s_%d", compat ? "syscall32" : "syscall",
				 nr);
		return;
	}

	name = strchr(meta->name, '_');
	trace_seq_puts(s, name ? name + 1 : meta->name);
}

static bool process_arg_is(const char *name, const char *end)
{
	size_t len = strlen(name), end_len = strlen(end);

	return len >= end_len && !strcmp(name + len - end_len, end);
}

static void process_print_arg(struct trace_seq *s, const char *type,
			      const char *name, unsigned long arg)
{
	if (strchr(type, '*')) {
		if (arg)
			trace_seq_printf(s, "0x%lx", arg);
		else
			trace_seq_puts(s, "NULL");
	} else if (process_arg_is(name, "fd") && (int)arg == AT_FDCWD) {
		trace_seq_puts(s, "AT_FDCWD");
	} else if (!strcmp(type, "umode_t")) {
		trace_seq_printf(s, "0%03lo", arg & 0177777);
	} else if (process_arg_is(name, "flags")) {
		trace_seq_printf(s, "0x%lx", arg);
	} else if (!strcmp(type, "int") || !strcmp(type, "pid_t") ||
		   process_arg_is(name, "fd")) {
		trace_seq_printf(s, "%d", (int)arg);
	} else if (!strcmp(type, "unsigned int") || !strcmp(type, "u32")) {
		trace_seq_printf(s, "%u", (unsigned int)arg);
	} else if (!strcmp(type, "size_t") || !strcmp(type, "loff_t")) {
		trace_seq_printf(s, "%ld", (long)arg);
	} else if (arg < 10) {
		trace_seq_printf(s, "%lu", arg);
	} else {
		trace_seq_printf(s, "0x%lx", arg);
	}
}

static enum print_line_t
process_sys_enter_print(struct trace_iterator *iter, int flags,
			struct trace_event *event)
{
	const struct syscall_metadata *meta = NULL;
	struct process_sys_enter_entry *field;
	struct trace_seq *s = &iter->seq;
	unsigned int i, nr_args = 6;
	const char *string;
	int room, len;

	trace_assign_type(field, iter->ent);

	if (!field->compat)
		meta = trace_syscall_metadata(field->nr);
	if (meta)
		nr_args = meta->nb_args;
	string = field->strings;
	room = process_room(iter, string);

	process_print_syscall_name(s, field->nr, field->compat);
	trace_seq_putc(s, '(');
	for (i = 0; i < nr_args; i++) {
		if (i)
			trace_seq_puts(s, ", ");
		if (meta) {
			trace_seq_printf(s, "%s=", meta->args[i]);
			process_print_arg(s, meta->types[i], meta->args[i],
					  field->args[i]);
		} else {
			trace_seq_printf(s, "0x%lx", field->args[i]);
		}

		if (!(field->strings_mask & BIT(i)) || room <= 0)
			continue;
		len = strnlen(string, room);
		trace_seq_printf(s, " \"%*pE\"%s", len, string,
				 field->strings_cut & BIT(i) ? "..." : "");
		string += len + 1;
		room -= len + 1;
	}
	trace_seq_puts(s, ")\n");

	return trace_handle_return(s);
}

static enum print_line_t
process_sys_enter_raw(struct trace_iterator *iter, int flags,
		      struct trace_event *event)
{
	struct process_sys_enter_entry *field;
	struct trace_seq *s = &iter->seq;
	unsigned int i;

	trace_assign_type(field, iter->ent);

	trace_seq_printf(s, "%d %d", field->nr, field->compat);
	for (i = 0; i < ARRAY_SIZE(field->args); i++)
		trace_seq_printf(s, " %lx", field->args[i]);
	trace_seq_putc(s, '\n');

	return trace_handle_return(s);
}

static enum print_line_t
process_sys_enter_hex(struct trace_iterator *iter, int flags,
		      struct trace_event *event)
{
	struct process_sys_enter_entry *field;
	struct trace_seq *s = &iter->seq;
	unsigned int i;

	trace_assign_type(field, iter->ent);

	SEQ_PUT_HEX_FIELD(s, field->nr);
	SEQ_PUT_HEX_FIELD(s, field->compat);
	for (i = 0; i < ARRAY_SIZE(field->args); i++)
		SEQ_PUT_HEX_FIELD(s, field->args[i]);

	return trace_handle_return(s);
}

static enum print_line_t
process_sys_enter_bin(struct trace_iterator *iter, int flags,
		      struct trace_event *event)
{
	struct process_sys_enter_entry *field;
	struct trace_seq *s = &iter->seq;

	trace_assign_type(field, iter->ent);

	SEQ_PUT_FIELD(s, field->nr);
	SEQ_PUT_FIELD(s, field->compat);
	SEQ_PUT_FIELD(s, field->args);

	return trace_handle_return(s);
}

static enum print_line_t
process_sys_exit_print(struct trace_iterator *iter, int flags,
		       struct trace_event *event)
{
	struct process_sys_exit_entry *field;
	struct trace_seq *s = &iter->seq;
	const char *name = NULL;
	u64 us;
	u32 ns;

	trace_assign_type(field, iter->ent);

	process_print_syscall_name(s, field->nr, field->compat);
	if (IS_ERR_VALUE((unsigned long)field->ret))
		name = errname(-field->ret);

	if (name)
		trace_seq_printf(s, "() = -1 %s", name);
	else if (field->ret < -MAX_ERRNO || field->ret > INT_MAX)
		trace_seq_printf(s, "() = 0x%lx", field->ret);
	else
		trace_seq_printf(s, "() = %ld", field->ret);

	if (field->duration) {
		us = div_u64_rem(field->duration, 1000, &ns);
		trace_seq_printf(s, " <%llu.%03u us>", us, ns);
	}
	trace_seq_putc(s, '\n');

	return trace_handle_return(s);
}

static enum print_line_t
process_sys_exit_raw(struct trace_iterator *iter, int flags,
		     struct trace_event *event)
{
	struct process_sys_exit_entry *field;
	struct trace_seq *s = &iter->seq;

	trace_assign_type(field, iter->ent);

	trace_seq_printf(s, "%d %d %ld %llu\n", field->nr, field->compat,
			 field->ret, field->duration);

	return trace_handle_return(s);
}

static enum print_line_t
process_sys_exit_hex(struct trace_iterator *iter, int flags,
		     struct trace_event *event)
{
	struct process_sys_exit_entry *field;
	struct trace_seq *s = &iter->seq;

	trace_assign_type(field, iter->ent);

	SEQ_PUT_HEX_FIELD(s, field->nr);
	SEQ_PUT_HEX_FIELD(s, field->compat);
	SEQ_PUT_HEX_FIELD(s, field->ret);
	SEQ_PUT_HEX_FIELD(s, field->duration);

	return trace_handle_return(s);
}

static enum print_line_t
process_sys_exit_bin(struct trace_iterator *iter, int flags,
		     struct trace_event *event)
{
	struct process_sys_exit_entry *field;
	struct trace_seq *s = &iter->seq;

	trace_assign_type(field, iter->ent);

	SEQ_PUT_FIELD(s, field->nr);
	SEQ_PUT_FIELD(s, field->compat);
	SEQ_PUT_FIELD(s, field->ret);
	SEQ_PUT_FIELD(s, field->duration);

	return trace_handle_return(s);
}

#define DEFINE_PROCESS_EVENT(name, id)					\
static struct trace_event_functions process_##name##_funcs = {		\
	.trace	= process_##name##_print,				\
	.raw	= process_##name##_raw,					\
	.hex	= process_##name##_hex,					\
	.binary	= process_##name##_bin,					\
};									\
									\
static struct trace_event process_##name##_event = {			\
	.type	= id,							\
	.funcs	= &process_##name##_funcs,				\
}

DEFINE_PROCESS_EVENT(fork, TRACE_PROCESS_FORK);
DEFINE_PROCESS_EVENT(exec, TRACE_PROCESS_EXEC);
DEFINE_PROCESS_EVENT(exit, TRACE_PROCESS_EXIT);
DEFINE_PROCESS_EVENT(signal, TRACE_PROCESS_SIGNAL);
DEFINE_PROCESS_EVENT(sys_enter, TRACE_PROCESS_SYS_ENTER);
DEFINE_PROCESS_EVENT(sys_exit, TRACE_PROCESS_SYS_EXIT);

static struct trace_event *process_events[] __initdata = {
	&process_fork_event,
	&process_exec_event,
	&process_exit_event,
	&process_signal_event,
	&process_sys_enter_event,
	&process_sys_exit_event,
};

static __init int process_events_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(process_events); i++) {
		if (!register_trace_event(process_events[i]))
			pr_warn("tracing: no event for records of type %d\n",
				process_events[i]->type);
	}

	return 0;
}
core_initcall(process_events_init);

// SPDX-License-Identifier: GPL-2.0
/*
 * How the records of the tracer "process" are printed: as text for a person
 * who may know strace, and as numbers with the option raw.
 */

#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/string_helpers.h>

#include "trace.h"
#include "trace_output.h"
#include "trace_process.h"

#define PROCESS_ESCAPE	(ESCAPE_SPACE | ESCAPE_SPECIAL | ESCAPE_OCTAL |	\
			 ESCAPE_NAP | ESCAPE_APPEND)

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

/*
 * Controls, surrogates, and characters that have no width or change the order
 * of others are not printed as they are: one name could look like another.
 */
static bool process_utf8_is_bad(u32 c)
{
	return c < 0xa0 || c == 0xad || c == 0x61c ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || (c >= 0xd800 && c <= 0xdfff) ||
	       c == 0xfeff || (c >= 0xfff0 && c <= 0xffff) ||
	       (c >= 0xe0000 && c <= 0xe0fff) || c > 0x10ffff;
}

/* How many bytes has the character at @s? 0: it can't be printed as it is. */
static size_t process_utf8_len(const u8 *s, size_t len)
{
	static const u32 least[] = { 0, 0x80, 0x800, 0x10000 };
	unsigned int more, i;
	u32 c;

	if (*s < 0xc0 || *s > 0xf7)
		return 0;

	more = *s < 0xe0 ? 1 : *s < 0xf0 ? 2 : 3;
	if (len <= more)
		return 0;

	c = *s & (0x3f >> more);
	for (i = 1; i <= more; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}

	return c < least[more] || process_utf8_is_bad(c) ? 0 : more + 1;
}

/**
 * process_print_string - print a string between quotes
 * @s: where to
 * @str: the string
 * @len: its length in bytes
 *
 * Nothing in @str can end the line or the quotes. Printable ASCII and UTF-8 are
 * printed as they are, all else byte by byte in octal.
 */
void process_print_string(struct trace_seq *s, const char *str, size_t len)
{
	/* At most four characters for one, "\\ooo" */
	char buf[4];
	size_t part;

	trace_seq_putc(s, '"');
	while (len) {
		part = process_utf8_len(str, len);
		if (part) {
			trace_seq_putmem(s, str, part);
		} else {
			part = 1;
			trace_seq_putmem(s, buf,
					 string_escape_mem(str, part, buf,
							   sizeof(buf),
							   PROCESS_ESCAPE,
							   "\"\\"));
		}
		str += part;
		len -= part;
	}
	trace_seq_putc(s, '"');
}

/**
 * process_print_room - how much of a record is left?
 * @iter: with the record
 * @from: in the record
 *
 * A record that was made up need not end where its fields say.
 *
 * Return: number of bytes from @from to the end.
 */
size_t process_print_room(struct trace_iterator *iter, const void *from)
{
	const void *end = (void *)iter->ent + iter->ent_size;

	return end > from ? end - from : 0;
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

	trace_seq_printf(s, "%d %d %llx\n", field->child, field->child_tgid,
			 field->clone_flags);

	return trace_handle_return(s);
}

static void process_print_filename(struct trace_iterator *iter,
				   struct process_exec_entry *field)
{
	size_t room = process_print_room(iter, field->filename);

	process_print_string(&iter->seq, field->filename,
			     strnlen(field->filename, room));
	if (field->cut)
		trace_seq_puts(&iter->seq, "...");
}

static enum print_line_t
process_exec_print(struct trace_iterator *iter, int flags,
		   struct trace_event *event)
{
	struct process_exec_entry *field;
	struct trace_seq *s = &iter->seq;

	trace_assign_type(field, iter->ent);

	trace_seq_puts(s, "exec ");
	process_print_filename(iter, field);
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

	trace_assign_type(field, iter->ent);

	trace_seq_printf(s, "%d ", field->old_pid);
	process_print_filename(iter, field);
	trace_seq_putc(s, '\n');

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

#define DEFINE_PROCESS_EVENT(name, id)					\
static struct trace_event_functions process_##name##_funcs = {		\
	.trace	= process_##name##_print,				\
	.raw	= process_##name##_raw,					\
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

static struct trace_event *process_events[] __initdata = {
	&process_fork_event,
	&process_exec_event,
	&process_exit_event,
	&process_signal_event,
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

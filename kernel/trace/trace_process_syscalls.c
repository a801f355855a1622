// SPDX-License-Identifier: GPL-2.0
/*
 * System calls in the tracer "process".
 *
 * The probes are called for the tasks that the instance follows. A record of
 * an entry has as many arguments as the system call takes, then the strings
 * that its metadata knows of.
 *
 * The time at which a task entered its system call is a word of the task. The
 * first instance that follows the task and sees the exit takes it, whether that
 * one can record the exit or not. So there is no word for the exit of a call
 * that has no entry, as one that seccomp has refused.
 */

#include <linux/compat.h>
#include <linux/errname.h>
#include <linux/fcntl.h>
#include <linux/seq_file.h>
#include <linux/timekeeping.h>

#include <asm/syscall.h>
#include <trace/events/syscalls.h>
#include <trace/syscall.h>

#include "trace.h"
#include "trace_output.h"
#include "trace_process.h"
#include "trace_syscall_user.h"

#define PROCESS_ARGS		6

struct process_strings {
	const char		*str[SYSCALL_FAULT_MAX_CNT];
	unsigned int		len[SYSCALL_FAULT_MAX_CNT];
	unsigned int		nr;
	/* With the NULs */
	unsigned int		size;
	/* The arguments that are strings, and those that were cut */
	u8			mask;
	u8			cut;
};

/*
 * The numbers of system calls differ for 32-bit tasks. The number -1 names no
 * call, and x86 would take it for one of x32.
 */
static bool process_trace_is_compat(struct pt_regs *regs, int nr)
{
	if (nr == -1)
		return false;

#ifdef ARCH_TRACE_IGNORE_COMPAT_SYSCALLS
	return arch_trace_is_compat_syscall(regs);
#else
	return in_compat_syscall();
#endif
}

/* The user_mask of other system calls is for data of any kind. */
static bool process_has_strings(const struct syscall_metadata *meta)
{
	return meta->user_mask &&
	       (meta->user_arg_size < 0 || meta->user_arg_is_str);
}

static void process_read_strings(struct process_strings *strings,
				 const struct syscall_metadata *meta,
				 const unsigned long *args, unsigned int max)
{
	unsigned long mask = meta->user_mask;
	struct syscall_args user;
	unsigned int i, arg, len;
	char *buf;

	buf = trace_syscall_user_read(meta, args, &user);
	if (!buf)
		return;

	for (i = 0; i < user.uargs; i++, buf += SYSCALL_FAULT_ARG_SZ) {
		arg = __ffs(mask);
		mask &= mask - 1;
		/* Leave strings out that can't be read. */
		if (user.read[i] < 0)
			continue;

		len = strnlen(buf, user.read[i]);
		if (len > max) {
			len = max;
			strings->cut |= BIT(arg);
		}
		strings->mask |= BIT(arg);
		strings->str[strings->nr] = buf;
		strings->len[strings->nr++] = len;
		strings->size += len + 1;
	}
}

/* @strings is NULL for a system call that has none. */
static __always_inline void
process_record_enter(struct trace_array *tr, long id, bool compat,
		     const unsigned long *args, unsigned int nr_args,
		     const struct process_strings *strings)
{
	struct process_sys_enter_entry *entry;
	struct process_record record;
	unsigned int i;
	char *str;

	if (!process_trace_reserve(tr, &record, TRACE_PROCESS_SYS_ENTER,
				   struct_size(entry, args, nr_args) +
				   (strings ? strings->size : 0)))
		return;
	entry = record.entry;

	entry->nr = id;
	entry->compat = compat;
	entry->nr_args = nr_args;
	entry->strings_mask = strings ? strings->mask : 0;
	entry->strings_cut = strings ? strings->cut : 0;
	memcpy(entry->args, args, nr_args * sizeof(*args));
	str = (char *)&entry->args[nr_args];
	for (i = 0; strings && i < strings->nr; i++) {
		memcpy(str, strings->str[i], strings->len[i]);
		str[strings->len[i]] = '\0';
		str += strings->len[i] + 1;
	}

	process_trace_commit(&record);
}

static noinline void
process_trace_enter_strings(struct trace_array *tr, long id,
			    const unsigned long *args,
			    const struct syscall_metadata *meta)
{
	struct process_strings strings = {};

	process_read_strings(&strings, meta, args, tr->syscall_buf_sz);
	/* The tracer may be left while a page is waited for. */
	if (!process_trace_wants(tr, PROCESS_OPT_SYSCALLS))
		return;

	process_record_enter(tr, id, false, args, meta->nb_args, &strings);
}

static void process_trace_sys_enter(void *data, struct pt_regs *regs, long id)
{
	unsigned long args[PROCESS_ARGS] __uninitialized;
	const struct syscall_metadata *meta = NULL;
	unsigned int nr_args = PROCESS_ARGS;
	struct trace_array *tr = data;
	bool compat;

	might_fault();

	/* When the tracer is left, it waits for those who were wanted before. */
	guard(preempt_notrace)();

	if (!process_trace_follows(tr, PROCESS_OPT_SYSCALLS))
		return;

	current->process_sys_enter = ktime_get_ns();
	if (!process_trace_passes(tr))
		return;

	/* On sh, @id is not the number. */
	id = syscall_get_nr(current, regs);
	compat = process_trace_is_compat(regs, id);
	if (!compat)
		meta = trace_syscall_metadata(id);
	if (meta)
		nr_args = meta->nb_args;
	if (nr_args)
		syscall_get_arguments(current, regs, args);

	if (meta && process_has_strings(meta) && tr->syscall_buf_sz)
		process_trace_enter_strings(tr, id, args, meta);
	else
		process_record_enter(tr, id, compat, args, nr_args, NULL);
}

/*
 * How long the call took that current returns from, or 0. Another instance, or
 * this one before it was set up as it is now, may have left the word of an
 * earlier call, whose exit it has not seen.
 */
static u64 process_trace_duration(struct trace_array *tr)
{
	u64 enter = current->process_sys_enter;
	bool joining;

	/* Another instance may have its time, and this one never will. */
	if (enter <= trace_follow_since(&tr->follow, &joining))
		return 0;

	/* The next exit may have no entry, and must not get this one. */
	current->process_sys_enter = 0;
	if (joining)
		return 0;

	return max(ktime_get_ns() - enter, 1);
}

static void process_trace_sys_exit(void *data, struct pt_regs *regs, long ret)
{
	struct process_sys_exit_entry *entry;
	struct trace_array *tr = data;
	struct process_record record;
	u64 duration;

	guard(preempt_notrace)();

	if (!process_trace_follows(tr, PROCESS_OPT_SYSCALLS))
		return;

	duration = process_trace_duration(tr);
	if (!process_trace_passes(tr))
		return;

	if (!process_trace_reserve(tr, &record, TRACE_PROCESS_SYS_EXIT,
				   sizeof(*entry)))
		return;
	entry = record.entry;

	entry->nr = syscall_get_nr(current, regs);
	entry->compat = process_trace_is_compat(regs, entry->nr);
	/* @ret is an error without its sign on powerpc, the number on parisc. */
	entry->ret = syscall_get_error(current, regs) ?:
		     syscall_get_return_value(current, regs);
	entry->duration = duration;

	process_trace_commit(&record);
}

int process_trace_start_syscalls(struct trace_array *tr)
{
	int ret;

	ret = trace_syscall_user_get();
	if (ret)
		return ret;

	ret = trace_follow_syscalls_get(&tr->follow, &__tracepoint_sys_exit,
					process_trace_sys_exit, tr);
	if (ret)
		goto out_user;

	ret = trace_follow_syscalls_get(&tr->follow, &__tracepoint_sys_enter,
					process_trace_sys_enter, tr);
	if (!ret)
		return 0;

	trace_follow_syscalls_put(&tr->follow, &__tracepoint_sys_exit,
				  process_trace_sys_exit, tr);
out_user:
	trace_syscall_user_put();

	return ret;
}

void process_trace_stop_syscalls(struct trace_array *tr)
{
	trace_follow_syscalls_put(&tr->follow, &__tracepoint_sys_enter,
				  process_trace_sys_enter, tr);
	trace_follow_syscalls_put(&tr->follow, &__tracepoint_sys_exit,
				  process_trace_sys_exit, tr);
	trace_syscall_user_put();
}

/* Users know sys_openat as openat. */
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
	unsigned int i, nr_args;
	const char *string;
	size_t room, len;

	trace_assign_type(field, iter->ent);

	if (!field->compat)
		meta = trace_syscall_metadata(field->nr);
	room = process_print_room(iter, field->args);
	nr_args = min_t(size_t, field->nr_args, room / sizeof(*field->args));
	string = (const char *)&field->args[nr_args];
	room = process_print_room(iter, string);

	process_print_syscall_name(s, field->nr, field->compat);
	trace_seq_putc(s, '(');
	for (i = 0; i < nr_args; i++) {
		if (i)
			trace_seq_puts(s, ", ");
		if (meta && i < meta->nb_args) {
			trace_seq_printf(s, "%s=", meta->args[i]);
			process_print_arg(s, meta->types[i], meta->args[i],
					  field->args[i]);
		} else {
			trace_seq_printf(s, "0x%lx", field->args[i]);
		}

		if (i >= PROCESS_ARGS || !(field->strings_mask & BIT(i)) || !room)
			continue;
		len = strnlen(string, room);
		trace_seq_putc(s, ' ');
		process_print_string(s, string, len);
		if (field->strings_cut & BIT(i))
			trace_seq_puts(s, "...");
		len = min(len + 1, room);
		string += len;
		room -= len;
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
	unsigned int i, nr_args;

	trace_assign_type(field, iter->ent);

	nr_args = min_t(size_t, field->nr_args,
			process_print_room(iter, field->args) /
			sizeof(*field->args));
	trace_seq_printf(s, "%d %d", field->nr, field->compat);
	for (i = 0; i < nr_args; i++)
		trace_seq_printf(s, " %lx", field->args[i]);
	trace_seq_putc(s, '\n');

	return trace_handle_return(s);
}

static void process_print_duration(struct trace_seq *s, u64 duration)
{
	u64 us;
	u32 ns;

	if (!duration)
		return;

	us = div_u64_rem(duration, NSEC_PER_USEC, &ns);
	trace_seq_printf(s, " <%llu.%03u us>", us, ns);
}

static enum print_line_t
process_sys_exit_print(struct trace_iterator *iter, int flags,
		       struct trace_event *event)
{
	struct process_sys_exit_entry *field;
	struct trace_seq *s = &iter->seq;
	const char *name = NULL;

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

	process_print_duration(s, field->duration);
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

	trace_seq_printf(s, "%d %d %ld\n", field->nr, field->compat,
			 field->ret);

	return trace_handle_return(s);
}

/*
 * Programs that read records print what the format file says. The kernel's
 * names are not known when it is compiled, so the file has them from here.
 */
static void process_fmt_syscalls(struct seq_file *m)
{
	const struct syscall_metadata *meta;
	const char *name;
	int nr;

	seq_puts(m, ", REC->compat ? \"syscall32\" : __print_symbolic(REC->nr");
	for (nr = 0; nr < NR_syscalls; nr++) {
		meta = trace_syscall_metadata(nr);
		if (!meta)
			continue;
		name = strchr(meta->name, '_');
		seq_printf(m, ", { %d, \"%s\" }", nr,
			   name ? name + 1 : meta->name);
	}
	/* rt_sigreturn() may have forgotten its number when it returns. */
	seq_printf(m, ", { %u, \"syscall_-1\" })", U32_MAX);
}

static void process_fmt_enter(struct seq_file *m)
{
	seq_puts(m, "\"%s(%s)\"");
	process_fmt_syscalls(m);
	seq_printf(m, ", __print_array(REC->args, REC->nr_args, %zu)",
		   sizeof(long));
}

static void process_fmt_exit(struct seq_file *m)
{
	const char *name;
	int err;

	/* Nobody can parse an empty list of names. */
	if (!IS_ENABLED(CONFIG_SYMBOLIC_ERRNAME)) {
		seq_puts(m, "\"%s() = %ld duration=%llu\"");
		process_fmt_syscalls(m);
		seq_puts(m, ", REC->ret, REC->duration");
		return;
	}

	seq_puts(m, "\"%s() = %s duration=%llu\"");
	process_fmt_syscalls(m);
	seq_puts(m, ", __print_symbolic(REC->ret");
	/* Programs that parse this take no negative numbers here. */
	for (err = 1; err < MAX_ERRNO; err++) {
		name = errname(err);
		if (name)
			seq_printf(m, ", { %lu, \"-1 %s\" }",
				   -(unsigned long)err, name);
	}
	seq_puts(m, "), REC->duration");
}

static struct trace_event_functions process_sys_enter_funcs = {
	.trace		= process_sys_enter_print,
	.raw		= process_sys_enter_raw,
	.print_fmt	= process_fmt_enter,
};

static struct trace_event process_sys_enter_event = {
	.type	= TRACE_PROCESS_SYS_ENTER,
	.funcs	= &process_sys_enter_funcs,
};

static struct trace_event_functions process_sys_exit_funcs = {
	.trace		= process_sys_exit_print,
	.raw		= process_sys_exit_raw,
	.print_fmt	= process_fmt_exit,
};

static struct trace_event process_sys_exit_event = {
	.type	= TRACE_PROCESS_SYS_EXIT,
	.funcs	= &process_sys_exit_funcs,
};

static __init int process_syscall_events_init(void)
{
	if (!register_trace_event(&process_sys_enter_event) ||
	    !register_trace_event(&process_sys_exit_event))
		pr_warn("tracing: no events for system calls of processes\n");

	return 0;
}
core_initcall(process_syscall_events_init);

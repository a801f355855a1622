// SPDX-License-Identifier: GPL-2.0
/*
 * System calls in the tracer "process".
 *
 * The probes are called for the tasks that the instance follows. A record of
 * an entry has as many arguments as the system call takes, then the strings
 * that its metadata knows of.
 *
 * The records have no duration. The text has one, computed from the times of
 * the two records.
 */

#include <linux/compat.h>
#include <linux/errname.h>
#include <linux/fcntl.h>
#include <linux/hash.h>
#include <linux/seq_file.h>

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

/* The numbers of system calls differ for 32-bit tasks. */
static bool process_trace_is_compat(struct pt_regs *regs)
{
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
	entry->gap = process_trace_gap(tr);
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

	if (!process_trace_wants(tr, PROCESS_OPT_SYSCALLS))
		return;

	compat = process_trace_is_compat(regs);
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

static void process_trace_sys_exit(void *data, struct pt_regs *regs, long ret)
{
	struct process_sys_exit_entry *entry;
	struct trace_array *tr = data;
	struct process_record record;

	guard(preempt_notrace)();

	if (!process_trace_wants(tr, PROCESS_OPT_SYSCALLS))
		return;

	if (!process_trace_reserve(tr, &record, TRACE_PROCESS_SYS_EXIT,
				   sizeof(*entry)))
		return;
	entry = record.entry;

	entry->nr = syscall_get_nr(current, regs);
	entry->compat = process_trace_is_compat(regs);
	entry->gap = process_trace_gap(tr);
	entry->ret = ret;

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

/*
 * The times at which tasks entered their system calls, from the records that a
 * reader has come by. Tasks whose pids have the same hash share a slot. Only
 * the last one to enter a call gets a time.
 *
 * The next exit of a task belongs to its entry only if the reader came by all
 * records in between. The numbers in the two records tell of those that were
 * not made. This keeps account of those that were made, and that others have
 * overwritten, consumed, cleared or swapped away. Not one of them is later than
 * @since, nor is it behind a record of @since_cpu that has this time. Only
 * entries that are later get into the slots.
 */
#define PROCESS_STARTS_BITS	8
#define PROCESS_NO_TIME		U64_MAX

struct process_starts {
	struct {
		u64	enter;
		/* 0: there is no such call */
		pid_t	pid;
		int	nr;
		/* As it was in the record of the entry */
		u16	gap;
	} slots[BIT(PROCESS_STARTS_BITS)];
	/* How long the call took that returns with the last record */
	u64		took;
	/* The last record: others may have the same time */
	unsigned long	record;
	u64		ts;
	int		cpu;
	/* The next one of the same CPU may be gone, and not be missed yet */
	bool		unsure;
	unsigned int	swaps;
	u64		since;
	int		since_cpu;
	/* Of each CPU, how many were overwritten or consumed */
	unsigned long	gone[];
};

void process_print_open(struct trace_iterator *iter)
{
	struct process_starts *starts;

	iter->private = NULL;
	/* What a file has missed that was open before the tracer is not known. */
	if (trace_buffer_iter(iter, cpumask_first(tracing_buffer_mask)))
		return;

	/* Without memory there are no times. */
	starts = kzalloc_flex(*starts, gone, nr_cpu_ids,
			      GFP_KERNEL | __GFP_NOWARN);
	if (!starts)
		return;

	starts->took = PROCESS_NO_TIME;
	starts->since_cpu = -1;
	starts->swaps = trace_snapshot_swaps(iter->tr);
	iter->private = starts;
}

void process_print_close(struct trace_iterator *iter)
{
	kfree(iter->private);
	iter->private = NULL;
}

/* Not for the CPU of the record that is printed, which would be overwritten. */
static bool process_print_peek(struct trace_iterator *iter, int cpu, u64 *ts)
{
	struct ring_buffer_iter *buf_iter = trace_buffer_iter(iter, cpu);

	if (buf_iter)
		return ring_buffer_iter_peek(buf_iter, ts);

	return ring_buffer_peek(iter->array_buffer->buffer, cpu, ts, NULL);
}

/* A record of another CPU may have come after the reader had looked there. */
static bool process_print_is_first(struct trace_iterator *iter)
{
	u64 ts;
	int cpu;

	for_each_tracing_cpu(cpu) {
		if (cpu != iter->cpu && process_print_peek(iter, cpu, &ts) &&
		    ts <= iter->ts)
			return false;
	}

	return true;
}

/* Records are missing up to @since, or before the one that @cpu has then. */
static void process_print_forget(struct process_starts *starts, u64 since,
				 int cpu)
{
	if (since < starts->since)
		return;

	if (since == starts->since && cpu != starts->since_cpu)
		cpu = -1;
	memset(starts->slots, 0, sizeof(starts->slots));
	starts->since = since;
	starts->since_cpu = cpu;
}

/* Records of @cpu are missing, before the next one that there is. */
static void process_print_forget_cpu(struct trace_iterator *iter, int cpu)
{
	struct trace_buffer *buffer = iter->array_buffer->buffer;
	struct process_starts *starts = iter->private;
	u64 ts = iter->ts;

	if (cpu == iter->cpu || process_print_peek(iter, cpu, &ts))
		process_print_forget(starts, ts, cpu);
	else
		process_print_forget(starts,
				     ring_buffer_newest_event_ts(buffer, cpu),
				     -1);
}

/* When were records cleared or swapped away last? */
static u64 process_print_cut(struct trace_iterator *iter)
{
	u64 start = iter->array_buffer->time_start;
	u64 cut = READ_ONCE(iter->array_buffer->cut);

#ifdef CONFIG_TRACER_SNAPSHOT
	/* snapshot_pipe has a copy of it. */
	if (iter->snapshot_pipe)
		cut = max(cut, READ_ONCE(iter->tr->snapshot_buffer.cut));
#endif

	/* The whole buffer began then. */
	return max(cut, start ? start - 1 : 0);
}

/* Find out which records are missing. Returns true while some are removed. */
static bool process_print_lost(struct trace_iterator *iter,
			       struct process_starts *starts)
{
	struct trace_buffer *buffer = iter->array_buffer->buffer;
	bool reads_copy = trace_buffer_iter(iter, iter->cpu);
	/* Pairs with smp_mb() in trace_buffer_cut(). */
	bool changing = smp_load_acquire(&iter->tr->resetting);
	unsigned int swaps = trace_snapshot_swaps(iter->tr);
	u64 cut = process_print_cut(iter);
	unsigned long gone;
	int cpu;

	if (cut > starts->since)
		process_print_forget(starts, cut, -1);
	/* Iterators stay with the buffers that they were made for. */
	if (reads_copy && swaps != starts->swaps)
		process_print_forget(starts, PROCESS_NO_TIME, -1);
	if (iter->lost_events)
		process_print_forget(starts, iter->ts, iter->cpu);
	if (starts->unsure && starts->cpu != iter->cpu)
		process_print_forget_cpu(iter, starts->cpu);

	starts->unsure = false;
	for_each_tracing_cpu(cpu) {
		gone = ring_buffer_overrun_cpu(buffer, cpu) +
			ring_buffer_read_events_cpu(buffer, cpu);
		if (gone == starts->gone[cpu])
			continue;
		starts->gone[cpu] = gone;
		process_print_forget_cpu(iter, cpu);
		starts->unsure |= reads_copy && cpu == iter->cpu;
	}

	return changing || (swaps & 1);
}

/*
 * A line that did not fit is printed again. Readers that consume nothing have
 * counted the record, and for others it is still where it was.
 */
static unsigned long process_print_record(struct trace_iterator *iter)
{
	return trace_buffer_iter(iter, iter->cpu) ? iter->idx + 1 :
						    (unsigned long)iter->ent;
}

static void process_print_pass(struct trace_iterator *iter,
			       struct process_starts *starts)
{
	unsigned int slot = hash_32(iter->ent->pid, PROCESS_STARTS_BITS);
	unsigned long record = process_print_record(iter);
	struct process_sys_enter_entry *enter;
	struct process_sys_exit_entry *exit;
	bool is_first = true, changing;

	if (starts->record == record && starts->ts == iter->ts &&
	    starts->cpu == iter->cpu)
		return;

	/* Before asking what is lost, so that all is seen or known to be. */
	if (iter->ent->type == TRACE_PROCESS_SYS_EXIT)
		is_first = process_print_is_first(iter);
	if (starts->record && !trace_buffer_iter(iter, iter->cpu))
		starts->gone[starts->cpu]++;
	changing = process_print_lost(iter, starts);

	starts->took = PROCESS_NO_TIME;
	starts->record = record;
	starts->ts = iter->ts;
	starts->cpu = iter->cpu;

	switch (iter->ent->type) {
	case TRACE_PROCESS_SYS_ENTER:
		trace_assign_type(enter, iter->ent);
		starts->slots[slot].pid = 0;
		if (iter->ts < starts->since ||
		    (iter->ts == starts->since &&
		     iter->cpu != starts->since_cpu))
			break;
		starts->slots[slot].enter = iter->ts;
		starts->slots[slot].pid = iter->ent->pid;
		starts->slots[slot].nr = enter->nr;
		starts->slots[slot].gap = enter->gap;
		break;
	case TRACE_PROCESS_SYS_EXIT:
		trace_assign_type(exit, iter->ent);
		if (starts->slots[slot].pid != iter->ent->pid)
			break;
		/* The next one may be refused by seccomp: it has not entered. */
		starts->slots[slot].pid = 0;
		if (is_first && !changing &&
		    starts->slots[slot].nr == exit->nr &&
		    starts->slots[slot].gap == exit->gap &&
		    starts->slots[slot].enter <= iter->ts)
			starts->took = iter->ts - starts->slots[slot].enter;
		break;
	}
}

/* Here comes each record, whatever prints it. */
enum print_line_t process_print_line(struct trace_iterator *iter)
{
	struct process_starts *starts = iter->private;

	if (starts && iter->cpu_file == RING_BUFFER_ALL_CPUS &&
	    (iter->iter_flags & TRACE_FILE_TIME_IN_NS))
		process_print_pass(iter, starts);

	return TRACE_TYPE_UNHANDLED;
}

static void process_print_duration(struct trace_iterator *iter)
{
	struct process_starts *starts = iter->private;
	u64 us;
	u32 ns;

	/* The buffer of another tracer may still have records of this one. */
	if (iter->trace != &process_tracer || !starts ||
	    starts->took == PROCESS_NO_TIME)
		return;

	us = div_u64_rem(starts->took, 1000, &ns);
	trace_seq_printf(&iter->seq, " <%llu.%03u us>", us, ns);
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

	process_print_duration(iter);
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
		seq_puts(m, "\"%s() = %ld\"");
		process_fmt_syscalls(m);
		seq_puts(m, ", REC->ret");
		return;
	}

	seq_puts(m, "\"%s() = %s\"");
	process_fmt_syscalls(m);
	seq_puts(m, ", __print_symbolic(REC->ret");
	/* Programs that parse this take no negative numbers here. */
	for (err = 1; err < MAX_ERRNO; err++) {
		name = errname(err);
		if (name)
			seq_printf(m, ", { %lu, \"-1 %s\" }",
				   -(unsigned long)err, name);
	}
	seq_putc(m, ')');
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

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TRACE_PROCESS_H
#define _TRACE_PROCESS_H

/* The tracer "process", see trace_process.c. */

#include "trace.h"

/* Version of the text that trace and trace_pipe print */
#define PROCESS_TRACE_VERSION	1

enum {
	PROCESS_OPT_LIFECYCLE	= BIT(0),
	PROCESS_OPT_SIGNALS	= BIT(1),
	PROCESS_OPT_SYSCALLS	= BIT(2),
};

struct process_record {
	struct trace_buffer	*buffer;
	void			*entry;
};

bool __process_trace_passes(struct trace_array *tr);

/**
 * process_trace_passes - does current pass the filters of an instance?
 * @tr: the instance
 *
 * Context: any in which RCU is watching.
 *
 * Return: true when it has the user and the name that are asked for.
 */
static inline bool process_trace_passes(struct trace_array *tr)
{
	return !rcu_access_pointer(tr->process_filter) ||
		__process_trace_passes(tr);
}

/* Does @tr record what followed tasks do of the kind @opt, and follow current? */
static inline bool process_trace_follows(struct trace_array *tr, u32 opt)
{
	if (!(READ_ONCE(tr->process_recorded) & opt))
		return false;

	return trace_follow_has(&tr->follow, current);
}

/* Are records of the kind @opt made of what current does? */
static inline bool process_trace_wants(struct trace_array *tr, u32 opt)
{
	return process_trace_follows(tr, opt) && process_trace_passes(tr);
}

extern struct tracer process_tracer;

/**
 * process_trace_reserve - begin a record
 * @tr: the instance
 * @record: gets the record, and is for process_trace_commit()
 * @type: of the record
 * @size: of the record in bytes
 *
 * Context: preemption is disabled from here to the commit. A snapshot may swap
 * the buffers in between. Its reader waits for the commit.
 *
 * Return: false when there is no room for the record.
 */
static __always_inline bool
process_trace_reserve(struct trace_array *tr, struct process_record *record,
		      int type, unsigned int size)
{
	struct trace_buffer *buffer = READ_ONCE(tr->array_buffer.buffer);
	unsigned int trace_ctx = tracing_gen_ctx_dec();
	struct ring_buffer_event *event;

	event = ring_buffer_lock_reserve(buffer, size);
	if (unlikely(!event))
		return false;

	record->buffer = buffer;
	record->entry = ring_buffer_reserved_data(event);
	tracing_generic_entry_update(record->entry, type, trace_ctx);

	return true;
}

/**
 * process_trace_commit - end of a record
 * @record: as process_trace_reserve() left it
 */
static __always_inline void
process_trace_commit(const struct process_record *record)
{
	__this_cpu_write(trace_taskinfo_save, true);
	ring_buffer_unlock_commit(record->buffer);
}

int process_trace_start_syscalls(struct trace_array *tr);
void process_trace_stop_syscalls(struct trace_array *tr);

void process_print_string(struct trace_seq *s, const char *str, size_t len);
size_t process_print_room(struct trace_iterator *iter, const void *from);

#endif /* _TRACE_PROCESS_H */

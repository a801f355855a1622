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

bool process_trace_passes(struct trace_array *tr);

/* Are records of the kind @opt made of what current does? */
static inline bool process_trace_wants(struct trace_array *tr, u32 opt)
{
	if (!(READ_ONCE(tr->process_recorded) & opt))
		return false;

	if (!trace_follow_has(&tr->follow, current))
		return false;

	return !rcu_access_pointer(tr->process_filter) ||
		process_trace_passes(tr);
}

/* In tr->process_gap: a record was left out since the last one was made. */
#define PROCESS_GAP_MISSED	1

/*
 * A record is not made, or not where those before it are. Tasks on all CPUs may
 * leave out many before the next one is made. Only the first of them writes.
 */
static inline void process_trace_missed(struct trace_array *tr)
{
	if (!(atomic_read(&tr->process_gap) & PROCESS_GAP_MISSED))
		atomic_or(PROCESS_GAP_MISSED, &tr->process_gap);
}

/*
 * In two records of a task this is the same only if none between them was left
 * out when it was to be written. Readers find out what was overwritten. It has
 * gone round after 65,536 times that records were left out and then one made.
 *
 * A record that finds the flag takes it away and takes the next number, both in
 * one step. So the value never goes back, and a task that has left out a record
 * finds a higher one than that of its last record.
 */
static inline u16 process_trace_gap(struct trace_array *tr)
{
	int gap = atomic_read(&tr->process_gap);

	while (unlikely(gap & PROCESS_GAP_MISSED)) {
		if (atomic_try_cmpxchg(&tr->process_gap, &gap,
				       gap + PROCESS_GAP_MISSED))
			gap += PROCESS_GAP_MISSED;
	}

	return (gap >> 1) + atomic_read(&tr->follow.choices);
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

	/* A reader of one buffer does not see what is in the other one. */
	if (unlikely(buffer != READ_ONCE(tr->process_buffer))) {
		process_trace_missed(tr);
		/* Whoever finds this one finds the mark. */
		smp_store_release(&tr->process_buffer, buffer);
	}

	event = ring_buffer_lock_reserve(buffer, size);
	if (unlikely(!event)) {
		process_trace_missed(tr);
		return false;
	}

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

void process_print_open(struct trace_iterator *iter);
void process_print_close(struct trace_iterator *iter);
enum print_line_t process_print_line(struct trace_iterator *iter);
void process_print_string(struct trace_seq *s, const char *str, size_t len);
size_t process_print_room(struct trace_iterator *iter, const void *from);

#endif /* _TRACE_PROCESS_H */

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TRACE_PROCESS_H
#define _TRACE_PROCESS_H

/* The tracer "process", see trace_process.c. */

#include "trace.h"

/* Version of the text that trace and trace_pipe print */
#define PROCESS_TRACE_VERSION	2

enum {
	PROCESS_OPT_LIFECYCLE	= BIT(0),
	PROCESS_OPT_SIGNALS	= BIT(1),
	PROCESS_OPT_SYSCALLS	= BIT(2),
};

struct process_record {
	struct trace_buffer		*buffer;
	struct ring_buffer_event	*event;
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

/* A record is not made, or not where those before it are. */
static inline void process_trace_missed(struct trace_array *tr)
{
	atomic_inc(&tr->process_gap);
}

/*
 * In two records of a task this is the same only if none between them was left
 * out when it was to be written. Readers find out what was overwritten.
 */
static inline u16 process_trace_gap(struct trace_array *tr)
{
	return atomic_read(&tr->process_gap) + READ_ONCE(tr->follow.choices);
}

extern struct tracer process_tracer;

void *process_trace_reserve(struct trace_array *tr,
			    struct process_record *record, int type,
			    unsigned int size);
void process_trace_commit(struct process_record *record);

int process_trace_start_syscalls(struct trace_array *tr);
void process_trace_stop_syscalls(struct trace_array *tr);

void process_print_open(struct trace_iterator *iter);
void process_print_close(struct trace_iterator *iter);
void process_print_string(struct trace_seq *s, const char *str, size_t len);
size_t process_print_room(struct trace_iterator *iter, const void *from);

#endif /* _TRACE_PROCESS_H */

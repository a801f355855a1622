/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TRACE_EXPORT_CORE_H
#define _TRACE_EXPORT_CORE_H

/* Where records leave for the exports, see trace_export_core.c. */

#include <linux/hardirq.h>
#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/trace.h>
#include "trace.h"

/* One key for each TRACE_EXPORT_* flag, in the order of the bits. */
#define TRACE_EXPORT_NR_TYPES	8

extern struct static_key_false trace_export_keys[TRACE_EXPORT_NR_TYPES];

/* @type is a constant, and so is the key: one NOP while nobody wants it. */
#define trace_export_wanted(type)					\
	static_branch_unlikely(&trace_export_keys[const_ilog2(type)])

void __trace_export(struct trace_buffer *buffer,
		    struct ring_buffer_event *event, int type);

/**
 * trace_export - give a record to the exports that want its type
 * @buffer: the buffer that it is reserved in
 * @event: the reserved event, with all of the record in it
 * @type: one TRACE_EXPORT_* flag, a constant
 *
 * These two are at hand for the commit anyhow: while nobody wants the record,
 * nothing else than the NOP is added.
 *
 * Context: between reserve and commit, which have preemption disabled.
 */
static __always_inline void
trace_export(struct trace_buffer *buffer, struct ring_buffer_event *event,
	     int type)
{
	if (trace_export_wanted(type))
		__trace_export(buffer, event, type);
}

struct trace_export_stats {
	unsigned long		records;
	unsigned long		bytes;
	unsigned long		missed;
};

struct trace_export_node {
	struct hlist_node	list;
	/* In the list of them all, for those who hold event_mutex. */
	struct list_head	node;
	struct trace_export	*export;
	void (*write)(struct trace_export *export, const void *buf,
		      unsigned int len);
	void (*write_record)(struct trace_export *export,
			     const struct trace_export_record *record);
	const char		*name;
	int			types;
	/* With a reference. NULL: all trace arrays. */
	struct trace_array	*tr;
	struct trace_export_stats __percpu *stats;
};

extern struct hlist_head trace_exports_all;

/* The innermost context of this CPU that is in a callback, if any. */
DECLARE_PER_CPU(unsigned int, trace_export_active);

void trace_export_with_context(struct trace_export_node *node,
			       struct trace_event_buffer *fbuffer, int type);
void trace_export_missed(struct trace_array *tr, int type);
bool trace_event_unbuffer(struct trace_event_buffer *fbuffer);

/* All but the longest records have their length in the header. */
static __always_inline unsigned int
trace_export_length(struct ring_buffer_event *event)
{
	unsigned int words = event->type_len;

	if (unlikely(!words || words > RINGBUF_TYPE_DATA_TYPE_LEN_MAX))
		return ring_buffer_event_length(event);

	return words * sizeof(event->array[0]);
}

/* What is needed of @fbuffer is loaded when it is: registers are scarce. */
static __always_inline void
trace_export_list(struct hlist_head *list, struct trace_event_buffer *fbuffer,
		  unsigned int len, int type)
{
	struct trace_export_node *node;

	hlist_for_each_entry_rcu_notrace(node, list, list) {
		struct trace_export_stats __percpu *stats = node->stats;

		if (!(node->types & type))
			continue;

		this_cpu_inc(stats->records);
		this_cpu_add(stats->bytes, len);

		if (node->write)
			node->write(node->export, fbuffer->entry, len);
		else
			trace_export_with_context(node, fbuffer, type);
	}
}

/*
 * A context is in preempt_count(), but for the first and the last records of
 * an interrupt, which come while it does not tell; that interrupts are off
 * does. So within one context there are two, of which the one with interrupts
 * off is the inner one.
 */
static __always_inline unsigned int trace_export_context(void)
{
	return (preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET)) |
		(irqs_disabled() ? 0 : 1);
}

static __always_inline void
trace_export_record(struct trace_array *tr, struct trace_event_buffer *fbuffer,
		    int type)
{
	unsigned int outer = __this_cpu_read(trace_export_active);
	unsigned int context = trace_export_context();
	unsigned int len;

	/*
	 * A callback that makes records would get these too, and so on. They
	 * are in the ring buffer, but those who should have got them did not.
	 */
	if (unlikely(outer == context)) {
		trace_export_missed(tr, type);
		return;
	}

	__this_cpu_write(trace_export_active, context);
	len = trace_export_length(fbuffer->event);
	trace_export_list(&tr->exports, fbuffer, len, type);
	trace_export_list(&trace_exports_all, fbuffer, len, type);
	__this_cpu_write(trace_export_active, outer);
}

/**
 * trace_export_event - give an event to the exports that want events
 * @fbuffer: the event, which has passed its filters
 *
 * Context: any, before the commit.
 *
 * Return: false when the ring buffer did not take the event; then there is
 * nothing left to commit.
 */
static __always_inline bool
trace_export_event(struct trace_event_buffer *fbuffer)
{
	struct trace_array *tr = fbuffer->trace_file->tr;

	/* What goes to nobody's buffer is for the triggers only. */
	if (unlikely(fbuffer->buffer != tr->array_buffer.buffer) &&
	    !ring_buffer_private(fbuffer->buffer))
		return true;

	if (unlikely(this_cpu_read(trace_buffered_event) == fbuffer->event) &&
	    !trace_event_unbuffer(fbuffer))
		return false;

	trace_export_record(tr, fbuffer, TRACE_EXPORT_EVENT);

	return true;
}

bool trace_export_wants_events(struct trace_array *tr);

extern const struct file_operations trace_exports_fops;

#endif /* _TRACE_EXPORT_CORE_H */

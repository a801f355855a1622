/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TRACE_EXPORT_CORE_H
#define _TRACE_EXPORT_CORE_H

/* The call of trace exports for each record, see trace_export_core.c. */

#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/trace.h>
#include <asm/local64.h>
#include "trace.h"

/*
 * One key for each TRACE_EXPORT_* flag, in the order of the bits. The key of
 * TRACE_EXPORT_EVENT is not used, see EVENT_FILE_FL_EXPORTED.
 */
#define TRACE_EXPORT_NR_TYPES	8

extern struct static_key_false trace_export_keys[TRACE_EXPORT_NR_TYPES];

/* @type is a constant, so this is a NOP as long as no export wants the type. */
#define trace_export_wanted(type)					\
	static_branch_unlikely(&trace_export_keys[const_ilog2(type)])

void __trace_export(struct trace_buffer *buffer,
		    struct ring_buffer_event *event, int type);

/**
 * trace_export - give a record to the exports that want its type
 * @buffer: the ring buffer in which it is reserved
 * @event: the reserved event with the complete record
 * @type: one TRACE_EXPORT_* flag, a constant
 *
 * The caller has the buffer and the event at hand for the commit. So this adds
 * nothing but the NOP as long as no export wants the record.
 *
 * Context: Any, between reserve and commit, which disable preemption.
 */
static __always_inline void
trace_export(struct trace_buffer *buffer, struct ring_buffer_event *event,
	     int type)
{
	if (trace_export_wanted(type))
		__trace_export(buffer, event, type);
}

/*
 * Of one CPU. The counters are local64_t, so that they are as safe from NMIs as
 * the ring buffer, which has the same counters, is itself.
 */
struct trace_export_stats {
	local64_t		records;
	local64_t		bytes;
	local64_t		missed;
};

struct trace_export_node {
	/* In the list of @tr, or in trace_exports_all */
	struct hlist_node	list;
	/* In the list of all nodes, under trace_export_mutex */
	struct list_head	node;
	struct trace_export	*export;
	void (*write)(struct trace_export *export, const void *buf,
		      unsigned int len);
	void (*write_record)(struct trace_export *export,
			     const struct trace_export_record *record);
	const char		*name;
	int			types;
	/* With a reference; NULL for all trace arrays */
	struct trace_array	*tr;
	struct trace_export_stats __percpu *stats;
};

bool trace_export_event(struct trace_event_buffer *fbuffer);
bool trace_export_wants_events(struct trace_array *tr);

extern const struct file_operations trace_exports_fops;

#endif /* _TRACE_EXPORT_CORE_H */

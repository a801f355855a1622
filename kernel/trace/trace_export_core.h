/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TRACE_EXPORT_CORE_H
#define _TRACE_EXPORT_CORE_H

/* Where records leave for the exports, see trace_export_core.c. */

#include <linux/jump_label.h>
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

bool trace_export_event(struct trace_event_buffer *fbuffer);
bool trace_export_wants_events(struct trace_array *tr);

extern const struct file_operations trace_exports_fops;

#endif /* _TRACE_EXPORT_CORE_H */

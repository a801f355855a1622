/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_TRACE_INSTANCE_H
#define _LINUX_TRACE_INSTANCE_H

#include <linux/bits.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/trace.h>
#include <linux/types.h>

struct trace_array;
struct trace_array_reader;

/* trace_array_reader_open(): read the snapshot, not the ring buffer */
#define TRACE_ARRAY_READ_SNAPSHOT	BIT(0)

#ifdef CONFIG_TRACING

struct trace_array *trace_array_create(const char *name);
struct trace_array *trace_array_get_or_create(const char *name, bool *created);
int trace_array_set_tracing(struct trace_array *tr, bool on);
int trace_array_clear(struct trace_array *tr);
int trace_array_set_buffer_size(struct trace_array *tr, unsigned long bytes);
int trace_array_set_event_filter(struct trace_array *tr, const char *system,
				 const char *event, const char *filter);
struct trace_array_reader *
trace_array_reader_open(struct trace_array *tr, unsigned int flags);
ssize_t trace_array_reader_read(struct trace_array_reader *reader, char *buf,
				size_t size);
void trace_array_reader_close(struct trace_array_reader *reader);

#else /* CONFIG_TRACING */

static inline struct trace_array *trace_array_create(const char *name)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline struct trace_array *
trace_array_get_or_create(const char *name, bool *created)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline int trace_array_set_tracing(struct trace_array *tr, bool on)
{
	return -EOPNOTSUPP;
}

static inline int trace_array_clear(struct trace_array *tr)
{
	return -EOPNOTSUPP;
}

static inline int
trace_array_set_buffer_size(struct trace_array *tr, unsigned long bytes)
{
	return -EOPNOTSUPP;
}

static inline int
trace_array_set_event_filter(struct trace_array *tr, const char *system,
			     const char *event, const char *filter)
{
	return -EOPNOTSUPP;
}

static inline struct trace_array_reader *
trace_array_reader_open(struct trace_array *tr, unsigned int flags)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline ssize_t
trace_array_reader_read(struct trace_array_reader *reader, char *buf,
			size_t size)
{
	return -EOPNOTSUPP;
}

static inline void trace_array_reader_close(struct trace_array_reader *reader)
{
}

#endif /* CONFIG_TRACING */

#ifdef CONFIG_TRACER_SNAPSHOT

int trace_array_snapshot_alloc(struct trace_array *tr);
int trace_array_snapshot(struct trace_array *tr);
void trace_array_snapshot_free(struct trace_array *tr);

#else /* CONFIG_TRACER_SNAPSHOT */

static inline int trace_array_snapshot_alloc(struct trace_array *tr)
{
	return -EOPNOTSUPP;
}

static inline int trace_array_snapshot(struct trace_array *tr)
{
	return -EOPNOTSUPP;
}

static inline void trace_array_snapshot_free(struct trace_array *tr)
{
}

#endif /* CONFIG_TRACER_SNAPSHOT */

#endif /* _LINUX_TRACE_INSTANCE_H */

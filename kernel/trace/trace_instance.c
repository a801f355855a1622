// SPDX-License-Identifier: GPL-2.0
/*
 * Trace instances for kernel code, see Documentation/trace/instances.rst.
 *
 * The functions do what user space does with the files of an instance, and
 * refuse what the files refuse. The caller holds a reference on the instance.
 * It gives it back with trace_array_put(), which leaves the instance to user
 * space, or with trace_array_put_and_destroy(), which removes the instance.
 */

#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/trace_instance.h>

#include "trace.h"

/* A directory of tracefs gets this name. */
static bool trace_array_name_is_good(const char *name)
{
	return name && *name && !strchr(name, '/') && strcmp(name, ".") &&
	       strcmp(name, "..") && strlen(name) <= NAME_MAX;
}

static int trace_array_check_create(const char *name)
{
	if (!trace_array_name_is_good(name))
		return -EINVAL;

	if (tracing_disabled)
		return -ENODEV;

	return security_locked_down(LOCKDOWN_TRACEFS);
}

static struct trace_array *trace_array_create_locked(const char *name)
{
	struct trace_array *tr;

	tr = trace_array_create_systems(name, NULL, 0, 0, true);
	/*
	 * This is tracefs_create_dir() without a directory. It does not say
	 * why, and for mkdir it has always been -EINVAL. The name is good and
	 * not in use, so there is no memory, or the kernel was locked down
	 * since the caller looked.
	 */
	if (PTR_ERR(tr) == -EINVAL)
		return ERR_PTR(security_locked_down(LOCKDOWN_TRACEFS) ?:
			       -ENOMEM);

	if (!IS_ERR(tr))
		tr->ref++;

	return tr;
}

/**
 * trace_array_create - create an instance
 * @name: the name of the instance, and of its directory in tracefs
 *
 * Does what mkdir does in the directory "instances" of tracefs, which need not
 * be mounted. The new instance records, has the default size, and has no events
 * enabled. Its options are the defaults, but for record-cmd, record-tgid and
 * those of tracers, which are those of the top level. mkdir takes most options
 * from there. See trace_array_get_or_create() for an instance that may exist.
 *
 * The caller gets a reference, and gives it back with trace_array_put() or
 * trace_array_put_and_destroy(). Until then, nobody can remove the instance.
 *
 * Context: May sleep, takes event_mutex and trace_types_lock.
 *
 * Return: the instance, or
 * * %ERR_PTR(-EINVAL)		- @name is NULL, empty, too long, or otherwise not
 *   good for a directory
 * * %ERR_PTR(-EEXIST)		- an instance of that name exists
 * * %ERR_PTR(-EPERM)		- the kernel is locked down
 * * %ERR_PTR(-ENODEV)		- tracing is disabled for good
 * * %ERR_PTR(-ENOMEM)		- no memory
 * * %ERR_PTR(-EOPNOTSUPP)	- no CONFIG_TRACING
 */
struct trace_array *trace_array_create(const char *name)
{
	int ret = trace_array_check_create(name);

	if (ret)
		return ERR_PTR(ret);

	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);

	if (trace_array_find(name))
		return ERR_PTR(-EEXIST);

	return trace_array_create_locked(name);
}
EXPORT_SYMBOL_GPL(trace_array_create);

/**
 * trace_array_get_or_create - get an instance, which may exist
 * @name: the name of the instance, and of its directory in tracefs
 * @created: tells whether the instance is a new one
 *
 * Unlike trace_array_get_by_name(), this says why it fails, and whether the
 * caller should remove the instance when its own setup fails later. A new
 * instance is as one of trace_array_create(). One that exists has the settings
 * of its other users.
 *
 * The caller gets a reference, as from trace_array_create(). This is not for
 * modules, as none needs it so far.
 *
 * Context: May sleep, takes event_mutex and trace_types_lock.
 *
 * Return: the instance, or
 * * %ERR_PTR(-EINVAL)		- @name is NULL, empty, too long, or otherwise not
 *   good for a directory
 * * %ERR_PTR(-EPERM)		- the kernel is locked down
 * * %ERR_PTR(-ENODEV)		- tracing is disabled for good, or the instance is
 *   going away
 * * %ERR_PTR(-ENOMEM)		- no memory
 * * %ERR_PTR(-EOPNOTSUPP)	- no CONFIG_TRACING
 */
struct trace_array *trace_array_get_or_create(const char *name, bool *created)
{
	int ret = trace_array_check_create(name);
	struct trace_array *tr;

	*created = false;
	if (ret)
		return ERR_PTR(ret);

	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);

	tr = trace_array_find(name);
	if (tr) {
		ret = __trace_array_get(tr);
		return ret ? ERR_PTR(ret) : tr;
	}

	tr = trace_array_create_locked(name);
	*created = !IS_ERR(tr);

	return tr;
}

/* The checks of the files that are possible in any context */
static int trace_array_check_writable(struct trace_array *tr)
{
	if (!tr)
		return -EINVAL;

	if (tracing_disabled)
		return -ENODEV;

	if (trace_array_is_readonly(tr))
		return -EACCES;

	return 0;
}

/* All checks of the files. Security modules may have a say. */
static int trace_array_check_setup(struct trace_array *tr)
{
	int ret = trace_array_check_writable(tr);

	return ret ?: security_locked_down(LOCKDOWN_TRACEFS);
}

/**
 * trace_array_set_tracing - start or stop recording
 * @tr: the instance
 * @on: true to start, false to stop
 *
 * Does for @tr what tracing_on() and tracing_off() do for the top level, and
 * costs the same. Another CPU completes the record that it is writing. Readers
 * of trace_pipe that wait for records are woken.
 *
 * The file "tracing_on" shows the result. Unlike a write to that file, this
 * does not call the start and stop functions of the tracer, which may sleep.
 * It does not ask whether the kernel is locked down, as it reveals nothing.
 *
 * Context: Any, NMI included.
 *
 * Return:
 * * %0			- done
 * * %-EINVAL		- @tr is NULL
 * * %-EACCES		- @tr is read only
 * * %-ENODEV		- tracing is disabled for good
 * * %-EOPNOTSUPP	- no CONFIG_TRACING
 */
int trace_array_set_tracing(struct trace_array *tr, bool on)
{
	int ret = trace_array_check_writable(tr);

	if (ret)
		return ret;

	if (on)
		tracer_tracing_on(tr);
	else
		tracer_tracing_off(tr);

	return 0;
}
EXPORT_SYMBOL_GPL(trace_array_set_tracing);

/**
 * trace_array_clear - drop all records of an instance
 * @tr: the instance
 *
 * Does what opening the file "trace" with O_TRUNC does. The snapshot stays.
 * While a latency tracer is active, "trace" shows the trace with the maximum
 * latency, and this trace is dropped instead.
 *
 * If @tr is a read-only backup of the records of the last boot, it is removed
 * when its last reference is put. Until then nobody gets a new reference or a
 * new reader (-ENODEV).
 *
 * Context: May sleep, for an RCU grace period. Takes trace_types_lock if the
 * instance has the records of the last boot.
 *
 * Return:
 * * %0			- done
 * * %-EINVAL		- @tr is NULL
 * * %-EPERM		- the kernel is locked down
 * * %-ENODEV		- tracing is disabled for good
 * * %-EOPNOTSUPP	- no CONFIG_TRACING
 */
int trace_array_clear(struct trace_array *tr)
{
	int ret;

	if (!tr)
		return -EINVAL;

	if (tracing_disabled)
		return -ENODEV;

	ret = security_locked_down(LOCKDOWN_TRACEFS);
	if (ret)
		return ret;

	tracing_clear_trace(tr, RING_BUFFER_ALL_CPUS);

	return 0;
}
EXPORT_SYMBOL_GPL(trace_array_clear);

/**
 * trace_array_set_buffer_size - set the size of the ring buffer
 * @tr: the instance
 * @bytes: bytes for each CPU, rounded up to whole sub-buffers
 *
 * Does what a write to the file "buffer_size_kb" does. Records may be lost. The
 * snapshot buffer, if there is one, gets the same size.
 *
 * Context: May sleep, takes trace_types_lock.
 *
 * Return:
 * * %0			- done
 * * %-EINVAL		- @tr is NULL, or @bytes is 0
 * * %-EACCES		- @tr is read only
 * * %-EPERM		- the kernel is locked down
 * * %-ENODEV		- tracing is disabled for good
 * * %-ENOMEM		- no memory; the size is what it was
 * * %-EBUSY		- somebody reads the ring buffer or the snapshot, or
 *			  maps the buffer, or its size is fixed: it is memory
 *			  that survives a reboot
 * * %-EOPNOTSUPP	- no CONFIG_TRACING
 */
int trace_array_set_buffer_size(struct trace_array *tr, unsigned long bytes)
{
	ssize_t ret;

	ret = trace_array_check_setup(tr);
	if (ret)
		return ret;

	if (!bytes)
		return -EINVAL;

	/* Rounded up, it must not overflow. */
	if (bytes > LONG_MAX)
		return -ENOMEM;

	ret = tracing_resize_ring_buffer(tr, bytes, RING_BUFFER_ALL_CPUS);

	return min(ret, 0);
}
EXPORT_SYMBOL_GPL(trace_array_set_buffer_size);

/**
 * trace_array_set_event_filter - set the filter of an event
 * @tr: the instance
 * @system: the system of the event
 * @event: the name of the event
 * @filter: the filter, less than a page long; "0" removes the filter
 *
 * Does what a write to the file "filter" of the event does. If the filter is
 * wrong, the file "error_log" of @tr tells why, and the previous filter is
 * removed: the event is then recorded unfiltered. The same happens in most
 * cases if there is no memory. The other errors leave the previous filter.
 *
 * Context: May sleep, takes event_mutex.
 *
 * Return:
 * * %0			- done
 * * %-EINVAL		- an argument is NULL, or @filter is too long or wrong
 * * %-ENOENT		- @tr has no such event, or the event has no filter
 * * %-EACCES		- @tr is read only
 * * %-EPERM		- the kernel is locked down
 * * %-ENODEV		- tracing is disabled for good
 * * %-ENOMEM		- no memory
 * * %-EOPNOTSUPP	- no CONFIG_TRACING
 */
int trace_array_set_event_filter(struct trace_array *tr, const char *system,
				 const char *event, const char *filter)
{
	char *copy __free(kfree) = NULL;
	struct trace_event_file *file;
	int ret;

	ret = trace_array_check_setup(tr);
	if (ret)
		return ret;

	if (!system || !event || !filter || strlen(filter) >= PAGE_SIZE)
		return -EINVAL;

	copy = kstrdup(filter, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;

	guard(mutex)(&event_mutex);

	file = __find_event_file(tr, system, event);
	/* The directory of such an event has no file "filter". */
	if (!file || file->event_call->flags & TRACE_EVENT_FL_IGNORE_ENABLE)
		return -ENOENT;

	ret = apply_event_filter(file, copy);

	return min(ret, 0);
}
EXPORT_SYMBOL_GPL(trace_array_set_event_filter);

#ifdef CONFIG_TRACER_SNAPSHOT
/**
 * trace_array_snapshot_alloc - allocate the snapshot buffer
 * @tr: the instance
 *
 * The snapshot buffer has the size of the ring buffer. If there is one, this
 * only keeps it from being freed by other kernel code. Each call that succeeds
 * needs a call of trace_array_snapshot_free(). In between, user space can't map
 * the ring buffer.
 *
 * Context: May sleep, takes trace_types_lock.
 *
 * Return:
 * * %0			- done
 * * %-EINVAL		- @tr is NULL
 * * %-EACCES		- @tr is read only
 * * %-EPERM		- the kernel is locked down
 * * %-ENODEV		- tracing is disabled for good
 * * %-ENOMEM		- no memory
 * * %-EBUSY		- a latency tracer or a conditional snapshot uses the
 *   snapshot buffer, or there is none and its file is being read, or the ring
 *   buffer is mapped
 * * %-EOPNOTSUPP	- the ring buffer is memory that survives a reboot, or no
 *   CONFIG_TRACER_SNAPSHOT
 */
int trace_array_snapshot_alloc(struct trace_array *tr)
{
	bool allocated;
	int ret;

	ret = trace_array_check_setup(tr);
	if (ret)
		return ret;

	if (tr->range_addr_start)
		return -EOPNOTSUPP;

	ret = tracing_update_buffers(tr);
	if (ret < 0)
		return ret;

	guard(mutex)(&trace_types_lock);

	/* We hold trace_types_lock, so no condition can be set meanwhile. */
	if (tracer_uses_snapshot(tr->current_trace) ||
	    READ_ONCE(tr->cond_snapshot))
		return -EBUSY;

	allocated = tr->allocated_snapshot;
	ret = tracing_arm_snapshot_locked(tr);
	if (ret)
		return ret;

	if (!allocated)
		tr->snapshot_of_kernel = true;
	tr->snapshot_users++;

	return 0;
}
EXPORT_SYMBOL_GPL(trace_array_snapshot_alloc);

/**
 * trace_array_snapshot - take a snapshot
 * @tr: the instance, for which trace_array_snapshot_alloc() was called
 *
 * Swaps the ring buffer and the snapshot buffer. Nothing is copied, and nothing
 * is cleared: recording goes on behind the records of the previous snapshot.
 * trace_array_clear() drops these.
 *
 * Context: Any but NMI. Takes a raw spinlock for the swap.
 *
 * Return:
 * * %0			- done
 * * %-EINVAL		- @tr is NULL
 * * %-EACCES		- @tr is read only
 * * %-ENODEV		- there is no snapshot buffer, or tracing is disabled for
 *   good
 * * %-EAGAIN		- try again later: this is an NMI, or a buffer is being
 *   resized or cleared or gets another clock, or the option pause-on-trace is
 *   set and a reader has stopped the instance
 * * %-EBUSY		- somebody keeps the snapshot buffer, maybe for long, such
 *   as a latency tracer or a conditional snapshot; or the ring buffer is
 *   mapped, or a probe calls this while its CPU takes a snapshot
 * * %-EOPNOTSUPP	- no CONFIG_TRACER_SNAPSHOT
 */
int trace_array_snapshot(struct trace_array *tr)
{
	return trace_array_check_writable(tr) ?:
	       tracing_snapshot_instance_quiet(tr);
}
EXPORT_SYMBOL_GPL(trace_array_snapshot);

/**
 * trace_array_snapshot_free - undo trace_array_snapshot_alloc()
 * @tr: the instance, or NULL
 *
 * The last call frees the snapshot buffer and what is in it, unless user space
 * has allocated the buffer, or somebody else needs it, such as a trigger. A call
 * without trace_array_snapshot_alloc() warns. If the file "snapshot" is being
 * read, the buffer becomes empty, but its memory stays until the buffer is freed
 * again or the instance is removed.
 *
 * Context: May sleep, takes trace_types_lock.
 */
void trace_array_snapshot_free(struct trace_array *tr)
{
	if (!tr || tr->range_addr_start)
		return;

	guard(mutex)(&trace_types_lock);

	if (WARN_ON(!tr->snapshot_users))
		return;

	tr->snapshot_users--;
	if (tr->snapshot == 1 && tr->snapshot_of_kernel)
		tracing_release_snapshot(tr);
	else
		tracing_disarm_snapshot(tr);

	/* Now the buffer is theirs. */
	if (!tr->snapshot_users && tracing_snapshot_is_needed(tr))
		tr->snapshot_of_kernel = false;
}
EXPORT_SYMBOL_GPL(trace_array_snapshot_free);
#endif

/* At least one line fits, as a line comes from a trace_seq. */
#define READER_SIZE	(2 * TRACE_SEQ_SIZE)

/*
 * Reads as the files "trace" and "snapshot" do, with their seq_operations. The
 * seq_file has a buffer, but no file.
 */
struct trace_array_reader {
	struct trace_iterator	iter;
	struct seq_file		m;
};

static int trace_array_reader_fill(struct trace_array_reader *reader)
{
	const struct seq_operations *op = &tracer_seq_ops;
	struct seq_file *m = &reader->m;
	size_t whole = 0;
	void *line;
	int ret = 0;

	m->count = 0;
	m->from = 0;
	line = op->start(m, &m->index);
	while (!IS_ERR_OR_NULL(line)) {
		ret = op->show(m, line);
		if (ret < 0 || seq_has_overflowed(m))
			break;
		whole = m->count;
		line = op->next(m, line, &m->index);
	}
	if (IS_ERR(line))
		ret = PTR_ERR(line);
	op->stop(m, line);

	/* The next call prints a line again that did not fit. */
	m->count = whole;

	return min(ret, 0);
}

/**
 * trace_array_reader_open - begin to read an instance as text
 * @tr: the instance
 * @flags: %TRACE_ARRAY_READ_SNAPSHOT to read the snapshot, or 0
 *
 * Nothing is consumed. The instance goes on recording, unless its option
 * pause-on-trace is set. Records that are overwritten before they are read are
 * left out. The reader holds a reference on @tr. If there is no snapshot, the
 * text is the help that the file "snapshot" shows then.
 *
 * Context: May sleep, takes trace_types_lock.
 *
 * Return: the reader, or
 * * %ERR_PTR(-EINVAL)		- @tr is NULL, or unknown @flags
 * * %ERR_PTR(-EPERM)		- the kernel is locked down
 * * %ERR_PTR(-ENODEV)		- tracing is disabled for good
 * * %ERR_PTR(-ENOMEM)		- no memory
 * * %ERR_PTR(-EOPNOTSUPP)	- no CONFIG_TRACING; or there are no snapshots,
 *   as the ring buffer is memory that survives a reboot, or no
 *   CONFIG_TRACER_SNAPSHOT
 */
struct trace_array_reader *
trace_array_reader_open(struct trace_array *tr, unsigned int flags)
{
	struct trace_array_reader *reader;
	int ret;

	if (!tr || flags & ~TRACE_ARRAY_READ_SNAPSHOT)
		return ERR_PTR(-EINVAL);

	if (flags && (tr->range_addr_start ||
		      !IS_ENABLED(CONFIG_TRACER_SNAPSHOT)))
		return ERR_PTR(-EOPNOTSUPP);

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ERR_PTR(ret);

	ret = -ENOMEM;
	reader = kzalloc_obj(*reader);
	if (!reader)
		goto put;

	reader->m.private = &reader->iter;
	reader->m.size = READER_SIZE;
	reader->m.buf = kvmalloc(READER_SIZE, GFP_KERNEL);
	if (!reader->m.buf)
		goto free;

	ret = trace_iter_start(&reader->iter, tr, RING_BUFFER_ALL_CPUS, flags);
	if (ret)
		goto free;

	if (!flags && tr->trace_flags & TRACE_ITER(LATENCY_FMT))
		reader->iter.iter_flags |= TRACE_FILE_LAT_FMT;

	return reader;
free:
	kvfree(reader->m.buf);
	kfree(reader);
put:
	trace_array_put(tr);

	return ERR_PTR(ret);
}
EXPORT_SYMBOL_GPL(trace_array_reader_open);

/**
 * trace_array_reader_read - read the next part of the text
 * @reader: the reader, which one caller at a time uses
 * @buf: where the text goes, without a NUL at the end
 * @size: bytes that fit in @buf
 *
 * The text is what the file "trace" or "snapshot" shows, with the header.
 *
 * Context: May sleep, takes trace_types_lock, trace_event_sem and
 * trace_access_lock().
 *
 * Return: the number of bytes; 0 if there is nothing more now; or
 * * %-EBUSY		- a latency tracer uses the snapshot buffer by now
 * * %-EOPNOTSUPP	- no CONFIG_TRACING
 *
 * Less than @size bytes mean that there was nothing more, or an error, which the
 * next call returns. An instance that records may have more for that call.
 */
ssize_t trace_array_reader_read(struct trace_array_reader *reader, char *buf,
				size_t size)
{
	struct seq_file *m = &reader->m;
	size_t done = 0;
	size_t n;
	int ret;

	while (done < size) {
		if (m->from == m->count) {
			ret = trace_array_reader_fill(reader);
			if (ret)
				return done ?: ret;
			if (!m->count)
				break;
		}
		n = min(size - done, m->count - m->from);
		memcpy(buf + done, m->buf + m->from, n);
		m->from += n;
		done += n;
	}

	return done;
}
EXPORT_SYMBOL_GPL(trace_array_reader_read);

/**
 * trace_array_reader_close - undo trace_array_reader_open()
 * @reader: the reader, NULL, or an ERR_PTR()
 *
 * Context: May sleep, takes trace_types_lock.
 */
void trace_array_reader_close(struct trace_array_reader *reader)
{
	if (IS_ERR_OR_NULL(reader))
		return;

	trace_iter_stop(&reader->iter);
	kvfree(reader->m.buf);
	kfree(reader);
}
EXPORT_SYMBOL_GPL(trace_array_reader_close);

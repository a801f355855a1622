// SPDX-License-Identifier: GPL-2.0
/*
 * Trace exports: records given to registered destinations besides the ring
 * buffer.
 *
 * A registration is a struct trace_export_node. It hangs in the list of one
 * trace array, or in trace_exports_all when it listens to all of them. Both
 * lists are RCU lists: event_mutex is for those who change them, records walk
 * them with preemption disabled, in any context, NMI included. What a record
 * needs of struct trace_export is copied to the node, so the caller may do
 * with its own structure what it likes.
 *
 * While nobody wants a type of record, its static key makes the call a NOP.
 * Events do not even have that: EVENT_FILE_FL_EXPORTED is one more bit in the
 * test that each event makes anyhow, set for the events of a trace array that
 * has such an export. An export of one instance so leaves the events of the
 * others alone.
 *
 * Lifetime: a node for one trace array holds a reference on it, which makes
 * the removal of the instance fail with -EBUSY. Nodes are freed a grace period
 * after they left the list, see trace_exports_synchronize().
 */

#include <linux/hardirq.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/seq_buf.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string_helpers.h>
#include <linux/trace.h>

#include "trace_export_core.h"
#include "trace_output.h"

struct static_key_false trace_export_keys[TRACE_EXPORT_NR_TYPES] = {
	[0 ... TRACE_EXPORT_NR_TYPES - 1] = STATIC_KEY_FALSE_INIT,
};

HLIST_HEAD(trace_exports_all);

/* All nodes, oldest first. */
static LIST_HEAD(trace_export_nodes);

/* No context is like this one. */
DEFINE_PER_CPU(unsigned int, trace_export_active) = ~0U;

static const char * const trace_export_type_names[TRACE_EXPORT_NR_TYPES] = {
	"function", "event", "marker", "printk", "raw_marker", "graph",
	"stack", "tracer",
};

/* For an export that wants more than the bytes. */
void trace_export_with_context(struct trace_export_node *node,
			       struct trace_event_buffer *fbuffer, int type)
{
	struct trace_export_record record = {
		.tr	= ring_buffer_private(fbuffer->buffer),
		.data	= fbuffer->entry,
		.ts	= ring_buffer_event_time_stamp(fbuffer->buffer,
						       fbuffer->event),
		.len	= trace_export_length(fbuffer->event),
		.type	= type,
		.cpu	= smp_processor_id(),
	};

	node->write_record(node->export, &record);
}

static void trace_export_miss(struct hlist_head *list, int type)
{
	struct trace_export_node *node;

	hlist_for_each_entry_rcu_notrace(node, list, list) {
		if (node->types & type)
			this_cpu_inc(node->stats->missed);
	}
}

void trace_export_missed(struct trace_array *tr, int type)
{
	trace_export_miss(&tr->exports, type);
	trace_export_miss(&trace_exports_all, type);
}

/* The slow path of trace_export(): somebody, somewhere, wants this type. */
void __trace_export(struct trace_buffer *buffer,
		    struct ring_buffer_event *event, int type)
{
	struct trace_array *tr = ring_buffer_private(buffer);
	struct trace_event_buffer fbuffer;

	/* A buffer that belongs to no trace array is read by nobody. */
	if (!tr || (hlist_empty(&tr->exports) && hlist_empty(&trace_exports_all)))
		return;

	fbuffer.buffer = buffer;
	fbuffer.event = event;
	fbuffer.entry = ring_buffer_event_data(event);
	trace_export_record(tr, &fbuffer, type);
}

/*
 * A record that waits for the verdict of a filter is not in the ring buffer
 * yet. Move it there, so that what is exported is what is committed. Returns
 * false when the ring buffer does not take it; then it is released.
 */
bool trace_event_unbuffer(struct trace_event_buffer *fbuffer)
{
	struct ring_buffer_event *buffered = fbuffer->event;
	struct ring_buffer_event *event;

	/* The length of the record is in array[0], see the reserve function */
	event = ring_buffer_lock_reserve(fbuffer->buffer, buffered->array[0]);
	if (event) {
		fbuffer->event = event;
		fbuffer->entry = ring_buffer_event_data(event);
		memcpy(fbuffer->entry, &buffered->array[1], buffered->array[0]);
	}

	this_cpu_dec(trace_buffered_event_cnt);
	preempt_enable_notrace();

	return event;
}

/* Registration */

/**
 * trace_export_wants_events - does an export want the events of a trace array
 * @tr: the trace array
 *
 * Context: event_mutex is held; or early boot, when there is one CPU only.
 *
 * Return: true when one does.
 */
bool trace_export_wants_events(struct trace_array *tr)
{
	struct trace_export_node *node;

	list_for_each_entry(node, &trace_export_nodes, node) {
		if ((!node->tr || node->tr == tr) &&
		    node->types & TRACE_EXPORT_EVENT)
			return true;
	}

	return false;
}

static void trace_export_mark_events(struct trace_array *tr)
{
	bool wanted = trace_export_wants_events(tr);
	struct trace_event_file *file;

	list_for_each_entry(file, &tr->events, list) {
		if (wanted)
			set_bit(EVENT_FILE_FL_EXPORTED_BIT, &file->flags);
		else
			clear_bit(EVENT_FILE_FL_EXPORTED_BIT, &file->flags);
	}
}

/* What changes for the records when @node comes or goes. */
static void trace_export_switch(struct trace_export_node *node, bool on)
{
	struct trace_array *tr;

	lockdep_assert_held(&event_mutex);

	if (node->types & TRACE_EXPORT_EVENT) {
		guard(mutex)(&trace_types_lock);
		list_for_each_entry(tr, &ftrace_trace_arrays, list) {
			if (!node->tr || node->tr == tr)
				trace_export_mark_events(tr);
		}
	}

	for (int i = 0; i < TRACE_EXPORT_NR_TYPES; i++) {
		/* Events have their flag. */
		if (!(node->types & BIT(i) & ~TRACE_EXPORT_EVENT))
			continue;
		if (on)
			static_branch_inc(&trace_export_keys[i]);
		else
			static_branch_dec(&trace_export_keys[i]);
	}
}

/* The node of @export that listens to @tr (or to all, for NULL) */
static struct trace_export_node *
trace_export_find(struct trace_array *tr, struct trace_export *export)
{
	struct trace_export_node *node;

	lockdep_assert_held(&event_mutex);

	list_for_each_entry(node, &trace_export_nodes, node) {
		if (node->export == export && node->tr == tr)
			return node;
	}

	return NULL;
}

/* Would @export get the same record twice? */
static bool trace_export_overlaps(struct trace_array *tr,
				  struct trace_export *export)
{
	struct trace_export_node *node;

	list_for_each_entry(node, &trace_export_nodes, node) {
		if (node->export == export &&
		    (!tr || !node->tr || node->tr == tr))
			return true;
	}

	return false;
}

static void trace_export_free(struct trace_export_node *node)
{
	if (!node)
		return;

	free_percpu(node->stats);
	kfree(node);
}

DEFINE_FREE(trace_export_free, struct trace_export_node *, trace_export_free(_T))

static int trace_export_add(struct trace_array *tr, struct trace_export *export)
{
	struct trace_export_node *node __free(trace_export_free) = NULL;
	int ret;

	if (WARN_ON_ONCE(!export->write && !export->write_record))
		return -EINVAL;

	if (!export->flags || export->flags & ~GENMASK(TRACE_EXPORT_NR_TYPES - 1, 0))
		return -EINVAL;

	node = kzalloc_obj(*node);
	if (!node)
		return -ENOMEM;

	node->stats = alloc_percpu(struct trace_export_stats);
	if (!node->stats)
		return -ENOMEM;

	node->export = export;
	node->write = export->write_record ? NULL : export->write;
	node->write_record = export->write_record;
	node->name = export->name;
	node->types = export->flags;
	node->tr = tr;

	guard(mutex)(&event_mutex);

	if (trace_export_overlaps(tr, export))
		return -EEXIST;

	if (tr) {
		ret = trace_array_get(tr);
		if (ret)
			return ret;
	}

	hlist_add_head_rcu(&node->list, tr ? &tr->exports : &trace_exports_all);
	list_add_tail(&node->node, &trace_export_nodes);
	trace_export_switch(no_free_ptr(node), true);

	return 0;
}

/*
 * Wait until no CPU is inside the callback of an export that left the list.
 * Callbacks run with preemption disabled and synchronize_rcu() waits for that
 * wherever RCU watches. Functions can also be traced where it does not (idle
 * and entry code, on architectures without ARCH_WANTS_NO_INSTR). There only a
 * context switch on each CPU tells that the callback is over; ftrace itself
 * waits for its own callbacks in the same way.
 */
static void trace_exports_synchronize(void)
{
	synchronize_rcu();
#ifdef CONFIG_TASKS_RUDE_RCU
	synchronize_rcu_tasks_rude();
#endif
}

static int trace_export_remove(struct trace_array *tr,
			       struct trace_export *export)
{
	struct trace_export_node *node;

	scoped_guard(mutex, &event_mutex) {
		node = trace_export_find(tr, export);
		if (!node)
			return -ENOENT;

		hlist_del_rcu(&node->list);
		list_del(&node->node);
		trace_export_switch(node, false);
	}

	trace_exports_synchronize();
	if (tr)
		trace_array_put(tr);
	trace_export_free(node);

	return 0;
}

/**
 * register_ftrace_export - export the records of all trace arrays
 * @export: what to export and where to; must stay valid until
 *	    unregister_ftrace_export() returned
 *
 * From now on a callback of @export gets each record of the types in
 * @export->flags, from the top level and from all instances, those made later
 * included. See struct trace_export for its context.
 *
 * Context: May sleep, takes event_mutex, trace_types_lock and, for reading, the
 *	    lock of CPU hotplug.
 *
 * Return:
 * * %0		- done
 * * %-EINVAL	- without a callback, without flags, with unknown flags, or
 *   without CONFIG_TRACING
 * * %-EEXIST	- @export is registered already, here or for a trace array
 * * %-ENOMEM	- no memory
 */
int register_ftrace_export(struct trace_export *export)
{
	return trace_export_add(NULL, export);
}
EXPORT_SYMBOL_GPL(register_ftrace_export);

/**
 * unregister_ftrace_export - stop what register_ftrace_export() started
 * @export: the export given to register_ftrace_export()
 *
 * When this returns 0, no CPU runs a callback of @export and none will: the
 * caller may free @export, or unload the module that it lives in.
 *
 * Context: May sleep, for several RCU grace periods, and takes the locks that
 *	    register_ftrace_export() takes. The caller must not hold a lock
 *	    that the callback takes, nor be in an RCU read-side critical
 *	    section.
 *
 * Return: 0, or -ENOENT when @export is not registered for all trace arrays.
 */
int unregister_ftrace_export(struct trace_export *export)
{
	return trace_export_remove(NULL, export);
}
EXPORT_SYMBOL_GPL(unregister_ftrace_export);

static struct trace_array *trace_export_array(struct trace_array *tr)
{
	return tr ?: top_trace_array();
}

/**
 * trace_array_register_export - export the records of one trace array
 * @tr: the trace array, on which the caller holds a reference; NULL for the
 *	top level
 * @export: what to export and where to; must stay valid until
 *	    trace_array_unregister_export() returned
 *
 * As register_ftrace_export(), but for @tr alone. An export can be registered
 * for several trace arrays. Until it is unregistered @tr can't be removed.
 *
 * Context: May sleep, takes event_mutex, trace_types_lock and, for reading, the
 *	    lock of CPU hotplug.
 *
 * Return:
 * * %0		- done
 * * %-EINVAL	- without a callback, without flags, with unknown flags, or
 *   without CONFIG_TRACING
 * * %-EEXIST	- @export is registered already, for @tr or for all
 * * %-ENODEV	- @tr does not exist (any more)
 * * %-ENOMEM	- no memory
 */
int trace_array_register_export(struct trace_array *tr,
				struct trace_export *export)
{
	tr = trace_export_array(tr);
	if (!tr)
		return -ENODEV;

	return trace_export_add(tr, export);
}
EXPORT_SYMBOL_GPL(trace_array_register_export);

/**
 * trace_array_unregister_export - stop what the registration started
 * @tr: the trace array given to trace_array_register_export()
 * @export: the export given to it
 *
 * As unregister_ftrace_export(), which see for the guarantees and the context.
 *
 * Return: 0, or -ENOENT when @export is not registered for @tr.
 */
int trace_array_unregister_export(struct trace_array *tr,
				  struct trace_export *export)
{
	tr = trace_export_array(tr);
	if (!tr)
		return -ENOENT;

	return trace_export_remove(tr, export);
}
EXPORT_SYMBOL_GPL(trace_array_unregister_export);

/* Reading records */

static int trace_export_format(struct trace_iterator *iter, struct seq_buf *s)
{
	struct trace_event *event;
	unsigned int used, len;
	int ret = 0;

	trace_event_read_lock();
	event = ftrace_find_event(iter->ent->type);
	if (event)
		event->funcs->trace(iter, iter->tr->trace_flags &
				    TRACE_ITER_SYM_MASK, event);
	else
		ret = -ENOENT;
	trace_event_read_unlock();

	if (ret)
		return ret;

	used = trace_seq_used(&iter->seq);
	len = min(used, seq_buf_buffer_left(s));
	seq_buf_putmem(s, iter->seq.buffer, len);
	if (len < used || trace_seq_has_overflowed(&iter->seq))
		return -E2BIG;

	return 0;
}

/**
 * trace_export_print - write a record as text
 * @s: the text is appended here
 * @record: what the callback got; a copy of it, with a copy of the data
 *
 * Finds the trace event that the record is one of, by the type at its start,
 * and writes what the file "trace" shows behind the time stamp. The entry and
 * the return of a function graph are not put together.
 *
 * The event must be the one that made the record. That is so as long as its
 * module stays: the type of an event that is gone can be that of another one
 * later, of which the record then is a wrong image. The same goes for the trace
 * array: another one may have its address, so whoever prints holds a reference
 * on it, or an export.
 *
 * Context: May sleep, takes trace_types_lock. Not for use in the callback.
 *
 * Return:
 * * %0		- done
 * * %-ENODEV	- the trace array is gone
 * * %-EINVAL	- there are not even the bytes that have the type
 * * %-ENOENT	- no such event: its module is gone, or it is one of mmiotrace
 * * %-E2BIG	- the text was cut, the beginning of it is there
 * * %-ENOMEM	- no memory
 */
int trace_export_print(struct seq_buf *s,
		       const struct trace_export_record *record)
{
	struct trace_iterator *iter __free(kfree) = kzalloc_obj(*iter);
	int ret;

	if (!iter)
		return -ENOMEM;

	if (record->len < sizeof(*iter->ent))
		return -EINVAL;

	ret = trace_array_get(record->tr);
	if (ret)
		return ret;

	iter->tr = record->tr;
	iter->array_buffer = &record->tr->array_buffer;
	iter->trace = record->tr->current_trace;
	iter->iter_flags = TRACE_FILE_ALONE;
	iter->cpu = record->cpu;
	iter->ts = record->ts;
	iter->ent = (struct trace_entry *)record->data;
	iter->ent_size = record->len;
	trace_seq_init(&iter->seq);

	ret = trace_export_format(iter, s);
	kfree(iter->fmt);
	trace_array_put(record->tr);

	return ret;
}
EXPORT_SYMBOL_GPL(trace_export_print);

/* The file "exports" */

static void trace_export_show_types(struct seq_file *m, int types)
{
	const char *sep = "";

	for (int i = 0; i < TRACE_EXPORT_NR_TYPES; i++) {
		if (!(types & BIT(i)))
			continue;
		seq_printf(m, "%s%s", sep, trace_export_type_names[i]);
		sep = ",";
	}
}

/* "function [module]" would be two columns. */
static void trace_export_show_symbol(struct seq_file *m,
				     struct trace_export_node *node)
{
	char symbol[KSYM_SYMBOL_LEN];

	snprintf(symbol, sizeof(symbol), "%ps", node->write_record ?
		 (void *)node->write_record : (void *)node->write);
	seq_escape(m, symbol, " \t\n\\");
}

static int trace_exports_show(struct seq_file *m, void *unused)
{
	struct trace_array *tr = m->private;
	struct trace_export_node *node;
	int cpu;

	seq_puts(m, "# name scope types records bytes missed\n");

	guard(mutex)(&event_mutex);

	list_for_each_entry(node, &trace_export_nodes, node) {
		struct trace_export_stats sum = {};

		if (node->tr && node->tr != tr)
			continue;

		for_each_possible_cpu(cpu) {
			struct trace_export_stats *stats;

			stats = per_cpu_ptr(node->stats, cpu);
			sum.records += READ_ONCE(stats->records);
			sum.bytes += READ_ONCE(stats->bytes);
			sum.missed += READ_ONCE(stats->missed);
		}

		if (node->name)
			seq_escape(m, node->name, " \t\n\\");
		else
			trace_export_show_symbol(m, node);
		seq_puts(m, node->tr ? " instance " : " all ");
		trace_export_show_types(m, node->types);
		seq_printf(m, " %lu %lu %lu\n", sum.records, sum.bytes,
			   sum.missed);
	}

	return 0;
}

static int trace_exports_open(struct inode *inode, struct file *file)
{
	struct trace_array *tr = inode->i_private;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;

	ret = single_open(file, trace_exports_show, tr);
	if (ret < 0)
		trace_array_put(tr);

	return ret;
}

static int trace_exports_release(struct inode *inode, struct file *file)
{
	trace_array_put(inode->i_private);

	return single_release(inode, file);
}

const struct file_operations trace_exports_fops = {
	.open		= trace_exports_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= trace_exports_release,
};

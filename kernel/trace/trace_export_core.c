// SPDX-License-Identifier: GPL-2.0
/*
 * Trace exports give records to registered destinations, in addition to the
 * ring buffer.
 *
 * A registration is a struct trace_export_node. It is in the list of one trace
 * array, or in trace_exports_all if it gets the records of all of them. Records
 * walk both lists under RCU, with preemption disabled, in any context, NMI
 * included. The node has a copy of what they need of struct trace_export, so
 * that the caller can change its own structure.
 *
 * As long as no export wants a type of record, its static key makes the call a
 * NOP. Events have no key: EVENT_FILE_FL_EXPORTED is one more bit of the flags
 * that each event tests anyway. It is set for the events of a trace array that
 * has an export of events, so an export of one instance does not slow down the
 * events of the others.
 *
 * Locking: trace_export_mutex protects changes of the lists and of the keys,
 * and readers of the file. event_mutex nests inside. It protects the list of
 * the event files and their flags, and is taken only while exports of events
 * come and go.
 *
 * Lifetime: A node of one trace array holds a reference on it, so that rmdir of
 * the instance fails with -EBUSY. Nodes are freed a grace period after they
 * left the list, see trace_exports_synchronize().
 */

#include <linux/hardirq.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/string_helpers.h>
#include <linux/trace.h>

#include "trace_export_core.h"

struct static_key_false trace_export_keys[TRACE_EXPORT_NR_TYPES] = {
	[0 ... TRACE_EXPORT_NR_TYPES - 1] = STATIC_KEY_FALSE_INIT,
};

static HLIST_HEAD(trace_exports_all);

static DEFINE_MUTEX(trace_export_mutex);

/* The nodes of all lists, the oldest first */
static LIST_HEAD(trace_export_nodes);

/* The context of the innermost callback on this CPU; ~0U if there is none */
static DEFINE_PER_CPU(unsigned int, trace_export_active) = ~0U;

/* The words for the types in the file "exports", in the order of the bits */
static const char * const trace_export_type_names[TRACE_EXPORT_NR_TYPES] = {
	"function", "event", "marker", "printk", "raw_marker", "graph",
	"stack", "tracer",
};

/* The call of an export that wants more than the bytes */
static void trace_export_with_context(struct trace_export_node *node,
				      struct trace_event_buffer *fbuffer,
				      unsigned int len, int type)
{
	struct trace_export_record record = {
		.tr	= ring_buffer_private(fbuffer->buffer),
		.data	= fbuffer->entry,
		.ts	= ring_buffer_event_time_stamp(fbuffer->buffer,
						       fbuffer->event),
		.len	= len,
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
			local64_inc(&this_cpu_ptr(node->stats)->missed);
	}
}

/* Count a record that exports of @type don't get. */
static void trace_export_missed(struct trace_array *tr, int type)
{
	trace_export_miss(&tr->exports, type);
	trace_export_miss(&trace_exports_all, type);
}

/* Inlined twice into each of two functions: calls would cost more than it does. */
static __always_inline void
trace_export_list(struct hlist_head *list, struct trace_event_buffer *fbuffer,
		  unsigned int len, int type)
{
	struct trace_export_node *node;

	hlist_for_each_entry_rcu_notrace(node, list, list) {
		struct trace_export_stats *stats;

		if (!(node->types & type))
			continue;

		stats = this_cpu_ptr(node->stats);
		local64_inc(&stats->records);
		local64_add(len, &stats->bytes);

		if (node->write)
			node->write(node->export, fbuffer->entry, len);
		else
			trace_export_with_context(node, fbuffer, len, type);
	}
}

/*
 * preempt_count() does not count an interrupt yet when it makes its first
 * records, and no longer when it makes its last ones. But interrupts are
 * disabled then. So each context of preempt_count() is two here. The inner one
 * has interrupts disabled.
 */
static unsigned int trace_export_context(void)
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

	/* A callback that makes records would get these, make more, and so on. */
	if (unlikely(outer == context)) {
		trace_export_missed(tr, type);
		return;
	}

	__this_cpu_write(trace_export_active, context);
	len = ring_buffer_event_length(fbuffer->event);
	trace_export_list(&tr->exports, fbuffer, len, type);
	trace_export_list(&trace_exports_all, fbuffer, len, type);
	__this_cpu_write(trace_export_active, outer);
}

/* The slow path of trace_export(): there is an export for this type. */
void __trace_export(struct trace_buffer *buffer,
		    struct ring_buffer_event *event, int type)
{
	struct trace_array *tr = ring_buffer_private(buffer);
	struct trace_event_buffer fbuffer;

	/* temp_buffer belongs to no trace array and has no readers. */
	if (!tr || (hlist_empty(&tr->exports) && hlist_empty(&trace_exports_all)))
		return;

	fbuffer.buffer = buffer;
	fbuffer.event = event;
	fbuffer.entry = ring_buffer_event_data(event);
	trace_export_record(tr, &fbuffer, type);
}

/*
 * An event with a filter is first written to trace_buffered_event. Move it to
 * the ring buffer, so that what is exported is what is committed. Return false
 * if there is no space for it in the ring buffer; it is released then.
 */
static bool trace_event_unbuffer(struct trace_event_buffer *fbuffer)
{
	struct ring_buffer_event *buffered = fbuffer->event;
	struct ring_buffer_event *event;

	if (this_cpu_read(trace_buffered_event) != buffered)
		return true;

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

/**
 * trace_export_event - give an event to the exports that want events
 * @fbuffer: the event, which has passed its filters
 *
 * Context: Any, before the commit.
 *
 * Return: false if there was no space for the event in the ring buffer. There
 * is nothing to commit then.
 */
bool trace_export_event(struct trace_event_buffer *fbuffer)
{
	struct trace_array *tr = ring_buffer_private(fbuffer->buffer);

	/* An event in temp_buffer is for the triggers only. */
	if (!tr)
		return true;

	if (!trace_event_unbuffer(fbuffer))
		return false;

	trace_export_record(tr, fbuffer, TRACE_EXPORT_EVENT);

	return true;
}

/* Registration */

static bool trace_export_list_wants(struct hlist_head *list, int type)
{
	struct trace_export_node *node;

	hlist_for_each_entry_rcu(node, list, list) {
		if (node->types & type)
			return true;
	}

	return false;
}

/**
 * trace_export_wants_events - test for exports of the events of a trace array
 * @tr: the trace array
 *
 * Context: event_mutex is held. A registration changes the lists before it
 *	    takes event_mutex to mark the events, so either it finds the new
 *	    event that asks here, or this finds the new export.
 *
 * Return: true if there is one.
 */
bool trace_export_wants_events(struct trace_array *tr)
{
	guard(rcu)();

	return trace_export_list_wants(&tr->exports, TRACE_EXPORT_EVENT) ||
	       trace_export_list_wants(&trace_exports_all, TRACE_EXPORT_EVENT);
}

static void trace_export_mark_events(struct trace_array *tr)
{
	bool wanted = trace_export_wants_events(tr);
	struct trace_event_file *file;

	lockdep_assert_held(&event_mutex);

	list_for_each_entry(file, &tr->events, list) {
		if (wanted)
			set_bit(EVENT_FILE_FL_EXPORTED_BIT, &file->flags);
		else
			clear_bit(EVENT_FILE_FL_EXPORTED_BIT, &file->flags);
	}
}

static void trace_export_switch_events(struct trace_array *tr)
{
	guard(mutex)(&event_mutex);

	if (tr) {
		trace_export_mark_events(tr);
		return;
	}

	guard(mutex)(&trace_types_lock);

	list_for_each_entry(tr, &ftrace_trace_arrays, list)
		trace_export_mark_events(tr);
}

/* Tell the places that make records that @node has come or gone. */
static void trace_export_switch(struct trace_export_node *node, bool on)
{
	lockdep_assert_held(&trace_export_mutex);

	for (int i = 0; i < TRACE_EXPORT_NR_TYPES; i++) {
		if (!(node->types & BIT(i) & ~TRACE_EXPORT_EVENT))
			continue;
		if (on)
			static_branch_inc(&trace_export_keys[i]);
		else
			static_branch_dec(&trace_export_keys[i]);
	}

	if (node->types & TRACE_EXPORT_EVENT)
		trace_export_switch_events(node->tr);
}

/* The node of @export for @tr, or for all trace arrays if @tr is NULL */
static struct trace_export_node *
trace_export_find(struct trace_array *tr, struct trace_export *export)
{
	struct trace_export_node *node;

	lockdep_assert_held(&trace_export_mutex);

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

	lockdep_assert_held(&trace_export_mutex);

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

	guard(mutex)(&trace_export_mutex);

	if (trace_export_overlaps(tr, export))
		return -EEXIST;

	/* As for the files of tracefs; takes the reference. */
	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;

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

	scoped_guard(mutex, &trace_export_mutex) {
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
 * The callback of @export is called for each record of the types in
 * @export->flags that the top level or an instance gets from now on. That
 * includes instances that are created later. See struct trace_export for the
 * context of the callback.
 *
 * Context: May sleep, takes trace_export_mutex, event_mutex, trace_types_lock
 *	    and, for reading, the lock of CPU hotplug.
 *
 * Return:
 * * %0		- done
 * * %-EINVAL	- @export has no callback, no flags or unknown flags
 * * %-EEXIST	- @export is registered already, for all or for one trace array
 * * %-EPERM	- the kernel is locked down
 * * %-ENODEV	- tracing is disabled for good
 * * %-ENOMEM	- no memory
 * * %-EOPNOTSUPP	- the kernel is built without CONFIG_TRACING
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
 * When this returns 0, no CPU runs the callback of @export or will run it. The
 * caller may free @export, or unload the module that contains it.
 *
 * Context: May sleep, for several RCU grace periods, and takes the locks of
 *	    register_ftrace_export(). The caller must not hold a lock that the
 *	    callback takes, nor be in an RCU read-side critical section.
 *
 * Return: 0, -ENOENT if @export is not registered for all trace arrays, or
 * -EOPNOTSUPP if the kernel is built without CONFIG_TRACING.
 */
int unregister_ftrace_export(struct trace_export *export)
{
	return trace_export_remove(NULL, export);
}
EXPORT_SYMBOL_GPL(unregister_ftrace_export);

/**
 * trace_array_register_export - export the records of one trace array
 * @tr: the trace array; the caller holds a reference on it
 * @export: what to export and where to; must stay valid until
 *	    trace_array_unregister_export() returned
 *
 * Like register_ftrace_export(), but for @tr only. An export can be registered
 * for several trace arrays. @tr can't be removed until @export is unregistered.
 *
 * Context: May sleep, takes trace_export_mutex, event_mutex, trace_types_lock
 *	    and, for reading, the lock of CPU hotplug.
 *
 * Return:
 * * %0			- done
 * * %-EINVAL		- @tr is NULL; or @export has no callback, no flags or
 *   unknown flags
 * * %-EEXIST		- @export is registered already, for @tr or for all trace
 *   arrays
 * * %-EPERM		- the kernel is locked down
 * * %-ENODEV		- tracing is disabled for good, or @tr is being removed
 * * %-ENOMEM		- no memory
 * * %-EOPNOTSUPP	- the kernel is built without CONFIG_TRACING
 */
int trace_array_register_export(struct trace_array *tr,
				struct trace_export *export)
{
	if (!tr)
		return -EINVAL;

	return trace_export_add(tr, export);
}
EXPORT_SYMBOL_GPL(trace_array_register_export);

/**
 * trace_array_unregister_export - stop what trace_array_register_export() started
 * @tr: the trace array given to trace_array_register_export()
 * @export: the export given to it
 *
 * See unregister_ftrace_export() for the guarantees and the context.
 *
 * Return:
 * * %0			- done
 * * %-EINVAL		- @tr is NULL
 * * %-ENOENT		- @export is not registered for @tr
 * * %-EOPNOTSUPP	- the kernel is built without CONFIG_TRACING
 */
int trace_array_unregister_export(struct trace_array *tr,
				  struct trace_export *export)
{
	if (!tr)
		return -EINVAL;

	return trace_export_remove(tr, export);
}
EXPORT_SYMBOL_GPL(trace_array_unregister_export);

/* The words of the file "exports" */

static int trace_export_find_type(const char *word, size_t len)
{
	for (int i = 0; i < TRACE_EXPORT_NR_TYPES; i++) {
		const char *name = trace_export_type_names[i];

		if (strlen(name) == len && !strncmp(name, word, len))
			return BIT(i);
	}

	return -EINVAL;
}

/**
 * trace_export_parse_types - get flags from the words that name them
 * @words: a list of the words that the file "exports" shows, separated by commas
 *
 * For module parameters and files that let the user choose the types.
 *
 * Context: Any.
 *
 * Return:
 * * the flags TRACE_EXPORT_*, for the member flags of struct trace_export
 * * %-EINVAL		- one of the words is not the name of a type
 * * %-EOPNOTSUPP	- the kernel is built without CONFIG_TRACING
 */
int trace_export_parse_types(const char *words)
{
	int types = 0;

	for (;;) {
		size_t len = strcspn(words, ",");
		int type = trace_export_find_type(words, len);

		if (type < 0)
			return type;
		types |= type;
		if (!words[len])
			return types;
		words += len + 1;
	}
}
EXPORT_SYMBOL_GPL(trace_export_parse_types);

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

/* Escaped, as "function [module]" would be two columns. */
static void trace_export_show_symbol(struct seq_file *m,
				     struct trace_export_node *node)
{
	char symbol[KSYM_SYMBOL_LEN];

	snprintf(symbol, sizeof(symbol), "%ps", node->write_record ?
		 (void *)node->write_record : (void *)node->write);
	seq_escape(m, symbol, " \t\n\\");
}

static void trace_export_show_stats(struct seq_file *m,
				    struct trace_export_node *node)
{
	u64 records = 0, bytes = 0, missed = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct trace_export_stats *stats;

		stats = per_cpu_ptr(node->stats, cpu);
		records += local64_read(&stats->records);
		bytes += local64_read(&stats->bytes);
		missed += local64_read(&stats->missed);
	}
	seq_printf(m, " %llu %llu %llu\n", records, bytes, missed);
}

static int trace_exports_show(struct seq_file *m, void *unused)
{
	struct trace_array *tr = m->private;
	struct trace_export_node *node;

	seq_puts(m, "# name scope types records bytes missed\n");

	guard(mutex)(&trace_export_mutex);

	list_for_each_entry(node, &trace_export_nodes, node) {
		if (node->tr && node->tr != tr)
			continue;

		if (node->name)
			seq_escape(m, node->name, " \t\n\\");
		else
			trace_export_show_symbol(m, node);
		seq_puts(m, node->tr ? " instance " : " all ");
		trace_export_show_types(m, node->types);
		trace_export_show_stats(m, node);
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

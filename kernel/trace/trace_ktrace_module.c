// SPDX-License-Identifier: GPL-2.0
/*
 * ktrace events of modules, which come and go with event_mutex held.
 */

#define pr_fmt(fmt) "ktrace: " fmt

#include <linux/ktrace.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "trace.h"
#include "trace_ktrace.h"

static bool ktrace_buffers_empty(struct trace_array *tr)
{
	bool empty;

	/*
	 * A snapshot in between would make both the same buffer. Refuse it, but
	 * don't hold max_lock: ring_buffer_empty() takes the lock of the readers,
	 * and a probe may take a snapshot while its CPU holds that.
	 */
	tracing_add_resets(tr, 1);
	empty = ring_buffer_empty(tr->array_buffer.buffer);
#ifdef CONFIG_TRACER_SNAPSHOT
	if (tr->snapshot_buffer.buffer)
		empty &= ring_buffer_empty(tr->snapshot_buffer.buffer);
#endif
	tracing_add_resets(tr, -1);

	return empty;
}

/* May a ring buffer still have records of an event? */
static bool ktrace_has_records(struct ktrace_event *event)
{
	struct trace_event_file *file;
	struct trace_array *tr;

	guard(mutex)(&trace_types_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		file = ktrace_file(tr, event);
		if (!file || !(file->flags & EVENT_FILE_FL_WAS_ENABLED))
			continue;
		if (!ktrace_buffers_empty(tr))
			return true;
		/* Nothing has to be cleared when the event goes. */
		clear_bit(EVENT_FILE_FL_WAS_ENABLED_BIT, &file->flags);
	}

	return false;
}

/* Remove an event that has no site, no user and no record. */
static void ktrace_clean_event(struct ktrace_event *event)
{
	if (event->sites || event->perf || !hlist_empty(&event->links))
		return;

	if (!ktrace_has_records(event))
		ktrace_remove_event(event);
}

static void ktrace_del_site(struct ktrace_site *site)
{
	struct ktrace_event *event = site->event;
	struct ktrace_site **p;

	if (!event)
		return;

	for (p = &event->sites; *p != site; p = &(*p)->next)
		;
	*p = site->next;
	WRITE_ONCE(site->event, NULL);
	ktrace_clean_event(event);
}

/*
 * ktrace_module_coming - make the events of a module
 * @mod: the module, whose code does not run yet
 *
 * A site that is on at once needs its jump label. jump_label_module_nb has the
 * priority of trace_module_nb, and notifiers of one priority are called in the
 * order in which they were registered: jump labels in an early_initcall, trace
 * events when tracefs is made.
 *
 * Context: may sleep, event_mutex is held and trace_types_lock is not
 */
void ktrace_module_coming(struct module *mod)
{
	struct ktrace_table *table;

	lockdep_assert_held(&event_mutex);

	if (!mod->num_ktrace_sites)
		return;

	if (trace_module_has_bad_taint(mod)) {
		pr_err("%s: module has bad taint, its sites stay off\n", mod->name);
		return;
	}

	/* Events of modules that have been gone for a while */
	ktrace_walk_events(ktrace_clean_event);

	table = kzalloc_obj(*table);
	if (!table) {
		pr_err("%s: no memory, its sites stay off\n", mod->name);
		return;
	}

	table->mod = mod;
	table->sites = mod->ktrace_sites;
	table->nr = mod->num_ktrace_sites;
	ktrace_add_table(table, false);
}

/*
 * ktrace_module_going - forget the sites of a module
 * @mod: the module, whose code does not run any more
 *
 * Context: may sleep, event_mutex is held and trace_types_lock is not
 */
void ktrace_module_going(struct module *mod)
{
	struct ktrace_table *table;

	lockdep_assert_held(&event_mutex);

	if (!mod->num_ktrace_sites)
		return;

	list_for_each_entry(table, &ktrace_tables, list) {
		if (table->mod != mod)
			continue;

		/* The site that came last is found first. */
		for (int i = table->nr - 1; i >= 0; i--)
			ktrace_del_site(&table->sites[i]);
		list_del(&table->list);
		kfree(table);
		break;
	}
}

/*
 * ktrace_call_in_module - does a module have a site of an event?
 * @call: any trace event
 * @module: name of the module
 *
 * Context: event_mutex is held
 *
 * Return: true when @call is a ktrace event and @module has a site of it.
 */
bool ktrace_call_in_module(struct trace_event_call *call, const char *module)
{
	struct ktrace_event *event;
	struct ktrace_table *table;
	struct ktrace_site *site;

	if (!(call->flags & TRACE_EVENT_FL_KTRACE))
		return false;

	event = to_ktrace_event(call);
	list_for_each_entry(table, &ktrace_tables, list) {
		if (!table->mod || strcmp(module_name(table->mod), module))
			continue;
		for (site = event->sites; site; site = site->next) {
			if (site >= table->sites &&
			    site < table->sites + table->nr)
				return true;
		}
	}

	return false;
}

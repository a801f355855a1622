// SPDX-License-Identifier: GPL-2.0
/*
 * ktrace: trace events that are one line at the place where they happen.
 *
 * The compiler leaves a struct ktrace_site for each ktrace() in a section of
 * its own, see include/linux/ktrace.h. When the kernel boots, and when a module
 * is loaded, an event is made of each system, name and format. Sites that agree
 * in all three share one event.
 *
 * The build makes sure that the kernel and each module have one format for a
 * name, see scripts/mod/ktrace.c. Two modules with the same system can still
 * disagree. Then the event of the one that comes later gets its module's name
 * behind its own, so that both record.
 *
 * All of an event is in memory of its own, so it can outlive the module of its
 * last site: it stays while a ring buffer may have records of it.
 *
 * Everything here is changed with event_mutex held.
 */

#define pr_fmt(fmt) "ktrace: " fmt

#include <linux/ctype.h>
#include <linux/hashtable.h>
#include <linux/ktrace.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/stringhash.h>

#include "trace.h"
#include "trace_ktrace.h"

static DEFINE_HASHTABLE(ktrace_events, 10);

static LIST_HEAD(ktrace_systems);

LIST_HEAD(ktrace_tables);

/* Counts the tables that have been added. */
static unsigned int ktrace_scan_id;

/* Switching */

void ktrace_switch_site(struct ktrace_site *site)
{
	struct ktrace_event *event = site->event;
	bool on;

	on = event && !site->muted && (event->perf || !hlist_empty(&event->links));
	if (on == static_key_enabled(&site->key))
		return;

	if (on)
		static_branch_enable(&site->key);
	else
		static_branch_disable(&site->key);
}

static void ktrace_switch_event(struct ktrace_event *event)
{
	struct ktrace_site *site;

	for (site = event->sites; site; site = site->next)
		ktrace_switch_site(site);
}

static int ktrace_add_link(struct ktrace_event *event,
			   struct trace_event_file *file)
{
	struct ktrace_link *link = kmalloc_obj(*link);

	if (!link)
		return -ENOMEM;

	link->file = file;
	hlist_add_head_rcu(&link->node, &event->links);

	return 0;
}

static void ktrace_free_link(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct ktrace_link, rcu));
}

static void ktrace_del_link(struct ktrace_event *event,
			    struct trace_event_file *file)
{
	struct ktrace_link *link;

	hlist_for_each_entry(link, &event->links, node) {
		if (link->file == file) {
			hlist_del_rcu(&link->node);
			call_srcu(&tracepoint_srcu, &link->rcu, ktrace_free_link);
			return;
		}
	}
}

static int ktrace_reg(struct trace_event_call *call, enum trace_reg type,
		      void *data)
{
	struct ktrace_event *event = to_ktrace_event(call);
	int ret = 0;

	switch (type) {
	case TRACE_REG_REGISTER:
		ret = ktrace_add_link(event, data);
		break;
	case TRACE_REG_UNREGISTER:
		ktrace_del_link(event, data);
		break;
#ifdef CONFIG_PERF_EVENTS
	case TRACE_REG_PERF_REGISTER:
		/* After perf_events, which ktrace_to_perf() uses */
		smp_store_release(&event->perf, true);
		break;
	case TRACE_REG_PERF_UNREGISTER:
		WRITE_ONCE(event->perf, false);
		break;
	default:
		/* perf_trace_add() and perf_trace_del() do the rest. */
		return 0;
#endif
	}

	if (!ret)
		ktrace_switch_event(event);

	return ret;
}

/* Systems */

static int ktrace_raw_init(struct trace_event_call *call)
{
	return register_trace_event(&call->event) ? 0 : -ENODEV;
}

static struct ktrace_system *ktrace_find_system(const char *name)
{
	struct ktrace_system *system;

	list_for_each_entry(system, &ktrace_systems, list) {
		if (!strcmp(system->name, name))
			return system;
	}

	return NULL;
}

static struct ktrace_system *ktrace_get_system(const char *name)
{
	struct ktrace_system *system = ktrace_find_system(name);

	if (!system) {
		system = kzalloc_flex(*system, name, strlen(name) + 1);
		if (!system)
			return NULL;
		strscpy(system->name, name, strlen(name) + 1);
		system->class.system = system->name;
		system->class.reg = ktrace_reg;
		system->class.raw_init = ktrace_raw_init;
		system->class.get_fields = ktrace_get_fields;
		list_add_tail(&system->list, &ktrace_systems);
	}
	system->nr_events++;

	return system;
}

static void ktrace_put_system(struct ktrace_system *system)
{
	if (--system->nr_events)
		return;

	list_del(&system->list);
	kfree(system);
}

static bool ktrace_is_other(const struct trace_event_call *call,
			    const struct ktrace_system *system)
{
	return !(call->flags & TRACE_EVENT_FL_KTRACE) && call->class->system &&
	       !strcmp(call->class->system, system->name);
}

/*
 * Has the system events of somebody else, as of a TRACE_EVENT() or a kprobe?
 * Those of @mod are added after the sites of @mod.
 */
static bool ktrace_has_others(const struct ktrace_system *system,
			      const struct module *mod)
{
	struct trace_event_call *call;

	list_for_each_entry(call, &ftrace_events, list) {
		if (ktrace_is_other(call, system))
			return true;
	}
	for (int i = 0; mod && i < mod->num_trace_events; i++) {
		if (ktrace_is_other(mod->trace_events[i], system))
			return true;
	}

	return false;
}

/* Events */

static struct hlist_head *ktrace_bucket(const char *name)
{
	return &ktrace_events[hash_min(full_name_hash(NULL, name, strlen(name)),
				       HASH_BITS(ktrace_events))];
}

static struct ktrace_event *ktrace_find_event(const struct ktrace_site *site)
{
	const char *name = ktrace_site_name(site);
	struct ktrace_event *event;

	hlist_for_each_entry(event, ktrace_bucket(name), node) {
		if (event->nr_fields == site->nr_args &&
		    !strcmp(event->name, name) &&
		    !strcmp(ktrace_event_fmt(event), ktrace_site_fmt(site)) &&
		    !strcmp(event->call.class->system, ktrace_site_system(site)))
			return event;
	}

	return NULL;
}

void ktrace_walk_events(void (*func)(struct ktrace_event *event))
{
	struct ktrace_event *event;
	struct hlist_node *tmp;
	int i;

	hash_for_each_safe(ktrace_events, i, tmp, event, node)
		func(event);
}

struct trace_event_file *ktrace_file(struct trace_array *tr,
				     struct ktrace_event *event)
{
	struct trace_event_file *file;

	list_for_each_entry(file, &tr->events, list) {
		if (file->event_call == &event->call)
			return file;
	}

	return NULL;
}

static void ktrace_destroy_event(struct ktrace_event *event)
{
	struct ktrace_system *system = ktrace_event_system(event);

	ktrace_free_event(event);
	ktrace_put_system(system);
}

/* Removes an event without sites, unless somebody uses it. */
int ktrace_remove_event(struct ktrace_event *event)
{
	int ret;

	if (trace_event_dyn_busy(&event->call))
		return -EBUSY;

	ret = trace_remove_event_call(&event->call);
	if (ret)
		return ret;

	/* Without a site there is no code that could record it. */
	hlist_del(&event->node);
	ktrace_destroy_event(event);

	return 0;
}

/*
 * An event without sites makes room for one with the same name and another
 * format: a developer changed the format and loads the module again. Records of
 * the old event can't be read any more and are cleared.
 */
static int ktrace_replace_event(struct ktrace_event *event)
{
	struct trace_event_file *file;
	struct trace_array *tr;
	int ret;

	/* Switch nothing off if the event has to stay. */
	if (trace_event_dyn_busy(&event->call))
		return -EBUSY;
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		file = ktrace_file(tr, event);
		if (file && atomic_read(&file->sm_ref))
			return -EBUSY;
	}

	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		file = ktrace_file(tr, event);
		if (file)
			trace_event_enable_disable(file, 0, 0);
	}

	ret = ktrace_remove_event(event);
	if (!ret)
		tracing_reset_all_online_cpus();

	return ret;
}

/* Names */

/* The ktrace event with the name that @event wants, among those of its system */
static struct ktrace_event *ktrace_same_name(const struct ktrace_event *event)
{
	struct ktrace_event *other;

	hlist_for_each_entry(other, ktrace_bucket(event->name), node) {
		if (other->call.class == event->call.class &&
		    !strcmp(other->call.name, event->call.name))
			return other;
	}

	return NULL;
}

/* As ktrace_same_name(), among all events */
static struct trace_event_call *
ktrace_scan_name(const struct ktrace_event *event, const struct module *mod)
{
	struct trace_event_call *call;
	const char *name;

	list_for_each_entry(call, &ftrace_events, list) {
		name = trace_event_name(call);
		if (name && !strcmp(name, event->call.name) &&
		    call->class->system &&
		    !strcmp(call->class->system, event->call.class->system))
			return call;
	}

	for (int i = 0; mod && i < mod->num_trace_events; i++) {
		call = mod->trace_events[i];
		if (ktrace_is_other(call, ktrace_event_system(event)) &&
		    !strcmp(trace_event_name(call), event->call.name))
			return call;
	}

	return NULL;
}

/*
 * ktrace_claim_name - make sure that a new event has its name alone
 * @event: the event, which is not in the hash yet
 * @mod: the module that brings it, or NULL
 * @place: on failure: what has the name
 * @size: bytes of @place
 *
 * An event without sites that has the name is removed if nobody uses it.
 *
 * Return: 0, -EEXIST or -EBUSY
 */
static int ktrace_claim_name(struct ktrace_event *event, struct module *mod,
			     char *place, size_t size)
{
	struct ktrace_event *other = ktrace_same_name(event);
	struct ktrace_system *system = ktrace_event_system(event);
	struct trace_event_call *call;
	int ret;

	/* Scanning all events for each name would take long for many sites. */
	if (system->scan_id != ktrace_scan_id) {
		system->scan |= ktrace_has_others(system, mod);
		system->scan_id = ktrace_scan_id;
	}
	if (!other && system->scan) {
		call = ktrace_scan_name(event, mod);
		if (call && !(call->flags & TRACE_EVENT_FL_KTRACE)) {
			strscpy(place, "an event that is no ktrace event", size);
			return -EEXIST;
		}
		if (call)
			other = to_ktrace_event(call);
	}
	if (!other)
		return 0;

	if (other->sites) {
		snprintf(place, size, "%s:%u", other->sites->file,
			 other->sites->line);
		return -EEXIST;
	}

	ret = ktrace_replace_event(other);
	if (ret)
		strscpy(place, "an event in use of a module that is gone", size);

	return ret;
}

/* The name is taken: "name__module" is likely to be free. */
static int ktrace_set_alias(struct ktrace_event *event, struct module *mod)
{
	const char *alias = kasprintf(GFP_KERNEL, "%s__%s", event->name,
				      mod ? module_name(mod) : "vmlinux");

	if (!alias)
		return -ENOMEM;

	event->call.name = alias;
	/* Other names in the system may be the same as this one from now on. */
	ktrace_event_system(event)->scan = true;

	return 0;
}

static int ktrace_name_event(struct ktrace_event *event,
			     const struct ktrace_site *site, struct module *mod,
			     char *error, size_t size)
{
	char place[128];
	int ret;

	ret = ktrace_claim_name(event, mod, place, sizeof(place));
	if (!ret)
		return 0;

	ret = ktrace_set_alias(event, mod);
	if (!ret)
		ret = ktrace_claim_name(event, mod, error, size);
	if (ret) {
		if (ret != -ENOMEM)
			snprintf(error, size, "the name is taken by %s", place);
		return ret;
	}

	pr_warn("%s:%s: %s:%u disagrees with %s and makes the event %s:%s\n",
		ktrace_site_system(site), event->name, site->file, site->line,
		place, ktrace_site_system(site), event->call.name);

	return 0;
}

/* Names of modules may begin with a digit. "ktrace" stands for all systems. */
static bool ktrace_good_system(const char *system)
{
	const char *p;

	for (p = system; isalnum(*p) || *p == '_'; p++)
		;

	return p > system && !*p && strcmp(system, "ktrace");
}

/* In tracefs the names are those of directories: events/system/name. */
static bool ktrace_good_names(const struct ktrace_site *site)
{
	const char *name = ktrace_site_name(site);

	return ktrace_good_system(ktrace_site_system(site)) &&
	       is_good_name(name) && strcmp(name, "enable") &&
	       strcmp(name, "filter");
}

static int ktrace_register_event(struct ktrace_event *event, bool early)
{
	int ret;

	if (early) {
		ret = ktrace_raw_init(&event->call);
		if (!ret)
			list_add(&event->call.list, &ftrace_events);
	} else {
		ret = trace_add_event_call(&event->call);
	}

	if (!ret)
		hlist_add_head(&event->node, ktrace_bucket(event->name));

	return ret;
}

static struct ktrace_event *ktrace_new_event(const struct ktrace_site *site,
					     struct module *mod, bool early)
{
	struct ktrace_system *system;
	struct ktrace_event *event;
	char error[160] = "no memory";
	int ret;

	if (!ktrace_good_names(site)) {
		strscpy(error, "the system or the name is not allowed");
		goto refused;
	}

	system = ktrace_get_system(ktrace_site_system(site));
	if (!system)
		goto refused;

	event = ktrace_make_event(site, system, mod, error, sizeof(error));
	if (IS_ERR(event)) {
		ktrace_put_system(system);
		goto refused;
	}

	ret = ktrace_name_event(event, site, mod, error, sizeof(error));
	if (!ret) {
		ret = ktrace_register_event(event, early);
		if (!ret)
			return event;
		snprintf(error, sizeof(error), "no event can be registered (%d)",
			 ret);
	}
	ktrace_destroy_event(event);

refused:
	pr_err("%s:%s: %s:%u stays off: %s\n", ktrace_site_system(site),
	       ktrace_site_name(site), site->file, site->line, error);

	return NULL;
}

/* Sites */

/* Gives a site its event, which is made when there is none. */
static void ktrace_add_site(struct ktrace_site *site, struct module *mod,
			    bool early)
{
	struct ktrace_event *event = ktrace_find_event(site);
	struct ktrace_site **p;

	if (!event) {
		event = ktrace_new_event(site, mod, early);
		if (!event)
			return;
	}

	/*
	 * Messages name the first site, which stays the first. There may be
	 * thousands, as of a function in a header, so the others come right
	 * behind it, where a module that goes finds its own soon.
	 */
	p = event->sites ? &event->sites->next : &event->sites;
	site->next = *p;
	*p = site;
	WRITE_ONCE(site->event, event);
	ktrace_switch_site(site);
}

void ktrace_add_table(struct ktrace_table *table, bool early)
{
	list_add_tail(&table->list, &ktrace_tables);
	ktrace_scan_id++;
	for (int i = 0; i < table->nr; i++)
		ktrace_add_site(&table->sites[i], table->mod, early);
}

/*
 * ktrace_init - make the events of the kernel
 *
 * Context: early boot, before events are enabled by the command line.
 */
void __init ktrace_init(void)
{
	static struct ktrace_table table;

	table.sites = __start___ktrace_sites;
	table.nr = __stop___ktrace_sites - __start___ktrace_sites;

	guard(mutex)(&event_mutex);
	ktrace_add_table(&table, true);
}

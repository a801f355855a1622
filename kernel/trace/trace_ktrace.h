/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_KERNEL_TRACE_KTRACE_H
#define _LINUX_KERNEL_TRACE_KTRACE_H

#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/ktrace.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/trace_events.h>

#ifdef CONFIG_KTRACE

/* The most bytes of what formats dereference, those of a dump */
#define KTRACE_MAX_COPY	64

/* The part of an argument that a record keeps, and that a field has. */
enum ktrace_op {
	KTRACE_OP_8,		/* the value, by its bits */
	KTRACE_OP_16,
	KTRACE_OP_32,
	KTRACE_OP_64,
	KTRACE_OP_SIZE = 3,
	/* a string, behind the fields; the field says where */
	KTRACE_OP_STRING = 4 | KTRACE_OP_32,
	/* a number of bytes, behind the fields */
	KTRACE_OP_DUMP = 8 | KTRACE_OP_32,
	KTRACE_OP_COPY,		/* some bytes, always as many */
	KTRACE_OP_SOCKADDR,	/* as many bytes as the address family takes */
};

/* The contents of a record. */
enum ktrace_contents {
	KTRACE_WORDS,		/* values of 64 bits */
	KTRACE_VALUES,		/* values, and no strings or the like */
	KTRACE_A_STRING,	/* and one string, with no holes between them */
	KTRACE_ANYTHING,
};

/**
 * struct ktrace_field - how an argument gets into the record
 * @op: enum ktrace_op
 * @is_signed: the value has a sign
 * @star: the argument before this one says how long it is at most
 * @value: @op of what the field itself keeps, up to KTRACE_OP_64
 * @offset: in the record
 * @size: in the record; for what is behind the fields its bound, with the
 *	  final 0 of a string
 */
struct ktrace_field {
	u8	op;
	bool	is_signed;
	bool	star;
	u8	value;
	u16	offset;
	u16	size;
};

/**
 * struct ktrace_system - a system (or group) with ktrace events
 * @class: the class of its events
 * @list: in ktrace_systems
 * @nr_events: number of its events
 * @scan_id: the table of sites for which @scan has been found out
 * @scan: names in the system may be taken by others than ktrace sites
 * @name: its name
 */
struct ktrace_system {
	struct trace_event_class	class;
	struct list_head		list;
	unsigned int			nr_events;
	unsigned int			scan_id;
	bool				scan;
	char				name[];
};

/**
 * struct ktrace_event - what sites of one system, name and format make together
 * @call: the trace event; its name is @name where that was free
 * @node: in ktrace_events, by name
 * @sites: the sites; none when the module of the last one is gone
 * @name: the name that the sites have, and behind its final 0 their format
 * @links: trace arrays in which the event is on
 * @size: bytes of a record without what is behind the fields
 * @nr_fields: number of arguments
 * @first_piece: the first argument that may have bytes behind the fields
 * @contents: enum ktrace_contents
 * @holes: some bytes are between the fields
 * @perf: perf wants the event
 * @fields: the arguments
 *
 * There may be thousands, and nobody ever looks at most of them. So a member
 * that can be derived is left out, and the fields of @call and its print_fmt are
 * made when somebody asks for them, see ktrace_get_fields().
 */
struct ktrace_event {
	struct trace_event_call	call;
	struct hlist_node	node;
	struct ktrace_site	*sites;
	const char		*name;
	/* Recording reads what follows. */
	struct hlist_head	links;
	u16			size;
	u8			nr_fields;
	u8			first_piece;
	u8			contents;
	bool			holes;
	bool			perf;
	struct ktrace_field	fields[] __counted_by(nr_fields);
};

/* A trace array that wants an event. In tracepoint_srcu. */
struct ktrace_link {
	struct hlist_node	node;
	struct trace_event_file	*file;
	struct rcu_head		rcu;
};

/* The sites of the kernel, or of a module. */
struct ktrace_table {
	struct list_head	list;
	struct module		*mod;
	struct ktrace_site	*sites;
	unsigned int		nr;
};

/* trace_ktrace.c: events and their sites */

/* struct ktrace_table, in the order in which they came, with event_mutex */
extern struct list_head ktrace_tables;

/* Bounds of the section, see vmlinux.lds.h */
extern struct ktrace_site __start___ktrace_sites[];
extern struct ktrace_site __stop___ktrace_sites[];

void ktrace_init(void);
void ktrace_switch_site(struct ktrace_site *site);
void ktrace_add_table(struct ktrace_table *table, bool early);
int ktrace_remove_event(struct ktrace_event *event);
void ktrace_walk_events(void (*func)(struct ktrace_event *event));
struct trace_event_file *ktrace_file(struct trace_array *tr,
				     struct ktrace_event *event);

static inline struct ktrace_event *to_ktrace_event(struct trace_event_call *call)
{
	return container_of(call, struct ktrace_event, call);
}

static inline struct ktrace_system *
ktrace_event_system(const struct ktrace_event *event)
{
	return container_of(event->call.class, struct ktrace_system, class);
}

static inline const char *ktrace_event_fmt(const struct ktrace_event *event)
{
	return event->name + strlen(event->name) + 1;
}

static inline const char *ktrace_site_system(const struct ktrace_site *site)
{
	return site->text;
}

static inline const char *ktrace_site_name(const struct ktrace_site *site)
{
	return site->text + strlen(site->text) + 1;
}

static inline const char *ktrace_site_fmt(const struct ktrace_site *site)
{
	const char *name = ktrace_site_name(site);

	return name + strlen(name) + 1;
}

static inline const char *ktrace_table_name(const struct ktrace_table *table)
{
	return table->mod ? module_name(table->mod) : "vmlinux";
}

static inline bool ktrace_in_module(const struct module *mod)
{
	return mod->num_ktrace_sites;
}

/*
 * The name of a system that stands for the systems of all ktrace events, in
 * set_event and the like.
 */
static inline bool ktrace_call_in_system(const struct trace_event_call *call,
					 const char *system)
{
	return (call->flags & TRACE_EVENT_FL_KTRACE) &&
	       !strcmp(system, "ktrace");
}

/* trace_ktrace_format.c: from a format to fields */

struct ktrace_event *ktrace_make_event(const struct ktrace_site *site,
				       struct ktrace_system *system,
				       bool copy, char *error, size_t size);
void ktrace_free_event(struct ktrace_event *event);
struct list_head *ktrace_get_fields(struct trace_event_call *call);

/* trace_ktrace_print.c: from a record to text */

extern struct trace_event_functions ktrace_event_funcs;

#else /* !CONFIG_KTRACE */

static inline void ktrace_init(void)
{
}

static inline bool ktrace_in_module(const struct module *mod)
{
	return false;
}

static inline bool ktrace_call_in_system(const struct trace_event_call *call,
					 const char *system)
{
	return false;
}

#endif /* CONFIG_KTRACE */

/* trace_ktrace_module.c: modules come and go */

#if defined(CONFIG_KTRACE) && defined(CONFIG_MODULES)
void ktrace_module_coming(struct module *mod);
void ktrace_module_going(struct module *mod);
bool ktrace_call_in_module(struct trace_event_call *call, const char *module);
#else
static inline void ktrace_module_coming(struct module *mod)
{
}

static inline void ktrace_module_going(struct module *mod)
{
}

static inline bool ktrace_call_in_module(struct trace_event_call *call,
					 const char *module)
{
	return false;
}
#endif

#endif /* _LINUX_KERNEL_TRACE_KTRACE_H */

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

/* The longest of what formats dereference, a dump. */
#define KTRACE_MAX_COPY	64

/* What a record keeps of an argument, and what a field has of that. */
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

/* What a record is made of. */
enum ktrace_contents {
	KTRACE_VALUES,		/* values, and no strings or the like */
	KTRACE_A_STRING,	/* and one string */
	KTRACE_ANYTHING,
};

/**
 * struct ktrace_field - how an argument gets into the record
 * @op: enum ktrace_op
 * @type: enum ktrace_type
 * @star: the argument before this one says how long it is at most
 * @offset: in the record
 * @size: in the record; for what is behind the fields its bound, with the
 *	  final 0 of a string
 */
struct ktrace_field {
	u8	op;
	u8	type;
	bool	star;
	u16	offset;
	u16	size;
};

/**
 * struct ktrace_event - what sites of one name make together
 * @call: the trace event
 * @node: in ktrace_events, by name
 * @call_fields: for filters, triggers and the format file
 * @links: trace arrays in which the event is on
 * @sites: the sites; none when the module of the last one is gone
 * @fmt: format of the output
 * @text: allocated strings of the event
 * @types: types of the arguments, as in struct ktrace_site
 * @size: bytes of a record without what is behind the fields
 * @nr_fields: number of arguments
 * @first_piece: the first argument that may have bytes behind the fields
 * @contents: enum ktrace_contents
 * @holes: some bytes are between the fields
 * @perf: perf wants the event
 * @fields: the arguments
 */
struct ktrace_event {
	struct trace_event_call	call;
	struct hlist_node	node;
	struct list_head	call_fields;
	struct hlist_head	links;
	struct ktrace_site	*sites;
	const char		*fmt;
	char			*text;
	u64			types;
	u16			size;
	u8			nr_fields;
	u8			first_piece;
	u8			contents;
	bool			holes;
	bool			perf;
	struct ktrace_field	fields[] __counted_by(nr_fields);
};

/* The sites of the kernel, or of a module. */
struct ktrace_table {
	struct list_head	list;
	struct module		*mod;
	struct ktrace_site	*sites;
	unsigned int		nr;
};

/* trace_ktrace.c: recording, and the life of events */

extern struct trace_event_class ktrace_event_class;

/* struct ktrace_table, in the order in which they came, with event_mutex */
extern struct list_head ktrace_tables;

/* Of the linker */
extern struct ktrace_site __start___ktrace_sites[];
extern struct ktrace_site __stop___ktrace_sites[];

void ktrace_init(void);
void ktrace_switch_site(struct ktrace_site *site);
bool ktrace_site_hits(const struct ktrace_site *site, unsigned long *hits);

static inline const char *ktrace_site_fmt(const struct ktrace_site *site)
{
	return site->name + strlen(site->name) + 1;
}

static inline bool ktrace_in_module(const struct module *mod)
{
	return mod->num_ktrace_sites;
}

/* trace_ktrace_format.c: from a format to fields, and from those to text */

extern struct trace_event_functions ktrace_event_funcs;

struct ktrace_event *ktrace_make_event(const struct ktrace_site *site,
				       bool copy, char *error, size_t size);
void ktrace_free_event(struct ktrace_event *event);

/* trace_ktrace_sites.c: the file ktrace_sites */

void ktrace_init_tracefs(void);

#else /* !CONFIG_KTRACE */

static inline void ktrace_init(void)
{
}

static inline void ktrace_init_tracefs(void)
{
}

static inline bool ktrace_in_module(const struct module *mod)
{
	return false;
}

#endif /* CONFIG_KTRACE */

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

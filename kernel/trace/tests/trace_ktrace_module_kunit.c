// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for ktrace events of modules, and for those that are refused.
 *
 * The suite acts as a module with a struct module of its own, whose sites are
 * made by hand: ktrace looks at its name and its sites only.
 */

#include <kunit/test.h>
#include <linux/cleanup.h>
#include <linux/irqflags.h>
#include <linux/ktrace.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/stringify.h>
#include <linux/trace_events.h>
#include <linux/tracepoint.h>

#include <trace/events/kmem.h>

#include "../trace_output.h"
#include "trace_ktrace_kunit.h"

static struct module fake_module = {
	.name	= KTRACE_KUNIT_MODULE,
};

/* The name of an event whose own name was taken when the module came */
#define ALIAS(_name)	_name "__" KTRACE_KUNIT_MODULE

static void unload(void *unused)
{
	guard(mutex)(&event_mutex);
	ktrace_module_going(&fake_module);
}

/* The end of the test unloads it, too. */
void ktrace_kunit_load(struct kunit *test, struct ktrace_site *sites,
		       unsigned int nr)
{
	if (!IS_ENABLED(CONFIG_MODULES))
		kunit_skip(test, "no modules");

	fake_module.ktrace_sites = sites;
	fake_module.num_ktrace_sites = nr;
	scoped_guard(mutex, &event_mutex)
		ktrace_module_coming(&fake_module);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, unload, NULL), 0);
}

void ktrace_kunit_unload(struct kunit *test)
{
	kunit_release_action(test, unload, NULL);
}

void ktrace_kunit_expect_event(struct kunit *test,
			       const struct ktrace_site *site,
			       const char *event, const char *state)
{
	char line[200];
	const char *all;

	snprintf(line, sizeof(line), "%s:%u [%s] %s %s:%s %s ", site->file,
		 site->line, fake_module.name, site->func, site->text, event,
		 state);
	all = ktrace_kunit_read(test, "ktrace_sites");
	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(all, line), "no \"%s\" in\n%s",
				  line, all);
}

void ktrace_kunit_expect_state(struct kunit *test,
			       const struct ktrace_site *site,
			       const char *state)
{
	ktrace_kunit_expect_event(test, site, ktrace_site_name(site), state);
}

/* Modules come and go */

static void module_comes_and_goes(struct kunit *test)
{
	static struct ktrace_site sites[] = {
		KTRACE_KUNIT_SITE("kunit_mod", "m=%d", 1, 1),
		KTRACE_KUNIT_SITE("kunit_mod_other", "o=%s", 1, 2),
	};
	const char *all;

	KUNIT_EXPECT_FALSE(test, ktrace_kunit_exists(test, "kunit_mod"));
	ktrace_kunit_load(test, sites, 2);
	KUNIT_EXPECT_TRUE(test, ktrace_kunit_exists(test, "kunit_mod"));
	ktrace_kunit_expect_state(test, &sites[0], "off");
	ktrace_kunit_switch(test, "kunit_mod", true);
	ktrace_kunit_expect_state(test, &sites[0], "on");
	ktrace_kunit_expect_state(test, &sites[1], "off");
	__ktrace_call(&sites[0], 5);
	ktrace_kunit_unload(test);

	/* Events that were never on are gone; those with records can be read. */
	KUNIT_EXPECT_FALSE(test, ktrace_kunit_exists(test, "kunit_mod_other"));
	KUNIT_EXPECT_TRUE(test, ktrace_kunit_exists(test, "kunit_mod"));
	all = ktrace_kunit_read(test, "ktrace_sites");
	KUNIT_EXPECT_NULL_MSG(test, strstr(all, "kunit_mod"), "%s", all);
	ktrace_kunit_expect(test, "kunit_mod: m=5\n");

	/* It is still on when the module comes again. */
	ktrace_kunit_load(test, sites, 2);
	ktrace_kunit_expect_state(test, &sites[0], "on");
	__ktrace_call(&sites[0], 6);
	ktrace_kunit_switch(test, "kunit_mod", false);
	ktrace_kunit_expect_state(test, &sites[0], "off");
	ktrace_kunit_expect(test, "kunit_mod: m=5\nkunit_mod: m=6\n");

	/* Without records nothing keeps it. */
	ktrace_kunit_clear(test);
	ktrace_kunit_unload(test);
	KUNIT_EXPECT_FALSE(test, ktrace_kunit_exists(test, "kunit_mod"));
}

/* The edit, compile, load cycle of a developer */
static void format_changes(struct kunit *test)
{
	static struct ktrace_site old[] = {
		KTRACE_KUNIT_SITE("kunit_edit", "m=%d", 1, 1),
	};
	static struct ktrace_site new[] = {
		KTRACE_KUNIT_SITE("kunit_edit", "m=%d n=%d", 2, 1),
	};

	ktrace_kunit_load(test, old, 1);
	ktrace_kunit_switch(test, "kunit_edit", true);
	__ktrace_call(&old[0], 5);
	ktrace_kunit_unload(test);
	ktrace_kunit_expect(test, "kunit_edit: m=5\n");

	ktrace_kunit_load(test, new, 1);
	ktrace_kunit_expect_state(test, &new[0], "off");
	ktrace_kunit_expect(test, "");
	ktrace_kunit_switch(test, "kunit_edit", true);
	__ktrace_call(&new[0], 6, 7);
	ktrace_kunit_expect(test, "kunit_edit: m=6 n=7\n");
	ktrace_kunit_switch(test, "kunit_edit", false);
	ktrace_kunit_clear(test);
	ktrace_kunit_unload(test);
	KUNIT_EXPECT_FALSE(test, ktrace_kunit_exists(test, "kunit_edit"));
}

/* A format that is refused takes nobody's place, and no records away. */
static void format_changes_to_bad(struct kunit *test)
{
	static struct ktrace_site old[] = {
		KTRACE_KUNIT_SITE("kunit_kept", "m=%d", 1, 1),
	};
	static struct ktrace_site new[] = {
		KTRACE_KUNIT_SITE("kunit_kept", "m=%d n=%pd", 2, 1),
	};

	ktrace_kunit_load(test, old, 1);
	ktrace_kunit_switch(test, "kunit_kept", true);
	__ktrace_call(&old[0], 5);
	ktrace_kunit_unload(test);

	ktrace_kunit_load(test, new, 1);
	ktrace_kunit_expect_state(test, &new[0], "refused");
	ktrace_kunit_unload(test);
	ktrace_kunit_expect(test, "kunit_kept: m=5\n");

	ktrace_kunit_load(test, old, 1);
	ktrace_kunit_expect_state(test, &old[0], "on");
	ktrace_kunit_switch(test, "kunit_kept", false);
	ktrace_kunit_clear(test);
	ktrace_kunit_unload(test);
	KUNIT_EXPECT_FALSE(test, ktrace_kunit_exists(test, "kunit_kept"));
}

/* An event that somebody needs stays as it is; the new one records, too. */
static void format_changes_in_use(struct kunit *test)
{
	static struct ktrace_site old[] = {
		KTRACE_KUNIT_SITE("kunit_needed", "m=%d", 1, 1),
	};
	static struct ktrace_site new[] = {
		KTRACE_KUNIT_SITE("kunit_needed", "m=%d n=%d", 2, 1),
	};

	ktrace_kunit_load(test, old, 1);
	ktrace_kunit_switch(test, "kunit_needed", true);
	ktrace_kunit_set(test, "kunit_needed", "trigger", "traceon");
	ktrace_kunit_unload(test);

	ktrace_kunit_load(test, new, 1);
	ktrace_kunit_expect_event(test, &new[0], ALIAS("kunit_needed"), "off");
	ktrace_kunit_switch(test, ALIAS("kunit_needed"), true);
	__ktrace_call(&new[0], 6, 7);
	ktrace_kunit_expect(test, ALIAS("kunit_needed") ": m=6 n=7\n");
	ktrace_kunit_switch(test, ALIAS("kunit_needed"), false);
	ktrace_kunit_clear(test);
	ktrace_kunit_unload(test);

	ktrace_kunit_load(test, old, 1);
	ktrace_kunit_expect_state(test, &old[0], "on");
	__ktrace_call(&old[0], 8);
	ktrace_kunit_expect(test, "kunit_needed: m=8\n");
	ktrace_kunit_set(test, "kunit_needed", "trigger", "!traceon");
	ktrace_kunit_switch(test, "kunit_needed", false);
	ktrace_kunit_clear(test);
	ktrace_kunit_unload(test);
	KUNIT_EXPECT_FALSE(test, ktrace_kunit_exists(test, "kunit_needed"));
	KUNIT_EXPECT_FALSE(test,
			   ktrace_kunit_exists(test, ALIAS("kunit_needed")));
}

static noinline void trace_builtin_one(int a)
{
	ktrace(kunit_builtin, "a=%d", a);
}

static noinline void trace_builtin_two(int a)
{
	ktrace(kunit_builtin, "a=%d", a);
}

/* A module with another format than the kernel's: both record. */
static void formats_disagree(struct kunit *test)
{
	static struct ktrace_site sites[] = {
		KTRACE_KUNIT_SITE("kunit_builtin", "b=%d", 1, 1),
		KTRACE_KUNIT_SITE("kunit_builtin", "a=%d", 1, 2),
		KTRACE_KUNIT_SITE("kunit_builtin", "b=%d", 1, 3),
		/* The build refuses a third one, and so does this. */
		KTRACE_KUNIT_SITE("kunit_builtin", "c=%d", 1, 4),
	};

	ktrace_kunit_load(test, sites, 4);
	ktrace_kunit_expect_event(test, &sites[0], ALIAS("kunit_builtin"), "off");
	ktrace_kunit_expect_state(test, &sites[1], "off");
	ktrace_kunit_expect_event(test, &sites[2], ALIAS("kunit_builtin"), "off");
	ktrace_kunit_expect_state(test, &sites[3], "refused");
	ktrace_kunit_switch(test, "kunit_builtin", true);
	ktrace_kunit_expect_event(test, &sites[0], ALIAS("kunit_builtin"), "off");
	ktrace_kunit_expect_state(test, &sites[1], "on");
	ktrace_kunit_switch(test, ALIAS("kunit_builtin"), true);
	__ktrace_call(&sites[0], 1);
	__ktrace_call(&sites[1], 2);
	__ktrace_call(&sites[2], 3);
	__ktrace_call(&sites[3], 4);
	trace_builtin_one(5);
	ktrace_kunit_switch(test, ALIAS("kunit_builtin"), false);
	ktrace_kunit_unload(test);
	trace_builtin_two(6);
	ktrace_kunit_expect(test,
			    ALIAS("kunit_builtin") ": b=1\n"
			    "kunit_builtin: a=2\n"
			    ALIAS("kunit_builtin") ": b=3\n"
			    "kunit_builtin: a=5\n"
			    "kunit_builtin: a=6\n");
	ktrace_kunit_clear(test);
}

/* The same name in two systems, and all of them at once as "ktrace" */
static void two_systems(struct kunit *test)
{
	static struct ktrace_site sites[] = {
		KTRACE_KUNIT_SITE_IN("kunit_drv_a", "kunit_link", "a=%d", 1, 1),
		KTRACE_KUNIT_SITE_IN("8kunit_drv", "kunit_link", "b=%s", 1, 2),
	};
	struct ktrace_kunit *ctx = test->priv;
	char link[] = "ktrace:kunit_link";
	char all[] = "ktrace:*";

	ktrace_kunit_load(test, sites, 2);
	ktrace_kunit_expect_state(test, &sites[0], "off");
	ktrace_kunit_expect_state(test, &sites[1], "off");
	KUNIT_ASSERT_EQ(test,
			trace_array_set_clr_event(ctx->env.tr, "8kunit_drv",
						  "kunit_link", true), 0);
	__ktrace_call(&sites[1], (unsigned long)"one");
	ktrace_kunit_expect_state(test, &sites[0], "off");
	ktrace_kunit_expect_state(test, &sites[1], "on");

	KUNIT_ASSERT_EQ(test, ftrace_set_clr_event(ctx->env.tr, link, 1), 0);
	__ktrace_call(&sites[0], 2);
	__ktrace_call(&sites[1], (unsigned long)"three");
	trace_builtin_one(4);
	KUNIT_ASSERT_EQ(test, ftrace_set_clr_event(ctx->env.tr, all, 1), 0);
	trace_builtin_one(5);
	__ktrace_call(&sites[0], 6);
	KUNIT_ASSERT_EQ(test, ftrace_set_clr_event(ctx->env.tr, all, 0), 0);
	ktrace_kunit_expect_state(test, &sites[0], "off");
	ktrace_kunit_expect_state(test, &sites[1], "off");
	trace_builtin_one(7);
	ktrace_kunit_expect(test,
			    "kunit_link: b=one\n"
			    "kunit_link: a=2\n"
			    "kunit_link: b=three\n"
			    "kunit_builtin: a=5\n"
			    "kunit_link: a=6\n");
	ktrace_kunit_clear(test);
	ktrace_kunit_unload(test);
}

static int other_reg(struct trace_event_call *call, enum trace_reg type,
		     void *data)
{
	return 0;
}

static int other_raw_init(struct trace_event_call *call)
{
	return register_trace_event(&call->event) ? 0 : -ENODEV;
}

static enum print_line_t other_print(struct trace_iterator *iter, int flags,
				     struct trace_event *event)
{
	return TRACE_TYPE_HANDLED;
}

static struct trace_event_fields other_fields[] = { {} };

static struct trace_event_functions other_funcs = {
	.trace		= other_print,
};

static struct trace_event_class other_class = {
	.system		= KTRACE_KUNIT_SYSTEM,
	.reg		= other_reg,
	.raw_init	= other_raw_init,
	.fields_array	= other_fields,
	.fields		= LIST_HEAD_INIT(other_class.fields),
};

static struct trace_event_call other_call = {
	.name		= "kunit_other",
	.class		= &other_class,
	.event.funcs	= &other_funcs,
	.print_fmt	= "\"\"",
	.flags		= TRACE_EVENT_FL_DYNAMIC,
};

static void remove_other(void *data)
{
	struct kunit *test = data;
	int ret;

	scoped_guard(mutex, &event_mutex)
		ret = trace_remove_event_call(&other_call);
	KUNIT_EXPECT_EQ(test, ret, 0);
}

/* How often a task frees some memory */
struct freed {
	struct task_struct	*task;
	const void		*ptrs[3];
	unsigned int		nr[3];
};

static void count_freed(void *data, unsigned long ip, const void *ptr)
{
	struct freed *freed = data;

	if (current != freed->task || !in_task())
		return;
	for (int i = 0; i < ARRAY_SIZE(freed->ptrs); i++)
		freed->nr[i] += freed->ptrs[i] == ptr;
}

/* An event takes its name with it, and its alias: each of them once. */
static void unload_with_names(struct kunit *test,
			      const struct ktrace_site *alias,
			      const struct ktrace_site *plain)
{
	struct freed freed = { .task = current };

	KUNIT_ASSERT_NOT_NULL(test, alias->event);
	KUNIT_ASSERT_NOT_NULL(test, plain->event);
	freed.ptrs[0] = alias->event->name;
	freed.ptrs[1] = alias->event->call.name;
	freed.ptrs[2] = plain->event->name;
	KUNIT_ASSERT_EQ(test, register_trace_kfree(count_freed, &freed), 0);
	ktrace_kunit_unload(test);
	unregister_trace_kfree(count_freed, &freed);
	tracepoint_synchronize_unregister();
	for (int i = 0; i < ARRAY_SIZE(freed.nr); i++)
		KUNIT_EXPECT_EQ_MSG(test, freed.nr[i], 1, "name %d", i);
}

/* As a kprobe event, which can be in any system */
static void other_event(struct kunit *test)
{
	static struct ktrace_site sites[] = {
		KTRACE_KUNIT_SITE("kunit_other", "m=%d", 1, 1),
		KTRACE_KUNIT_SITE("kunit_mod", "m=%d", 1, 2),
	};
	int ret;

	/* The suite may run again. */
	other_call.event.type = 0;
	scoped_guard(mutex, &event_mutex)
		ret = trace_add_event_call(&other_call);
	KUNIT_ASSERT_EQ(test, ret, 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, remove_other,
							test), 0);

	ktrace_kunit_load(test, sites, 2);
	ktrace_kunit_expect_event(test, &sites[0], ALIAS("kunit_other"), "off");
	ktrace_kunit_expect_state(test, &sites[1], "off");
	unload_with_names(test, &sites[0], &sites[1]);
	kunit_release_action(test, remove_other, test);

	/* Nothing else was in the way. */
	ktrace_kunit_load(test, sites, 2);
	ktrace_kunit_expect_state(test, &sites[0], "off");
	ktrace_kunit_unload(test);
}

static void refused_sites(struct kunit *test)
{
	static struct ktrace_site sites[] = {
		KTRACE_KUNIT_SITE("kunit_bad0", "%pd", 1, 1),
		KTRACE_KUNIT_SITE("kunit_bad1", "%pV", 1, 2),
		KTRACE_KUNIT_SITE("kunit_bad2", "%d %d", 1, 3),
		KTRACE_KUNIT_SITE("kunit_bad3", "%d", 2, 4),
		KTRACE_KUNIT_SITE("kunit_bad4", "%s", 0, 5),
		KTRACE_KUNIT_SITE("kunit_bad5", "%*d", 1, 6),
		KTRACE_KUNIT_SITE("kunit_bad6", "%pI7", 1, 7),
		KTRACE_KUNIT_SITE("kunit_bad7", "%ph", 1, 8),
		KTRACE_KUNIT_SITE("kunit_bad8", "%d", 200, 9),
		KTRACE_KUNIT_SITE("kunit_bad15", "%*.*ph", 3, 12),
		KTRACE_KUNIT_SITE("kunit_bad9", "%pt", 1, 10),
		KTRACE_KUNIT_SITE("kunit_bad10", "%psymbolofit", 1, 11),
		/* Files of each system of events */
		KTRACE_KUNIT_SITE("enable", "%d", 1, 13),
		KTRACE_KUNIT_SITE("filter", "%d", 1, 14),
		/* These can't be names of files, or of events in set_event. */
		KTRACE_KUNIT_SITE("1kunit", "%d", 1, 15),
		KTRACE_KUNIT_SITE("kunit-bad", "%d", 1, 16),
		KTRACE_KUNIT_SITE("kunit/bad", "%d", 1, 17),
		/* An object of two modules, and the name of all systems */
		KTRACE_KUNIT_SITE_IN("foo:bar", "kunit_bad11", "%d", 1, 18),
		KTRACE_KUNIT_SITE_IN("ktrace", "kunit_bad12", "%d", 1, 19),
		KTRACE_KUNIT_SITE_IN("", "kunit_bad13", "%d", 1, 20),
		KTRACE_KUNIT_SITE("kunit_good", "%d", 1, 21),
		KTRACE_KUNIT_SITE("kunit_good", "%d", 2, 23),
		KTRACE_KUNIT_SITE("kunit_bad14", "", 0, 22),
	};
	struct ktrace_site *too_long = &sites[ARRAY_SIZE(sites) - 1];
	struct ktrace_site *good = &sites[ARRAY_SIZE(sites) - 3];
	char *text = kunit_kzalloc(test, 2048, GFP_KERNEL);
	const char *name;
	int len;

	KUNIT_ASSERT_NOT_NULL(test, text);
	len = snprintf(text, 2048, "%s%ckunit_bad14", KTRACE_KUNIT_SYSTEM, 0);
	memset(text + len + 1, '.', 1024);
	too_long->text = text;

	ktrace_kunit_load(test, sites, ARRAY_SIZE(sites));
	for (int i = 0; i < ARRAY_SIZE(sites); i++) {
		if (&sites[i] == good)
			continue;
		ktrace_kunit_expect_state(test, &sites[i], "refused");
		name = ktrace_site_name(&sites[i]);
		KUNIT_EXPECT_EQ(test, ktrace_kunit_exists(test, name),
				!strcmp(name, "kunit_good"));
	}
	ktrace_kunit_expect_state(test, good, "off");
	ktrace_kunit_unload(test);
}

/* The build refuses the same formats, see trace_ktrace_formats.h. */
static void formats_as_built(struct kunit *test)
{
#define GOOD(_nr, _fmt)	KTRACE_KUNIT_SITE("kunit_good" __stringify(__LINE__), \
					  _fmt, _nr, __LINE__),
#define BAD(_nr, _fmt)	KTRACE_KUNIT_SITE("kunit_bad" __stringify(__LINE__), \
					  _fmt, _nr, __LINE__),
	static struct ktrace_site sites[] = {
#include "trace_ktrace_formats.h"
	};
#undef GOOD
#undef BAD

	/* vsprintf warns of conversions that it does not have. */
	kunit_warning_suppress(test)
		ktrace_kunit_load(test, sites, ARRAY_SIZE(sites));
	for (int i = 0; i < ARRAY_SIZE(sites); i++) {
		bool good = strstarts(ktrace_site_name(&sites[i]), "kunit_good");

		ktrace_kunit_expect_state(test, &sites[i],
					  good ? "off" : "refused");
	}
	ktrace_kunit_unload(test);
}

static void events_of_module(struct kunit *test)
{
	static struct ktrace_site sites[] = {
		KTRACE_KUNIT_SITE("kunit_mod", "m=%d", 1, 1),
		/* The width of a % is ignored. The compiler warns of one. */
		KTRACE_KUNIT_SITE("kunit_mod_other", "%5%o=%d %-%", 1, 2),
	};
	struct ktrace_kunit *ctx = test->priv;
	char events[] = ":mod:" KTRACE_KUNIT_MODULE;

	ktrace_kunit_load(test, sites, 2);
	KUNIT_EXPECT_EQ(test, ftrace_set_clr_event(ctx->env.tr, events, 1), 0);
	ktrace_kunit_expect_state(test, &sites[0], "on");
	ktrace_kunit_expect_state(test, &sites[1], "on");
	trace_builtin_one(1);
	__ktrace_call(&sites[1], 2);
	ktrace_kunit_expect(test, "kunit_mod_other: %o=2 %\n");
	ktrace_kunit_switch(test, "kunit_mod", false);
	ktrace_kunit_switch(test, "kunit_mod_other", false);
	ktrace_kunit_clear(test);
	ktrace_kunit_unload(test);
}

/* As ftrace_dump() prints a record where the option fields is on */
static void expect_in_dump(struct kunit *test, struct trace_event_call *call,
			   const char *text)
{
	struct ring_buffer_event *rb = ktrace_kunit_consume(test);
	struct ktrace_kunit *ctx = test->priv;
	struct trace_iterator *iter;
	unsigned long flags;

	iter = kunit_kzalloc(test, sizeof(*iter), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, iter);
	iter->tr = ctx->env.tr;
	iter->ent = ring_buffer_event_data(rb);
	iter->ent_size = ring_buffer_event_length(rb);
	trace_seq_init(&iter->seq);

	trace_event_read_lock();
	local_irq_save(flags);
	print_event_fields(iter, &call->event);
	local_irq_restore(flags);
	trace_event_read_unlock();

	trace_seq_putc(&iter->seq, '\0');
	KUNIT_EXPECT_STREQ(test, iter->seq.buffer, text);
}

/* Fields are made for those who ask for them, and a dump can't. */
static void fields_on_demand(struct kunit *test)
{
	static struct ktrace_site sites[] = {
		KTRACE_KUNIT_SITE("kunit_asked", "m=%d", 1, 1),
	};
	struct trace_event_call *call;
	struct list_head *fields;

	ktrace_kunit_load(test, sites, 1);
	KUNIT_ASSERT_NOT_NULL(test, sites[0].event);
	call = &sites[0].event->call;
	ktrace_kunit_switch(test, "kunit_asked", true);
	__ktrace_call(&sites[0], 5);
	__ktrace_call(&sites[0], 6);
	ktrace_kunit_expect(test, "kunit_asked: m=5\nkunit_asked: m=6\n");
	expect_in_dump(test, call, "kunit_asked: m=5\n");
	KUNIT_EXPECT_NULL(test, call->data);

	fields = trace_get_fields(call);
	KUNIT_EXPECT_NOT_NULL(test, call->data);
	KUNIT_EXPECT_EQ(test, list_count_nodes(fields), 1);
	KUNIT_EXPECT_STREQ(test, call->print_fmt, "\"m=%d\", REC->m");
	KUNIT_EXPECT_PTR_EQ(test, fields, trace_get_fields(call));
	expect_in_dump(test, call, "kunit_asked: m=0x6 (6)\n");

	ktrace_kunit_switch(test, "kunit_asked", false);
	ktrace_kunit_clear(test);
	ktrace_kunit_unload(test);
}

static struct kunit_case module_cases[] = {
	KUNIT_CASE(module_comes_and_goes),
	KUNIT_CASE(format_changes),
	KUNIT_CASE(format_changes_to_bad),
	KUNIT_CASE(format_changes_in_use),
	KUNIT_CASE(formats_disagree),
	KUNIT_CASE(two_systems),
	KUNIT_CASE(other_event),
	KUNIT_CASE(refused_sites),
	KUNIT_CASE(formats_as_built),
	KUNIT_CASE(events_of_module),
	KUNIT_CASE(fields_on_demand),
	{}
};

static struct kunit_suite module_suite = {
	.name		= "trace_ktrace_module",
	.init		= ktrace_kunit_init,
	.test_cases	= module_cases,
};

kunit_test_suite(module_suite);

MODULE_DESCRIPTION("KUnit tests for ktrace events of modules");
MODULE_LICENSE("GPL");

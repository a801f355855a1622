// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for trace exports of one trace array, see
 * trace_array_register_export().
 */

#include <kunit/test.h>
#include <linux/trace.h>

#include "../trace_export_core.h"
#include "trace_export_helpers.h"

static void event_off(void *tr)
{
	trace_array_set_clr_event(tr, EXPORT_KUNIT, NULL, false);
}

static void isolated(struct kunit *test)
{
	struct sink *all = export_sink_new(test, TRACE_EXPORT_EVENT);
	struct trace_array *other = export_kunit_other(test);
	struct export_kunit *ctx = test->priv;
	struct sink *mine, *its, *top;

	mine = export_sink_new_for(test, ctx->env.tr, TRACE_EXPORT_EVENT);
	its = export_sink_new_for(test, other, TRACE_EXPORT_EVENT);
	top = export_sink_new_for(test, top_trace_array(), TRACE_EXPORT_EVENT);

	event_off(other);
	trace_export_kunit(0, 0, 8);
	export_sink_expect(test, mine, 1);
	export_sink_expect(test, its, 0);
	export_sink_expect(test, all, 1);
	export_sink_expect(test, top, 0);

	event_off(ctx->env.tr);
	trace_array_set_clr_event(other, EXPORT_KUNIT, NULL, true);
	trace_export_kunit(1, 0, 8);
	export_sink_expect(test, mine, 1);
	export_sink_expect(test, its, 1);
	export_sink_expect(test, all, 2);
	export_sink_expect(test, top, 0);
}

static void top_level(struct kunit *test)
{
	struct trace_array *tr = top_trace_array();
	struct export_kunit *ctx = test->priv;
	struct sink *top;

	top = export_sink_new_for(test, tr, TRACE_EXPORT_EVENT);
	KUNIT_EXPECT_EQ(test, trace_array_register_export(tr, &top->export),
			-EEXIST);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, event_off, tr),
			0);
	KUNIT_ASSERT_EQ(test, trace_array_set_clr_event(tr, EXPORT_KUNIT, NULL,
							true), 0);
	event_off(ctx->env.tr);
	trace_export_kunit(0, 0, 8);
	export_sink_expect(test, top, 1);
}

static void in_several(struct kunit *test)
{
	struct trace_array *other = export_kunit_other(test);
	struct export_kunit *ctx = test->priv;
	struct export_registration *reg;
	struct sink *sink;

	sink = export_sink_new_for(test, ctx->env.tr, TRACE_EXPORT_EVENT);
	reg = export_kunit_register(test, other, &sink->export);

	event_off(ctx->env.tr);
	trace_export_kunit(0, 0, 8);
	export_sink_expect(test, sink, 1);

	export_kunit_unregister(test, reg);
	trace_export_kunit(0, 1, 8);
	export_sink_expect(test, sink, 1);

	trace_array_set_clr_event(ctx->env.tr, EXPORT_KUNIT, NULL, true);
	trace_export_kunit(0, 1, 8);
	export_sink_expect(test, sink, 2);
}

static void no_record_twice(struct kunit *test)
{
	struct sink *all = export_sink_new(test, TRACE_EXPORT_EVENT);
	struct trace_array *other = export_kunit_other(test);
	struct export_kunit *ctx = test->priv;
	struct trace_array *tr = ctx->env.tr;
	struct sink *one;

	one = export_sink_new_for(test, tr, TRACE_EXPORT_EVENT);
	KUNIT_EXPECT_EQ(test, trace_array_register_export(tr, &one->export),
			-EEXIST);
	KUNIT_EXPECT_EQ(test, register_ftrace_export(&one->export), -EEXIST);
	KUNIT_EXPECT_EQ(test, trace_array_register_export(tr, &all->export),
			-EEXIST);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_export(&one->export), -ENOENT);
	KUNIT_EXPECT_EQ(test, trace_array_unregister_export(other,
							    &one->export),
			-ENOENT);
	KUNIT_EXPECT_EQ(test, trace_array_unregister_export(tr, &all->export),
			-ENOENT);

	event_off(other);
	trace_export_kunit(0, 0, 8);
	export_sink_expect(test, one, 1);
	export_sink_expect(test, all, 1);
}

static void invalid(struct kunit *test)
{
	struct trace_export none = { .flags = TRACE_EXPORT_EVENT };
	struct sink *event = export_sink_alloc(test, TRACE_EXPORT_EVENT);
	struct sink *sink = export_sink_alloc(test, 0);
	struct export_kunit *ctx = test->priv;
	struct trace_array *tr = ctx->env.tr;

	KUNIT_EXPECT_EQ(test, trace_array_register_export(tr, &sink->export),
			-EINVAL);
	/* The flag behind the last one */
	sink->export.flags = BIT(TRACE_EXPORT_NR_TYPES);
	KUNIT_EXPECT_EQ(test, trace_array_register_export(tr, &sink->export),
			-EINVAL);
	kunit_warning_suppress(test) {
		KUNIT_EXPECT_EQ(test, trace_array_register_export(tr, &none),
				-EINVAL);
	}

	/* A driver that does not look at trace_array_get_by_name() */
	KUNIT_EXPECT_EQ(test, trace_array_register_export(NULL, &event->export),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, trace_array_unregister_export(NULL,
							    &event->export),
			-EINVAL);
	trace_export_kunit(0, 0, 8);
	export_sink_expect(test, event, 0);
}

static void keeps_instance(struct kunit *test)
{
	struct sink *sink = export_sink_alloc(test, TRACE_EXPORT_EVENT);
	struct trace_array *tr;

	KUNIT_ASSERT_EQ(test, trace_kunit_mkdir(test, EXPORT_KUNIT_OTHER), 0);
	tr = trace_kunit_find(EXPORT_KUNIT_OTHER);

	/* No assertion: it would leave the instance. */
	KUNIT_EXPECT_EQ(test, trace_array_register_export(tr, &sink->export),
			0);
	KUNIT_EXPECT_EQ(test, trace_kunit_rmdir(test, EXPORT_KUNIT_OTHER),
			-EBUSY);
	KUNIT_EXPECT_EQ(test, trace_array_unregister_export(tr, &sink->export),
			0);
	KUNIT_EXPECT_EQ(test, trace_kunit_rmdir(test, EXPORT_KUNIT_OTHER), 0);
	KUNIT_EXPECT_EQ(test, trace_array_register_export(tr, &sink->export),
			-ENODEV);
}

static void leaves_nothing(struct kunit *test)
{
	struct sink *sink = export_sink_alloc(test, TRACE_EXPORT_EVENT);
	struct export_kunit *ctx = test->priv;
	struct export_registration *reg;
	struct trace_export_node *node;
	const bool *freed;

	reg = export_kunit_register(test, ctx->env.tr, &sink->export);
	node = hlist_entry_safe(ctx->env.tr->exports.first,
				struct trace_export_node, list);
	KUNIT_ASSERT_NOT_NULL(test, node);
	freed = trace_kunit_watch_free(test, node);
	export_kunit_unregister(test, reg);
	KUNIT_EXPECT_TRUE(test, *freed);
	KUNIT_EXPECT_TRUE(test, hlist_empty(&ctx->env.tr->exports));
}

static void made_later(struct kunit *test)
{
	struct sink *all = export_sink_new(test, TRACE_EXPORT_EVENT);
	struct export_kunit *ctx = test->priv;

	export_kunit_other(test);
	event_off(ctx->env.tr);
	trace_export_kunit(0, 0, 8);
	export_sink_expect(test, all, 1);
}

static void enable_tracing(void *unused)
{
	tracing_disabled = 0;
}

static void disabled_for_good(struct kunit *test)
{
	struct sink *sink = export_sink_alloc(test, TRACE_EXPORT_EVENT);
	struct export_kunit *ctx = test->priv;
	struct trace_array *tr = ctx->env.tr;

	KUNIT_ASSERT_FALSE(test, tracing_disabled);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, enable_tracing,
							NULL), 0);
	tracing_disabled = 1;
	KUNIT_EXPECT_EQ(test, trace_array_register_export(tr, &sink->export),
			-ENODEV);
	KUNIT_EXPECT_EQ(test, register_ftrace_export(&sink->export), -ENODEV);
	kunit_release_action(test, enable_tracing, NULL);

	trace_export_kunit(0, 0, 8);
	export_sink_expect(test, sink, 0);
	export_kunit_register(test, tr, &sink->export);
	trace_export_kunit(0, 0, 8);
	export_sink_expect(test, sink, 1);
}

/* One allocation after the other fails, until none does. */
static void without_memory(struct kunit *test)
{
	struct sink *sink = export_sink_alloc(test, TRACE_EXPORT_EVENT);
	struct export_kunit *ctx = test->priv;
	struct trace_array *tr = ctx->env.tr;
	unsigned int nth = 0;
	int ret;

	trace_kunit_failslab(test);
	do {
		trace_kunit_fail(++nth);
		ret = trace_array_register_export(tr, &sink->export);
		trace_kunit_fail_stop();
		if (ret) {
			KUNIT_ASSERT_EQ(test, ret, -ENOMEM);
			trace_export_kunit(0, 0, 8);
			export_sink_expect(test, sink, 0);
		}
	} while (ret);
	KUNIT_EXPECT_GT(test, nth, 1);
	KUNIT_EXPECT_EQ(test, trace_array_unregister_export(tr, &sink->export),
			0);
}

static const struct {
	const char	*words;
	int		types;
} lists[] = {
	{ "function", TRACE_EXPORT_FUNCTION },
	{ "tracer", TRACE_EXPORT_TRACER },
	{ "marker,event", TRACE_EXPORT_MARKER | TRACE_EXPORT_EVENT },
	{ "event,event", TRACE_EXPORT_EVENT },
	{ "function,event,marker,printk,raw_marker,graph,stack,tracer", 0xff },
	{ "", -EINVAL },
	{ ",", -EINVAL },
	{ "event,", -EINVAL },
	{ ",event", -EINVAL },
	{ "event,,marker", -EINVAL },
	{ "event marker", -EINVAL },
	{ "event\n", -EINVAL },
	{ "even", -EINVAL },
	{ "events", -EINVAL },
	{ "EVENT", -EINVAL },
	{ "event,nonsense", -EINVAL },
	{ "all", -EINVAL },
	{ "7", -EINVAL },
};

static void words(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(lists); i++) {
		KUNIT_EXPECT_EQ_MSG(test,
				    trace_export_parse_types(lists[i].words),
				    lists[i].types, "\"%s\"", lists[i].words);
	}
}

static struct kunit_case array_cases[] = {
	KUNIT_CASE(isolated),
	KUNIT_CASE(top_level),
	KUNIT_CASE(in_several),
	KUNIT_CASE(no_record_twice),
	KUNIT_CASE(invalid),
	KUNIT_CASE(keeps_instance),
	KUNIT_CASE(leaves_nothing),
	KUNIT_CASE(made_later),
	KUNIT_CASE(disabled_for_good),
	KUNIT_CASE(without_memory),
	KUNIT_CASE(words),
	{}
};

static struct kunit_suite array_suite = {
	.name		= "trace_export_array",
	.init		= export_kunit_init,
	.test_cases	= array_cases,
};

kunit_test_suite(array_suite);

MODULE_DESCRIPTION("KUnit tests for trace exports of one trace array");
MODULE_LICENSE("GPL");

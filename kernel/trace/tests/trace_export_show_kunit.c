// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the file "exports", which shows the trace exports and their
 * counters.
 */

#include <kunit/test.h>
#include <linux/trace.h>

#include "trace_export_helpers.h"

static void file_shows_exports(struct kunit *test)
{
	struct mirror *mirror, *elsewhere, *all, *nameless;
	struct export_kunit *ctx = test->priv;
	char line[160];

	all = export_mirror_alloc(test, TRACE_EXPORT_TRACER);
	all->export.name = "with space";
	export_kunit_register(test, NULL, &all->export);
	elsewhere = export_mirror_alloc(test, TRACE_EXPORT_PRINTK);
	export_kunit_register(test, export_kunit_other(test),
			      &elsewhere->export);
	mirror = export_mirror_new(test, TRACE_EXPORT_EVENT |
					 TRACE_EXPORT_STACK);
	export_kunit_expect_shown(test, "\nmirror instance event,stack 0 0 0\n");

	trace_export_kunit(0, 0, 8);
	trace_export_kunit(0, 1, 8);
	snprintf(line, sizeof(line), "\nmirror instance event,stack 2 %u 0\n",
		 2 * mirror->record[0].len);
	export_kunit_expect_shown(test, line);
	KUNIT_EXPECT_TRUE(test, strstarts(ctx->env.text,
					  "# name scope types records bytes missed\n"));
	export_kunit_expect_shown(test, "\nwith\\040space all tracer ");
	/* That of the other instance */
	KUNIT_EXPECT_NULL(test, strstr(ctx->env.text, " printk 0 0 0\n"));

	/* Its function stands in for the name. */
	nameless = export_mirror_alloc(test, TRACE_EXPORT_MARKER);
	nameless->export.name = NULL;
	export_kunit_register(test, NULL, &nameless->export);
	snprintf(line, sizeof(line), "\n%ps all marker 0 0 0\n",
		 nameless->export.write_record);
	export_kunit_expect_shown(test, line);
}

/* The counters do not wrap at 4 GiB. */
static void file_shows_large_numbers(struct kunit *test)
{
	struct export_kunit *ctx = test->priv;
	struct trace_export_stats *stats;
	struct trace_export_node *node;
	struct mirror *mirror;
	char line[80];

	mirror = export_mirror_new(test, TRACE_EXPORT_EVENT);
	node = hlist_entry_safe(ctx->env.tr->exports.first,
				struct trace_export_node, list);
	KUNIT_ASSERT_NOT_NULL(test, node);
	KUNIT_ASSERT_PTR_EQ(test, node->export, &mirror->export);
	stats = per_cpu_ptr(node->stats, raw_smp_processor_id());
	local64_set(&stats->bytes, U32_MAX);
	trace_export_kunit(0, 0, 8);
	snprintf(line, sizeof(line), "\nmirror instance event 1 %llu 0\n",
		 (u64)U32_MAX + mirror->record[0].len);
	export_kunit_expect_shown(test, line);
}

/* trace_export_parse_types() takes what the file shows. */
static void file_shows_words(struct kunit *test)
{
	struct export_kunit *ctx = test->priv;

	for (int type = BIT(0); type < ALL_TYPES; type <<= 1) {
		struct mirror *mirror = export_mirror_alloc(test, type);
		struct export_registration *reg;
		char word[16];
		char *line;
		int words;

		reg = export_kunit_register(test, ctx->env.tr, &mirror->export);
		export_kunit_expect_shown(test, "\nmirror instance ");
		line = strstr(ctx->env.text, "\nmirror instance ");
		KUNIT_ASSERT_NOT_NULL(test, line);
		words = sscanf(line, " mirror instance %15s", word);
		KUNIT_ASSERT_EQ(test, words, 1);
		KUNIT_EXPECT_EQ(test, trace_export_parse_types(word), type);
		export_kunit_unregister(test, reg);
	}
}

static struct kunit_case show_cases[] = {
	KUNIT_CASE(file_shows_exports),
	KUNIT_CASE(file_shows_large_numbers),
	KUNIT_CASE(file_shows_words),
	{}
};

static struct kunit_suite show_suite = {
	.name		= "trace_export_show",
	.init		= export_kunit_init,
	.test_cases	= show_cases,
};

kunit_test_suite(show_suite);

MODULE_DESCRIPTION("KUnit tests for the file and the counters of trace exports");
MODULE_LICENSE("GPL");

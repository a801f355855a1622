// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the events of trace instances in kernel code, and for the
 * filters of the events.
 */

#include <kunit/test.h>

#include "trace_inst_kunit.h"

static int set_filter(struct kunit *test, const char *filter)
{
	return trace_array_set_event_filter(inst_tr(test), INST_SYSTEM,
					    INST_EVENT, filter);
}

static void set_events(struct kunit *test, const char *event, bool enable)
{
	KUNIT_EXPECT_EQ(test, trace_array_set_clr_event(inst_tr(test),
							INST_SYSTEM, event,
							enable), 0);
}

static void events_by_name(struct kunit *test)
{
	set_events(test, NULL, true);
	inst_expect_file(test, INST_FILES "enable", "1\n");
	inst_expect_file(test, "events/" INST_SYSTEM "/enable", "1\n");
	set_events(test, NULL, false);
	inst_expect_file(test, "set_event", "");

	set_events(test, INST_EVENT, true);
	inst_expect_file(test, "set_event", INST_SYSTEM ":" INST_EVENT "\n");
	inst_record(0, 3);
	trace_inst_kunit_other(0, 3, 8);
	inst_expect_records(test, 0, 0, 3);
	KUNIT_EXPECT_EQ(test, trace_array_set_clr_event(inst_tr(test),
							INST_SYSTEM, "nosuch",
							true), -EINVAL);
}

static void filter_discards(struct kunit *test)
{
	struct trace_array *tr = inst_tr(test);

	inst_enable(test);
	KUNIT_EXPECT_EQ(test, set_filter(test, "seq >= 5 && seq < 8"), 0);
	inst_expect_file(test, INST_FILES "filter", "seq >= 5 && seq < 8\n");
	inst_record(0, 10);
	inst_expect_records(test, 0, 5, 3);

	/* The next filter replaces it. */
	KUNIT_EXPECT_EQ(test, trace_array_clear(tr), 0);
	KUNIT_EXPECT_EQ(test, set_filter(test, "seq < 2\n"), 0);
	inst_record(0, 10);
	inst_expect_records(test, 0, 0, 2);

	KUNIT_EXPECT_EQ(test, trace_array_clear(tr), 0);
	KUNIT_EXPECT_EQ(test, set_filter(test, "0"), 0);
	inst_expect_file(test, INST_FILES "filter", "none\n");
	inst_record(0, 10);
	inst_expect_records(test, 0, 0, 10);
}

/* As a write to the file, it removes the previous filter. */
static void filter_wrong(struct kunit *test)
{
	static const char wrong[] = "nosuch == 1";
	char *shown;

	inst_enable(test);
	KUNIT_ASSERT_EQ(test, set_filter(test, "seq == 1"), 0);
	KUNIT_ASSERT_EQ(test, trace_kunit_write(test, INST_FILES "filter",
						wrong), -EINVAL);
	shown = kunit_kstrdup(test, inst_file(test, INST_FILES "filter"),
			      GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, shown);
	KUNIT_ASSERT_EQ(test, set_filter(test, "seq == 1"), 0);
	inst_write(test, "error_log", " ");
	inst_expect_file(test, "error_log", "");

	KUNIT_EXPECT_EQ(test, set_filter(test, wrong), -EINVAL);
	inst_expect_in_file(test, "error_log", "Command: nosuch == 1");
	inst_expect_file(test, INST_FILES "filter", shown);
	inst_record(0, 10);
	inst_expect_records(test, 0, 0, 10);

	KUNIT_EXPECT_EQ(test, set_filter(test, "seq == 3"), 0);
	KUNIT_EXPECT_EQ(test, trace_array_clear(inst_tr(test)), 0);
	inst_record(0, 10);
	inst_expect_records(test, 0, 3, 1);
}

static void filter_refused(struct kunit *test)
{
	static const struct {
		const char	*system;
		const char	*event;
		const char	*filter;
		int		ret;
	} refused[] = {
		{ INST_SYSTEM,	"nosuch",	"seq == 1",	-ENOENT },
		{ "nosuch",	INST_EVENT,	"seq == 1",	-ENOENT },
		{ "",		"",		"seq == 1",	-ENOENT },
		/* This event has no file "filter". */
		{ "ftrace",	"print",	"ip == 0",	-ENOENT },
		{ INST_SYSTEM,	NULL,		"seq == 1",	-EINVAL },
		{ NULL,		INST_EVENT,	"seq == 1",	-EINVAL },
		{ INST_SYSTEM,	INST_EVENT,	NULL,		-EINVAL },
	};
	char *padded = kunit_kzalloc(test, PAGE_SIZE + 1, GFP_KERNEL);
	struct trace_array *tr = inst_tr(test);

	KUNIT_ASSERT_NOT_NULL(test, padded);
	KUNIT_ASSERT_EQ(test, set_filter(test, "seq == 2"), 0);
	for (int i = 0; i < ARRAY_SIZE(refused); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    trace_array_set_event_filter(tr,
								 refused[i].system,
								 refused[i].event,
								 refused[i].filter),
				    refused[i].ret, "%d", i);

	memset(padded, ' ', PAGE_SIZE);
	memcpy(padded, "seq == 1", 8);
	KUNIT_EXPECT_EQ(test, set_filter(test, padded), -EINVAL);
	inst_expect_file(test, INST_FILES "filter", "seq == 2\n");

	/* This is as long as it can be. */
	padded[PAGE_SIZE - 1] = '\0';
	KUNIT_EXPECT_EQ(test, set_filter(test, padded), 0);
	inst_expect_in_file(test, INST_FILES "filter", "seq == 1");
}

static struct kunit_case filter_cases[] = {
	KUNIT_CASE(events_by_name),
	KUNIT_CASE(filter_discards),
	KUNIT_CASE(filter_wrong),
	KUNIT_CASE(filter_refused),
	{}
};

static struct kunit_suite filter_suite = {
	.name		= "trace_inst_filter",
	.init		= inst_kunit_init,
	.test_cases	= filter_cases,
};

kunit_test_suite(filter_suite);

MODULE_DESCRIPTION("KUnit tests for the events of trace instances");
MODULE_LICENSE("GPL");

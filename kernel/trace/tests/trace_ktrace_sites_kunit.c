// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the file ktrace_sites, see trace_ktrace_sites.c.
 */

#include <kunit/test.h>
#include <linux/ktrace.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>

#include "trace_ktrace_kunit.h"

static int query(struct kunit *test, const char *text)
{
	return ktrace_kunit_write(test, "ktrace_sites", text);
}

static void sites_by_query(struct kunit *test)
{
	static struct ktrace_site sites[] = {
		KTRACE_KUNIT_SITE("kunit_query", "q=%d", 1, 10),
		KTRACE_KUNIT_SITE("kunit_query", "q=%d", 1, 20),
		KTRACE_KUNIT_SITE("kunit_query", "q=%d", 1, 30),
	};

	ktrace_kunit_load(test, sites, 3);
	ktrace_kunit_switch(test, "kunit_query", true);

	KUNIT_EXPECT_EQ(test,
			query(test,
			      "file " KTRACE_KUNIT_FILE " module "
			      KTRACE_KUNIT_MODULE " line 20 -e\n"), 0);
	ktrace_kunit_expect_state(test, &sites[0], "on");
	ktrace_kunit_expect_state(test, &sites[1], "muted");
	ktrace_kunit_expect_state(test, &sites[2], "on");
	__ktrace_call(&sites[0], 1);

	/* As long as it is muted, whatever its event does */
	ktrace_kunit_switch(test, "kunit_query", false);
	ktrace_kunit_switch(test, "kunit_query", true);
	ktrace_kunit_expect_state(test, &sites[1], "muted");

	KUNIT_EXPECT_EQ(test, query(test, "func fake_* line 15-30 -e"), 0);
	ktrace_kunit_expect_state(test, &sites[0], "on");
	ktrace_kunit_expect_state(test, &sites[2], "muted");
	KUNIT_EXPECT_EQ(test, query(test, "name kunit_quer? -e"), 0);
	ktrace_kunit_expect_state(test, &sites[0], "muted");
	KUNIT_EXPECT_EQ(test, query(test, "line 30- file drivers/fake/* +e"),
			0);
	ktrace_kunit_expect_state(test, &sites[1], "muted");
	ktrace_kunit_expect_state(test, &sites[2], "on");
	KUNIT_EXPECT_EQ(test,
			query(test,
			      "system " KTRACE_KUNIT_SYSTEM " module *_fake +e"),
			0);
	ktrace_kunit_expect_state(test, &sites[0], "on");
	ktrace_kunit_expect_state(test, &sites[1], "on");

	ktrace_kunit_switch(test, "kunit_query", false);
	ktrace_kunit_clear(test);
	ktrace_kunit_unload(test);
}

/* A blank in the name of a file does not move the columns. */
static void escaped_file(struct kunit *test)
{
	static struct ktrace_site sites[] = {
		KTRACE_KUNIT_SITE("kunit_blank", "b=%d", 1, 10),
	};
	const char *all;

	sites[0].file = "drivers/a b\\c.c";
	ktrace_kunit_load(test, sites, 1);
	all = ktrace_kunit_read(test, "ktrace_sites");
	KUNIT_EXPECT_NOT_NULL_MSG(test,
				  strstr(all,
					 "\ndrivers/a\\040b\\134c.c:10 ["
					 KTRACE_KUNIT_MODULE "] fake_function "
					 KTRACE_KUNIT_SYSTEM
					 ":kunit_blank off \"b=%d\"\n"),
				  "%s", all);
	ktrace_kunit_unload(test);
}

static noinline void trace_place_one(int a)
{
	ktrace(kunit_places, "a=%d", a);
}

static noinline void trace_place_two(int a)
{
	ktrace(kunit_places, "a=%d", a);
}

static void unmute_two(void *data)
{
	struct kunit *test = data;

	KUNIT_EXPECT_EQ(test, query(test, "func trace_place_two +e"), 0);
}

static void muted_site(struct kunit *test)
{
	ktrace_kunit_switch(test, "kunit_places", true);
	KUNIT_ASSERT_EQ(test, query(test, "func trace_place_two -e"), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, unmute_two, test),
			0);
	trace_place_one(1);
	trace_place_two(2);
	kunit_release_action(test, unmute_two, test);
	trace_place_two(3);
	ktrace_kunit_expect(test, "kunit_places: a=1\nkunit_places: a=3\n");
}

static const char bad_end[] = "The query ends with neither +e nor -e";
static const char bad_keyword[] =
	"Not one of file, line, func, module, system and name";
static const char bad_line[] = "Neither a line nor a range of lines";

static void bad_queries(struct kunit *test)
{
	static const struct {
		const char	*query;
		int		ret;
		const char	*error;
	} cases[] = {
		{ "func trace_place_one", -EINVAL, bad_end },
		{ "func trace_place_one +x", -EINVAL, bad_keyword },
		{ "colour red +e", -EINVAL, bad_keyword },
		{ "func", -EINVAL, "A keyword without a value" },
		{ "func a func b -e", -EINVAL, "A keyword is there twice" },
		{ "line x -e", -EINVAL, bad_line },
		{ "line 9-3 -e", -EINVAL, bad_line },
		{ "line - -e", -EINVAL, bad_line },
		{ "func trace_place_one -e more", -EINVAL, bad_end },
		{ "func no_such_function -e", -ENOENT, "No site matches" },
	};
	const char *log;

	ktrace_kunit_switch(test, "kunit_places", true);
	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_ASSERT_EQ(test, ktrace_kunit_write(test, "error_log", ""),
				0);
		KUNIT_EXPECT_EQ_MSG(test, query(test, cases[i].query),
				    cases[i].ret, "%s", cases[i].query);
		log = ktrace_kunit_read(test, "error_log");
		KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(log, cases[i].error),
					  "%s: %s", cases[i].query, log);
	}
	trace_place_one(1);
	ktrace_kunit_expect(test, "kunit_places: a=1\n");
}

static struct kunit_case sites_cases[] = {
	KUNIT_CASE(sites_by_query),
	KUNIT_CASE(escaped_file),
	KUNIT_CASE(muted_site),
	KUNIT_CASE(bad_queries),
	{}
};

static struct kunit_suite sites_suite = {
	.name		= "trace_ktrace_sites",
	.init		= ktrace_kunit_init,
	.test_cases	= sites_cases,
};

kunit_test_suite(sites_suite);

MODULE_DESCRIPTION("KUnit tests for the file ktrace_sites");
MODULE_LICENSE("GPL");

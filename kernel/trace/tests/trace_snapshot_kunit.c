// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for snapshots of trace instances.
 */

#include <kunit/test.h>
#include <linux/trace.h>

#include "../trace.h"

#define INSTANCE	"trace_snapshot_kunit"

static bool always(struct trace_array *tr, void *cond_data)
{
	return true;
}

static void disarm(void *tr)
{
	tracing_disarm_snapshot(tr);
}

/* The reference that a trigger has, for example. */
static void cond_disable_keeps_reference(struct kunit *test)
{
	struct trace_array *tr = test->priv;

	KUNIT_ASSERT_EQ(test, tracing_arm_snapshot(tr), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, disarm, tr), 0);

	KUNIT_EXPECT_EQ(test, tracing_snapshot_cond_disable(tr), -EINVAL);
	KUNIT_EXPECT_EQ(test, tr->snapshot, 1);

	/* So that the end of the test is quiet where it was dropped. */
	tr->snapshot = 1;
}

static void cond_disable_drops_its_own(struct kunit *test)
{
	struct trace_array *tr = test->priv;

	KUNIT_ASSERT_EQ(test, tracing_snapshot_cond_enable(tr, NULL, always),
			0);
	KUNIT_EXPECT_EQ(test, tr->snapshot, 1);
	KUNIT_EXPECT_EQ(test, tracing_snapshot_cond_disable(tr), 0);
	KUNIT_EXPECT_EQ(test, tr->snapshot, 0);
}

static void instance_destroy(void *tr)
{
	trace_array_put(tr);
	trace_array_destroy(tr);
}

static int snapshot_init(struct kunit *test)
{
	struct trace_array *tr = trace_array_get_by_name(INSTANCE, NULL);

	if (!tr)
		return -ENOMEM;
	test->priv = tr;

	return kunit_add_action_or_reset(test, instance_destroy, tr);
}

static struct kunit_case snapshot_cases[] = {
	KUNIT_CASE(cond_disable_keeps_reference),
	KUNIT_CASE(cond_disable_drops_its_own),
	{}
};

static struct kunit_suite snapshot_suite = {
	.name		= "trace_snapshot",
	.init		= snapshot_init,
	.test_cases	= snapshot_cases,
};

kunit_test_suite(snapshot_suite);

MODULE_DESCRIPTION("KUnit tests for snapshots of trace instances");
MODULE_LICENSE("GPL");

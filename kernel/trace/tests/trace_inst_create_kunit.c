// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for trace_array_create(), and for the references on an instance.
 * See trace_destroy_kunit.c for the end of instances.
 */

#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/mutex.h>
#include <linux/ring_buffer.h>

#include "trace_inst_kunit.h"

static struct trace_array *create_other(struct kunit *test)
{
	struct trace_array *tr = trace_array_create(INST_OTHER);

	KUNIT_ASSERT_FALSE(test, IS_ERR(tr));

	return tr;
}

static void destroy_other(struct kunit *test, struct trace_array *tr)
{
	KUNIT_EXPECT_EQ(test, tr->ref, 2);
	KUNIT_EXPECT_EQ(test, trace_array_put_and_destroy(tr), 0);
	inst_expect_there(test, INST_OTHER, NULL);
}

static void create_new(struct kunit *test)
{
	struct trace_array *tr;

	for (int i = 0; i < 2; i++) {
		tr = create_other(test);
		inst_expect_there(test, INST_OTHER, tr);
		destroy_other(test, tr);
	}
}

/* It records, and has no events enabled. */
static void new_as_documented(struct kunit *test)
{
	struct trace_array *tr = create_other(test);
	struct trace_buffer *buffer = tr->array_buffer.buffer;

	/* All are disabled. */
	KUNIT_EXPECT_EQ(test, trace_events_enabled(tr, NULL), 1);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(buffer), 0);
	KUNIT_EXPECT_EQ(test, trace_array_init_printk(tr), 0);
	KUNIT_EXPECT_GT(test, trace_array_printk(tr, _THIS_IP_, "text\n"), 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(buffer), 1);
	destroy_other(test, tr);
}

/* Of the options at the top level, two that change what a reader gets */
#define TOP_OVERWRITE	TRACE_ITER(OVERWRITE)
#define TOP_RAW		TRACE_ITER(RAW)

static u64 top_options(void)
{
	guard(mutex)(&trace_types_lock);

	return top_trace_array()->trace_flags;
}

static void set_top_options(u64 flags)
{
	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);

	set_tracer_flag(top_trace_array(), TOP_OVERWRITE,
			!!(flags & TOP_OVERWRITE));
	set_tracer_flag(top_trace_array(), TOP_RAW, !!(flags & TOP_RAW));
}

static void restore_top_options(void *flags)
{
	set_top_options(*(u64 *)flags);
}

/* Root's options at the top level are for mkdir only. */
static void new_with_default_options(struct kunit *test)
{
	u64 *flags = kunit_kzalloc(test, sizeof(*flags), GFP_KERNEL);
	struct trace_array *tr;

	KUNIT_ASSERT_NOT_NULL(test, flags);
	*flags = top_options();
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test,
							restore_top_options,
							flags), 0);
	set_top_options(TOP_RAW);

	tr = create_other(test);
	KUNIT_EXPECT_TRUE(test, tr->trace_flags & TOP_OVERWRITE);
	KUNIT_EXPECT_FALSE(test, tr->trace_flags & TOP_RAW);

	/* The newest records stay. */
	KUNIT_EXPECT_EQ(test, trace_array_set_buffer_size(tr, 1), 0);
	KUNIT_EXPECT_EQ(test, trace_array_init_printk(tr), 0);
	for (int i = 0; i < PAGE_SIZE / 4; i++)
		trace_array_printk(tr, _THIS_IP_, "%0100d\n", i);
	KUNIT_EXPECT_GT(test, ring_buffer_overruns(tr->array_buffer.buffer), 0);
	destroy_other(test, tr);

	KUNIT_ASSERT_EQ(test, trace_kunit_mkdir(test, INST_OTHER), 0);
	tr = trace_kunit_find(INST_OTHER);
	KUNIT_ASSERT_NOT_NULL(test, tr);
	KUNIT_EXPECT_FALSE(test, tr->trace_flags & TOP_OVERWRITE);
	KUNIT_EXPECT_TRUE(test, tr->trace_flags & TOP_RAW);
	KUNIT_EXPECT_EQ(test, trace_kunit_rmdir(test, INST_OTHER), 0);
}

static void create_existing(struct kunit *test)
{
	struct trace_array *tr = create_other(test);

	KUNIT_EXPECT_EQ(test, PTR_ERR(trace_array_create(INST_OTHER)), -EEXIST);
	KUNIT_EXPECT_EQ(test, tr->ref, 2);
	inst_expect_there(test, INST_OTHER, tr);
	destroy_other(test, tr);

	/* User space has created it. */
	KUNIT_ASSERT_EQ(test, trace_kunit_mkdir(test, INST_OTHER), 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR(trace_array_create(INST_OTHER)), -EEXIST);
	tr = trace_array_get_by_name(INST_OTHER, NULL);
	KUNIT_ASSERT_NOT_NULL(test, tr);
	/* It is no instance of boot memory: those have no snapshots. */
	KUNIT_EXPECT_EQ(test, trace_array_snapshot_alloc(tr), 0);
	trace_array_snapshot_free(tr);
	destroy_other(test, tr);
}

/* It is for the caller to remove a new one, and to leave that of others. */
static void get_or_create(struct kunit *test)
{
	struct trace_array *tr;
	bool created;

	tr = trace_array_get_or_create(INST_OTHER, &created);
	KUNIT_ASSERT_FALSE(test, IS_ERR(tr));
	KUNIT_EXPECT_TRUE(test, created);
	inst_expect_there(test, INST_OTHER, tr);
	KUNIT_EXPECT_EQ(test, tr->ref, 2);

	KUNIT_EXPECT_PTR_EQ(test, trace_array_get_or_create(INST_OTHER,
							    &created), tr);
	KUNIT_EXPECT_FALSE(test, created);
	KUNIT_EXPECT_EQ(test, tr->ref, 3);
	trace_array_put(tr);
	destroy_other(test, tr);

	/* User space has created it. */
	KUNIT_ASSERT_EQ(test, trace_kunit_mkdir(test, INST_OTHER), 0);
	tr = trace_array_get_or_create(INST_OTHER, &created);
	KUNIT_ASSERT_FALSE(test, IS_ERR(tr));
	KUNIT_EXPECT_FALSE(test, created);
	destroy_other(test, tr);

	created = true;
	tr = trace_array_get_or_create("a/b", &created);
	KUNIT_EXPECT_EQ(test, PTR_ERR(tr), -EINVAL);
	KUNIT_EXPECT_FALSE(test, created);
}

static void create_with_bad_name(struct kunit *test)
{
	static const char * const bad[] = {
		NULL, "", ".", "..", "/", "a/b", "/" INST_OTHER, INST_OTHER "/",
		"../" INST_OTHER,
	};
	char name[NAME_MAX + 2];
	struct trace_array *tr;

	for (int i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR(trace_array_create(bad[i])),
				    -EINVAL, "%s", bad[i] ?: "NULL");

	memset(name, 'x', sizeof(name) - 1);
	name[NAME_MAX + 1] = '\0';
	KUNIT_EXPECT_EQ(test, PTR_ERR(trace_array_create(name)), -EINVAL);

	/* With one character less, it can be created and removed. */
	name[NAME_MAX] = '\0';
	tr = trace_array_create(name);
	KUNIT_ASSERT_FALSE(test, IS_ERR(tr));
	KUNIT_EXPECT_PTR_EQ(test, trace_kunit_find(name), tr);
	trace_array_put(tr);
	KUNIT_EXPECT_EQ(test, trace_kunit_rmdir(test, name), 0);
	KUNIT_EXPECT_NULL(test, trace_kunit_find(name));
}

static void enable_tracing(void *unused)
{
	tracing_disabled = 0;
}

static void create_with_tracing_disabled(struct kunit *test)
{
	struct trace_array *tr;
	bool created;

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, enable_tracing,
							NULL), 0);
	tracing_disabled = 1;
	KUNIT_EXPECT_EQ(test, PTR_ERR(trace_array_create(INST_OTHER)), -ENODEV);
	tr = trace_array_get_or_create(INST_OTHER, &created);
	KUNIT_EXPECT_EQ(test, PTR_ERR(tr), -ENODEV);
	kunit_release_action(test, enable_tracing, NULL);
	inst_expect_there(test, INST_OTHER, NULL);
}

/* As long as there is a reference, nobody removes the instance. */
static void put_leaves_instance(struct kunit *test)
{
	struct trace_array *tr = create_other(test);

	KUNIT_EXPECT_PTR_EQ(test, trace_array_get_by_name(INST_OTHER, NULL),
			    tr);
	for (int ref = 3; ref > 1; ref--) {
		KUNIT_EXPECT_EQ(test, tr->ref, ref);
		KUNIT_EXPECT_EQ(test, trace_kunit_rmdir(test, INST_OTHER),
				-EBUSY);
		inst_expect_there(test, INST_OTHER, tr);
		trace_array_put(tr);
	}
	KUNIT_EXPECT_EQ(test, tr->ref, 1);
	inst_expect_there(test, INST_OTHER, tr);
	KUNIT_EXPECT_EQ(test, trace_kunit_rmdir(test, INST_OTHER), 0);
	inst_expect_there(test, INST_OTHER, NULL);
	trace_array_put(NULL);
}

/* The only reference is that of the instance itself. */
static void destroy_without_reference(struct kunit *test)
{
	struct trace_array *tr;

	KUNIT_ASSERT_EQ(test, trace_kunit_mkdir(test, INST_OTHER), 0);
	tr = trace_kunit_find(INST_OTHER);
	KUNIT_ASSERT_NOT_NULL(test, tr);
	kunit_warning_suppress(test) {
		KUNIT_EXPECT_EQ(test, trace_array_put_and_destroy(tr), -EINVAL);
	}
	inst_expect_there(test, INST_OTHER, tr);
	KUNIT_EXPECT_EQ(test, tr->ref, 1);
	KUNIT_EXPECT_EQ(test, trace_kunit_rmdir(test, INST_OTHER), 0);
}

static struct kunit_case create_cases[] = {
	KUNIT_CASE(create_new),
	KUNIT_CASE(new_as_documented),
	KUNIT_CASE(new_with_default_options),
	KUNIT_CASE(create_existing),
	KUNIT_CASE(get_or_create),
	KUNIT_CASE(create_with_bad_name),
	KUNIT_CASE(create_with_tracing_disabled),
	KUNIT_CASE(put_leaves_instance),
	KUNIT_CASE(destroy_without_reference),
	{}
};

static struct kunit_suite create_suite = {
	.name		= "trace_inst_create",
	.init		= inst_kunit_init,
	.test_cases	= create_cases,
};

kunit_test_suite(create_suite);

MODULE_DESCRIPTION("KUnit tests for creating trace instances");
MODULE_LICENSE("GPL");

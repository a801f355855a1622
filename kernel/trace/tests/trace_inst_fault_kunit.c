// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for trace instances in kernel code while there is no memory.
 */

#include <kunit/test.h>
#include <linux/minmax.h>

#include "trace_inst_kunit.h"

static int create_other(struct kunit *test)
{
	return PTR_ERR_OR_ZERO(trace_array_create(INST_OTHER));
}

/*
 * The instance is there, or nothing. tracefs only warns when it can't create a
 * file, so any file may be missing.
 */
static void check_other(struct kunit *test, int ret)
{
	struct trace_array *tr = trace_kunit_find(INST_OTHER);

	if (ret) {
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
		inst_expect_there(test, INST_OTHER, NULL);
		return;
	}

	KUNIT_ASSERT_NOT_NULL(test, tr);
	KUNIT_EXPECT_EQ(test, trace_array_put_and_destroy(tr), 0);
	inst_expect_there(test, INST_OTHER, NULL);
}

static void create_without_memory(struct kunit *test)
{
	trace_kunit_without_memory(test, create_other, check_other);
}

static int alloc_snapshot(struct kunit *test)
{
	return trace_array_snapshot_alloc(inst_tr(test));
}

static void check_snapshot(struct kunit *test, int ret)
{
	struct trace_array *tr = inst_tr(test);

	KUNIT_EXPECT_EQ(test, tr->allocated_snapshot, !ret);
	KUNIT_EXPECT_EQ(test, tr->snapshot, !ret);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(tr), ret ? -ENODEV : 0);
	if (ret)
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	else
		trace_array_snapshot_free(tr);
}

static void snapshot_without_memory(struct kunit *test)
{
	/* More than the two sub-buffers of a ring buffer without a snapshot */
	KUNIT_ASSERT_EQ(test, trace_array_set_buffer_size(inst_tr(test),
							  16 * PAGE_SIZE), 0);
	trace_kunit_without_memory(test, alloc_snapshot, check_snapshot);
}

static struct trace_array_reader *opened;

static int open_reader(struct kunit *test)
{
	opened = trace_array_reader_open(inst_tr(test), 0);

	return PTR_ERR_OR_ZERO(opened);
}

/* The reader returns the whole text, or it is not there. */
static void check_reader(struct kunit *test, int ret)
{
	struct trace_array *tr = inst_tr(test);
	struct inst_kunit *inst = test->priv;
	size_t same = 0;
	ssize_t len;

	if (ret) {
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	} else {
		len = trace_array_reader_read(opened, inst->its,
					      INST_TEXT_SIZE - 1);
		trace_array_reader_close(opened);
		inst->its[max(len, 0)] = '\0';
		/* KUnit cuts long texts. */
		while (inst->its[same] && inst->its[same] == inst->mine[same])
			same++;
		KUNIT_EXPECT_STREQ(test, inst->its + same, inst->mine + same);
	}
	KUNIT_EXPECT_EQ(test, tr->ref, 2);
	KUNIT_EXPECT_EQ(test, tr->stop_count, 0);
}

static void reader_without_memory(struct kunit *test)
{
	inst_write(test, "trace_options", "pause-on-trace");
	/*
	 * The name of the command would change in the text. trace_printk(), if
	 * the kernel has any, saves it at the next context switch.
	 */
	inst_write(test, "trace_options", "nocontext-info");
	inst_enable(test);
	inst_record(0, 10);
	inst_text(test, 0);
	trace_kunit_without_memory(test, open_reader, check_reader);

	/* An iterator that is left would refuse this. */
	KUNIT_EXPECT_EQ(test, trace_array_set_buffer_size(inst_tr(test),
							  SZ_64K), 0);
}

static int set_filter(struct kunit *test)
{
	return trace_array_set_event_filter(inst_tr(test), INST_SYSTEM,
					    INST_EVENT, "seq == 2 || seq == 3");
}

static void set_old_filter(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, trace_array_set_event_filter(inst_tr(test),
							   INST_SYSTEM,
							   INST_EVENT,
							   "seq == 5"), 0);
}

/* The new filter is there, or none, or the old one. The file tells which. */
static void check_filter(struct kunit *test, int ret)
{
	const char *shown = inst_file(test, INST_FILES "filter");
	u32 first = 0, nr = 10;

	if (!ret) {
		KUNIT_EXPECT_STREQ(test, shown, "seq == 2 || seq == 3\n");
		first = 2;
		nr = 2;
	} else {
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
		if (!strcmp(shown, "seq == 5\n")) {
			first = 5;
			nr = 1;
		}
	}
	KUNIT_EXPECT_EQ(test, trace_array_clear(inst_tr(test)), 0);
	inst_record(0, 10);
	inst_expect_records(test, 0, first, nr);
	set_old_filter(test);
}

static void filter_without_memory(struct kunit *test)
{
	inst_enable(test);
	set_old_filter(test);
	trace_kunit_without_memory(test, set_filter, check_filter);
}

static struct kunit_case fault_cases[] = {
	KUNIT_CASE_SLOW(create_without_memory),
	KUNIT_CASE(snapshot_without_memory),
	KUNIT_CASE(reader_without_memory),
	KUNIT_CASE(filter_without_memory),
	{}
};

static struct kunit_suite fault_suite = {
	.name		= "trace_inst_fault",
	.init		= inst_kunit_init,
	.test_cases	= fault_cases,
};

kunit_test_suite(fault_suite);

MODULE_DESCRIPTION("KUnit tests for trace instances without memory");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for what a ring buffer knows of old events, see
 * ring_buffer_mark_old(). The ring buffers are those of the suite. Events have
 * numbers, so that it is seen which of them are there.
 */

#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>

struct rb_context {
	struct trace_buffer	*buffer;
	int			cpu;
	u32			next;
};

static void rb_write(struct kunit *test, u32 nr)
{
	struct rb_context *ctx = test->priv;

	for (; nr; nr--, ctx->next++)
		KUNIT_ASSERT_EQ(test, ring_buffer_write(ctx->buffer,
							sizeof(ctx->next),
							&ctx->next), 0);
}

/* How many sub-buffers had old events that were counted */
static unsigned int rb_drop(struct kunit *test)
{
	struct rb_context *ctx = test->priv;
	unsigned int nr = 0;

	while (ring_buffer_drop_old(ctx->buffer, ctx->cpu))
		nr++;

	return nr;
}

/* The number of the next new event, which is not consumed, or 0. */
static u32 rb_peek(struct kunit *test, unsigned long *lost)
{
	struct rb_context *ctx = test->priv;
	struct ring_buffer_event *event;
	u64 ts;

	rb_drop(test);
	event = ring_buffer_peek(ctx->buffer, ctx->cpu, &ts, lost);

	return event ? *(u32 *)ring_buffer_event_data(event) : 0;
}

static void rb_consume(struct kunit *test)
{
	struct rb_context *ctx = test->priv;

	KUNIT_EXPECT_NOT_NULL(test, ring_buffer_consume(ctx->buffer, ctx->cpu,
							NULL, NULL));
}

/* These are next, and after @lost events are the first of them. */
static void rb_expect(struct kunit *test, u32 first, u32 last,
		      unsigned long lost)
{
	unsigned long n;

	for (u32 i = first; i <= last; i++) {
		KUNIT_ASSERT_EQ(test, rb_peek(test, &n), i);
		KUNIT_EXPECT_EQ(test, n, i == first ? lost : 0);
		/* Looking at it changes nothing. */
		KUNIT_ASSERT_EQ(test, rb_peek(test, NULL), i);
		rb_consume(test);
	}
}

static void rb_expect_none(struct kunit *test)
{
	struct rb_context *ctx = test->priv;

	KUNIT_EXPECT_EQ(test, rb_peek(test, NULL), 0);
	KUNIT_EXPECT_TRUE(test, ring_buffer_empty_cpu(ctx->buffer, ctx->cpu));
}

static void rb_expect_skip(struct kunit *test, unsigned long nr)
{
	struct rb_context *ctx = test->priv;

	KUNIT_EXPECT_EQ(test, ring_buffer_skip_old(ctx->buffer, ctx->cpu), nr);
	/* It has been counted. */
	KUNIT_EXPECT_EQ(test, ring_buffer_skip_old(ctx->buffer, ctx->cpu), 0);
}

static void rb_all_are_new(struct kunit *test)
{
	rb_expect_none(test);
	rb_expect_skip(test, 0);
	rb_write(test, 5);
	rb_expect_skip(test, 0);
	rb_expect(test, 1, 5, 0);
	rb_expect_none(test);
}

static void rb_old_are_left_out(struct kunit *test)
{
	struct rb_context *ctx = test->priv;

	rb_write(test, 5);
	ring_buffer_mark_old(ctx->buffer);
	/* Other readers still get them. */
	KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(ctx->buffer, ctx->cpu),
			5);
	rb_write(test, 3);
	rb_expect_skip(test, 5);
	rb_expect(test, 6, 8, 0);
	rb_expect_none(test);
	rb_expect_skip(test, 0);
}

static void rb_only_old(struct kunit *test)
{
	struct rb_context *ctx = test->priv;

	rb_write(test, 5);
	ring_buffer_mark_old(ctx->buffer);
	rb_expect_skip(test, 5);
	rb_expect_none(test);
	rb_write(test, 1);
	rb_expect(test, 6, 6, 0);
}

static void rb_old_in_part(struct kunit *test)
{
	struct rb_context *ctx = test->priv;

	rb_write(test, 5);
	rb_expect(test, 1, 2, 0);
	ring_buffer_mark_old(ctx->buffer);
	rb_write(test, 5);
	rb_expect_skip(test, 3);
	rb_expect(test, 6, 8, 0);
	ring_buffer_mark_old(ctx->buffer);
	rb_write(test, 1);
	rb_expect_skip(test, 2);
	rb_expect(test, 11, 11, 0);
}

/* A reader that has read an event, and finds the buffer live */
static void rb_read_is_not_old(struct kunit *test)
{
	struct rb_context *ctx = test->priv;
	struct ring_buffer_event *event;

	rb_write(test, 3);
	event = ring_buffer_peek(ctx->buffer, ctx->cpu, NULL, NULL);
	KUNIT_ASSERT_NOT_NULL(test, event);
	ring_buffer_skip_read(ctx->buffer, ctx->cpu,
			      ring_buffer_event_data(event));
	ring_buffer_mark_old(ctx->buffer);
	rb_expect_skip(test, 2);
	rb_write(test, 3);
	rb_expect(test, 4, 4, 0);

	/* Another event is first by now. */
	event = ring_buffer_peek(ctx->buffer, ctx->cpu, NULL, NULL);
	KUNIT_ASSERT_NOT_NULL(test, event);
	rb_consume(test);
	ring_buffer_skip_read(ctx->buffer, ctx->cpu,
			      ring_buffer_event_data(event));
	ring_buffer_mark_old(ctx->buffer);
	rb_expect_skip(test, 1);
	rb_expect_none(test);
	ring_buffer_skip_read(ctx->buffer, ctx->cpu,
			      ring_buffer_event_data(event));
	rb_expect_skip(test, 0);
}

static void rb_expect_no_drop(struct kunit *test, unsigned long entries)
{
	struct rb_context *ctx = test->priv;

	KUNIT_EXPECT_FALSE(test, ring_buffer_drop_old(ctx->buffer, ctx->cpu));
	KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(ctx->buffer, ctx->cpu),
			entries);
}

/* A reader that is too late drops only events that were counted. */
static void rb_old_wait_to_be_counted(struct kunit *test)
{
	struct rb_context *ctx = test->priv;

	rb_write(test, 5);
	ring_buffer_mark_old(ctx->buffer);
	rb_write(test, 5);
	rb_expect_no_drop(test, 10);
	rb_expect_skip(test, 5);
	rb_expect(test, 6, 7, 0);
	ring_buffer_mark_old(ctx->buffer);
	rb_expect_no_drop(test, 3);
	rb_write(test, 1);
	rb_expect_no_drop(test, 4);
	rb_expect_skip(test, 3);
	rb_expect(test, 11, 11, 0);
}

/* The next mark is set before anybody has looked at the first one. */
static void rb_old_twice(struct kunit *test)
{
	struct rb_context *ctx = test->priv;

	rb_write(test, 5);
	ring_buffer_mark_old(ctx->buffer);
	rb_write(test, 5);
	ring_buffer_mark_old(ctx->buffer);
	rb_write(test, 1);
	rb_expect_skip(test, 10);
	rb_expect(test, 11, 11, 0);

	/* Each was counted, and none was read. */
	rb_write(test, 5);
	ring_buffer_mark_old(ctx->buffer);
	rb_expect_skip(test, 5);
	rb_write(test, 5);
	ring_buffer_mark_old(ctx->buffer);
	rb_expect_skip(test, 5);
	rb_write(test, 1);
	rb_expect(test, 22, 22, 0);
}

/* More than there is room for: returns the number of the first one there. */
static u32 rb_overwrite(struct kunit *test)
{
	struct rb_context *ctx = test->priv;
	unsigned long before = ring_buffer_overrun_cpu(ctx->buffer, ctx->cpu);

	do
		rb_write(test, 1);
	while (ring_buffer_overrun_cpu(ctx->buffer, ctx->cpu) == before);
	rb_write(test, 1);

	return ctx->next - ring_buffer_entries_cpu(ctx->buffer, ctx->cpu);
}

static void rb_lost_are_told(struct kunit *test)
{
	struct rb_context *ctx = test->priv;
	u32 first = rb_overwrite(test);

	KUNIT_ASSERT_GT(test, first, 1);
	rb_expect_skip(test, 0);
	rb_expect(test, first, ctx->next - 1, first - 1);
	rb_expect_none(test);
}

/* Old events that were overwritten are counted once. */
static void rb_lost_and_old(struct kunit *test)
{
	struct rb_context *ctx = test->priv;
	u32 first;

	rb_write(test, 10);
	ring_buffer_mark_old(ctx->buffer);
	first = rb_overwrite(test);
	KUNIT_ASSERT_GT(test, first, 11);
	rb_expect_skip(test, 10);
	rb_expect(test, first, ctx->next - 1, first - 1 - 10);

	/* Old events that were lost without a report are counted. */
	first = ctx->next;
	rb_overwrite(test);
	ring_buffer_mark_old(ctx->buffer);
	rb_expect_skip(test, ctx->next - first);
	rb_write(test, 1);
	rb_expect(test, ctx->next - 1, ctx->next - 1, 0);
}

/* Some of the old ones were overwritten, and the others are still there. */
static void rb_some_old_lost(struct kunit *test)
{
	struct rb_context *ctx = test->priv;
	u32 first = rb_overwrite(test), last = ctx->next - 1;

	rb_expect(test, first, first, first - 1);
	ring_buffer_mark_old(ctx->buffer);
	rb_write(test, 3);
	rb_expect_skip(test, last - first);
	rb_expect(test, last + 1, last + 3, 0);
}

/* A call ends with the sub-buffer, and drops no new event. */
static void rb_drop_by_sub_buffer(struct kunit *test)
{
	const unsigned int pages = 16;
	struct rb_context *ctx = test->priv;
	unsigned long left, before;
	unsigned int calls;
	u32 first, last;

	KUNIT_ASSERT_GE(test, ring_buffer_resize(ctx->buffer, pages * PAGE_SIZE,
						 ctx->cpu), 0);
	first = rb_overwrite(test);
	rb_expect(test, first, first, first - 1);
	last = ctx->next - 1;
	ring_buffer_mark_old(ctx->buffer);
	rb_expect_skip(test, last - first);

	/* The one that was read in part is no larger than the others. */
	before = ring_buffer_entries_cpu(ctx->buffer, ctx->cpu);
	KUNIT_ASSERT_TRUE(test, ring_buffer_drop_old(ctx->buffer, ctx->cpu));
	left = ring_buffer_entries_cpu(ctx->buffer, ctx->cpu);
	KUNIT_EXPECT_LT(test, left, before);
	KUNIT_EXPECT_GT(test, left, before / 2);

	/* Make a new event and old ones share a sub-buffer. */
	rb_write(test, 1);
	calls = rb_drop(test);
	KUNIT_EXPECT_GT(test, calls, pages / 2);
	KUNIT_EXPECT_LE(test, calls, pages + 1);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(ctx->buffer, ctx->cpu),
			1);
	rb_expect(test, last + 1, last + 1, 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_bytes_cpu(ctx->buffer, ctx->cpu), 0);
}

static void rb_reset_forgets(struct kunit *test)
{
	struct rb_context *ctx = test->priv;

	rb_overwrite(test);
	ring_buffer_mark_old(ctx->buffer);
	rb_expect_skip(test, ctx->next - 1);
	ring_buffer_reset(ctx->buffer);
	rb_expect_none(test);
	rb_expect_skip(test, 0);
	ctx->next = 1;
	rb_write(test, 2);
	rb_expect(test, 1, 2, 0);
}

static void rb_resize_keeps(struct kunit *test)
{
	struct rb_context *ctx = test->priv;

	rb_write(test, 5);
	ring_buffer_mark_old(ctx->buffer);
	rb_write(test, 5);
	KUNIT_ASSERT_GE(test, ring_buffer_resize(ctx->buffer, SZ_64K, ctx->cpu),
			0);
	rb_expect_skip(test, 5);
	rb_expect(test, 6, 10, 0);
	rb_expect_none(test);
}

/* Other sub-buffers have no records, old or not. */
static void rb_subbuf_order_forgets(struct kunit *test)
{
	struct rb_context *ctx = test->priv;

	for (int order = 1; order >= 0; order--) {
		ctx->next = 1;
		rb_overwrite(test);
		ring_buffer_mark_old(ctx->buffer);
		rb_write(test, 1);
		KUNIT_ASSERT_EQ(test, ring_buffer_subbuf_order_set(ctx->buffer,
								   order), 0);
		rb_expect_none(test);
		rb_expect_skip(test, 0);
		ctx->next = 1;
		rb_write(test, 2);
		rb_expect(test, 1, 2, 0);
	}
}

KUNIT_DEFINE_ACTION_WRAPPER(rb_free, ring_buffer_free, struct trace_buffer *);

static void rb_swap_marks(struct kunit *test)
{
	struct rb_context *ctx = test->priv;
	struct trace_buffer *live = ctx->buffer;
	struct trace_buffer *spare;

	if (!IS_ENABLED(CONFIG_RING_BUFFER_ALLOW_SWAP))
		kunit_skip(test, "needs CONFIG_RING_BUFFER_ALLOW_SWAP");

	spare = ring_buffer_alloc(SZ_4K, RB_FL_OVERWRITE);
	KUNIT_ASSERT_NOT_NULL(test, spare);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, rb_free, spare),
			0);

	/* The buffer that goes live is old, the other one is not. */
	rb_write(test, 3);
	KUNIT_ASSERT_EQ(test, ring_buffer_swap_cpu(spare, live, ctx->cpu), 0);
	rb_write(test, 2);
	ctx->buffer = spare;
	rb_expect_skip(test, 0);
	rb_expect(test, 1, 2, 0);
	KUNIT_ASSERT_EQ(test, ring_buffer_swap_cpu(spare, live, ctx->cpu), 0);
	rb_expect(test, 4, 5, 0);
	ctx->buffer = live;
	rb_expect_skip(test, 1);
	rb_expect_none(test);
}

static int rb_init(struct kunit *test)
{
	struct rb_context *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	test->priv = ctx;
	ctx->next = 1;
	ctx->cpu = raw_smp_processor_id();
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current,
						   cpumask_of(ctx->cpu)), 0);
	ctx->buffer = ring_buffer_alloc(SZ_4K, RB_FL_OVERWRITE);
	KUNIT_ASSERT_NOT_NULL(test, ctx->buffer);

	return kunit_add_action_or_reset(test, rb_free, ctx->buffer);
}

static struct kunit_case rb_cases[] = {
	KUNIT_CASE(rb_all_are_new),
	KUNIT_CASE(rb_old_are_left_out),
	KUNIT_CASE(rb_only_old),
	KUNIT_CASE(rb_old_in_part),
	KUNIT_CASE(rb_read_is_not_old),
	KUNIT_CASE(rb_old_wait_to_be_counted),
	KUNIT_CASE(rb_old_twice),
	KUNIT_CASE(rb_lost_are_told),
	KUNIT_CASE(rb_lost_and_old),
	KUNIT_CASE(rb_some_old_lost),
	KUNIT_CASE(rb_drop_by_sub_buffer),
	KUNIT_CASE(rb_reset_forgets),
	KUNIT_CASE(rb_resize_keeps),
	KUNIT_CASE(rb_subbuf_order_forgets),
	KUNIT_CASE(rb_swap_marks),
	{}
};

static struct kunit_suite rb_suite = {
	.name		= "trace_snapshot_old",
	.init		= rb_init,
	.test_cases	= rb_cases,
};

kunit_test_suite(rb_suite);

MODULE_DESCRIPTION("KUnit tests for old events of ring buffers");
MODULE_LICENSE("GPL");

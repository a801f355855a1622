// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for snapshots of trace instances, see trace_snapshot.c and
 * trace_snapshot_pipe.c.
 *
 * Three suites: what ring_buffer.c knows of old events, in ring buffers of
 * their own; who has a reference on the snapshot buffer; and the files, which
 * are opened, read, written and polled through a mount of tracefs as by a
 * process. Records have numbers, so that it is seen which of them are there, in
 * which order, and whether what is missing was announced. The last cases are
 * about kthreads that take, read, free and resize at the same time.
 */

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kthread.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/poll.h>
#include <linux/preempt.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>
#include <linux/trace.h>
#include <linux/uaccess.h>

#include "../trace.h"
#include "trace_failslab_kunit.h"

#define INSTANCE	"trace_snapshot_kunit"

/* Of any text that is compared */
#define TEXT_SIZE	SZ_4K

static unsigned int race_snapshots = 100;
module_param(race_snapshots, uint, 0444);
MODULE_PARM_DESC(race_snapshots, "snapshots that are taken in a race");

/* Old events of a ring buffer: ring_buffer_*_old(), ring_buffer_*_new() */

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

/* The number of the next event, which is not consumed, or 0. */
static u32 rb_peek(struct kunit *test, unsigned long *lost)
{
	struct rb_context *ctx = test->priv;
	struct ring_buffer_event *event;
	u64 ts;

	event = ring_buffer_peek_new(ctx->buffer, ctx->cpu, &ts, lost);

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

	KUNIT_EXPECT_FALSE(test, ring_buffer_has_new(ctx->buffer, ctx->cpu));
	KUNIT_EXPECT_EQ(test, rb_peek(test, NULL), 0);
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
	struct rb_context *ctx = test->priv;

	rb_expect_none(test);
	rb_expect_skip(test, 0);
	rb_write(test, 5);
	KUNIT_EXPECT_TRUE(test, ring_buffer_has_new(ctx->buffer, ctx->cpu));
	rb_expect_skip(test, 0);
	rb_expect(test, 1, 5, 0);
	rb_expect_none(test);
}

static void rb_old_are_left_out(struct kunit *test)
{
	struct rb_context *ctx = test->priv;

	rb_write(test, 5);
	ring_buffer_mark_old(ctx->buffer);
	KUNIT_EXPECT_FALSE(test, ring_buffer_has_new(ctx->buffer, ctx->cpu));
	/* For others they are what they were. */
	KUNIT_EXPECT_EQ(test, ring_buffer_entries_cpu(ctx->buffer, ctx->cpu),
			5);
	rb_write(test, 3);
	KUNIT_EXPECT_TRUE(test, ring_buffer_has_new(ctx->buffer, ctx->cpu));
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
	/* They go when they are come past. */
	rb_expect_none(test);
	KUNIT_EXPECT_TRUE(test, ring_buffer_empty_cpu(ctx->buffer, ctx->cpu));
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

/* A reader that is too late takes nothing away that was not counted. */
static void rb_old_wait_to_be_counted(struct kunit *test)
{
	struct rb_context *ctx = test->priv;

	rb_write(test, 5);
	ring_buffer_mark_old(ctx->buffer);
	rb_write(test, 5);
	KUNIT_EXPECT_EQ(test, rb_peek(test, NULL), 0);
	KUNIT_EXPECT_EQ(test, rb_peek(test, NULL), 0);
	rb_expect_skip(test, 5);
	rb_expect(test, 6, 7, 0);
	ring_buffer_mark_old(ctx->buffer);
	KUNIT_EXPECT_EQ(test, rb_peek(test, NULL), 0);
	rb_write(test, 1);
	KUNIT_EXPECT_EQ(test, rb_peek(test, NULL), 0);
	rb_expect_skip(test, 3);
	rb_expect(test, 11, 11, 0);
}

/* Nobody has looked at one mark when there is the next one. */
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

/* Overwritten ones that were old are told once: they were counted before. */
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

	/* What was lost and nobody was told of is counted, when it is old. */
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

/* Other sub-buffers have no records. The counters know that, too. */
static void rb_subbuf_order_empties(struct kunit *test)
{
	struct rb_context *ctx = test->priv;

	for (int order = 1; order >= 0; order--) {
		ctx->next = 1;
		rb_overwrite(test);
		ring_buffer_mark_old(ctx->buffer);
		rb_write(test, 1);
		KUNIT_ASSERT_EQ(test, ring_buffer_subbuf_order_set(ctx->buffer,
								   order), 0);
		KUNIT_EXPECT_TRUE(test, ring_buffer_empty(ctx->buffer));
		KUNIT_EXPECT_EQ(test, ring_buffer_entries(ctx->buffer), 0);
		KUNIT_EXPECT_EQ(test, ring_buffer_overruns(ctx->buffer), 0);
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

	/* What goes live is old, what goes out is not. */
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
	KUNIT_CASE(rb_old_wait_to_be_counted),
	KUNIT_CASE(rb_old_twice),
	KUNIT_CASE(rb_lost_are_told),
	KUNIT_CASE(rb_lost_and_old),
	KUNIT_CASE(rb_some_old_lost),
	KUNIT_CASE(rb_reset_forgets),
	KUNIT_CASE(rb_resize_keeps),
	KUNIT_CASE(rb_subbuf_order_empties),
	KUNIT_CASE(rb_swap_marks),
	{}
};

static struct kunit_suite rb_suite = {
	.name		= "trace_snapshot_old",
	.init		= rb_init,
	.test_cases	= rb_cases,
};

/* References on the snapshot buffer */

struct context {
	struct vfsmount		*mnt;
	struct trace_array	*tr;
	/* Where vfs_read() and vfs_write() want their data. */
	char __user		*user;
	char			text[TEXT_SIZE];
	int			cpu;
	/* The number of the next record, and of snapshots before the test */
	u32			next;
};

static bool always(struct trace_array *tr, void *cond_data)
{
	return true;
}

static bool never(struct trace_array *tr, void *cond_data)
{
	return false;
}

static void disarm(void *tr)
{
	tracing_disarm_snapshot(tr);
}

/* The reference that a trigger has, for example. */
static void cond_disable_keeps_reference(struct kunit *test)
{
	struct context *ctx = test->priv;
	struct trace_array *tr = ctx->tr;

	KUNIT_ASSERT_EQ(test, tracing_arm_snapshot(tr), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, disarm, tr), 0);

	KUNIT_EXPECT_EQ(test, tracing_snapshot_cond_disable(tr), -EINVAL);
	KUNIT_EXPECT_EQ(test, tr->snapshot, 1);

	/* So that the end of the test is quiet where it was dropped. */
	tr->snapshot = 1;
}

static void cond_disable_drops_its_own(struct kunit *test)
{
	struct context *ctx = test->priv;
	struct trace_array *tr = ctx->tr;

	KUNIT_ASSERT_EQ(test, tracing_snapshot_cond_enable(tr, NULL, always),
			0);
	KUNIT_EXPECT_EQ(test, tr->snapshot, 1);
	KUNIT_EXPECT_EQ(test, tracing_snapshot_cond_disable(tr), 0);
	KUNIT_EXPECT_EQ(test, tr->snapshot, 0);
}

/* The files */

static struct file *open_file(struct kunit *test, const char *name, int flags)
{
	struct context *ctx = test->priv;
	char path[128];

	snprintf(path, sizeof(path), "instances/" INSTANCE "/%s", name);

	return file_open_root_mnt(ctx->mnt, path, flags, 0);
}

static struct file *must_open(struct kunit *test, const char *name, int flags)
{
	struct file *file = open_file(test, name, flags);

	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(file), "%s: %ld", name,
			       PTR_ERR(file));

	return file;
}

/* Why it can't be opened, or 0. */
static int try_open(struct kunit *test, const char *name, int flags)
{
	struct file *file = open_file(test, name, flags);

	if (IS_ERR(file))
		return PTR_ERR(file);
	__fput_sync(file);

	return 0;
}

static int write_to(struct kunit *test, const char *name, const char *text)
{
	struct file *file = must_open(test, name, O_WRONLY | O_TRUNC);
	struct context *ctx = test->priv;
	size_t len = strlen(text);
	loff_t pos = 0;
	ssize_t ret;

	ret = copy_to_user(ctx->user, text, len) ? -EFAULT :
	      vfs_write(file, ctx->user, len, &pos);
	__fput_sync(file);

	return ret == len ? 0 : ret;
}

/* One read() of at most @size bytes, into ctx->text. */
static ssize_t read_once(struct kunit *test, struct file *file, size_t size)
{
	struct context *ctx = test->priv;
	loff_t pos = 0;
	ssize_t ret;

	ret = vfs_read(file, ctx->user, min(size, PAGE_SIZE), &pos);
	if (ret < 0)
		return ret;
	if (copy_from_user(ctx->text, ctx->user, ret))
		return -EFAULT;
	ctx->text[ret] = '\0';

	return ret;
}

static const char *text_of(struct kunit *test, const char *name)
{
	struct file *file = must_open(test, name, O_RDONLY | O_NONBLOCK);
	struct context *ctx = test->priv;

	KUNIT_ASSERT_GE(test, read_once(test, file, TEXT_SIZE - 1), 0);
	__fput_sync(file);

	return ctx->text;
}

static void expect_enabled(struct kunit *test, bool enabled)
{
	struct context *ctx = test->priv;

	KUNIT_EXPECT_STREQ(test, text_of(test, "snapshot_enabled"),
			   enabled ? "1\n" : "0\n");
	KUNIT_EXPECT_EQ(test, ctx->tr->allocated_snapshot, enabled);
}

static void make_records(struct kunit *test, u32 nr)
{
	struct context *ctx = test->priv;
	char text[16];
	int len;

	for (; nr; nr--) {
		len = snprintf(text, sizeof(text), "record %u\n", ctx->next++);
		KUNIT_ASSERT_EQ(test, __trace_array_puts(ctx->tr, _THIS_IP_,
							 text, len), len);
	}
}

/* CPUs with a higher number are of no use in a race. */
#define SEEN_CPUS	64

/* What a reader has come to, and what it was told */
struct seen {
	/* The last one, of each writer of a race */
	u32	record[2];
	u32	nr;
	/* In all, and since the last record */
	u32	all_lost;
	u32	lost[SEEN_CPUS];
	u64	mark;
	u32	marks;
};

/* Takes the lines out of a text. Returns false when one is not in order. */
static bool see_line(struct seen *seen, const char *line, bool told)
{
	const char *what = strstr(line, "record ");
	unsigned int cpu, lost, nr, id = 0;
	u64 mark;

	if (sscanf(line, "##### snapshot %llu #####", &mark) == 1) {
		if (mark <= seen->mark)
			return false;
		seen->mark = mark;
		seen->marks++;
		return true;
	}

	if (sscanf(line, "CPU:%u [LOST %u EVENTS]", &cpu, &lost) == 2) {
		if (cpu >= SEEN_CPUS)
			return false;
		seen->lost[cpu] += lost;
		seen->all_lost += lost;
		return true;
	}

	/* Of a race: "record NUMBER of WRITER", who is on a CPU of its own. */
	if (!what || sscanf(what, "record %u of %u", &nr, &id) < 1 ||
	    id > 1 || sscanf(strchr(line, '[') ?: "", "[%u]", &cpu) != 1 ||
	    cpu >= SEEN_CPUS)
		return false;

	if (told ? nr != seen->record[id] + seen->lost[cpu] + 1 :
		   nr <= seen->record[id])
		return false;
	seen->record[id] = nr;
	seen->lost[cpu] = 0;
	seen->nr++;

	return true;
}

/* All that can be read at once, line by line. Returns what ended it. */
static ssize_t see_all(struct kunit *test, struct file *file,
		       struct seen *seen)
{
	struct context *ctx = test->priv;
	char *line, *text;
	ssize_t ret;

	/* A read ends with a line, if it may take what there is. */
	while ((ret = read_once(test, file, PAGE_SIZE / 2)) > 0) {
		text = ctx->text;
		while ((line = strsep(&text, "\n")) && *line)
			KUNIT_ASSERT_TRUE_MSG(test, see_line(seen, line, true),
					      "%s", line);
	}

	return ret;
}

static void enable(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, write_to(test, "snapshot_enabled", "1"), 0);
}

static int take(struct kunit *test)
{
	return write_to(test, "snapshot_pipe", "1\n");
}

/* These records, and nothing else, after so many lost ones */
static void expect_records(struct kunit *test, struct file *file, u32 first,
			   u32 last, u32 lost)
{
	struct context *ctx = test->priv;
	struct seen seen = { .record = { first - lost - 1 } };

	KUNIT_EXPECT_EQ(test, see_all(test, file, &seen), -EAGAIN);
	KUNIT_EXPECT_EQ(test, seen.record[0], last);
	KUNIT_EXPECT_EQ(test, seen.nr, last - first + 1);
	KUNIT_EXPECT_EQ(test, seen.all_lost, lost);
	KUNIT_EXPECT_EQ(test, seen.mark, ctx->tr->snapshots.count);
}

static void enabled_states(struct kunit *test)
{
	static const char * const refused[] = { "2", "-1", "x", "1x", "\n" };
	struct context *ctx = test->priv;

	for (int state = 0; state < 2; state++) {
		for (int i = 0; i < 2; i++) {
			KUNIT_EXPECT_EQ(test, write_to(test, "snapshot_enabled",
						       state ? "1" : "0\n"), 0);
			expect_enabled(test, state);
		}
		for (int i = 0; i < ARRAY_SIZE(refused); i++)
			KUNIT_EXPECT_EQ(test, write_to(test, "snapshot_enabled",
						       refused[i]), -EINVAL);
		KUNIT_EXPECT_EQ(test, write_to(test, "snapshot_enabled",
					       "99999999999999999999"),
				-ERANGE);
		expect_enabled(test, state);
	}
	/* Nobody needs it: it is only there. */
	KUNIT_EXPECT_EQ(test, ctx->tr->snapshot, 0);
}

/* "1" to a file that is open, with the @nth allocation failing; what is left */
static int write_failing(struct kunit *test, const char *name,
			 unsigned int *nth)
{
	struct file *file = must_open(test, name, O_WRONLY);
	struct context *ctx = test->priv;
	loff_t pos = 0;
	ssize_t ret;

	ret = copy_to_user(ctx->user, "1", 1) ? -EFAULT : 0;
	if (!ret) {
		set_fail_nth(*nth);
		ret = vfs_write(file, ctx->user, 1, &pos);
		*nth = get_fail_nth();
		set_fail_nth(0);
	}
	__fput_sync(file);

	return min(ret, 0);
}

/* Each allocation fails, one after the other, and nothing has changed. */
static void enabled_without_memory(struct kunit *test)
{
	struct context *ctx = test->priv;
	struct trace_buffer *buffer = ctx->tr->snapshot_buffer.buffer;
	unsigned long size = ring_buffer_size(buffer, ctx->cpu);
	unsigned int left = UINT_MAX, failed = 0;

	need_failslab(test, ctx->user);
	KUNIT_EXPECT_EQ(test, write_failing(test, "snapshot_enabled", &left),
			0);
	for (unsigned int nth = 1; nth <= UINT_MAX - left; nth++) {
		unsigned int n = nth;
		int ret;

		KUNIT_ASSERT_EQ(test, write_to(test, "snapshot_enabled", "0"),
				0);
		ret = write_failing(test, "snapshot_enabled", &n);
		/* Some can be done without. */
		if (!ret)
			continue;

		failed++;
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
		expect_enabled(test, false);
		KUNIT_EXPECT_EQ(test, ctx->tr->snapshot, 0);
		KUNIT_EXPECT_EQ(test, ring_buffer_size(buffer, ctx->cpu), size);
	}
	KUNIT_EXPECT_GT(test, failed, 0);

	enable(test);
	KUNIT_EXPECT_EQ(test, ring_buffer_size(ctx->tr->array_buffer.buffer,
					       ctx->cpu),
			ring_buffer_size(buffer, ctx->cpu));
}

static void enabled_by_others(struct kunit *test)
{
	struct context *ctx = test->priv;

	/* A trigger, for example */
	KUNIT_ASSERT_EQ(test, tracing_arm_snapshot(ctx->tr), 0);
	expect_enabled(test, true);
	enable(test);
	KUNIT_EXPECT_EQ(test, write_to(test, "snapshot_enabled", "0"), -EBUSY);
	expect_enabled(test, true);
	KUNIT_EXPECT_EQ(test, ctx->tr->snapshot, 1);
	tracing_disarm_snapshot(ctx->tr);
	KUNIT_EXPECT_EQ(test, write_to(test, "snapshot_enabled", "0"), 0);
	expect_enabled(test, false);

	/* Kernel code, whose buffer stays when it was asked for meanwhile */
	KUNIT_ASSERT_EQ(test, trace_array_snapshot_alloc(ctx->tr), 0);
	expect_enabled(test, true);
	KUNIT_EXPECT_EQ(test, write_to(test, "snapshot_enabled", "0"), -EBUSY);
	enable(test);
	trace_array_snapshot_free(ctx->tr);
	expect_enabled(test, true);
	KUNIT_EXPECT_EQ(test, write_to(test, "snapshot_enabled", "0"), 0);

	/* And goes when it was not */
	KUNIT_ASSERT_EQ(test, trace_array_snapshot_alloc(ctx->tr), 0);
	trace_array_snapshot_free(ctx->tr);
	expect_enabled(test, false);
}

static void expect_poll(struct kunit *test, struct file *file, __poll_t events)
{
	KUNIT_EXPECT_EQ(test, (__force u32)vfs_poll(file, NULL),
			(__force u32)events);
}

static void enabled_with_latency_tracer(struct kunit *test)
{
	struct context *ctx = test->priv;
	struct file *file;

	enable(test);
	file = must_open(test, "snapshot_pipe", O_RDONLY | O_NONBLOCK);
	if (trace_array_set_tracer(ctx->tr, "wakeup")) {
		__fput_sync(file);
		kunit_skip(test, "needs CONFIG_SCHED_TRACER");
	}
	expect_enabled(test, true);
	KUNIT_EXPECT_EQ(test, write_to(test, "snapshot_enabled", "1"), -EBUSY);
	KUNIT_EXPECT_EQ(test, write_to(test, "snapshot_enabled", "0"), -EBUSY);
	KUNIT_EXPECT_EQ(test, take(test), -EBUSY);
	KUNIT_EXPECT_EQ(test, read_once(test, file, 64), -EBUSY);
	expect_poll(test, file, EPOLLERR);
	KUNIT_EXPECT_EQ(test, trace_array_set_tracer(ctx->tr, "nop"), 0);
	expect_enabled(test, false);
	KUNIT_EXPECT_EQ(test, read_once(test, file, 64), -EAGAIN);
	__fput_sync(file);
}

static void enabled_with_mapped_buffer(struct kunit *test)
{
	struct context *ctx = test->priv;

	ctx->tr->mapped = 1;
	KUNIT_EXPECT_EQ(test, write_to(test, "snapshot_enabled", "1"), -EBUSY);
	ctx->tr->mapped = 0;
	expect_enabled(test, false);
	enable(test);
	ctx->tr->mapped = 1;
	KUNIT_EXPECT_EQ(test, write_to(test, "snapshot_enabled", "1"), -EBUSY);
	KUNIT_EXPECT_EQ(test, take(test), -EBUSY);
	expect_enabled(test, true);
	KUNIT_EXPECT_EQ(test, write_to(test, "snapshot_enabled", "0"), 0);
	ctx->tr->mapped = 0;
	expect_enabled(test, false);
	KUNIT_EXPECT_EQ(test, ctx->tr->snapshot, 0);
}

static void take_refused(struct kunit *test)
{
	static const char * const refused[] = { "0", "2", "-1", "x", "\n" };
	struct context *ctx = test->priv;
	struct trace_array *tr = ctx->tr;
	struct file *file;
	loff_t pos = 0;
	char name[64];

	KUNIT_EXPECT_EQ(test, take(test), -ENODEV);
	enable(test);
	for (int i = 0; i < ARRAY_SIZE(refused); i++)
		KUNIT_EXPECT_EQ(test, write_to(test, "snapshot_pipe",
					       refused[i]), -EINVAL);
	KUNIT_EXPECT_EQ(test, write_to(test, "snapshot_pipe",
				       "99999999999999999999"), -ERANGE);

	file = must_open(test, "snapshot_pipe", O_WRONLY);
	KUNIT_EXPECT_EQ(test, vfs_write(file, NULL, 2, &pos), -EFAULT);
	__fput_sync(file);

	/* Somebody reads "trace", and tracing is stopped for that long. */
	KUNIT_ASSERT_EQ(test, write_to(test, "trace_options", "pause-on-trace"),
			0);
	file = must_open(test, "trace", O_RDONLY);
	KUNIT_EXPECT_EQ(test, take(test), -EAGAIN);
	__fput_sync(file);

	KUNIT_ASSERT_EQ(test, tracing_snapshot_cond_enable(tr, NULL, never), 0);
	KUNIT_EXPECT_EQ(test, take(test), -EBUSY);
	KUNIT_EXPECT_EQ(test, tracing_snapshot_cond_disable(tr), 0);

	if (!IS_ENABLED(CONFIG_RING_BUFFER_ALLOW_SWAP)) {
		snprintf(name, sizeof(name), "per_cpu/cpu%d/snapshot_pipe",
			 ctx->cpu);
		KUNIT_EXPECT_EQ(test, write_to(test, name, "1"), -EINVAL);
	}

	/* None was taken, and nobody has a reference. */
	KUNIT_EXPECT_EQ(test, tr->snapshots.count, 0);
	KUNIT_EXPECT_EQ(test, tr->snapshot, 0);
	KUNIT_EXPECT_EQ(test, take(test), 0);
	KUNIT_EXPECT_EQ(test, tr->snapshots.count, 1);
}

/* To take one the buffer has to grow first, which fails. */
static void take_without_memory(struct kunit *test)
{
	struct context *ctx = test->priv;
	struct trace_array *tr = ctx->tr;
	unsigned int n, failed = 0;
	int ret;

	need_failslab(test, ctx->user);
	enable(test);
	for (unsigned int nth = 1; ; nth++) {
		u64 count = tr->snapshots.count;

		ret = ring_buffer_resize(tr->snapshot_buffer.buffer, 1,
					 RING_BUFFER_ALL_CPUS);
		KUNIT_ASSERT_EQ(test, ret, 0);
		n = nth;
		ret = write_failing(test, "snapshot_pipe", &n);
		if (!ret)
			break;

		failed++;
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
		KUNIT_EXPECT_EQ(test, tr->snapshots.count, count);
		KUNIT_EXPECT_EQ(test, tr->snapshot, 0);
	}
	KUNIT_EXPECT_GT(test, failed, 0);
	KUNIT_EXPECT_EQ(test, tr->snapshots.count, 1);
}

static void pipe_consumes(struct kunit *test)
{
	struct file *file;
	loff_t pos = 0;

	enable(test);
	file = must_open(test, "snapshot_pipe", O_RDONLY | O_NONBLOCK);
	KUNIT_EXPECT_EQ(test, read_once(test, file, 64), -EAGAIN);
	make_records(test, 5);
	KUNIT_EXPECT_EQ(test, read_once(test, file, 64), -EAGAIN);
	KUNIT_EXPECT_EQ(test, take(test), 0);
	make_records(test, 5);
	expect_records(test, file, 1, 5, 0);
	KUNIT_EXPECT_EQ(test, read_once(test, file, 64), -EAGAIN);
	KUNIT_EXPECT_EQ(test, take(test), 0);
	KUNIT_EXPECT_EQ(test, take(test), 0);
	make_records(test, 1);
	KUNIT_EXPECT_EQ(test, take(test), 0);
	expect_records(test, file, 11, 11, 5);

	/* Nothing goes where nothing can be put. */
	make_records(test, 2);
	KUNIT_EXPECT_EQ(test, take(test), 0);
	KUNIT_EXPECT_EQ(test, read_once(test, file, 0), 0);
	KUNIT_EXPECT_EQ(test, vfs_read(file, NULL, 64, &pos), -EFAULT);
	expect_records(test, file, 12, 13, 0);

	/* It is no file with a position. */
	KUNIT_EXPECT_EQ(test, vfs_llseek(file, 0, SEEK_SET), -ESPIPE);
	__fput_sync(file);
}

static void pipe_tells_lost(struct kunit *test)
{
	struct context *ctx = test->priv;
	struct seen seen = {};
	struct file *file;
	u32 last;

	enable(test);
	file = must_open(test, "snapshot_pipe", O_RDONLY | O_NONBLOCK);

	/* One record is read, nine are not. */
	make_records(test, 10);
	KUNIT_EXPECT_EQ(test, take(test), 0);
	KUNIT_EXPECT_EQ(test, read_once(test, file, 1), 1);
	KUNIT_EXPECT_EQ(test, ctx->text[0], '#');
	make_records(test, 5);
	KUNIT_EXPECT_EQ(test, take(test), 0);
	/* The rest of what was printed comes first. */
	KUNIT_EXPECT_GT(test, read_once(test, file, PAGE_SIZE / 2), 0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(ctx->text, "record 1\n"));
	KUNIT_EXPECT_NULL(test, strstr(ctx->text, "record 2\n"));
	expect_records(test, file, 11, 15, 9);

	/* Three of them that nobody reads */
	for (int i = 0; i < 3; i++) {
		make_records(test, 10);
		KUNIT_EXPECT_EQ(test, take(test), 0);
	}
	expect_records(test, file, 36, 45, 20);

	/* Overwritten while they were live, before a snapshot or after one */
	seen.record[0] = 45;
	for (int i = 0; i < 2; i++) {
		last = ring_buffer_overruns(ctx->tr->array_buffer.buffer);
		while (ring_buffer_overruns(ctx->tr->array_buffer.buffer) ==
		       last)
			make_records(test, 100);
		KUNIT_EXPECT_EQ(test, take(test), 0);
	}
	make_records(test, 1);
	KUNIT_EXPECT_EQ(test, take(test), 0);
	KUNIT_EXPECT_EQ(test, see_all(test, file, &seen), -EAGAIN);
	KUNIT_EXPECT_EQ(test, seen.record[0], ctx->next - 1);
	KUNIT_EXPECT_EQ(test, seen.nr + seen.all_lost, ctx->next - 1 - 45);
	__fput_sync(file);

	/* Who comes later has lost nothing. */
	make_records(test, 3);
	KUNIT_EXPECT_EQ(test, take(test), 0);
	make_records(test, 3);
	KUNIT_EXPECT_EQ(test, take(test), 0);
	file = must_open(test, "snapshot_pipe", O_RDONLY | O_NONBLOCK);
	expect_records(test, file, ctx->next - 3, ctx->next - 1, 0);
	__fput_sync(file);
}

static void pipe_readers(struct kunit *test)
{
	struct context *ctx = test->priv;
	struct trace_array *tr = ctx->tr;
	struct file *file, *writer;
	char of_cpu[64];
	int ref;

	snprintf(of_cpu, sizeof(of_cpu), "per_cpu/cpu%d/snapshot_pipe",
		 ctx->cpu);
	ref = tr->ref;
	writer = must_open(test, "snapshot_pipe", O_WRONLY);
	KUNIT_EXPECT_EQ(test, tr->ref, ref + 1);
	for (int i = 0; i < 2; i++) {
		file = must_open(test, i ? of_cpu : "snapshot_pipe",
				 O_RDONLY | O_NONBLOCK);
		KUNIT_EXPECT_EQ(test, tr->ref, ref + 2);
		KUNIT_EXPECT_EQ(test, try_open(test, "snapshot_pipe", O_RDONLY),
				-EBUSY);
		KUNIT_EXPECT_EQ(test, try_open(test, of_cpu, O_RDWR), -EBUSY);
		/* It is readers that are in each other's way. */
		KUNIT_EXPECT_EQ(test, try_open(test, "snapshot_pipe", O_WRONLY),
				0);
		KUNIT_EXPECT_EQ(test, try_open(test, "snapshot_stat", O_RDONLY),
				0);
		KUNIT_EXPECT_EQ(test, tr->ref, ref + 2);
		__fput_sync(file);
	}
	expect_poll(test, writer, EPOLLOUT | EPOLLWRNORM);
	__fput_sync(writer);
	KUNIT_EXPECT_EQ(test, tr->ref, ref);
	KUNIT_EXPECT_TRUE(test, cpumask_empty(tr->snapshots.readers));

	/* Both in one. The instance stays. */
	enable(test);
	file = must_open(test, "snapshot_pipe", O_RDWR | O_NONBLOCK);
	make_records(test, 1);
	KUNIT_EXPECT_EQ(test, take(test), 0);
	expect_records(test, file, 1, 1, 0);
	trace_array_put(tr);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), -EBUSY);
	__fput_sync(file);
	ctx->tr = trace_array_lookup(INSTANCE);
	KUNIT_ASSERT_PTR_EQ(test, ctx->tr, tr);
}

static void pipe_of_one_cpu(struct kunit *test)
{
	struct context *ctx = test->priv;
	struct file *file, *other;
	char name[64];
	int cpu;

	cpu = cpumask_any_but(cpu_possible_mask, ctx->cpu);
	if (cpu >= nr_cpu_ids)
		kunit_skip(test, "needs two CPUs");

	enable(test);
	snprintf(name, sizeof(name), "per_cpu/cpu%d/snapshot_pipe", cpu);
	other = must_open(test, name, O_RDONLY | O_NONBLOCK);
	snprintf(name, sizeof(name), "per_cpu/cpu%d/snapshot_pipe", ctx->cpu);
	file = must_open(test, name, O_RDONLY | O_NONBLOCK);
	make_records(test, 3);
	KUNIT_EXPECT_EQ(test, take(test), 0);
	KUNIT_EXPECT_EQ(test, read_once(test, other, 64), -EAGAIN);
	expect_records(test, file, 1, 3, 0);

	if (IS_ENABLED(CONFIG_RING_BUFFER_ALLOW_SWAP)) {
		make_records(test, 2);
		KUNIT_EXPECT_EQ(test, write_to(test, name, "1"), 0);
		make_records(test, 2);
		KUNIT_EXPECT_EQ(test, write_to(test, name, "1"), 0);
		expect_records(test, file, 6, 7, 2);
		KUNIT_EXPECT_EQ(test, read_once(test, other, 64), -EAGAIN);
	}
	__fput_sync(file);
	__fput_sync(other);
}

static void pipe_ends(struct kunit *test)
{
	struct file *file;

	enable(test);
	file = must_open(test, "snapshot_pipe", O_RDONLY | O_NONBLOCK);

	/* Nothing has begun, so nothing ends. */
	KUNIT_EXPECT_EQ(test, write_to(test, "snapshot_enabled", "0"), 0);
	KUNIT_EXPECT_EQ(test, read_once(test, file, 64), -EAGAIN);

	for (int i = 0; i < 2; i++) {
		enable(test);
		make_records(test, 2);
		KUNIT_EXPECT_EQ(test, take(test), 0);
		expect_records(test, file, 2 * i + 1, 2 * i + 2, 0);
		KUNIT_EXPECT_EQ(test, write_to(test, "snapshot_enabled", "0"),
				0);
		expect_poll(test, file, EPOLLIN | EPOLLRDNORM);
		KUNIT_EXPECT_EQ(test, read_once(test, file, 64), 0);
		expect_poll(test, file, 0);
		KUNIT_EXPECT_EQ(test, read_once(test, file, 64), -EAGAIN);
	}
	__fput_sync(file);
}

static void poll_tells(struct kunit *test)
{
	const __poll_t in = EPOLLIN | EPOLLRDNORM;
	struct file *pipe, *stat;

	enable(test);
	pipe = must_open(test, "snapshot_pipe", O_RDONLY | O_NONBLOCK);
	stat = must_open(test, "snapshot_stat", O_RDONLY);
	expect_poll(test, pipe, 0);
	expect_poll(test, stat, 0);

	/* A live record is nothing to be told. */
	make_records(test, 1);
	expect_poll(test, pipe, 0);
	expect_poll(test, stat, 0);

	KUNIT_EXPECT_EQ(test, take(test), 0);
	for (int i = 0; i < 2; i++) {
		expect_poll(test, pipe, in | EPOLLPRI);
		expect_poll(test, stat, in | EPOLLPRI);
	}
	expect_records(test, pipe, 1, 1, 0);
	expect_poll(test, pipe, 0);
	KUNIT_EXPECT_GT(test, read_once(test, stat, PAGE_SIZE / 2), 0);
	expect_poll(test, stat, 0);

	/* One without records is news, and nothing to read. */
	KUNIT_EXPECT_EQ(test, take(test), 0);
	expect_poll(test, pipe, EPOLLPRI);
	KUNIT_EXPECT_EQ(test, read_once(test, pipe, 64), -EAGAIN);
	expect_poll(test, pipe, 0);

	/* What is read in part can be read, and is no news. */
	make_records(test, 2);
	KUNIT_EXPECT_EQ(test, take(test), 0);
	KUNIT_EXPECT_EQ(test, read_once(test, pipe, 1), 1);
	expect_poll(test, pipe, in);

	__fput_sync(stat);
	stat = must_open(test, "snapshot_stat", O_RDONLY);
	expect_poll(test, stat, 0);
	__fput_sync(stat);
	__fput_sync(pipe);
}

static void stat_tells(struct kunit *test)
{
	struct context *ctx = test->priv;
	struct trace_array *tr = ctx->tr;
	char line[64];

	KUNIT_EXPECT_STREQ(test, text_of(test, "snapshot_stat"), "count: 0\n");
	enable(test);
	KUNIT_EXPECT_STREQ(test, text_of(test, "snapshot_stat"), "count: 0\n");

	KUNIT_EXPECT_EQ(test, take(test), 0);
	text_of(test, "snapshot_stat");
	KUNIT_EXPECT_TRUE(test, strstarts(ctx->text, "count: 1\ntime: "));
	snprintf(line, sizeof(line), "\ntask: %s-%d\n", current->comm,
		 current->pid);
	KUNIT_EXPECT_NOT_NULL(test, strstr(ctx->text, line));
	snprintf(line, sizeof(line), "\ncpu: %d\n", ctx->cpu);
	KUNIT_EXPECT_NOT_NULL(test, strstr(ctx->text, line));
	KUNIT_EXPECT_NOT_NULL(test, strstr(ctx->text, "\ncause: file\n"));

	KUNIT_EXPECT_EQ(test, trace_array_snapshot(tr), 0);
	text_of(test, "snapshot_stat");
	KUNIT_EXPECT_NOT_NULL(test, strstr(ctx->text, "\ncause: kernel\n"));

	KUNIT_ASSERT_EQ(test, tracing_snapshot_cond_enable(tr, NULL, always),
			0);
	tracing_snapshot_cond(tr, NULL);
	KUNIT_EXPECT_EQ(test, tracing_snapshot_cond_disable(tr), 0);
	text_of(test, "snapshot_stat");
	KUNIT_EXPECT_TRUE(test, strstarts(ctx->text, "count: 3\n"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(ctx->text, "\ncause: condition\n"));

	/* One that is not taken leaves everything as it was. */
	strscpy(line, ctx->text);
	KUNIT_ASSERT_EQ(test, tracing_snapshot_cond_enable(tr, NULL, never), 0);
	tracing_snapshot_cond(tr, NULL);
	KUNIT_EXPECT_EQ(test, tracing_snapshot_cond_disable(tr), 0);
	text_of(test, "snapshot_stat");
	ctx->text[sizeof(line) - 1] = '\0';
	KUNIT_EXPECT_STREQ(test, ctx->text, line);

	/* It outlives the buffer. */
	KUNIT_EXPECT_EQ(test, write_to(test, "snapshot_enabled", "0"), 0);
	KUNIT_EXPECT_TRUE(test, strstarts(text_of(test, "snapshot_stat"),
					  "count: 3\n"));
}

/* Threads */

struct worker {
	void			(*work)(struct worker *worker);
	struct trace_array	*tr;
	struct file		*file;
	struct completion	done;
	struct seen		*seen;
	int			id;
	/* The last record that it wrote, or what it read */
	u32			count;
	ssize_t			ret;
	bool			stop;
	char			bad[128];
	char			text[SZ_1K + 256];
};

static int run_worker(void *data)
{
	struct worker *worker = data;

	worker->work(worker);
	complete(&worker->done);

	return 0;
}

static struct worker *start_worker(struct kunit *test, int cpu, int id,
				   struct file *file,
				   void (*work)(struct worker *worker))
{
	struct worker *worker = kunit_kzalloc(test, sizeof(*worker),
					      GFP_KERNEL);
	struct context *ctx = test->priv;
	struct task_struct *task;

	KUNIT_ASSERT_NOT_NULL(test, worker);
	worker->seen = kunit_kzalloc(test, sizeof(*worker->seen), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, worker->seen);
	init_completion(&worker->done);
	worker->work = work;
	worker->tr = ctx->tr;
	worker->file = file;
	worker->id = id;
	task = kthread_create_on_cpu(run_worker, worker, cpu, "worker/%u");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	wake_up_process(task);

	return worker;
}

static void end_worker(struct worker *worker)
{
	WRITE_ONCE(worker->stop, true);
	wait_for_completion(&worker->done);
}

static void read_line(struct worker *worker)
{
	worker->ret = kernel_read(worker->file, worker->text,
				  sizeof(worker->text) - 1,
				  &worker->file->f_pos);
}

static struct worker *start_reading(struct kunit *test, struct file *file)
{
	struct context *ctx = test->priv;
	struct worker *worker = start_worker(test, ctx->cpu, 0, file,
					     read_line);

	while (!wq_has_sleeper(&ctx->tr->snapshots.wait))
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_FALSE(test, completion_done(&worker->done));

	return worker;
}

static void pipe_waits(struct kunit *test)
{
	struct worker *worker;
	struct file *file;

	enable(test);
	file = must_open(test, "snapshot_pipe", O_RDONLY);
	for (int i = 1; i < 4; i++) {
		char text[16];

		worker = start_reading(test, file);
		/* One without records is not what it waits for. */
		if (i > 1)
			KUNIT_EXPECT_EQ(test, take(test), 0);
		make_records(test, 1);
		KUNIT_EXPECT_EQ(test, take(test), 0);
		end_worker(worker);
		snprintf(text, sizeof(text), "record %d\n", i);
		KUNIT_EXPECT_GT(test, worker->ret, 0);
		KUNIT_EXPECT_NOT_NULL(test, strstr(worker->text, text));
	}

	/* The end of what it was reading ends the wait. */
	worker = start_reading(test, file);
	KUNIT_EXPECT_EQ(test, write_to(test, "snapshot_enabled", "0"), 0);
	end_worker(worker);
	KUNIT_EXPECT_EQ(test, worker->ret, 0);
	__fput_sync(file);
}

static void need_two_cpus(struct kunit *test, int cpu[2])
{
	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");

	cpu[0] = cpumask_first(cpu_online_mask);
	cpu[1] = cpumask_next(cpu[0], cpu_online_mask);
}

static int write_numbered(struct worker *worker)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "record %u of %d\n",
			   worker->count + 1, worker->id);

	if (__trace_array_puts(worker->tr, _THIS_IP_, text, len) != len)
		return 0;

	return 1;
}

static void write_until_stopped(struct worker *worker)
{
	while (!READ_ONCE(worker->stop)) {
		worker->count += write_numbered(worker);
		cond_resched();
	}
}

/* What the lines say is seen, until there is nothing. */
static void see_some(struct worker *worker, bool told)
{
	char *end, *line;
	size_t left = 0;
	ssize_t n;

	while ((n = kernel_read(worker->file, worker->text + left, SZ_1K,
				&worker->file->f_pos)) > 0) {
		worker->text[left + n] = '\0';
		for (line = worker->text; (end = strchr(line, '\n'));
		     line = end + 1) {
			*end = '\0';
			if (!see_line(worker->seen, line, told) &&
			    !worker->bad[0])
				strscpy(worker->bad, line);
		}
		left = strlen(line);
		memmove(worker->text, line, left + 1);
		if (left > 256) {
			strscpy(worker->bad, "a line too long");
			left = 0;
		}
	}
	worker->ret = n;
}

static void see_all_the_time(struct worker *worker)
{
	while (!READ_ONCE(worker->stop)) {
		see_some(worker, true);
		schedule_timeout_uninterruptible(1);
	}
	see_some(worker, true);
}

static void see_order_all_the_time(struct worker *worker)
{
	while (!READ_ONCE(worker->stop)) {
		see_some(worker, false);
		schedule_timeout_uninterruptible(1);
	}
}

/* Some of them are too fast for a reader, and some are not. */
static void take_snapshots(struct worker *worker)
{
	while (worker->count < race_snapshots) {
		worker->count += !trace_array_snapshot(worker->tr);
		schedule_timeout_uninterruptible(1 + worker->count % 8);
	}
}

static void take_all_the_time(struct worker *worker)
{
	while (!READ_ONCE(worker->stop)) {
		worker->count += !trace_array_snapshot(worker->tr);
		schedule_timeout_uninterruptible(1);
	}
}

/* Each record is read once, in order, or was announced as lost. */
static void race_take_and_read(struct kunit *test)
{
	struct worker *writer[2], *reader, *taker;
	struct context *ctx = test->priv;
	struct seen *seen;
	struct file *file;
	int cpu[2];

	need_two_cpus(test, cpu);
	KUNIT_ASSERT_EQ(test, trace_array_set_buffer_size(ctx->tr, SZ_16K), 0);
	enable(test);
	file = must_open(test, "snapshot_pipe", O_RDONLY | O_NONBLOCK);
	reader = start_worker(test, cpu[1], 0, file, see_all_the_time);
	taker = start_worker(test, cpu[0], 0, NULL, take_snapshots);
	for (int i = 0; i < 2; i++)
		writer[i] = start_worker(test, cpu[i], i, NULL,
					 write_until_stopped);
	end_worker(taker);
	for (int i = 0; i < 2; i++)
		end_worker(writer[i]);

	/* What was lost is told at the next one. */
	for (int i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current,
							   cpumask_of(cpu[i])),
				0);
		writer[i]->count += write_numbered(writer[i]);
	}
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), 0);
	end_worker(reader);
	__fput_sync(file);

	seen = reader->seen;
	KUNIT_EXPECT_STREQ(test, reader->bad, "");
	KUNIT_EXPECT_EQ(test, reader->ret, -EAGAIN);
	KUNIT_EXPECT_GT(test, seen->marks, 1);
	for (int i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, seen->record[i], writer[i]->count);
	KUNIT_EXPECT_EQ(test, seen->nr + seen->all_lost,
			writer[0]->count + writer[1]->count);
	kunit_info(test, "%u snapshots, %u of them read, %u records, %u lost\n",
		   taker->count + 1, seen->marks, seen->nr, seen->all_lost);
}

/* What is freed or emptied is gone; what is read is in order all the same. */
static void race_with_free_and_resize(struct kunit *test)
{
	static const struct {
		const char *name, *text;
	} writes[] = {
		{ "snapshot_enabled",		"1" },
		{ "buffer_size_kb",		"64" },
		{ "snapshot_pipe",		"1" },
		{ "snapshot",			"1" },
		{ "buffer_size_kb",		"16" },
		{ "snapshot",			"2" },
		{ "snapshot_enabled",		"0" },
		{ "snapshot_enabled",		"1" },
		{ "buffer_subbuf_size_kb",	"8" },
		{ "snapshot",			"0" },
		{ "buffer_subbuf_size_kb",	"4" },
		{ "trace_clock",		"global" },
		{ "snapshot_enabled",		"1" },
		{ "trace_clock",		"local" },
	};
	struct worker *writer[2], *reader, *taker;
	struct context *ctx = test->priv;
	struct file *file;
	int cpu[2];

	need_two_cpus(test, cpu);
	enable(test);
	file = must_open(test, "snapshot_pipe", O_RDONLY | O_NONBLOCK);
	reader = start_worker(test, cpu[1], 0, file, see_order_all_the_time);
	taker = start_worker(test, cpu[0], 0, NULL, take_all_the_time);
	for (int i = 0; i < 2; i++)
		writer[i] = start_worker(test, cpu[i], i, NULL,
					 write_until_stopped);

	for (int i = 0; i < 10 * ARRAY_SIZE(writes); i++) {
		int nr = i % ARRAY_SIZE(writes);
		int ret = write_to(test, writes[nr].name, writes[nr].text);

		/* Somebody else is at it. */
		if (ret != -EBUSY && ret != -EAGAIN)
			KUNIT_EXPECT_EQ_MSG(test, ret, 0, "%s to %s",
					    writes[nr].text, writes[nr].name);
	}
	for (int i = 0; i < 2; i++)
		end_worker(writer[i]);
	end_worker(taker);
	end_worker(reader);
	KUNIT_EXPECT_STREQ(test, reader->bad, "");
	KUNIT_EXPECT_GT(test, taker->count, 0);
	KUNIT_EXPECT_EQ(test, ctx->tr->snapshot, 0);

	/* It all works as at the beginning, for who begins to read. */
	__fput_sync(file);
	KUNIT_EXPECT_EQ(test, write_to(test, "snapshot_enabled", "0"), 0);
	enable(test);
	file = must_open(test, "snapshot_pipe", O_RDONLY | O_NONBLOCK);
	KUNIT_EXPECT_EQ(test, write_to(test, "trace", "\n"), 0);
	make_records(test, 3);
	KUNIT_EXPECT_EQ(test, take(test), 0);
	expect_records(test, file, 1, 3, 0);
	__fput_sync(file);
}

/* Who clears a buffer disables recording in it for that long. */
static void take_while_cleared(struct kunit *test)
{
	struct context *ctx = test->priv;
	struct trace_buffer *buffers[2];

	enable(test);
	buffers[0] = ctx->tr->array_buffer.buffer;
	buffers[1] = ctx->tr->snapshot_buffer.buffer;
	for (int i = 0; i < 2; i++) {
		ring_buffer_record_disable(buffers[i]);
		KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), -EAGAIN);
		ring_buffer_record_enable(buffers[i]);
	}
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), 0);

	/* Switched off is something else. */
	tracer_tracing_off(ctx->tr);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), 0);
	tracer_tracing_on(ctx->tr);
}

static void clear_all_the_time(struct worker *worker)
{
	while (!READ_ONCE(worker->stop)) {
		tracing_reset_online_cpus(&worker->tr->snapshot_buffer);
		WRITE_ONCE(worker->count, worker->count + 1);
		/* For more ticks than who waits for one lets go by. */
		schedule_timeout_uninterruptible(4);
	}
}

/* What is cleared is the snapshot, and never what is live. */
static void race_with_clear(struct kunit *test)
{
	struct context *ctx = test->priv;
	struct trace_array *tr = ctx->tr;
	unsigned int refused = 0;
	unsigned int cleared = 0;
	struct worker *clearer;
	int ret = 0;

	enable(test);
	clearer = start_worker(test, ctx->cpu, 0, NULL, clear_all_the_time);
	for (int i = 0; i < race_snapshots && !refused && !cleared; i++) {
		u32 count;

		while ((ret = trace_array_snapshot(tr)) == -EAGAIN)
			schedule_timeout_uninterruptible(1);
		if (ret)
			break;

		refused = __trace_array_puts(tr, _THIS_IP_, "live\n", 5) != 5;

		/* One that was under way is over then. */
		count = READ_ONCE(clearer->count);
		while (READ_ONCE(clearer->count) - count < 2)
			schedule_timeout_uninterruptible(1);
		cleared = !ring_buffer_entries(tr->array_buffer.buffer);
	}
	end_worker(clearer);
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, refused, 0);
	KUNIT_EXPECT_EQ(test, cleared, 0);
}

static void instance_destroy(void *data)
{
	struct kunit *test = data;
	struct context *ctx = test->priv;

	trace_array_put(ctx->tr);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(ctx->tr), 0);
	kern_unmount(ctx->mnt);
}

static int snapshot_init(struct kunit *test)
{
	struct context *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	unsigned long addr;

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	test->priv = ctx;
	ctx->next = 1;

	addr = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
			     MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_FALSE(test, !addr || IS_ERR_VALUE(addr));
	ctx->user = (char __user *)addr;

	ctx->cpu = raw_smp_processor_id();
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current,
						   cpumask_of(ctx->cpu)), 0);
	ctx->mnt = kern_mount(get_fs_type("tracefs"));
	KUNIT_ASSERT_FALSE(test, IS_ERR(ctx->mnt));
	ctx->tr = trace_array_create(INSTANCE);
	if (IS_ERR(ctx->tr)) {
		kern_unmount(ctx->mnt);
		return PTR_ERR(ctx->tr);
	}
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, instance_destroy,
							test), 0);

	return trace_array_set_buffer_size(ctx->tr, SZ_16K);
}

static struct kunit_case snapshot_cases[] = {
	KUNIT_CASE(cond_disable_keeps_reference),
	KUNIT_CASE(cond_disable_drops_its_own),
	KUNIT_CASE(enabled_states),
	KUNIT_CASE(enabled_without_memory),
	KUNIT_CASE(enabled_by_others),
	KUNIT_CASE(enabled_with_latency_tracer),
	KUNIT_CASE(enabled_with_mapped_buffer),
	KUNIT_CASE(take_refused),
	KUNIT_CASE(take_without_memory),
	KUNIT_CASE(take_while_cleared),
	KUNIT_CASE(pipe_consumes),
	KUNIT_CASE(pipe_tells_lost),
	KUNIT_CASE(pipe_readers),
	KUNIT_CASE(pipe_of_one_cpu),
	KUNIT_CASE(pipe_ends),
	KUNIT_CASE(pipe_waits),
	KUNIT_CASE(poll_tells),
	KUNIT_CASE(stat_tells),
	KUNIT_CASE_SLOW(race_take_and_read),
	KUNIT_CASE_SLOW(race_with_free_and_resize),
	KUNIT_CASE_SLOW(race_with_clear),
	{}
};

static struct kunit_suite snapshot_suite = {
	.name		= "trace_snapshot",
	.init		= snapshot_init,
	.test_cases	= snapshot_cases,
};

kunit_test_suites(&rb_suite, &snapshot_suite);

MODULE_DESCRIPTION("KUnit tests for snapshots of trace instances");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/*
 * Helpers of the KUnit suites of trace_instance.c, see trace_inst_kunit.h.
 */

#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hardirq.h>
#include <linux/ring_buffer.h>
#include <linux/slab.h>

#define CREATE_TRACE_POINTS
#include "trace_inst_kunit.h"

KUNIT_DEFINE_ACTION_WRAPPER(free_text, kvfree, const void *);
KUNIT_DEFINE_ACTION_WRAPPER(close_reader, trace_array_reader_close,
			    struct trace_array_reader *);

static char *alloc_text(struct kunit *test)
{
	char *text = kvmalloc(INST_TEXT_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, text);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_text, text),
			0);

	return text;
}

/* The init function of the suites */
int inst_kunit_init(struct kunit *test)
{
	struct inst_kunit *inst = kunit_kzalloc(test, sizeof(*inst),
						GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, inst);
	trace_kunit_init(test, &inst->env, INST_NAME);
	inst->cpu = raw_smp_processor_id();
	inst->mine = alloc_text(test);
	inst->its = alloc_text(test);

	return 0;
}

/* @tr has this name, and files. If @tr is NULL nothing has this name. */
void inst_expect_there(struct kunit *test, const char *name,
		       struct trace_array *tr)
{
	struct file *file = trace_kunit_open(test, name, "trace", O_RDONLY);

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(file), tr ? 0 : -ENOENT);
	if (!IS_ERR(file))
		__fput_sync(file);
	KUNIT_EXPECT_PTR_EQ(test, trace_kunit_find(name), tr);
}

/* At most @size bytes of a file of the instance */
ssize_t inst_read_file(struct kunit *test, const char *name, char *buf,
		       size_t size)
{
	struct file *file = trace_kunit_open(test, INST_NAME, name, O_RDONLY);
	struct inst_kunit *inst = test->priv;
	size_t done = 0;
	ssize_t ret = 0;

	if (IS_ERR(file))
		return PTR_ERR(file);

	while (done < size) {
		ret = trace_kunit_read(test, file);
		if (ret <= 0)
			break;
		ret = min_t(size_t, ret, size - done);
		memcpy(buf + done, inst->env.text, ret);
		done += ret;
	}
	__fput_sync(file);

	return ret < 0 ? ret : done;
}

/* The text of a file of the instance, until the next call */
const char *inst_file(struct kunit *test, const char *name)
{
	struct inst_kunit *inst = test->priv;
	ssize_t len = inst_read_file(test, name, inst->its, INST_TEXT_SIZE - 1);

	KUNIT_ASSERT_GE_MSG(test, len, 0, "%s", name);
	inst->its[len] = '\0';

	return inst->its;
}

void inst_expect_file(struct kunit *test, const char *name, const char *text)
{
	KUNIT_EXPECT_STREQ_MSG(test, inst_file(test, name), text, "%s", name);
}

void inst_expect_in_file(struct kunit *test, const char *name,
			 const char *text)
{
	const char *all = inst_file(test, name);

	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(all, text), "%s: no \"%s\" in\n%s",
				  name, text, all);
}

void inst_write(struct kunit *test, const char *name, const char *text)
{
	KUNIT_ASSERT_EQ_MSG(test, trace_kunit_write(test, name, text), 0,
			    "%s > %s", text, name);
}

/* Enables the events, with a clock that ticks at each record. */
void inst_enable(struct kunit *test)
{
	inst_write(test, "trace_clock", "counter");
	KUNIT_ASSERT_EQ(test, trace_array_set_clr_event(inst_tr(test),
							INST_SYSTEM, NULL,
							true), 0);
}

/* Makes @nr records, if the event is enabled. */
void inst_record(u32 first, u32 nr)
{
	for (u32 seq = first; seq < first + nr; seq++)
		trace_inst_kunit(0, seq, 8);
}

/* Reads at most @size bytes of text with a reader. */
ssize_t inst_read(struct trace_array *tr, unsigned int flags, char *buf,
		  size_t size)
{
	struct trace_array_reader *reader = trace_array_reader_open(tr, flags);
	ssize_t ret;

	if (IS_ERR(reader))
		return PTR_ERR(reader);

	ret = trace_array_reader_read(reader, buf, size);
	trace_array_reader_close(reader);

	return ret;
}

/* The text of the instance, until the next call */
const char *inst_text(struct kunit *test, unsigned int flags)
{
	struct inst_kunit *inst = test->priv;
	ssize_t len = inst_read(inst->env.tr, flags, inst->mine,
				INST_TEXT_SIZE);

	KUNIT_ASSERT_GE(test, len, 0);
	KUNIT_ASSERT_LT(test, len, INST_TEXT_SIZE);
	inst->mine[len] = '\0';

	return inst->mine;
}

/* These @nr records of inst_record() are there, in order, and no other. */
void inst_expect_records(struct kunit *test, unsigned int flags, u32 first,
			 u32 nr)
{
	const char *text = inst_text(test, flags);
	u32 found = 0;
	u32 seq;

	for (; (text = strstr(text, " seq=")); text++) {
		if (sscanf(text, " seq=%u", &seq) != 1)
			break;
		KUNIT_EXPECT_EQ(test, seq, first + found);
		found++;
	}
	KUNIT_EXPECT_EQ(test, found, nr);
}

/* Consumes the next record. @source is U32_MAX if it is of another event. */
bool inst_consume(struct trace_buffer *buffer, int cpu, u32 *source, u32 *seq)
{
	struct trace_event_raw_inst_kunit *record;
	struct ring_buffer_event *event;

	event = ring_buffer_consume(buffer, cpu, NULL, NULL);
	if (!event)
		return false;

	record = ring_buffer_event_data(event);
	*source = U32_MAX;
	if (record->ent.type == event_inst_kunit.event.type)
		*source = record->source;
	*seq = record->seq;

	return true;
}

/* The end of the test closes the reader, if inst_close() has not done that. */
struct trace_array_reader *inst_open(struct kunit *test, unsigned int flags)
{
	struct trace_array_reader *reader;

	reader = trace_array_reader_open(inst_tr(test), flags);
	KUNIT_ASSERT_FALSE(test, IS_ERR(reader));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, close_reader,
							reader), 0);

	return reader;
}

void inst_close(struct kunit *test, struct trace_array_reader *reader)
{
	kunit_release_action(test, close_reader, reader);
}

/* Bytes of the ring buffer of each CPU */
unsigned long inst_buffer_size(struct kunit *test)
{
	struct trace_buffer *buffer = inst_tr(test)->array_buffer.buffer;
	struct inst_kunit *inst = test->priv;
	unsigned long size = ring_buffer_size(buffer, inst->cpu);
	int cpu;

	for_each_online_cpu(cpu)
		KUNIT_EXPECT_EQ(test, ring_buffer_size(buffer, cpu), size);

	return size;
}

int inst_in_nmi(int (*call)(struct trace_array *tr), struct trace_array *tr)
{
	unsigned long flags;
	int ret;

	local_irq_save(flags);
	nmi_enter();
	ret = call(tr);
	nmi_exit();
	local_irq_restore(flags);

	return ret;
}

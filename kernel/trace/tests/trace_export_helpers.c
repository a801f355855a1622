// SPDX-License-Identifier: GPL-2.0
/*
 * Helpers of the KUnit suites of trace exports, see trace_export_helpers.h.
 */

#include <kunit/test.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/ring_buffer.h>
#include <linux/trace.h>

#define CREATE_TRACE_POINTS
#include "trace_export_helpers.h"

atomic_t export_late_writes;

KUNIT_DEFINE_ACTION_WRAPPER(unregister, unregister_ftrace_export,
			    struct trace_export *);

static void event_off(void *data)
{
	struct export_kunit *ctx = data;

	trace_array_set_clr_event(ctx->env.tr, EXPORT_KUNIT, NULL, false);
	trace_put_event_file(ctx->file);
}

/* The init function of the suites: an instance in which the event is enabled */
int export_kunit_init(struct kunit *test)
{
	struct export_kunit *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	trace_kunit_init(test, &ctx->env, EXPORT_KUNIT);
	ctx->file = trace_get_event_file(EXPORT_KUNIT, EXPORT_KUNIT,
					 "export_kunit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(ctx->file));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, event_off, ctx),
			0);

	return trace_array_set_clr_event(ctx->env.tr, EXPORT_KUNIT,
					 "export_kunit", true);
}

/* The same. No two times are the same: no time stamp is right by chance. */
int export_kunit_init_counter(struct kunit *test)
{
	struct export_kunit *ctx;
	int ret;

	ret = export_kunit_init(test);
	if (ret)
		return ret;

	ctx = test->priv;
	return tracing_set_clock(ctx->env.tr, "counter");
}

static void remove_other(void *data)
{
	struct kunit *test = data;
	struct export_kunit *ctx = test->priv;

	trace_array_put(ctx->other);
	KUNIT_EXPECT_EQ(test, trace_kunit_rmdir(test, EXPORT_KUNIT_OTHER), 0);
}

/* Another instance in which the event is enabled */
struct trace_array *export_kunit_other(struct kunit *test)
{
	struct export_kunit *ctx = test->priv;

	ctx->other = trace_array_get_by_name(EXPORT_KUNIT_OTHER, NULL);
	KUNIT_ASSERT_NOT_NULL(test, ctx->other);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, remove_other,
							test), 0);
	KUNIT_ASSERT_EQ(test, trace_array_set_clr_event(ctx->other, EXPORT_KUNIT,
							"export_kunit", true),
			0);

	return ctx->other;
}

static void unregister_one(void *data)
{
	struct export_registration *reg = data;

	if (reg->tr)
		trace_array_unregister_export(reg->tr, reg->export);
	else
		unregister_ftrace_export(reg->export);
}

/*
 * For all trace arrays if @tr is NULL. Until export_kunit_unregister() or the end
 * of the test.
 */
struct export_registration *
export_kunit_register(struct kunit *test, struct trace_array *tr,
		      struct trace_export *export)
{
	struct export_registration *reg = kunit_kzalloc(test, sizeof(*reg),
							GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, reg);
	reg->tr = tr;
	reg->export = export;
	KUNIT_ASSERT_EQ(test, tr ? trace_array_register_export(tr, export) :
				   register_ftrace_export(export), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, unregister_one,
							reg), 0);

	return reg;
}

void export_kunit_unregister(struct kunit *test,
			     struct export_registration *reg)
{
	kunit_release_action(test, unregister_one, reg);
}

/* The file "exports" of the instance contains @text. It stays in env.text. */
void export_kunit_expect_shown(struct kunit *test, const char *text)
{
	struct export_kunit *ctx = test->priv;
	struct file *file;

	file = trace_kunit_open(test, EXPORT_KUNIT, "exports", O_RDONLY);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	KUNIT_EXPECT_GT(test, trace_kunit_read(test, file), 0);
	__fput_sync(file);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(ctx->env.text, text),
			      "no \"%s\" in\n%s", text, ctx->env.text);
}

void export_kunit_filter(struct kunit *test, const char *filter)
{
	struct export_kunit *ctx = test->priv;
	char buf[64];
	int ret;

	strscpy(buf, filter);
	/* Not the assertion: it ends the thread, with the mutex locked. */
	scoped_guard(mutex, &event_mutex)
		ret = apply_event_filter(ctx->file, buf);
	KUNIT_ASSERT_EQ(test, ret, 0);
}

void export_kunit_trigger(struct kunit *test, const char *trigger)
{
	struct export_kunit *ctx = test->priv;
	char buf[64];
	int ret;

	strscpy(buf, trigger);
	scoped_guard(mutex, &event_mutex)
		ret = trigger_process_regex(ctx->file, buf);
	KUNIT_ASSERT_EQ(test, ret, 0);
}

/* The next record of the instance, of any CPU, or NULL */
struct ring_buffer_event *export_kunit_next(struct trace_array *tr)
{
	struct ring_buffer_event *event = NULL;
	int cpu;

	for_each_online_cpu(cpu) {
		event = ring_buffer_consume(tr->array_buffer.buffer, cpu, NULL,
					    NULL);
		if (event)
			break;
	}

	return event;
}

static bool record_intact(const void *buf, unsigned int len)
{
	const struct trace_event_raw_export_kunit *rec = buf;
	unsigned int offset, size;

	if (len < sizeof(*rec))
		return false;

	offset = rec->__data_loc_pattern & 0xffff;
	size = rec->__data_loc_pattern >> 16;
	if (offset + size > len)
		return false;

	return !size || !memchr_inv(buf + offset, rec->seq & 0xff, size);
}

static void sink_write(struct trace_export *export, const void *buf,
		       unsigned int len)
{
	struct sink *sink = container_of(export, struct sink, export);
	const struct trace_event_raw_export_kunit *rec = buf;

	if (READ_ONCE(sink->magic) != SINK_ALIVE) {
		atomic_inc(&export_late_writes);
		return;
	}

	if (rec->ent.type == TRACE_FN) {
		atomic_inc(&sink->functions);
		return;
	}

	if (rec->ent.type != event_export_kunit.event.type)
		return;

	if (!record_intact(buf, len) || rec->source >= SOURCES ||
	    rec->seq != sink->next[rec->source]++)
		atomic_inc(&sink->wrong);

	if (sink->copy) {
		memcpy(sink->copy, buf, min(len, PAGE_SIZE));
		sink->len = len;
	}
	atomic_inc(&sink->records);
}

void export_sink_init(struct sink *sink, int flags)
{
	sink->magic = SINK_ALIVE;
	sink->export.write = sink_write;
	sink->export.flags = flags;
}

struct sink *export_sink_alloc(struct kunit *test, int flags)
{
	struct sink *sink = kunit_kzalloc(test, sizeof(*sink), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, sink);
	export_sink_init(sink, flags);

	return sink;
}

/* For all trace arrays, until export_sink_unregister() or the end of the test */
void export_sink_register(struct kunit *test, struct sink *sink)
{
	KUNIT_ASSERT_EQ(test, register_ftrace_export(&sink->export), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, unregister,
							&sink->export), 0);
}

void export_sink_unregister(struct kunit *test, struct sink *sink)
{
	kunit_release_action(test, unregister, &sink->export);
}

struct sink *export_sink_new(struct kunit *test, int flags)
{
	struct sink *sink = export_sink_alloc(test, flags);

	export_sink_register(test, sink);

	return sink;
}

struct sink *export_sink_new_for(struct kunit *test, struct trace_array *tr,
				 int flags)
{
	struct sink *sink = export_sink_alloc(test, flags);

	export_kunit_register(test, tr, &sink->export);

	return sink;
}

void export_sink_expect(struct kunit *test, struct sink *sink, int records)
{
	KUNIT_EXPECT_EQ(test, atomic_read(&sink->records), records);
	KUNIT_EXPECT_EQ(test, atomic_read(&sink->wrong), 0);
}

static void mirror_write(struct trace_export *export,
			 const struct trace_export_record *record)
{
	struct mirror *mirror = container_of(export, struct mirror, export);
	const struct trace_entry *ent = record->data;
	int i;

	if (mirror->own && ent->type != event_export_kunit.event.type) {
		atomic_inc(&mirror->foreign);
		return;
	}

	i = atomic_inc_return(&mirror->got) - 1;
	if (i < MIRROR_RECORDS) {
		mirror->record[i] = *record;
		mirror->record[i].data = mirror->data[i];
		memcpy(mirror->data[i], record->data,
		       min(record->len, MIRROR_BYTES));
	}
	if (mirror->inside && (!i || mirror->always))
		mirror->inside();
}

struct mirror *export_mirror_alloc(struct kunit *test, int flags)
{
	struct mirror *mirror = kunit_kzalloc(test, sizeof(*mirror), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mirror);
	mirror->export.write_record = mirror_write;
	mirror->export.flags = flags;
	mirror->export.name = "mirror";

	return mirror;
}

/* For the instance of the test, until the end of the test */
struct mirror *export_mirror_new(struct kunit *test, int flags)
{
	struct mirror *mirror = export_mirror_alloc(test, flags);
	struct export_kunit *ctx = test->priv;

	export_kunit_register(test, ctx->env.tr, &mirror->export);

	return mirror;
}

/* Can a record that starts with @ent be one of @type? */
static bool can_be(const struct trace_entry *ent, int type)
{
	switch (ent->type) {
	case TRACE_FN:
	case TRACE_FUNC_REPEATS:
		return type == TRACE_EXPORT_FUNCTION;
	case TRACE_PRINT:
		return type == TRACE_EXPORT_PRINTK ||
		       type == TRACE_EXPORT_MARKER;
	case TRACE_BPRINT:
	case TRACE_BPUTS:
		return type == TRACE_EXPORT_PRINTK;
	case TRACE_RAW_DATA:
		return type == TRACE_EXPORT_RAW_MARKER;
	case TRACE_GRAPH_ENT:
	case TRACE_GRAPH_RETADDR_ENT:
	case TRACE_GRAPH_RET:
		return type == TRACE_EXPORT_GRAPH;
	case TRACE_STACK:
	case TRACE_USER_STACK:
		return type == TRACE_EXPORT_STACK;
	}

	return type == (ent->type < __TRACE_LAST_TYPE ? TRACE_EXPORT_TRACER :
							TRACE_EXPORT_EVENT);
}

/* The first record of @cpu that was not met yet, or NULL */
static struct trace_export_record *mirror_next(struct mirror *mirror, int cpu)
{
	int got = min(atomic_read(&mirror->got), MIRROR_RECORDS);

	for (int i = 0; i < got; i++) {
		if (mirror->record[i].cpu != cpu || mirror->met[i])
			continue;
		mirror->met[i] = true;
		return &mirror->record[i];
	}

	return NULL;
}

static void expect_same(struct kunit *test, struct trace_export_record *got,
			struct ring_buffer_event *event, u64 ts)
{
	struct trace_entry *ent = ring_buffer_event_data(event);
	struct export_kunit *ctx = test->priv;

	KUNIT_ASSERT_NOT_NULL_MSG(test, got,
				  "a record of type %d was not exported",
				  ent->type);
	KUNIT_EXPECT_TRUE(test, can_be(ent, got->type));
	KUNIT_EXPECT_PTR_EQ(test, got->tr, ctx->env.tr);
	KUNIT_EXPECT_EQ(test, got->ts, ts);
	KUNIT_ASSERT_EQ(test, got->len, ring_buffer_event_length(event));
	KUNIT_ASSERT_LE(test, got->len, MIRROR_BYTES);
	KUNIT_EXPECT_MEMEQ(test, got->data, ent, got->len);
}

/*
 * Consume the ring buffer of the instance: @mirror must have its records of
 * @type, and @other the rest, if it is not NULL. Returns how many of @type there
 * are.
 */
int export_mirror_expect(struct kunit *test, struct mirror *mirror,
			 struct mirror *other, int type)
{
	struct export_kunit *ctx = test->priv;
	int records = 0, rest = 0, cpu;

	for_each_online_cpu(cpu) {
		struct ring_buffer_event *event;
		unsigned long lost;
		u64 ts;

		while ((event = ring_buffer_consume(ctx->env.tr->array_buffer.buffer,
						    cpu, &ts, &lost))) {
			KUNIT_EXPECT_EQ(test, lost, 0);
			if (!other || can_be(ring_buffer_event_data(event), type)) {
				records++;
				expect_same(test, mirror_next(mirror, cpu),
					    event, ts);
			} else {
				rest++;
				expect_same(test, mirror_next(other, cpu),
					    event, ts);
			}
		}
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&mirror->got), records);
	if (other)
		KUNIT_EXPECT_EQ(test, atomic_read(&other->got), rest);

	return records;
}

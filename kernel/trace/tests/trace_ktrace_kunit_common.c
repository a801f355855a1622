// SPDX-License-Identifier: GPL-2.0
/*
 * Helpers of the KUnit suites of ktrace: a case switches events on in an
 * instance, runs the lines that make them, and compares the trace of the
 * instance with the text that it expects.
 */

#include <kunit/test.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/ring_buffer.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "trace_ktrace_kunit.h"

/* The .init of the suites */
int ktrace_kunit_init(struct kunit *test)
{
	struct ktrace_kunit *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	ctx->text = kunit_kzalloc(test, KTRACE_KUNIT_TEXT_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ctx->text);
	trace_kunit_init(test, &ctx->env, KTRACE_KUNIT_INSTANCE);

	return 0;
}

static struct file *open_file(struct kunit *test, const char *name, int flags)
{
	struct ktrace_kunit *ctx = test->priv;

	return file_open_root_mnt(ctx->env.mnt, name, flags, 0);
}

/* All that a file has, until the next is read */
static const char *read_all(struct kunit *test, struct file *file,
			    const char *name)
{
	struct ktrace_kunit *ctx = test->priv;
	size_t done = 0;
	ssize_t ret;

	KUNIT_ASSERT_EQ_MSG(test, PTR_ERR_OR_ZERO(file), 0, "%s", name);
	while ((ret = trace_kunit_read(test, file)) > 0) {
		if (done + ret >= KTRACE_KUNIT_TEXT_SIZE) {
			ret = -EFBIG;
			break;
		}
		memcpy(ctx->text + done, ctx->env.text, ret);
		done += ret;
	}
	__fput_sync(file);
	KUNIT_ASSERT_EQ_MSG(test, ret, 0, "%s", name);
	ctx->text[done] = '\0';

	return ctx->text;
}

const char *ktrace_kunit_read(struct kunit *test, const char *name)
{
	return read_all(test, open_file(test, name, O_RDONLY), name);
}

int ktrace_kunit_write(struct kunit *test, const char *name, const char *text)
{
	struct file *file = open_file(test, name, O_WRONLY | O_TRUNC);
	struct ktrace_kunit *ctx = test->priv;
	size_t len = strlen(text);
	loff_t pos = 0;
	ssize_t ret;

	if (IS_ERR(file))
		return PTR_ERR(file);

	ret = copy_to_user(ctx->env.user, text, len) ? -EFAULT :
	      vfs_write(file, ctx->env.user, len, &pos);
	__fput_sync(file);
	if (ret >= 0)
		KUNIT_EXPECT_EQ(test, ret, len);

	return min(ret, 0);
}

bool ktrace_kunit_exists(struct kunit *test, const char *event)
{
	struct file *file;
	char path[96];

	snprintf(path, sizeof(path), "events/" KTRACE_KUNIT_SYSTEM "/%s/enable",
		 event);
	file = open_file(test, path, O_RDONLY);
	if (IS_ERR(file))
		return false;
	__fput_sync(file);

	return true;
}

const char *ktrace_kunit_format(struct kunit *test, const char *event)
{
	char path[96];

	snprintf(path, sizeof(path), "events/" KTRACE_KUNIT_SYSTEM "/%s/format",
		 event);

	return ktrace_kunit_read(test, path);
}

/* The format file of an event has this text. */
void ktrace_kunit_in_format(struct kunit *test, const char *event,
			    const char *text)
{
	const char *format = ktrace_kunit_format(test, event);

	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(format, text), "no \"%s\" in\n%s",
				  text, format);
}

void ktrace_kunit_switch(struct kunit *test, const char *event, bool on)
{
	struct ktrace_kunit *ctx = test->priv;

	KUNIT_ASSERT_EQ_MSG(test,
			    trace_array_set_clr_event(ctx->env.tr,
						      KTRACE_KUNIT_SYSTEM,
						      event, on),
			    0, "%s", event);
}

/* Write to a file of an event: its filter, for example. */
void ktrace_kunit_set(struct kunit *test, const char *event, const char *file,
		      const char *text)
{
	char name[96];

	snprintf(name, sizeof(name), "events/" KTRACE_KUNIT_SYSTEM "/%s/%s",
		 event, file);
	KUNIT_ASSERT_EQ_MSG(test, trace_kunit_write(test, name, text), 0,
			    "%s: %s", name, text);
}

/* The next record */
struct ring_buffer_event *ktrace_kunit_consume(struct kunit *test)
{
	struct ktrace_kunit *ctx = test->priv;
	struct ring_buffer_event *event;

	event = ring_buffer_consume(ctx->env.tr->array_buffer.buffer,
				    raw_smp_processor_id(), NULL, NULL);
	KUNIT_ASSERT_NOT_NULL(test, event);

	return event;
}

void ktrace_kunit_clear(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, trace_kunit_write(test, "trace", ""), 0);
}

/*
 * Reads an instance: "name: output" of each record, nothing before
 * it, and a new line behind it. Stack traces stay as they are.
 */
static const char *read_records(struct kunit *test, const char *instance)
{
	struct ktrace_kunit *ctx = test->priv;
	char *from = ctx->text;
	char *to = ctx->text;
	char *line;

	read_all(test, trace_kunit_open(test, instance, "trace", O_RDONLY),
		 instance);
	while ((line = strsep(&from, "\n"))) {
		/* task-pid [cpu] flags time: name: output */
		if (*line == '#' || !*line)
			continue;
		if (!strstarts(line, " => ")) {
			line = strstr(line, ": ");
			if (!line)
				continue;
			line += 2;
		}
		memmove(to, line, strlen(line) + 1);
		to += strlen(to);
		*to++ = '\n';
	}
	*to = '\0';

	return ctx->text;
}

const char *ktrace_kunit_records(struct kunit *test)
{
	return read_records(test, KTRACE_KUNIT_INSTANCE);
}

void ktrace_kunit_expect(struct kunit *test, const char *records)
{
	KUNIT_EXPECT_STREQ(test, ktrace_kunit_records(test), records);
}

void ktrace_kunit_expect_in(struct kunit *test, const char *instance,
			    const char *records)
{
	KUNIT_EXPECT_STREQ(test, read_records(test, instance), records);
}

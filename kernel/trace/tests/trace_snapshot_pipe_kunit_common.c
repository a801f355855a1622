// SPDX-License-Identifier: GPL-2.0
/*
 * Helpers of the KUnit suites of snapshot_enabled, snapshot_pipe and
 * snapshot_stat, see trace_snapshot_pipe_kunit.h.
 */

#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/irqflags.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/trace.h>

#include "trace_snapshot_pipe_kunit.h"

KUNIT_DEFINE_ACTION_WRAPPER(close_file, __fput_sync, struct file *);

int snap_init(struct kunit *test)
{
	struct snap_kunit *snap = kunit_kzalloc(test, sizeof(*snap),
						GFP_KERNEL);
	char kb[16];

	KUNIT_ASSERT_NOT_NULL(test, snap);
	/* trace_kunit_init() stays there. SEEN_CPUS may be less than there are. */
	KUNIT_ASSERT_EQ(test,
			set_cpus_allowed_ptr(current,
					     cpumask_of(cpumask_first(cpu_online_mask))),
			0);
	trace_kunit_init(test, &snap->env, INSTANCE);
	snap->cpu = raw_smp_processor_id();
	snap->next = 1;

	/* More sub-buffers than the two of a snapshot buffer that is freed */
	snprintf(kb, sizeof(kb), "%lu", 4 * PAGE_SIZE >> 10);

	return trace_kunit_write(test, "buffer_size_kb", kb);
}

/* The end of the test closes it, if snap_close() has not. */
struct file *snap_open(struct kunit *test, const char *name, int flags)
{
	struct file *file = trace_kunit_open(test, INSTANCE, name, flags);

	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(file), "%s: %ld", name,
			       PTR_ERR(file));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, close_file, file),
			0);

	return file;
}

void snap_close(struct kunit *test, struct file *file)
{
	kunit_release_action(test, close_file, file);
}

const char *snap_text(struct kunit *test, const char *name)
{
	struct file *file = snap_open(test, name, O_RDONLY | O_NONBLOCK);
	struct trace_kunit *env = test->priv;

	KUNIT_ASSERT_GE(test, trace_kunit_read(test, file), 0);
	snap_close(test, file);

	return env->text;
}

int snap_write_enabled(struct kunit *test, const char *text)
{
	return trace_kunit_write(test, "snapshot_enabled", text);
}

void snap_enable(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, snap_write_enabled(test, "1"), 0);
}

void snap_write_records(struct kunit *test, u32 nr)
{
	struct snap_kunit *snap = test->priv;
	char text[32];
	int len;

	for (; nr; nr--) {
		len = snprintf(text, sizeof(text), "record %u\n", snap->next++);
		KUNIT_ASSERT_EQ(test, __trace_array_puts(snap->env.tr, _THIS_IP_,
							 text, len), len);
	}
}

int snap_take(struct kunit *test)
{
	return trace_kunit_write(test, "snapshot_pipe", "1\n");
}

/* Without a lock, as a trigger does it, but it says why there is none. */
int snap_take_by_kernel(struct trace_array *tr)
{
	guard(irq)();

	return update_max_tr(tr, current, smp_processor_id(), NULL);
}

struct snap_seen *snap_alloc_seen(struct kunit *test)
{
	struct snap_seen *seen = kunit_kzalloc(test, sizeof(*seen), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, seen);

	return seen;
}

/* Returns false when the line is not in order. */
static bool see_line(struct snap_seen *seen, const char *line)
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

	/* In a race: "record NUMBER of WRITER", which has a CPU of its own */
	if (!what || sscanf(what, "record %u of %u", &nr, &id) < 1 ||
	    id > 1 || sscanf(strchr(line, '[') ?: "", "[%u]", &cpu) != 1 ||
	    cpu >= SEEN_CPUS)
		return false;

	if (seen->gaps ? nr <= seen->record[id] :
			 nr != seen->record[id] + seen->lost[cpu] + 1)
		return false;
	seen->record[id] = nr;
	seen->lost[cpu] = 0;
	seen->nr++;

	return true;
}

/* Read all lines that there are. Returns the result of the last read. */
ssize_t snap_see(struct file *file, struct snap_seen *seen)
{
	char *end, *line;
	size_t left = 0;
	ssize_t ret;

	while ((ret = kernel_read(file, seen->text + left, SEEN_READ,
				  &file->f_pos)) > 0) {
		seen->text[left + ret] = '\0';
		for (line = seen->text; (end = strchr(line, '\n'));
		     line = end + 1) {
			*end = '\0';
			if (!see_line(seen, line) && !seen->bad[0])
				strscpy(seen->bad, line);
		}
		left = strlen(line);
		memmove(seen->text, line, left + 1);
		if (left >= SEEN_LINE) {
			strscpy(seen->bad, "a line too long");
			left = 0;
		}
	}
	if (left && !seen->bad[0])
		strscpy(seen->bad, seen->text);

	return ret;
}

/* Expect these records, and no others, after so many lost ones. */
void snap_expect_records(struct kunit *test, struct file *file, u32 first,
			 u32 last, u32 lost)
{
	struct snap_seen *seen = snap_alloc_seen(test);
	struct trace_kunit *env = test->priv;

	seen->record[0] = first - lost - 1;
	KUNIT_EXPECT_EQ(test, snap_see(file, seen), -EAGAIN);
	KUNIT_EXPECT_STREQ(test, seen->bad, "");
	KUNIT_EXPECT_EQ(test, seen->record[0], last);
	KUNIT_EXPECT_EQ(test, seen->nr, last - first + 1);
	KUNIT_EXPECT_EQ(test, seen->all_lost, lost);
	KUNIT_EXPECT_EQ(test, seen->mark, env->tr->snapshots.count);
}

void snap_expect_poll(struct kunit *test, struct file *file, __poll_t events)
{
	KUNIT_EXPECT_EQ(test, (__force u32)vfs_poll(file, NULL),
			(__force u32)events);
}

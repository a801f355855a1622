// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for snapshot_pipe and snapshot_stat, see trace_snapshot_pipe.c.
 * The files are opened, read, written and polled through a mount of tracefs, as
 * by a process.
 */

#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>
#include <linux/trace.h>
#include <linux/uaccess.h>

#include "trace_snapshot_pipe_kunit.h"

static bool always(struct trace_array *tr, void *cond_data)
{
	return true;
}

static bool never(struct trace_array *tr, void *cond_data)
{
	return false;
}

/* The byte that was read, or an error */
static int read_byte(struct kunit *test, struct file *file)
{
	struct trace_kunit *env = test->priv;
	ssize_t ret;
	char byte;

	ret = vfs_read(file, env->user, 1, &file->f_pos);
	if (ret != 1)
		return min(ret, 0);

	return copy_from_user(&byte, env->user, 1) ? -EFAULT : byte;
}

/* The error of open(), or 0 */
static int try_open(struct kunit *test, const char *name, int flags)
{
	struct file *file = trace_kunit_open(test, INSTANCE, name, flags);

	if (IS_ERR(file))
		return PTR_ERR(file);
	__fput_sync(file);

	return 0;
}

static void pipe_consumes(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct file *file;
	loff_t pos = 0;

	snap_enable(test);
	file = snap_open(test, "snapshot_pipe", O_RDONLY | O_NONBLOCK);
	KUNIT_EXPECT_EQ(test, trace_kunit_read(test, file), -EAGAIN);
	snap_write_records(test, 5);
	KUNIT_EXPECT_EQ(test, trace_kunit_read(test, file), -EAGAIN);
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	snap_write_records(test, 5);
	snap_expect_records(test, file, 1, 5, 0);
	KUNIT_EXPECT_EQ(test, trace_kunit_read(test, file), -EAGAIN);
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	snap_write_records(test, 1);
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	snap_expect_records(test, file, 11, 11, 5);

	/* Nothing goes where nothing can be put. */
	snap_write_records(test, 2);
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	KUNIT_EXPECT_EQ(test, vfs_read(file, env->user, 0, &pos), 0);
	KUNIT_EXPECT_EQ(test, vfs_read(file, NULL, 64, &pos), -EFAULT);
	snap_expect_records(test, file, 12, 13, 0);

	/* The file has no position, nor a lock of it, which a read() holds. */
	KUNIT_EXPECT_EQ(test, vfs_llseek(file, 0, SEEK_SET), -ESPIPE);
	KUNIT_EXPECT_FALSE(test, file->f_mode & FMODE_ATOMIC_POS);
	snap_close(test, file);
}

static void print_header(struct trace_iterator *iter)
{
	trace_seq_puts(&iter->seq, "header\n");
}

/* Nor does it keep the records from a reader of single bytes. */
static void pipe_leaves_out_header(struct kunit *test)
{
	static struct tracer tracer = {
		.name = "kunit", .pipe_open = print_header,
	};
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;
	struct tracer *before = tr->current_trace;
	struct file *file;
	char line[64];
	int byte;

	snap_enable(test);
	file = snap_open(test, "snapshot_pipe", O_RDONLY | O_NONBLOCK);
	WRITE_ONCE(tr->current_trace, &tracer);
	for (int i = 1; i < 3; i++) {
		int n = 0;

		snap_write_records(test, 1);
		KUNIT_EXPECT_EQ(test, snap_take(test), 0);
		while ((byte = read_byte(test, file)) > 0 &&
		       n < sizeof(env->text) - 1)
			env->text[n++] = byte;
		env->text[n] = '\0';
		KUNIT_EXPECT_EQ(test, byte, -EAGAIN);

		snprintf(line, sizeof(line), "##### snapshot %d #####\n", i);
		KUNIT_EXPECT_TRUE(test, strstarts(env->text, line));
		snprintf(line, sizeof(line), "record %d\n", i);
		KUNIT_EXPECT_NOT_NULL(test, strstr(env->text, line));
		KUNIT_EXPECT_NULL(test, strstr(env->text, "header"));
	}
	WRITE_ONCE(tr->current_trace, before);
	snap_close(test, file);
}

static void pipe_tells_lost(struct kunit *test)
{
	struct snap_kunit *snap = test->priv;
	struct trace_array *tr = snap->env.tr;
	struct snap_seen *seen;
	unsigned long last;
	struct file *file;

	snap_enable(test);
	file = snap_open(test, "snapshot_pipe", O_RDONLY | O_NONBLOCK);

	/* One record is read, nine are not. */
	snap_write_records(test, 10);
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	KUNIT_EXPECT_EQ(test, read_byte(test, file), '#');
	snap_write_records(test, 5);
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	/* The rest of what was printed comes first. */
	KUNIT_EXPECT_GT(test, trace_kunit_read(test, file), 0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(snap->env.text, "record 1\n"));
	KUNIT_EXPECT_NULL(test, strstr(snap->env.text, "record 2\n"));
	snap_expect_records(test, file, 11, 15, 9);

	/* Three snapshots that nobody reads */
	for (int i = 0; i < 3; i++) {
		snap_write_records(test, 10);
		KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	}
	snap_expect_records(test, file, 36, 45, 20);

	/* Overwritten while they were live, before a snapshot or after one */
	seen = snap_alloc_seen(test);
	seen->record[0] = 45;
	for (int i = 0; i < 2; i++) {
		last = ring_buffer_overruns(tr->array_buffer.buffer);
		while (ring_buffer_overruns(tr->array_buffer.buffer) == last)
			snap_write_records(test, 100);
		KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	}
	snap_write_records(test, 1);
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	KUNIT_EXPECT_EQ(test, snap_see(file, seen), -EAGAIN);
	KUNIT_EXPECT_STREQ(test, seen->bad, "");
	KUNIT_EXPECT_EQ(test, seen->record[0], snap->next - 1);
	KUNIT_EXPECT_EQ(test, seen->nr + seen->all_lost, snap->next - 1 - 45);
	snap_close(test, file);

	/* A later reader has lost nothing. */
	snap_write_records(test, 3);
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	snap_write_records(test, 3);
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	file = snap_open(test, "snapshot_pipe", O_RDONLY | O_NONBLOCK);
	snap_expect_records(test, file, snap->next - 3, snap->next - 1, 0);
	snap_close(test, file);
}

static void pipe_readers(struct kunit *test)
{
	struct snap_kunit *snap = test->priv;
	struct trace_array *tr = snap->env.tr;
	struct file *file, *writer;
	char of_cpu[64];
	int ref;

	snprintf(of_cpu, sizeof(of_cpu), "per_cpu/cpu%d/snapshot_pipe",
		 snap->cpu);
	ref = tr->ref;
	writer = snap_open(test, "snapshot_pipe", O_WRONLY);
	KUNIT_EXPECT_EQ(test, tr->ref, ref + 1);
	for (int i = 0; i < 2; i++) {
		file = snap_open(test, i ? of_cpu : "snapshot_pipe",
				 O_RDONLY | O_NONBLOCK);
		KUNIT_EXPECT_EQ(test, tr->ref, ref + 2);
		KUNIT_EXPECT_EQ(test, try_open(test, "snapshot_pipe", O_RDONLY),
				-EBUSY);
		KUNIT_EXPECT_EQ(test, try_open(test, of_cpu, O_RDWR), -EBUSY);
		/* Only readers exclude each other. */
		KUNIT_EXPECT_EQ(test, try_open(test, "snapshot_pipe", O_WRONLY),
				0);
		KUNIT_EXPECT_EQ(test, try_open(test, "snapshot_stat", O_RDONLY),
				0);
		KUNIT_EXPECT_EQ(test, tr->ref, ref + 2);
		snap_close(test, file);
	}
	snap_expect_poll(test, writer, EPOLLOUT | EPOLLWRNORM);
	snap_close(test, writer);
	KUNIT_EXPECT_EQ(test, tr->ref, ref);
	KUNIT_EXPECT_TRUE(test, cpumask_empty(tr->snapshots.readers));

	/* Both in one. The instance stays. */
	snap_enable(test);
	file = snap_open(test, "snapshot_pipe", O_RDWR | O_NONBLOCK);
	snap_write_records(test, 1);
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	snap_expect_records(test, file, 1, 1, 0);
	KUNIT_EXPECT_EQ(test, trace_array_put_and_destroy(tr), -EBUSY);
	snap_close(test, file);
	KUNIT_EXPECT_EQ(test, tr->ref, ref);
}

static void pipe_leaves_nothing(struct kunit *test)
{
	const bool *freed;
	struct file *file;
	void *pipe;

	file = snap_open(test, "snapshot_pipe", O_RDONLY | O_NONBLOCK);
	pipe = file->private_data;
	freed = trace_kunit_watch_free(test, pipe);
	snap_close(test, file);
	/* Only kfree() is watched. */
	KUNIT_EXPECT_TRUE(test, *freed || is_vmalloc_addr(pipe));
}

static void pipe_of_one_cpu(struct kunit *test)
{
	struct snap_kunit *snap = test->priv;
	struct file *file, *other;
	char name[64];
	int cpu;

	cpu = cpumask_any_but(cpu_possible_mask, snap->cpu);
	if (cpu >= nr_cpu_ids)
		kunit_skip(test, "needs two CPUs");

	snap_enable(test);
	snprintf(name, sizeof(name), "per_cpu/cpu%d/snapshot_pipe", cpu);
	other = snap_open(test, name, O_RDONLY | O_NONBLOCK);
	snprintf(name, sizeof(name), "per_cpu/cpu%d/snapshot_pipe", snap->cpu);
	file = snap_open(test, name, O_RDONLY | O_NONBLOCK);
	snap_write_records(test, 3);
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	KUNIT_EXPECT_EQ(test, trace_kunit_read(test, other), -EAGAIN);
	snap_expect_records(test, file, 1, 3, 0);

	if (IS_ENABLED(CONFIG_RING_BUFFER_ALLOW_SWAP)) {
		snap_write_records(test, 2);
		KUNIT_EXPECT_EQ(test, trace_kunit_write(test, name, "1"), 0);
		snap_write_records(test, 2);
		KUNIT_EXPECT_EQ(test, trace_kunit_write(test, name, "1"), 0);
		snap_expect_records(test, file, 6, 7, 2);
		KUNIT_EXPECT_EQ(test, trace_kunit_read(test, other), -EAGAIN);
	}
	snap_close(test, file);
	snap_close(test, other);
}

static void pipe_ends(struct kunit *test)
{
	struct file *file;

	snap_enable(test);
	file = snap_open(test, "snapshot_pipe", O_RDONLY | O_NONBLOCK);

	/* A reader that has read nothing gets no end. */
	KUNIT_EXPECT_EQ(test, snap_write_enabled(test, "0"), 0);
	KUNIT_EXPECT_EQ(test, trace_kunit_read(test, file), -EAGAIN);

	for (int i = 0; i < 2; i++) {
		snap_enable(test);
		snap_write_records(test, 2);
		KUNIT_EXPECT_EQ(test, snap_take(test), 0);
		snap_expect_records(test, file, 2 * i + 1, 2 * i + 2, 0);
		KUNIT_EXPECT_EQ(test, snap_write_enabled(test, "0"), 0);
		snap_expect_poll(test, file, EPOLLIN | EPOLLRDNORM);
		KUNIT_EXPECT_EQ(test, trace_kunit_read(test, file), 0);
		snap_expect_poll(test, file, 0);
		KUNIT_EXPECT_EQ(test, trace_kunit_read(test, file), -EAGAIN);
	}
	snap_close(test, file);
}

static void poll_tells(struct kunit *test)
{
	const __poll_t in = EPOLLIN | EPOLLRDNORM;
	struct file *pipe, *stat;

	snap_enable(test);
	pipe = snap_open(test, "snapshot_pipe", O_RDONLY | O_NONBLOCK);
	stat = snap_open(test, "snapshot_stat", O_RDONLY);
	snap_expect_poll(test, pipe, 0);
	snap_expect_poll(test, stat, 0);

	/* A live record is nothing to be told. */
	snap_write_records(test, 1);
	snap_expect_poll(test, pipe, 0);
	snap_expect_poll(test, stat, 0);

	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	for (int i = 0; i < 2; i++) {
		snap_expect_poll(test, pipe, in | EPOLLPRI);
		snap_expect_poll(test, stat, in | EPOLLPRI);
	}
	snap_expect_records(test, pipe, 1, 1, 0);
	snap_expect_poll(test, pipe, 0);
	KUNIT_EXPECT_GT(test, trace_kunit_read(test, stat), 0);
	snap_expect_poll(test, stat, 0);

	/* A snapshot without records gives POLLPRI, not POLLIN. */
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	snap_expect_poll(test, pipe, EPOLLPRI);
	KUNIT_EXPECT_EQ(test, trace_kunit_read(test, pipe), -EAGAIN);
	snap_expect_poll(test, pipe, 0);

	/* A snapshot that is read in part gives POLLIN, not POLLPRI. */
	snap_write_records(test, 2);
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	KUNIT_EXPECT_EQ(test, read_byte(test, pipe), '#');
	snap_expect_poll(test, pipe, in);

	snap_close(test, stat);
	stat = snap_open(test, "snapshot_stat", O_RDONLY);
	snap_expect_poll(test, stat, 0);
	snap_close(test, stat);
	snap_close(test, pipe);
}

/* Reads and writes never wait; POLLPRI says that tracing has ended. */
static void poll_tells_end_of_tracing(struct kunit *test)
{
	struct file *file = snap_open(test, "tracing_on", O_RDONLY);
	struct trace_kunit *env = test->priv;

	snap_expect_poll(test, file, DEFAULT_POLLMASK);
	tracer_tracing_off(env->tr);
	snap_expect_poll(test, file, DEFAULT_POLLMASK | EPOLLPRI);
	tracer_tracing_on(env->tr);
	snap_expect_poll(test, file, DEFAULT_POLLMASK);
	snap_close(test, file);
}

static void stat_tells(struct kunit *test)
{
	struct snap_kunit *snap = test->priv;
	struct trace_array *tr = snap->env.tr;
	const char *text = snap->env.text;
	char was[128];
	char line[64];

	KUNIT_EXPECT_STREQ(test, snap_text(test, "snapshot_stat"),
			   "count: 0\nmissed: 0\n");
	snap_enable(test);
	KUNIT_EXPECT_STREQ(test, snap_text(test, "snapshot_stat"),
			   "count: 0\nmissed: 0\n");

	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	snap_text(test, "snapshot_stat");
	KUNIT_EXPECT_TRUE(test, strstarts(text, "count: 1\nmissed: 0\ntime: "));
	snprintf(line, sizeof(line), "\ntask: %s-%d\n", current->comm,
		 current->pid);
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, line));
	snprintf(line, sizeof(line), "\ncpu: %d\n", snap->cpu);
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, line));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "\ncause: file\n"));

	tracing_snapshot_instance(tr);
	snap_text(test, "snapshot_stat");
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "\ncause: kernel\n"));

	KUNIT_ASSERT_EQ(test, tracing_snapshot_cond_enable(tr, NULL, always),
			0);
	tracing_snapshot_cond(tr, NULL);
	KUNIT_EXPECT_EQ(test, tracing_snapshot_cond_disable(tr), 0);
	snap_text(test, "snapshot_stat");
	KUNIT_EXPECT_TRUE(test, strstarts(text, "count: 3\n"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "\ncause: condition\n"));

	/* A refused snapshot changes nothing. */
	strscpy(was, text);
	KUNIT_ASSERT_EQ(test, tracing_snapshot_cond_enable(tr, NULL, never), 0);
	tracing_snapshot_cond(tr, NULL);
	KUNIT_EXPECT_EQ(test, tracing_snapshot_cond_disable(tr), 0);
	snap_text(test, "snapshot_stat");
	KUNIT_EXPECT_STREQ(test, text, was);

	/* It outlives the buffer. */
	KUNIT_EXPECT_EQ(test, snap_write_enabled(test, "0"), 0);
	KUNIT_EXPECT_TRUE(test, strstarts(snap_text(test, "snapshot_stat"),
					  "count: 3\n"));
}

/* A task can't add lines by its name. */
static void stat_escapes_name(struct kunit *test)
{
	char forged[TASK_COMM_LEN] = "x\ncause: a\\b\x9b";
	struct trace_kunit *env = test->priv;
	char name[TASK_COMM_LEN];
	char line[64];
	int ret;

	snap_enable(test);
	get_task_comm(name, current);
	set_task_comm(current, forged);
	ret = snap_take(test);
	set_task_comm(current, name);
	KUNIT_ASSERT_EQ(test, ret, 0);

	snap_text(test, "snapshot_stat");
	snprintf(line, sizeof(line),
		 "\ntask: x\\012cause: a\\134b\\233-%d\ncause: file\n",
		 current->pid);
	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(env->text, line), "%s",
				  env->text);
}

static struct kunit_case pipe_cases[] = {
	KUNIT_CASE(pipe_consumes),
	KUNIT_CASE(pipe_leaves_out_header),
	KUNIT_CASE(pipe_tells_lost),
	KUNIT_CASE(pipe_readers),
	KUNIT_CASE(pipe_leaves_nothing),
	KUNIT_CASE(pipe_of_one_cpu),
	KUNIT_CASE(pipe_ends),
	KUNIT_CASE(poll_tells),
	KUNIT_CASE(poll_tells_end_of_tracing),
	KUNIT_CASE(stat_tells),
	KUNIT_CASE(stat_escapes_name),
	{}
};

static struct kunit_suite pipe_suite = {
	.name		= "trace_snapshot_pipe",
	.init		= snap_init,
	.test_cases	= pipe_cases,
};

kunit_test_suite(pipe_suite);

MODULE_DESCRIPTION("KUnit tests for snapshot_pipe");
MODULE_LICENSE("GPL");

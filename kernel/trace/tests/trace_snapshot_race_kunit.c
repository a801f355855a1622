// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for threads that wait for a snapshot, and for threads that take,
 * read, empty, free and resize snapshots at the same time.
 */

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/trace.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "trace_snapshot_pipe_kunit.h"

static unsigned int race_snapshots = 100;
module_param(race_snapshots, uint, 0444);
MODULE_PARM_DESC(race_snapshots, "snapshots that are taken in a race");

struct worker {
	void			(*work)(struct worker *worker);
	struct task_struct	*task;
	/* The task of the test */
	struct task_struct	*test;
	struct trace_array	*tr;
	struct file		*file;
	struct snap_seen	*seen;
	struct completion	begun;
	struct completion	done;
	int			id;
	/* How many times it did what it does, or the last record it wrote */
	u32			count;
	/* The result of its last read */
	ssize_t			ret;
	bool			stop;
};

static bool should_stop(struct worker *worker)
{
	return READ_ONCE(worker->stop) || kthread_should_stop();
}

static int run_worker(void *data)
{
	struct worker *worker = data;

	complete(&worker->begun);
	worker->work(worker);
	complete(&worker->done);

	return 0;
}

/* It runs when this returns. */
static struct worker *start_worker(struct kunit *test, int cpu, int id,
				   struct file *file,
				   void (*work)(struct worker *worker))
{
	struct worker *worker = kunit_kzalloc(test, sizeof(*worker),
					      GFP_KERNEL);
	struct trace_kunit *env = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, worker);
	init_completion(&worker->begun);
	init_completion(&worker->done);
	worker->seen = snap_alloc_seen(test);
	worker->work = work;
	worker->test = current;
	worker->tr = env->tr;
	worker->file = file;
	worker->id = id;
	worker->task = trace_kunit_thread(test, run_worker, worker, cpu);
	wake_up_process(worker->task);
	KUNIT_ASSERT_GT(test,
			wait_for_completion_timeout(&worker->begun,
						    TRACE_KUNIT_TIMEOUT), 0);

	return worker;
}

/* A read takes kthread_stop() for a signal: the worker must end first. */
static void stop_worker(struct kunit *test, struct worker *worker)
{
	WRITE_ONCE(worker->stop, true);
	wait_for_completion(&worker->done);
	trace_kunit_stop(test, worker->task);
}

/* Threads that wait */

static void read_once(struct worker *worker)
{
	allow_signal(SIGINT);
	worker->ret = kernel_read(worker->file, worker->seen->text, SEEN_READ,
				  &worker->file->f_pos);
}

static void interrupt_worker(void *data)
{
	struct worker *worker = data;

	send_sig(SIGINT, worker->task, 1);
}

static struct worker *start_reading(struct kunit *test, struct file *file)
{
	unsigned long deadline = jiffies + TRACE_KUNIT_TIMEOUT;
	struct snap_kunit *snap = test->priv;
	struct wait_queue_head *wait = &snap->env.tr->snapshots.wait;
	struct worker *worker;

	worker = start_worker(test, snap->cpu, 0, file, read_once);
	/* A reader that is not woken must not hang the test. */
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, interrupt_worker,
							worker), 0);
	while (!wq_has_sleeper(wait) && time_before(jiffies, deadline))
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_TRUE(test, wq_has_sleeper(wait));
	KUNIT_EXPECT_FALSE(test, completion_done(&worker->done));

	return worker;
}

static void end_reading(struct kunit *test, struct worker *worker)
{
	KUNIT_EXPECT_GT(test,
			wait_for_completion_timeout(&worker->done,
						    TRACE_KUNIT_TIMEOUT), 0);
	kunit_release_action(test, interrupt_worker, worker);
	trace_kunit_stop(test, worker->task);
}

static void pipe_waits(struct kunit *test)
{
	struct snap_kunit *snap = test->priv;
	struct worker *worker;
	struct file *file;

	snap_enable(test);
	file = snap_open(test, "snapshot_pipe", O_RDONLY);
	for (int i = 1; i < 4; i++) {
		char text[16];

		worker = start_reading(test, file);
		/* A snapshot without records does not end the wait. */
		if (i > 1)
			KUNIT_EXPECT_EQ(test, snap_take(test), 0);
		snap_write_records(test, 1);
		/* Nobody but the reader asks for the grace period after it. */
		KUNIT_EXPECT_EQ(test, snap_take_by_kernel(snap->env.tr), 0);
		end_reading(test, worker);
		snprintf(text, sizeof(text), "record %d\n", i);
		KUNIT_EXPECT_GT(test, worker->ret, 0);
		KUNIT_EXPECT_NOT_NULL(test, strstr(worker->seen->text, text));
	}

	worker = start_reading(test, file);
	interrupt_worker(worker);
	end_reading(test, worker);
	KUNIT_EXPECT_EQ(test, worker->ret, -ERESTARTSYS);

	/* The end of what it was reading ends the wait. */
	worker = start_reading(test, file);
	KUNIT_EXPECT_EQ(test, snap_write_enabled(test, "0"), 0);
	end_reading(test, worker);
	KUNIT_EXPECT_EQ(test, worker->ret, 0);
	snap_close(test, file);
}

/* There is no other snapshot from then on. */
static void pipe_waits_until_hold(struct kunit *test)
{
	struct snap_kunit *snap = test->priv;
	struct worker *worker;
	struct file *file;
	loff_t pos = 0;

	snap_enable(test);
	file = snap_open(test, "snapshot_pipe", O_RDWR);
	/* So that the reader waits for nothing else. */
	synchronize_rcu();
	worker = start_reading(test, file);
	KUNIT_ASSERT_EQ(test, copy_to_user(snap->env.user, "hold", 4), 0);
	KUNIT_EXPECT_EQ(test, vfs_write(file, snap->env.user, 4, &pos), 4);
	end_reading(test, worker);
	KUNIT_EXPECT_EQ(test, worker->ret, 0);
	snap_close(test, file);
}

#ifdef CONFIG_TRACER_MAX_TRACE
/* The reader turned to what the tracer has left, and did not see the tracer. */
static void pipe_waits_as_tracer_comes(struct kunit *test)
{
	static struct tracer tracer = { .name = "kunit", .use_max_tr = true };
	struct snap_kunit *snap = test->priv;
	struct trace_array *tr = snap->env.tr;
	struct tracer *before = tr->current_trace;
	struct worker *worker;
	struct file *file;

	snap_enable(test);
	file = snap_open(test, "snapshot_pipe", O_RDONLY);
	/* So that the reader waits for nothing else. */
	synchronize_rcu();
	worker = start_reading(test, file);
	WRITE_ONCE(tr->current_trace, &tracer);
	wake_up_all(&tr->snapshots.wait);
	end_reading(test, worker);
	WRITE_ONCE(tr->current_trace, before);
	KUNIT_EXPECT_EQ(test, worker->ret, -EBUSY);
	snap_close(test, file);
}
#else
static void pipe_waits_as_tracer_comes(struct kunit *test)
{
	kunit_skip(test, "needs CONFIG_TRACER_MAX_TRACE");
}
#endif

/* A writer that got hold of the buffer while it was live, for example */
static void hold_up_grace_period(struct worker *worker)
{
	guard(preempt)();
	WRITE_ONCE(worker->count, 1);
	while (!should_stop(worker))
		cpu_relax();
}

/*
 * A snapshot does not wake a reader that waits for a grace period: where a
 * context switch triggers snapshots, each wake-up would make the next one.
 */
static void pipe_waits_for_grace_period(struct kunit *test)
{
	struct worker *reader, *holder;
	struct snap_kunit *snap = test->priv;
	struct trace_array *tr = snap->env.tr;
	unsigned long deadline;
	struct file *file;
	int cpu[2];

	trace_kunit_two_cpus(test, cpu);
	snap->cpu = cpu[0];
	snap_enable(test);
	file = snap_open(test, "snapshot_pipe", O_RDONLY);
	synchronize_rcu();
	reader = start_reading(test, file);
	holder = start_worker(test, cpu[1], 0, NULL, hold_up_grace_period);
	while (!READ_ONCE(holder->count))
		cpu_relax();

	/* This one wakes it. */
	snap_write_records(test, 1);
	KUNIT_EXPECT_EQ(test, snap_take_by_kernel(tr), 0);
	deadline = jiffies + TRACE_KUNIT_TIMEOUT;
	while (!(READ_ONCE(tr->snapshots.gp_pending) &&
		 wq_has_sleeper(&tr->snapshots.wait) &&
		 !task_is_running(reader->task)) &&
	       time_before(jiffies, deadline))
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(tr->snapshots.gp_pending));
	KUNIT_EXPECT_FALSE(test, task_is_running(reader->task));

	/* No other one does. */
	KUNIT_EXPECT_FALSE(test, test_bit(TRACE_WAITER_SNAPSHOT, &tr->waiters));
	stop_worker(test, holder);
	end_reading(test, reader);
	KUNIT_EXPECT_GT(test, reader->ret, 0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(reader->seen->text, "record 1\n"));
	snap_close(test, file);
}

/* Others hold this lock for seconds. O_NONBLOCK must not wait for it. */
static void pipe_needs_no_lock_of_others(struct kunit *test)
{
	struct snap_kunit *snap = test->priv;
	struct worker *worker;
	unsigned long left;
	struct file *file;

	snap_enable(test);
	file = snap_open(test, "snapshot_pipe", O_RDONLY | O_NONBLOCK);
	snap_write_records(test, 1);
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	synchronize_rcu();

	scoped_guard(mutex, &trace_types_lock) {
		worker = start_worker(test, snap->cpu, 0, file, read_once);
		left = wait_for_completion_timeout(&worker->done,
						   TRACE_KUNIT_TIMEOUT);
	}
	KUNIT_EXPECT_GT(test, left, 0);
	if (!left)
		wait_for_completion(&worker->done);
	trace_kunit_stop(test, worker->task);
	KUNIT_EXPECT_GT(test, worker->ret, 0);
	snap_close(test, file);
}

static void hold_lock_until_test_waits(struct worker *worker)
{
	unsigned long deadline = jiffies + TRACE_KUNIT_TIMEOUT;

	guard(mutex)(&trace_types_lock);

	WRITE_ONCE(worker->count, 1);
	while (task_is_running(worker->test) && time_before(jiffies, deadline))
		schedule_timeout_uninterruptible(1);
	worker->ret = worker->tr->snapshots.count;
}

/* With this lock held, others resize the buffers, or free one of them. */
static void take_waits_for_lock(struct kunit *test)
{
	struct snap_kunit *snap = test->priv;
	struct worker *worker;
	struct file *file;
	loff_t pos = 0;

	snap_enable(test);
	file = snap_open(test, "snapshot_pipe", O_WRONLY | O_NONBLOCK);
	KUNIT_ASSERT_EQ(test, copy_to_user(snap->env.user, "1", 1), 0);
	worker = start_worker(test, snap->cpu, 0, NULL,
			      hold_lock_until_test_waits);
	while (!READ_ONCE(worker->count))
		cond_resched();

	KUNIT_EXPECT_EQ(test, vfs_write(file, snap->env.user, 1, &pos), 1);
	stop_worker(test, worker);
	KUNIT_EXPECT_EQ(test, worker->ret, 0);
	KUNIT_EXPECT_EQ(test, snap->env.tr->snapshots.count, 1);
	snap_close(test, file);
}

/* After POLLPRI the snapshot is there, but is readable only after POLLIN. */
static void pipe_does_not_block(struct kunit *test)
{
	const __poll_t in = EPOLLIN | EPOLLRDNORM;
	struct snap_kunit *snap = test->priv;
	struct worker *worker;
	struct file *file;
	int cpu[2];

	trace_kunit_two_cpus(test, cpu);
	snap_enable(test);
	file = snap_open(test, "snapshot_pipe", O_RDONLY | O_NONBLOCK);
	snap_write_records(test, 3);
	worker = start_worker(test, cpu[1], 0, NULL, hold_up_grace_period);
	while (!READ_ONCE(worker->count))
		cpu_relax();

	KUNIT_EXPECT_EQ(test, snap_take_by_kernel(snap->env.tr), 0);
	snap_expect_poll(test, file, EPOLLPRI);
	KUNIT_EXPECT_EQ(test, trace_kunit_read(test, file), -EAGAIN);
	snap_expect_poll(test, file, 0);

	stop_worker(test, worker);
	synchronize_rcu();
	snap_expect_poll(test, file, in);
	snap_expect_records(test, file, 1, 3, 0);
	snap_expect_poll(test, file, 0);
	snap_close(test, file);
}

/* Nor is it for the first reader of all, who comes after the snapshot. */
static void first_pipe_does_not_block(struct kunit *test)
{
	struct snap_kunit *snap = test->priv;
	struct worker *worker;
	struct file *file;
	int cpu[2];

	trace_kunit_two_cpus(test, cpu);
	snap_enable(test);
	snap_write_records(test, 3);
	worker = start_worker(test, cpu[1], 0, NULL, hold_up_grace_period);
	while (!READ_ONCE(worker->count))
		cpu_relax();

	KUNIT_EXPECT_EQ(test, snap_take_by_kernel(snap->env.tr), 0);
	file = snap_open(test, "snapshot_pipe", O_RDONLY | O_NONBLOCK);
	KUNIT_EXPECT_EQ(test, trace_kunit_read(test, file), -EAGAIN);

	stop_worker(test, worker);
	synchronize_rcu();
	snap_expect_records(test, file, 1, 3, 0);
	snap_close(test, file);
}

/* Races */

static bool write_numbered(struct worker *worker)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "record %u of %d\n",
			   worker->count + 1, worker->id);

	return __trace_array_puts(worker->tr, _THIS_IP_, text, len) == len;
}

static void write_until_stopped(struct worker *worker)
{
	while (!should_stop(worker)) {
		worker->count += write_numbered(worker);
		cond_resched();
	}
}

/* In the end once more, for what came last. */
static void see_all_the_time(struct worker *worker)
{
	bool stop;

	do {
		stop = should_stop(worker);
		worker->ret = snap_see(worker->file, worker->seen);
		if (!stop)
			schedule_timeout_uninterruptible(1);
	} while (!stop);
}

/* Some of them are too fast for a reader, and some are not. */
static void take_snapshots(struct worker *worker)
{
	for (int i = 0; i < race_snapshots; i++) {
		worker->count += !snap_take_by_kernel(worker->tr);
		schedule_timeout_uninterruptible(1 + i % 8);
	}
}

static void take_all_the_time(struct worker *worker)
{
	while (!should_stop(worker)) {
		worker->count += !snap_take_by_kernel(worker->tr);
		schedule_timeout_uninterruptible(1);
	}
}

/* Each record is read once, in order, or was announced as lost. */
static void race_take_and_read(struct kunit *test)
{
	struct worker *writer[2], *reader, *taker;
	struct snap_seen *seen;
	struct file *file;
	int cpu[2];

	trace_kunit_two_cpus(test, cpu);
	snap_enable(test);
	file = snap_open(test, "snapshot_pipe", O_RDONLY | O_NONBLOCK);
	reader = start_worker(test, cpu[1], 0, file, see_all_the_time);
	taker = start_worker(test, cpu[0], 0, NULL, take_snapshots);
	for (int i = 0; i < 2; i++)
		writer[i] = start_worker(test, cpu[i], i, NULL,
					 write_until_stopped);
	stop_worker(test, taker);
	for (int i = 0; i < 2; i++)
		stop_worker(test, writer[i]);

	/* Losses are told at the next one. */
	for (int i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current,
							   cpumask_of(cpu[i])),
				0);
		writer[i]->count += write_numbered(writer[i]);
	}
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	stop_worker(test, reader);
	snap_close(test, file);

	seen = reader->seen;
	KUNIT_EXPECT_STREQ(test, seen->bad, "");
	KUNIT_EXPECT_EQ(test, reader->ret, -EAGAIN);
	KUNIT_EXPECT_EQ(test, taker->count, race_snapshots);
	KUNIT_EXPECT_GT(test, seen->marks, 1);
	for (int i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, seen->record[i], writer[i]->count);
	KUNIT_EXPECT_EQ(test, seen->nr + seen->all_lost,
			writer[0]->count + writer[1]->count);
	kunit_info(test, "%u snapshots, %u of them read, %u records, %u lost\n",
		   taker->count + 1, seen->marks, seen->nr, seen->all_lost);
}

/* Freed or emptied records are gone; the others come in order all the same. */
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
	struct trace_kunit *env = test->priv;
	struct snap_seen *seen;
	struct file *file;
	int cpu[2];

	trace_kunit_two_cpus(test, cpu);
	snap_enable(test);
	file = snap_open(test, "snapshot_pipe", O_RDONLY | O_NONBLOCK);
	reader = start_worker(test, cpu[1], 0, file, see_all_the_time);
	seen = reader->seen;
	WRITE_ONCE(seen->gaps, true);
	taker = start_worker(test, cpu[0], 0, NULL, take_all_the_time);
	for (int i = 0; i < 2; i++)
		writer[i] = start_worker(test, cpu[i], i, NULL,
					 write_until_stopped);

	for (int i = 0; i < 10 * ARRAY_SIZE(writes); i++) {
		int nr = i % ARRAY_SIZE(writes);
		int ret = trace_kunit_write(test, writes[nr].name,
					    writes[nr].text);

		/* Another thread has it. */
		if (ret != -EBUSY)
			KUNIT_EXPECT_EQ_MSG(test, ret, 0, "%s to %s",
					    writes[nr].text, writes[nr].name);
	}
	for (int i = 0; i < 2; i++)
		stop_worker(test, writer[i]);
	stop_worker(test, taker);
	stop_worker(test, reader);
	KUNIT_EXPECT_STREQ(test, seen->bad, "");
	KUNIT_EXPECT_GT(test, taker->count, 0);
	KUNIT_EXPECT_EQ(test, env->tr->snapshot, 0);

	/* A new reader finds everything working as at the beginning. */
	snap_close(test, file);
	KUNIT_EXPECT_EQ(test, snap_write_enabled(test, "0"), 0);
	snap_enable(test);
	file = snap_open(test, "snapshot_pipe", O_RDONLY | O_NONBLOCK);
	KUNIT_EXPECT_EQ(test, trace_kunit_write(test, "trace", "\n"), 0);
	snap_write_records(test, 3);
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	snap_expect_records(test, file, 1, 3, 0);
	snap_close(test, file);
}

static void clear_all_the_time(struct worker *worker)
{
	while (!should_stop(worker)) {
		tracing_reset_online_cpus(&worker->tr->snapshot_buffer);
		WRITE_ONCE(worker->count, worker->count + 1);
		/* For more ticks than the taker's wait lets go by */
		schedule_timeout_uninterruptible(4);
	}
}

/* The snapshot is cleared, and never the live buffer. */
static void race_with_clear(struct kunit *test)
{
	struct snap_kunit *snap = test->priv;
	struct trace_array *tr = snap->env.tr;
	struct worker *clearer;
	bool cleared = false;
	bool written = true;
	int ret = 0;

	snap_enable(test);
	clearer = start_worker(test, snap->cpu, 0, NULL, clear_all_the_time);
	for (int i = 0; i < race_snapshots && written && !cleared; i++) {
		u32 count;

		while ((ret = snap_take_by_kernel(tr)) == -EAGAIN)
			schedule_timeout_uninterruptible(1);
		if (ret)
			break;

		written = __trace_array_puts(tr, _THIS_IP_, "live\n", 5) == 5;

		/* A snapshot that was in progress is complete by then. */
		count = READ_ONCE(clearer->count);
		while (READ_ONCE(clearer->count) - count < 2)
			schedule_timeout_uninterruptible(1);
		cleared = !ring_buffer_entries(tr->array_buffer.buffer);
	}
	stop_worker(test, clearer);
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_TRUE(test, written);
	KUNIT_EXPECT_FALSE(test, cleared);
}

/* A snapshot is taken while a record is printed. */
struct printer {
	struct tracer		tracer;
	struct completion	prints;
	struct completion	swapped;
	bool			clear;
	bool			waited;
};

static enum print_line_t print_slowly(struct trace_iterator *iter)
{
	struct printer *printer = container_of(iter->trace, struct printer,
					       tracer);

	if (!printer->waited) {
		printer->waited = true;
		complete(&printer->prints);
		wait_for_completion_timeout(&printer->swapped,
					    TRACE_KUNIT_TIMEOUT);
	}

	return TRACE_TYPE_UNHANDLED;
}

static void swap_while_printing(struct worker *worker)
{
	struct trace_array *tr = worker->tr;
	struct printer *printer =
		container_of(READ_ONCE(tr->current_trace), struct printer,
			     tracer);

	if (!wait_for_completion_timeout(&printer->prints, TRACE_KUNIT_TIMEOUT))
		return;

	worker->ret = snap_take_by_kernel(tr);
	if (printer->clear)
		tracing_reset_online_cpus(&tr->array_buffer);
	worker->count = __trace_array_puts(tr, _THIS_IP_, "record 2\n", 9);
	complete(&printer->swapped);
}

/* Record 1 is printed while another snapshot is taken and record 2 is written. */
static void print_and_swap(struct kunit *test, bool clear)
{
	struct snap_kunit *snap = test->priv;
	struct trace_array *tr = snap->env.tr;
	struct tracer *before = tr->current_trace;
	struct printer *printer;
	struct worker *worker;
	struct file *file;

	printer = kunit_kzalloc(test, sizeof(*printer), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, printer);
	init_completion(&printer->prints);
	init_completion(&printer->swapped);
	printer->tracer.name = "kunit";
	printer->tracer.print_line = print_slowly;
	printer->clear = clear;

	snap_enable(test);
	file = snap_open(test, "snapshot_pipe", O_RDONLY | O_NONBLOCK);
	snap_write_records(test, 1);
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	WRITE_ONCE(tr->current_trace, &printer->tracer);
	worker = start_worker(test, snap->cpu, 0, NULL, swap_while_printing);

	KUNIT_EXPECT_GT(test, kernel_read(file, worker->seen->text, SEEN_READ,
					  &file->f_pos), 0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(worker->seen->text, "record 1\n"));
	stop_worker(test, worker);
	KUNIT_EXPECT_EQ(test, worker->ret, 0);
	KUNIT_EXPECT_EQ(test, worker->count, 9);

	/* Nothing is lost, and record 1 does not come twice. */
	snap->next = 3;
	KUNIT_EXPECT_NOT_NULL(test, strstr(snap_text(test, "trace"),
					   "record 2\n"));
	KUNIT_EXPECT_EQ(test, snap_take(test), 0);
	snap_expect_records(test, file, 2, 2, 0);

	WRITE_ONCE(tr->current_trace, before);
	snap_close(test, file);
}

static void pipe_prints_as_others_swap(struct kunit *test)
{
	print_and_swap(test, false);
}

static void pipe_prints_as_others_clear(struct kunit *test)
{
	print_and_swap(test, true);
}

static struct kunit_case race_cases[] = {
	KUNIT_CASE(pipe_waits),
	KUNIT_CASE(pipe_waits_until_hold),
	KUNIT_CASE(pipe_waits_as_tracer_comes),
	KUNIT_CASE(pipe_waits_for_grace_period),
	KUNIT_CASE(pipe_needs_no_lock_of_others),
	KUNIT_CASE(take_waits_for_lock),
	KUNIT_CASE(pipe_does_not_block),
	KUNIT_CASE(first_pipe_does_not_block),
	KUNIT_CASE(pipe_prints_as_others_swap),
	KUNIT_CASE(pipe_prints_as_others_clear),
	KUNIT_CASE_SLOW(race_take_and_read),
	KUNIT_CASE_SLOW(race_with_free_and_resize),
	KUNIT_CASE_SLOW(race_with_clear),
	{}
};

static struct kunit_suite race_suite = {
	.name		= "trace_snapshot_race",
	.init		= snap_init,
	.test_cases	= race_cases,
};

kunit_test_suite(race_suite);

MODULE_DESCRIPTION("KUnit tests for snapshots that race");
MODULE_LICENSE("GPL");

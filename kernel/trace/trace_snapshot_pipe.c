// SPDX-License-Identifier: GPL-2.0
/*
 * The files of snapshots for user space: snapshot_enabled, snapshot_pipe and
 * snapshot_stat. Snapshots are taken in trace_snapshot.c.
 *
 * A snapshot exchanges two ring buffers. So the one that becomes the snapshot
 * may still have records of the snapshot before the last one, and the one that
 * is being read may become the live one at any time. This is how a reader of
 * snapshot_pipe gets the records of the latest snapshot, and no others:
 *
 *  - Records in the ring buffer that goes live are marked as old before anybody
 *    writes to it. When it is the snapshot again, the reader drops old records
 *    before it reads the first new one.
 *  - After that, and still before anybody writes to it, tr->snapshot_swaps
 *    changes. The reader looks at it after each record that it finds: if it has
 *    changed, the record may be of the time after the snapshot. It is left
 *    where it is, and the reader turns to the new snapshot.
 *  - Others may clear the ring buffer that went live, or map it, but they wait
 *    for a grace period of RCU before. So the reader also compares the number
 *    before it looks for a record and before it consumes one, with RCU held. A
 *    record that was printed and can't be consumed is not counted as lost.
 *  - Records that the reader has not read till then are lost to it. It is told
 *    how many these are, at the next one of that CPU, as trace_pipe tells it of
 *    those that were overwritten.
 *  - A writer may have got hold of the ring buffer when it still was the live
 *    one. As writers do not sleep, the reader leaves a snapshot alone until a
 *    grace period of RCU has passed. A snapshot is settled when that is over
 *    and the old records are gone.
 *
 * Taking a snapshot waits for nothing of this but snapshot_pipe_turn(), which
 * holds max_lock to copy some words.
 */

#include <linux/bitops.h>
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/splice.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/wait.h>

#include "trace.h"
#include "trace_output.h"

/* snapshot_pipe */

struct snapshot_pipe {
	struct trace_iterator	iter;
	const struct cpumask	*cpus;
	/* The snapshot buffer, the live one, and the swap that made them so */
	struct array_buffer	buffer;
	struct trace_buffer	*live;
	unsigned int		swaps;
	struct rcu_gp_seq	rcu;
	u64			count;
	/* The grace period is over; the old records are gone, too */
	bool			quiet;
	bool			settled;
	/* The count of the last snapshot that a read() has looked at */
	u64			seen;
	/* The count of the last snapshot whose first line was printed */
	u64			begun;
	/* Something was read since open() or the last end of file */
	bool			was_read;
	/* No other snapshot is to be taken, protected by trace_types_lock */
	bool			holds;
	/* Records of a CPU that can't be read any more, to be told */
	unsigned long		lost[];
};

/*
 * The next snapshot makes the buffer the live one, which others clear and map.
 * They wait for a grace period before. So check this and use the buffer in the
 * same RCU read-side critical section.
 */
static bool snapshot_pipe_is_current(struct snapshot_pipe *pipe)
{
	return READ_ONCE(pipe->iter.tr->snapshot_swaps) ==
	       pipe->swaps;
}

/*
 * Turns to the latest snapshot, if it is another one. There may be a later one
 * by the time it returns.
 */
static void snapshot_pipe_turn(struct snapshot_pipe *pipe)
{
	struct trace_array *tr = pipe->iter.tr;

	if (snapshot_pipe_is_current(pipe))
		return;

	guard(trace_max_lock_irqsave)(tr);

	pipe->swaps = tr->snapshot_swaps;
	pipe->count = tr->snapshots.count;
	pipe->buffer = tr->snapshot_buffer;
	pipe->live = tr->array_buffer.buffer;
	pipe->rcu = tr->snapshots.rcu;
	pipe->quiet = false;
	pipe->settled = false;
}

/* Are all writers done that found the buffer while it was live? */
static bool snapshot_is_quiet(struct trace_array *tr,
			      struct rcu_gp_seq *rcu)
{
	if (poll_state_synchronize_rcu_full(rcu))
		return true;

	trace_snapshot_want_grace_period(tr);

	return false;
}

static void snapshot_pipe_count_lost(struct snapshot_pipe *pipe)
{
	int cpu;

	for_each_cpu(cpu, pipe->cpus) {
		pipe->lost[cpu] += ring_buffer_skip_old(pipe->live, cpu);
		pipe->lost[cpu] += ring_buffer_skip_old(pipe->buffer.buffer,
							cpu);
	}
}

/* Takes the lock for one sub-buffer at a time, as others need it. */
static bool snapshot_pipe_drop_old(struct snapshot_pipe *pipe)
{
	int cpu_file = pipe->iter.cpu_file;
	bool is_current;
	bool more;
	int cpu;

	for_each_cpu(cpu, pipe->cpus) {
		do {
			if (signal_pending(current))
				return false;

			trace_access_lock(cpu_file);
			scoped_guard(rcu) {
				is_current = snapshot_pipe_is_current(pipe);
				more = is_current &&
				       ring_buffer_drop_old(pipe->buffer.buffer,
							    cpu);
			}
			trace_access_unlock(cpu_file);
			if (!is_current)
				return false;
			cond_resched();
		} while (more);
	}

	return true;
}

/*
 * Turns to the latest snapshot. Returns true if it is settled: what is in the
 * buffer now can be read. If it is not, a waiter is woken when it may be.
 * Does not wait.
 */
static bool snapshot_pipe_settle(struct snapshot_pipe *pipe)
{
	snapshot_pipe_turn(pipe);
	if (pipe->settled)
		return true;

	if (!pipe->quiet) {
		if (!snapshot_is_quiet(pipe->iter.tr, &pipe->rcu))
			return false;
		snapshot_pipe_count_lost(pipe);
		pipe->quiet = true;
	}

	pipe->settled = snapshot_pipe_drop_old(pipe);
	if (!pipe->settled)
		trace_snapshot_want_grace_period(pipe->iter.tr);

	return pipe->settled;
}

/**
 * trace_snapshot_pipe_peek - find the next record of a snapshot
 * @iter: the iterator of a snapshot_pipe
 * @cpu: the CPU
 * @ts: set to the timestamp of the record
 * @lost_events: set to the number of records lost before it, if not NULL
 *
 * Context: May sleep. Called with the mutex of @iter and trace_access_lock()
 *	    held.
 *
 * Return: the record, or NULL when there is none, or a newer snapshot
 */
struct ring_buffer_event *
trace_snapshot_pipe_peek(struct trace_iterator *iter, int cpu, u64 *ts,
			 unsigned long *lost_events)
{
	struct snapshot_pipe *pipe =
		container_of(iter, struct snapshot_pipe, iter);
	struct ring_buffer_event *event;
	unsigned long lost = 0;

	guard(rcu)();

	if (!snapshot_pipe_is_current(pipe))
		return NULL;

	event = ring_buffer_peek(pipe->buffer.buffer, cpu, ts, &lost);

	/* Pairs with smp_mb() in snapshot_begin_swap(). */
	smp_rmb();
	if (!snapshot_pipe_is_current(pipe))
		return NULL;

	/* Or it is not known how many. */
	if ((long)lost >= 0)
		lost += pipe->lost[cpu];
	if (lost_events)
		*lost_events = lost;

	return event;
}

/**
 * trace_snapshot_pipe_consume - consume the record that was found last
 * @iter: the iterator of a snapshot_pipe
 * @entry: the record
 *
 * If another snapshot was taken, the buffer is the live one, where a different
 * record may be the first by now. Then nothing is consumed, and @entry is not
 * counted as lost later.
 *
 * Context: May sleep. Called with the mutex of @iter and trace_access_lock()
 *	    held.
 */
void trace_snapshot_pipe_consume(struct trace_iterator *iter,
				 const struct trace_entry *entry)
{
	struct snapshot_pipe *pipe =
		container_of(iter, struct snapshot_pipe, iter);

	guard(rcu)();

	if (snapshot_pipe_is_current(pipe))
		ring_buffer_consume(pipe->buffer.buffer, iter->cpu, &iter->ts,
				    &iter->lost_events);
	else
		ring_buffer_skip_read(pipe->buffer.buffer, iter->cpu, entry);
}

static bool snapshot_pipe_has_records(struct snapshot_pipe *pipe)
{
	int cpu;

	for_each_cpu(cpu, pipe->cpus) {
		if (!ring_buffer_empty_cpu(pipe->buffer.buffer, cpu))
			return true;
	}

	return false;
}

/* Report the end only to a reader that has read something. */
static bool snapshot_pipe_has_ended(struct snapshot_pipe *pipe)
{
	return pipe->was_read &&
	       !READ_ONCE(pipe->iter.tr->allocated_snapshot);
}

/* The snapshot as a waiting task knows it */
struct snapshot_seen {
	unsigned int		swaps;
	struct rcu_gp_seq	rcu;
	bool			quiet;
	bool			holds;
};

static bool snapshot_pipe_sees_change(struct snapshot_pipe *pipe,
				      struct snapshot_seen *seen)
{
	struct trace_array *tr = pipe->iter.tr;

	/* @seen may be later than the last look at it. */
	if (tracer_uses_snapshot(READ_ONCE(tr->current_trace)))
		return true;

	if (READ_ONCE(pipe->holds) != seen->holds)
		return true;

	return seen->quiet ? READ_ONCE(tr->snapshot_swaps) != seen->swaps :
			     snapshot_is_quiet(tr, &seen->rcu);
}

/*
 * The condition of a wait, without the mutex of the iterator: @seen is what the
 * task has seen with it. Others may read the same file.
 */
static bool snapshot_pipe_has_changed(struct snapshot_pipe *pipe,
				      struct snapshot_seen *seen)
{
	if (snapshot_pipe_sees_change(pipe, seen))
		return true;

	/*
	 * A snapshot does not wake a task that waits for a grace period. If the
	 * wake-up of the task, or the switch to it, triggers a snapshot, that
	 * would go on for ever.
	 */
	if (!seen->quiet)
		return false;

	trace_announce_waiter(pipe->iter.tr, TRACE_WAITER_SNAPSHOT);

	return snapshot_pipe_sees_change(pipe, seen);
}

/*
 * The tracer prints its records. It may have changed since the last time, and
 * what it remembers of one snapshot must not get into the next one.
 *
 * Tracers never go away, and what they keep in the iterator is protected by its
 * mutex. So this does without trace_types_lock, which others hold for seconds,
 * to resize a ring buffer for example.
 */
static void snapshot_pipe_set_tracer(struct snapshot_pipe *pipe)
{
	struct trace_iterator *iter = &pipe->iter;
	struct tracer *trace = READ_ONCE(iter->tr->current_trace);

	if (iter->trace == trace &&
	    (pipe->begun == pipe->count || !trace->pipe_open))
		return;

	if (iter->trace && iter->trace->pipe_close)
		iter->trace->pipe_close(iter);

	iter->trace = trace;
	if (trace->pipe_open)
		trace->pipe_open(iter);
}

static void snapshot_pipe_clear_tracer(struct trace_iterator *iter)
{
	if (iter->trace && iter->trace->pipe_close)
		iter->trace->pipe_close(iter);
}

/*
 * Called with the mutex of the iterator held, which is not held while it waits.
 * Returns 1 when there are records, 0 at the end, or an error.
 */
static int snapshot_pipe_wait(struct snapshot_pipe *pipe, bool block)
{
	struct trace_array *tr = pipe->iter.tr;
	struct snapshot_seen seen;
	bool settled;
	int ret;

	for (;;) {
		if (tracer_uses_snapshot(READ_ONCE(tr->current_trace)))
			return -EBUSY;

		/*
		 * Once it holds one there is no later one. Pairs with
		 * smp_store_release() in snapshot_pipe_set_hold().
		 */
		seen.holds = smp_load_acquire(&pipe->holds);
		settled = snapshot_pipe_settle(pipe);
		pipe->seen = pipe->count;
		if (settled && snapshot_pipe_has_records(pipe))
			return 1;

		/* The next read() waits for another snapshot. */
		if (settled && snapshot_pipe_has_ended(pipe)) {
			pipe->was_read = false;
			return 0;
		}

		if (!block)
			return -EAGAIN;
		if (settled && seen.holds)
			return 0;
		if (signal_pending(current))
			return -ERESTARTSYS;

		seen.swaps = pipe->swaps;
		seen.rcu = pipe->rcu;
		seen.quiet = pipe->quiet;
		mutex_unlock(&pipe->iter.mutex);
		ret = wait_event_interruptible(tr->snapshots.wait,
					       snapshot_pipe_has_changed(pipe,
									 &seen));
		mutex_lock(&pipe->iter.mutex);
		if (ret)
			return ret;
	}
}

/* Prints records, about @cnt bytes of text. */
static void snapshot_pipe_print(struct snapshot_pipe *pipe, size_t cnt)
{
	struct trace_iterator *iter = &pipe->iter;
	struct trace_seq *s = &iter->seq;
	const struct trace_entry *entry;
	enum print_line_t line;
	char *text;
	int len;

	/* The text begins with the mark: what pipe_open() prints is left out. */
	snapshot_pipe_set_tracer(pipe);
	trace_iterator_reset(iter);
	trace_seq_init(s);

	trace_event_read_lock();
	trace_access_lock(iter->cpu_file);

	while (trace_seq_used(s) < cnt && trace_find_next_entry_inc(iter)) {
		len = s->seq.len;

		if (pipe->begun != pipe->count)
			trace_seq_printf(s, "##### snapshot %llu #####\n",
					 pipe->count);
		text = trace_seq_buffer_ptr(s);

		/* Printing may change iter->ent. */
		entry = iter->ent;
		line = print_trace_line(iter);
		if (line == TRACE_TYPE_PARTIAL_LINE) {
			if (len) {
				s->seq.len = len;
				break;
			}

			/* It will not fit the next time, either. */
			if (iter->lost_events)
				text = strchr(text, '\n') + 1;
			s->seq.len = text - s->buffer;
			s->full = 0;
			trace_seq_puts(s, "[LINE TOO BIG]\n");
		}

		pipe->begun = pipe->count;
		pipe->lost[iter->cpu] = 0;
		if (line != TRACE_TYPE_NO_CONSUME)
			trace_snapshot_pipe_consume(iter, entry);
	}

	trace_access_unlock(iter->cpu_file);
	trace_event_read_unlock();
}

static ssize_t snapshot_pipe_read(struct kiocb *iocb, struct iov_iter *to)
{
	struct file *filp = iocb->ki_filp;
	struct snapshot_pipe *pipe = filp->private_data;
	struct trace_seq *s = &pipe->iter.seq;
	size_t n;
	int ret;

	if (!iov_iter_count(to))
		return 0;

	guard(mutex)(&pipe->iter.mutex);

	while (s->readpos >= trace_seq_used(s)) {
		/* A reader that keeps losing the race never sleeps. */
		if (signal_pending(current))
			return -ERESTARTSYS;

		ret = snapshot_pipe_wait(pipe, !(filp->f_flags & O_NONBLOCK));
		/* While it slept another reader of this file left text. */
		if (s->readpos < trace_seq_used(s))
			break;
		if (ret <= 0)
			return ret;

		snapshot_pipe_print(pipe, iov_iter_count(to));
	}

	n = min(iov_iter_count(to), trace_seq_used(s) - s->readpos);
	n = copy_to_iter(s->buffer + s->readpos, n, to);
	if (!n)
		return -EFAULT;

	s->readpos += n;
	pipe->was_read = true;

	return n;
}

static __poll_t snapshot_pipe_poll(struct file *filp, poll_table *poll_table)
{
	struct snapshot_pipe *pipe = filp->private_data;
	struct trace_array *tr;
	struct trace_seq *s;
	__poll_t ret = 0;

	/* Only for writing */
	if (!pipe)
		return EPOLLOUT | EPOLLWRNORM;

	tr = pipe->iter.tr;
	poll_wait(filp, &tr->snapshots.wait, poll_table);
	trace_announce_waiter(tr, TRACE_WAITER_SNAPSHOT);

	if (tracer_uses_snapshot(READ_ONCE(tr->current_trace)))
		return EPOLLERR;

	/* A reader may hold the mutex for long. Look again later. */
	if (!mutex_trylock(&pipe->iter.mutex)) {
		trace_snapshot_want_grace_period(tr);
		return 0;
	}

	s = &pipe->iter.seq;
	if ((snapshot_pipe_settle(pipe) &&
	     (snapshot_pipe_has_records(pipe) ||
	      snapshot_pipe_has_ended(pipe))) ||
	    s->readpos < trace_seq_used(s))
		ret |= EPOLLIN | EPOLLRDNORM;
	if (pipe->seen != pipe->count)
		ret |= EPOLLPRI;
	mutex_unlock(&pipe->iter.mutex);

	return ret;
}

static int snapshot_pipe_take(struct trace_array *tr, int cpu)
{
	guard(mutex)(&trace_types_lock);

	return trace_snapshot_take(tr, cpu, false);
}

/* Old records are marked from now on. Before, nobody looked at the marks. */
static void snapshot_pipe_begin_marks(struct trace_array *tr)
{
	guard(trace_max_lock_irqsave)(tr);

	if (tr->snapshots.piped)
		return;

	get_state_synchronize_rcu_full(&tr->snapshots.rcu);
	tr->snapshots.piped = true;
}

/* Returns 1 if it holds the snapshot now and did not before, 0, or an error. */
static int snapshot_pipe_set_hold(struct snapshot_pipe *pipe, bool hold)
{
	struct trace_array *tr = pipe->iter.tr;
	int ret;

	guard(mutex)(&trace_types_lock);

	if (pipe->holds == hold)
		return 0;

	if (hold) {
		if (tracer_uses_snapshot(tr->current_trace))
			return -EBUSY;
		if (!tr->allocated_snapshot)
			return -ENODEV;

		/* The buffer can't be freed meanwhile. */
		ret = tracing_arm_snapshot_locked(tr);
		if (ret)
			return ret;
	} else {
		tracing_disarm_snapshot(tr);
	}

	scoped_guard(trace_max_lock_irqsave, tr)
		WRITE_ONCE(tr->snapshots.holds,
			   tr->snapshots.holds + (hold ? 1 : -1));
	/* Pairs with smp_load_acquire() in snapshot_pipe_wait(). */
	smp_store_release(&pipe->holds, hold);
	/* A read() of this file may wait for the next snapshot. */
	wake_up_all(&tr->snapshots.wait);

	return hold;
}

/* A word that is written to the file of a reader */
static int snapshot_pipe_command(struct snapshot_pipe *pipe, const char *text)
{
	if (!pipe)
		return -EINVAL;

	if (sysfs_streq(text, "hold"))
		return snapshot_pipe_set_hold(pipe, true);

	if (sysfs_streq(text, "release"))
		return snapshot_pipe_set_hold(pipe, false);

	return -EINVAL;
}

static ssize_t snapshot_pipe_write(struct file *filp, const char __user *ubuf,
				   size_t cnt, loff_t *ppos)
{
	struct snapshot_pipe *pipe = filp->private_data;
	struct inode *inode = file_inode(filp);
	struct trace_array *tr = inode->i_private;
	unsigned long val;
	char text[32];
	int ret;

	if (cnt >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, ubuf, cnt))
		return -EFAULT;
	text[cnt] = '\0';

	ret = kstrtoul(text, 10, &val);
	if (!ret)
		ret = val == 1 ? snapshot_pipe_take(tr, tracing_get_cpu(inode)) :
				 -EINVAL;
	else if (ret == -EINVAL)
		ret = snapshot_pipe_command(pipe, text);
	if (ret < 0)
		return ret;

	if (filp->f_flags & O_NONBLOCK)
		return cnt;

	/* The next command of a script finds it settled. */
	synchronize_rcu();
	if (!pipe)
		return cnt;

	scoped_guard(mutex, &pipe->iter.mutex) {
		if (snapshot_pipe_settle(pipe))
			return cnt;
	}

	/* A signal left old records there: undo "hold", but no snapshot. */
	if (ret && signal_pending(current)) {
		snapshot_pipe_set_hold(pipe, false);
		return -ERESTARTSYS;
	}

	return cnt;
}

static int snapshot_pipe_claim(struct trace_array *tr, int cpu)
{
	struct cpumask *readers = tr->snapshots.readers;

	if (cpu == RING_BUFFER_ALL_CPUS) {
		if (!cpumask_empty(readers))
			return -EBUSY;
		cpumask_setall(readers);
	} else if (cpumask_test_and_set_cpu(cpu, readers)) {
		return -EBUSY;
	}

	return 0;
}

static void snapshot_pipe_unclaim(struct trace_array *tr, int cpu)
{
	if (cpu == RING_BUFFER_ALL_CPUS)
		cpumask_clear(tr->snapshots.readers);
	else
		cpumask_clear_cpu(cpu, tr->snapshots.readers);
}

static int snapshot_pipe_start(struct file *filp, struct trace_array *tr,
			       int cpu_file)
{
	struct snapshot_pipe *pipe __free(kvfree) =
		kvzalloc_flex(*pipe, lost, nr_cpu_ids);
	struct trace_iterator *iter;
	int cpu;
	int ret;

	if (!pipe)
		return -ENOMEM;

	iter = &pipe->iter;
	if (!zalloc_cpumask_var(&iter->started, GFP_KERNEL))
		return -ENOMEM;

	scoped_guard(mutex, &trace_types_lock)
		ret = snapshot_pipe_claim(tr, cpu_file);
	if (ret) {
		free_cpumask_var(iter->started);
		return ret;
	}

	mutex_init(&iter->mutex);
	trace_seq_init(&iter->seq);
	iter->tr = tr;
	iter->cpu_file = cpu_file;
	iter->array_buffer = &pipe->buffer;
	iter->snapshot = true;
	iter->snapshot_pipe = true;
	if (tr->trace_flags & TRACE_ITER(LATENCY_FMT))
		iter->iter_flags |= TRACE_FILE_LAT_FMT;
	if (trace_clock_in_ns(tr))
		iter->iter_flags |= TRACE_FILE_TIME_IN_NS;

	pipe->cpus = tracing_buffer_mask;
	if (cpu_file != RING_BUFFER_ALL_CPUS)
		pipe->cpus = cpumask_of(cpu_file);

	/* Any other one: it is never odd when the reader turns to it. */
	pipe->swaps = ~READ_ONCE(tr->snapshot_swaps);
	snapshot_pipe_turn(pipe);
	pipe->seen = pipe->count;

	/* A new reader begins with what is there. It lost no earlier snapshot. */
	snapshot_pipe_count_lost(pipe);
	for_each_cpu(cpu, pipe->cpus)
		pipe->lost[cpu] = 0;

	filp->private_data = no_free_ptr(pipe);

	return 0;
}

static int snapshot_pipe_open(struct inode *inode, struct file *filp)
{
	struct trace_array *tr = inode->i_private;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;

	snapshot_pipe_begin_marks(tr);

	if (filp->f_mode & FMODE_READ) {
		ret = snapshot_pipe_start(filp, tr, tracing_get_cpu(inode));
		if (ret) {
			trace_array_put(tr);
			return ret;
		}
	}

	/* A read() that waits must not keep others from writing to the file. */
	return stream_open(inode, filp);
}

static int snapshot_pipe_release(struct inode *inode, struct file *filp)
{
	struct snapshot_pipe *pipe = filp->private_data;
	struct trace_array *tr = inode->i_private;

	if (pipe) {
		snapshot_pipe_set_hold(pipe, false);
		snapshot_pipe_clear_tracer(&pipe->iter);

		scoped_guard(mutex, &trace_types_lock)
			snapshot_pipe_unclaim(tr, pipe->iter.cpu_file);

		free_trace_iter_content(&pipe->iter);
		kvfree(pipe);
	}

	trace_array_put(tr);

	return 0;
}

static const struct file_operations snapshot_pipe_fops = {
	.open		= snapshot_pipe_open,
	.read_iter	= snapshot_pipe_read,
	.write		= snapshot_pipe_write,
	.poll		= snapshot_pipe_poll,
	.splice_read	= copy_splice_read,
	.release	= snapshot_pipe_release,
};

/* snapshot_enabled */

static ssize_t snapshot_enabled_read(struct file *filp, char __user *ubuf,
				     size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = filp->private_data;
	char buf[] = "0\n";

	if (READ_ONCE(tr->allocated_snapshot))
		buf[0] = '1';

	return simple_read_from_buffer(ubuf, cnt, ppos, buf, 2);
}

static int snapshot_enable(struct trace_array *tr)
{
	int ret;

	ret = tracing_update_buffers(tr);
	if (ret < 0)
		return ret;

	guard(mutex)(&trace_types_lock);

	if (tracer_uses_snapshot(tr->current_trace))
		return -EBUSY;

	/* This allocates the buffer, if the ring buffer is not mapped. */
	ret = tracing_arm_snapshot_locked(tr);
	if (ret)
		return ret;
	tracing_disarm_snapshot(tr);
	tr->snapshot_enabled = true;

	return 0;
}

static int snapshot_disable(struct trace_array *tr)
{
	int ret;

	guard(mutex)(&trace_types_lock);

	if (!tr->allocated_snapshot)
		return 0;

	/* A latency tracer, a trigger or the kernel needs it. */
	if (tr->snapshot)
		return -EBUSY;

	ret = tracing_try_free_snapshot(tr);
	if (!ret)
		tr->snapshot_enabled = false;

	return ret;
}

static ssize_t snapshot_enabled_write(struct file *filp,
				      const char __user *ubuf, size_t cnt,
				      loff_t *ppos)
{
	struct trace_array *tr = filp->private_data;
	unsigned long val;
	int ret;

	ret = kstrtoul_from_user(ubuf, cnt, 10, &val);
	if (ret)
		return ret;

	if (val > 1)
		return -EINVAL;

	ret = val ? snapshot_enable(tr) : snapshot_disable(tr);
	if (ret)
		return ret;

	*ppos += cnt;

	return cnt;
}

static const struct file_operations snapshot_enabled_fops = {
	.open		= tracing_open_generic_tr,
	.read		= snapshot_enabled_read,
	.write		= snapshot_enabled_write,
	.release	= tracing_release_generic_tr,
	.llseek		= default_llseek,
};

/* snapshot_stat */

static u64 snapshot_count(struct trace_array *tr)
{
	guard(trace_max_lock_irqsave)(tr);

	return tr->snapshots.count;
}

struct snapshot_stat {
	struct trace_array	*tr;
	/* The low bits of the count that was read last, for poll() */
	unsigned long		seen;
};

static void snapshot_stat_show_missed(struct seq_file *m,
				      struct trace_array *tr)
{
	const char *why = READ_ONCE(tr->snapshots.missed_why);

	seq_printf(m, "missed: %lu\n",
		   (unsigned long)atomic_long_read(&tr->snapshots.missed));
	if (why)
		seq_printf(m, "last_missed: %s\n", why);
}

static int snapshot_stat_show(struct seq_file *m, void *v)
{
	struct snapshot_stat *stat = m->private;
	struct trace_array *tr = stat->tr;
	char comm[TASK_COMM_LEN];
	const char *cause;
	u64 count, time;
	u32 usec;
	pid_t pid;
	int cpu;

	scoped_guard(trace_max_lock_irqsave, tr) {
		count = tr->snapshots.count;
		time = tr->snapshots.time;
		cpu = tr->snapshots.cpu;
		pid = tr->snapshots.pid;
		memcpy(comm, tr->snapshots.comm, sizeof(comm));
		cause = tr->snapshots.cause;
	}

	WRITE_ONCE(stat->seen, count);
	seq_printf(m, "count: %llu\n", count);
	snapshot_stat_show_missed(m, tr);
	if (!count)
		return 0;

	if (trace_clock_in_ns(tr)) {
		usec = do_div(time, NSEC_PER_SEC) / NSEC_PER_USEC;
		seq_printf(m, "time: %llu.%06u\n", time, usec);
	} else {
		seq_printf(m, "time: %llu\n", time);
	}

	seq_printf(m, "cpu: %d\n", cpu);
	/* A task may have given itself a name with lines of its own. */
	seq_puts(m, "task: ");
	seq_escape_str(m, comm, ESCAPE_NAP | ESCAPE_APPEND | ESCAPE_OCTAL, "\\");
	seq_printf(m, "-%d\n", pid);
	seq_printf(m, "cause: %s\n", cause);

	return 0;
}

static int snapshot_stat_open(struct inode *inode, struct file *filp)
{
	struct trace_array *tr = inode->i_private;
	struct snapshot_stat *stat;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;

	stat = kzalloc_obj(*stat);
	if (!stat) {
		trace_array_put(tr);
		return -ENOMEM;
	}

	stat->tr = tr;
	stat->seen = snapshot_count(tr);

	ret = single_open(filp, snapshot_stat_show, stat);
	if (ret) {
		kfree(stat);
		trace_array_put(tr);
	}

	return ret;
}

static __poll_t snapshot_stat_poll(struct file *filp, poll_table *poll_table)
{
	struct seq_file *m = filp->private_data;
	struct snapshot_stat *stat = m->private;
	struct trace_array *tr = stat->tr;

	poll_wait(filp, &tr->snapshots.wait, poll_table);
	trace_announce_waiter(tr, TRACE_WAITER_SNAPSHOT);

	/* A read() at the same time may or may not have been before this. */
	if (READ_ONCE(stat->seen) == (unsigned long)snapshot_count(tr))
		return 0;

	return EPOLLIN | EPOLLRDNORM | EPOLLPRI;
}

static int snapshot_stat_release(struct inode *inode, struct file *filp)
{
	struct seq_file *m = filp->private_data;

	kfree(m->private);
	trace_array_put(inode->i_private);

	return single_release(inode, filp);
}

static const struct file_operations snapshot_stat_fops = {
	.open		= snapshot_stat_open,
	.read		= seq_read,
	.poll		= snapshot_stat_poll,
	.llseek		= seq_lseek,
	.release	= snapshot_stat_release,
};

/**
 * trace_snapshot_create_files - create the snapshot files of a trace array
 * @tr: the trace array
 * @parent: its directory
 *
 * Context: May sleep.
 */
void trace_snapshot_create_files(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("snapshot_enabled", TRACE_MODE_WRITE, parent, tr,
			  &snapshot_enabled_fops);
	trace_create_file("snapshot_pipe", TRACE_MODE_WRITE, parent, tr,
			  &snapshot_pipe_fops);
	trace_create_file("snapshot_stat", TRACE_MODE_READ, parent, tr,
			  &snapshot_stat_fops);
}

/**
 * trace_snapshot_create_cpu_files - create the snapshot files of a CPU
 * @tr: the trace array
 * @parent: the directory of the CPU
 * @cpu: the CPU
 *
 * Context: May sleep.
 */
void trace_snapshot_create_cpu_files(struct trace_array *tr,
				     struct dentry *parent, int cpu)
{
	trace_create_cpu_file("snapshot_pipe", TRACE_MODE_WRITE, parent, tr,
			      cpu, &snapshot_pipe_fops);
}

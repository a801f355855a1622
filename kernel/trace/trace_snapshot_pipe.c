// SPDX-License-Identifier: GPL-2.0
/*
 * Snapshots for those who wait for them: the files snapshot_enabled,
 * snapshot_pipe and snapshot_stat.
 *
 * A snapshot exchanges two ring buffers. So the one that becomes the snapshot
 * may still have records of the snapshot before the last one, and the one that
 * a reader of snapshot_pipe is at may become the live one at any time. This is
 * how a reader gets the records of the latest snapshot, and no others:
 *
 *  - What is in the ring buffer that goes live is marked as old before anybody
 *    writes to it. When it is the snapshot again, old records are left out.
 *  - After that, and still before anybody writes to it, tr->snapshots.seq
 *    changes. The reader looks at it after each record that it finds: if it has
 *    changed, the record may be of the time after the snapshot. It is left
 *    where it is, and the reader turns to the new snapshot.
 *  - What the reader has not read till then is lost to it. It is told how many
 *    records that are, at the next one of that CPU, as trace_pipe tells it of
 *    those that were overwritten.
 *  - A writer may have got hold of the ring buffer when it still was the live
 *    one. The reader lets a grace period pass before it looks at a snapshot,
 *    as writers do not sleep.
 *
 * Whoever takes a snapshot waits for nothing of this.
 */

#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/irq_work.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/splice.h>
#include <linux/uio.h>
#include <linux/wait.h>

#include "trace.h"
#include "trace_output.h"

/* What the files of a snapshot know of each other. */

static void trace_snapshots_wake(struct irq_work *work)
{
	struct trace_snapshots *snapshots =
		container_of(work, struct trace_snapshots, wakeup);

	wake_up_all(&snapshots->wait);
}

int trace_snapshots_init(struct trace_array *tr)
{
	init_waitqueue_head(&tr->snapshots.wait);
	init_irq_work(&tr->snapshots.wakeup, trace_snapshots_wake);

	if (!zalloc_cpumask_var(&tr->snapshots.readers, GFP_KERNEL))
		return -ENOMEM;

	return 0;
}

void trace_snapshots_exit(struct trace_array *tr)
{
	irq_work_sync(&tr->snapshots.wakeup);
	free_cpumask_var(tr->snapshots.readers);
}

static void trace_snapshots_turn(struct trace_array *tr)
{
	WRITE_ONCE(tr->snapshots.seq, tr->snapshots.seq + 1);
	/* Who sees a later record in the old ring buffer sees this, too. */
	smp_mb();
}

/**
 * trace_snapshot_begin - the ring buffers of a trace array will be exchanged
 * @tr: the trace array, with its max_lock held
 * @cpu: the only CPU of which they will be, or RING_BUFFER_ALL_CPUS
 *
 * Context: Any but NMI.
 */
void trace_snapshot_begin(struct trace_array *tr, int cpu)
{
	/* The other case is that of ring_buffer_swap_cpu(), as it may fail. */
	if (cpu == RING_BUFFER_ALL_CPUS)
		ring_buffer_mark_old(tr->snapshot_buffer.buffer);

	trace_snapshots_turn(tr);
}

/**
 * trace_snapshot_end - the ring buffers of a trace array were exchanged
 * @tr: the trace array, with its max_lock held
 * @tsk: the task that is to blame
 * @cause: what has taken the snapshot
 *
 * Context: Any but NMI.
 */
void trace_snapshot_end(struct trace_array *tr, struct task_struct *tsk,
			const char *cause)
{
	struct trace_snapshots *snapshots = &tr->snapshots;

	snapshots->rcu = get_state_synchronize_rcu();
	snapshots->count++;
	snapshots->time = ring_buffer_time_stamp(tr->snapshot_buffer.buffer);
	snapshots->cause = cause;
	snapshots->cpu = raw_smp_processor_id();
	snapshots->pid = tsk->pid;
	strscpy(snapshots->comm, tsk->comm);
}

/**
 * trace_snapshot_notify - wake those who wait for a snapshot
 * @tr: the trace array of which one was taken
 *
 * Context: Any but NMI. They are woken later, from an irq_work.
 */
void trace_snapshot_notify(struct trace_array *tr)
{
	if (wq_has_sleeper(&tr->snapshots.wait))
		irq_work_queue(&tr->snapshots.wakeup);
}

/**
 * trace_snapshot_gone - the snapshot buffer of a trace array was freed
 * @tr: the trace array
 *
 * Context: May sleep.
 */
void trace_snapshot_gone(struct trace_array *tr)
{
	local_irq_disable();
	trace_max_lock(tr);
	trace_snapshots_turn(tr);
	trace_max_unlock(tr);
	local_irq_enable();

	wake_up_all(&tr->snapshots.wait);
}

/* snapshot_pipe */

struct snapshot_pipe {
	struct trace_iterator	iter;
	const struct cpumask	*cpus;
	/* The snapshot that is being read, and which one that is */
	struct array_buffer	buffer;
	unsigned long		seq;
	u64			count;
	/* The last one of which a line said that it begins */
	u64			begun;
	/* There was something since it was opened or had an end */
	bool			was_read;
	/* Records of a CPU that can't be read any more, to be told */
	unsigned long		lost[];
};

static bool snapshot_pipe_is_current(struct snapshot_pipe *pipe)
{
	return READ_ONCE(pipe->iter.tr->snapshots.seq) == READ_ONCE(pipe->seq);
}

/*
 * Turns to the latest snapshot, if it is another one. There may be a later one
 * by the time it returns: where they come faster than grace periods there always
 * is, so it is up to the caller whether to go on.
 */
static void snapshot_pipe_turn(struct snapshot_pipe *pipe)
{
	struct trace_array *tr = pipe->iter.tr;
	struct trace_buffer *live;
	unsigned long rcu;
	int cpu;

	if (snapshot_pipe_is_current(pipe))
		return;

	local_irq_disable();
	trace_max_lock(tr);
	WRITE_ONCE(pipe->seq, tr->snapshots.seq);
	pipe->count = tr->snapshots.count;
	pipe->buffer = tr->snapshot_buffer;
	live = tr->array_buffer.buffer;
	rcu = tr->snapshots.rcu;
	trace_max_unlock(tr);
	local_irq_enable();

	cond_synchronize_rcu(rcu);

	for_each_cpu(cpu, pipe->cpus) {
		pipe->lost[cpu] += ring_buffer_skip_old(live, cpu);
		pipe->lost[cpu] += ring_buffer_skip_old(pipe->buffer.buffer,
							cpu);
	}
}

/**
 * trace_snapshot_pipe_peek - find the next record of a snapshot
 * @iter: the iterator of a snapshot_pipe
 * @cpu: the CPU
 * @ts: set to the timestamp of the record
 * @lost_events: set to the number of records lost before it, if not NULL
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

	event = ring_buffer_peek_new(pipe->buffer.buffer, cpu, ts, &lost);

	/* Pairs with the barrier of trace_snapshots_turn(). */
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

static void snapshot_pipe_consume(struct snapshot_pipe *pipe)
{
	struct trace_iterator *iter = &pipe->iter;

	ring_buffer_consume(pipe->buffer.buffer, iter->cpu, &iter->ts,
			    &iter->lost_events);
}

static bool snapshot_pipe_has_records(struct snapshot_pipe *pipe,
				      struct trace_buffer *buffer)
{
	int cpu;

	for_each_cpu(cpu, pipe->cpus) {
		if (ring_buffer_has_new(buffer, cpu))
			return true;
	}

	return false;
}

/* To a reader that has not come to anything nothing ends. */
static bool snapshot_pipe_has_ended(struct snapshot_pipe *pipe)
{
	return pipe->was_read &&
	       !READ_ONCE(pipe->iter.tr->allocated_snapshot);
}

/*
 * The tracer prints its records. It may have changed since the last time, and
 * what it remembers of one snapshot must not get into the next one.
 */
static void snapshot_pipe_set_tracer(struct snapshot_pipe *pipe)
{
	struct trace_iterator *iter = &pipe->iter;

	guard(mutex)(&trace_types_lock);

	if (iter->trace == iter->tr->current_trace &&
	    pipe->begun == pipe->count)
		return;

	if (iter->trace && iter->trace->pipe_close)
		iter->trace->pipe_close(iter);

	iter->trace = iter->tr->current_trace;
	if (iter->trace->pipe_open)
		iter->trace->pipe_open(iter);
}

static void snapshot_pipe_clear_tracer(struct trace_iterator *iter)
{
	guard(mutex)(&trace_types_lock);

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
	int ret;

	for (;;) {
		if (tracer_uses_snapshot(READ_ONCE(tr->current_trace)))
			return -EBUSY;

		snapshot_pipe_turn(pipe);
		if (snapshot_pipe_has_records(pipe, pipe->buffer.buffer))
			return 1;

		/* A poll() tells who does not wait that there is a later one. */
		if (!snapshot_pipe_is_current(pipe)) {
			if (!block)
				return -EAGAIN;
			if (signal_pending(current))
				return -ERESTARTSYS;
			continue;
		}

		/* The next snapshot is another story, it can be waited for. */
		if (snapshot_pipe_has_ended(pipe)) {
			pipe->was_read = false;
			return 0;
		}

		if (!block)
			return -EAGAIN;

		mutex_unlock(&pipe->iter.mutex);
		ret = wait_event_interruptible(tr->snapshots.wait,
					       !snapshot_pipe_is_current(pipe));
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
	enum print_line_t line;
	char *text;
	int len;

	trace_iterator_reset(iter);
	trace_seq_init(s);
	snapshot_pipe_set_tracer(pipe);

	trace_event_read_lock();
	trace_access_lock(iter->cpu_file);

	while (trace_seq_used(s) < cnt && trace_find_next_entry_inc(iter)) {
		len = s->seq.len;

		if (pipe->begun != pipe->count)
			trace_seq_printf(s, "##### snapshot %llu #####\n",
					 pipe->count);
		text = trace_seq_buffer_ptr(s);

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
			snapshot_pipe_consume(pipe);
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
		/* It may not wait, and still find that it was too late. */
		if (signal_pending(current))
			return -ERESTARTSYS;

		ret = snapshot_pipe_wait(pipe, !(filp->f_flags & O_NONBLOCK));
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
	struct trace_buffer *buffer;
	struct trace_seq *s;
	struct trace_array *tr;
	__poll_t ret = 0;
	u64 count;

	/* Only for writing */
	if (!pipe)
		return EPOLLOUT | EPOLLWRNORM;

	tr = pipe->iter.tr;
	poll_wait(filp, &tr->snapshots.wait, poll_table);

	if (tracer_uses_snapshot(READ_ONCE(tr->current_trace)))
		return EPOLLERR;

	local_irq_disable();
	trace_max_lock(tr);
	count = tr->snapshots.count;
	buffer = tr->snapshot_buffer.buffer;
	trace_max_unlock(tr);
	local_irq_enable();

	guard(mutex)(&pipe->iter.mutex);

	s = &pipe->iter.seq;
	if (s->readpos < trace_seq_used(s) ||
	    snapshot_pipe_has_records(pipe, buffer) ||
	    snapshot_pipe_has_ended(pipe))
		ret |= EPOLLIN | EPOLLRDNORM;
	if (pipe->count != count)
		ret |= EPOLLPRI;

	return ret;
}

static int snapshot_take(struct trace_array *tr, int cpu)
{
	int ret;

	guard(mutex)(&trace_types_lock);

	if (tracer_uses_snapshot(tr->current_trace) ||
	    READ_ONCE(tr->cond_snapshot))
		return -EBUSY;

	if (!tr->allocated_snapshot)
		return -ENODEV;

	if (cpu != RING_BUFFER_ALL_CPUS &&
	    !IS_ENABLED(CONFIG_RING_BUFFER_ALLOW_SWAP))
		return -EINVAL;

	/* Or it is mapped. */
	ret = tracing_arm_snapshot_locked(tr);
	if (ret)
		return ret;

	ret = resize_buffer_duplicate_size(&tr->snapshot_buffer,
					   &tr->array_buffer, cpu);
	if (ret) {
		/* No room for as much as there may be now. */
	} else if (cpu == RING_BUFFER_ALL_CPUS) {
		guard(irq)();
		ret = update_max_tr(tr, current, smp_processor_id(), NULL,
				    "file");
	} else {
		ret = tracing_snapshot_of_cpu(tr, cpu);
	}

	tracing_disarm_snapshot(tr);

	return ret;
}

static ssize_t snapshot_pipe_write(struct file *filp, const char __user *ubuf,
				   size_t cnt, loff_t *ppos)
{
	struct inode *inode = file_inode(filp);
	unsigned long val;
	int ret;

	ret = kstrtoul_from_user(ubuf, cnt, 10, &val);
	if (ret)
		return ret;

	if (val != 1)
		return -EINVAL;

	ret = snapshot_take(inode->i_private, tracing_get_cpu(inode));
	if (ret)
		return ret;

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

	/* A new reader has lost nothing, it begins with what is there. */
	pipe->seq = READ_ONCE(tr->snapshots.seq) - 1;
	scoped_guard(mutex, &iter->mutex)
		snapshot_pipe_turn(pipe);
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

	if (filp->f_mode & FMODE_READ) {
		ret = snapshot_pipe_start(filp, tr, tracing_get_cpu(inode));
		if (ret) {
			trace_array_put(tr);
			return ret;
		}
	}

	return nonseekable_open(inode, filp);
}

static int snapshot_pipe_release(struct inode *inode, struct file *filp)
{
	struct snapshot_pipe *pipe = filp->private_data;
	struct trace_array *tr = inode->i_private;

	if (pipe) {
		snapshot_pipe_clear_tracer(&pipe->iter);

		scoped_guard(mutex, &trace_types_lock)
			snapshot_pipe_unclaim(tr, pipe->iter.cpu_file);

		trace_iter_free(&pipe->iter);
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

	/* What only lacks to be armed is that the ring buffer is not mapped. */
	ret = tracing_arm_snapshot_locked(tr);
	if (ret)
		return ret;
	tracing_disarm_snapshot(tr);

	/* It is not up to the kernel any more when this ends. */
	tr->snapshot_of_kernel = false;

	return 0;
}

static int snapshot_disable(struct trace_array *tr)
{
	guard(mutex)(&trace_types_lock);

	if (!tr->allocated_snapshot)
		return 0;

	/* A latency tracer, a trigger or the kernel needs it. */
	if (tr->snapshot)
		return -EBUSY;

	free_snapshot(tr);

	return 0;
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

struct snapshot_stat {
	struct trace_array	*tr;
	/* What was read last */
	u64			count;
};

static int snapshot_stat_show(struct seq_file *m, void *v)
{
	struct snapshot_stat *stat = m->private;
	struct trace_array *tr = stat->tr;
	char comm[TASK_COMM_LEN];
	const char *cause;
	u32 usec;
	pid_t pid;
	u64 time;
	int cpu;

	local_irq_disable();
	trace_max_lock(tr);
	stat->count = tr->snapshots.count;
	time = tr->snapshots.time;
	cpu = tr->snapshots.cpu;
	pid = tr->snapshots.pid;
	memcpy(comm, tr->snapshots.comm, sizeof(comm));
	cause = tr->snapshots.cause;
	trace_max_unlock(tr);
	local_irq_enable();

	seq_printf(m, "count: %llu\n", stat->count);
	if (!stat->count)
		return 0;

	if (trace_clock_in_ns(tr)) {
		usec = do_div(time, NSEC_PER_SEC) / NSEC_PER_USEC;
		seq_printf(m, "time: %llu.%06u\n", time, usec);
	} else {
		seq_printf(m, "time: %llu\n", time);
	}

	seq_printf(m, "cpu: %d\n", cpu);
	seq_printf(m, "task: %s-%d\n", comm, pid);
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
	stat->count = READ_ONCE(tr->snapshots.count);

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

	if (READ_ONCE(stat->count) == READ_ONCE(tr->snapshots.count))
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
 * trace_snapshot_create_files - create the files of this page
 * @tr: the trace array
 * @parent: its directory
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
 * trace_snapshot_create_cpu_files - create those of a CPU
 * @tr: the trace array
 * @parent: the directory of the CPU
 * @cpu: the CPU
 */
void trace_snapshot_create_cpu_files(struct trace_array *tr,
				     struct dentry *parent, int cpu)
{
	trace_create_cpu_file("snapshot_pipe", TRACE_MODE_WRITE, parent, tr,
			      cpu, &snapshot_pipe_fops);
}

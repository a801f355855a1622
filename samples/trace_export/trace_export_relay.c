// SPDX-License-Identifier: GPL-2.0
/*
 * Stream the records of one trace instance to user space through relay.
 *
 * This shows trace_array_register_export() and its ->write_record() callback:
 * every record that the ring buffer of the instance commits is also copied to
 * a buffer of this module, with what is needed to make sense of it.
 *
 *	modprobe trace_export_relay instance=foo types=event,printk
 *	echo 1 > /sys/kernel/tracing/instances/foo/events/sched/enable
 *	cd /sys/kernel/debug/trace_export_relay
 *	cat stream0 stream1 ... > file	# what CPU 0, 1 ... has recorded so far
 *	cat stats			# what was streamed, and what was not
 *	cat next			# waits for a record, shows it as text
 *	cat /sys/kernel/tracing/instances/foo/exports
 *
 * The instance is made when it does not exist, and stays when the module goes.
 *
 * The stream of a CPU is a sequence of struct relay_record, each followed by
 * len bytes of data and padded to a multiple of 8 bytes. The data starts with
 * a struct trace_entry: its first two bytes are the event's id, with which
 * events/.../format tells the rest.
 *
 * Order: a record is exported when it is complete. An interrupt that comes
 * before that has all of its own records exported first, so these are ahead of
 * the one that it interrupted, whose place in the ring buffer and time stamp
 * are earlier. Of a million records that is some thousand. A stable sort of
 * the stream by the time stamp gives the order of the ring buffer. It fails
 * for a record that is interrupted at the wrong two instructions, one in ten
 * million.
 *
 * A reader gets finished sub-buffers only. When there is none left, the one that
 * the CPU writes is finished early; what is recorded from then on is behind the
 * end of the file until the next read. poll() waits for a finished sub-buffer.
 * The read function of relay itself is of no use here: it also looks into the
 * one that is being written, for which there is no lock, and when writers are
 * busy it returns records twice, or the middle of one.
 *
 * Who locks what: the buffer of a CPU is written on that CPU alone, with
 * interrupts off. That leaves NMIs, and events in relay itself when it wakes a
 * reader (ipi): a record that comes within a write is turned away by
 * relay_cpu.busy, and counted as dropped. A writer takes no lock and leaves
 * waking up to irq_work, so it does not care which locks the code holds that is
 * traced. Readers hold the inode lock of their file against each other. What a
 * writer and a reader share is relay_cpu.produced, which only the one moves,
 * and relay_cpu.consumed, which only the other moves.
 *
 * How it ends, and in which order:
 *  1. An open file keeps the module in place.
 *  2. trace_array_unregister_export() returns when no callback runs any more.
 *  3. So nobody writes, and relay_close() can free the buffers.
 *  4. The instance is left last: until then it can't be removed.
 */

#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/poll.h>
#include <linux/relay.h>
#include <linux/seq_buf.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/trace.h>

#define RELAY_MAGIC		0x54524558	/* "TREX" */

/* What user space reads. */
struct relay_record {
	__u32	magic;
	__u32	len;		/* of the data */
	__u64	ts;
	__u16	type;		/* TRACE_EXPORT_* */
	__u16	cpu;
	__u32	dropped;	/* records of this CPU, before this one */
	__u8	data[];
};

static char *instance = "relay";
module_param(instance, charp, 0444);
MODULE_PARM_DESC(instance, "Name of the trace instance (default: relay)");

static char *types = "all";
module_param(types, charp, 0444);
MODULE_PARM_DESC(types, "Which records: a list of function, event, marker, printk, raw_marker, graph, stack and tracer, or a mask (default: all)");

static unsigned int subbuf_size = SZ_256K;
module_param(subbuf_size, uint, 0444);
MODULE_PARM_DESC(subbuf_size, "Size of a sub-buffer, rounded up to pages (default: 256K)");

static unsigned int n_subbufs = 8;
module_param(n_subbufs, uint, 0444);
MODULE_PARM_DESC(n_subbufs, "Number of sub-buffers of each CPU (default: 8)");

struct relay_cpu {
	/* For records made on this CPU: */
	bool			busy;
	unsigned long		records;
	unsigned long		bytes;
	unsigned long		dropped;
	/* Counted apart: an NMI may hit the very increment of the other. */
	unsigned long		dropped_busy;

	/* For its buffer: sub-buffers finished, and done with. */
	size_t			produced;
	size_t			consumed;
	/* How much of the next one has been read, under the inode lock. */
	size_t			bytes_read;
};

static DEFINE_PER_CPU(struct relay_cpu, relay_cpus);

static struct trace_array *relay_tr;
static struct rchan *relay_chan;
static struct dentry *relay_dir;

/*
 * The file "next". The reader asks for a record and waits, the first callback
 * that sees the request takes it. All others find somebody else's state and
 * pass by, so this needs no lock and works in NMIs.
 */
enum { NEXT_IDLE, NEXT_WANTED, NEXT_TAKING, NEXT_TAKEN };

static atomic_t next_state = ATOMIC_INIT(NEXT_IDLE);
static struct trace_export_record next_record;
static char next_data[SZ_4K] __aligned(8);
static char next_text[SZ_8K];
/* Between readers of "next". */
static DEFINE_MUTEX(next_mutex);

static void relay_next(const struct trace_export_record *record)
{
	if (likely(atomic_read(&next_state) != NEXT_WANTED))
		return;

	if (record->len > sizeof(next_data))
		return;

	if (atomic_cmpxchg(&next_state, NEXT_WANTED, NEXT_TAKING) != NEXT_WANTED)
		return;

	next_record = *record;
	memcpy(next_data, record->data, record->len);
	next_record.data = next_data;
	/* Pairs with atomic_read_acquire() in next_show() */
	atomic_set_release(&next_state, NEXT_TAKEN);
}

/* The barriers are for NMIs, on this CPU. */
static void relay_busy(bool busy)
{
	barrier();
	this_cpu_write(relay_cpus.busy, busy);
	barrier();
}

/* On its CPU, with interrupts off, not within another write: see busy. */
static void relay_write_record(const struct trace_export_record *record)
{
	size_t len = ALIGN(sizeof(struct relay_record) + record->len, 8);
	struct relay_record *out;

	/* NULL when the reader is too slow, or for more than a sub-buffer. */
	out = relay_reserve(relay_chan, len);
	if (!out) {
		this_cpu_inc(relay_cpus.dropped);
		return;
	}

	out->magic = RELAY_MAGIC;
	out->len = record->len;
	out->ts = record->ts;
	out->type = record->type;
	out->cpu = record->cpu;
	out->dropped = this_cpu_read(relay_cpus.dropped) +
		       this_cpu_read(relay_cpus.dropped_busy);
	memcpy(out->data, record->data, record->len);
	memset(out->data + record->len, 0, len - sizeof(*out) - record->len);

	this_cpu_inc(relay_cpus.records);
	this_cpu_add(relay_cpus.bytes, record->len);
}

/*
 * The callback. raw_local_irq_save(), because the other one is traced itself:
 * with the events of preemptirq on there would be a record within a callback,
 * which nobody exports.
 */
static void relay_export(struct trace_export *export,
			 const struct trace_export_record *record)
{
	unsigned long flags;

	relay_next(record);

	raw_local_irq_save(flags);
	if (unlikely(this_cpu_read(relay_cpus.busy))) {
		this_cpu_inc(relay_cpus.dropped_busy);
	} else {
		relay_busy(true);
		relay_write_record(record);
		relay_busy(false);
	}
	raw_local_irq_restore(flags);
}

static struct trace_export relay_trace_export = {
	.write_record	= relay_export,
	.name		= "trace_export_relay",
};

/*
 * Called by relay, under the rules of a writer, when it has finished a
 * sub-buffer: may it have the next? If not the record is dropped.
 */
static int relay_subbuf_start(struct rchan_buf *buf, void *subbuf, void *prev)
{
	struct relay_cpu *that = per_cpu_ptr(&relay_cpus, buf->cpu);

	/* What is in it is seen by relay_has_subbuf() */
	smp_store_release(&that->produced, buf->subbufs_produced);

	/* Pairs with smp_store_release() in relay_read_subbuf() */
	return that->produced - smp_load_acquire(&that->consumed) <
	       buf->chan->n_subbufs;
}

/* Finishes the sub-buffer that is being written, on the CPU that writes it. */
static void relay_finish(void *data)
{
	struct rchan_buf *buf = data;
	unsigned long flags;

	raw_local_irq_save(flags);
	relay_busy(true);
	/* Past its end is where relay_switch_subbuf() parks a full buffer. */
	if (buf->offset && buf->offset <= buf->chan->subbuf_size)
		relay_switch_subbuf(buf, 0);
	relay_busy(false);
	raw_local_irq_restore(flags);
}

static void relay_finish_subbuf(struct rchan_buf *buf)
{
	guard(cpus_read_lock)();

	/* Nobody writes the buffer of a CPU that is offline. */
	if (smp_call_function_single(buf->cpu, relay_finish, buf, true))
		relay_finish(buf);
}

static bool relay_has_subbuf(struct relay_cpu *that)
{
	/* Pairs with smp_store_release() in relay_subbuf_start() */
	return smp_load_acquire(&that->produced) != that->consumed;
}

/* Copies from the oldest finished sub-buffer, which is done with at its end. */
static ssize_t relay_read_subbuf(struct rchan_buf *buf, struct relay_cpu *that,
				 char __user *ubuf, size_t count)
{
	size_t subbuf = that->consumed % buf->chan->n_subbufs;
	size_t size = buf->chan->subbuf_size;
	size_t used = size - buf->padding[subbuf];

	count = min(count, used - that->bytes_read);
	if (copy_to_user(ubuf, buf->start + subbuf * size + that->bytes_read,
			 count))
		return -EFAULT;

	that->bytes_read += count;
	if (that->bytes_read == used) {
		that->bytes_read = 0;
		/* From now on the writer may have it. */
		smp_store_release(&that->consumed, that->consumed + 1);
	}

	return count;
}

static ssize_t relay_read(struct file *file, char __user *ubuf, size_t count,
			  loff_t *ppos)
{
	struct rchan_buf *buf = file->private_data;
	struct relay_cpu *that = per_cpu_ptr(&relay_cpus, buf->cpu);
	ssize_t done = 0;
	ssize_t ret = 0;

	inode_lock(file_inode(file));

	/* Once, then comes the end: reading makes records, too. */
	if (!relay_has_subbuf(that)) {
		if (!*ppos)
			relay_finish_subbuf(buf);
		*ppos = !*ppos;
	}

	while (done < count && relay_has_subbuf(that)) {
		ret = relay_read_subbuf(buf, that, ubuf + done, count - done);
		if (ret < 0)
			break;
		done += ret;
	}

	inode_unlock(file_inode(file));

	return done ?: ret;
}

static __poll_t relay_poll(struct file *file, poll_table *wait)
{
	struct rchan_buf *buf = file->private_data;
	struct relay_cpu *that = per_cpu_ptr(&relay_cpus, buf->cpu);

	poll_wait(file, &buf->read_wait, wait);

	/* The count that relay moves before it looks for sleepers. */
	if (data_race(buf->subbufs_produced) == READ_ONCE(that->consumed))
		return 0;

	return EPOLLIN | EPOLLRDNORM;
}

static int relay_open_file(struct inode *inode, struct file *file)
{
	return relay_file_operations.open(inode, file);
}

static int relay_release_file(struct inode *inode, struct file *file)
{
	return relay_file_operations.release(inode, file);
}

static const struct file_operations relay_fops = {
	.owner		= THIS_MODULE,
	.open		= relay_open_file,
	.read		= relay_read,
	.poll		= relay_poll,
	.release	= relay_release_file,
};

static struct dentry *relay_create_file(const char *name, struct dentry *parent,
					umode_t mode, struct rchan_buf *buf,
					int *is_global)
{
	return debugfs_create_file(name, mode, parent, buf, &relay_fops);
}

static int relay_remove_file(struct dentry *dentry)
{
	debugfs_remove(dentry);

	return 0;
}

static const struct rchan_callbacks relay_callbacks = {
	.subbuf_start		= relay_subbuf_start,
	.create_buf_file	= relay_create_file,
	.remove_buf_file	= relay_remove_file,
};

static int stats_show(struct seq_file *m, void *unused)
{
	int cpu;

	seq_puts(m, "# cpu records bytes dropped dropped_busy\n");

	for_each_possible_cpu(cpu) {
		struct relay_cpu *that = per_cpu_ptr(&relay_cpus, cpu);

		seq_printf(m, "%d %lu %lu %lu %lu\n", cpu,
			   READ_ONCE(that->records), READ_ONCE(that->bytes),
			   READ_ONCE(that->dropped),
			   READ_ONCE(that->dropped_busy));
	}

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

static int next_wait(void)
{
	atomic_set(&next_state, NEXT_WANTED);

	/* Pairs with atomic_set_release() in relay_next() */
	while (atomic_read_acquire(&next_state) != NEXT_TAKEN) {
		if (!msleep_interruptible(10))
			continue;
		/* Take the request back, unless it is being answered. */
		if (atomic_cmpxchg(&next_state, NEXT_WANTED, NEXT_IDLE) ==
		    NEXT_WANTED)
			return -EINTR;
	}

	atomic_set(&next_state, NEXT_IDLE);

	return 0;
}

static int next_show(struct seq_file *m, void *unused)
{
	struct seq_buf text;
	int ret;

	ACQUIRE(mutex_intr, lock)(&next_mutex);
	ret = ACQUIRE_ERR(mutex_intr, &lock);
	if (ret)
		return ret;

	ret = next_wait();
	if (ret)
		return ret;

	seq_buf_init(&text, next_text, sizeof(next_text));
	ret = trace_export_print(&text, &next_record);
	if (ret && ret != -E2BIG)
		return ret;

	seq_printf(m, "[%03d] %llu: %s", next_record.cpu, next_record.ts,
		   seq_buf_str(&text));

	return 0;
}

/* With room for the longest text: a second next_show() is another record. */
static int next_open(struct inode *inode, struct file *file)
{
	return single_open_size(file, next_show, NULL, 2 * sizeof(next_text));
}

static const struct file_operations next_fops = {
	.owner		= THIS_MODULE,
	.open		= next_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static const char * const type_names[] = {
	"function", "event", "marker", "printk", "raw_marker", "graph",
	"stack", "tracer",
};

static int parse_types(const char *list)
{
	char *names __free(kfree) = NULL;
	char *name, *next;
	unsigned int number;
	int mask = 0;
	int ret;

	if (!strcmp(list, "all"))
		return BIT(ARRAY_SIZE(type_names)) - 1;

	if (!kstrtouint(list, 0, &number))
		return number > INT_MAX ? -EINVAL : number;

	names = kstrdup(list, GFP_KERNEL);
	if (!names)
		return -ENOMEM;

	next = names;
	while ((name = strsep(&next, ","))) {
		ret = match_string(type_names, ARRAY_SIZE(type_names), name);
		if (ret < 0)
			return ret;
		mask |= BIT(ret);
	}

	return mask;
}

static int relay_setup(void)
{
	relay_dir = debugfs_create_dir("trace_export_relay", NULL);
	if (IS_ERR(relay_dir))
		return PTR_ERR(relay_dir);

	/* A CPU that comes up meanwhile would get no buffer. */
	scoped_guard(cpus_read_lock)
		relay_chan = relay_open("stream", relay_dir, subbuf_size,
					n_subbufs, &relay_callbacks, NULL);
	if (!relay_chan) {
		debugfs_remove(relay_dir);
		return -ENOMEM;
	}

	debugfs_create_file("stats", 0400, relay_dir, NULL, &stats_fops);
	debugfs_create_file("next", 0400, relay_dir, NULL, &next_fops);

	return 0;
}

static void relay_teardown(void)
{
	relay_close(relay_chan);
	debugfs_remove(relay_dir);
}

static int __init trace_export_relay_init(void)
{
	int ret;

	ret = parse_types(types);
	if (ret < 0)
		return ret;
	relay_trace_export.flags = ret;

	if (n_subbufs < 2 || !subbuf_size || subbuf_size > SZ_1G)
		return -EINVAL;
	subbuf_size = PAGE_ALIGN(subbuf_size);

	relay_tr = trace_array_get_or_create(instance, NULL);
	if (IS_ERR(relay_tr))
		return PTR_ERR(relay_tr);

	ret = relay_setup();
	if (ret)
		goto leave;

	ret = trace_array_register_export(relay_tr, &relay_trace_export);
	if (ret)
		goto teardown;

	return 0;

teardown:
	relay_teardown();
leave:
	trace_array_leave(relay_tr);

	return ret;
}

/* For the order see the top of this file. */
static void __exit trace_export_relay_exit(void)
{
	trace_array_unregister_export(relay_tr, &relay_trace_export);
	relay_teardown();
	trace_array_leave(relay_tr);
}

module_init(trace_export_relay_init);
module_exit(trace_export_relay_exit);

MODULE_DESCRIPTION("Sample that streams a trace instance through relay");
MODULE_LICENSE("GPL");

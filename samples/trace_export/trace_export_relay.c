// SPDX-License-Identifier: GPL-2.0
/*
 * Relay the records of one trace instance to user space.
 *
 * An example of trace_array_register_export() and ->write_record(): each record
 * that the ring buffer of the instance commits is copied to a slot of its CPU.
 *
 *	modprobe trace_export_relay instance=foo types=event,printk
 *	echo 1 > /sys/kernel/tracing/instances/foo/events/sched/enable
 *	cd /sys/kernel/debug/trace_export_relay
 *	cat stream0 > /tmp/file	# the records of CPU 0, see struct relay_record
 *	cat dropped		# how many found no slot, or are too long for one
 *
 * Reading a record frees its slot.
 */

#include <linux/bits.h>
#include <linux/debugfs.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/trace.h>
#include <linux/vmalloc.h>
#include <asm/local.h>

#define RELAY_MAGIC	0x54524558	/* "TREX" */

/* A slot. User space reads it up to the end of the data, rounded up to 8 bytes. */
struct relay_record {
	u32	magic;		/* 0 while the slot is free, or being filled */
	u32	len;		/* of the data */
	u64	ts;
	u16	type;		/* TRACE_EXPORT_* */
	u16	cpu;
	u32	dropped;	/* records of all CPUs so far */
	u8	data[1000];
};

struct relay_cpu {
	struct relay_record	*slots;
	/* Slots ever taken by callbacks on this CPU, and freed by readers */
	local_t			taken;
	unsigned long		freed;
};

static char *instance = "relay";
module_param(instance, charp, 0444);
MODULE_PARM_DESC(instance, "name of the trace instance, created if there is none");
static char *types = "function,event,marker,printk,raw_marker,graph,stack,tracer";
module_param(types, charp, 0444);
MODULE_PARM_DESC(types, "list of types of records, as in the file exports (default: all)");
static uint slots = 2048;
module_param(slots, uint, 0444);
MODULE_PARM_DESC(slots, "records that each CPU can keep, rounded up to a power of two (default: 2048)");

static DEFINE_PER_CPU(struct relay_cpu, relay_cpus);
static struct trace_array *relay_tr;
static struct relay_record *relay_slots;
static struct dentry *relay_dir;
static atomic_t relay_dropped;

static DEFINE_MUTEX(relay_mutex);

/*
 * Other calls on this CPU, in interrupts and NMIs, can interrupt this at any
 * place. So a call takes a slot with local_cmpxchg(), which needs no lock.
 */
static void relay_export(struct trace_export *export,
			 const struct trace_export_record *record)
{
	struct relay_cpu *that = this_cpu_ptr(&relay_cpus);
	struct relay_record *slot;
	unsigned long taken;

	do {
		taken = local_read(&that->taken);
		/* Pairs with smp_store_release() in relay_free_slot() */
		if (taken - smp_load_acquire(&that->freed) >= slots ||
		    record->len > sizeof(slot->data)) {
			atomic_inc(&relay_dropped);
			return;
		}
	} while (local_cmpxchg(&that->taken, taken, taken + 1) != taken);

	slot = &that->slots[taken & (slots - 1)];
	slot->len = record->len;
	slot->ts = record->ts;
	slot->type = record->type;
	slot->cpu = record->cpu;
	slot->dropped = atomic_read(&relay_dropped);
	memcpy(slot->data, record->data, record->len);
	/* Pairs with smp_load_acquire() in relay_next_slot() */
	smp_store_release(&slot->magic, RELAY_MAGIC);
}

static struct trace_export relay_trace_export = {
	.write_record	= relay_export,
	.name		= "trace_export_relay",
};

/* The slot with the oldest record, or NULL */
static struct relay_record *relay_next_slot(struct relay_cpu *that)
{
	struct relay_record *slot = &that->slots[that->freed & (slots - 1)];

	/* Pairs with smp_store_release() in relay_export() */
	return smp_load_acquire(&slot->magic) ? slot : NULL;
}

static void relay_free_slot(struct relay_cpu *that, struct relay_record *slot)
{
	slot->magic = 0;
	/* Pairs with smp_load_acquire() in relay_export() */
	smp_store_release(&that->freed, that->freed + 1);
}

/* As many complete records as there is space for */
static ssize_t
stream_read(struct file *file, char __user *ubuf, size_t count, loff_t *ppos)
{
	struct relay_cpu *that = file_inode(file)->i_private;
	struct relay_record *slot;
	size_t done = 0, len;

	guard(mutex)(&relay_mutex);
	while ((slot = relay_next_slot(that))) {
		len = offsetof(struct relay_record, data) + ALIGN(slot->len, 8);
		if (len > count - done)
			return done ?: -EINVAL;
		if (copy_to_user(ubuf + done, slot, len))
			return done ?: -EFAULT;
		relay_free_slot(that, slot);
		done += len;
	}

	return done;
}

static const struct file_operations stream_fops = {
	.owner	= THIS_MODULE,
	.read	= stream_read,
};

static void relay_remove(void)
{
	debugfs_remove(relay_dir);
	vfree(relay_slots);
	trace_array_put(relay_tr);
}

static int __init relay_init(void)
{
	char name[16];
	int cpu, ret;

	/* A GiB for each CPU is more than enough. */
	if (!slots || slots > BIT(20))
		return -EINVAL;

	ret = trace_export_parse_types(types);
	if (ret < 0)
		return ret;

	relay_trace_export.flags = ret;
	relay_tr = trace_array_get_by_name(instance, NULL);
	if (!relay_tr)
		return -ENODEV;	/* for any reason */

	slots = roundup_pow_of_two(slots);
	relay_slots = vcalloc(array_size(nr_cpu_ids, slots), sizeof(*relay_slots));
	if (!relay_slots) {
		trace_array_put(relay_tr);
		return -ENOMEM;
	}

	relay_dir = debugfs_create_dir("trace_export_relay", NULL);
	for_each_possible_cpu(cpu) {
		struct relay_cpu *that = per_cpu_ptr(&relay_cpus, cpu);

		that->slots = relay_slots + cpu * slots;
		snprintf(name, sizeof(name), "stream%d", cpu);
		debugfs_create_file(name, 0400, relay_dir, that, &stream_fops);
	}
	debugfs_create_atomic_t("dropped", 0400, relay_dir, &relay_dropped);

	/* Last, because the callback can be called from now on. */
	ret = trace_array_register_export(relay_tr, &relay_trace_export);
	if (ret)
		relay_remove();

	return ret;
}
module_init(relay_init);

/* No callback runs after the first call, and only then the rest can go. */
static void __exit relay_exit(void)
{
	trace_array_unregister_export(relay_tr, &relay_trace_export);
	relay_remove();
}
module_exit(relay_exit);

MODULE_DESCRIPTION("Relays the records of a trace instance to user space");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/*
 * Torture of instances in kernel code and of their snapshots: threads on all
 * CPUs and interrupts take snapshots of an instance and make records in it,
 * others read it, set it up in other ways, and create and destroy instances of
 * the same two names. The scenario snapshot-torture adds loops of user space on the
 * same instance.
 *
 * It finds return values that a function does not document, texts that differ from
 * the records, and instances that can't be destroyed. KASAN, lockdep and the like
 * find the rest.
 *
 * It goes on until it is unloaded. debugfs has the sums in
 * snapshot_torture/status.
 */

#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/trace.h>
#include <linux/trace_events.h>
#include <linux/trace_instance.h>

#include "torture.h"

#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#define INSTANCE	"torture_snapshot"

static struct trace_array *tortured;
static struct dentry *dir;

static atomic_t cycles;
static atomic_t refused;
static atomic_t texts;
static atomic_t settings;
static atomic_t created;

/* Snapshots and records */

static void take(void)
{
	int ret = trace_array_snapshot(tortured);

	switch (ret) {
	case 0:
		atomic_inc(&cycles);
		break;
	case -EAGAIN:
	case -EBUSY:
	case -ENODEV:
		/* So user space has it at the moment. */
		atomic_inc(&refused);
		break;
	default:
		expect(false, "snapshot: %pe", ERR_PTR(ret));
	}
}

static void take_in_irq(struct irq_work *work)
{
	trace_array_printk(tortured, _THIS_IP_, "torture in an interrupt\n");
	take();
}

static int take_thread(void *unused)
{
	struct irq_work work = IRQ_WORK_INIT_HARD(take_in_irq);
	unsigned int n = 0;
	ktime_t start;

	while (!kthread_should_stop()) {
		start = ktime_get();
		for (int i = 0; i < 20; i++)
			trace_array_printk(tortured, _THIS_IP_,
					   "torture %u\n", n++);
		if (n % 3)
			take();
		else
			irq_work_queue(&work);
		if (!get_random_u32_below(8))
			trace_array_set_tracing(tortured, false);
		trace_array_set_tracing(tortured, true);
		rest(start, get_random_u32_below(2000));
	}
	irq_work_sync(&work);

	return 0;
}

/* Texts */

static void read_once(unsigned int flags)
{
	char *buf __free(kfree) = kmalloc(PAGE_SIZE, GFP_KERNEL);
	struct trace_array_reader *reader;
	size_t done = 0;
	ssize_t n = 0;

	if (!buf)
		return;

	reader = trace_array_reader_open(tortured, flags);
	if (IS_ERR(reader)) {
		expect(PTR_ERR(reader) == -ENOMEM, "reader: %pe", reader);
		return;
	}

	while (done < 32 * PAGE_SIZE) {
		n = trace_array_reader_read(reader, buf, PAGE_SIZE - 1);
		if (n <= 0)
			break;
		expect(memchr(buf, 0, n) == NULL, "a text with a 0 in it");
		done += n;
	}
	expect(n >= 0 || n == -EBUSY, "read: %pe", ERR_PTR(n));
	trace_array_reader_close(reader);
	atomic_inc(&texts);
}

static int read_thread(void *unused)
{
	ktime_t start;

	while (!kthread_should_stop()) {
		start = ktime_get();
		read_once(get_random_u32_below(2) ? TRACE_ARRAY_READ_SNAPSHOT : 0);
		rest(start, 20000);
	}

	return 0;
}

/* Settings */

/* Is there a reference of ours? Only set_thread() gives it up. */
static bool allocated;

static int set_one(void)
{
	bool on = get_random_u32_below(2);
	int ret;

	switch (get_random_u32_below(5)) {
	case 0:
		return trace_array_set_clr_event(tortured, "sched",
						 "sched_waking", on);
	case 1:
		return trace_array_set_event_filter(tortured, "sched",
						    "sched_switch",
						    on ? "prev_pid > 10" : "0");
	case 2:
		return trace_array_set_buffer_size(tortured, on ? 65536 : 262144);
	case 3:
		trace_array_snapshot_free(tortured);
		/* The others are to go on. */
		ret = trace_array_snapshot_alloc(tortured);
		allocated = !ret;
		return ret;
	default:
		return trace_array_clear(tortured);
	}
}

static int set_thread(void *unused)
{
	ktime_t start;
	int ret;

	while (!kthread_should_stop()) {
		start = ktime_get();
		if (!allocated) {
			ret = trace_array_snapshot_alloc(tortured);
			allocated = !ret;
		} else {
			ret = set_one();
		}
		expect(!ret || ret == -EBUSY, "setting: %pe", ERR_PTR(ret));
		atomic_inc(&settings);
		rest(start, 20000);
	}

	return 0;
}

/* Instances */

static void churn(void)
{
	const char *name = get_random_u32_below(2) ? "torture_one" : "torture_two";
	struct trace_array *tr;
	int ret;

	tr = trace_array_create(name);
	if (IS_ERR(tr)) {
		expect(PTR_ERR(tr) == -EEXIST, "create: %pe", tr);
		tr = trace_array_get_by_name(name, NULL);
		/* It is being removed. */
		if (!tr)
			return;
	}

	trace_array_set_clr_event(tr, "sched", "sched_switch", true);
	ret = trace_array_snapshot_alloc(tr);
	expect(!ret || ret == -EBUSY, "alloc: %pe", ERR_PTR(ret));
	if (!ret) {
		trace_array_snapshot(tr);
		trace_array_snapshot_free(tr);
	}

	ret = trace_array_put_and_destroy(tr);
	expect(!ret || ret == -EBUSY, "destroy: %pe", ERR_PTR(ret));
	if (ret)
		trace_array_put(tr);
	atomic_inc(&created);
}

static int churn_thread(void *unused)
{
	ktime_t start;

	while (!kthread_should_stop()) {
		start = ktime_get();
		churn();
		rest(start, 50000);
	}

	return 0;
}

/* debugfs */

static int status_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "cycles %d\n", atomic_read(&cycles));
	seq_printf(m, "refused %d\n", atomic_read(&refused));
	seq_printf(m, "texts %d\n", atomic_read(&texts));
	seq_printf(m, "settings %d\n", atomic_read(&settings));
	seq_printf(m, "instances %d\n", atomic_read(&created));
	seq_printf(m, "failures %d\n", atomic_read(&failures));

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(status);

/* Init and exit */

/* Makes the instance if there is none, which does no harm. */
static void destroy(const char *name)
{
	struct trace_array *tr = trace_array_get_by_name(name, NULL);
	int ret, tries = 0;

	if (!tr) {
		pr_err("failure: no %s\n", name);
		return;
	}

	/* A reader of its files holds it, too, for a moment. */
	do {
		ret = trace_array_put_and_destroy(tr);
		if (ret == -EBUSY)
			msleep(20);
	} while (ret == -EBUSY && ++tries < 500);
	if (ret) {
		pr_err("failure: %s stays: %pe\n", name, ERR_PTR(ret));
		trace_array_put(tr);
	}
}

static void stop_all(void)
{
	debugfs_remove(dir);
	stop_workers();
	if (allocated)
		trace_array_snapshot_free(tortured);
	trace_array_put(tortured);
	destroy(INSTANCE);
	destroy("torture_one");
	destroy("torture_two");
}

static int start_all(void)
{
	int first, ret, cpu;

	guard(cpus_read_lock)();

	first = cpumask_first(cpu_online_mask);
	ret = start(set_thread, first, "torture_set/%u");
	for_each_online_cpu(cpu) {
		if (!ret)
			ret = start(churn_thread, cpu, "torture_churn/%u");
		if (!ret)
			ret = start(take_thread, cpu, "torture_take/%u");
		if (!ret)
			ret = start(read_thread, cpu, "torture_read/%u");
	}

	return ret;
}

static int __init snapshot_torture_init(void)
{
	int ret;

	workers = kzalloc_objs(*workers, 3 * nr_cpu_ids + 1);
	if (!workers)
		return -ENOMEM;

	tortured = trace_array_get_by_name(INSTANCE, NULL);
	if (!tortured) {
		kfree(workers);
		return -ENOMEM;
	}

	ret = trace_array_init_printk(tortured);
	if (!ret)
		ret = trace_array_set_buffer_size(tortured, 65536);
	if (!ret) {
		ret = trace_array_snapshot_alloc(tortured);
		allocated = !ret;
	}
	if (!ret)
		ret = start_all();
	if (ret) {
		stop_all();
		return ret;
	}

	dir = debugfs_create_dir("snapshot_torture", NULL);
	debugfs_create_file("status", 0444, dir, NULL, &status_fops);

	return 0;
}

static void __exit snapshot_torture_exit(void)
{
	stop_all();
}

module_init(snapshot_torture_init);
module_exit(snapshot_torture_exit);
MODULE_DESCRIPTION("Torture of trace instances and their snapshots");
MODULE_LICENSE("GPL");

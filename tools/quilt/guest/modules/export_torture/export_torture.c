// SPDX-License-Identifier: GPL-2.0
/*
 * Torture of trace exports: threads on all CPUs register, unregister, poison
 * and free exports of all kinds, for all trace arrays and for single ones,
 * while others make records and create and destroy instances. The scenario
 * export-torture adds loops of user space.
 *
 * It finds
 * - a callback that runs after unregister returned: it finds its export
 *   poisoned ("late"), and unregister finds it still inside; with KASAN a use
 *   after free;
 * - a record of another trace array, of a type that was not asked for, or with
 *   the wrong CPU;
 * - a wrong return value of register, unregister and destroy.
 *
 * It goes on until it is unloaded. debugfs has the sums in
 * export_torture/status.
 */

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/poison.h>
#include <linux/random.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/trace.h>
#include <linux/trace_events.h>

#include "torture.h"

#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

static unsigned int threads = 8;
module_param(threads, uint, 0444);
MODULE_PARM_DESC(threads, "threads on each CPU that register exports");

static bool early;
module_param(early, bool, 0444);
MODULE_PARM_DESC(early, "poison before unregister, to see that it is noticed");

static bool loud;
module_param(loud, bool, 0444);
MODULE_PARM_DESC(loud, "each callback makes a record of its own, not one in four");

#define ALL_TYPES	(TRACE_EXPORT_FUNCTION | TRACE_EXPORT_EVENT |	\
			 TRACE_EXPORT_MARKER | TRACE_EXPORT_PRINTK |	\
			 TRACE_EXPORT_RAW_MARKER | TRACE_EXPORT_GRAPH |	\
			 TRACE_EXPORT_STACK | TRACE_EXPORT_TRACER)

#define SINK_ALIVE	0x600df00d
#define SINK_DEAD	0xdeadbeef

struct sink {
	struct trace_export	export;
	u32			magic;
	int			types;
	/* NULL: any trace array */
	struct trace_array	*tr;
	/* Or this one, while registered for two. */
	struct trace_array	*tr2;
	atomic_t		inside;
	bool			noisy;
	char			name[16];
};

#define NR_INSTANCES	2

static struct trace_array *instances[NR_INSTANCES];
static struct dentry *dir;

static atomic_t cycles;
static atomic_t destroyed;
static atomic_t late;
static atomic_long_t records;

/* The callbacks: no printing here, they may run under any lock. */

static bool notrace sink_enter(struct sink *sink)
{
	if (READ_ONCE(sink->magic) != SINK_ALIVE) {
		atomic_inc(&late);
		return false;
	}
	atomic_inc(&sink->inside);
	atomic_long_inc(&records);

	/* It is counted as missed, and reaches no export. */
	if (sink->noisy)
		trace_array_printk(instances[0], _THIS_IP_, "from a callback\n");

	return true;
}

static void notrace sink_leave(struct sink *sink)
{
	atomic_dec(&sink->inside);
}

static void notrace sink_write(struct trace_export *export, const void *buf,
			       unsigned int len)
{
	struct sink *sink = container_of(export, struct sink, export);

	if (!sink_enter(sink))
		return;
	if (len < sizeof(struct trace_entry))
		atomic_inc(&failures);
	sink_leave(sink);
}

static void notrace sink_write_record(struct trace_export *export,
				      const struct trace_export_record *record)
{
	struct sink *sink = container_of(export, struct sink, export);

	if (!sink_enter(sink))
		return;
	if (!(record->type & sink->types) || !is_power_of_2(record->type) ||
	    record->cpu != raw_smp_processor_id() ||
	    record->len < sizeof(struct trace_entry) || !record->ts ||
	    (sink->tr && record->tr != sink->tr && record->tr != sink->tr2))
		atomic_inc(&failures);
	sink_leave(sink);
}

static struct sink *sink_alloc(struct trace_array *tr, int types)
{
	struct sink *sink = kzalloc_obj(*sink);

	if (!sink)
		return NULL;

	snprintf(sink->name, sizeof(sink->name), "torture %x", types);
	sink->magic = SINK_ALIVE;
	sink->types = types;
	sink->tr = tr;
	sink->noisy = loud || !get_random_u32_below(4);
	sink->export.name = get_random_u32_below(2) ? sink->name : NULL;
	sink->export.flags = types;
	if (get_random_u32_below(2))
		sink->export.write = sink_write;
	else
		sink->export.write_record = sink_write_record;

	return sink;
}

static void sink_poison(struct sink *sink)
{
	WRITE_ONCE(sink->magic, SINK_DEAD);
	memset(&sink->export, POISON_FREE, sizeof(sink->export));
}

static int sink_register(struct sink *sink, struct trace_array *tr)
{
	return tr ? trace_array_register_export(tr, &sink->export) :
		    register_ftrace_export(&sink->export);
}

static int sink_unregister(struct sink *sink, struct trace_array *tr)
{
	return tr ? trace_array_unregister_export(tr, &sink->export) :
		    unregister_ftrace_export(&sink->export);
}

/* Calls of a registered caller, right and wrong ones */
static void sink_abuse(struct sink *sink, struct trace_array *tr)
{
	int ret;

	switch (get_random_u32_below(6)) {
	case 0:
		ret = sink_register(sink, tr);
		expect(ret == -EEXIST, "registered twice: %pe", ERR_PTR(ret));
		break;
	case 1:
		ret = sink_register(sink, tr ? NULL : instances[0]);
		expect(ret == -EEXIST, "registered here and for all: %pe",
		       ERR_PTR(ret));
		break;
	case 2:
		/* Only the registration reads these. */
		sink->export.flags = get_random_u32();
		sink->export.write = NULL;
		sink->export.write_record = NULL;
		break;
	case 3:
		fsleep(get_random_u32_below(2000));
		break;
	}
	for (int i = 0; i < NR_INSTANCES; i++)
		trace_array_printk(instances[i], _THIS_IP_, "cycle %d\n", i);
}

static void cycle(void)
{
	struct trace_array *tr = NULL, *tr2 = NULL;
	unsigned int n = get_random_u32_below(2 * NR_INSTANCES + 1);
	struct sink *sink;
	int ret;

	if (n < 2 * NR_INSTANCES) {
		tr = instances[n % NR_INSTANCES];
		if (n >= NR_INSTANCES)
			tr2 = instances[(n + 1) % NR_INSTANCES];
	}

	sink = sink_alloc(tr, get_random_u32_inclusive(1, ALL_TYPES));
	if (!sink) {
		expect(false, "no memory");
		return;
	}
	sink->tr2 = tr2;

	ret = sink_register(sink, tr);
	expect(!ret, "register: %pe", ERR_PTR(ret));
	if (tr2) {
		ret = sink_register(sink, tr2);
		expect(!ret, "register for a second one: %pe", ERR_PTR(ret));
	}

	sink_abuse(sink, tr);
	if (early)
		sink_poison(sink);

	if (tr2) {
		ret = sink_unregister(sink, tr2);
		expect(!ret, "unregister for a second one: %pe", ERR_PTR(ret));
	}
	ret = sink_unregister(sink, tr);
	expect(!ret, "unregister: %pe", ERR_PTR(ret));
	expect(!atomic_read(&sink->inside), "a callback runs after unregister");

	sink_poison(sink);
	ret = sink_unregister(sink, tr);
	expect(ret == -ENOENT, "unregistered twice: %pe", ERR_PTR(ret));
	kfree(sink);
}

/* Threads */

static int register_thread(void *unused)
{
	while (!kthread_should_stop()) {
		cycle();
		atomic_inc(&cycles);
	}

	return 0;
}

static void irq_record(struct irq_work *work)
{
	trace_array_printk(instances[0], _THIS_IP_, "from an interrupt\n");
	trace_array_puts(instances[1], "from an interrupt\n");
}

/* One on each CPU makes records, in the thread and in interrupts. */
static int record_thread(void *unused)
{
	struct irq_work work = IRQ_WORK_INIT_HARD(irq_record);
	unsigned int n = 0;
	ktime_t start;

	while (!kthread_should_stop()) {
		start = ktime_get();
		for (int i = 0; i < NR_INSTANCES; i++) {
			irq_work_queue(&work);
			trace_array_printk(instances[i], _THIS_IP_,
					   "record %u\n", n++);
			trace_array_puts(instances[i], "and another one\n");
		}
		rest(start, 500);
	}
	irq_work_sync(&work);

	return 0;
}

/* A reader of its files holds it, too, for a moment. */
static void destroy_instance(struct trace_array *tr)
{
	int ret, tries = 0;

	do {
		ret = trace_array_put_and_destroy(tr);
		if (ret == -EBUSY)
			msleep(20);
	} while (ret == -EBUSY && ++tries < 500);
	expect(!ret, "destroy: %pe", ERR_PTR(ret));
	if (ret)
		trace_array_put(tr);
}

static void churn(void)
{
	struct trace_array *tr = trace_array_get_by_name("torture_churn", NULL);
	struct sink *sink = sink_alloc(tr, ALL_TYPES);
	int ret;

	if (!tr || !sink) {
		expect(false, "no instance, or no memory");
		kfree(sink);
		trace_array_put(tr);
		return;
	}

	ret = sink_register(sink, tr);
	expect(!ret, "register for a new instance: %pe", ERR_PTR(ret));
	trace_array_set_clr_event(tr, "sched", "sched_switch", true);

	/* The registration holds it. */
	trace_array_printk(tr, _THIS_IP_, "with an export\n");
	ret = trace_array_put_and_destroy(tr);
	expect(ret == -EBUSY, "destroyed with an export: %pe", ERR_PTR(ret));

	ret = sink_unregister(sink, tr);
	expect(!ret, "unregister from an instance: %pe", ERR_PTR(ret));
	expect(!atomic_read(&sink->inside), "a callback runs after unregister");
	destroy_instance(tr);
	sink_poison(sink);
	kfree(sink);
	atomic_inc(&destroyed);
}

static int churn_thread(void *unused)
{
	ktime_t start;

	while (!kthread_should_stop()) {
		start = ktime_get();
		churn();
		rest(start, 20000);
	}

	return 0;
}

/* debugfs */

static int status_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "cycles %d\n", atomic_read(&cycles));
	seq_printf(m, "instances %d\n", atomic_read(&destroyed));
	seq_printf(m, "records %ld\n", atomic_long_read(&records));
	seq_printf(m, "late %d\n", atomic_read(&late));
	seq_printf(m, "failures %d\n",
		   atomic_read(&failures) + atomic_read(&late));

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(status);

/* Init and exit */

static void stop_all(void)
{
	debugfs_remove(dir);
	stop_workers();
	for (int i = 0; i < NR_INSTANCES; i++) {
		if (!instances[i])
			continue;
		destroy_instance(instances[i]);
	}
}

static int start_all(void)
{
	int cpu, ret;

	guard(cpus_read_lock)();

	ret = start(churn_thread, cpumask_first(cpu_online_mask), "churn/%u");
	for_each_online_cpu(cpu) {
		if (ret)
			return ret;
		ret = start(record_thread, cpu, "records/%u");
		for (unsigned int i = 0; !ret && i < threads; i++)
			ret = start(register_thread, cpu, "exports/%u");
	}

	return ret;
}

static int __init torture_init(void)
{
	int ret = -ENOMEM;

	workers = kcalloc(num_possible_cpus() * (threads + 1) + 1,
			  sizeof(*workers), GFP_KERNEL);
	if (!workers)
		return -ENOMEM;

	dir = debugfs_create_dir("export_torture", NULL);
	debugfs_create_file("status", 0444, dir, NULL, &status_fops);

	for (int i = 0; i < NR_INSTANCES; i++) {
		instances[i] = trace_array_get_by_name(i ? "torture_1" :
						       "torture_0", NULL);
		if (!instances[i])
			goto fail;
		ret = trace_array_init_printk(instances[i]);
		if (ret)
			goto fail;
	}

	ret = start_all();
	if (ret)
		goto fail;

	return 0;
fail:
	stop_all();
	return ret;
}
module_init(torture_init);

static void __exit torture_exit(void)
{
	stop_all();
}
module_exit(torture_exit);

MODULE_DESCRIPTION("Torture of trace exports");
MODULE_LICENSE("GPL");

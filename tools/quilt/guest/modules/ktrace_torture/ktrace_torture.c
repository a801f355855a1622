// SPDX-License-Identifier: GPL-2.0
/*
 * Torture of ktrace: threads on all CPUs and interrupts pass sites of all
 * kinds, for as long as the module is loaded. The scenario ktrace-torture loads
 * and unloads it while these events are on, filtered, read and so on.
 *
 * Records tell whether they are whole: in torture_seq the second number and the
 * string are made of the first one. Others have arguments that are hard to record:
 * strings that change, that have no end, that are none.
 *
 * ktrace_torture/failures in debugfs counts arguments that were evaluated more often
 * than their site was passed.
 */

#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/ktrace.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "torture.h"

static struct dentry *dir;

/* Written all the time, and never with a 0 at the end. */
static char changing[64];

static void from_irq(struct irq_work *work)
{
	ktrace(torture_irq, "cpu=%d work=%p", raw_smp_processor_id(), work);
	ktrace(torture_shared, "where=%s", "interrupt");
}

static noinline void other_place(void)
{
	ktrace(torture_shared, "where=%s", "thread");
}

static void pass_all(u64 n)
{
	const char *no_string = (n & 1) ? NULL : ERR_PTR(-ENOENT);
	u8 mac[6] = { 2, n, n, n, n, n };
	unsigned int evaluated = 0;
	char name[24];

	snprintf(name, sizeof(name), "n%llu", n);
	ktrace(torture_seq, "seq=%llu twice=%llu name=%s", n, 2 * n, name);

	memset(changing, 'a' + n % 26, sizeof(changing));
	ktrace(torture_strings, "changing=%.64s none=%s len=%.*s", changing,
	       no_string, (int)(n % 8), name);
	ktrace(torture_bytes, "mac=%pM dump=%*ph id=%pU", mac, (int)(n % 9),
	       changing, changing);
	ktrace(torture_many, "a=%d b=%u c=%ld d=%c e=%d f=%d g=%u h=%llx i=%d",
	       (int)n, (u32)n, (long)n, (char)('a' + n % 26), !!(n & 1),
	       (short)n, (u8)n, n, ++evaluated);
	if (evaluated > 1)
		atomic_inc(&failures);
	ktrace(torture_none, "nothing");
	other_place();
}

static int pass_thread(void *unused)
{
	struct irq_work work = IRQ_WORK_INIT_HARD(from_irq);
	u64 n = 0;

	while (!kthread_should_stop()) {
		irq_work_queue(&work);
		for (int i = 0; i < 10; i++)
			pass_all(n++);
		fsleep(500);
	}
	irq_work_sync(&work);

	return 0;
}

static void stop_all(void)
{
	debugfs_remove(dir);
	stop_workers();
}

static int start_all(void)
{
	int cpu, ret = 0;

	guard(cpus_read_lock)();

	for_each_online_cpu(cpu) {
		if (!ret)
			ret = start(pass_thread, cpu, "ktrace/%u");
	}

	return ret;
}

static int __init torture_init(void)
{
	int ret;

	workers = kcalloc(num_possible_cpus(), sizeof(*workers), GFP_KERNEL);
	if (!workers)
		return -ENOMEM;

	dir = debugfs_create_dir("ktrace_torture", NULL);
	debugfs_create_atomic_t("failures", 0444, dir, &failures);
	ktrace(torture_init, "cpus=%u", num_online_cpus());

	ret = start_all();
	if (ret)
		stop_all();

	return ret;
}
module_init(torture_init);

static void __exit torture_exit(void)
{
	stop_all();
	ktrace(torture_exit, "failures=%d", atomic_read(&failures));
}
module_exit(torture_exit);

MODULE_DESCRIPTION("Torture of ktrace");
MODULE_LICENSE("GPL");

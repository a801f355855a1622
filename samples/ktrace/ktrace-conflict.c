// SPDX-License-Identifier: GPL-2.0
/*
 * Two modules that disagree about an event.
 *
 * This module has its events in the system of ktrace-sample, which has an event
 * sample_tick with another format. The module that is loaded later gets its
 * name behind that of the event, as the kernel's log says. All lines of both
 * modules record.
 */

#define KTRACE_SYSTEM ktrace_sample

#include <linux/jiffies.h>
#include <linux/ktrace.h>
#include <linux/module.h>
#include <linux/workqueue.h>

static void conflict_tick(struct work_struct *work);
static DECLARE_DELAYED_WORK(conflict_work, conflict_tick);

static void conflict_tick(struct work_struct *work)
{
	static int count;

	ktrace(sample_tick, "another=%d", ++count);
	ktrace(conflict_tick, "count=%d", count);
	schedule_delayed_work(&conflict_work, HZ / 10);
}

static int __init conflict_init(void)
{
	schedule_delayed_work(&conflict_work, HZ / 10);

	return 0;
}
module_init(conflict_init);

static void __exit conflict_exit(void)
{
	cancel_delayed_work_sync(&conflict_work);
}
module_exit(conflict_exit);

MODULE_DESCRIPTION("A ktrace event in conflict with that of ktrace-sample");
MODULE_LICENSE("GPL");

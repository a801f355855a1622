/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the modules NAME_torture. */
#ifndef _QUILT_TORTURE_H
#define _QUILT_TORTURE_H

#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/sched.h>

/*
 * Leaves the CPU and event_mutex to others, however slow this kernel is. Ends when
 * the thread is to stop.
 */
static inline void rest(ktime_t start, unsigned int us)
{
	s64 spent = ktime_us_delta(ktime_get(), start);

	spent = min(us + 4 * spent, (s64)(10 * USEC_PER_SEC));
	if (spent < 20 * USEC_PER_MSEC) {
		fsleep(spent);
		return;
	}

	set_current_state(TASK_INTERRUPTIBLE);
	if (!kthread_should_stop())
		schedule_timeout(usecs_to_jiffies(spent));
	__set_current_state(TASK_RUNNING);
}

#endif

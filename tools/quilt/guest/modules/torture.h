/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the modules NAME_torture. */
#ifndef _QUILT_TORTURE_H
#define _QUILT_TORTURE_H

#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/slab.h>

static struct task_struct **workers;
static unsigned int nr_workers;
static atomic_t failures;

#define expect(ok, fmt, ...)						\
do {									\
	if (!(ok)) {							\
		atomic_inc(&failures);					\
		pr_err_ratelimited("failure: " fmt "\n", ##__VA_ARGS__);	\
	}								\
} while (0)

/* One more worker; the module has allocated the array. */
static inline int start(int (*fn)(void *unused), int cpu, const char *what)
{
	struct task_struct *task;

	task = kthread_create_on_cpu(fn, NULL, cpu, what);
	if (IS_ERR(task))
		return PTR_ERR(task);
	workers[nr_workers++] = task;
	wake_up_process(task);

	return 0;
}

static inline void stop_workers(void)
{
	while (nr_workers)
		kthread_stop(workers[--nr_workers]);
	kfree(workers);
}

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

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers of the KUnit suites of tracing: a trace instance that only the test
 * uses, the files of tracefs, threads, and allocations that fail.
 *
 * The init function of a suite calls trace_kunit_init(). Everything is undone
 * at the end of the test, also after a failed assertion.
 */
#ifndef _TRACE_KUNIT_H
#define _TRACE_KUNIT_H

#include <kunit/test.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/trace.h>

#include "../trace.h"

/* Far longer than any wait of a test that makes progress */
#define TRACE_KUNIT_TIMEOUT	(60 * HZ)

/**
 * struct trace_kunit - the environment of a test
 * @mnt:	a mount of tracefs
 * @tr:		the instance, if there is one
 * @user:	a page of user memory
 * @text:	what was read last from a file
 *
 * test->priv points to this, or to a structure that begins with it.
 */
struct trace_kunit {
	struct vfsmount		*mnt;
	struct trace_array	*tr;
	char __user		*user;
	char			text[SZ_4K];
};

void trace_kunit_init(struct kunit *test, struct trace_kunit *env,
		      const char *instance);

struct trace_array *trace_kunit_find(const char *instance);
int trace_kunit_mkdir(struct kunit *test, const char *instance);
int trace_kunit_rmdir(struct kunit *test, const char *instance);

struct file *trace_kunit_open(struct kunit *test, const char *instance,
			      const char *name, int flags);
ssize_t trace_kunit_read(struct kunit *test, struct file *file);
int trace_kunit_write(struct kunit *test, const char *name, const char *text);

void trace_kunit_two_cpus(struct kunit *test, int cpu[2]);
struct task_struct *trace_kunit_thread(struct kunit *test,
				       int (*fn)(void *data), void *data,
				       int cpu);
void trace_kunit_stop(struct kunit *test, struct task_struct *task);
const bool *trace_kunit_watch_free(struct kunit *test, const void *ptr);

#if defined(CONFIG_FAILSLAB) && defined(CONFIG_FAULT_INJECTION_DEBUG_FS)
void trace_kunit_failslab(struct kunit *test);

/* The allocation @nth from now on fails, if the task makes as many. */
static inline void trace_kunit_fail(unsigned int nth)
{
	current->fail_nth = nth;
}

/* How many allocations are left until the one that fails */
static inline unsigned int trace_kunit_fail_stop(void)
{
	unsigned int left = current->fail_nth;

	current->fail_nth = 0;

	return left;
}
#else
static inline void trace_kunit_failslab(struct kunit *test)
{
	kunit_skip(test, "needs CONFIG_FAILSLAB and FAULT_INJECTION_DEBUG_FS");
}

static inline void trace_kunit_fail(unsigned int nth)
{
}

static inline unsigned int trace_kunit_fail_stop(void)
{
	return 0;
}
#endif

void trace_kunit_without_memory(struct kunit *test,
				int (*call)(struct kunit *test),
				void (*check)(struct kunit *test, int ret));

#endif /* _TRACE_KUNIT_H */

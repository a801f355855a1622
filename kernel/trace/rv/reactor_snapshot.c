// SPDX-License-Identifier: GPL-2.0
/*
 * Snapshot RV reactor:
 *   Takes a snapshot of a trace instance when an exception is found.
 *
 * The instance, and how many snapshots to take, are parameters:
 *
 *   # echo rv > /sys/module/reactor_snapshot/parameters/instance
 *   # echo 1 > /sys/kernel/tracing/instances/rv/events/sched/enable
 *   # echo snapshot > /sys/kernel/tracing/rv/monitors/wwnr/reactors
 *   # cat /sys/kernel/tracing/instances/rv/snapshot
 */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/init.h>
#include <linux/kstrtox.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/rv.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/trace_instance.h>

#include "../trace.h"

#define RV_SNAPSHOT_NAME_LEN	64

/* Protects the following, and rv_snapshot_tr and the limit while they are set. */
static DEFINE_MUTEX(rv_snapshot_mutex);
static char rv_snapshot_name[RV_SNAPSHOT_NAME_LEN];
static bool rv_snapshot_ready;

static struct trace_array __rcu *rv_snapshot_tr;

/* Held while a snapshot is taken. Monitors, in any context, only try. */
static DEFINE_RAW_SPINLOCK(rv_snapshot_lock);
/* How many snapshots to take from now on; -1 for any number */
static int rv_snapshot_limit = 1;

/*
 * The first exception is the one that matters. The limit keeps its snapshot
 * from being replaced by those of the exceptions that follow from it.
 */
static void rv_snapshot_take(struct trace_array *tr)
{
	/* Another CPU takes a snapshot now, or the code interrupted here does. */
	scoped_cond_guard(raw_spinlock_irqsave_try, return, &rv_snapshot_lock) {
		int limit = READ_ONCE(rv_snapshot_limit);

		if (!limit || trace_array_snapshot(tr))
			return;
		/* Another limit that was set meanwhile stays as it is. */
		if (limit > 0)
			cmpxchg(&rv_snapshot_limit, limit, limit - 1);
	}
}

__printf(1, 0) static void rv_snapshot_reaction(const char *msg, va_list args)
{
	struct trace_array *tr;

	guard(rcu)();

	tr = rcu_dereference(rv_snapshot_tr);
	if (!tr)
		return;

	trace_array_vprintk(tr, _RET_IP_, msg, args);
	rv_snapshot_take(tr);
}

static struct rv_reactor rv_snapshot = {
	.name = "snapshot",
	.description = "take a snapshot of a trace instance if an exception is found.",
	.react = rv_snapshot_reaction
};

/* Creates the instance, unless there is one of that name. */
static struct trace_array *rv_snapshot_get(const char *name)
{
	struct trace_array *tr;
	bool created;
	int ret;

	tr = trace_array_get_or_create(name, &created);
	if (IS_ERR(tr))
		return tr;

	ret = trace_array_init_printk(tr) ?: trace_array_snapshot_alloc(tr);
	if (!ret)
		return tr;

	/* If somebody uses the new instance by now, it stays. */
	if (!created || trace_array_put_and_destroy(tr))
		trace_array_put(tr);

	return ERR_PTR(ret);
}

/* @name is empty for no instance. */
static int rv_snapshot_set_instance(const char *name)
{
	struct trace_array *tr = NULL;
	struct trace_array *old;

	lockdep_assert_held(&rv_snapshot_mutex);

	if (*name) {
		tr = rv_snapshot_get(name);
		if (IS_ERR(tr))
			return PTR_ERR(tr);
	}

	old = rcu_replace_pointer(rv_snapshot_tr, tr,
				  lockdep_is_held(&rv_snapshot_mutex));
	if (old) {
		synchronize_rcu();
		trace_array_snapshot_free(old);
		/* It stays, so that it can be read. */
		trace_array_put(old);
	}

	return 0;
}

static int rv_snapshot_instance_set(const char *val,
				    const struct kernel_param *kp)
{
	char name[RV_SNAPSHOT_NAME_LEN];
	int ret = 0;

	if (strscpy(name, val) < 0)
		return -ENAMETOOLONG;

	guard(mutex)(&rv_snapshot_mutex);

	/* Parameters of the command line come before there are instances. */
	if (rv_snapshot_ready)
		ret = rv_snapshot_set_instance(strim(name));
	if (!ret)
		strscpy(rv_snapshot_name, strim(name));

	return ret;
}

static int rv_snapshot_instance_get(char *buffer, const struct kernel_param *kp)
{
	guard(mutex)(&rv_snapshot_mutex);

	return sysfs_emit(buffer, "%s\n", rv_snapshot_name);
}

static const struct kernel_param_ops rv_snapshot_instance_ops = {
	.set = rv_snapshot_instance_set,
	.get = rv_snapshot_instance_get,
};

module_param_cb(instance, &rv_snapshot_instance_ops, NULL, 0644);
MODULE_PARM_DESC(instance, "trace instance to take snapshots of, created if need be; empty for none");

static int rv_snapshot_limit_set(const char *val, const struct kernel_param *kp)
{
	int limit;
	int ret;

	ret = kstrtoint(val, 0, &limit);
	if (ret)
		return ret;

	if (limit < -1)
		return -EINVAL;

	guard(mutex)(&rv_snapshot_mutex);

	/* A reaction that has begun counts down the old limit, not this one. */
	if (rv_snapshot_ready)
		synchronize_rcu();
	WRITE_ONCE(rv_snapshot_limit, limit);
	/* No snapshot of the old limit replaces one that is read from now on. */
	if (rv_snapshot_ready)
		synchronize_rcu();

	return 0;
}

static int rv_snapshot_limit_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d\n", READ_ONCE(rv_snapshot_limit));
}

static const struct kernel_param_ops rv_snapshot_limit_ops = {
	.set = rv_snapshot_limit_set,
	.get = rv_snapshot_limit_get,
};

module_param_cb(limit, &rv_snapshot_limit_ops, NULL, 0644);
MODULE_PARM_DESC(limit, "how many snapshots to take from now on, -1 for any number (default 1)");

static int __init register_react_snapshot(void)
{
	int ret;

	ret = rv_register_reactor(&rv_snapshot);
	if (ret)
		return ret;

	guard(mutex)(&rv_snapshot_mutex);

	rv_snapshot_ready = true;
	if (rv_snapshot_set_instance(rv_snapshot_name)) {
		pr_warn("rv: no snapshots of instance %s\n", rv_snapshot_name);
		rv_snapshot_name[0] = '\0';
	}

	return 0;
}
device_initcall(register_react_snapshot);

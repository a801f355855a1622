// SPDX-License-Identifier: GPL-2.0
/*
 * Snapshot RV reactor:
 *   Keeps what a trace instance has recorded up to the exception.
 *
 * Which instance, and how often, are parameters:
 *
 *   # echo rv > /sys/module/reactor_snapshot/parameters/instance
 *   # echo 1 > /sys/kernel/tracing/instances/rv/events/sched/enable
 *   # echo snapshot > /sys/kernel/tracing/rv/monitors/wwnr/reactors
 *   # cat /sys/kernel/tracing/instances/rv/snapshot
 */
#include <linux/atomic.h>
#include <linux/init.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/rv.h>
#include <linux/string.h>
#include <linux/trace.h>

#define RV_SNAPSHOT_NAME_LEN	64

static DEFINE_MUTEX(rv_snapshot_mutex);
static char rv_snapshot_name[RV_SNAPSHOT_NAME_LEN];
static struct trace_array __rcu *rv_snapshot_tr;
static bool rv_snapshot_ready;

/* What is left of the limit; -1 without one. */
static atomic_t rv_snapshot_left = ATOMIC_INIT(1);

/*
 * The first exception is the one that matters, and those that follow from it
 * must not push it out: that is what the limit is for.
 */
static bool rv_snapshot_take_one(void)
{
	int left = atomic_read(&rv_snapshot_left);

	do {
		if (left <= 0)
			return left < 0;
	} while (!atomic_try_cmpxchg(&rv_snapshot_left, &left, left - 1));

	return true;
}

static void rv_snapshot_give_back(void)
{
	int left = atomic_read(&rv_snapshot_left);

	do {
		if (left < 0)
			return;
	} while (!atomic_try_cmpxchg(&rv_snapshot_left, &left, left + 1));
}

__printf(1, 0) static void rv_snapshot_reaction(const char *msg, va_list args)
{
	struct trace_array *tr;

	guard(rcu)();

	tr = rcu_dereference(rv_snapshot_tr);
	if (!tr)
		return;

	trace_array_vprintk(tr, _RET_IP_, msg, args);

	if (rv_snapshot_take_one() && trace_array_snapshot(tr))
		rv_snapshot_give_back();
}

static struct rv_reactor rv_snapshot = {
	.name = "snapshot",
	.description = "takes a snapshot of a trace instance if an exception is found.",
	.react = rv_snapshot_reaction
};

static int rv_snapshot_prepare(struct trace_array *tr)
{
	int ret;

	ret = trace_array_init_printk(tr);
	if (ret)
		return ret;

	return trace_array_snapshot_alloc(tr);
}

/* What was made for nothing goes, unless somebody uses it by now. */
static void rv_snapshot_undo(struct trace_array *tr, bool created)
{
	if (!created) {
		trace_array_leave(tr);
		return;
	}

	trace_array_put(tr);
	trace_array_destroy(tr);
}

/* @name is empty for none. */
static int rv_snapshot_set_instance(const char *name)
{
	struct trace_array *tr = NULL;
	struct trace_array *old;
	bool created = false;
	int ret;

	lockdep_assert_held(&rv_snapshot_mutex);

	if (*name) {
		tr = trace_array_create(name);
		created = !IS_ERR(tr);
		if (PTR_ERR(tr) == -EEXIST)
			tr = trace_array_get_or_create(name, NULL);
		if (IS_ERR(tr))
			return PTR_ERR(tr);

		ret = rv_snapshot_prepare(tr);
		if (ret) {
			rv_snapshot_undo(tr, created);
			return ret;
		}
	}

	old = rcu_replace_pointer(rv_snapshot_tr, tr,
				  lockdep_is_held(&rv_snapshot_mutex));
	if (old) {
		synchronize_rcu();
		trace_array_snapshot_free(old);
		/* It stays, for whoever wants to read it. */
		trace_array_leave(old);
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

	/* On the kernel's command line it is too early for instances. */
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
MODULE_PARM_DESC(instance, "trace instance to take snapshots of, made if need be; empty for none");

static int rv_snapshot_limit_set(const char *val, const struct kernel_param *kp)
{
	int limit;
	int ret;

	ret = kstrtoint(val, 0, &limit);
	if (ret)
		return ret;

	if (limit < -1)
		return -EINVAL;

	atomic_set(&rv_snapshot_left, limit);

	return 0;
}

static int rv_snapshot_limit_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(&rv_snapshot_left));
}

static const struct kernel_param_ops rv_snapshot_limit_ops = {
	.set = rv_snapshot_limit_set,
	.get = rv_snapshot_limit_get,
};

module_param_cb(limit, &rv_snapshot_limit_ops, NULL, 0644);
MODULE_PARM_DESC(limit, "how many snapshots to take from now on, -1 for any number (default 1)");

static int __init register_react_snapshot(void)
{
	scoped_guard(mutex, &rv_snapshot_mutex) {
		rv_snapshot_ready = true;
		if (rv_snapshot_set_instance(rv_snapshot_name)) {
			pr_warn("rv: no snapshots of instance %s\n",
				rv_snapshot_name);
			rv_snapshot_name[0] = '\0';
		}
	}

	return rv_register_reactor(&rv_snapshot);
}
device_initcall(register_react_snapshot);

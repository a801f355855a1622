// SPDX-License-Identifier: GPL-2.0
/*
 * Helpers of the KUnit suites of tracing, see trace_kunit.h.
 */

#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kthread.h>
#include <linux/mman.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/uaccess.h>
#include <trace/events/kmem.h>

#include "trace_kunit.h"

KUNIT_DEFINE_ACTION_WRAPPER(unmount, kern_unmount, struct vfsmount *);
KUNIT_DEFINE_ACTION_WRAPPER(stop_thread, kthread_stop_put,
			    struct task_struct *);

static struct vfsmount *mount_fs(struct kunit *test, const char *name)
{
	struct vfsmount *mnt = kern_mount(get_fs_type(name));

	KUNIT_ASSERT_FALSE(test, IS_ERR(mnt));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, unmount, mnt), 0);

	return mnt;
}

/*
 * Remove the instance as user space does. This does not depend on the functions
 * that are tested.
 */
static void remove_instance(void *data)
{
	struct kunit *test = data;
	struct trace_kunit *env = test->priv;
	char name[NAME_MAX + 1];

	strscpy(name, env->tr->name);
	trace_array_put(env->tr);
	KUNIT_EXPECT_EQ(test, trace_kunit_rmdir(test, name), 0);
}

/**
 * trace_kunit_init - set up the environment of a test
 * @test:	the test
 * @env:	the environment, which goes to test->priv
 * @instance:	the name of the instance to make, or NULL
 *
 * The test stays on the CPU that it runs on.
 */
void trace_kunit_init(struct kunit *test, struct trace_kunit *env,
		      const char *instance)
{
	unsigned long addr;

	KUNIT_ASSERT_NOT_NULL(test, env);
	test->priv = env;
	KUNIT_ASSERT_EQ(test,
			set_cpus_allowed_ptr(current,
					     cpumask_of(raw_smp_processor_id())),
			0);
	addr = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
			     MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_FALSE(test, !addr || IS_ERR_VALUE(addr));
	env->user = (char __user *)addr;
	env->mnt = mount_fs(test, "tracefs");
	if (!instance)
		return;

	env->tr = trace_array_get_by_name(instance, NULL);
	KUNIT_ASSERT_NOT_NULL(test, env->tr);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, remove_instance,
							test), 0);
}

/* The instance of this name, without a reference, or NULL */
struct trace_array *trace_kunit_find(const char *instance)
{
	guard(mutex)(&trace_types_lock);

	return trace_array_find(instance);
}

static int change_instances(struct kunit *test, const char *instance, bool make)
{
	struct path path __free(path_put) = {};
	struct trace_kunit *env = test->priv;
	struct dentry *dentry;
	int ret;

	ret = vfs_path_lookup(env->mnt->mnt_root, env->mnt, "instances", 0,
			      &path);
	if (ret)
		return ret;

	ret = mnt_want_write(env->mnt);
	if (ret)
		return ret;

	if (make) {
		dentry = start_creating(&nop_mnt_idmap, path.dentry,
					&QSTR(instance));
		if (!IS_ERR(dentry))
			dentry = vfs_mkdir(&nop_mnt_idmap, d_inode(path.dentry),
					   dentry, 0755, NULL);
		ret = PTR_ERR_OR_ZERO(dentry);
		end_creating(dentry);
	} else {
		dentry = start_removing(&nop_mnt_idmap, path.dentry,
					&QSTR(instance));
		ret = PTR_ERR_OR_ZERO(dentry);
		if (!ret)
			ret = vfs_rmdir(&nop_mnt_idmap, d_inode(path.dentry),
					dentry, NULL);
		end_removing(dentry);
	}
	mnt_drop_write(env->mnt);

	return ret;
}

/* mkdir instances/@instance */
int trace_kunit_mkdir(struct kunit *test, const char *instance)
{
	return change_instances(test, instance, true);
}

/* rmdir instances/@instance */
int trace_kunit_rmdir(struct kunit *test, const char *instance)
{
	return change_instances(test, instance, false);
}

/* Close it with __fput_sync(). */
struct file *trace_kunit_open(struct kunit *test, const char *instance,
			      const char *name, int flags)
{
	struct trace_kunit *env = test->priv;
	char path[128];

	snprintf(path, sizeof(path), "instances/%s/%s", instance, name);

	return file_open_root_mnt(env->mnt, path, flags, 0);
}

/* One read() to env->text, as a string */
ssize_t trace_kunit_read(struct kunit *test, struct file *file)
{
	struct trace_kunit *env = test->priv;
	ssize_t ret;

	ret = vfs_read(file, env->user,
		       min(PAGE_SIZE, sizeof(env->text) - 1), &file->f_pos);
	if (ret < 0)
		return ret;
	if (copy_from_user(env->text, env->user, ret))
		return -EFAULT;
	env->text[ret] = '\0';

	return ret;
}

/* Write to a file of the instance of the test. */
int trace_kunit_write(struct kunit *test, const char *name, const char *text)
{
	struct trace_kunit *env = test->priv;
	size_t len = strlen(text);
	struct file *file;
	loff_t pos = 0;
	ssize_t ret;

	file = trace_kunit_open(test, env->tr->name, name, O_WRONLY | O_TRUNC);
	if (IS_ERR(file))
		return PTR_ERR(file);

	ret = copy_to_user(env->user, text, len) ? -EFAULT :
	      vfs_write(file, env->user, len, &pos);
	__fput_sync(file);

	return min(ret, 0);
}

/**
 * trace_kunit_two_cpus - run on one CPU, and have another one
 * @test:	the test, which is skipped if there is only one
 * @cpu:	gets the number of the CPU that the test runs on, and of the other
 */
void trace_kunit_two_cpus(struct kunit *test, int cpu[2])
{
	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");

	cpu[0] = cpumask_first(cpu_online_mask);
	cpu[1] = cpumask_next(cpu[0], cpu_online_mask);
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current,
						   cpumask_of(cpu[0])), 0);
}

/**
 * trace_kunit_thread - make a thread
 * @test:	the test
 * @fn:		what it runs
 * @data:	the argument of @fn; not on the stack, which an assertion leaves
 *		before the thread is stopped
 * @cpu:	the CPU that it runs on, or -1
 *
 * The caller wakes it up. The end of the test stops it, if trace_kunit_stop()
 * has not done that before.
 */
struct task_struct *trace_kunit_thread(struct kunit *test,
				       int (*fn)(void *data), void *data,
				       int cpu)
{
	struct task_struct *task;

	if (cpu < 0)
		task = kthread_create(fn, data, "trace_kunit");
	else
		task = kthread_create_on_cpu(fn, data, cpu, "trace_kunit/%u");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, stop_thread,
							task), 0);

	return task;
}

/* Waits for the end of the thread. */
void trace_kunit_stop(struct kunit *test, struct task_struct *task)
{
	kunit_release_action(test, stop_thread, task);
}

struct watch {
	const void		*ptr;
	bool			freed;
};

static void watch_kfree(void *data, unsigned long ip, const void *ptr)
{
	struct watch *watch = data;

	if (ptr == watch->ptr)
		WRITE_ONCE(watch->freed, true);
}

static void unwatch_kfree(void *watch)
{
	unregister_trace_kfree(watch_kfree, watch);
	tracepoint_synchronize_unregister();
}

/**
 * trace_kunit_watch_free - find out whether memory is freed, or leaks
 * @test:	the test
 * @ptr:	memory that kfree() will free
 *
 * Return: a pointer to what becomes true when @ptr is freed, until the end of
 * the test
 */
const bool *trace_kunit_watch_free(struct kunit *test, const void *ptr)
{
	struct watch *watch = kunit_kzalloc(test, sizeof(*watch), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, watch);
	watch->ptr = ptr;
	KUNIT_ASSERT_EQ(test, register_trace_kfree(watch_kfree, watch), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, unwatch_kfree,
							watch), 0);

	return &watch->freed;
}

#if defined(CONFIG_FAILSLAB) && defined(CONFIG_FAULT_INJECTION_DEBUG_FS)
static const char * const failslab_files[] = {
	"failslab/ignore-gfp-wait", "failslab/verbose",
};

static const char * const failslab_values[] = { "N\n", "0\n" };

struct failslab {
	struct kunit		*test;
	struct vfsmount		*debugfs;
	struct mm_struct	*mm;
	char			saved[ARRAY_SIZE(failslab_files)][16];
};

static int failslab_set(struct failslab *failslab, int nr, const char *value)
{
	struct trace_kunit *env = failslab->test->priv;
	struct file *file;
	loff_t pos = 0;
	ssize_t ret;

	file = file_open_root_mnt(failslab->debugfs, failslab_files[nr], O_RDWR,
				  0);
	if (IS_ERR(file))
		return PTR_ERR(file);

	ret = vfs_read(file, env->user, sizeof(failslab->saved[nr]) - 1, &pos);
	if (ret > 0 && !failslab->saved[nr][0] &&
	    copy_from_user(failslab->saved[nr], env->user, ret))
		ret = -EFAULT;
	pos = 0;
	if (ret > 0)
		ret = copy_to_user(env->user, value, strlen(value)) ? -EFAULT :
		      vfs_write(file, env->user, strlen(value), &pos);
	__fput_sync(file);

	return min(ret, 0);
}

static void failslab_restore(void *data)
{
	struct failslab *failslab = data;
	bool borrow = !current->mm;

	trace_kunit_fail_stop();
	/* KUnit cleans up in a task of its own, without user memory. */
	if (borrow)
		kthread_use_mm(failslab->mm);
	for (int i = 0; i < ARRAY_SIZE(failslab_files); i++) {
		if (failslab->saved[i][0])
			KUNIT_EXPECT_EQ(failslab->test,
					failslab_set(failslab, i,
						     failslab->saved[i]), 0);
	}
	if (borrow)
		kthread_unuse_mm(failslab->mm);
	mmput(failslab->mm);
}

/**
 * trace_kunit_failslab - let trace_kunit_fail() make allocations fail
 * @test:	the test, which is skipped if the kernel can't do that
 *
 * Allocations that can sleep fail as well. Other tasks have no fail_nth set.
 */
void trace_kunit_failslab(struct kunit *test)
{
	struct failslab *failslab = kunit_kzalloc(test, sizeof(*failslab),
						  GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, failslab);
	failslab->test = test;
	failslab->debugfs = mount_fs(test, "debugfs");
	failslab->mm = current->mm;
	mmget(failslab->mm);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, failslab_restore,
							failslab), 0);
	for (int i = 0; i < ARRAY_SIZE(failslab_files); i++)
		KUNIT_ASSERT_EQ(test, failslab_set(failslab, i,
						   failslab_values[i]), 0);
}
#endif

/* Skip most of the pages of a ring buffer, which are all alike. */
static unsigned int next_nth(unsigned int nth, unsigned int total)
{
	return nth > 30 && nth + 200 < total ? nth + 10 : nth + 1;
}

/**
 * trace_kunit_without_memory - let the allocations of a call fail in turn
 * @test:	the test, which is skipped if the kernel can't do that
 * @call:	what is called; it can do without some of its allocations
 * @check:	looks at what the call has left, and takes it back
 */
void trace_kunit_without_memory(struct kunit *test,
				int (*call)(struct kunit *test),
				void (*check)(struct kunit *test, int ret))
{
	unsigned int failed = 0;
	unsigned int total;
	int ret;

	trace_kunit_failslab(test);
	trace_kunit_fail(UINT_MAX);
	ret = call(test);
	total = UINT_MAX - trace_kunit_fail_stop();
	KUNIT_EXPECT_EQ(test, ret, 0);
	check(test, ret);

	for (unsigned int nth = 1; nth <= total; nth = next_nth(nth, total)) {
		/* The ring buffer warns if it can't be allocated. */
		kunit_warning_suppress(test) {
			trace_kunit_fail(nth);
			ret = call(test);
			trace_kunit_fail_stop();
		}
		check(test, ret);
		if (ret)
			failed++;
		/* One fault tells enough. */
		if (test->status == KUNIT_FAILURE) {
			kunit_info(test, "allocation %u of %u, result %d", nth,
				   total, ret);
			break;
		}
	}
	KUNIT_EXPECT_GT(test, failed, 0);
}

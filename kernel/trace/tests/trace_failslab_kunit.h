/* SPDX-License-Identifier: GPL-2.0 */
/* For tests in which allocations fail, one after the other */
#ifndef _TRACE_FAILSLAB_KUNIT_H
#define _TRACE_FAILSLAB_KUNIT_H

#include <kunit/test.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#if defined(CONFIG_FAILSLAB) && defined(CONFIG_FAULT_INJECTION_DEBUG_FS)
static inline int write_failslab(char __user *user, struct vfsmount *mnt,
				 const char *name, const char *text)
{
	struct file *file;
	loff_t pos = 0;
	ssize_t ret;

	file = file_open_root_mnt(mnt, name, O_WRONLY, 0);
	if (IS_ERR(file))
		return PTR_ERR(file);

	ret = copy_to_user(user, text, strlen(text)) ? -EFAULT :
	      vfs_write(file, user, strlen(text), &pos);
	__fput_sync(file);

	return min(ret, 0);
}

/*
 * Nobody else has a fail_nth; it is for GFP_KERNEL, too, from now on. @user is
 * memory of the task for some bytes.
 */
static inline void need_failslab(struct kunit *test, char __user *user)
{
	struct vfsmount *mnt = kern_mount(get_fs_type("debugfs"));
	int ret;

	KUNIT_ASSERT_FALSE(test, IS_ERR(mnt));
	ret = write_failslab(user, mnt, "failslab/ignore-gfp-wait", "N") ?:
	      write_failslab(user, mnt, "failslab/verbose", "0");
	kern_unmount(mnt);
	KUNIT_ASSERT_EQ(test, ret, 0);
}

static inline void set_fail_nth(unsigned int nth)
{
	current->fail_nth = nth;
}

static inline unsigned int get_fail_nth(void)
{
	return current->fail_nth;
}
#else
static inline void need_failslab(struct kunit *test, char __user *user)
{
	kunit_skip(test, "needs CONFIG_FAILSLAB and FAULT_INJECTION_DEBUG_FS");
}

static inline void set_fail_nth(unsigned int nth)
{
}

static inline unsigned int get_fail_nth(void)
{
	return 0;
}
#endif

#endif /* _TRACE_FAILSLAB_KUNIT_H */

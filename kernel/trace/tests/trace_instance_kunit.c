// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for instances in the hands of kernel code, see trace_instance.c.
 *
 * Kernel code and user space share instances by name. What user space does is
 * done here through a mount of tracefs: mkdir, rmdir, open, read and write end
 * in the same functions as the system calls. Nothing but the instances of the
 * suite is touched.
 *
 * What a function does is seen in the file of tracefs that shows it, or in
 * records, which tell who made them (source) and as what number (seq, from 0).
 * After each case the instance must be free of references and of handles.
 */

#include <kunit/test.h>
#include <linux/bitmap.h>
#include <linux/completion.h>
#include <linux/ctype.h>
#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hardirq.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/path.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/trace.h>
#include <linux/uaccess.h>

#include "../trace.h"
#include "trace_failslab_kunit.h"

#define CREATE_TRACE_POINTS
#include "trace_instance_kunit.h"

#define INSTANCE	"trace_instance_kunit"
#define OTHER		"trace_instance_kunit_other"
#define SYSTEM		"trace_instance_kunit"
#define EVENT		"instance_kunit"
#define EVENT_FILE	"events/" SYSTEM "/" EVENT "/"

/* The longest text that is read, and more. */
#define TEXT_SIZE	SZ_512K

/* So many times memory may be given out before one that came back. */
#define OBJECTS		512
/* Somebody else may have been faster. */
#define TRIES		8

static unsigned int cycles = 30;
module_param(cycles, uint, 0444);
MODULE_PARM_DESC(cycles, "cycles of each thread that makes instances");

struct context {
	struct vfsmount		*mnt;
	struct trace_array	*tr;
	/* Where vfs_read() and vfs_write() want their data. */
	char __user		*user;
	/* What the API says, and what user space reads. */
	char			*mine;
	char			*its;
	int			cpu;
};

static int make_instance(struct vfsmount *mnt, const char *name)
{
	struct path path __free(path_put) = {};
	struct dentry *dentry;
	int ret;

	ret = vfs_path_lookup(mnt->mnt_root, mnt, "instances", 0, &path);
	if (ret)
		return ret;

	ret = mnt_want_write(mnt);
	if (ret)
		return ret;

	dentry = start_creating(&nop_mnt_idmap, path.dentry, &QSTR(name));
	if (!IS_ERR(dentry))
		dentry = vfs_mkdir(&nop_mnt_idmap, d_inode(path.dentry), dentry,
				   0755, NULL);
	ret = PTR_ERR_OR_ZERO(dentry);
	end_creating(dentry);
	mnt_drop_write(mnt);

	return ret;
}

static int remove_instance(struct vfsmount *mnt, const char *name)
{
	struct path path __free(path_put) = {};
	struct dentry *dentry;
	int ret;

	ret = vfs_path_lookup(mnt->mnt_root, mnt, "instances", 0, &path);
	if (ret)
		return ret;

	ret = mnt_want_write(mnt);
	if (ret)
		return ret;

	dentry = start_removing(&nop_mnt_idmap, path.dentry, &QSTR(name));
	ret = PTR_ERR_OR_ZERO(dentry);
	if (!ret)
		ret = vfs_rmdir(&nop_mnt_idmap, d_inode(path.dentry), dentry,
				NULL);
	end_removing(dentry);
	mnt_drop_write(mnt);

	return ret;
}

static struct file *open_in(struct kunit *test, const char *instance,
			    const char *name, int flags)
{
	struct context *ctx = test->priv;
	char path[128];

	snprintf(path, sizeof(path), "instances/%s/%s", instance, name);

	return file_open_root_mnt(ctx->mnt, path, flags, 0);
}

static struct trace_array *find_instance(const char *name)
{
	guard(mutex)(&trace_types_lock);

	return trace_array_find(name);
}

/* There for everybody, with its files, or for nobody. */
static void expect_instance(struct kunit *test, const char *name,
			    struct trace_array *tr)
{
	struct file *file = open_in(test, name, "trace", O_RDONLY);

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(file), tr ? 0 : -ENOENT);
	if (!IS_ERR(file))
		__fput_sync(file);
	KUNIT_EXPECT_PTR_EQ(test, find_instance(name), tr);
}

static void on_one_cpu(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test,
			set_cpus_allowed_ptr(current,
					     cpumask_of(raw_smp_processor_id())),
			0);
}

/* The life of an instance: trace_array_get_by_name(), _put(), _destroy() */

static struct trace_array *get_instance(struct kunit *test, const char *name)
{
	struct trace_array *tr = trace_array_get_by_name(name, NULL);

	KUNIT_ASSERT_NOT_NULL(test, tr);

	return tr;
}

/* Takes memory up to that at @stale, which is given out again if it is free. */
static bool take_memory(struct kunit *test, struct trace_array *stale,
			struct list_head *taken)
{
	for (int i = 0; i < OBJECTS; i++) {
		struct trace_array *tr = kzalloc_obj(*tr);

		KUNIT_ASSERT_NOT_NULL(test, tr);
		if (tr == stale) {
			kfree(tr);
			return true;
		}
		list_add(&tr->list, taken);
	}

	return false;
}

static void free_memory(struct list_head *taken)
{
	struct trace_array *tr, *next;

	list_for_each_entry_safe(tr, next, taken, list)
		kfree(tr);
}

/*
 * @stale is no instance any more; what user space makes then is not it, even
 * if it has its memory. Returns whether it has.
 */
static bool destroy_stale(struct kunit *test, struct trace_array *stale)
{
	struct context *ctx = test->priv;
	struct trace_array *other;
	LIST_HEAD(taken);
	int ret;

	/* What was freed last is what is used next. */
	take_memory(test, stale, &taken);
	ret = make_instance(ctx->mnt, OTHER);
	free_memory(&taken);
	KUNIT_ASSERT_EQ(test, ret, 0);

	other = find_instance(OTHER);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(stale), -ENODEV);
	expect_instance(test, OTHER, other);
	KUNIT_EXPECT_EQ(test, remove_instance(ctx->mnt, OTHER), 0);

	return other == stale;
}

static void expect_no_harm(struct kunit *test,
			   struct trace_array *(*make_stale)(struct kunit *test))
{
	on_one_cpu(test);
	for (int i = 0; i < TRIES; i++)
		if (destroy_stale(test, make_stale(test)))
			break;
}

static struct trace_array *stale_after_rmdir(struct kunit *test)
{
	struct trace_array *tr = get_instance(test, INSTANCE);
	struct context *ctx = test->priv;

	trace_array_put(tr);
	KUNIT_ASSERT_EQ(test, remove_instance(ctx->mnt, INSTANCE), 0);

	return tr;
}

static void destroy_after_rmdir(struct kunit *test)
{
	expect_no_harm(test, stale_after_rmdir);
}

/* There was a second instance of that name, also removed. */
static struct trace_array *stale_after_two_rmdir(struct kunit *test)
{
	struct trace_array *first = stale_after_rmdir(test);
	struct trace_array *second = stale_after_rmdir(test);

	KUNIT_EXPECT_EQ(test, trace_array_destroy(second), -ENODEV);

	return first;
}

static void destroy_after_two_rmdir(struct kunit *test)
{
	expect_no_harm(test, stale_after_two_rmdir);
}

static struct trace_array *stale_for_second_user(struct kunit *test)
{
	struct trace_array *first = get_instance(test, INSTANCE);
	struct trace_array *second = get_instance(test, INSTANCE);

	KUNIT_ASSERT_PTR_EQ(test, first, second);
	trace_array_put(first);
	trace_array_put(second);
	KUNIT_ASSERT_EQ(test, trace_array_destroy(first), 0);

	return second;
}

static void destroy_by_second_user(struct kunit *test)
{
	expect_no_harm(test, stale_for_second_user);
}

/* What is kept for a stale pointer is given back with it. */
static void destroy_gives_memory_back(struct kunit *test)
{
	bool free = false;

	if (IS_ENABLED(CONFIG_KASAN) ||
	    IS_ENABLED(CONFIG_RANDOM_KMALLOC_CACHES))
		kunit_skip(test, "free memory is not used again");

	on_one_cpu(test);
	for (int i = 0; i < TRIES && !free; i++) {
		struct trace_array *tr = stale_after_rmdir(test);
		LIST_HEAD(taken);

		KUNIT_ASSERT_EQ(test, trace_array_destroy(tr), -ENODEV);
		free = take_memory(test, tr, &taken);
		free_memory(&taken);
	}
	KUNIT_EXPECT_TRUE(test, free);
}

static void destroy_after_put(struct kunit *test)
{
	struct trace_array *tr = get_instance(test, INSTANCE);

	expect_instance(test, INSTANCE, tr);
	trace_array_put(tr);
	expect_instance(test, INSTANCE, tr);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
	expect_instance(test, INSTANCE, NULL);
}

static void destroy_what_user_space_made(struct kunit *test)
{
	struct context *ctx = test->priv;
	struct trace_array *tr;

	KUNIT_ASSERT_EQ(test, make_instance(ctx->mnt, INSTANCE), 0);
	tr = get_instance(test, INSTANCE);
	expect_instance(test, INSTANCE, tr);
	KUNIT_EXPECT_EQ(test, remove_instance(ctx->mnt, INSTANCE), -EBUSY);
	trace_array_put(tr);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
	expect_instance(test, INSTANCE, NULL);
}

static void destroy_twice(struct kunit *test)
{
	struct trace_array *tr = get_instance(test, INSTANCE);

	trace_array_put(tr);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), -ENODEV);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(NULL), -EINVAL);
}

/* -EBUSY, and then all is as it was: it goes on recording, too. */
static void expect_busy(struct kunit *test, struct trace_array *tr)
{
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	unsigned long entries = ring_buffer_entries(buffer);
	struct context *ctx = test->priv;

	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), -EBUSY);
	KUNIT_EXPECT_EQ(test, remove_instance(ctx->mnt, INSTANCE), -EBUSY);
	expect_instance(test, INSTANCE, tr);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(buffer), entries);
	KUNIT_EXPECT_GT(test, trace_array_printk(tr, _THIS_IP_, "busy\n"), 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(buffer), entries + 1);
}

static void destroy_with_reader(struct kunit *test)
{
	static const char * const names[] = {
		"trace", "trace_pipe", "per_cpu/cpu0/trace_pipe_raw",
		"events/enable",
	};
	struct trace_array *tr = get_instance(test, INSTANCE);

	KUNIT_ASSERT_EQ(test, trace_array_init_printk(tr), 0);
	trace_array_put(tr);
	for (int i = 0; i < ARRAY_SIZE(names); i++) {
		struct file *file = open_in(test, INSTANCE, names[i], O_RDONLY);

		KUNIT_ASSERT_FALSE(test, IS_ERR(file));
		expect_busy(test, tr);
		__fput_sync(file);
	}
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
	expect_instance(test, INSTANCE, NULL);
}

static void destroy_with_reference(struct kunit *test)
{
	struct trace_array *tr = get_instance(test, INSTANCE);

	KUNIT_ASSERT_EQ(test, trace_array_init_printk(tr), 0);
	KUNIT_ASSERT_PTR_EQ(test, get_instance(test, INSTANCE), tr);
	expect_busy(test, tr);
	trace_array_put(tr);
	expect_busy(test, tr);
	trace_array_put(tr);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
	expect_instance(test, INSTANCE, NULL);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), -ENODEV);
}

/* Who asks for the name gets the instance of today. */
static void same_name_again(struct kunit *test)
{
	struct trace_array *tr = get_instance(test, INSTANCE);
	struct context *ctx = test->priv;
	struct trace_array *again;

	KUNIT_ASSERT_EQ(test, trace_array_init_printk(tr), 0);
	KUNIT_EXPECT_GT(test, trace_array_printk(tr, _THIS_IP_, "old\n"), 0);
	trace_array_put(tr);
	KUNIT_ASSERT_EQ(test, remove_instance(ctx->mnt, INSTANCE), 0);
	expect_instance(test, INSTANCE, NULL);

	KUNIT_ASSERT_EQ(test, make_instance(ctx->mnt, INSTANCE), 0);
	again = get_instance(test, INSTANCE);
	expect_instance(test, INSTANCE, again);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(again->array_buffer.buffer),
			0);
	KUNIT_EXPECT_EQ(test, trace_array_init_printk(again), 0);
	KUNIT_EXPECT_GT(test, trace_array_printk(again, _THIS_IP_, "new\n"), 0);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(again->array_buffer.buffer),
			1);

	trace_array_put(again);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(again), 0);
	expect_instance(test, INSTANCE, NULL);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), -ENODEV);
}

/* What a failed case has left; -ENOENT otherwise. */
static void instance_cleanup(void *data)
{
	struct context *ctx = data;

	remove_instance(ctx->mnt, OTHER);
	remove_instance(ctx->mnt, INSTANCE);
	kern_unmount(ctx->mnt);
}

static int fixes_init(struct kunit *test)
{
	struct context *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	test->priv = ctx;

	ctx->mnt = kern_mount(get_fs_type("tracefs"));
	KUNIT_ASSERT_FALSE(test, IS_ERR(ctx->mnt));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, instance_cleanup,
							ctx), 0);

	return 0;
}

/* What the suite of the API needs */

static struct file *open_file(struct kunit *test, const char *name, int flags)
{
	return open_in(test, INSTANCE, name, flags);
}

/* At most @size bytes of a file of the instance. */
static ssize_t read_file(struct kunit *test, const char *name, char *buf,
			 size_t size)
{
	struct file *file = open_file(test, name, O_RDONLY);
	struct context *ctx = test->priv;
	size_t done = 0;
	ssize_t ret = 0;
	loff_t pos = 0;

	if (IS_ERR(file))
		return PTR_ERR(file);

	while (done < size) {
		ret = vfs_read(file, ctx->user, min(size - done, PAGE_SIZE),
			       &pos);
		if (ret <= 0)
			break;
		if (copy_from_user(buf + done, ctx->user, ret)) {
			ret = -EFAULT;
			break;
		}
		done += ret;
	}
	__fput_sync(file);

	return ret < 0 ? ret : done;
}

static const char *read_text(struct kunit *test, const char *name)
{
	struct context *ctx = test->priv;
	ssize_t len = read_file(test, name, ctx->its, TEXT_SIZE - 1);

	KUNIT_ASSERT_GE_MSG(test, len, 0, "%s", name);
	ctx->its[len] = '\0';

	return ctx->its;
}

static int write_file(struct kunit *test, const char *name, const char *text)
{
	struct file *file = open_file(test, name, O_WRONLY | O_TRUNC);
	struct context *ctx = test->priv;
	size_t len = strlen(text);
	loff_t pos = 0;
	ssize_t ret;

	if (IS_ERR(file))
		return PTR_ERR(file);

	ret = copy_to_user(ctx->user, text, len) ? -EFAULT :
	      vfs_write(file, ctx->user, len, &pos);
	__fput_sync(file);

	return ret < 0 ? ret : 0;
}

static void expect_file(struct kunit *test, const char *name, const char *text)
{
	KUNIT_EXPECT_STREQ_MSG(test, read_text(test, name), text, "%s", name);
}

static void expect_in_file(struct kunit *test, const char *name,
			   const char *text)
{
	const char *all = read_text(test, name);

	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(all, text), "%s: no \"%s\" in\n%s",
				  name, text, all);
}

/* With a clock that moves on at each look. */
static void enable_events(struct kunit *test)
{
	struct context *ctx = test->priv;

	KUNIT_ASSERT_EQ(test, trace_array_set_clock(ctx->tr, "counter"), 0);
	KUNIT_ASSERT_EQ(test, trace_array_set_events(ctx->tr, SYSTEM ":", true),
			0);
}

static void record(u32 first, u32 nr)
{
	for (u32 seq = first; seq < first + nr; seq++)
		trace_instance_kunit(0, seq, 8);
}

/* The whole text in ctx->mine. */
static const char *array_text(struct kunit *test, struct trace_array *tr,
			      unsigned int flags)
{
	struct context *ctx = test->priv;
	struct seq_buf s;

	seq_buf_init(&s, ctx->mine, TEXT_SIZE);
	KUNIT_ASSERT_EQ(test, trace_array_read(tr, flags, &s), 0);

	return seq_buf_str(&s);
}

/* These @nr records, in order, and no other. */
static void expect_records(struct kunit *test, unsigned int flags, u32 first,
			   u32 nr)
{
	struct context *ctx = test->priv;
	const char *p = array_text(test, ctx->tr, flags);
	u32 found = 0;
	u32 seq;

	for (; (p = strstr(p, " seq=")); p++) {
		if (sscanf(p, " seq=%u", &seq) != 1)
			break;
		KUNIT_EXPECT_EQ(test, seq, first + found);
		found++;
	}
	KUNIT_EXPECT_EQ(test, found, nr);
}

static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);
	const char *p;

	for (p = text; (p = strstr(p, word)); p += len)
		if ((p == text || isspace(p[-1])) &&
		    (!p[len] || isspace(p[len])))
			return true;

	return false;
}

/* Latency tracers use the snapshot buffer; "wakeup" is one for instances. */
static void need_latency_tracer(struct kunit *test)
{
	if (!has_word(read_text(test, "available_tracers"), "wakeup"))
		kunit_skip(test, "needs CONFIG_SCHED_TRACER");
}

static void move_to(struct kunit *test, int cpu)
{
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(cpu)),
			0);
}

static void need_two_cpus(struct kunit *test, int cpu[2])
{
	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");

	cpu[0] = cpumask_first(cpu_online_mask);
	cpu[1] = cpumask_next(cpu[0], cpu_online_mask);
	move_to(test, cpu[0]);
}

static int call_in_nmi(int (*call)(struct trace_array *tr),
		       struct trace_array *tr)
{
	unsigned long flags;
	int ret;

	local_irq_save(flags);
	nmi_enter();
	ret = call(tr);
	nmi_exit();
	local_irq_restore(flags);

	return ret;
}

/* Getting hold of instances */

/* Without an instance of that name, a new one has one handle. */
static void expect_no_handles(struct kunit *test, const char *name)
{
	struct trace_array *tr = trace_array_create(name);

	KUNIT_ASSERT_FALSE(test, IS_ERR(tr));
	KUNIT_EXPECT_EQ(test, tr->handles, 1);
	trace_array_put(tr);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
}

static void get_by_create(struct kunit *test)
{
	struct trace_array *tr = trace_array_create(OTHER);

	KUNIT_ASSERT_FALSE(test, IS_ERR(tr));
	expect_instance(test, OTHER, tr);
	KUNIT_EXPECT_EQ(test, tr->ref, 2);
	KUNIT_EXPECT_EQ(test, tr->handles, 1);

	KUNIT_EXPECT_EQ(test, PTR_ERR(trace_array_create(OTHER)), -EEXIST);
	KUNIT_EXPECT_EQ(test, tr->ref, 2);
	KUNIT_EXPECT_EQ(test, tr->handles, 1);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), -EBUSY);
	KUNIT_EXPECT_EQ(test, tr->handles, 1);

	trace_array_put(tr);
	KUNIT_EXPECT_EQ(test, tr->ref, 1);
	expect_instance(test, OTHER, tr);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
	expect_instance(test, OTHER, NULL);
	expect_no_handles(test, OTHER);
}

static void get_by_lookup(struct kunit *test)
{
	struct context *ctx = test->priv;
	struct trace_array *tr;

	KUNIT_EXPECT_EQ(test, PTR_ERR(trace_array_lookup(OTHER)), -ENOENT);
	KUNIT_EXPECT_EQ(test, PTR_ERR(trace_array_lookup(NULL)), -EINVAL);
	expect_instance(test, OTHER, NULL);

	KUNIT_ASSERT_EQ(test, make_instance(ctx->mnt, OTHER), 0);
	tr = trace_array_lookup(OTHER);
	KUNIT_ASSERT_FALSE(test, IS_ERR(tr));
	expect_instance(test, OTHER, tr);
	KUNIT_EXPECT_PTR_EQ(test, trace_array_lookup(OTHER), tr);
	KUNIT_EXPECT_EQ(test, tr->ref, 3);
	KUNIT_EXPECT_EQ(test, tr->handles, 2);

	trace_array_put(tr);
	trace_array_put(tr);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR(trace_array_lookup(OTHER)), -ENOENT);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), -ENODEV);
	expect_no_handles(test, OTHER);
}

static void get_or_create(struct kunit *test)
{
	struct trace_array *tr;
	struct file *file;

	tr = trace_array_get_or_create(OTHER, SYSTEM);
	KUNIT_ASSERT_FALSE(test, IS_ERR(tr));
	expect_instance(test, OTHER, tr);
	KUNIT_EXPECT_EQ(test, tr->ref, 2);
	KUNIT_EXPECT_EQ(test, tr->handles, 1);

	file = open_in(test, OTHER, "events/" SYSTEM "/enable", O_RDONLY);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(file), 0);
	if (!IS_ERR(file))
		__fput_sync(file);
	file = open_in(test, OTHER, "events/sched/enable", O_RDONLY);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(file), -ENOENT);
	if (!IS_ERR(file))
		__fput_sync(file);
	KUNIT_EXPECT_EQ(test, trace_array_set_events(tr, "sched:", true),
			-EINVAL);

	KUNIT_EXPECT_PTR_EQ(test, trace_array_get_or_create(OTHER, NULL), tr);
	KUNIT_EXPECT_EQ(test, tr->ref, 3);
	KUNIT_EXPECT_EQ(test, tr->handles, 2);

	trace_array_put(tr);
	trace_array_put(tr);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), -ENODEV);
	expect_no_handles(test, OTHER);
}

static void get_by_bad_name(struct kunit *test)
{
	static const char * const bad[] = {
		NULL, "", ".", "..", "/", "a/b", "/" OTHER, OTHER "/", "../" OTHER,
	};
	struct context *ctx = test->priv;
	char name[NAME_MAX + 2];
	struct trace_array *tr;

	for (int i = 0; i < ARRAY_SIZE(bad); i++) {
		const char *quoted = bad[i] ?: "NULL";

		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR(trace_array_create(bad[i])),
				    -EINVAL, "%s", quoted);
		tr = trace_array_get_or_create(bad[i], NULL);
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR(tr), -EINVAL, "%s", quoted);
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR(trace_array_lookup(bad[i])),
				    bad[i] ? -ENOENT : -EINVAL, "%s", quoted);
	}

	memset(name, 'x', sizeof(name) - 1);
	name[NAME_MAX + 1] = '\0';
	KUNIT_EXPECT_EQ(test, PTR_ERR(trace_array_create(name)), -ENAMETOOLONG);
	KUNIT_EXPECT_EQ(test, PTR_ERR(trace_array_get_or_create(name, NULL)),
			-ENAMETOOLONG);
	KUNIT_EXPECT_EQ(test, PTR_ERR(trace_array_lookup(name)), -ENOENT);

	/* One less is fine, and user space can remove it. */
	name[NAME_MAX] = '\0';
	tr = trace_array_create(name);
	KUNIT_ASSERT_FALSE(test, IS_ERR(tr));
	KUNIT_EXPECT_PTR_EQ(test, find_instance(name), tr);
	trace_array_put(tr);
	KUNIT_EXPECT_EQ(test, remove_instance(ctx->mnt, name), 0);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), -ENODEV);
}

static void leave_at_end_of_scope(struct kunit *test)
{
	struct trace_array *tr = trace_array_create(OTHER);

	KUNIT_ASSERT_FALSE(test, IS_ERR(tr));
	{
		struct trace_array *found __free(trace_array_leave) =
			trace_array_lookup(OTHER);

		KUNIT_EXPECT_PTR_EQ(test, found, tr);
		KUNIT_EXPECT_EQ(test, tr->ref, 3);
		KUNIT_EXPECT_EQ(test, tr->handles, 2);
	}
	KUNIT_EXPECT_EQ(test, tr->ref, 2);
	KUNIT_EXPECT_EQ(test, tr->handles, 1);
	{
		struct trace_array *found __free(trace_array_leave) =
			trace_array_create(OTHER);

		KUNIT_EXPECT_EQ(test, PTR_ERR(found), -EEXIST);
	}
	{
		struct trace_array *found __free(trace_array_leave) = NULL;

		KUNIT_EXPECT_NULL(test, found);
	}
	KUNIT_EXPECT_EQ(test, tr->ref, 2);
	KUNIT_EXPECT_EQ(test, tr->handles, 1);

	trace_array_put(tr);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
	expect_no_handles(test, OTHER);
}

/* Left to user space, which removes it, memory and all. */
static void leave_to_user(struct kunit *test)
{
	struct trace_array *tr = trace_array_create(OTHER);
	struct context *ctx = test->priv;

	KUNIT_ASSERT_FALSE(test, IS_ERR(tr));
	KUNIT_ASSERT_PTR_EQ(test, trace_array_get_or_create(OTHER, NULL), tr);
	trace_array_leave(tr);
	KUNIT_EXPECT_EQ(test, remove_instance(ctx->mnt, OTHER), -EBUSY);
	KUNIT_EXPECT_EQ(test, tr->handles, 1);
	trace_array_leave(tr);
	expect_instance(test, OTHER, tr);
	KUNIT_EXPECT_EQ(test, tr->handles, 0);
	KUNIT_EXPECT_EQ(test, tr->ref, 1);
	KUNIT_EXPECT_EQ(test, remove_instance(ctx->mnt, OTHER), 0);
	expect_no_handles(test, OTHER);

	/* Whoever has a stale pointer still can't destroy another one. */
	tr = trace_array_create(OTHER);
	KUNIT_ASSERT_FALSE(test, IS_ERR(tr));
	KUNIT_ASSERT_PTR_EQ(test, trace_array_lookup(OTHER), tr);
	trace_array_put(tr);
	trace_array_leave(tr);
	KUNIT_EXPECT_EQ(test, remove_instance(ctx->mnt, OTHER), 0);
	KUNIT_EXPECT_EQ(test, tr->handles, 1);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), -ENODEV);
	expect_no_handles(test, OTHER);
}

/* What was removed keeps its memory until the last handle came back. */
static void handles_keep_memory(struct kunit *test)
{
	struct trace_array *tr = trace_array_create(OTHER);
	struct context *ctx = test->priv;

	KUNIT_ASSERT_FALSE(test, IS_ERR(tr));
	KUNIT_ASSERT_PTR_EQ(test, trace_array_lookup(OTHER), tr);
	trace_array_put(tr);
	trace_array_put(tr);
	KUNIT_ASSERT_EQ(test, remove_instance(ctx->mnt, OTHER), 0);
	KUNIT_EXPECT_EQ(test, tr->handles, 2);

	/* The next one of that name gets it, with the handles. */
	KUNIT_ASSERT_EQ(test, make_instance(ctx->mnt, OTHER), 0);
	expect_instance(test, OTHER, tr);
	KUNIT_EXPECT_EQ(test, tr->ref, 1);
	KUNIT_EXPECT_EQ(test, tr->handles, 2);
	KUNIT_ASSERT_EQ(test, remove_instance(ctx->mnt, OTHER), 0);

	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), -ENODEV);
	KUNIT_EXPECT_EQ(test, tr->handles, 1);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), -ENODEV);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), -ENODEV);
	expect_no_handles(test, OTHER);
}

/* Switching and setting up */

/* What every function that takes an instance is called with here. */
static int call_set_buffer_size(struct trace_array *tr)
{
	return trace_array_set_buffer_size(tr, SZ_64K);
}

static int call_set_clock(struct trace_array *tr)
{
	return trace_array_set_clock(tr, "mono");
}

static int call_set_tracer(struct trace_array *tr)
{
	return trace_array_set_tracer(tr, "nop");
}

static int call_set_events(struct trace_array *tr)
{
	return trace_array_set_events(tr, SYSTEM ":", true);
}

static int call_set_event_filter(struct trace_array *tr)
{
	return trace_array_set_event_filter(tr, SYSTEM, EVENT, "seq == 1");
}

static int call_set_event_trigger(struct trace_array *tr)
{
	return trace_array_set_event_trigger(tr, SYSTEM, EVENT, "traceoff");
}

static int call_set_event_pids(struct trace_array *tr)
{
	pid_t pid = 1;

	return trace_array_set_event_pids(tr, &pid, 1);
}

static int call_clear_event_pids(struct trace_array *tr)
{
	return trace_array_set_event_pids(tr, NULL, 0);
}

static int call_reader_open(struct trace_array *tr)
{
	struct trace_array_reader *reader = trace_array_reader_open(tr, 0);

	trace_array_reader_close(reader);

	return PTR_ERR_OR_ZERO(reader);
}

static int call_read(struct trace_array *tr)
{
	struct seq_buf s;
	char buf[8];
	int ret;

	seq_buf_init(&s, buf, sizeof(buf));
	ret = trace_array_read(tr, 0, &s);

	return ret == -E2BIG ? 0 : ret;
}

static const struct {
	const char	*name;
	int		(*call)(struct trace_array *tr);
	bool		writes;
} calls[] = {
	{ "tracing_on",		trace_array_tracing_on,		true },
	{ "tracing_off",	trace_array_tracing_off,	true },
	{ "clear",		trace_array_clear,		false },
	{ "set_buffer_size",	call_set_buffer_size,		true },
	{ "set_clock",		call_set_clock,			true },
	{ "set_tracer",		call_set_tracer,		true },
	{ "set_events",		call_set_events,		true },
	{ "set_event_filter",	call_set_event_filter,		true },
	{ "set_event_trigger",	call_set_event_trigger,		true },
	{ "set_event_pids",	call_set_event_pids,		true },
	{ "clear_event_pids",	call_clear_event_pids,		true },
	{ "snapshot_alloc",	trace_array_snapshot_alloc,	true },
	{ "snapshot",		trace_array_snapshot,		true },
	{ "reader_open",	call_reader_open,		false },
	{ "read",		call_read,			false },
};

/* As the instance was made. */
static void expect_untouched(struct kunit *test)
{
	expect_file(test, "tracing_on", "1\n");
	expect_in_file(test, "trace_clock", "[local]");
	expect_file(test, "current_tracer", "nop\n");
	expect_file(test, "set_event", "");
	expect_file(test, "set_event_pid", "");
	expect_file(test, EVENT_FILE "filter", "none\n");
	expect_in_file(test, EVENT_FILE "trigger", "# Available triggers");
	expect_in_file(test, "snapshot", "Snapshot is freed");
}

static void call_without_instance(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(calls); i++)
		KUNIT_EXPECT_EQ_MSG(test, calls[i].call(NULL), -ENOENT, "%s",
				    calls[i].name);
	KUNIT_EXPECT_FALSE(test, trace_array_tracing_is_on(NULL));
	trace_array_leave(NULL);
	trace_array_leave(ERR_PTR(-ENOMEM));
	trace_array_snapshot_free(NULL);
	trace_array_reader_close(NULL);
	trace_array_reader_close(ERR_PTR(-ENOMEM));
}

/* Such are made at boot only, as backup of what the last boot left. */
static void call_with_read_only_instance(struct kunit *test)
{
	struct context *ctx = test->priv;
	unsigned long size;

	size = ring_buffer_size(ctx->tr->array_buffer.buffer, ctx->cpu);
	ctx->tr->flags |= TRACE_ARRAY_FL_RDONLY;
	for (int i = 0; i < ARRAY_SIZE(calls); i++)
		KUNIT_EXPECT_EQ_MSG(test, calls[i].call(ctx->tr),
				    calls[i].writes ? -EACCES : 0, "%s",
				    calls[i].name);
	ctx->tr->flags &= ~TRACE_ARRAY_FL_RDONLY;

	KUNIT_EXPECT_EQ(test, ring_buffer_size(ctx->tr->array_buffer.buffer,
					       ctx->cpu), size);
	expect_untouched(test);
}

/* For good: nothing but this test ever takes it back. */
static void call_with_tracing_disabled(struct kunit *test)
{
	struct context *ctx = test->priv;
	unsigned long size;

	size = ring_buffer_size(ctx->tr->array_buffer.buffer, ctx->cpu);
	tracing_disabled = 1;
	for (int i = 0; i < ARRAY_SIZE(calls); i++)
		KUNIT_EXPECT_EQ_MSG(test, calls[i].call(ctx->tr), -ENODEV, "%s",
				    calls[i].name);
	tracing_disabled = 0;

	KUNIT_EXPECT_EQ(test, ring_buffer_size(ctx->tr->array_buffer.buffer,
					       ctx->cpu), size);
	expect_untouched(test);
}

static void expect_tracing(struct kunit *test, bool on, u32 seq)
{
	struct context *ctx = test->priv;

	KUNIT_EXPECT_EQ(test, trace_array_tracing_is_on(ctx->tr), on);
	expect_file(test, "tracing_on", on ? "1\n" : "0\n");
	KUNIT_EXPECT_EQ(test, trace_array_clear(ctx->tr), 0);
	record(seq, 1);
	expect_records(test, 0, seq, on);
}

static void tracing_on_and_off(struct kunit *test)
{
	struct context *ctx = test->priv;

	enable_events(test);
	expect_tracing(test, true, 0);
	for (int i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, trace_array_tracing_off(ctx->tr), 0);
		expect_tracing(test, false, 1);
	}
	for (int i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, trace_array_tracing_on(ctx->tr), 0);
		expect_tracing(test, true, 2);
	}

	KUNIT_EXPECT_EQ(test, call_in_nmi(trace_array_tracing_off, ctx->tr), 0);
	expect_tracing(test, false, 3);
	KUNIT_EXPECT_EQ(test, call_in_nmi(trace_array_tracing_on, ctx->tr), 0);
	expect_tracing(test, true, 4);

	KUNIT_ASSERT_EQ(test, write_file(test, "tracing_on", "0"), 0);
	expect_tracing(test, false, 5);
}

static void clear_records(struct kunit *test)
{
	struct context *ctx = test->priv;

	enable_events(test);
	record(0, 10);
	expect_records(test, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, trace_array_clear(ctx->tr), 0);
	expect_records(test, 0, 0, 0);
	record(10, 5);
	expect_records(test, 0, 10, 5);
}

static unsigned long size_of_buffer(struct kunit *test)
{
	struct context *ctx = test->priv;
	struct trace_buffer *buffer = ctx->tr->array_buffer.buffer;
	unsigned long size = ring_buffer_size(buffer, ctx->cpu);
	int cpu;

	for_each_online_cpu(cpu)
		KUNIT_EXPECT_EQ(test, ring_buffer_size(buffer, cpu), size);

	return size;
}

static void buffer_size(struct kunit *test)
{
	struct context *ctx = test->priv;
	unsigned long size;
	char text[32];

	/* What the file makes of 64 KiB is a number of whole sub-buffers. */
	KUNIT_ASSERT_EQ(test, write_file(test, "buffer_size_kb", "64"), 0);
	size = size_of_buffer(test);
	KUNIT_ASSERT_GE(test, size, SZ_64K);
	snprintf(text, sizeof(text), "%lu\n", size >> 10);

	KUNIT_EXPECT_EQ(test, trace_array_set_buffer_size(ctx->tr, SZ_1M), 0);
	KUNIT_EXPECT_GE(test, size_of_buffer(test), SZ_1M);
	KUNIT_EXPECT_EQ(test, trace_array_set_buffer_size(ctx->tr, SZ_64K), 0);
	KUNIT_EXPECT_EQ(test, size_of_buffer(test), size);
	expect_file(test, "buffer_size_kb", text);

	KUNIT_EXPECT_EQ(test, trace_array_set_buffer_size(ctx->tr, size + 1),
			0);
	KUNIT_EXPECT_GT(test, size_of_buffer(test), size);
	KUNIT_EXPECT_EQ(test, trace_array_set_buffer_size(ctx->tr, size), 0);
	KUNIT_EXPECT_EQ(test, size_of_buffer(test), size);
	KUNIT_EXPECT_EQ(test, trace_array_set_buffer_size(ctx->tr, 1), 0);
	KUNIT_EXPECT_LT(test, size_of_buffer(test), size);
	KUNIT_EXPECT_GT(test, size_of_buffer(test), 0);

	enable_events(test);
	record(0, 10);
	expect_records(test, 0, 0, 10);
}

static void buffer_size_refused(struct kunit *test)
{
	const u64 memory = (u64)totalram_pages() << PAGE_SHIFT;
	const unsigned long too_much[] = {
		min(2 * memory, ULONG_MAX), ULONG_MAX - PAGE_SIZE, ULONG_MAX,
	};
	struct trace_array_reader *reader;
	struct context *ctx = test->priv;
	unsigned long size;

	enable_events(test);
	record(0, 10);
	size = size_of_buffer(test);
	KUNIT_EXPECT_EQ(test, trace_array_set_buffer_size(ctx->tr, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, size_of_buffer(test), size);
	for (int i = 0; i < ARRAY_SIZE(too_much); i++) {
		KUNIT_EXPECT_EQ_MSG(test,
				    trace_array_set_buffer_size(ctx->tr,
								too_much[i]),
				    -ENOMEM, "%lu", too_much[i]);
		KUNIT_EXPECT_EQ(test, size_of_buffer(test), size);
	}
	expect_records(test, 0, 0, 10);

	reader = trace_array_reader_open(ctx->tr, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(reader));
	KUNIT_EXPECT_EQ(test, trace_array_set_buffer_size(ctx->tr, 2 * size),
			-EBUSY);
	trace_array_reader_close(reader);
	KUNIT_EXPECT_EQ(test, size_of_buffer(test), size);

	/* Reading the snapshot, which has to have the same size, counts too. */
	KUNIT_ASSERT_EQ(test, trace_array_snapshot_alloc(ctx->tr), 0);
	reader = trace_array_reader_open(ctx->tr, TRACE_ARRAY_READ_SNAPSHOT);
	KUNIT_ASSERT_FALSE(test, IS_ERR(reader));
	KUNIT_EXPECT_EQ(test, trace_array_set_buffer_size(ctx->tr, 2 * size),
			-EBUSY);
	trace_array_reader_close(reader);
	KUNIT_EXPECT_EQ(test, size_of_buffer(test), size);
	KUNIT_EXPECT_EQ(test, trace_array_set_buffer_size(ctx->tr, 2 * size), 0);
	KUNIT_EXPECT_EQ(test, size_of_buffer(test), 2 * size);
	trace_array_snapshot_free(ctx->tr);
}

static void buffer_size_of_snapshot(struct kunit *test)
{
	struct context *ctx = test->priv;
	unsigned long size;

	KUNIT_ASSERT_EQ(test, trace_array_set_buffer_size(ctx->tr, SZ_64K), 0);
	KUNIT_ASSERT_EQ(test, trace_array_snapshot_alloc(ctx->tr), 0);
	size = size_of_buffer(test);
	KUNIT_EXPECT_EQ(test, ring_buffer_size(ctx->tr->snapshot_buffer.buffer,
					       ctx->cpu), size);
	KUNIT_ASSERT_EQ(test, trace_array_set_buffer_size(ctx->tr, SZ_128K), 0);
	KUNIT_EXPECT_GT(test, size_of_buffer(test), size);
	size = size_of_buffer(test);
	KUNIT_EXPECT_EQ(test, ring_buffer_size(ctx->tr->snapshot_buffer.buffer,
					       ctx->cpu), size);
	trace_array_snapshot_free(ctx->tr);
}

static void clock_by_name(struct kunit *test)
{
	struct context *ctx = test->priv;

	enable_events(test);
	record(0, 10);
	KUNIT_EXPECT_EQ(test, trace_array_set_clock(ctx->tr, "nosuch"),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, trace_array_set_clock(ctx->tr, ""), -EINVAL);
	KUNIT_EXPECT_EQ(test, trace_array_set_clock(ctx->tr, NULL), -EINVAL);
	expect_in_file(test, "trace_clock", "[counter]");
	expect_records(test, 0, 0, 10);

	KUNIT_EXPECT_EQ(test, trace_array_set_clock(ctx->tr, "mono"), 0);
	expect_in_file(test, "trace_clock", "[mono]");
	expect_records(test, 0, 0, 0);
	record(10, 5);
	expect_records(test, 0, 10, 5);
}

static void tracer_by_name(struct kunit *test)
{
	struct context *ctx = test->priv;
	char *all, *word;

	KUNIT_EXPECT_EQ(test, trace_array_set_tracer(ctx->tr, "nosuch"),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, trace_array_set_tracer(ctx->tr, ""), -EINVAL);
	KUNIT_EXPECT_EQ(test, trace_array_set_tracer(ctx->tr, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, trace_array_set_tracer(ctx->tr, "nop"), 0);

	/* Those that the top level has, and an instance has not. */
	all = kunit_kstrdup(test, read_text(test, "../../available_tracers"),
			    GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, all);
	read_text(test, "available_tracers");
	while ((word = strsep(&all, "\n ")))
		if (*word && !has_word(ctx->its, word))
			KUNIT_EXPECT_EQ_MSG(test,
					    trace_array_set_tracer(ctx->tr,
								   word),
					    -EINVAL, "%s", word);
	expect_file(test, "current_tracer", "nop\n");
}

static bool never_update(struct trace_array *tr, void *data)
{
	return false;
}

static void tracer_busy(struct kunit *test)
{
	struct context *ctx = test->priv;
	struct trace_array *other;
	struct file *pipe;

	need_latency_tracer(test);

	pipe = open_file(test, "trace_pipe", O_RDONLY);
	KUNIT_ASSERT_FALSE(test, IS_ERR(pipe));
	KUNIT_EXPECT_EQ(test, trace_array_set_tracer(ctx->tr, "wakeup"),
			-EBUSY);
	__fput_sync(pipe);
	expect_file(test, "current_tracer", "nop\n");

	KUNIT_ASSERT_EQ(test, tracing_snapshot_cond_enable(ctx->tr, NULL,
							   never_update), 0);
	KUNIT_EXPECT_EQ(test, trace_array_set_tracer(ctx->tr, "wakeup"),
			-EBUSY);
	KUNIT_EXPECT_EQ(test, tracing_snapshot_cond_disable(ctx->tr), 0);
	expect_file(test, "current_tracer", "nop\n");

	/* There is one for all instances. */
	other = trace_array_create(OTHER);
	KUNIT_ASSERT_FALSE(test, IS_ERR(other));
	KUNIT_EXPECT_EQ(test, trace_array_set_tracer(other, "wakeup"), 0);
	KUNIT_EXPECT_EQ(test, trace_array_set_tracer(ctx->tr, "wakeup"),
			-EBUSY);
	expect_file(test, "current_tracer", "nop\n");
	trace_array_put(other);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(other), 0);
	KUNIT_EXPECT_EQ(test, trace_array_set_tracer(ctx->tr, "wakeup"), 0);
	expect_file(test, "current_tracer", "wakeup\n");
	KUNIT_EXPECT_EQ(test, trace_array_set_tracer(ctx->tr, "nop"), 0);
	expect_file(test, "current_tracer", "nop\n");
}

/* Events */

static void set_events(struct kunit *test, const char *events, bool enable)
{
	struct context *ctx = test->priv;

	KUNIT_EXPECT_EQ_MSG(test,
			    trace_array_set_events(ctx->tr, events, enable), 0,
			    "%s", events);
}

static void expect_events(struct kunit *test, bool one, bool other)
{
	expect_file(test, EVENT_FILE "enable", one ? "1\n" : "0\n");
	expect_file(test, "events/" SYSTEM "/" EVENT "_other/enable",
		    other ? "1\n" : "0\n");
}

static void events_by_text(struct kunit *test)
{
	/* Each of them is both, or the first. */
	static const char * const both[] = {
		SYSTEM, SYSTEM ":", SYSTEM ":*",
		EVENT " " EVENT "_other",
		"\n\t *:" EVENT "\t\n:" EVENT "_other\n ",
		"!" SYSTEM ":" EVENT " " SYSTEM ":  \t " SYSTEM,
	};
	static const char * const one[] = {
		EVENT, ":" EVENT, "*:" EVENT, SYSTEM ":" EVENT,
		SYSTEM ": !" SYSTEM ":" EVENT "_other",
		EVENT "\n!" EVENT "_other\n",
	};
	struct context *ctx = test->priv;

	for (int i = 0; i < ARRAY_SIZE(both); i++) {
		set_events(test, both[i], true);
		expect_events(test, true, true);
		set_events(test, SYSTEM, false);
		expect_events(test, false, false);
	}
	for (int i = 0; i < ARRAY_SIZE(one); i++) {
		set_events(test, one[i], true);
		expect_events(test, true, false);
		set_events(test, "!" SYSTEM, true);
		expect_events(test, false, false);
	}

	/* Without a word nothing happens; '!' turns a disable around, too. */
	set_events(test, "", true);
	set_events(test, " \t\n  ", true);
	expect_events(test, false, false);
	set_events(test, "!" SYSTEM, false);
	expect_events(test, true, true);
	set_events(test, EVENT "_other " EVENT "_print_hook", false);
	expect_file(test, "set_event", SYSTEM ":" EVENT "\n");

	record(0, 3);
	trace_instance_kunit_other(0, 3, 8);
	expect_records(test, 0, 0, 3);
	KUNIT_EXPECT_EQ(test, trace_array_set_events(ctx->tr, NULL, true),
			-EINVAL);
}

static void events_up_to_the_wrong_one(struct kunit *test)
{
	static const char * const wrong[] = {
		"nosuch", SYSTEM ":nosuch", "nosuch:" EVENT, "nosuch:",
		":nosuch", "!nosuch", "!", "!!" EVENT,
	};
	struct context *ctx = test->priv;
	char text[128];

	for (int i = 0; i < ARRAY_SIZE(wrong); i++) {
		snprintf(text, sizeof(text), "%s %s %s_other", EVENT, wrong[i],
			 EVENT);
		KUNIT_EXPECT_EQ_MSG(test,
				    trace_array_set_events(ctx->tr, text, true),
				    -EINVAL, "%s", text);
		expect_events(test, true, false);
		set_events(test, SYSTEM, false);
	}
}

static void events_of_module(struct kunit *test)
{
	struct context *ctx = test->priv;
	int ret;

	ret = trace_array_set_events(ctx->tr, EVENT ":mod:no-such-module",
				     true);
	if (!IS_ENABLED(CONFIG_MODULES)) {
		KUNIT_EXPECT_EQ(test, ret, -EINVAL);
		expect_events(test, false, false);
		return;
	}

	/* Kept for when it is loaded. */
	KUNIT_EXPECT_EQ(test, ret, 0);
	expect_events(test, false, false);
	expect_file(test, "set_event", EVENT ":mod:no_such_module\n");
	set_events(test, EVENT " :mod:other_module " EVENT "_other", true);
	expect_events(test, true, true);
	expect_in_file(test, "set_event", ":mod:other_module\n");
	set_events(test, "!" EVENT ":mod:no_such_module", true);
	set_events(test, ":mod:other_module " SYSTEM, false);
	expect_file(test, "set_event", "");
	KUNIT_EXPECT_EQ(test,
			trace_array_set_events(ctx->tr, ":mod:other_module",
					       false), -EINVAL);
}

static int set_filter(struct kunit *test, const char *filter)
{
	struct context *ctx = test->priv;

	return trace_array_set_event_filter(ctx->tr, SYSTEM, EVENT, filter);
}

static void filter_discards(struct kunit *test)
{
	struct context *ctx = test->priv;

	enable_events(test);
	KUNIT_EXPECT_EQ(test, set_filter(test, "seq >= 5 && seq < 8"), 0);
	expect_file(test, EVENT_FILE "filter", "seq >= 5 && seq < 8\n");
	record(0, 10);
	expect_records(test, 0, 5, 3);

	/* The next one takes its place. */
	KUNIT_EXPECT_EQ(test, trace_array_clear(ctx->tr), 0);
	KUNIT_EXPECT_EQ(test, set_filter(test, "seq < 2\n"), 0);
	record(0, 10);
	expect_records(test, 0, 0, 2);

	KUNIT_EXPECT_EQ(test, trace_array_clear(ctx->tr), 0);
	KUNIT_EXPECT_EQ(test, set_filter(test, "0"), 0);
	expect_file(test, EVENT_FILE "filter", "none\n");
	record(0, 10);
	expect_records(test, 0, 0, 10);
}

/* As when the same is written to the file, which takes the filter away. */
static void filter_wrong(struct kunit *test)
{
	struct context *ctx = test->priv;
	char *shown;

	enable_events(test);
	KUNIT_ASSERT_EQ(test, set_filter(test, "seq == 1"), 0);
	KUNIT_ASSERT_EQ(test, write_file(test, EVENT_FILE "filter",
					 "nosuch == 1"), -EINVAL);
	shown = kunit_kstrdup(test, read_text(test, EVENT_FILE "filter"),
			      GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, shown);
	KUNIT_ASSERT_EQ(test, set_filter(test, "seq == 1"), 0);
	KUNIT_ASSERT_EQ(test, write_file(test, "error_log", " "), 0);
	expect_file(test, "error_log", "");

	KUNIT_EXPECT_EQ(test, set_filter(test, "nosuch == 1"), -EINVAL);
	expect_in_file(test, "error_log", "Command: nosuch == 1");
	expect_file(test, EVENT_FILE "filter", shown);
	record(0, 10);
	expect_records(test, 0, 0, 10);

	KUNIT_EXPECT_EQ(test, set_filter(test, "seq == 3"), 0);
	KUNIT_EXPECT_EQ(test, trace_array_clear(ctx->tr), 0);
	record(0, 10);
	expect_records(test, 0, 3, 1);
}

/* What filter and trigger have in common. */
static void expect_event_refused(struct kunit *test, const char *file,
				 int (*set)(struct trace_array *tr,
					    const char *system,
					    const char *event,
					    const char *text),
				 const char *text)
{
	char *padded = kunit_kzalloc(test, PAGE_SIZE + 1, GFP_KERNEL);
	struct context *ctx = test->priv;
	struct trace_array *tr = ctx->tr;
	char *before;

	KUNIT_ASSERT_NOT_NULL(test, padded);
	before = kunit_kstrdup(test, read_text(test, file), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, before);

	KUNIT_EXPECT_EQ(test, set(tr, SYSTEM, "nosuch", text), -ESRCH);
	KUNIT_EXPECT_EQ(test, set(tr, "nosuch", EVENT, text), -ESRCH);
	KUNIT_EXPECT_EQ(test, set(tr, "", "", text), -ESRCH);
	KUNIT_EXPECT_EQ(test, set(tr, SYSTEM, NULL, text), -EINVAL);
	KUNIT_EXPECT_EQ(test, set(tr, NULL, EVENT, text), -EINVAL);
	KUNIT_EXPECT_EQ(test, set(tr, SYSTEM, EVENT, NULL), -EINVAL);
	memset(padded, ' ', PAGE_SIZE);
	memcpy(padded, text, strlen(text));
	KUNIT_EXPECT_EQ(test, set(tr, SYSTEM, EVENT, padded), -EINVAL);
	expect_file(test, file, before);

	padded[PAGE_SIZE - 1] = '\0';
	KUNIT_EXPECT_EQ(test, set(tr, SYSTEM, EVENT, padded), 0);
	expect_in_file(test, file, text);
}

static void filter_refused(struct kunit *test)
{
	struct context *ctx = test->priv;

	expect_event_refused(test, EVENT_FILE "filter",
			     trace_array_set_event_filter, "seq == 1");

	/* An event without a file of that name. */
	KUNIT_EXPECT_EQ(test, read_file(test, "events/ftrace/print/filter",
					ctx->its, 1), -ENOENT);
	KUNIT_EXPECT_EQ(test,
			trace_array_set_event_filter(ctx->tr, "ftrace", "print",
						     "ip == 0"), -ESRCH);
}

static void trigger_refused(struct kunit *test)
{
	struct context *ctx = test->priv;

	expect_event_refused(test, EVENT_FILE "trigger",
			     trace_array_set_event_trigger, "traceoff");
	KUNIT_EXPECT_EQ(test, trace_array_set_event_trigger(ctx->tr, SYSTEM,
							    EVENT, "traceoff"),
			-EEXIST);
	KUNIT_EXPECT_EQ(test, trace_array_set_event_trigger(ctx->tr, SYSTEM,
							    EVENT, "nosuch"),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, trace_array_set_event_trigger(ctx->tr, SYSTEM,
							    EVENT, ""),
			-EINVAL);
	expect_in_file(test, EVENT_FILE "trigger", "traceoff:unlimited\n");

	/* An event without a file of that name. */
	KUNIT_EXPECT_EQ(test, read_file(test, "events/ftrace/bprint/trigger",
					ctx->its, 1), -ENOENT);
	KUNIT_EXPECT_EQ(test,
			trace_array_set_event_trigger(ctx->tr, "ftrace",
						      "bprint", "traceoff"),
			-ESRCH);
}

/* It has a trigger, though it can't be enabled: for the trace_marker. */
static void trigger_of_marker(struct kunit *test)
{
	static const char file[] = "events/ftrace/print/trigger";
	struct context *ctx = test->priv;

	KUNIT_EXPECT_EQ(test,
			trace_array_set_event_trigger(ctx->tr, "ftrace",
						      "print", "traceoff"), 0);
	expect_in_file(test, file, "traceoff:unlimited\n");
	KUNIT_EXPECT_EQ(test, write_file(test, "trace_marker", "now"), 0);
	KUNIT_EXPECT_FALSE(test, trace_array_tracing_is_on(ctx->tr));
	KUNIT_EXPECT_EQ(test,
			trace_array_set_event_trigger(ctx->tr, "ftrace",
						      "print", "!traceoff"), 0);
	expect_in_file(test, file, "# Available triggers");
}

static void set_trigger(struct kunit *test, const char *trigger)
{
	struct context *ctx = test->priv;

	KUNIT_ASSERT_EQ_MSG(test,
			    trace_array_set_event_trigger(ctx->tr, SYSTEM,
							  EVENT, trigger), 0,
			    "%s", trigger);
}

static void trigger_switches(struct kunit *test)
{
	struct context *ctx = test->priv;

	enable_events(test);
	set_trigger(test, "traceoff if seq == 5");
	expect_in_file(test, EVENT_FILE "trigger",
		       "traceoff:unlimited if seq == 5\n");
	record(0, 5);
	KUNIT_EXPECT_TRUE(test, trace_array_tracing_is_on(ctx->tr));
	record(5, 1);
	KUNIT_EXPECT_FALSE(test, trace_array_tracing_is_on(ctx->tr));

	set_trigger(test, "!traceoff");
	set_trigger(test, "traceon if seq == 7\n");
	expect_in_file(test, EVENT_FILE "trigger",
		       "traceon:unlimited if seq == 7\n");
	record(6, 1);
	KUNIT_EXPECT_FALSE(test, trace_array_tracing_is_on(ctx->tr));
	record(7, 1);
	KUNIT_EXPECT_TRUE(test, trace_array_tracing_is_on(ctx->tr));
	set_trigger(test, "!traceon");
	expect_in_file(test, EVENT_FILE "trigger", "# Available triggers");
	KUNIT_EXPECT_EQ(test, trace_array_tracing_off(ctx->tr), 0);
	record(7, 1);
	KUNIT_EXPECT_FALSE(test, trace_array_tracing_is_on(ctx->tr));
}

static void trigger_stacktrace(struct kunit *test)
{
	struct context *ctx = test->priv;

	if (!IS_ENABLED(CONFIG_STACKTRACE))
		kunit_skip(test, "needs CONFIG_STACKTRACE");

	enable_events(test);
	set_trigger(test, "stacktrace");
	record(0, 1);
	expect_records(test, 0, 0, 1);
	KUNIT_EXPECT_NOT_NULL(test, strstr(ctx->mine, "<stack trace>"));

	set_trigger(test, "!stacktrace");
	KUNIT_EXPECT_EQ(test, trace_array_clear(ctx->tr), 0);
	record(1, 1);
	expect_records(test, 0, 1, 1);
	KUNIT_EXPECT_NULL(test, strstr(ctx->mine, "<stack trace>"));
}

static void set_pids(struct kunit *test, const pid_t *pids, unsigned int nr,
		     int ret)
{
	struct context *ctx = test->priv;

	KUNIT_EXPECT_EQ(test, trace_array_set_event_pids(ctx->tr, pids, nr),
			ret);
}

static void pids_choose(struct kunit *test)
{
	const pid_t self = task_pid_nr(current);
	const pid_t both[] = { self, 1, self };
	const pid_t init = 1;
	struct context *ctx = test->priv;
	char text[32];

	enable_events(test);
	set_pids(test, &init, 1, 0);
	expect_file(test, "set_event_pid", "1\n");
	record(0, 5);
	expect_records(test, 0, 0, 0);

	set_pids(test, both, 3, 0);
	snprintf(text, sizeof(text), "1\n%d\n", self);
	expect_file(test, "set_event_pid", text);
	record(5, 5);
	expect_records(test, 0, 5, 5);

	/* The list is replaced, not added to. */
	set_pids(test, &init, 1, 0);
	expect_file(test, "set_event_pid", "1\n");
	record(10, 5);
	expect_records(test, 0, 5, 5);

	set_pids(test, NULL, 0, 0);
	expect_file(test, "set_event_pid", "");
	record(10, 5);
	expect_records(test, 0, 5, 10);
	KUNIT_EXPECT_EQ(test, trace_array_clear(ctx->tr), 0);
	set_pids(test, &self, 0, 0);
	record(0, 5);
	expect_records(test, 0, 0, 5);
}

static void pids_refused(struct kunit *test)
{
	static const pid_t wrong[][2] = {
		{ 1, -1 }, { INT_MIN, 1 }, { 1, INT_MAX },
	};
	const pid_t self = task_pid_nr(current);
	char text[32];

	snprintf(text, sizeof(text), "%d\n", self);
	set_pids(test, &self, 1, 0);
	for (int i = 0; i < ARRAY_SIZE(wrong); i++) {
		set_pids(test, wrong[i], 2, -EINVAL);
		expect_file(test, "set_event_pid", text);
	}
	set_pids(test, NULL, 1, -EINVAL);
	expect_file(test, "set_event_pid", text);
}

/* Snapshots */

static void expect_snapshot(struct kunit *test, bool allocated)
{
	struct context *ctx = test->priv;
	unsigned long size;

	KUNIT_EXPECT_EQ(test, ctx->tr->allocated_snapshot, allocated);
	size = ring_buffer_size(ctx->tr->snapshot_buffer.buffer, ctx->cpu);
	if (allocated)
		KUNIT_EXPECT_EQ(test, size, size_of_buffer(test));
	else
		KUNIT_EXPECT_LT(test, size, size_of_buffer(test));
}

static void snapshot_alloc(struct kunit *test)
{
	struct context *ctx = test->priv;

	KUNIT_ASSERT_EQ(test, trace_array_snapshot_alloc(ctx->tr), 0);
}

static void snapshot_needs_alloc(struct kunit *test)
{
	struct context *ctx = test->priv;

	enable_events(test);
	record(0, 10);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), -ENODEV);
	expect_in_file(test, "snapshot", "Snapshot is freed");

	for (int i = 0; i < 2; i++) {
		snapshot_alloc(test);
		snapshot_alloc(test);
		expect_in_file(test, "snapshot", "Snapshot is allocated");
		expect_snapshot(test, true);
		trace_array_snapshot_free(ctx->tr);
		expect_in_file(test, "snapshot", "Snapshot is allocated");
		expect_snapshot(test, true);
		trace_array_snapshot_free(ctx->tr);
		expect_in_file(test, "snapshot", "Snapshot is freed");
		expect_snapshot(test, false);
		KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), -ENODEV);
	}
	expect_records(test, 0, 0, 10);
}

static void snapshot_swaps(struct kunit *test)
{
	struct context *ctx = test->priv;

	enable_events(test);
	snapshot_alloc(test);
	record(0, 10);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), 0);
	expect_records(test, TRACE_ARRAY_READ_SNAPSHOT, 0, 10);
	expect_records(test, 0, 0, 0);
	record(10, 5);
	expect_records(test, TRACE_ARRAY_READ_SNAPSHOT, 0, 10);
	expect_records(test, 0, 10, 5);

	/* A clear is for the ring buffer. */
	KUNIT_EXPECT_EQ(test, trace_array_clear(ctx->tr), 0);
	expect_records(test, 0, 0, 0);
	expect_records(test, TRACE_ARRAY_READ_SNAPSHOT, 0, 10);
	record(15, 5);

	/*
	 * Recording goes on where the first snapshot is, whose records are
	 * older than the clear.
	 */
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), 0);
	expect_records(test, TRACE_ARRAY_READ_SNAPSHOT, 15, 5);
	expect_records(test, 0, 0, 0);
	record(20, 5);
	expect_records(test, 0, 20, 5);
	expect_records(test, TRACE_ARRAY_READ_SNAPSHOT, 15, 5);

	/* What the trace shows is what the snapshot shows then. */
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), 0);
	expect_records(test, TRACE_ARRAY_READ_SNAPSHOT, 20, 5);
	expect_records(test, 0, 15, 5);

	trace_array_snapshot_free(ctx->tr);
	expect_in_file(test, "snapshot", "Snapshot is freed");
	expect_records(test, 0, 15, 5);
}

/* Without a clear in between, they are in the trace again. */
static void snapshot_comes_back(struct kunit *test)
{
	struct context *ctx = test->priv;

	enable_events(test);
	snapshot_alloc(test);
	record(0, 10);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), 0);
	record(10, 5);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), 0);
	expect_records(test, TRACE_ARRAY_READ_SNAPSHOT, 10, 5);
	expect_records(test, 0, 0, 10);
	record(10, 5);
	expect_records(test, 0, 0, 15);

	/* Neither does a clear of the snapshot hide what comes into it. */
	KUNIT_EXPECT_EQ(test, write_file(test, "snapshot", "2"), 0);
	expect_records(test, TRACE_ARRAY_READ_SNAPSHOT, 0, 0);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), 0);
	expect_records(test, TRACE_ARRAY_READ_SNAPSHOT, 0, 15);
	expect_records(test, 0, 0, 0);
	record(15, 5);
	expect_records(test, 0, 15, 5);
	trace_array_snapshot_free(ctx->tr);
}

/* The times of latency-format count from there. */
static void snapshot_keeps_start(struct kunit *test)
{
	struct context *ctx = test->priv;
	struct trace_array *tr = ctx->tr;
	u64 start;

	enable_events(test);
	snapshot_alloc(test);
	KUNIT_EXPECT_EQ(test, trace_array_clear(tr), 0);
	start = tr->array_buffer.time_start;
	KUNIT_EXPECT_GT(test, start, 0);
	for (int i = 0; i < 3; i++) {
		record(0, 5);
		KUNIT_EXPECT_EQ(test, trace_array_snapshot(tr), 0);
		KUNIT_EXPECT_EQ(test, tr->array_buffer.time_start, start);
		KUNIT_EXPECT_EQ(test, tr->snapshot_buffer.time_start, start);
	}
	trace_array_snapshot_free(tr);
}

/* The file that takes a snapshot of one CPU. */
static void snapshot_of_cpu(struct kunit *test)
{
	struct context *ctx = test->priv;
	char name[64];

	if (!IS_ENABLED(CONFIG_RING_BUFFER_ALLOW_SWAP))
		kunit_skip(test, "needs CONFIG_RING_BUFFER_ALLOW_SWAP");

	snprintf(name, sizeof(name), "per_cpu/cpu%d/snapshot", ctx->cpu);
	enable_events(test);
	record(0, 10);
	KUNIT_ASSERT_EQ(test, write_file(test, "snapshot", "0"), 0);
	KUNIT_ASSERT_EQ(test, write_file(test, "snapshot", "2"), 0);
	KUNIT_ASSERT_EQ(test, write_file(test, name, "1"), 0);
	expect_records(test, TRACE_ARRAY_READ_SNAPSHOT, 0, 10);
	expect_records(test, 0, 0, 0);

	/* That of the snapshot is older than this clear, and stays. */
	KUNIT_EXPECT_EQ(test, trace_array_clear(ctx->tr), 0);
	expect_records(test, TRACE_ARRAY_READ_SNAPSHOT, 0, 10);
	record(10, 5);
	KUNIT_ASSERT_EQ(test, write_file(test, name, "1"), 0);
	expect_records(test, TRACE_ARRAY_READ_SNAPSHOT, 10, 5);
	expect_records(test, 0, 0, 0);
	KUNIT_ASSERT_EQ(test, write_file(test, "snapshot", "0"), 0);
}

/* What was recorded before the buffer was made is in the snapshot, too. */
static void snapshot_of_old_records(struct kunit *test)
{
	struct context *ctx = test->priv;

	enable_events(test);
	record(0, 10);
	snapshot_alloc(test);
	trace_array_snapshot_free(ctx->tr);
	snapshot_alloc(test);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), 0);
	expect_records(test, TRACE_ARRAY_READ_SNAPSHOT, 0, 10);
	trace_array_snapshot_free(ctx->tr);
}

/* A stopped instance stays so: the snapshot is not where it goes on. */
static void snapshot_while_off(struct kunit *test)
{
	struct context *ctx = test->priv;

	enable_events(test);
	snapshot_alloc(test);
	record(0, 10);
	KUNIT_EXPECT_EQ(test, trace_array_tracing_off(ctx->tr), 0);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), 0);
	expect_file(test, "tracing_on", "0\n");
	record(10, 5);
	expect_records(test, 0, 0, 0);
	expect_records(test, TRACE_ARRAY_READ_SNAPSHOT, 0, 10);
	KUNIT_EXPECT_EQ(test, trace_array_tracing_on(ctx->tr), 0);
	record(10, 5);
	expect_records(test, 0, 10, 5);
	trace_array_snapshot_free(ctx->tr);
}

static void snapshot_from_nmi(struct kunit *test)
{
	struct context *ctx = test->priv;

	enable_events(test);
	snapshot_alloc(test);
	record(0, 10);
	KUNIT_EXPECT_EQ(test, call_in_nmi(trace_array_snapshot, ctx->tr),
			-EAGAIN);
	/* No remark in the trace, either. */
	KUNIT_EXPECT_EQ(test,
			ring_buffer_entries(ctx->tr->array_buffer.buffer), 10);
	expect_records(test, 0, 0, 10);
	expect_records(test, TRACE_ARRAY_READ_SNAPSHOT, 0, 0);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), 0);
	expect_records(test, TRACE_ARRAY_READ_SNAPSHOT, 0, 10);
	trace_array_snapshot_free(ctx->tr);
}

struct irq_snapshot {
	struct irq_work		work;
	struct trace_array	*tr;
	bool			in_irq;
	int			ret;
};

static void irq_snapshot_work(struct irq_work *work)
{
	struct irq_snapshot *irq = container_of(work, struct irq_snapshot, work);

	irq->in_irq = in_hardirq();
	irq->ret = trace_array_snapshot(irq->tr);
}

static void snapshot_from_irq(struct kunit *test)
{
	struct context *ctx = test->priv;
	struct irq_snapshot irq = { .tr = ctx->tr, .ret = 1 };

	enable_events(test);
	snapshot_alloc(test);
	record(0, 10);
	irq.work = IRQ_WORK_INIT_HARD(irq_snapshot_work);
	KUNIT_EXPECT_TRUE(test, irq_work_queue(&irq.work));
	irq_work_sync(&irq.work);
	KUNIT_EXPECT_TRUE(test, irq.in_irq);
	KUNIT_EXPECT_EQ(test, irq.ret, 0);
	expect_records(test, TRACE_ARRAY_READ_SNAPSHOT, 0, 10);
	expect_records(test, 0, 0, 0);
	trace_array_snapshot_free(ctx->tr);
}

static void snapshot_while_stopped(struct kunit *test)
{
	struct trace_array_reader *reader;
	struct context *ctx = test->priv;
	char pause[] = "pause-on-trace";

	enable_events(test);
	snapshot_alloc(test);
	KUNIT_ASSERT_EQ(test, trace_set_options(ctx->tr, pause), 0);
	record(0, 10);
	reader = trace_array_reader_open(ctx->tr, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(reader));
	record(10, 5);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), -EAGAIN);
	trace_array_reader_close(reader);

	record(10, 5);
	expect_records(test, 0, 0, 15);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), 0);
	expect_records(test, TRACE_ARRAY_READ_SNAPSHOT, 0, 15);
	trace_array_snapshot_free(ctx->tr);
}

static void expect_snapshot_busy(struct kunit *test)
{
	struct context *ctx = test->priv;

	KUNIT_EXPECT_EQ(test, trace_array_snapshot_alloc(ctx->tr), -EBUSY);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), -EBUSY);
}

static void snapshot_with_condition(struct kunit *test)
{
	struct context *ctx = test->priv;

	enable_events(test);
	record(0, 10);
	KUNIT_ASSERT_EQ(test, tracing_snapshot_cond_enable(ctx->tr, NULL,
							   never_update), 0);
	expect_snapshot_busy(test);
	KUNIT_EXPECT_EQ(test, tracing_snapshot_cond_disable(ctx->tr), 0);
	expect_records(test, 0, 0, 10);

	/* The buffer of the conditional snapshot, which has stayed. */
	snapshot_alloc(test);
	KUNIT_ASSERT_EQ(test, tracing_snapshot_cond_enable(ctx->tr, NULL,
							   never_update), 0);
	expect_snapshot_busy(test);
	KUNIT_EXPECT_EQ(test, tracing_snapshot_cond_disable(ctx->tr), 0);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), 0);
	expect_records(test, TRACE_ARRAY_READ_SNAPSHOT, 0, 10);
	trace_array_snapshot_free(ctx->tr);
	expect_snapshot(test, true);
}

static void snapshot_with_latency_tracer(struct kunit *test)
{
	struct trace_array_reader *reader;
	struct context *ctx = test->priv;
	char buf[16];

	need_latency_tracer(test);
	KUNIT_ASSERT_EQ(test, trace_array_set_tracer(ctx->tr, "wakeup"), 0);
	expect_snapshot_busy(test);
	reader = trace_array_reader_open(ctx->tr, TRACE_ARRAY_READ_SNAPSHOT);
	KUNIT_ASSERT_FALSE(test, IS_ERR(reader));
	KUNIT_EXPECT_EQ(test, trace_array_reader_read(reader, buf, sizeof(buf)),
			-EBUSY);
	KUNIT_EXPECT_EQ(test, trace_array_set_tracer(ctx->tr, "nop"), 0);
	KUNIT_EXPECT_GT(test, trace_array_reader_read(reader, buf, sizeof(buf)),
			0);
	trace_array_reader_close(reader);

	/* One that comes later leaves the buffer to the kernel when it goes. */
	snapshot_alloc(test);
	KUNIT_EXPECT_EQ(test, trace_array_set_tracer(ctx->tr, "wakeup"), 0);
	expect_snapshot_busy(test);
	KUNIT_EXPECT_EQ(test, trace_array_set_tracer(ctx->tr, "nop"), 0);
	expect_snapshot(test, true);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), 0);
	trace_array_snapshot_free(ctx->tr);
	expect_snapshot(test, false);

	/* One that comes and goes leaves nothing behind. */
	snapshot_alloc(test);
	enable_events(test);
	record(0, 10);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), 0);
	expect_records(test, TRACE_ARRAY_READ_SNAPSHOT, 0, 10);
	trace_array_snapshot_free(ctx->tr);
	expect_snapshot(test, false);
}

static unsigned long map_buffer(struct kunit *test)
{
	struct context *ctx = test->priv;
	struct file *file;
	unsigned long addr;
	char name[64];

	snprintf(name, sizeof(name), "per_cpu/cpu%d/trace_pipe_raw", ctx->cpu);
	file = open_file(test, name, O_RDONLY | O_NONBLOCK);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	addr = vm_mmap(file, 0, PAGE_SIZE, PROT_READ, MAP_SHARED, 0);
	/* The mapping has a reference of its own. */
	__fput_sync(file);

	return addr;
}

static void unmap_buffer(struct kunit *test, unsigned long addr)
{
	KUNIT_ASSERT_EQ(test, vm_munmap(addr, PAGE_SIZE), 0);
	flush_delayed_fput();
}

static void snapshot_with_mapped_buffer(struct kunit *test)
{
	struct context *ctx = test->priv;
	unsigned long addr, size;

	enable_events(test);
	record(0, 10);
	size = size_of_buffer(test);
	/* A buffer for snapshots, but nobody that needs it. */
	KUNIT_ASSERT_EQ(test, write_file(test, "snapshot", "1"), 0);
	expect_records(test, TRACE_ARRAY_READ_SNAPSHOT, 0, 10);
	addr = map_buffer(test);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(addr));
	expect_snapshot_busy(test);
	KUNIT_EXPECT_EQ(test, trace_array_set_buffer_size(ctx->tr, 2 * size),
			-EBUSY);
	KUNIT_EXPECT_EQ(test, size_of_buffer(test), size);
	expect_records(test, TRACE_ARRAY_READ_SNAPSHOT, 0, 10);
	unmap_buffer(test, addr);

	snapshot_alloc(test);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), 0);
	expect_records(test, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, (long)map_buffer(test), -EBUSY);
	trace_array_snapshot_free(ctx->tr);

	addr = map_buffer(test);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(addr));
	unmap_buffer(test, addr);
}

/* Who reads the buffer keeps it from getting its size. */
static void snapshot_while_read(struct kunit *test)
{
	struct trace_array_reader *reader;
	struct context *ctx = test->priv;

	reader = trace_array_reader_open(ctx->tr, TRACE_ARRAY_READ_SNAPSHOT);
	KUNIT_ASSERT_FALSE(test, IS_ERR(reader));
	KUNIT_EXPECT_EQ(test, trace_array_snapshot_alloc(ctx->tr), -EBUSY);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), -ENODEV);
	trace_array_reader_close(reader);
	expect_snapshot(test, false);

	/* It does not keep others from taking snapshots. */
	snapshot_alloc(test);
	enable_events(test);
	record(0, 10);
	reader = trace_array_reader_open(ctx->tr, TRACE_ARRAY_READ_SNAPSHOT);
	KUNIT_ASSERT_FALSE(test, IS_ERR(reader));
	snapshot_alloc(test);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), 0);
	trace_array_reader_close(reader);
	expect_records(test, TRACE_ARRAY_READ_SNAPSHOT, 0, 10);
	trace_array_snapshot_free(ctx->tr);
	trace_array_snapshot_free(ctx->tr);
	expect_snapshot(test, false);
}

/* So does who reads that of one CPU, the last one. */
static void snapshot_while_cpu_read(struct kunit *test)
{
	struct context *ctx = test->priv;
	struct file *file;
	char name[64];
	int cpu[2];

	need_two_cpus(test, cpu);
	snprintf(name, sizeof(name), "per_cpu/cpu%d/snapshot",
		 cpumask_last(cpu_online_mask));
	file = open_file(test, name, O_RDONLY);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	KUNIT_EXPECT_EQ(test, trace_array_snapshot_alloc(ctx->tr), -EBUSY);
	KUNIT_EXPECT_FALSE(test, ctx->tr->allocated_snapshot);
	KUNIT_EXPECT_EQ(test, ctx->tr->snapshot, 0);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), -ENODEV);
	__fput_sync(file);

	snapshot_alloc(test);
	expect_snapshot(test, true);
	enable_events(test);
	record(0, 10);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), 0);
	expect_records(test, TRACE_ARRAY_READ_SNAPSHOT, 0, 10);
	trace_array_snapshot_free(ctx->tr);
	expect_snapshot(test, false);
}

/* Such are made at boot only, and have no snapshot buffer. */
static void snapshot_of_boot_buffer(struct kunit *test)
{
	const unsigned int snapshot = TRACE_ARRAY_READ_SNAPSHOT;
	struct context *ctx = test->priv;
	struct trace_array *tr = ctx->tr;
	struct seq_buf s;

	seq_buf_init(&s, ctx->mine, TEXT_SIZE);
	tr->range_addr_start = PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, trace_array_snapshot_alloc(tr), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(tr), -ENODEV);
	KUNIT_EXPECT_EQ(test, PTR_ERR(trace_array_reader_open(tr, snapshot)),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, trace_array_read(tr, snapshot, &s), -EOPNOTSUPP);
	trace_array_snapshot_free(tr);
	tr->range_addr_start = 0;
	expect_in_file(test, "snapshot", "Snapshot is freed");
}

/* Whoever has allocated the buffer decides about its end. */
static void snapshot_buffer_of_user(struct kunit *test)
{
	struct context *ctx = test->priv;

	KUNIT_ASSERT_EQ(test, write_file(test, "snapshot", "1"), 0);
	snapshot_alloc(test);
	trace_array_snapshot_free(ctx->tr);
	expect_snapshot(test, true);
	KUNIT_ASSERT_EQ(test, write_file(test, "snapshot", "0"), 0);
	expect_snapshot(test, false);

	/* User space can free that of the kernel, too, and make its own. */
	snapshot_alloc(test);
	KUNIT_ASSERT_EQ(test, write_file(test, "snapshot", "0"), 0);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), -ENODEV);
	KUNIT_ASSERT_EQ(test, write_file(test, "snapshot", "1"), 0);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), 0);
	trace_array_snapshot_free(ctx->tr);
	expect_snapshot(test, true);
	KUNIT_ASSERT_EQ(test, write_file(test, "snapshot", "0"), 0);
}

static void snapshot_buffer_of_trigger(struct kunit *test)
{
	struct context *ctx = test->priv;

	enable_events(test);
	snapshot_alloc(test);
	record(0, 10);
	set_trigger(test, "snapshot");
	trace_array_snapshot_free(ctx->tr);
	expect_snapshot(test, true);
	record(10, 1);
	expect_records(test, TRACE_ARRAY_READ_SNAPSHOT, 0, 10);
	expect_records(test, 0, 10, 1);

	/* Again for the kernel, which is then the last one. */
	snapshot_alloc(test);
	set_trigger(test, "!snapshot");
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), 0);
	expect_records(test, TRACE_ARRAY_READ_SNAPSHOT, 10, 1);
	trace_array_snapshot_free(ctx->tr);
	expect_snapshot(test, false);

	/* That of a trigger stays, as ever. */
	set_trigger(test, "snapshot");
	snapshot_alloc(test);
	set_trigger(test, "!snapshot");
	trace_array_snapshot_free(ctx->tr);
	expect_snapshot(test, true);
}

/* Reading */

/* The first byte in which they differ, or @len. */
static size_t first_difference(const char *a, const char *b, size_t len)
{
	size_t i;

	for (i = 0; i < len && a[i] == b[i]; i++)
		;

	return i;
}

/* Each of many reads gives as much as fits, up to the end. */
static ssize_t read_in_chunks(struct kunit *test, unsigned int flags,
			      size_t chunk)
{
	struct trace_array_reader *reader;
	struct context *ctx = test->priv;
	size_t done = 0;
	ssize_t n;

	reader = trace_array_reader_open(ctx->tr, flags);
	KUNIT_ASSERT_FALSE(test, IS_ERR(reader));
	KUNIT_EXPECT_EQ(test, trace_array_reader_read(reader, ctx->mine, 0), 0);
	do {
		size_t size = min(chunk, TEXT_SIZE - done);

		n = trace_array_reader_read(reader, ctx->mine + done, size);
		if (n < 0)
			break;
		done += n;
	} while (n == chunk);
	if (n >= 0)
		n = trace_array_reader_read(reader, ctx->mine, 0) ?:
		    trace_array_reader_read(reader, ctx->its, 1);
	trace_array_reader_close(reader);
	KUNIT_EXPECT_EQ(test, n, 0);

	return done;
}

/* What is read in chunks of that size is what the file says. */
static void expect_text(struct kunit *test, unsigned int flags, size_t chunk)
{
	ssize_t mine = read_in_chunks(test, flags, chunk);
	struct context *ctx = test->priv;
	ssize_t its;

	its = read_file(test, flags ? "snapshot" : "trace", ctx->its,
			TEXT_SIZE);
	KUNIT_ASSERT_GT(test, its, 0);
	KUNIT_ASSERT_LT(test, its, TEXT_SIZE);
	KUNIT_EXPECT_EQ_MSG(test, mine, its, "chunks of %zu", chunk);
	KUNIT_EXPECT_EQ_MSG(test, first_difference(ctx->mine, ctx->its, its),
			    its, "chunks of %zu", chunk);
}

/*
 * A later context switch would save the name of the command, which lines show
 * that are read after that, and not those before.
 */
static void save_command(void)
{
	char comm[TASK_COMM_LEN];

	for (int i = 0; i < 1000; i++) {
		scoped_guard(preempt)
			tracing_record_cmdline(current);
		trace_find_cmdline(current->pid, comm);
		if (!strcmp(comm, current->comm))
			break;
	}
}

/* Lines of all lengths: the last but one nearly fills a trace_seq. */
static void record_lines(u32 nr)
{
	static const u32 lens[] = { 0, 1, 7, 40, 300, 2600, 3900 };

	for (u32 seq = 0; seq < nr; seq++)
		trace_instance_kunit(0, seq, lens[seq % ARRAY_SIZE(lens)]);
	save_command();
}

static void read_as_files(struct kunit *test)
{
	static const size_t chunks[] = { 1, 7, 4096, TEXT_SIZE };
	static const char * const options[] = {
		"verbose", "noverbose", "latency-format", "nolatency-format",
		"raw", "noraw", "hex", "nohex", "bin", "nobin",
		"nocontext-info", "context-info",
	};
	const unsigned int snapshot = TRACE_ARRAY_READ_SNAPSHOT;
	struct context *ctx = test->priv;
	char option[32];
	int cpu;

	expect_text(test, 0, 7);
	expect_text(test, snapshot, 7);

	enable_events(test);
	snapshot_alloc(test);
	expect_text(test, snapshot, 7);
	KUNIT_ASSERT_EQ(test, trace_array_set_clock(ctx->tr, "local"), 0);
	for (int i = 0; i < 2; i++) {
		for_each_online_cpu(cpu) {
			move_to(test, cpu);
			record_lines(40);
		}
		KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), 0);
	}
	for (int i = 0; i < ARRAY_SIZE(chunks); i++) {
		expect_text(test, 0, chunks[i]);
		expect_text(test, snapshot, chunks[i]);
	}
	for (int i = 0; i < ARRAY_SIZE(options); i++) {
		strscpy(option, options[i]);
		KUNIT_ASSERT_EQ(test, trace_set_options(ctx->tr, option), 0);
		expect_text(test, 0, 1000);
		expect_text(test, snapshot, 1000);
	}
	trace_array_snapshot_free(ctx->tr);
}

/* Where each buffer starts is told when something was lost. */
static void read_what_is_left(struct kunit *test)
{
	struct context *ctx = test->priv;
	int cpu;

	KUNIT_ASSERT_EQ(test, trace_array_set_buffer_size(ctx->tr, SZ_32K), 0);
	enable_events(test);
	for_each_online_cpu(cpu) {
		move_to(test, cpu);
		record_lines(200);
	}
	KUNIT_EXPECT_GT(test,
			ring_buffer_overruns(ctx->tr->array_buffer.buffer), 0);
	expect_text(test, 0, 1000);
}

static void read_consumes_nothing(struct kunit *test)
{
	struct context *ctx = test->priv;
	struct ring_buffer_event *event;
	int records;

	enable_events(test);
	record(0, 10);
	expect_records(test, 0, 0, 10);
	expect_records(test, 0, 0, 10);
	record(10, 5);
	expect_records(test, 0, 0, 15);
	for (records = 0; ; records++) {
		event = ring_buffer_consume(ctx->tr->array_buffer.buffer,
					    ctx->cpu, NULL, NULL);
		if (!event)
			break;
	}
	KUNIT_EXPECT_EQ(test, records, 15);
	expect_records(test, 0, 0, 0);
}

static void read_too_big(struct kunit *test)
{
	struct context *ctx = test->priv;
	struct seq_buf s;
	size_t len;

	enable_events(test);
	record_lines(20);
	array_text(test, ctx->tr, 0);
	len = strlen(ctx->mine);
	KUNIT_ASSERT_GT(test, len, 2 * PAGE_SIZE);

	seq_buf_init(&s, ctx->its, len);
	KUNIT_EXPECT_EQ(test, trace_array_read(ctx->tr, 0, &s), 0);
	KUNIT_EXPECT_EQ(test, seq_buf_used(&s), len);
	KUNIT_EXPECT_EQ(test, first_difference(ctx->mine, ctx->its, len), len);

	memset(ctx->its, 0, len);
	seq_buf_init(&s, ctx->its, len - 1);
	KUNIT_EXPECT_EQ(test, trace_array_read(ctx->tr, 0, &s), -E2BIG);
	KUNIT_EXPECT_EQ(test, seq_buf_used(&s), len - 1);
	KUNIT_EXPECT_EQ(test, first_difference(ctx->mine, ctx->its, len),
			len - 1);

	/* It is appended to what is there. */
	memset(ctx->its, 0, len);
	seq_buf_init(&s, ctx->its, len + 4);
	seq_buf_puts(&s, "head");
	KUNIT_EXPECT_EQ(test, trace_array_read(ctx->tr, 0, &s), 0);
	KUNIT_EXPECT_EQ(test, seq_buf_used(&s), len + 4);
	KUNIT_EXPECT_EQ(test, first_difference("head", ctx->its, 4), 4);
	KUNIT_EXPECT_EQ(test, first_difference(ctx->mine, ctx->its + 4, len),
			len);
	seq_buf_init(&s, ctx->its, len + 3);
	seq_buf_puts(&s, "head");
	KUNIT_EXPECT_EQ(test, trace_array_read(ctx->tr, 0, &s), -E2BIG);

	/* Nothing fits. */
	seq_buf_init(&s, ctx->its, 4);
	seq_buf_puts(&s, "heads");
	KUNIT_EXPECT_EQ(test, trace_array_read(ctx->tr, 0, &s), -E2BIG);
	seq_buf_init(&s, ctx->its, 0);
	KUNIT_EXPECT_EQ(test, trace_array_read(ctx->tr, 0, &s), -E2BIG);
}

static void read_refused(struct kunit *test)
{
	struct context *ctx = test->priv;
	struct trace_array *tr = ctx->tr;
	unsigned int flags = BIT(1);
	struct seq_buf s;

	seq_buf_init(&s, ctx->mine, TEXT_SIZE);
	for (int i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test,
				PTR_ERR(trace_array_reader_open(tr, flags)),
				-EINVAL);
		KUNIT_EXPECT_EQ(test, trace_array_read(tr, flags, &s), -EINVAL);
		flags = TRACE_ARRAY_READ_SNAPSHOT | BIT(31);
	}
	KUNIT_EXPECT_EQ(test, seq_buf_used(&s), 0);
}

#ifdef CONFIG_TRACER_MAX_TRACE
/* One that uses the snapshot buffer, and comes while a line is printed. */
static struct tracer busy_tracer = {
	.name		= "busy",
	.use_max_tr	= true,
};

static struct trace_array *busy_tr;

u32 trace_instance_kunit_print(u32 seq)
{
	if (busy_tr)
		busy_tr->current_trace = &busy_tracer;

	return seq;
}

/* What was read before an error is there, and the error is told. */
static void read_up_to_error(struct kunit *test)
{
	const unsigned int snapshot = TRACE_ARRAY_READ_SNAPSHOT;
	struct trace_array_reader *reader;
	struct context *ctx = test->priv;
	struct trace_array *tr = ctx->tr;
	struct tracer *tracer = tr->current_trace;
	struct seq_buf s;
	ssize_t n, again;
	size_t used;
	int ret;

	enable_events(test);
	snapshot_alloc(test);
	/* More than is formatted at a time. */
	for (u32 seq = 0; seq < 4000; seq++)
		trace_instance_kunit_print_hook(0, seq, 8);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(tr), 0);

	seq_buf_init(&s, ctx->mine, TEXT_SIZE);
	busy_tr = tr;
	ret = trace_array_read(tr, snapshot, &s);
	busy_tr = NULL;
	tr->current_trace = tracer;
	used = seq_buf_used(&s);
	KUNIT_EXPECT_EQ(test, ret, -EBUSY);
	KUNIT_EXPECT_GT(test, used, 0);

	reader = trace_array_reader_open(tr, snapshot);
	KUNIT_ASSERT_FALSE(test, IS_ERR(reader));
	busy_tr = tr;
	n = trace_array_reader_read(reader, ctx->its, TEXT_SIZE);
	again = trace_array_reader_read(reader, ctx->its + used,
					TEXT_SIZE - used);
	busy_tr = NULL;
	tr->current_trace = tracer;
	trace_array_reader_close(reader);
	KUNIT_EXPECT_EQ(test, n, used);
	KUNIT_EXPECT_EQ(test, again, -EBUSY);
	KUNIT_EXPECT_EQ(test, first_difference(ctx->mine, ctx->its, used),
			used);

	/* All of it is longer. */
	seq_buf_init(&s, ctx->its, TEXT_SIZE);
	KUNIT_EXPECT_EQ(test, trace_array_read(tr, snapshot, &s), 0);
	KUNIT_EXPECT_GT(test, seq_buf_used(&s), used);
	KUNIT_EXPECT_EQ(test, first_difference(ctx->mine, ctx->its, used),
			used);
	trace_array_snapshot_free(tr);
}
#else
u32 trace_instance_kunit_print(u32 seq)
{
	return seq;
}

static void read_up_to_error(struct kunit *test)
{
	kunit_skip(test, "needs a latency tracer");
}
#endif

static void reader_keeps_instance(struct kunit *test)
{
	struct trace_array *tr = trace_array_create(OTHER);
	struct trace_array_reader *reader;
	struct context *ctx = test->priv;
	char buf[16];

	KUNIT_ASSERT_FALSE(test, IS_ERR(tr));
	for (int flags = 0; flags <= TRACE_ARRAY_READ_SNAPSHOT; flags++) {
		reader = trace_array_reader_open(tr, flags);
		KUNIT_ASSERT_FALSE(test, IS_ERR(reader));
		trace_array_put(tr);
		KUNIT_EXPECT_EQ(test, tr->ref, 2);
		KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), -EBUSY);
		KUNIT_EXPECT_EQ(test, remove_instance(ctx->mnt, OTHER), -EBUSY);
		expect_instance(test, OTHER, tr);
		KUNIT_EXPECT_EQ(test,
				trace_array_reader_read(reader, buf,
							sizeof(buf)),
				sizeof(buf));
		KUNIT_ASSERT_PTR_EQ(test, trace_array_lookup(OTHER), tr);
		trace_array_reader_close(reader);
		KUNIT_EXPECT_EQ(test, tr->ref, 2);
	}
	trace_array_put(tr);
	KUNIT_EXPECT_EQ(test, tr->handles, 3);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), -ENODEV);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), -ENODEV);
	expect_no_handles(test, OTHER);
}

/* The reader of a snapshot that is freed meanwhile. */
static void reader_of_freed_snapshot(struct kunit *test)
{
	struct trace_array_reader *reader;
	struct context *ctx = test->priv;
	char buf[16];

	enable_events(test);
	snapshot_alloc(test);
	record_lines(40);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), 0);
	reader = trace_array_reader_open(ctx->tr, TRACE_ARRAY_READ_SNAPSHOT);
	KUNIT_ASSERT_FALSE(test, IS_ERR(reader));
	KUNIT_EXPECT_EQ(test, trace_array_reader_read(reader, buf, sizeof(buf)),
			sizeof(buf));
	trace_array_snapshot_free(ctx->tr);
	while (trace_array_reader_read(reader, buf, sizeof(buf)) > 0)
		;
	trace_array_reader_close(reader);

	snapshot_alloc(test);
	expect_in_file(test, "snapshot", "Snapshot is allocated");
	record(0, 5);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), 0);
	expect_records(test, TRACE_ARRAY_READ_SNAPSHOT, 0, 5);
	trace_array_snapshot_free(ctx->tr);
}

/* Text of the caller's */

static __printf(2, 3) int print(struct trace_array *tr, const char *fmt, ...)
{
	va_list args;
	int ret;

	va_start(args, fmt);
	ret = trace_array_vprintk(tr, _THIS_IP_, fmt, args);
	va_end(args);

	return ret;
}

static int print_one(struct trace_array *tr)
{
	return print(tr, "from %s %d\n", "NMI", 1);
}

static void vprintk_of_instance(struct kunit *test)
{
	struct context *ctx = test->priv;
	char off[] = "notrace_printk";
	char on[] = "trace_printk";

	KUNIT_ASSERT_EQ(test, trace_array_init_printk(ctx->tr), 0);
	KUNIT_EXPECT_EQ(test, print(NULL, "%d\n", 1), -ENOENT);
	KUNIT_EXPECT_EQ(test, print(top_trace_array(), "%d\n", 2), 0);
	KUNIT_EXPECT_EQ(test, print(ctx->tr, "text %d %s\n", 3, "three"), 13);
	KUNIT_EXPECT_NOT_NULL(test, strstr(array_text(test, ctx->tr, 0),
					   ": text 3 three\n"));

	KUNIT_ASSERT_EQ(test, trace_set_options(ctx->tr, off), 0);
	KUNIT_EXPECT_EQ(test, print(ctx->tr, "text %d\n", 4), 0);
	KUNIT_ASSERT_EQ(test, trace_set_options(ctx->tr, on), 0);
	KUNIT_EXPECT_EQ(test, trace_array_tracing_off(ctx->tr), 0);
	KUNIT_EXPECT_EQ(test, print(ctx->tr, "text %d\n", 5), 7);
	KUNIT_EXPECT_EQ(test, trace_array_tracing_on(ctx->tr), 0);
	KUNIT_EXPECT_EQ(test,
			ring_buffer_entries(ctx->tr->array_buffer.buffer), 1);

	if (!IS_ENABLED(CONFIG_ARCH_HAVE_NMI_SAFE_CMPXCHG))
		return;
	KUNIT_EXPECT_EQ(test, call_in_nmi(print_one, ctx->tr), 11);
	KUNIT_EXPECT_NOT_NULL(test, strstr(array_text(test, ctx->tr, 0),
					   ": from NMI 1\n"));
}

/* Stack traces are the choice of the instance, not of the top level. */
static void vprintk_with_stack(struct kunit *test)
{
	struct trace_array *top = top_trace_array();
	struct context *ctx = test->priv;
	char off[] = "nostacktrace";
	char on[] = "stacktrace";
	bool top_has_stack;

	if (!IS_ENABLED(CONFIG_STACKTRACE))
		kunit_skip(test, "needs CONFIG_STACKTRACE");

	KUNIT_ASSERT_EQ(test, trace_array_init_printk(ctx->tr), 0);
	KUNIT_ASSERT_EQ(test, trace_set_options(ctx->tr, on), 0);
	KUNIT_EXPECT_EQ(test, print(ctx->tr, "text %d\n", 1), 7);
	KUNIT_EXPECT_NOT_NULL(test, strstr(array_text(test, ctx->tr, 0),
					   "<stack trace>"));

	KUNIT_EXPECT_EQ(test, trace_array_clear(ctx->tr), 0);
	strscpy(off, "nostacktrace");
	strscpy(on, "stacktrace");
	KUNIT_ASSERT_EQ(test, trace_set_options(ctx->tr, off), 0);
	top_has_stack = top->trace_flags & TRACE_ITER(STACKTRACE);
	if (!top_has_stack)
		KUNIT_ASSERT_EQ(test, trace_set_options(top, on), 0);
	KUNIT_EXPECT_EQ(test, print(ctx->tr, "text %d\n", 2), 7);
	strscpy(off, "nostacktrace");
	if (!top_has_stack)
		KUNIT_EXPECT_EQ(test, trace_set_options(top, off), 0);
	array_text(test, ctx->tr, 0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(ctx->mine, ": text 2\n"));
	KUNIT_EXPECT_NULL(test, strstr(ctx->mine, "<stack trace>"));
}

/* Without memory: each allocation of a call fails once, one after the other */

/* In the middle of many are the pages of a ring buffer, all alike. */
static unsigned int next_nth(unsigned int nth, unsigned int total)
{
	return nth > 30 && nth + 200 < total ? nth + 10 : nth + 1;
}

/*
 * @call does one thing, and @check looks at what it has left, and takes that
 * back. An allocation that can be done without may fail unnoticed. The ring
 * buffer warns when it can't be allocated.
 */
static void without_memory(struct kunit *test,
			   int (*call)(struct context *ctx),
			   void (*check)(struct kunit *test, int ret))
{
	struct context *ctx = test->priv;
	unsigned int failed = 0;
	unsigned int total;
	int ret;

	need_failslab(test, ctx->user);
	set_fail_nth(UINT_MAX);
	ret = call(ctx);
	total = UINT_MAX - get_fail_nth();
	set_fail_nth(0);
	KUNIT_EXPECT_EQ(test, ret, 0);
	check(test, ret);

	for (unsigned int nth = 1; nth <= total; nth = next_nth(nth, total)) {
		kunit_warning_suppress(test) {
			set_fail_nth(nth);
			ret = call(ctx);
			set_fail_nth(0);
		}
		check(test, ret);
		if (ret)
			failed++;
	}
	KUNIT_EXPECT_GT(test, failed, 0);
}

static int create_other(struct context *ctx)
{
	return PTR_ERR_OR_ZERO(trace_array_get_or_create(OTHER, SYSTEM));
}

static void check_created(struct kunit *test, int ret)
{
	struct trace_array *tr = find_instance(OTHER);

	/* -EINVAL where tracefs made no directory, and does not say why. */
	if (ret) {
		KUNIT_EXPECT_TRUE(test, ret == -ENOMEM || ret == -EINVAL);
		expect_instance(test, OTHER, NULL);
		return;
	}

	KUNIT_ASSERT_NOT_NULL(test, tr);
	trace_array_put(tr);
	trace_array_destroy(tr);
	expect_instance(test, OTHER, NULL);
}

static void create_without_memory(struct kunit *test)
{
	without_memory(test, create_other, check_created);
	expect_no_handles(test, OTHER);
}

/* The memory is there, and stays there with the handle. */
static void create_again_without_memory(struct kunit *test)
{
	struct trace_array *stale = trace_array_create(OTHER);
	struct context *ctx = test->priv;

	KUNIT_ASSERT_FALSE(test, IS_ERR(stale));
	trace_array_put(stale);
	KUNIT_ASSERT_EQ(test, remove_instance(ctx->mnt, OTHER), 0);

	without_memory(test, create_other, check_created);
	KUNIT_EXPECT_EQ(test, stale->handles, 1);
	KUNIT_EXPECT_STREQ(test, stale->name, OTHER);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(stale), -ENODEV);
	expect_no_handles(test, OTHER);
}

static struct trace_array_reader *opened;

static int open_reader(struct context *ctx)
{
	opened = trace_array_reader_open(ctx->tr, 0);

	return PTR_ERR_OR_ZERO(opened);
}

/* The whole text, which has an end, or nothing. */
static void check_opened(struct kunit *test, int ret)
{
	struct context *ctx = test->priv;
	ssize_t n;

	KUNIT_EXPECT_TRUE(test, trace_array_tracing_is_on(ctx->tr));
	if (!ret) {
		n = trace_array_reader_read(opened, ctx->its, TEXT_SIZE);
		KUNIT_EXPECT_EQ(test, n, strlen(ctx->mine));
		if (n > 0)
			KUNIT_EXPECT_EQ(test,
					first_difference(ctx->mine, ctx->its,
							 n), n);
		trace_array_reader_close(opened);
	} else {
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	}
	KUNIT_EXPECT_EQ(test, ctx->tr->ref, 2);
	KUNIT_EXPECT_EQ(test, ctx->tr->stop_count, 0);
}

static void open_without_memory(struct kunit *test)
{
	struct context *ctx = test->priv;
	char pause[] = "pause-on-trace";
	unsigned long size;

	enable_events(test);
	record(0, 10);
	save_command();
	KUNIT_ASSERT_EQ(test, trace_set_options(ctx->tr, pause), 0);
	array_text(test, ctx->tr, 0);
	without_memory(test, open_reader, check_opened);

	/* No iterator is left. */
	size = size_of_buffer(test);
	KUNIT_EXPECT_EQ(test, trace_array_set_buffer_size(ctx->tr, 2 * size),
			0);
	KUNIT_EXPECT_EQ(test, trace_array_clear(ctx->tr), 0);
	record(0, 10);
	expect_records(test, 0, 0, 10);
}

static int set_self(struct context *ctx)
{
	pid_t self = task_pid_nr(current);

	return trace_array_set_event_pids(ctx->tr, &self, 1);
}

/* The new list, or the old one. */
static void check_pids(struct kunit *test, int ret)
{
	const pid_t init = 1;
	char text[32];

	snprintf(text, sizeof(text), "%d\n", task_pid_nr(current));
	if (ret)
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	expect_file(test, "set_event_pid", ret ? "1\n" : text);
	set_pids(test, &init, 1, 0);
}

static void pids_without_memory(struct kunit *test)
{
	check_pids(test, set_self(test->priv));
	without_memory(test, set_self, check_pids);
}

static int set_events_on(struct context *ctx)
{
	return trace_array_set_events(ctx->tr, SYSTEM ":" EVENT, true);
}

static void check_events(struct kunit *test, int ret)
{
	if (ret)
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	expect_events(test, !ret, false);
	set_events(test, SYSTEM, false);
}

/*
 * Recording commands is on all the time: who starts it is not told when that
 * fails, and stopping it then warns.
 */
static void events_without_memory(struct kunit *test)
{
	tracing_start_cmdline_record();
	without_memory(test, set_events_on, check_events);
	tracing_stop_cmdline_record();
}

static int set_the_filter(struct context *ctx)
{
	return trace_array_set_event_filter(ctx->tr, SYSTEM, EVENT,
					    "seq == 2 || seq == 3");
}

/* This filter, or none, or the one before: but what is shown is in effect. */
static void check_filter(struct kunit *test, int ret)
{
	struct context *ctx = test->priv;
	const char *shown = read_text(test, EVENT_FILE "filter");
	u32 first = 0, nr = 10;

	if (!ret) {
		KUNIT_EXPECT_STREQ(test, shown, "seq == 2 || seq == 3\n");
		first = 2;
		nr = 2;
	} else {
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
		if (!strcmp(shown, "seq == 5\n")) {
			first = 5;
			nr = 1;
		}
	}
	KUNIT_EXPECT_EQ(test, trace_array_clear(ctx->tr), 0);
	record(0, 10);
	expect_records(test, 0, first, nr);
	KUNIT_EXPECT_EQ(test, set_filter(test, "seq == 5"), 0);
}

static void filter_without_memory(struct kunit *test)
{
	enable_events(test);
	KUNIT_ASSERT_EQ(test, set_filter(test, "seq == 5"), 0);
	without_memory(test, set_the_filter, check_filter);
}

/* Concurrency */

struct worker {
	void			(*work)(struct worker *worker);
	struct context		*ctx;
	struct completion	done;
	int			id;
	/* The first wrong thing that it saw. */
	int			failed;
	/* Its records, or what else it counts. */
	u32			count;
	bool			stop;
	/* What a tracing worker waits for. */
	u32			*turn;
};

static int run_worker(void *data)
{
	struct worker *worker = data;

	worker->work(worker);
	complete(&worker->done);

	return 0;
}

static struct task_struct *start_worker(struct kunit *test,
					struct worker *worker, int cpu)
{
	struct task_struct *task;

	worker->ctx = test->priv;
	init_completion(&worker->done);
	task = kthread_create_on_cpu(run_worker, worker, cpu, "worker/%u");
	if (IS_ERR(task)) {
		worker->failed = PTR_ERR(task);
		complete(&worker->done);
		return NULL;
	}

	return task;
}

static void end_worker(struct kunit *test, struct worker *worker)
{
	WRITE_ONCE(worker->stop, true);
	wait_for_completion(&worker->done);
	KUNIT_EXPECT_EQ_MSG(test, worker->failed, 0, "worker %d", worker->id);
}

/* The handle goes back in any case. */
static int destroy_when_idle(struct trace_array *tr)
{
	int ret;

	while ((ret = trace_array_destroy(tr)) == -EBUSY)
		cond_resched();

	return ret == -ENODEV ? 0 : ret;
}

static void fight_for_name(struct worker *worker)
{
	for (unsigned int i = 0; i < cycles && !worker->failed; i++) {
		struct trace_array *tr;

		if ((i + worker->id) & 1) {
			tr = trace_array_get_or_create(OTHER, NULL);
		} else {
			tr = trace_array_create(OTHER);
			if (PTR_ERR(tr) == -EEXIST)
				tr = trace_array_lookup(OTHER);
			if (PTR_ERR(tr) == -ENOENT)
				continue;
		}
		if (IS_ERR(tr)) {
			worker->failed = PTR_ERR(tr);
			break;
		}

		worker->count++;
		if (strcmp(tr->name, OTHER))
			worker->failed = -EINVAL;
		trace_array_put(tr);
		worker->failed = destroy_when_idle(tr) ?: worker->failed;
	}
}

static void race_for_name(struct kunit *test)
{
	struct worker worker[2] = {};
	int cpu[2];

	need_two_cpus(test, cpu);
	for (int i = 0; i < 2; i++) {
		struct task_struct *task;

		worker[i].id = i;
		worker[i].work = fight_for_name;
		task = start_worker(test, &worker[i], cpu[i]);
		if (task)
			wake_up_process(task);
	}
	for (int i = 0; i < 2; i++) {
		end_worker(test, &worker[i]);
		KUNIT_EXPECT_GE(test, worker[i].count, cycles / 2);
	}

	expect_instance(test, OTHER, NULL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(trace_array_lookup(OTHER)), -ENOENT);
	expect_no_handles(test, OTHER);
}

static void remove_all_the_time(struct worker *worker)
{
	while (!READ_ONCE(worker->stop)) {
		int ret = remove_instance(worker->ctx->mnt, OTHER);

		if (!ret)
			worker->count++;
		else if (ret != -EBUSY && ret != -ENOENT && ret != -ENODEV)
			worker->failed = ret;

		ret = make_instance(worker->ctx->mnt, OTHER);
		if (ret && ret != -EEXIST)
			worker->failed = ret;
		cond_resched();
	}
}

/* A reader keeps the instance, whatever user space does. */
static void race_reader_with_rmdir(struct kunit *test)
{
	struct context *ctx = test->priv;
	struct worker remover = { .work = remove_all_the_time };
	struct task_struct *task;
	int cpu[2];

	need_two_cpus(test, cpu);
	task = start_worker(test, &remover, cpu[1]);
	if (task)
		wake_up_process(task);

	for (unsigned int i = 0; i < cycles; i++) {
		struct trace_array *tr = trace_array_get_or_create(OTHER, NULL);
		struct trace_array_reader *reader;
		char buf[16];

		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(tr), 0);
		if (IS_ERR(tr))
			break;
		reader = trace_array_reader_open(tr, 0);
		trace_array_put(tr);
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(reader), 0);
		if (!IS_ERR(reader)) {
			KUNIT_EXPECT_EQ(test,
					remove_instance(ctx->mnt, OTHER),
					-EBUSY);
			KUNIT_EXPECT_PTR_EQ(test, find_instance(OTHER), tr);
			KUNIT_EXPECT_EQ(test,
					trace_array_reader_read(reader, buf,
								sizeof(buf)),
					sizeof(buf));
			trace_array_reader_close(reader);
		}
		KUNIT_EXPECT_EQ(test, destroy_when_idle(tr), 0);
	}
	end_worker(test, &remover);
	remove_instance(ctx->mnt, OTHER);
	expect_no_handles(test, OTHER);
}

/* Records of each thread that fit in one buffer, and snapshots meanwhile. */
#define RACE_RECORDS	5000
#define RACE_BATCH	20

static void write_records(struct worker *worker)
{
	while (worker->count < RACE_RECORDS) {
		/* Let there be a snapshot for every few of them. */
		while (READ_ONCE(*worker->turn) < worker->count / RACE_BATCH &&
		       !READ_ONCE(worker->stop))
			cond_resched();
		trace_instance_kunit(worker->id, worker->count++, 0);
	}
}

/* Whole lines with growing numbers; the last one may be cut. */
static int check_text(const char *text)
{
	u32 next[2] = {};
	const char *p;

	for (p = text; (p = strstr(p, ": " EVENT ": ")); p++) {
		u32 source, seq;

		if (!strchr(p, '\n'))
			break;
		if (sscanf(p, ": " EVENT ": source=%u seq=%u pattern=", &source,
			   &seq) != 2 || source > 1 || seq < next[source])
			return -EINVAL;
		next[source] = seq + 1;
	}

	return 0;
}

static void read_all_the_time(struct worker *worker)
{
	const unsigned int snapshot = TRACE_ARRAY_READ_SNAPSHOT;
	struct context *ctx = worker->ctx;
	struct seq_buf s;
	int ret;

	while (!READ_ONCE(worker->stop)) {
		seq_buf_init(&s, ctx->mine, TEXT_SIZE);
		ret = trace_array_read(ctx->tr,
				       worker->count++ & 1 ? snapshot : 0, &s);
		if (ret == -E2BIG)
			ret = 0;
		if (!ret)
			ret = check_text(seq_buf_str(&s));
		if (ret)
			worker->failed = ret;
		cond_resched();
	}
}

/* Marks the records of a buffer; each is there once, in order. */
static void mark_records(struct kunit *test, struct trace_buffer *buffer,
			 unsigned long *seen[2])
{
	u32 wrong = 0;
	int cpu;

	for_each_online_cpu(cpu) {
		struct trace_event_raw_instance_kunit *rec;
		struct ring_buffer_event *event;
		u32 next[2] = {};

		while ((event = ring_buffer_consume(buffer, cpu, NULL, NULL))) {
			rec = ring_buffer_event_data(event);
			if (rec->ent.type != event_instance_kunit.event.type ||
			    rec->source > 1 || rec->seq >= RACE_RECORDS ||
			    rec->seq < next[rec->source] ||
			    __test_and_set_bit(rec->seq, seen[rec->source]))
				wrong++;
			else
				next[rec->source] = rec->seq + 1;
		}
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* Snapshots swap buffers: all records are in one of the two, and once. */
static void race_for_snapshot(struct kunit *test)
{
	struct worker reader = { .work = read_all_the_time, .id = 2 };
	struct context *ctx = test->priv;
	struct task_struct *task[3];
	struct worker writer[2] = {};
	unsigned long *seen[2];
	u32 taken = 0;
	int cpu[2];

	need_two_cpus(test, cpu);
	enable_events(test);
	snapshot_alloc(test);
	for (int i = 0; i < 2; i++) {
		seen[i] = kunit_kcalloc(test, BITS_TO_LONGS(RACE_RECORDS),
					sizeof(long), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, seen[i]);
	}

	for (int i = 0; i < 2; i++) {
		writer[i].id = i;
		writer[i].work = write_records;
		writer[i].turn = &taken;
		task[i] = start_worker(test, &writer[i], cpu[i]);
	}
	task[2] = start_worker(test, &reader, cpu[1]);
	for (int i = 0; i < 3; i++)
		if (task[i])
			wake_up_process(task[i]);

	while (!completion_done(&writer[0].done) ||
	       !completion_done(&writer[1].done)) {
		KUNIT_EXPECT_EQ(test, trace_array_snapshot(ctx->tr), 0);
		WRITE_ONCE(taken, taken + 1);
		cond_resched();
	}
	end_worker(test, &writer[0]);
	end_worker(test, &writer[1]);
	end_worker(test, &reader);
	KUNIT_EXPECT_GE(test, taken, RACE_RECORDS / RACE_BATCH - 1);

	mark_records(test, ctx->tr->array_buffer.buffer, seen);
	mark_records(test, ctx->tr->snapshot_buffer.buffer, seen);
	for (int i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, bitmap_weight(seen[i], RACE_RECORDS),
				RACE_RECORDS);
	trace_array_snapshot_free(ctx->tr);
}

static void write_until_stopped(struct worker *worker)
{
	while (!READ_ONCE(worker->stop)) {
		trace_instance_kunit(worker->id, worker->count, 0);
		WRITE_ONCE(worker->count, worker->count + 1);
		cond_resched();
	}
}

static void wait_for_records(struct worker *worker)
{
	worker->failed =
		ring_buffer_wait(worker->ctx->tr->array_buffer.buffer,
				 RING_BUFFER_ALL_CPUS, 0, NULL, NULL);
}

/* Who waits for records is told that there are no more. */
static void tracing_off_wakes(struct kunit *test)
{
	struct worker waiter = { .work = wait_for_records };
	struct context *ctx = test->priv;
	struct trace_buffer *buffer = ctx->tr->array_buffer.buffer;
	struct task_struct *task;
	int tries = 0;

	task = start_worker(test, &waiter, ctx->cpu);
	if (task)
		wake_up_process(task);

	/* It may not wait yet. */
	do {
		KUNIT_EXPECT_EQ(test, trace_array_tracing_off(ctx->tr), 0);
		if (wait_for_completion_timeout(&waiter.done, HZ / 50 + 1))
			break;
	} while (++tries < 500);
	KUNIT_EXPECT_LT(test, tries, 500);

	while (tries == 500 &&
	       !wait_for_completion_timeout(&waiter.done, HZ / 50 + 1))
		ring_buffer_wake_waiters(buffer, RING_BUFFER_ALL_CPUS);
	KUNIT_EXPECT_EQ(test, waiter.failed, 0);
}

/* The first worker is in every list, the second one in none. */
static void race_for_pids(struct kunit *test)
{
	struct context *ctx = test->priv;
	struct worker worker[2] = {};
	struct task_struct *task[2];
	struct trace_buffer *buffer;
	pid_t pids[2];
	int cpu[2];

	need_two_cpus(test, cpu);
	/* All that fits can be read. */
	KUNIT_ASSERT_EQ(test, trace_array_set_buffer_size(ctx->tr, SZ_64K), 0);
	enable_events(test);
	for (int i = 0; i < 2; i++) {
		worker[i].id = i;
		worker[i].work = write_until_stopped;
		task[i] = start_worker(test, &worker[i], cpu[1]);
	}
	if (task[0])
		pids[0] = task_pid_nr(task[0]);
	else
		pids[0] = task_pid_nr(current);
	pids[1] = task_pid_nr(current);
	set_pids(test, pids, 1, 0);
	for (int i = 0; i < 2; i++)
		if (task[i])
			wake_up_process(task[i]);

	/* Both are in the middle of it. */
	for (int i = 0; i < 2; i++)
		while (task[i] && !READ_ONCE(worker[i].count))
			cond_resched();
	for (unsigned int i = 0; i < 3 * cycles; i++)
		set_pids(test, pids, 1 + i % 2, 0);
	end_worker(test, &worker[0]);
	end_worker(test, &worker[1]);

	/* What was made is there, but for what was overwritten. */
	buffer = ctx->tr->array_buffer.buffer;
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(buffer) +
			ring_buffer_overruns(buffer), worker[0].count);
	KUNIT_EXPECT_NULL(test, strstr(array_text(test, ctx->tr, 0),
				       " source=1 "));
}

KUNIT_DEFINE_ACTION_WRAPPER(free_text, kvfree, const void *);

static char *alloc_text(struct kunit *test)
{
	char *text = kvmalloc(TEXT_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, text);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_text, text),
			0);

	return text;
}

static void array_cleanup(void *data)
{
	struct kunit *test = data;
	struct context *ctx = test->priv;

	trace_array_put(ctx->tr);
	KUNIT_EXPECT_EQ(test, ctx->tr->handles, 1);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(ctx->tr), 0);
	expect_instance(test, OTHER, NULL);
}

static int array_init(struct kunit *test)
{
	struct context *ctx;
	unsigned long addr;

	fixes_init(test);
	ctx = test->priv;
	ctx->mine = alloc_text(test);
	ctx->its = alloc_text(test);
	addr = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
			     MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_FALSE(test, !addr || IS_ERR_VALUE(addr));
	ctx->user = (char __user *)addr;
	on_one_cpu(test);
	ctx->cpu = raw_smp_processor_id();

	ctx->tr = trace_array_create(INSTANCE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(ctx->tr));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, array_cleanup,
							test), 0);

	return 0;
}

static struct kunit_case fixes_cases[] = {
	KUNIT_CASE(destroy_after_rmdir),
	KUNIT_CASE(destroy_after_two_rmdir),
	KUNIT_CASE(destroy_by_second_user),
	KUNIT_CASE(destroy_gives_memory_back),
	KUNIT_CASE(destroy_after_put),
	KUNIT_CASE(destroy_what_user_space_made),
	KUNIT_CASE(destroy_twice),
	KUNIT_CASE(destroy_with_reader),
	KUNIT_CASE(destroy_with_reference),
	KUNIT_CASE(same_name_again),
	{}
};

static struct kunit_suite fixes_suite = {
	.name		= "trace_instance_fixes",
	.init		= fixes_init,
	.test_cases	= fixes_cases,
};

static struct kunit_case array_cases[] = {
	KUNIT_CASE(get_by_create),
	KUNIT_CASE(get_by_lookup),
	KUNIT_CASE(get_or_create),
	KUNIT_CASE(get_by_bad_name),
	KUNIT_CASE(leave_at_end_of_scope),
	KUNIT_CASE(leave_to_user),
	KUNIT_CASE(handles_keep_memory),
	KUNIT_CASE(call_without_instance),
	KUNIT_CASE(call_with_read_only_instance),
	KUNIT_CASE(call_with_tracing_disabled),
	KUNIT_CASE(tracing_on_and_off),
	KUNIT_CASE(clear_records),
	KUNIT_CASE(buffer_size),
	KUNIT_CASE(buffer_size_refused),
	KUNIT_CASE(buffer_size_of_snapshot),
	KUNIT_CASE(clock_by_name),
	KUNIT_CASE(tracer_by_name),
	KUNIT_CASE(tracer_busy),
	KUNIT_CASE(events_by_text),
	KUNIT_CASE(events_up_to_the_wrong_one),
	KUNIT_CASE(events_of_module),
	KUNIT_CASE(filter_discards),
	KUNIT_CASE(filter_wrong),
	KUNIT_CASE(filter_refused),
	KUNIT_CASE(trigger_refused),
	KUNIT_CASE(trigger_of_marker),
	KUNIT_CASE(trigger_switches),
	KUNIT_CASE(trigger_stacktrace),
	KUNIT_CASE(pids_choose),
	KUNIT_CASE(pids_refused),
	KUNIT_CASE(snapshot_needs_alloc),
	KUNIT_CASE(snapshot_swaps),
	KUNIT_CASE(snapshot_comes_back),
	KUNIT_CASE(snapshot_keeps_start),
	KUNIT_CASE(snapshot_of_old_records),
	KUNIT_CASE(snapshot_of_cpu),
	KUNIT_CASE(snapshot_while_off),
	KUNIT_CASE(snapshot_from_nmi),
	KUNIT_CASE(snapshot_from_irq),
	KUNIT_CASE(snapshot_while_stopped),
	KUNIT_CASE(snapshot_while_read),
	KUNIT_CASE(snapshot_with_condition),
	KUNIT_CASE(snapshot_with_latency_tracer),
	KUNIT_CASE(snapshot_with_mapped_buffer),
	KUNIT_CASE(snapshot_while_cpu_read),
	KUNIT_CASE(snapshot_of_boot_buffer),
	KUNIT_CASE(snapshot_buffer_of_user),
	KUNIT_CASE(snapshot_buffer_of_trigger),
	KUNIT_CASE(read_as_files),
	KUNIT_CASE(read_what_is_left),
	KUNIT_CASE(read_consumes_nothing),
	KUNIT_CASE(read_too_big),
	KUNIT_CASE(read_refused),
	KUNIT_CASE(read_up_to_error),
	KUNIT_CASE(reader_keeps_instance),
	KUNIT_CASE(reader_of_freed_snapshot),
	KUNIT_CASE(vprintk_of_instance),
	KUNIT_CASE(vprintk_with_stack),
	KUNIT_CASE_SLOW(create_without_memory),
	KUNIT_CASE_SLOW(create_again_without_memory),
	KUNIT_CASE(open_without_memory),
	KUNIT_CASE(pids_without_memory),
	KUNIT_CASE(events_without_memory),
	KUNIT_CASE(filter_without_memory),
	KUNIT_CASE(tracing_off_wakes),
	KUNIT_CASE_SLOW(race_for_name),
	KUNIT_CASE_SLOW(race_reader_with_rmdir),
	KUNIT_CASE_SLOW(race_for_snapshot),
	KUNIT_CASE_SLOW(race_for_pids),
	{}
};

static struct kunit_suite array_suite = {
	.name		= "trace_instance",
	.init		= array_init,
	.test_cases	= array_cases,
};

kunit_test_suites(&fixes_suite, &array_suite);

MODULE_DESCRIPTION("KUnit tests for trace instances");
MODULE_LICENSE("GPL");

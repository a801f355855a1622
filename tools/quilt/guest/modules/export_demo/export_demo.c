// SPDX-License-Identifier: GPL-2.0
/*
 * Shows trace exports at work: counts what a registered export is given, by
 * the type number that each record starts with. The demo scenario reads the
 * counts from debugfs and looks the numbers up in events/.../id.
 */

#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/trace.h>
#include <linux/trace_events.h>

#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#define MAX_TYPES	8192

static struct dentry *dir;
static atomic_t records[MAX_TYPES];
static atomic_long_t bytes[MAX_TYPES];

/* Called in any context with preemption disabled: no lock, no allocation. */
static void notrace demo_write(struct trace_export *export, const void *buf,
			       unsigned int len)
{
	const struct trace_entry *entry = buf;

	if (entry->type < MAX_TYPES) {
		atomic_inc(&records[entry->type]);
		atomic_long_add(len, &bytes[entry->type]);
	}
}

static struct trace_export demo_export = {
	.name	= "export_demo",
	.write	= demo_write,
	.flags	= TRACE_EXPORT_FUNCTION | TRACE_EXPORT_EVENT |
		  TRACE_EXPORT_MARKER,
};

static int records_show(struct seq_file *m, void *unused)
{
	for (int i = 0; i < MAX_TYPES; i++) {
		int n = atomic_read(&records[i]);

		if (n)
			seq_printf(m, "%d %d %ld\n", i, n,
				   atomic_long_read(&bytes[i]));
	}

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(records);

static int __init demo_init(void)
{
	struct trace_export stranger = demo_export;
	int ret;

	ret = register_ftrace_export(&demo_export);
	if (ret)
		return ret;

	pr_info("registered; a second time: %pe; unregister another one: %pe\n",
		ERR_PTR(register_ftrace_export(&demo_export)),
		ERR_PTR(unregister_ftrace_export(&stranger)));

	dir = debugfs_create_dir("export_demo", NULL);
	debugfs_create_file("records", 0444, dir, NULL, &records_fops);

	return 0;
}
module_init(demo_init);

static void __exit demo_exit(void)
{
	debugfs_remove(dir);
	unregister_ftrace_export(&demo_export);
}
module_exit(demo_exit);

MODULE_DESCRIPTION("Counts what a trace export is given");
MODULE_LICENSE("GPL");

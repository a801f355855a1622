// SPDX-License-Identifier: GPL-2.0
/*
 * Calls the functions for instances and exports each time instance_lockdown in
 * debugfs is read, and prints a line for each with the name and the errno. The module
 * is loaded before the kernel is locked down. Lockdown allows the file, as it is
 * read-only.
 */

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/trace.h>
#include <linux/trace_instance.h>

#define INSTANCE	"lockdown"
#define OTHER		"lockdown_other"

static struct trace_array *tr;
static struct dentry *file;

static void show(struct seq_file *m, const char *what, int ret)
{
	seq_printf(m, "%s %d\n", what, ret);
}

static void show_create(struct seq_file *m)
{
	struct trace_array *other = trace_array_create(OTHER);

	show(m, "create", PTR_ERR_OR_ZERO(other));
	if (!IS_ERR(other))
		show(m, "put_and_destroy", trace_array_put_and_destroy(other));
}

static void show_reader(struct seq_file *m)
{
	struct trace_array_reader *reader = trace_array_reader_open(tr, 0);
	char text[32];

	show(m, "reader_open", PTR_ERR_OR_ZERO(reader));
	if (!IS_ERR(reader))
		show(m, "reader_read",
		     trace_array_reader_read(reader, text, sizeof(text)) > 0 ?
		     0 : -EIO);
	trace_array_reader_close(reader);
}

static void ignore(struct trace_export *unused, const void *data, unsigned int len)
{
}

static struct trace_export export = {
	.write	= ignore,
	.flags	= TRACE_EXPORT_EVENT,
};

static void show_export(struct seq_file *m)
{
	int ret = trace_array_register_export(tr, &export);

	show(m, "register_export", ret);
	if (!ret)
		show(m, "unregister_export",
		     trace_array_unregister_export(tr, &export));
}

static int instance_lockdown_show(struct seq_file *m, void *unused)
{
	int ret;

	show_create(m);
	show(m, "clear", trace_array_clear(tr));
	show(m, "set_buffer_size", trace_array_set_buffer_size(tr, SZ_64K));
	show(m, "set_event_filter",
	     trace_array_set_event_filter(tr, "sched", "sched_switch", "0"));
	ret = trace_array_snapshot_alloc(tr);
	show(m, "snapshot_alloc", ret);
	if (!ret)
		trace_array_snapshot_free(tr);
	show_reader(m);
	show_export(m);
	/* These work in any context, where security modules can't be asked. */
	show(m, "set_tracing", trace_array_set_tracing(tr, true));
	show(m, "snapshot", trace_array_snapshot(tr));

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(instance_lockdown);

static int __init instance_lockdown_init(void)
{
	int ret;

	tr = trace_array_create(INSTANCE);
	if (IS_ERR(tr))
		return PTR_ERR(tr);

	ret = trace_array_snapshot_alloc(tr);
	if (ret) {
		trace_array_put_and_destroy(tr);
		return ret;
	}

	file = debugfs_create_file("instance_lockdown", 0444, NULL, NULL,
				   &instance_lockdown_fops);

	return 0;
}

static void __exit instance_lockdown_exit(void)
{
	debugfs_remove(file);
	trace_array_snapshot_free(tr);
	if (trace_array_put_and_destroy(tr))
		trace_array_put(tr);
}

module_init(instance_lockdown_init);
module_exit(instance_lockdown_exit);
MODULE_DESCRIPTION("Errors of trace instances when the kernel is locked down");
MODULE_LICENSE("GPL");

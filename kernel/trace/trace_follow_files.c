// SPDX-License-Identifier: GPL-2.0
/*
 * The files that choose the tasks an instance follows.
 *
 * A file that was opened with O_TRUNC replaces the choice at its first write
 * that is not refused, or drops it at the end if there was no write. So a
 * choice that is refused leaves the one before in force.
 */

#include <linux/cred.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>

#include "trace.h"
#include "trace_follow.h"

enum {
	FOLLOW_ERR_BAD_PID,
	FOLLOW_ERR_NO_TASK,
	FOLLOW_ERR_LONG_COMM,
	FOLLOW_ERR_BAD_UID,
	FOLLOW_ERR_NO_BIT,
	FOLLOW_ERR_TOO_LONG,
	FOLLOW_ERR_TOO_MANY,
	FOLLOW_ERR_NUL,

	FOLLOW_ERR_NR,
};

static const char *trace_follow_errors[FOLLOW_ERR_NR] = {
	[FOLLOW_ERR_BAD_PID]	= "Not a pid",
	[FOLLOW_ERR_NO_TASK]	= "No such task",
	[FOLLOW_ERR_LONG_COMM]	= "Command names have 15 characters at most",
	[FOLLOW_ERR_BAD_UID]	= "Not a user in this user namespace",
	[FOLLOW_ERR_NO_BIT]	= "Too many sets of followed tasks",
	[FOLLOW_ERR_TOO_LONG]	= "More than 65535 bytes",
	[FOLLOW_ERR_TOO_MANY]	= "More than 256 names or users",
	[FOLLOW_ERR_NUL]	= "Text behind a NUL",
};

/**
 * struct trace_follow_file_ops - a kind of choice
 * @name:	name of the file
 * @delim:	what is between two words
 * @size:	of what parse() makes from a word
 * @parse:	returns 0, or an error and a number of an error in @err
 * @choose:	choose @nr of what parse() has made
 * @put:	drop what parse() has made, may be NULL
 * @show:	print the choice, or when there is none that next() walks over
 * @next:	for long choices: the first number to show from @pos on, which
 *		becomes @pos, or 0
 * @fops:	of the file, in here so that the file leads to the rest
 */
struct trace_follow_file_ops {
	const char	*name;
	const char	*delim;
	size_t		size;
	int		(*parse)(struct seq_file *m, const char *word,
				 void *item, int *err);
	int		(*choose)(struct trace_follow *follow, void *items,
				  unsigned int nr, bool replace);
	void		(*put)(void *item);
	void		(*show)(struct seq_file *m,
				const struct trace_follow *follow);
	pid_t		(*next)(const struct trace_follow *follow, loff_t *pos);
	const struct file_operations fops;
};

struct trace_follow_file {
	struct trace_array			*tr;
	const struct trace_follow_file_ops	*ops;
	bool					replace;
	bool					written;
};

static int parse_pid(struct seq_file *m, const char *word, void *item, int *err)
{
	struct pid **pid = item;
	pid_t nr;

	*err = FOLLOW_ERR_BAD_PID;
	if (kstrtoint(word, 0, &nr) || nr <= 0)
		return -EINVAL;

	*err = FOLLOW_ERR_NO_TASK;
	*pid = find_get_pid(nr);

	return *pid ? 0 : -ESRCH;
}

static int choose_pids(struct trace_follow *follow, void *items,
		       unsigned int nr, bool replace)
{
	return trace_follow_pids(follow, items, nr, replace);
}

static void put_pid_item(void *item)
{
	put_pid(*(struct pid **)item);
}

/* The tasks that are followed now, as the reader names them. */
static pid_t next_pid(const struct trace_follow *follow, loff_t *pos)
{
	struct pid_namespace *ns = task_active_pid_ns(current);
	unsigned long bits = READ_ONCE(follow->bits[TRACE_FOLLOW_PID]);
	struct task_struct *t;
	struct pid *pid;
	pid_t nr;

	/* There may be many pids, so RCU is given up after each of them. */
	for (; *pos < PID_MAX_LIMIT; (*pos)++) {
		guard(rcu)();

		pid = find_ge_pid(*pos, ns);
		if (!pid)
			return 0;
		nr = pid_nr_ns(pid, ns);
		*pos = nr;
		t = pid_task(pid, PIDTYPE_PID);
		if (t && (READ_ONCE(t->trace_follow) & bits))
			return nr;
	}

	return 0;
}

static void show_no_pid(struct seq_file *m, const struct trace_follow *follow)
{
	if (!READ_ONCE(follow->bits[TRACE_FOLLOW_PID]))
		seq_puts(m, "no pid\n");
}

#ifdef CONFIG_PROCESS_TRACER
/* In process_follow_pid a single 0 stands for all tasks. */
static int parse_pid_or_0(struct seq_file *m, const char *word, void *item,
			  int *err)
{
	struct pid **pid = item;

	if (strcmp(word, "0"))
		return parse_pid(m, word, item, err);

	*pid = NULL;

	return 0;
}

static int choose_pids_or_0(struct trace_follow *follow, void *items,
			    unsigned int nr, bool replace)
{
	struct pid **pids = items;
	unsigned int i;

	if (nr == 1 && !pids[0])
		return trace_follow_pids(follow, NULL, 0, true);

	for (i = 0; i < nr; i++) {
		if (!pids[i])
			return -EINVAL;
	}

	return trace_follow_pids(follow, pids, nr, replace);
}

static void show_0(struct seq_file *m, const struct trace_follow *follow)
{
	if (!READ_ONCE(follow->bits[TRACE_FOLLOW_PID]))
		seq_puts(m, "0\n");
}
#endif

static int parse_comm(struct seq_file *m, const char *word, void *item,
		      int *err)
{
	*err = FOLLOW_ERR_LONG_COMM;

	return strscpy(item, word, TASK_COMM_LEN) < 0 ? -ENAMETOOLONG : 0;
}

static int choose_comms(struct trace_follow *follow, void *items,
			unsigned int nr, bool replace)
{
	return trace_follow_comms(follow, items, nr, replace);
}

static void show_comms(struct seq_file *m, const struct trace_follow *follow)
{
	const struct trace_follow_list *list;
	unsigned int i;

	guard(rcu)();

	list = rcu_dereference(follow->lists[TRACE_FOLLOW_COMM]);
	for (i = 0; list && i < list->nr; i++)
		seq_printf(m, "%s\n", &list->items[i * TASK_COMM_LEN]);
}

/* Users are written and shown as numbers of the opener's user namespace. */
static int parse_uid(struct seq_file *m, const char *word, void *item, int *err)
{
	kuid_t *kuid = item;
	unsigned int uid;

	*err = FOLLOW_ERR_BAD_UID;
	if (kstrtouint(word, 0, &uid))
		return -EINVAL;

	*kuid = make_kuid(seq_user_ns(m), uid);

	return uid_valid(*kuid) ? 0 : -EINVAL;
}

static int choose_uids(struct trace_follow *follow, void *items,
		       unsigned int nr, bool replace)
{
	return trace_follow_uids(follow, items, nr, replace);
}

static void show_uids(struct seq_file *m, const struct trace_follow *follow)
{
	const struct trace_follow_list *list;
	const kuid_t *uids;
	unsigned int i;

	guard(rcu)();

	list = rcu_dereference(follow->lists[TRACE_FOLLOW_UID]);
	if (!list)
		return;

	uids = (const kuid_t *)list->items;
	for (i = 0; i < list->nr; i++)
		seq_printf(m, "%u\n", from_kuid_munged(seq_user_ns(m),
						       uids[i]));
}

static void trace_follow_log_err(struct trace_array *tr, const char *cmd,
				 size_t pos, int err)
{
	tracing_log_err(tr, "follow", cmd, trace_follow_errors, err, pos);
}

/* @buf is cut into words, @cmd is a copy. */
static int trace_follow_choose(struct seq_file *m, const char *cmd, char *buf)
{
	void *items __free(kvfree) = NULL;
	struct trace_follow_file *file = m->private;
	const struct trace_follow_file_ops *ops = file->ops;
	struct trace_array *tr = file->tr;
	unsigned int nr = 0;
	char *rest = buf;
	int ret = 0, err;
	char *word;

	/* Each word has a character and what is between it and the next. */
	items = kvcalloc(strlen(buf) / 2 + 1, ops->size, GFP_KERNEL);
	if (!items)
		return -ENOMEM;

	while ((word = strsep(&rest, ops->delim))) {
		if (!*word)
			continue;
		ret = ops->parse(m, word, items + nr * ops->size, &err);
		if (ret) {
			trace_follow_log_err(tr, cmd, word - buf, err);
			break;
		}
		nr++;
	}

	if (!ret) {
		ret = ops->choose(&tr->follow, items, nr, file->replace);
		if (ret == -ESRCH)
			trace_follow_log_err(tr, cmd, 0, FOLLOW_ERR_NO_TASK);
		else if (ret == -EINVAL)
			trace_follow_log_err(tr, cmd, 0, FOLLOW_ERR_BAD_PID);
		else if (ret == -ENOSPC)
			trace_follow_log_err(tr, cmd, 0, FOLLOW_ERR_NO_BIT);
		else if (ret == -E2BIG)
			trace_follow_log_err(tr, cmd, 0, FOLLOW_ERR_TOO_MANY);
	}

	while (nr-- && ops->put)
		ops->put(items + nr * ops->size);

	return ret;
}

static ssize_t trace_follow_write(struct file *filp, const char __user *ubuf,
				  size_t cnt, loff_t *ppos)
{
	char *cmd __free(kfree) = NULL;
	char *buf __free(kfree) = NULL;
	struct seq_file *m = filp->private_data;
	struct trace_follow_file *file = m->private;
	int ret;

	file->written = true;
	if (cnt >= SZ_64K) {
		trace_follow_log_err(file->tr, "", 0, FOLLOW_ERR_TOO_LONG);
		return -E2BIG;
	}

	buf = memdup_user_nul(ubuf, cnt);
	if (IS_ERR(buf))
		return PTR_ERR(no_free_ptr(buf));
	cmd = kstrdup(buf, GFP_KERNEL);
	if (!cmd)
		return -ENOMEM;
	/* One line in error_log */
	strim(cmd);
	strreplace(cmd, '\n', ' ');
	if (strlen(buf) + 1 < cnt) {
		trace_follow_log_err(file->tr, cmd, 0, FOLLOW_ERR_NUL);
		return -EINVAL;
	}

	ret = trace_follow_choose(m, cmd, buf);
	if (ret)
		return ret;

	file->replace = false;
	*ppos += cnt;

	return cnt;
}

/* The position is 0 for the text of show(), then what next() found. */
static void *trace_follow_find(struct trace_follow_file *file, loff_t *pos)
{
	if (!file->ops->next)
		return NULL;

	return (void *)(long)file->ops->next(&file->tr->follow, pos);
}

static void *trace_follow_start(struct seq_file *m, loff_t *pos)
{
	return *pos ? trace_follow_find(m->private, pos) : SEQ_START_TOKEN;
}

static void *trace_follow_next(struct seq_file *m, void *v, loff_t *pos)
{
	(*pos)++;

	return trace_follow_find(m->private, pos);
}

static void trace_follow_stop(struct seq_file *m, void *v)
{
}

static int trace_follow_show(struct seq_file *m, void *v)
{
	struct trace_follow_file *file = m->private;

	/* SEQ_START_TOKEN looks like pid 1, so tell it by the position. */
	if (m->index)
		seq_printf(m, "%ld\n", (long)v);
	else
		file->ops->show(m, &file->tr->follow);

	return 0;
}

static const struct seq_operations trace_follow_seq_ops = {
	.start	= trace_follow_start,
	.next	= trace_follow_next,
	.stop	= trace_follow_stop,
	.show	= trace_follow_show,
};

static int trace_follow_open(struct inode *inode, struct file *filp)
{
	struct trace_array *tr = inode->i_private;
	struct trace_follow_file *file;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;

	file = __seq_open_private(filp, &trace_follow_seq_ops, sizeof(*file));
	if (!file) {
		trace_array_put(tr);
		return -ENOMEM;
	}
	file->ops = container_of(filp->f_op, struct trace_follow_file_ops,
				 fops);
	file->tr = tr;
	file->replace = (filp->f_mode & FMODE_WRITE) &&
			(filp->f_flags & O_TRUNC);

	return 0;
}

static int trace_follow_release(struct inode *inode, struct file *filp)
{
	struct seq_file *m = filp->private_data;
	struct trace_follow_file *file = m->private;

	/* Nobody sees an error of close(): this has none. */
	if (file->replace && !file->written)
		file->ops->choose(&file->tr->follow, NULL, 0, true);

	trace_array_put(file->tr);

	return seq_release_private(inode, filp);
}

#define TRACE_FOLLOW_FOPS {			\
	.open		= trace_follow_open,	\
	.read		= seq_read,		\
	.write		= trace_follow_write,	\
	.llseek		= seq_lseek,		\
	.release	= trace_follow_release,	\
}

static const struct trace_follow_file_ops trace_follow_files[] = {
	[TRACE_FOLLOW_PID] = {
		.name	= "set_follow_pid",
		.delim	= " \t\n",
		.size	= sizeof(struct pid *),
		.parse	= parse_pid,
		.choose	= choose_pids,
		.put	= put_pid_item,
		.show	= show_no_pid,
		.next	= next_pid,
		.fops	= TRACE_FOLLOW_FOPS,
	},
	[TRACE_FOLLOW_COMM] = {
		.name	= "set_follow_comm",
		/* A name may have spaces. */
		.delim	= "\n",
		.size	= TASK_COMM_LEN,
		.parse	= parse_comm,
		.choose	= choose_comms,
		.show	= show_comms,
		.fops	= TRACE_FOLLOW_FOPS,
	},
	[TRACE_FOLLOW_UID] = {
		.name	= "set_follow_uid",
		.delim	= " \t\n",
		.size	= sizeof(kuid_t),
		.parse	= parse_uid,
		.choose	= choose_uids,
		.show	= show_uids,
		.fops	= TRACE_FOLLOW_FOPS,
	},
#ifdef CONFIG_PROCESS_TRACER
	/* The same choice as set_follow_pid, with the name of 2009 */
	[TRACE_FOLLOW_NR] = {
		.name	= "process_follow_pid",
		.delim	= " \t\n",
		.size	= sizeof(struct pid *),
		.parse	= parse_pid_or_0,
		.choose	= choose_pids_or_0,
		.put	= put_pid_item,
		.show	= show_0,
		.next	= next_pid,
		.fops	= TRACE_FOLLOW_FOPS,
	},
#endif
};

/* The files of @tr, in @parent */
void trace_follow_init_tracefs(struct trace_array *tr, struct dentry *parent)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(trace_follow_files); i++)
		trace_create_file(trace_follow_files[i].name, TRACE_MODE_WRITE,
				  parent, tr, &trace_follow_files[i].fops);
}

void trace_array_follow_init(struct trace_array *tr)
{
	trace_follow_init(&tr->follow);
}

/* @tr is about to go. */
void trace_array_follow_clear(struct trace_array *tr)
{
	trace_follow_clear(&tr->follow);
}

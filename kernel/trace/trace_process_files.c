// SPDX-License-Identifier: GPL-2.0
/*
 * The files of the tracer "process" as it was proposed in 2009. Three switch
 * its options. Two are filters by user and by command, which look at each
 * record: a task is recorded while it has this user and this name.
 *
 * process_follow_pid is in trace_follow_files.c.
 */

#include <linux/cred.h>
#include <linux/seq_file.h>

#include "trace.h"
#include "trace_process.h"

struct process_filter {
	struct rcu_head		rcu;
	/* Not valid: any */
	kuid_t			uid;
	/* Empty: any */
	char			comm[TASK_COMM_LEN];
};

/* Held while the filter of an instance is replaced. */
static DEFINE_MUTEX(process_filter_lock);

enum {
	PROCESS_ERR_BAD_OPT,
	PROCESS_ERR_BAD_UID,
	PROCESS_ERR_BAD_COMM,

	PROCESS_ERR_NR,
};

static const char *process_errors[PROCESS_ERR_NR] = {
	[PROCESS_ERR_BAD_OPT]	= "Neither 0 nor 1",
	[PROCESS_ERR_BAD_UID]	= "Not a user in this user namespace, nor -1",
	[PROCESS_ERR_BAD_COMM]	= "Not a line of 15 characters at most",
};

bool __process_trace_passes(struct trace_array *tr)
{
	const struct process_filter *filter;

	guard(rcu)();

	filter = rcu_dereference(tr->process_filter);
	if (!filter)
		return true;

	if (uid_valid(filter->uid) && !uid_eq(filter->uid, current_uid()))
		return false;

	return !filter->comm[0] ||
		!strncmp(filter->comm, current->comm, TASK_COMM_LEN);
}

/* Either @uid or @comm is new. */
static int process_set_filter(struct trace_array *tr, const kuid_t *uid,
			      const char *comm)
{
	struct process_filter *new __free(kfree) = kzalloc_obj(*new);
	struct process_filter *old;

	if (!new)
		return -ENOMEM;

	guard(mutex)(&process_filter_lock);

	old = rcu_dereference_protected(tr->process_filter,
					lockdep_is_held(&process_filter_lock));
	if (old)
		*new = *old;
	else
		new->uid = INVALID_UID;
	if (uid)
		new->uid = *uid;
	if (comm)
		strscpy_pad(new->comm, comm);

	if (uid_valid(new->uid) || new->comm[0])
		rcu_assign_pointer(tr->process_filter, no_free_ptr(new));
	else
		RCU_INIT_POINTER(tr->process_filter, NULL);
	if (old)
		kfree_rcu(old, rcu);

	return 0;
}

/* @tr is about to go, nobody has one of its files open. */
void process_trace_free_filter(struct trace_array *tr)
{
	struct process_filter *filter;

	filter = rcu_replace_pointer(tr->process_filter, NULL, true);
	if (filter)
		kfree_rcu(filter, rcu);
}

struct process_file {
	const char	*name;
	u32		opt;
	int		(*show)(struct seq_file *m,
				const struct process_file *file);
	int		(*write)(struct seq_file *m,
				 const struct process_file *file,
				 const char *text);
	/* Of process_errors, when @write returns an error */
	int		err;
	/* In here so that the file leads to the rest */
	const struct file_operations fops;
};

static int process_show_opt(struct seq_file *m, const struct process_file *file)
{
	int val = tracer_get_option(m->private, &process_tracer, file->opt);

	if (val < 0)
		return val;

	seq_printf(m, "%d\n", val);

	return 0;
}

static int process_write_opt(struct seq_file *m,
			     const struct process_file *file, const char *text)
{
	bool set = !strcmp(text, "1");

	if (!set && strcmp(text, "0"))
		return -EINVAL;

	return tracer_set_option(m->private, &process_tracer, file->opt, set);
}

static int process_show_uid(struct seq_file *m, const struct process_file *file)
{
	struct trace_array *tr = m->private;
	const struct process_filter *filter;

	guard(rcu)();

	filter = rcu_dereference(tr->process_filter);
	if (filter && uid_valid(filter->uid))
		seq_printf(m, "%u\n", from_kuid_munged(seq_user_ns(m),
						       filter->uid));
	else
		seq_puts(m, "-1\n");

	return 0;
}

static int process_write_uid(struct seq_file *m,
			     const struct process_file *file, const char *text)
{
	kuid_t uid = INVALID_UID;
	unsigned int nr;

	if (strcmp(text, "-1")) {
		if (kstrtouint(text, 0, &nr))
			return -EINVAL;
		uid = make_kuid(seq_user_ns(m), nr);
		if (!uid_valid(uid))
			return -EINVAL;
	}

	return process_set_filter(m->private, &uid, NULL);
}

static int process_show_comm(struct seq_file *m,
			     const struct process_file *file)
{
	struct trace_array *tr = m->private;
	const struct process_filter *filter;

	guard(rcu)();

	filter = rcu_dereference(tr->process_filter);
	if (filter && filter->comm[0])
		seq_printf(m, "%s\n", filter->comm);

	return 0;
}

static int process_write_comm(struct seq_file *m,
			      const struct process_file *file,
			      const char *text)
{
	/* A name may have spaces, but no newline. */
	if (strlen(text) >= TASK_COMM_LEN || strchr(text, '\n'))
		return -EINVAL;

	return process_set_filter(m->private, NULL, text);
}

static int process_show_readme(struct seq_file *m,
			       const struct process_file *file)
{
	seq_puts(m,
		 "The tracer \"process\" in five steps:\n\n"
		 "Choose the tasks, with their threads and children (0: all tasks,\n"
		 "unless set_follow_comm or set_follow_uid choose):\n"
		 "  # echo PID > process_follow_pid\n\n"
		 "Choose the records (1: yes, 0: no):\n"
		 "  # echo 1 > process_trace_lifecycle\t- forks, execs, exits\n"
		 "  # echo 1 > process_trace_syscalls\t- system calls\n"
		 "  # echo 1 > process_trace_signals\t- signals as they are delivered\n\n"
		 "Of these tasks record one user only (-1: any), and one command only\n"
		 "(empty: any):\n"
		 "  # echo UID > process_trace_uid_filter\n"
		 "  # echo NAME > process_trace_taskcomm_filter\n\n"
		 "Trace:\n  # echo process > current_tracer\n\n"
		 "Stop, and read the trace:\n"
		 "  # echo 0 > tracing_on\n  # cat trace\n"
		 "  # echo nop > current_tracer\n  # echo 1 > tracing_on\n\n"
		 "Tasks that are not chosen pay nothing for their system calls. See\n"
		 "Documentation/trace/process.rst.\n");

	return 0;
}

static const struct process_file *process_file(const struct file *filp)
{
	return container_of(filp->f_op, struct process_file, fops);
}

static ssize_t process_file_write(struct file *filp, const char __user *ubuf,
				  size_t cnt, loff_t *ppos)
{
	char *buf __free(kfree) = NULL;
	const struct process_file *file = process_file(filp);
	struct seq_file *m = filp->private_data;
	int ret = -EINVAL;

	/* Root may have opened what nobody may write. */
	if (!file->write)
		return -EINVAL;

	/* One that is too long or has a NUL is refused: error_log gets its start. */
	buf = memdup_user_nul(ubuf, min(cnt, PAGE_SIZE - 1));
	if (IS_ERR(buf))
		return PTR_ERR(no_free_ptr(buf));

	if (cnt && cnt < PAGE_SIZE && buf[cnt - 1] == '\n')
		buf[cnt - 1] = '\0';
	if (cnt < PAGE_SIZE && strlen(buf) + 1 >= cnt)
		ret = file->write(m, file, buf);
	if (ret == -EINVAL)
		tracing_log_err(m->private, "process",
				strreplace(buf, '\n', ' '), process_errors,
				file->err, 0);
	if (ret)
		return ret;

	*ppos += cnt;
	return cnt;
}

static int process_file_show(struct seq_file *m, void *v)
{
	const struct process_file *file = process_file(m->file);

	return file->show(m, file);
}

static int process_file_open(struct inode *inode, struct file *filp)
{
	struct trace_array *tr = inode->i_private;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;

	ret = single_open(filp, process_file_show, tr);
	if (ret)
		trace_array_put(tr);

	return ret;
}

static int process_file_release(struct inode *inode, struct file *filp)
{
	trace_array_put(inode->i_private);

	return single_release(inode, filp);
}

#define PROCESS_FOPS {				\
	.open		= process_file_open,	\
	.read		= seq_read,		\
	.write		= process_file_write,	\
	.llseek		= seq_lseek,		\
	.release	= process_file_release,	\
}

static const struct process_file process_files[] = {
	{ "process_trace_lifecycle", PROCESS_OPT_LIFECYCLE, process_show_opt,
	  process_write_opt, PROCESS_ERR_BAD_OPT, PROCESS_FOPS },
	{ "process_trace_syscalls", PROCESS_OPT_SYSCALLS, process_show_opt,
	  process_write_opt, PROCESS_ERR_BAD_OPT, PROCESS_FOPS },
	{ "process_trace_signals", PROCESS_OPT_SIGNALS, process_show_opt,
	  process_write_opt, PROCESS_ERR_BAD_OPT, PROCESS_FOPS },
	{ "process_trace_uid_filter", 0, process_show_uid,
	  process_write_uid, PROCESS_ERR_BAD_UID, PROCESS_FOPS },
	{ "process_trace_taskcomm_filter", 0, process_show_comm,
	  process_write_comm, PROCESS_ERR_BAD_COMM, PROCESS_FOPS },
	{ "process_trace_README", 0, process_show_readme,
	  NULL, 0, PROCESS_FOPS },
};

/* The files of @tr, in @parent */
void process_trace_init_tracefs(struct trace_array *tr, struct dentry *parent)
{
	const struct process_file *file = process_files;

	for (; file < process_files + ARRAY_SIZE(process_files); file++)
		trace_create_file(file->name, file->write ? TRACE_MODE_WRITE :
				  TRACE_MODE_READ, parent, tr, &file->fops);
}

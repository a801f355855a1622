// SPDX-License-Identifier: GPL-2.0
/*
 * Flight recorder: what happened before, while and after a connection was lost.
 *
 * The recorder is a trace instance. It records the state changes of RDS, and of
 * the TCP sockets below, all the time: these events are rare, and the cause of
 * a loss comes before the loss. When a path that was up is dropped, an outage
 * begins. It ends when all paths that were lost are up again or destroyed, or
 * when one of them takes too long. Then the records become the snapshot of the
 * instance, and debugfs offers its text.
 *
 * While a path is down, each message that is sent can make RDS try to connect.
 * Many attempts would overwrite the records of the loss, so only some of an
 * outage are recorded. Recording then pauses until a path changes, at the price
 * that the cause of another loss in the meantime is not recorded.
 *
 * RDS loses and finds connections in any context, under locks of TCP and of the
 * transports. There, the recorder takes notes and stops recording. The rest is
 * work that may sleep: the snapshot, which waits for those who read the one
 * before, and clearing the instance, which waits for a grace period. A loss in
 * the meantime begins the next outage.
 */

#define pr_fmt(fmt) "RDS: flight recorder: " fmt

#include <linux/cleanup.h>
#include <linux/debugfs.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/seq_buf.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/stringify.h>
#include <linux/trace_clock.h>
#include <linux/trace_events.h>
#include <linux/trace_instance.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "rds.h"
#include "tcp.h"

static bool recorder;
module_param(recorder, bool, 0444);
MODULE_PARM_DESC(recorder, "Record what happens around a lost connection (default: N)");

static char *recorder_events[32] = {
	"rds",
	"tcp:tcp_retransmit_skb",
	"tcp:tcp_retransmit_synack",
	"tcp:tcp_receive_reset",
	"tcp:tcp_destroy_sock",
	"sock:inet_sock_set_state",
	"sock:inet_sk_error_report",
};

static unsigned int recorder_nr_events = 7;
module_param_array(recorder_events, charp, &recorder_nr_events, 0444);
MODULE_PARM_DESC(recorder_events, "Events to record: \"system\" or \"system:event\" (default: state changes of RDS and TCP)");

static unsigned int recorder_kb = 64;
module_param(recorder_kb, uint, 0444);
MODULE_PARM_DESC(recorder_kb, "KiB of records of each CPU (default: 64)");

static unsigned int recorder_secs = 60;
module_param(recorder_secs, uint, 0444);
MODULE_PARM_DESC(recorder_secs, "Seconds to wait for a lost connection (default: 60)");

/* Events that have the ports. Other sockets are not recorded. */
static const struct {
	const char *system;
	const char *event;
} rds_recorder_ports[] = {
	{ "tcp", "tcp_retransmit_skb" },
	{ "tcp", "tcp_retransmit_synack" },
	{ "tcp", "tcp_receive_reset" },
	{ "tcp", "tcp_destroy_sock" },
	{ "tcp", "tcp_rcv_space_adjust" },
	{ "tcp", "tcp_rcvbuf_grow" },
	{ "tcp", "tcp_probe" },
	{ "tcp", "tcp_cong_state_set" },
	{ "sock", "inet_sock_set_state" },
	{ "sock", "inet_sk_error_report" },
};

#define RDS_RECORDER_FILTER	"sport == " __stringify(RDS_TCP_PORT) \
				" || dport == " __stringify(RDS_TCP_PORT)

/* For cp_recorder */
enum {
	RDS_RECORDER_NEW = 0,	/* was never up */
	RDS_RECORDER_UP,
	RDS_RECORDER_LOST,
	RDS_RECORDER_GONE,	/* is being destroyed */
};

struct rds_recorder_loss {
	const struct rds_conn_path *cp;	/* to compare, it may be freed */
	struct in6_addr		laddr;
	struct in6_addr		faddr;
	char			transport[TRANSNAMSIZ];
	unsigned int		netns;
	unsigned int		path;
	u8			tos;
	u64			lost;	/* by the clock of the records */
	u64			ended;
	const char		*end;	/* NULL while the path is lost */
};

#define RDS_RECORDER_LOSSES	16

struct rds_recorder_outage {
	unsigned int		nr;		/* paths that were lost */
	unsigned int		missing;	/* ... and still are */
	unsigned int		unrecorded;	/* outages before this one */
	unsigned int		attempts;	/* of these to connect */
	unsigned int		skipped;	/* ... that are not recorded */
	struct rds_recorder_loss losses[RDS_RECORDER_LOSSES];
};

static struct rds_recorder {
	struct trace_array	*tr;
	struct dentry		*dir;
	struct delayed_work	snapshot_w;
	struct delayed_work	late_w;

	/* For what follows, and for cp_recorder and cp_outage of all paths */
	spinlock_t		lock;
	struct rds_recorder_outage now;
	struct rds_recorder_outage done;	/* constant while full is set */
	unsigned int		id;		/* of the outage in now */
	unsigned long		deadline;
	unsigned int		quota;		/* attempts that are recorded */
	bool			paused;
	bool			full;		/* snapshot_w has work */

	/* Nests outside of lock. For what follows, and for the snapshot */
	struct mutex		mutex;
	struct rds_recorder_outage offered;
	unsigned int		readers;
} *rds_recorder __read_mostly;

static void rds_recorder_end_outage(struct rds_recorder *r)
{
	lockdep_assert_held(&r->lock);

	r->paused = false;

	if (r->full) {
		r->now.unrecorded++;
	} else {
		trace_array_set_tracing(r->tr, false);
		r->done = r->now;
		r->full = true;
		r->now.unrecorded = 0;
		queue_delayed_work(system_dfl_wq, &r->snapshot_w, 0);
	}

	r->now.nr = 0;
	r->now.missing = 0;
	r->now.attempts = 0;
	r->now.skipped = 0;
	r->id++;
	cancel_delayed_work(&r->late_w);
}

static void rds_recorder_end_loss(struct rds_recorder *r,
				  const struct rds_conn_path *cp,
				  const char *end)
{
	unsigned int n = min(r->now.nr, RDS_RECORDER_LOSSES);

	lockdep_assert_held(&r->lock);

	/* The recorder may have waited for too long, and may be in the next. */
	if (cp->cp_recorder != RDS_RECORDER_LOST || cp->cp_outage != r->id)
		return;

	while (n--) {
		struct rds_recorder_loss *loss = &r->now.losses[n];

		if (loss->cp == cp && !loss->end) {
			loss->ended = trace_clock_local();
			loss->end = end;
			break;
		}
	}

	if (!--r->now.missing)
		rds_recorder_end_outage(r);
}

/**
 * rds_recorder_connect - a path tries to connect
 * @cp: the path
 *
 * Context: Any but NMI.
 */
void rds_recorder_connect(struct rds_conn_path *cp)
{
	struct rds_recorder *r = rds_recorder;
	unsigned long flags;
	bool lost;

	if (!r)
		return;

	spin_lock_irqsave(&r->lock, flags);

	if (!r->now.missing)
		goto out;

	/* Those of other paths take room, too. */
	lost = cp->cp_recorder == RDS_RECORDER_LOST && cp->cp_outage == r->id;
	if (lost)
		r->now.attempts++;

	if (!r->full && r->quota) {
		r->quota--;
		goto out;
	}

	if (lost)
		r->now.skipped++;
	if (!r->full && !r->paused) {
		trace_array_set_tracing(r->tr, false);
		r->paused = true;
	}
out:
	spin_unlock_irqrestore(&r->lock, flags);
}

/**
 * rds_recorder_change - a path is about to come up or to be lost
 *
 * Recording goes on. Attempts of other paths at this moment do not stop it
 * before the change is recorded.
 *
 * Context: Any but NMI.
 */
void rds_recorder_change(void)
{
	struct rds_recorder *r = rds_recorder;

	if (!r)
		return;

	guard(spinlock_irqsave)(&r->lock);

	if (!r->now.missing)
		return;

	r->quota = max(r->quota, 2U);
	if (r->paused) {
		r->paused = false;
		trace_array_set_tracing(r->tr, true);
	}
}

/**
 * rds_recorder_path_up - a path is connected
 * @cp: the path
 *
 * Context: Any but NMI.
 */
void rds_recorder_path_up(struct rds_conn_path *cp)
{
	struct rds_recorder *r = rds_recorder;

	if (!r)
		return;

	guard(spinlock_irqsave)(&r->lock);

	/*
	 * A drop changes the state of the path before it gets to the recorder.
	 * If that has happened by now, the loss was or will be ignored, so this
	 * path must not count as up.
	 */
	if (cp->cp_recorder == RDS_RECORDER_GONE || !rds_conn_path_up(cp))
		return;

	rds_recorder_end_loss(r, cp, "back");
	cp->cp_recorder = RDS_RECORDER_UP;
}

/**
 * rds_recorder_path_lost - a path is not connected any more
 * @cp: the path, the state of which is not RDS_CONN_UP any more
 *
 * Of several calls for the same loss the first counts.
 *
 * Context: Any but NMI.
 */
void rds_recorder_path_lost(struct rds_conn_path *cp)
{
	struct rds_recorder *r = rds_recorder;
	struct rds_connection *conn = cp->cp_conn;
	struct rds_recorder_loss *loss;
	unsigned long flags, wait;

	/* The end of a namespace or of a transport is no accident. */
	if (!r || rds_destroy_pending(conn))
		return;

	spin_lock_irqsave(&r->lock, flags);

	if (cp->cp_recorder != RDS_RECORDER_UP)
		goto out;

	cp->cp_recorder = RDS_RECORDER_LOST;
	cp->cp_outage = r->id;
	r->now.missing++;

	/* An attempt has up to a dozen records, less than 1 KiB. */
	if (!r->now.nr)
		r->quota = recorder_kb / 4;
	if (r->quota < recorder_kb / 2)
		r->quota++;

	if (!r->now.nr) {
		wait = clamp(recorder_secs, 1U, 86400U) * HZ;
		r->deadline = jiffies + wait;
		mod_delayed_work(system_dfl_wq, &r->late_w, wait);
	}

	if (r->now.nr < RDS_RECORDER_LOSSES) {
		loss = &r->now.losses[r->now.nr];
		loss->cp = cp;
		loss->laddr = conn->c_laddr;
		loss->faddr = conn->c_faddr;
		strscpy(loss->transport, conn->c_trans->t_name);
		loss->netns = rds_conn_net(conn)->ns.inum;
		loss->path = cp->cp_index;
		loss->tos = conn->c_tos;
		loss->lost = trace_clock_local();
		loss->end = NULL;
	}
	r->now.nr++;
out:
	spin_unlock_irqrestore(&r->lock, flags);
}

/**
 * rds_recorder_path_gone - a path is about to be destroyed
 * @cp: the path, which the recorder ignores from now on
 *
 * Context: Any but NMI.
 */
void rds_recorder_path_gone(struct rds_conn_path *cp)
{
	struct rds_recorder *r = rds_recorder;

	if (!r)
		return;

	guard(spinlock_irqsave)(&r->lock);

	rds_recorder_end_loss(r, cp, "gone");
	cp->cp_recorder = RDS_RECORDER_GONE;
}

static void rds_recorder_late(struct work_struct *work)
{
	struct rds_recorder *r = container_of(work, struct rds_recorder,
					      late_w.work);

	guard(spinlock_irq)(&r->lock);

	/* The outage may have ended, and the next one may have begun. */
	if (r->now.missing && time_after_eq(jiffies, r->deadline))
		rds_recorder_end_outage(r);
}

static void rds_recorder_snapshot(struct work_struct *work)
{
	struct rds_recorder *r = container_of(work, struct rds_recorder,
					      snapshot_w.work);
	int lost, ret;
	bool full;

	mutex_lock(&r->mutex);

	spin_lock_irq(&r->lock);
	full = r->full;
	spin_unlock_irq(&r->lock);

	if (!full)
		goto out;

	/* The last reader queues this again. */
	if (r->readers) {
		pr_info_ratelimited("a record waits until rds/recorder is closed\n");
		goto out;
	}

	/*
	 * Root clears the instance or changes its size, or, for longer, keeps
	 * the snapshot buffer. The records wait until that is over.
	 */
	lost = trace_array_snapshot(r->tr);
	if (lost == -EAGAIN || lost == -EBUSY) {
		queue_delayed_work(system_dfl_wq, &r->snapshot_w,
				   lost == -EAGAIN ? HZ / 10 : HZ);
		goto out;
	}
	if (lost)
		pr_warn_ratelimited("the record of an outage is lost: %pe\n",
				    ERR_PTR(lost));
	else
		r->offered = r->done;

	/* The ring buffer has the snapshot before this one now. */
	ret = trace_array_clear(r->tr);
	if (ret)
		pr_warn("old records will be in the next snapshot: %pe\n",
			ERR_PTR(ret));

	spin_lock_irq(&r->lock);
	if (lost)
		r->now.unrecorded += r->done.unrecorded + 1;
	r->full = false;
	trace_array_set_tracing(r->tr, true);
	spin_unlock_irq(&r->lock);
out:
	mutex_unlock(&r->mutex);
}

/* The text in debugfs */

#define RDS_RECORDER_TEXT	SZ_8K

struct rds_recorder_file {
	struct rds_recorder	*r;
	struct mutex		mutex;	/* of threads that share a file */
	struct trace_array_reader *reader;
	size_t			from;
	size_t			to;
	char			text[RDS_RECORDER_TEXT];
};

static void rds_recorder_print_time(struct seq_buf *s, const char *what, u64 ns)
{
	u64 secs;
	u32 us;

	secs = div_u64_rem(div_u64(ns + 500, 1000), USEC_PER_SEC, &us);
	seq_buf_printf(s, " %s %llu.%06u", what, secs, us);
}

static void rds_recorder_print(struct seq_buf *s,
			       const struct rds_recorder_outage *outage)
{
	unsigned int n = min(outage->nr, RDS_RECORDER_LOSSES);

	seq_buf_printf(s, "# paths lost: %u\n", outage->nr);
	for (unsigned int i = 0; i < n; i++) {
		const struct rds_recorder_loss *loss = &outage->losses[i];

		seq_buf_printf(s, "# %s %pI6c to %pI6c netns %u tos %u path %u:",
			       loss->transport, &loss->laddr, &loss->faddr,
			       loss->netns, loss->tos, loss->path);
		rds_recorder_print_time(s, "lost", loss->lost);
		if (loss->end)
			rds_recorder_print_time(s, loss->end, loss->ended);
		else
			seq_buf_puts(s, " still down");
		seq_buf_putc(s, '\n');
	}
	if (outage->nr > n)
		seq_buf_printf(s, "# and %u more\n", outage->nr - n);
	if (outage->attempts)
		seq_buf_printf(s, "# attempts to connect: %u, %u of them not recorded\n",
			       outage->attempts, outage->skipped);
	if (outage->unrecorded)
		seq_buf_printf(s, "# outages before this that are not recorded: %u\n",
			       outage->unrecorded);
}

static int rds_recorder_open(struct inode *inode, struct file *file)
{
	struct rds_recorder *r = inode->i_private;
	struct rds_recorder_file *f;
	struct seq_buf s;
	int ret;

	f = kvzalloc_obj(*f);
	if (!f)
		return -ENOMEM;

	f->r = r;
	mutex_init(&f->mutex);
	seq_buf_init(&s, f->text, sizeof(f->text));

	mutex_lock(&r->mutex);
	if (r->offered.nr) {
		f->reader = trace_array_reader_open(r->tr,
						    TRACE_ARRAY_READ_SNAPSHOT);
		if (IS_ERR(f->reader)) {
			mutex_unlock(&r->mutex);
			ret = PTR_ERR(f->reader);
			kvfree(f);
			return ret;
		}
	}
	rds_recorder_print(&s, &r->offered);
	f->to = seq_buf_used(&s);
	r->readers++;
	mutex_unlock(&r->mutex);

	file->private_data = f;

	return stream_open(inode, file);
}

static ssize_t rds_recorder_read(struct file *file, char __user *buf,
				 size_t size, loff_t *ppos)
{
	struct rds_recorder_file *f = file->private_data;
	ssize_t n = 0;

	mutex_lock(&f->mutex);

	if (f->from == f->to) {
		if (f->reader)
			n = trace_array_reader_read(f->reader, f->text,
						    sizeof(f->text));
		if (n <= 0)
			goto out;
		f->from = 0;
		f->to = n;
	}

	size = min(size, f->to - f->from);
	n = size - copy_to_user(buf, f->text + f->from, size);
	f->from += n;
	if (!n && size)
		n = -EFAULT;
out:
	mutex_unlock(&f->mutex);

	return n;
}

static int rds_recorder_release(struct inode *inode, struct file *file)
{
	struct rds_recorder_file *f = file->private_data;
	struct rds_recorder *r = f->r;

	trace_array_reader_close(f->reader);
	kvfree(f);

	guard(mutex)(&r->mutex);
	if (!--r->readers)
		queue_delayed_work(system_dfl_wq, &r->snapshot_w, 0);

	return 0;
}

/* An open file keeps the module, and so the recorder. */
static const struct file_operations rds_recorder_fops = {
	.owner		= THIS_MODULE,
	.open		= rds_recorder_open,
	.read		= rds_recorder_read,
	.release	= rds_recorder_release,
};

static void rds_recorder_enable(struct trace_array *tr, const char *name)
{
	char *copy = kstrdup(name, GFP_KERNEL);
	char *event = copy;
	char *system;
	int ret = -ENOMEM;

	if (copy) {
		system = strsep(&event, ":");
		ret = trace_array_set_clr_event(tr, system, event, true);
	}
	if (ret)
		pr_warn("event %s is not recorded: %pe\n", name, ERR_PTR(ret));
	kfree(copy);
}

static int rds_recorder_setup(struct trace_array *tr)
{
	int ret;

	ret = trace_array_set_buffer_size(tr, size_mul(recorder_kb, SZ_1K));
	if (ret)
		return ret;

	for (int i = 0; i < ARRAY_SIZE(rds_recorder_ports); i++) {
		ret = trace_array_set_event_filter(tr,
						   rds_recorder_ports[i].system,
						   rds_recorder_ports[i].event,
						   RDS_RECORDER_FILTER);
		/* An event that is not there can't be enabled, either. */
		if (ret && ret != -ENOENT)
			return ret;
	}

	for (unsigned int i = 0; i < recorder_nr_events; i++)
		rds_recorder_enable(tr, recorder_events[i]);

	return trace_array_snapshot_alloc(tr);
}

static void rds_recorder_destroy(struct trace_array *tr)
{
	/* If somebody has a file of the instance open, the instance stays. */
	trace_array_set_tracing(tr, false);
	trace_array_set_clr_event(tr, NULL, NULL, false);

	if (trace_array_put_and_destroy(tr)) {
		pr_info("the instance is in use, it stays\n");
		trace_array_put(tr);
	}
}

/**
 * rds_recorder_init - set up the flight recorder if it is asked for
 *
 * If that fails, the log tells why, and RDS does without.
 *
 * Context: May sleep. Before there is any connection.
 */
void rds_recorder_init(void)
{
	struct rds_recorder *r;
	int ret = -ENOMEM;

	if (!recorder)
		return;

	r = kvzalloc_obj(*r);
	if (!r)
		goto out;

	spin_lock_init(&r->lock);
	mutex_init(&r->mutex);
	INIT_DELAYED_WORK(&r->snapshot_w, rds_recorder_snapshot);
	INIT_DELAYED_WORK(&r->late_w, rds_recorder_late);

	r->tr = trace_array_create("rds");
	if (IS_ERR(r->tr)) {
		ret = PTR_ERR(r->tr);
		goto out;
	}

	ret = rds_recorder_setup(r->tr);
	if (ret) {
		rds_recorder_destroy(r->tr);
		goto out;
	}

	/* If debugfs is off at boot, there is still the file "snapshot". */
	r->dir = debugfs_create_dir("rds", NULL);
	debugfs_create_file("recorder", 0400, r->dir, r, &rds_recorder_fops);

	rds_recorder = r;
	return;
out:
	kvfree(r);
	pr_warn("not set up: %pe\n", ERR_PTR(ret));
}

/**
 * rds_recorder_exit - remove the flight recorder
 *
 * Context: May sleep. After the last connection is destroyed.
 */
void rds_recorder_exit(void)
{
	struct rds_recorder *r = rds_recorder;

	if (!r)
		return;

	debugfs_remove(r->dir);
	cancel_delayed_work_sync(&r->late_w);
	cancel_delayed_work_sync(&r->snapshot_w);
	trace_array_set_tracing(r->tr, false);
	trace_array_snapshot_free(r->tr);
	rds_recorder_destroy(r->tr);

	rds_recorder = NULL;
	kvfree(r);
}

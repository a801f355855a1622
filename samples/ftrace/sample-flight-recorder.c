// SPDX-License-Identifier: GPL-2.0
/*
 * A flight recorder for a network device: what went on while it was down?
 *
 * This shows how kernel code drives a trace instance that is its own, from
 * trace_array_create() to trace_array_destroy().
 *
 *	modprobe sample-flight-recorder dev=eth0
 *	# the link is lost, and comes back
 *	cat /sys/class/devcoredump/devcd1/data
 *
 * As long as the link is up, nothing is recorded and no event is enabled. When
 * it goes down the instance is switched on and gets the events. When it is up
 * again, what was recorded is put aside as the snapshot of the instance, and
 * its text is given to devcoredump, as a dump of the network device. That keeps
 * it until somebody writes to the file "data", for five minutes at most, and
 * takes no other dump of the device meanwhile. The snapshot itself stays in
 * the file "snapshot" of the instance, until the next outage is over.
 *
 * The device is the one of this name in the initial network namespace. It may
 * appear later, and go and come again. It stays the same when it is renamed.
 *
 * Who runs where:
 *  - The notifier is called under RTNL, which is no place to wait for a lock of
 *    tracing. It does what can be done in any context, so that the first and
 *    the last record are those of the right moment: recording on or off, a line
 *    that says why, the snapshot.
 *  - recorder_switch() enables and disables events, and clears the instance.
 *  - recorder_dump() reads the snapshot. That takes longer, so it is work of
 *    its own: the next outage can be recorded while the last one is read.
 *
 * How it ends, and in which order:
 *  1. unregister_netdevice_notifier_net() tells the notifier that the device
 *     has gone, whether it has or not: recording stops. From then on nobody
 *     queues work.
 *  2. When what was queued is cancelled or done, nobody uses the instance.
 *  3. The snapshot buffer goes, then the reference, and then the instance.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cleanup.h>
#include <linux/devcoredump.h>
#include <linux/err.h>
#include <linux/instruction_pointer.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/notifier.h>
#include <linux/rtnetlink.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/trace.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>

static char *dev;
module_param(dev, charp, 0444);
MODULE_PARM_DESC(dev, "Name of the network device to watch");

static char *instance = "flight_recorder";
module_param(instance, charp, 0444);
MODULE_PARM_DESC(instance, "Name of the trace instance, which must not exist (default: flight_recorder)");

static char *events = "net:* napi:* qdisc:* skb:* neigh:* sock:inet_sock_set_state";
module_param(events, charp, 0444);
MODULE_PARM_DESC(events, "What to record, as set_event takes it (default: net:* napi:* qdisc:* skb:* neigh:* sock:inet_sock_set_state)");

static unsigned int size = 256;
module_param(size, uint, 0444);
MODULE_PARM_DESC(size, "KiB of the ring buffer of each CPU (default: 256)");

static unsigned int max_text = 4096;
module_param(max_text, uint, 0444);
MODULE_PARM_DESC(max_text, "KiB of text in a dump at most (default: 4096)");

static struct trace_array *recorder_tr;

/* Under RTNL; 0 while there is no such device. */
static int recorder_ifindex;

/* For what follows. */
static DEFINE_SPINLOCK(recorder_lock);

static enum {
	LINK_ABSENT,		/* or not up yet */
	LINK_UP,
	LINK_DOWN,
} recorder_link;

static enum recorder_state {
	RECORDER_EMPTY,		/* ready for the next outage */
	RECORDER_ON,		/* events are enabled, or will be */
	RECORDER_STOPPED,	/* to be cleared */
} recorder_state;

/* The snapshot is being read, it can't be replaced. */
static bool recorder_dumping;
static int recorder_dump_ifindex;

static void recorder_switch(struct work_struct *work);
static void recorder_dump(struct work_struct *work);
static DECLARE_WORK(recorder_switch_work, recorder_switch);
static DECLARE_WORK(recorder_dump_work, recorder_dump);

static void recorder_start(void)
{
	recorder_state = RECORDER_ON;
	trace_array_tracing_on(recorder_tr);
	trace_array_printk(recorder_tr, _THIS_IP_, "%s is down\n", dev);
}

static void recorder_stop(void)
{
	bool up = recorder_link == LINK_UP;
	int ret = -EBUSY;

	recorder_state = RECORDER_STOPPED;
	trace_array_printk(recorder_tr, _THIS_IP_, "%s is %s\n", dev,
			   up ? "up" : "gone");
	if (!recorder_dumping)
		ret = trace_array_snapshot(recorder_tr);
	trace_array_tracing_off(recorder_tr);

	if (ret) {
		pr_warn("%s: the record of an outage is lost: %pe\n", dev,
			ERR_PTR(ret));
		return;
	}

	/* There is nothing to dump for, but the snapshot can be read. */
	if (!up)
		return;

	recorder_dumping = true;
	recorder_dump_ifindex = recorder_ifindex;
	queue_work(system_dfl_wq, &recorder_dump_work);
}

static void recorder_react(void)
{
	lockdep_assert_held(&recorder_lock);

	if (recorder_state == RECORDER_EMPTY && recorder_link == LINK_DOWN)
		recorder_start();
	else if (recorder_state == RECORDER_ON && recorder_link != LINK_DOWN)
		recorder_stop();
	else
		return;

	queue_work(system_dfl_wq, &recorder_switch_work);
}

static void recorder_switch(struct work_struct *work)
{
	enum recorder_state state;
	int ret;

	scoped_guard(spinlock, &recorder_lock)
		state = recorder_state;

	switch (state) {
	case RECORDER_EMPTY:
		break;
	case RECORDER_ON:
		ret = trace_array_set_events(recorder_tr, events, true);
		if (ret)
			pr_warn("not all events are enabled: %pe\n",
				ERR_PTR(ret));
		break;
	case RECORDER_STOPPED:
		/* Not @events: a word with '!' would enable what it names. */
		trace_array_set_events(recorder_tr, "*:*", false);
		trace_array_clear(recorder_tr);

		scoped_guard(spinlock, &recorder_lock) {
			recorder_state = RECORDER_EMPTY;
			recorder_react();
		}
		break;
	}
}

/* Room for the last line of a text that was cut. */
#define CUT_SIZE	80

/* Makes room at the end of a text, or says that there is no more. */
static bool recorder_grow(char **text, size_t *room)
{
	size_t limit = (size_t)max_text * SZ_1K;
	size_t more = min(max(*room * 2, SZ_64K), limit);
	char *grown;

	if (more == *room)
		return false;

	grown = vrealloc(*text, more, GFP_KERNEL | __GFP_NOWARN);
	if (!grown)
		return false;

	*text = grown;
	*room = more;

	return true;
}

/* The text of the snapshot, for vfree(); NULL when there is none. */
static char *recorder_read(size_t *len)
{
	struct trace_array_reader *reader __free(trace_array_reader_close) =
		trace_array_reader_open(recorder_tr, TRACE_ARRAY_READ_SNAPSHOT);
	size_t used = 0;
	size_t room = 0;
	char *text = NULL;
	ssize_t n;
	char next;

	if (IS_ERR(reader)) {
		pr_warn("%s: no dump: %pe\n", dev, reader);
		return NULL;
	}

	if (!recorder_grow(&text, &room)) {
		pr_warn("%s: no dump: no memory\n", dev);
		return NULL;
	}

	do {
		n = trace_array_reader_read(reader, text + used,
					    room - CUT_SIZE - used);
		if (n > 0)
			used += n;
	} while (used == room - CUT_SIZE && recorder_grow(&text, &room));

	/* Was this the end? */
	if (n >= 0)
		n = trace_array_reader_read(reader, &next, 1);
	if (n) {
		while (used && text[used - 1] != '\n')
			used--;
		used += scnprintf(text + used, CUT_SIZE, "# cut here: %s\n",
				  n < 0 ? "the snapshot is no more" :
				  "no more memory, or see max_text");
	}

	*len = used;

	return text;
}

static void recorder_dump(struct work_struct *work)
{
	struct net_device *netdev;
	size_t len;
	char *text;

	text = recorder_read(&len);

	/* The device can't leave sysfs while devcoredump makes links to it. */
	rtnl_lock();
	netdev = __dev_get_by_index(&init_net, recorder_dump_ifindex);
	if (netdev && text)
		dev_coredumpv(&netdev->dev, text, len, GFP_KERNEL);
	else
		vfree(text);
	rtnl_unlock();

	guard(spinlock)(&recorder_lock);
	recorder_dumping = false;
}

static int recorder_netdev_event(struct notifier_block *nb, unsigned long event,
				 void *ptr)
{
	struct net_device *netdev = netdev_notifier_info_to_dev(ptr);

	switch (event) {
	case NETDEV_REGISTER:
	case NETDEV_CHANGENAME:
		if (!recorder_ifindex && !strcmp(netdev->name, dev))
			recorder_ifindex = netdev->ifindex;
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_UNREGISTER:
		break;
	default:
		return NOTIFY_DONE;
	}

	if (netdev->ifindex != recorder_ifindex)
		return NOTIFY_DONE;

	guard(spinlock)(&recorder_lock);

	/*
	 * Ask the device, not the event: NETDEV_CHANGE does not say what has
	 * changed, and NETDEV_DOWN also comes when the notifier leaves.
	 */
	if (event == NETDEV_UNREGISTER) {
		recorder_link = LINK_ABSENT;
		recorder_ifindex = 0;
	} else if (netif_running(netdev) && netif_carrier_ok(netdev)) {
		recorder_link = LINK_UP;
	} else if (recorder_link == LINK_UP) {
		recorder_link = LINK_DOWN;
	}
	recorder_react();

	return NOTIFY_DONE;
}

static struct notifier_block recorder_netdev_nb = {
	.notifier_call	= recorder_netdev_event,
};

static int recorder_setup(void)
{
	int ret;

	ret = trace_array_tracing_off(recorder_tr);
	if (ret)
		return ret;

	ret = trace_array_set_buffer_size(recorder_tr,
					  (unsigned long)size * SZ_1K);
	if (ret)
		return ret;

	/* To be compared with what programs and logs say. */
	ret = trace_array_set_clock(recorder_tr, "mono");
	if (ret)
		return ret;

	ret = trace_array_init_printk(recorder_tr);
	if (ret)
		return ret;

	/* Now is the time to complain of what can't be enabled. */
	ret = trace_array_set_events(recorder_tr, events, true);
	if (ret) {
		pr_err("events=\"%s\": %pe\n", events, ERR_PTR(ret));
		return ret;
	}

	ret = trace_array_set_events(recorder_tr, "*:*", false);
	if (ret)
		return ret;

	return trace_array_snapshot_alloc(recorder_tr);
}

static void recorder_destroy(void)
{
	/* If somebody uses the instance it stays, and had better be quiet. */
	trace_array_tracing_off(recorder_tr);
	trace_array_set_events(recorder_tr, "*:*", false);

	trace_array_put(recorder_tr);
	if (trace_array_destroy(recorder_tr) == -EBUSY)
		pr_info("instance %s is in use, it stays\n", instance);
}

static int __init recorder_init(void)
{
	int ret;

	if (!dev || !*dev) {
		pr_err("which device? Say dev=NAME\n");
		return -EINVAL;
	}

	if (!max_text || max(max_text, size) > SZ_2G / SZ_1K - 1)
		return -EINVAL;

	recorder_tr = trace_array_create(instance);
	if (IS_ERR(recorder_tr)) {
		pr_err("instance %s: %pe\n", instance, recorder_tr);
		return PTR_ERR(recorder_tr);
	}

	ret = recorder_setup();
	if (ret)
		goto destroy;

	/* Tells of the devices that are there, too. */
	ret = register_netdevice_notifier_net(&init_net, &recorder_netdev_nb);
	if (ret)
		goto free_snapshot;

	return 0;

free_snapshot:
	trace_array_snapshot_free(recorder_tr);
destroy:
	recorder_destroy();

	return ret;
}

/* For the order see the top of this file. */
static void __exit recorder_exit(void)
{
	unregister_netdevice_notifier_net(&init_net, &recorder_netdev_nb);
	cancel_work_sync(&recorder_switch_work);
	cancel_work_sync(&recorder_dump_work);
	trace_array_snapshot_free(recorder_tr);
	recorder_destroy();
}

module_init(recorder_init);
module_exit(recorder_exit);

MODULE_DESCRIPTION("Sample flight recorder for a network device");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/*
 * A flight recorder for a network device
 *
 * This shows how kernel code uses a trace instance of its own. The instance
 * records while the link of the device is down. When the link is up again the
 * module takes a snapshot and gives its text to devcoredump:
 *
 *	modprobe sample-flight-recorder dev=eth0
 *	# the link is lost, and comes back
 *	cat /sys/class/devcoredump/devcd1/data
 *
 * The events are enabled all the time. A notifier of network devices switches
 * recording on and off, and takes the snapshot. It runs under RTNL, so a work
 * item does what takes longer. A dump has the records of one outage and none of
 * an earlier one, if nobody else uses snapshots of the instance. Outages that
 * follow each other faster than the work item are in one dump:
 *
 *	the link is lost	record; the work item empties the snapshot buffer
 *	it is back		stop; when that is done, swap the two buffers, and
 *				the work item reads the snapshot
 *	it is lost again	record to the buffer that was emptied
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/devcoredump.h>
#include <linux/err.h>
#include <linux/instruction_pointer.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/notifier.h>
#include <linux/rtnetlink.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/trace_events.h>
#include <linux/trace_instance.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>

static char *dev;
module_param(dev, charp, 0444);
MODULE_PARM_DESC(dev, "Name of the network device");

static char *instance = "flight_recorder";
module_param(instance, charp, 0444);
MODULE_PARM_DESC(instance, "Name of the trace instance to create (default: flight_recorder)");

static char *events[16] = { "net", "napi", "qdisc", "skb", "neigh" };
static unsigned int nr_events = 5;
module_param_array(events, charp, &nr_events, 0444);
MODULE_PARM_DESC(events, "Events to record: system or system:event,... (default: net,napi,qdisc,skb,neigh)");

static char *filter;
module_param(filter, charp, 0444);
MODULE_PARM_DESC(filter, "Filter of each event=system:event (default: none)");

static unsigned int size = 256;
module_param(size, uint, 0444);
MODULE_PARM_DESC(size, "Ring buffer of each CPU, in KiB (default: 256)");

static unsigned int max_text = 1024;
module_param(max_text, uint, 0444);
MODULE_PARM_DESC(max_text, "A dump is cut after so many KiB (default: 1024)");

static struct trace_array *recorder_tr;

/* All under RTNL */
static bool recorder_link;	/* the link is up */
static bool recorder_on;	/* an outage is recorded */
static bool recorder_ended;	/* the ring buffer has one that is over */
static bool recorder_taken;	/* the snapshot has one that is to be read */
static bool recorder_empty = true;	/* the snapshot buffer has nothing */

/* trace_array_snapshot_free() is due. Changed by the work item. */
static bool recorder_allocated;

static void recorder_work_fn(struct work_struct *work);
static DECLARE_WORK(recorder_work, recorder_work_fn);

/* Text that does not fit is cut off. */
static void recorder_dump(void)
{
	size_t room = (size_t)max_text * SZ_1K;
	struct trace_array_reader *reader;
	struct net_device *netdev;
	ssize_t len = -ENOMEM;
	char *text;

	text = vmalloc(room);
	reader = trace_array_reader_open(recorder_tr,
					 TRACE_ARRAY_READ_SNAPSHOT);
	if (IS_ERR(reader))
		len = PTR_ERR(reader);
	else if (text)
		len = trace_array_reader_read(reader, text, room);
	trace_array_reader_close(reader);
	if (len < 0)
		pr_warn("%s: no dump: %pe\n", dev, ERR_PTR(len));

	/* Under RTNL the device stays in sysfs. devcoredump links to it. */
	rtnl_lock();
	netdev = __dev_get_by_name(&init_net, dev);
	if (netdev && len > 0)
		dev_coredumpv(&netdev->dev, text, len, GFP_KERNEL);
	else
		vfree(text);
	rtnl_unlock();
}

/*
 * Drops the last snapshot, as its buffer is the next one to be recorded to. It
 * stays if a trigger that root has set, or a write to "snapshot", needs the buffer.
 * trace_array_clear() after the next snapshot would drop its records, too, but
 * also those of an outage that begins meanwhile.
 */
static int recorder_renew(void)
{
	int ret;

	if (recorder_allocated)
		trace_array_snapshot_free(recorder_tr);
	ret = trace_array_snapshot_alloc(recorder_tr);
	recorder_allocated = !ret;
	if (ret)
		pr_warn("%s: no snapshot buffer: %pe\n", dev, ERR_PTR(ret));

	return ret;
}

/* If there is no snapshot, the next one has the records of this outage, too. */
static void recorder_take(void)
{
	int ret;

	if (!recorder_ended || recorder_on || !recorder_empty)
		return;

	ret = trace_array_snapshot(recorder_tr);
	if (ret) {
		pr_warn("%s: no snapshot: %pe\n", dev, ERR_PTR(ret));
		/* Somebody freed the buffer: the next outage gets another. */
		if (ret == -ENODEV)
			recorder_empty = false;
		return;
	}

	recorder_ended = false;
	recorder_empty = false;
	recorder_taken = true;
	schedule_work(&recorder_work);
}

static void recorder_work_fn(struct work_struct *work)
{
	bool taken, renew;

	rtnl_lock();
	taken = recorder_taken;
	recorder_taken = false;
	rtnl_unlock();

	if (taken)
		recorder_dump();

	/* Until the next outage, the snapshot can be read in tracefs, too. */
	rtnl_lock();
	renew = !recorder_empty && (recorder_on || recorder_ended);
	rtnl_unlock();

	if (!renew || recorder_renew())
		return;

	rtnl_lock();
	recorder_empty = true;
	recorder_take();
	rtnl_unlock();
}

static void recorder_start(void)
{
	trace_array_set_tracing(recorder_tr, true);
	trace_array_printk(recorder_tr, _THIS_IP_, "%s is down\n", dev);
	recorder_on = true;
	schedule_work(&recorder_work);
}

static void recorder_stop(void)
{
	trace_array_printk(recorder_tr, _THIS_IP_, "%s is up\n", dev);
	trace_array_set_tracing(recorder_tr, false);
	recorder_on = false;
	recorder_ended = true;
	recorder_take();
	/* Without memory, the last one may not have emptied the buffer. */
	schedule_work(&recorder_work);
}

static int recorder_netdev_event(struct notifier_block *nb, unsigned long event,
				 void *ptr)
{
	struct net_device *netdev = netdev_notifier_info_to_dev(ptr);
	bool link;

	if (event != NETDEV_UP && event != NETDEV_DOWN && event != NETDEV_CHANGE)
		return NOTIFY_DONE;
	if (strcmp(netdev->name, dev))
		return NOTIFY_DONE;

	/* Ask the device: NETDEV_DOWN also comes when the notifier leaves. */
	link = netif_running(netdev) && netif_carrier_ok(netdev);
	if (recorder_link && !link)
		recorder_start();
	else if (link && recorder_on)
		recorder_stop();
	recorder_link = link;

	return NOTIFY_DONE;
}

static struct notifier_block recorder_nb = {
	.notifier_call	= recorder_netdev_event,
};

static int recorder_enable(const char *name)
{
	char system[64];
	char *event;
	int ret;

	if (strscpy(system, name) < 0)
		return -EINVAL;

	event = strchr(system, ':');
	if (event)
		*event++ = '\0';

	ret = trace_array_set_clr_event(recorder_tr, system, event, true);
	if (ret || !filter)
		return ret;

	return trace_array_set_event_filter(recorder_tr, system, event, filter);
}

static int recorder_setup(void)
{
	int ret;

	ret = trace_array_set_tracing(recorder_tr, false) ?:
	      trace_array_set_buffer_size(recorder_tr,
					  (unsigned long)size * SZ_1K) ?:
	      trace_array_init_printk(recorder_tr);
	for (unsigned int i = 0; i < nr_events && !ret; i++) {
		ret = recorder_enable(events[i]);
		if (ret)
			pr_err("event %s: %pe\n", events[i], ERR_PTR(ret));
	}

	return ret ?: recorder_renew();
}

static void recorder_destroy(void)
{
	/* An instance that somebody else uses stays, but records nothing. */
	trace_array_set_tracing(recorder_tr, false);
	trace_array_set_clr_event(recorder_tr, NULL, NULL, false);

	if (trace_array_put_and_destroy(recorder_tr)) {
		pr_info("instance %s is in use, it stays\n", instance);
		trace_array_put(recorder_tr);
	}
}

static int __init recorder_init(void)
{
	int ret;

	if (!dev || !max_text)
		return -EINVAL;

	recorder_tr = trace_array_create(instance);
	if (IS_ERR(recorder_tr)) {
		pr_err("instance %s: %pe\n", instance, recorder_tr);
		return PTR_ERR(recorder_tr);
	}

	ret = recorder_setup();
	if (ret)
		goto destroy;

	/* This calls the notifier for the devices that are there. */
	ret = register_netdevice_notifier_net(&init_net, &recorder_nb);
	if (!ret)
		return 0;

	trace_array_snapshot_free(recorder_tr);
destroy:
	recorder_destroy();

	return ret;
}
module_init(recorder_init);

/* First end all users of the instance, then free what belongs to it. */
static void __exit recorder_exit(void)
{
	unregister_netdevice_notifier_net(&init_net, &recorder_nb);
	cancel_work_sync(&recorder_work);
	if (recorder_allocated)
		trace_array_snapshot_free(recorder_tr);
	recorder_destroy();
}
module_exit(recorder_exit);

MODULE_DESCRIPTION("Sample flight recorder for a network device");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/*
 * ktrace in a driver: what happens to network devices.
 *
 * The lines with ktrace() are all that it takes to make the events
 * ktrace_sample:netdev_event and ktrace_sample:netdev_address, one when the
 * module is loaded, ktrace_sample:sample_init, and, to see one each second,
 * ktrace_sample:sample_tick:
 *
 *	# cd /sys/kernel/tracing
 *	# echo 1 > events/ktrace_sample/netdev_event/enable
 *	# ip link set lo down; ip link set lo up
 *	# cat trace
 */

#include <linux/jiffies.h>
#include <linux/ktrace.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/notifier.h>
#include <linux/workqueue.h>

/* The bytes are copied: the device may be gone when the record is read. */
static noinline void sample_address(const struct net_device *dev)
{
	ktrace(netdev_address, "dev=%s mac=%pM", dev->name, dev->dev_addr);
}

static int sample_netdev_event(struct notifier_block *nb, unsigned long event,
			       void *data)
{
	struct net_device *dev = netdev_notifier_info_to_dev(data);

	ktrace(netdev_event, "dev=%s event=%s carrier=%d mtu=%u flags=%#x",
	       dev->name, netdev_cmd_to_name(event), netif_carrier_ok(dev),
	       dev->mtu, dev->flags);
	if (event == NETDEV_UP && dev->addr_len == ETH_ALEN)
		sample_address(dev);

	return NOTIFY_DONE;
}

static struct notifier_block sample_netdev_nb = {
	.notifier_call = sample_netdev_event,
};

/* An event that needs no help */

static void sample_tick(struct work_struct *work);
static DECLARE_DELAYED_WORK(sample_work, sample_tick);

static void sample_tick(struct work_struct *work)
{
	static unsigned int count;

	ktrace(sample_tick, "count=%u jiffies=%lu", ++count, jiffies);
	schedule_delayed_work(&sample_work, HZ);
}

static int __init sample_init(void)
{
	int ret;

	/* In code that is freed after it ran, too */
	ktrace(sample_init, "hz=%d module=%s", HZ, KBUILD_MODNAME);

	ret = register_netdevice_notifier(&sample_netdev_nb);
	if (ret)
		return ret;

	schedule_delayed_work(&sample_work, HZ);

	return 0;
}
module_init(sample_init);

static void __exit sample_exit(void)
{
	cancel_delayed_work_sync(&sample_work);
	unregister_netdevice_notifier(&sample_netdev_nb);
}
module_exit(sample_exit);

MODULE_DESCRIPTION("ktrace events of network devices");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/*
 * ktrace in a driver: what happens to network devices and to block I/O.
 *
 * The lines with ktrace() are all that it takes to make the events
 * ktrace:netdev_event, ktrace:netdev_address and ktrace:bio_done, and, for
 * those who want to see one each second, ktrace:sample_tick:
 *
 *	# cd /sys/kernel/tracing
 *	# echo 1 > events/ktrace/netdev_event/enable
 *	# ip link set lo down; ip link set lo up
 *	# cat trace
 */

#include <linux/blk_types.h>
#include <linux/blkdev.h>
#include <linux/jiffies.h>
#include <linux/ktrace.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/notifier.h>
#include <linux/workqueue.h>
#include <trace/events/block.h>

/* Network devices: a notifier chain */

static int sample_netdev_event(struct notifier_block *nb, unsigned long event,
			       void *data)
{
	struct net_device *dev = netdev_notifier_info_to_dev(data);

	ktrace(netdev_event, "dev=%s event=%s carrier=%d mtu=%u flags=%#x",
	       dev->name, netdev_cmd_to_name(event), netif_carrier_ok(dev),
	       dev->mtu, dev->flags);

	/* The bytes are copied: the device may be gone when this is read. */
	if (event == NETDEV_UP && dev->addr_len == ETH_ALEN)
		ktrace(netdev_address, "dev=%s mac=%pM", dev->name,
		       dev->dev_addr);

	return NOTIFY_DONE;
}

static struct notifier_block sample_netdev_nb = {
	.notifier_call = sample_netdev_event,
};

/* Block devices: a tracepoint, with those fields only that are of interest */

#ifdef CONFIG_BLOCK
static void sample_bio_done(void *data, struct request_queue *q, struct bio *bio)
{
	ktrace(bio_done, "dev=%u:%u sector=%llu bytes=%u write=%d status=%d",
	       MAJOR(bio_dev(bio)), MINOR(bio_dev(bio)),
	       (unsigned long long)bio->bi_iter.bi_sector,
	       bio->bi_iter.bi_size, op_is_write(bio_op(bio)),
	       blk_status_to_errno(bio->bi_status));
}

static int sample_register_bio(void)
{
	return register_trace_block_bio_complete(sample_bio_done, NULL);
}

static void sample_unregister_bio(void)
{
	unregister_trace_block_bio_complete(sample_bio_done, NULL);
	tracepoint_synchronize_unregister();
}
#else
static int sample_register_bio(void)
{
	return 0;
}

static void sample_unregister_bio(void)
{
}
#endif

/* Something that happens without anybody's help */

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

	ret = sample_register_bio();
	if (ret) {
		unregister_netdevice_notifier(&sample_netdev_nb);
		return ret;
	}

	schedule_delayed_work(&sample_work, HZ);

	return 0;
}
module_init(sample_init);

static void __exit sample_exit(void)
{
	cancel_delayed_work_sync(&sample_work);
	sample_unregister_bio();
	unregister_netdevice_notifier(&sample_netdev_nb);
}
module_exit(sample_exit);

MODULE_DESCRIPTION("ktrace events of network devices and block I/O");
MODULE_LICENSE("GPL");

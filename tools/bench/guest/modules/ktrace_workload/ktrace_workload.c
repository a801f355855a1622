// SPDX-License-Identifier: GPL-2.0
/*
 * ktrace() lines at the kernel's tracepoints of the systems sched, irq, raw_syscalls,
 * writeback, net, skb and napi that a workload comes to, with the fields that the
 * trace events have there. The scenario workloads compares what both cost.
 */

#include <linux/bitops.h>
#include <linux/interrupt.h>
#include <linux/ktrace.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/tracepoint.h>

#include <asm/syscall.h>

#include <trace/events/irq.h>
#include <trace/events/napi.h>
#include <trace/events/net.h>
#include <trace/events/sched.h>
#include <trace/events/skb.h>
#include <trace/events/syscalls.h>
#include <trace/events/writeback.h>

/* A tracepoint, its arguments, and the ktrace() line for it */
#define PROBE(name, proto, args...)					\
static void probe_##name(void *data, PARAMS proto)			\
{									\
	check_trace_callback_type_##name(probe_##name);			\
	ktrace(name, args);						\
}

#define TASK_PROBE(name)						\
	PROBE(name, (struct task_struct *p), "comm=%s pid=%d prio=%d cpu=%d",	\
	      p->comm, p->pid, p->prio, task_cpu(p))

#define SOFTIRQ_PROBE(name)						\
	PROBE(name, (unsigned int vec), "vec=%u", vec)

#define INODE_PROBE(name)						\
	PROBE(name, (struct inode *inode, int flags),			\
	      "ino=%llu state=%u flags=%d", (u64)inode->i_ino,		\
	      inode_state_read_once(inode), flags)

#define SKB_PROBE(event)						\
	PROBE(event, (struct sk_buff *skb), "skbaddr=%px len=%u name=%s",	\
	      skb, skb->len, skb->dev->name)

PROBE(sched_switch,
      (bool preempt, struct task_struct *prev, struct task_struct *next,
       unsigned int state),
      "prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%u next_comm=%s next_pid=%d next_prio=%d",
      prev->comm, prev->pid, prev->prio, state, next->comm, next->pid, next->prio)
TASK_PROBE(sched_waking)
TASK_PROBE(sched_wakeup)
TASK_PROBE(sched_wakeup_new)
TASK_PROBE(sched_process_free)
TASK_PROBE(sched_wait_task)
PROBE(sched_process_exit, (struct task_struct *p, bool group_dead),
      "comm=%s pid=%d prio=%d group_dead=%d", p->comm, p->pid, p->prio, group_dead)
PROBE(sched_process_wait, (struct pid *pid), "comm=%s pid=%d prio=%d",
      current->comm, pid_nr(pid), current->prio)
PROBE(sched_process_fork, (struct task_struct *parent, struct task_struct *child),
      "parent_comm=%s parent_pid=%d child_comm=%s child_pid=%d",
      parent->comm, parent->pid, child->comm, child->pid)
PROBE(sched_process_exec,
      (struct task_struct *p, pid_t old_pid, struct linux_binprm *bprm),
      "comm=%s pid=%d old_pid=%d", p->comm, p->pid, old_pid)
PROBE(sched_prepare_exec, (struct task_struct *p, struct linux_binprm *bprm),
      "comm=%s pid=%d", p->comm, p->pid)
PROBE(sched_stat_runtime, (struct task_struct *p, u64 runtime),
      "comm=%s pid=%d runtime=%llu", p->comm, p->pid, runtime)

PROBE(irq_handler_entry, (int irq, struct irqaction *action), "irq=%d name=%s",
      irq, action->name)
PROBE(irq_handler_exit, (int irq, struct irqaction *action, int ret), "irq=%d ret=%d",
      irq, ret)
SOFTIRQ_PROBE(softirq_entry)
SOFTIRQ_PROBE(softirq_exit)
SOFTIRQ_PROBE(softirq_raise)

static void probe_sys_enter(void *data, struct pt_regs *regs, long id)
{
	unsigned long args[6];

	check_trace_callback_type_sys_enter(probe_sys_enter);
	syscall_get_arguments(current, regs, args);
	ktrace(sys_enter, "id=%ld a=%lx b=%lx c=%lx d=%lx e=%lx f=%lx", id, args[0],
	       args[1], args[2], args[3], args[4], args[5]);
}

PROBE(sys_exit, (struct pt_regs *regs, long ret), "id=%ld ret=%ld",
      (long)syscall_get_nr(current, regs), ret)

INODE_PROBE(writeback_mark_inode_dirty)
INODE_PROBE(writeback_dirty_inode_start)
INODE_PROBE(writeback_dirty_inode)
PROBE(writeback_dirty_folio, (struct folio *folio, struct address_space *mapping),
      "ino=%llu index=%lu", (u64)(mapping ? mapping->host->i_ino : 0), folio->index)

SKB_PROBE(net_dev_queue)
SKB_PROBE(netif_receive_skb)
SKB_PROBE(netif_rx)
PROBE(net_dev_start_xmit, (const struct sk_buff *skb, const struct net_device *dev),
      "name=%s queue=%u skbaddr=%px protocol=%u ip_summed=%u len=%u data_len=%u network_offset=%d transport_offset=%d tx_flags=%u gso_size=%u gso_segs=%u gso_type=%u",
      dev->name, skb->queue_mapping, skb, be16_to_cpu(skb->protocol), skb->ip_summed,
      skb->len, skb->data_len, skb_network_offset(skb), skb_transport_offset(skb),
      skb_shinfo(skb)->tx_flags, skb_shinfo(skb)->gso_size, skb_shinfo(skb)->gso_segs,
      skb_shinfo(skb)->gso_type)
PROBE(net_dev_xmit,
      (struct sk_buff *skb, int rc, struct net_device *dev, unsigned int len),
      "skbaddr=%px len=%u rc=%d name=%s", skb, len, rc, dev->name)
PROBE(netif_rx_entry, (const struct sk_buff *skb),
      "name=%s queue=%u skbaddr=%px protocol=%u ip_summed=%u hash=%u len=%u data_len=%u truesize=%u nr_frags=%u gso_size=%u gso_type=%u",
      skb->dev->name, skb->queue_mapping, skb, be16_to_cpu(skb->protocol),
      skb->ip_summed, skb->hash, skb->len, skb->data_len, skb->truesize,
      skb_shinfo(skb)->nr_frags, skb_shinfo(skb)->gso_size, skb_shinfo(skb)->gso_type)
PROBE(netif_rx_exit, (int ret), "ret=%d", ret)

PROBE(kfree_skb,
      (struct sk_buff *skb, void *location, enum skb_drop_reason reason,
       const struct sock *sk),
      "skbaddr=%px location=%px sk=%px protocol=%u reason=%d", skb, location, sk,
      be16_to_cpu(skb->protocol), reason)
PROBE(consume_skb, (struct sk_buff *skb, void *location), "skbaddr=%px location=%px",
      skb, location)
PROBE(skb_copy_datagram_iovec, (const struct sk_buff *skb, int len),
      "skbaddr=%px len=%d", skb, len)
PROBE(napi_poll, (struct napi_struct *napi, int work, int budget),
      "napi=%px name=%s work=%d budget=%d", napi,
      napi->dev ? napi->dev->name : "(no_device)", work, budget)

static struct {
	const char		*name;
	void			*probe;
	struct tracepoint	*tp;
} probes[] = {
#define ENTRY(name)	{ #name, probe_##name }
	ENTRY(sched_switch), ENTRY(sched_waking), ENTRY(sched_wakeup),
	ENTRY(sched_wakeup_new), ENTRY(sched_process_free), ENTRY(sched_wait_task),
	ENTRY(sched_process_exit), ENTRY(sched_process_wait), ENTRY(sched_process_fork),
	ENTRY(sched_process_exec), ENTRY(sched_prepare_exec), ENTRY(sched_stat_runtime),
	ENTRY(irq_handler_entry), ENTRY(irq_handler_exit), ENTRY(softirq_entry),
	ENTRY(softirq_exit), ENTRY(softirq_raise), ENTRY(sys_enter), ENTRY(sys_exit),
	ENTRY(writeback_mark_inode_dirty), ENTRY(writeback_dirty_inode_start),
	ENTRY(writeback_dirty_inode), ENTRY(writeback_dirty_folio),
	ENTRY(net_dev_queue), ENTRY(netif_receive_skb), ENTRY(netif_rx),
	ENTRY(net_dev_start_xmit), ENTRY(net_dev_xmit), ENTRY(netif_rx_entry),
	ENTRY(netif_rx_exit), ENTRY(kfree_skb), ENTRY(consume_skb),
	ENTRY(skb_copy_datagram_iovec), ENTRY(napi_poll),
};

static void find(struct tracepoint *tp, void *data)
{
	for (int i = 0; i < ARRAY_SIZE(probes); i++) {
		if (!strcmp(probes[i].name, tp->name))
			probes[i].tp = tp;
	}
}

static void remove_probes(int n)
{
	while (n--)
		tracepoint_probe_unregister(probes[n].tp, probes[n].probe, NULL);
	tracepoint_synchronize_unregister();
}

static int __init workload_init(void)
{
	int ret;

	for_each_kernel_tracepoint(find, NULL);
	for (int i = 0; i < ARRAY_SIZE(probes); i++) {
		ret = probes[i].tp ? tracepoint_probe_register(probes[i].tp, probes[i].probe, NULL) :
				     -ENOENT;
		if (ret) {
			pr_err("ktrace_workload: no probe at %s\n", probes[i].name);
			remove_probes(i);
			return ret;
		}
	}

	return 0;
}

static void __exit workload_exit(void)
{
	remove_probes(ARRAY_SIZE(probes));
}

module_init(workload_init);
module_exit(workload_exit);
MODULE_DESCRIPTION("ktrace() lines at tracepoints of the kernel");
MODULE_LICENSE("GPL");

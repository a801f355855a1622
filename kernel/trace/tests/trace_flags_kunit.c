// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the flags of a record: each context, and each state of the
 * task, sets those that belong to it and no others.
 */

#include <kunit/test.h>
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/thread_info.h>
#include <linux/trace_events.h>

#define RESCHED		(_TIF_NEED_RESCHED | _TIF_NEED_RESCHED_LAZY)

struct context {
	const char	*name;
	/* What is added to preempt_count() */
	int		count;
	/* A flag of the task, a bit number */
	int		tif;
	u32		flags;
};

static const struct context contexts[] = {
	{ "task",		0, -1, 0 },
	{ "softirqs off",	SOFTIRQ_DISABLE_OFFSET, -1, TRACE_FLAG_BH_OFF },
	{ "softirq",		SOFTIRQ_OFFSET, -1, TRACE_FLAG_SOFTIRQ },
	{ "softirq, softirqs off", SOFTIRQ_OFFSET + SOFTIRQ_DISABLE_OFFSET, -1,
				TRACE_FLAG_SOFTIRQ | TRACE_FLAG_BH_OFF },
	{ "interrupt",		HARDIRQ_OFFSET, -1, TRACE_FLAG_HARDIRQ },
	{ "NMI",		NMI_OFFSET, -1, TRACE_FLAG_NMI },
	{ "NMI in an interrupt", NMI_OFFSET + HARDIRQ_OFFSET, -1,
				TRACE_FLAG_NMI | TRACE_FLAG_HARDIRQ },
	{ "task to reschedule",	0, TIF_NEED_RESCHED, TRACE_FLAG_NEED_RESCHED },
#ifdef CONFIG_ARCH_HAS_PREEMPT_LAZY
	{ "task to reschedule lazily", 0, TIF_NEED_RESCHED_LAZY,
				TRACE_FLAG_NEED_RESCHED_LAZY },
#endif
};

/* The interrupts are off. Another CPU may ask this one to reschedule. */
static u32 flags_in(const struct context *context)
{
	unsigned long want = context->tif < 0 ? 0 : BIT(context->tif);
	u32 flags;

	do {
		clear_tsk_need_resched(current);
		if (context->tif >= 0)
			set_tsk_thread_flag(current, context->tif);

		__preempt_count_add(context->count);
		flags = tracing_gen_ctx_irq_test(0) >> 16;
		__preempt_count_sub(context->count);
	} while ((read_thread_flags() & RESCHED) != want);

	/* Somebody may have asked before. */
	set_tsk_need_resched(current);
	set_preempt_need_resched();

	return flags & ~TRACE_FLAG_PREEMPT_RESCHED;
}

static void flags_of_context(struct kunit *test)
{
	const struct context *context = test->param_value;
	unsigned long irqflags;
	u32 flags;

	/* There softirqs have a counter of their own. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT) && (context->count & SOFTIRQ_MASK))
		kunit_skip(test, "needs a kernel without PREEMPT_RT");

	local_irq_save(irqflags);
	flags = flags_in(context);
	local_irq_restore(irqflags);

	KUNIT_EXPECT_EQ(test, flags, context->flags);
}

static void flags_of_interrupts(struct kunit *test)
{
	unsigned long irqflags;
	u32 on, off;

	on = tracing_gen_ctx() >> 16;
	local_irq_save(irqflags);
	off = tracing_gen_ctx() >> 16;
	local_irq_restore(irqflags);

	KUNIT_EXPECT_FALSE(test, on & TRACE_FLAG_IRQS_OFF);
	KUNIT_EXPECT_TRUE(test, off & TRACE_FLAG_IRQS_OFF);
}

KUNIT_ARRAY_PARAM_DESC(contexts, contexts, name);

static struct kunit_case flags_cases[] = {
	KUNIT_CASE_PARAM(flags_of_context, contexts_gen_params),
	KUNIT_CASE(flags_of_interrupts),
	{}
};

static struct kunit_suite flags_suite = {
	.name		= "trace_flags",
	.test_cases	= flags_cases,
};

kunit_test_suite(flags_suite);

MODULE_DESCRIPTION("KUnit tests for the flags of trace records");
MODULE_LICENSE("GPL");

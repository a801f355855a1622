// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for records that are made while a callback of a trace export runs:
 * by the callback itself, by interrupts and by NMIs.
 */

#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/hardirq.h>
#include <linux/irq_work.h>
#include <linux/ring_buffer.h>
#include <linux/trace.h>

#include "trace_export_helpers.h"

static void expect_mirrored(struct kunit *test, struct mirror *mirror,
			    int records)
{
	KUNIT_EXPECT_EQ(test, export_mirror_expect(test, mirror, NULL,
						   TRACE_EXPORT_EVENT),
			records);
}

static void trace_inside(void)
{
	trace_export_kunit(1, 0, 8);
}

static void recursion_is_missed(struct kunit *test)
{
	struct mirror *mirror = export_mirror_alloc(test, TRACE_EXPORT_EVENT);
	struct trace_array *other = export_kunit_other(test);
	struct export_kunit *ctx = test->priv;
	struct trace_array *tr = ctx->env.tr;

	mirror->inside = trace_inside;
	export_kunit_register(test, tr, &mirror->export);
	export_kunit_register(test, other, &mirror->export);

	trace_array_set_clr_event(other, EXPORT_KUNIT, NULL, false);
	trace_export_kunit(0, 0, 8);
	/* Both are in the ring buffer. */
	KUNIT_EXPECT_EQ(test, atomic_read(&mirror->got), 1);
	KUNIT_EXPECT_NOT_NULL(test, export_kunit_next(tr));
	KUNIT_EXPECT_NOT_NULL(test, export_kunit_next(tr));
	KUNIT_EXPECT_NULL(test, export_kunit_next(tr));
	export_kunit_expect_shown(test, " 1\n");

	atomic_set(&mirror->got, 0);
	trace_array_set_clr_event(other, EXPORT_KUNIT, NULL, true);
	trace_export_kunit(0, 1, 8);
	/* One for each instance, and none of those inside */
	KUNIT_EXPECT_EQ(test, atomic_read(&mirror->got), 2);
	KUNIT_EXPECT_NOT_NULL(test, export_kunit_next(other));
	KUNIT_EXPECT_NOT_NULL(test, export_kunit_next(other));
}

/*
 * Records that may nest in the ring buffer, as long as there is a stack. Without
 * the test in trace_export_record() each callback is called for those that it
 * makes, so the depth is limited here. Four levels are safe, and too many.
 */
#define PUTS_DEPTH	4

static struct trace_array *puts_to[2];
static int puts_depth;

static void puts_inside(void)
{
	if (puts_depth == PUTS_DEPTH)
		return;

	puts_depth++;
	for (int i = 0; i < ARRAY_SIZE(puts_to); i++)
		trace_array_puts(puts_to[i], "inside");
	puts_depth--;
}

static struct mirror *mirror_of_puts(struct kunit *test, void (*inside)(void))
{
	struct mirror *mirror = export_mirror_alloc(test, TRACE_EXPORT_PRINTK);
	struct export_kunit *ctx = test->priv;

	puts_depth = 0;
	puts_to[0] = ctx->env.tr;
	puts_to[1] = export_kunit_other(test);
	mirror->inside = inside;
	mirror->always = true;
	for (int i = 0; i < ARRAY_SIZE(puts_to); i++)
		export_kunit_register(test, puts_to[i], &mirror->export);

	return mirror;
}

static int records_of(struct trace_array *tr)
{
	int records = 0;

	while (export_kunit_next(tr))
		records++;

	return records;
}

/* The callbacks for each of two instances make records in both of them. */
static void recursion_has_no_second_level(struct kunit *test)
{
	struct mirror *mirror = mirror_of_puts(test, puts_inside);

	trace_array_puts(puts_to[0], "outside");
	KUNIT_EXPECT_EQ(test, atomic_read(&mirror->got), 1);
	export_kunit_expect_shown(test, " 1\n");
	KUNIT_EXPECT_EQ(test, records_of(puts_to[0]), 2);
	KUNIT_EXPECT_EQ(test, records_of(puts_to[1]), 1);

	trace_array_puts(puts_to[1], "outside");
	KUNIT_EXPECT_EQ(test, atomic_read(&mirror->got), 2);
	export_kunit_expect_shown(test, " 2\n");
	KUNIT_EXPECT_EQ(test, records_of(puts_to[0]), 1);
	KUNIT_EXPECT_EQ(test, records_of(puts_to[1]), 2);
}

static void recursion_is_counted(struct kunit *test)
{
	struct mirror *all = export_mirror_alloc(test, TRACE_EXPORT_EVENT);
	struct trace_array *other = export_kunit_other(test);
	struct export_kunit *ctx = test->priv;
	struct export_registration *reg;
	char line[80];

	all->inside = trace_inside;
	all->own = true;
	reg = export_kunit_register(test, NULL, &all->export);
	trace_export_kunit(0, 0, 8);
	if (atomic_read(&all->foreign))
		kunit_skip(test, "somebody else traces events");
	snprintf(line, sizeof(line), "\nmirror all event 2 %u 2\n",
		 2 * all->record[0].len);
	export_kunit_expect_shown(test, line);
	export_kunit_unregister(test, reg);
	KUNIT_EXPECT_EQ(test, atomic_read(&all->got), 2);

	/* The order of the two instances is not defined. */
	KUNIT_EXPECT_NOT_NULL(test, export_kunit_next(other));
	KUNIT_EXPECT_NOT_NULL(test, export_kunit_next(ctx->env.tr));
}

static struct mirror *mirror_with(struct kunit *test, void (*inside)(void))
{
	struct mirror *mirror = export_mirror_alloc(test, TRACE_EXPORT_EVENT);
	struct export_kunit *ctx = test->priv;

	mirror->inside = inside;
	export_kunit_register(test, ctx->env.tr, &mirror->export);

	return mirror;
}

/* Like an NMI that interrupts the callback */
static void trace_in_nmi(void)
{
	unsigned long flags;

	local_irq_save(flags);
	nmi_enter();
	trace_export_kunit(1, 0, 8);
	nmi_exit();
	local_irq_restore(flags);
}

static void nested_nmi_is_exported(struct kunit *test)
{
	struct mirror *mirror;

	if (!IS_ENABLED(CONFIG_ARCH_HAVE_NMI_SAFE_CMPXCHG) ||
	    IS_ENABLED(CONFIG_GENERIC_ATOMIC64))
		kunit_skip(test, "no records from NMI on this architecture");

	mirror = mirror_with(test, trace_in_nmi);
	trace_export_kunit(0, 0, 8);
	expect_mirrored(test, mirror, 2);
}

/*
 * Like an interrupt that preempt_count() does not count yet, or no longer. A
 * callback that disables interrupts looks the same, once.
 */
static void trace_with_irqs_off(void)
{
	unsigned long flags;

	local_irq_save(flags);
	trace_export_kunit(1, 0, 8);
	trace_export_kunit(1, 1, 8);
	local_irq_restore(flags);
}

static void nested_irq_edge_is_exported(struct kunit *test)
{
	struct mirror *mirror = mirror_with(test, trace_with_irqs_off);

	trace_export_kunit(0, 0, 8);
	expect_mirrored(test, mirror, 3);
	export_kunit_expect_shown(test, " 0\n");
}

static void puts_with_irqs_off(void)
{
	unsigned long flags;

	local_irq_save(flags);
	puts_inside();
	local_irq_restore(flags);
}

/*
 * The two records inside look like those of an interrupt, and are exported. The
 * callbacks for them make two records each, which are not.
 */
static void recursion_ends_with_irqs_off(struct kunit *test)
{
	struct mirror *mirror = mirror_of_puts(test, puts_with_irqs_off);

	trace_array_puts(puts_to[0], "outside");
	KUNIT_EXPECT_EQ(test, atomic_read(&mirror->got), 3);
	export_kunit_expect_shown(test, " 2\n");
	KUNIT_EXPECT_EQ(test, records_of(puts_to[0]), 4);
	KUNIT_EXPECT_EQ(test, records_of(puts_to[1]), 3);
}

static bool irq_traced;

static void trace_irq_work(struct irq_work *work)
{
	trace_export_kunit(1, 0, 8);
	WRITE_ONCE(irq_traced, true);
}

/* With PREEMPT_RT, others run in a thread, which is not inside. */
static struct irq_work irq_tracer = IRQ_WORK_INIT_HARD(trace_irq_work);

/* Wait for the interrupt inside of the callback. */
static void trace_in_irq(void)
{
	irq_work_queue(&irq_tracer);
	for (int i = 0; i < 1000 && !READ_ONCE(irq_traced); i++)
		mdelay(1);
}

static void nested_irq_is_exported(struct kunit *test)
{
	struct mirror *mirror = mirror_with(test, trace_in_irq);

	WRITE_ONCE(irq_traced, false);
	trace_export_kunit(0, 0, 8);
	irq_work_sync(&irq_tracer);
	KUNIT_EXPECT_TRUE(test, irq_traced);
	expect_mirrored(test, mirror, 2);
}

static struct kunit_case nested_cases[] = {
	KUNIT_CASE(recursion_is_missed),
	KUNIT_CASE(recursion_has_no_second_level),
	KUNIT_CASE(recursion_is_counted),
	KUNIT_CASE(nested_nmi_is_exported),
	KUNIT_CASE(nested_irq_edge_is_exported),
	KUNIT_CASE(recursion_ends_with_irqs_off),
	KUNIT_CASE(nested_irq_is_exported),
	{}
};

static struct kunit_suite nested_suite = {
	.name		= "trace_export_nested",
	.init		= export_kunit_init_counter,
	.test_cases	= nested_cases,
};

kunit_test_suite(nested_suite);

MODULE_DESCRIPTION("KUnit tests for records within callbacks of trace exports");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for snapshots that kernel code takes of trace instances. See
 * trace_snapshot_kunit.c for snapshots that race with changes of the buffers.
 */

#include <kunit/test.h>
#include <linux/cleanup.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hardirq.h>
#include <linux/irq_work.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/ring_buffer.h>

#include "trace_inst_kunit.h"

#define SNAPSHOT	TRACE_ARRAY_READ_SNAPSHOT

static void alloc(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, trace_array_snapshot_alloc(inst_tr(test)), 0);
}

static void take(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(inst_tr(test)), 0);
}

static void expect_allocated(struct kunit *test, bool allocated)
{
	struct trace_array *tr = inst_tr(test);
	struct inst_kunit *inst = test->priv;
	unsigned long size;

	KUNIT_EXPECT_EQ(test, tr->allocated_snapshot, allocated);
	size = ring_buffer_size(tr->snapshot_buffer.buffer, inst->cpu);
	if (allocated)
		KUNIT_EXPECT_EQ(test, size, inst_buffer_size(test));
	else
		KUNIT_EXPECT_LT(test, size, inst_buffer_size(test));
}

static void expect_busy(struct kunit *test)
{
	struct trace_array *tr = inst_tr(test);

	KUNIT_EXPECT_EQ(test, trace_array_snapshot_alloc(tr), -EBUSY);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(tr), -EBUSY);
}

/* Taking a snapshot */

static void needs_alloc(struct kunit *test)
{
	struct trace_array *tr = inst_tr(test);

	inst_enable(test);
	inst_record(0, 10);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(tr), -ENODEV);
	inst_expect_in_file(test, "snapshot", "Snapshot is freed");

	for (int i = 0; i < 2; i++) {
		alloc(test);
		alloc(test);
		inst_expect_in_file(test, "snapshot", "Snapshot is allocated");
		expect_allocated(test, true);
		trace_array_snapshot_free(tr);
		inst_expect_in_file(test, "snapshot", "Snapshot is allocated");
		expect_allocated(test, true);
		trace_array_snapshot_free(tr);
		inst_expect_in_file(test, "snapshot", "Snapshot is freed");
		expect_allocated(test, false);
		KUNIT_EXPECT_EQ(test, trace_array_snapshot(tr), -ENODEV);
	}
	inst_expect_records(test, 0, 0, 10);
}

static void swaps_buffers(struct kunit *test)
{
	struct trace_array *tr = inst_tr(test);

	inst_enable(test);
	alloc(test);
	inst_record(0, 10);
	take(test);
	inst_expect_records(test, SNAPSHOT, 0, 10);
	inst_expect_records(test, 0, 0, 0);
	inst_record(10, 5);
	inst_expect_records(test, SNAPSHOT, 0, 10);
	inst_expect_records(test, 0, 10, 5);

	/* A clear is for the ring buffer. */
	KUNIT_EXPECT_EQ(test, trace_array_clear(tr), 0);
	inst_expect_records(test, 0, 0, 0);
	inst_expect_records(test, SNAPSHOT, 0, 10);
	inst_record(15, 5);

	/* The records of the first snapshot are older than the clear. */
	take(test);
	inst_expect_records(test, SNAPSHOT, 15, 5);
	inst_expect_records(test, 0, 0, 0);
	inst_record(20, 5);
	inst_expect_records(test, 0, 20, 5);
	inst_expect_records(test, SNAPSHOT, 15, 5);
	take(test);
	inst_expect_records(test, SNAPSHOT, 20, 5);
	inst_expect_records(test, 0, 15, 5);

	trace_array_snapshot_free(tr);
	inst_expect_in_file(test, "snapshot", "Snapshot is freed");
	inst_expect_records(test, 0, 15, 5);
}

/* Without a clear, the records of the previous snapshot are in the trace. */
static void previous_comes_back(struct kunit *test)
{
	inst_enable(test);
	alloc(test);
	inst_record(0, 10);
	take(test);
	inst_record(10, 5);
	take(test);
	inst_expect_records(test, SNAPSHOT, 10, 5);
	inst_expect_records(test, 0, 0, 10);
	inst_record(10, 5);
	inst_expect_records(test, 0, 0, 15);

	/* To clear the snapshot does not hide what comes there. */
	inst_write(test, "snapshot", "2");
	inst_expect_records(test, SNAPSHOT, 0, 0);
	take(test);
	inst_expect_records(test, SNAPSHOT, 0, 15);
	inst_expect_records(test, 0, 0, 0);
	inst_record(15, 5);
	inst_expect_records(test, 0, 15, 5);
	trace_array_snapshot_free(inst_tr(test));
}

static void has_older_records(struct kunit *test)
{
	inst_enable(test);
	inst_record(0, 10);
	alloc(test);
	trace_array_snapshot_free(inst_tr(test));
	alloc(test);
	take(test);
	inst_expect_records(test, SNAPSHOT, 0, 10);
	trace_array_snapshot_free(inst_tr(test));
}

/* An instance that is switched off stays so. */
static void while_off(struct kunit *test)
{
	struct trace_array *tr = inst_tr(test);

	inst_enable(test);
	alloc(test);
	inst_record(0, 10);
	KUNIT_EXPECT_EQ(test, trace_array_set_tracing(tr, false), 0);
	take(test);
	inst_expect_file(test, "tracing_on", "0\n");
	inst_record(10, 5);
	inst_expect_records(test, 0, 0, 0);
	inst_expect_records(test, SNAPSHOT, 0, 10);
	KUNIT_EXPECT_EQ(test, trace_array_set_tracing(tr, true), 0);
	inst_record(10, 5);
	inst_expect_records(test, 0, 10, 5);
	trace_array_snapshot_free(tr);
}

/* The file takes a snapshot of one CPU. */
static void of_one_cpu(struct kunit *test)
{
	struct inst_kunit *inst = test->priv;
	char name[64];

	if (!IS_ENABLED(CONFIG_RING_BUFFER_ALLOW_SWAP))
		kunit_skip(test, "needs CONFIG_RING_BUFFER_ALLOW_SWAP");

	snprintf(name, sizeof(name), "per_cpu/cpu%d/snapshot", inst->cpu);
	inst_enable(test);
	alloc(test);
	inst_record(0, 10);
	inst_write(test, name, "1");
	inst_expect_records(test, SNAPSHOT, 0, 10);
	inst_expect_records(test, 0, 0, 0);

	/* The records of the snapshot are older than the clear, and stay. */
	KUNIT_EXPECT_EQ(test, trace_array_clear(inst_tr(test)), 0);
	inst_expect_records(test, SNAPSHOT, 0, 10);
	inst_record(10, 5);
	inst_write(test, name, "1");
	inst_expect_records(test, SNAPSHOT, 10, 5);
	inst_expect_records(test, 0, 0, 0);

	/* To clear the snapshot does not hide what comes there. */
	inst_record(15, 5);
	inst_write(test, "snapshot", "2");
	inst_write(test, name, "1");
	inst_expect_records(test, SNAPSHOT, 15, 5);
	trace_array_snapshot_free(inst_tr(test));
}

/* In which context */

static void from_nmi(struct kunit *test)
{
	struct trace_array *tr = inst_tr(test);

	inst_enable(test);
	alloc(test);
	inst_record(0, 10);
	KUNIT_EXPECT_EQ(test, inst_in_nmi(trace_array_snapshot, tr), -EAGAIN);
	/* There is no remark in the trace. */
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(tr->array_buffer.buffer), 10);
	inst_expect_records(test, 0, 0, 10);
	inst_expect_records(test, SNAPSHOT, 0, 0);
	take(test);
	inst_expect_records(test, SNAPSHOT, 0, 10);
	trace_array_snapshot_free(tr);
}

struct irq_snapshot {
	struct irq_work		work;
	struct trace_array	*tr;
	bool			in_irq;
	int			ret;
};

static void take_in_irq(struct irq_work *work)
{
	struct irq_snapshot *irq = container_of(work, struct irq_snapshot, work);

	irq->in_irq = in_hardirq();
	irq->ret = trace_array_snapshot(irq->tr);
}

static void from_irq(struct kunit *test)
{
	struct irq_snapshot irq = { .tr = inst_tr(test), .ret = 1 };

	inst_enable(test);
	alloc(test);
	inst_record(0, 10);
	irq.work = IRQ_WORK_INIT_HARD(take_in_irq);
	KUNIT_EXPECT_TRUE(test, irq_work_queue(&irq.work));
	irq_work_sync(&irq.work);
	KUNIT_EXPECT_TRUE(test, irq.in_irq);
	KUNIT_EXPECT_EQ(test, irq.ret, 0);
	inst_expect_records(test, SNAPSHOT, 0, 10);
	inst_expect_records(test, 0, 0, 0);
	trace_array_snapshot_free(irq.tr);
}

/* Other users of the buffers */

static void while_reader_pauses(struct kunit *test)
{
	struct trace_array *tr = inst_tr(test);
	struct trace_array_reader *reader;

	inst_enable(test);
	alloc(test);
	inst_write(test, "trace_options", "pause-on-trace");
	inst_record(0, 10);
	reader = inst_open(test, 0);
	inst_record(10, 5);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(tr), -EAGAIN);
	inst_close(test, reader);

	inst_record(10, 5);
	inst_expect_records(test, 0, 0, 15);
	take(test);
	inst_expect_records(test, SNAPSHOT, 0, 15);
	trace_array_snapshot_free(tr);
}

/* To read the buffer keeps it from getting its size. */
static void while_read(struct kunit *test)
{
	struct trace_array *tr = inst_tr(test);
	struct trace_array_reader *reader;

	reader = inst_open(test, SNAPSHOT);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot_alloc(tr), -EBUSY);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(tr), -ENODEV);
	inst_close(test, reader);
	expect_allocated(test, false);

	/* It does not keep others from taking snapshots. */
	alloc(test);
	inst_enable(test);
	inst_record(0, 10);
	reader = inst_open(test, SNAPSHOT);
	alloc(test);
	take(test);
	inst_close(test, reader);
	inst_expect_records(test, SNAPSHOT, 0, 10);
	trace_array_snapshot_free(tr);
	trace_array_snapshot_free(tr);
	expect_allocated(test, false);
}

/* The last CPU, so that the sizes of others have to be taken back. */
static void while_one_cpu_is_read(struct kunit *test)
{
	struct trace_array *tr = inst_tr(test);
	struct file *file;
	char name[64];
	int cpu[2];

	trace_kunit_two_cpus(test, cpu);
	snprintf(name, sizeof(name), "per_cpu/cpu%d/snapshot",
		 cpumask_last(cpu_online_mask));
	file = trace_kunit_open(test, INST_NAME, name, O_RDONLY);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	KUNIT_EXPECT_EQ(test, trace_array_snapshot_alloc(tr), -EBUSY);
	KUNIT_EXPECT_FALSE(test, tr->allocated_snapshot);
	KUNIT_EXPECT_EQ(test, tr->snapshot, 0);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(tr), -ENODEV);
	__fput_sync(file);

	alloc(test);
	expect_allocated(test, true);
	inst_enable(test);
	inst_record(0, 10);
	take(test);
	inst_expect_records(test, SNAPSHOT, 0, 10);
	trace_array_snapshot_free(tr);
	expect_allocated(test, false);
}

static bool never(struct trace_array *tr, void *cond_data)
{
	return false;
}

static void set_condition(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, tracing_snapshot_cond_enable(inst_tr(test), NULL,
							   never), 0);
}

static void with_condition(struct kunit *test)
{
	struct trace_array *tr = inst_tr(test);

	inst_enable(test);
	inst_record(0, 10);
	set_condition(test);
	expect_busy(test);
	KUNIT_EXPECT_EQ(test, tracing_snapshot_cond_disable(tr), 0);
	inst_expect_records(test, 0, 0, 10);

	/* The buffer of the conditional snapshot has stayed. */
	alloc(test);
	set_condition(test);
	expect_busy(test);
	KUNIT_EXPECT_EQ(test, tracing_snapshot_cond_disable(tr), 0);
	take(test);
	inst_expect_records(test, SNAPSHOT, 0, 10);
	trace_array_snapshot_free(tr);
	expect_allocated(test, true);
}

static void with_latency_tracer(struct kunit *test)
{
	struct trace_array *tr = inst_tr(test);
	struct trace_array_reader *reader;
	char buf[16];

	if (tracing_set_tracer(tr, "wakeup"))
		kunit_skip(test, "needs CONFIG_SCHED_TRACER");

	expect_busy(test);
	reader = inst_open(test, SNAPSHOT);
	KUNIT_EXPECT_EQ(test, trace_array_reader_read(reader, buf, sizeof(buf)),
			-EBUSY);
	KUNIT_EXPECT_EQ(test, tracing_set_tracer(tr, "nop"), 0);
	KUNIT_EXPECT_GT(test, trace_array_reader_read(reader, buf, sizeof(buf)),
			0);
	/* The reader has kept the buffer, which nobody else needs. */
	expect_allocated(test, true);
	inst_close(test, reader);
	inst_write(test, "snapshot", "0");
	expect_allocated(test, false);

	/* The next one leaves the buffer to the kernel when it goes. */
	alloc(test);
	KUNIT_EXPECT_EQ(test, tracing_set_tracer(tr, "wakeup"), 0);
	expect_busy(test);
	KUNIT_EXPECT_EQ(test, tracing_set_tracer(tr, "nop"), 0);
	expect_allocated(test, true);
	take(test);
	trace_array_snapshot_free(tr);
	expect_allocated(test, false);

	/* It leaves no records behind. */
	alloc(test);
	inst_enable(test);
	inst_record(0, 10);
	take(test);
	inst_expect_records(test, SNAPSHOT, 0, 10);
	trace_array_snapshot_free(tr);
	expect_allocated(test, false);
}

static unsigned long map_buffer(struct kunit *test)
{
	struct inst_kunit *inst = test->priv;
	struct file *file;
	unsigned long addr;
	char name[64];

	snprintf(name, sizeof(name), "per_cpu/cpu%d/trace_pipe_raw", inst->cpu);
	file = trace_kunit_open(test, INST_NAME, name, O_RDONLY | O_NONBLOCK);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	addr = vm_mmap(file, 0, PAGE_SIZE, PROT_READ, MAP_SHARED, 0);
	/* The mapping has a reference of its own. */
	__fput_sync(file);

	return addr;
}

static void unmap_buffer(struct kunit *test, unsigned long addr)
{
	KUNIT_ASSERT_EQ(test, vm_munmap(addr, PAGE_SIZE), 0);
	flush_delayed_fput();
}

static void with_mapped_buffer(struct kunit *test)
{
	unsigned long size = inst_buffer_size(test);
	struct trace_array *tr = inst_tr(test);
	unsigned long addr;

	inst_enable(test);
	inst_record(0, 10);
	/* There is a buffer for snapshots, which nobody needs. */
	inst_write(test, "snapshot", "1");
	inst_expect_records(test, SNAPSHOT, 0, 10);
	addr = map_buffer(test);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(addr));
	expect_busy(test);
	KUNIT_EXPECT_EQ(test, trace_array_set_buffer_size(tr, 2 * size),
			-EBUSY);
	KUNIT_EXPECT_EQ(test, inst_buffer_size(test), size);
	inst_expect_records(test, SNAPSHOT, 0, 10);
	unmap_buffer(test, addr);

	alloc(test);
	take(test);
	inst_expect_records(test, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, (long)map_buffer(test), -EBUSY);
	trace_array_snapshot_free(tr);

	addr = map_buffer(test);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(addr));
	unmap_buffer(test, addr);
}

static void forget_boot_buffer(void *tr)
{
	((struct trace_array *)tr)->range_addr_start = 0;
}

/* The kernel creates such an instance at boot only. */
static void of_boot_buffer(struct kunit *test)
{
	struct trace_array *tr = inst_tr(test);

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test,
							forget_boot_buffer, tr),
			0);
	tr->range_addr_start = PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, trace_array_snapshot_alloc(tr), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(tr), -ENODEV);
	KUNIT_EXPECT_EQ(test, PTR_ERR(trace_array_reader_open(tr, SNAPSHOT)),
			-EOPNOTSUPP);
	trace_array_snapshot_free(tr);
	kunit_release_action(test, forget_boot_buffer, tr);
	inst_expect_in_file(test, "snapshot", "Snapshot is freed");
}

/* Freeing the buffer */

static void buffer_of_user_space(struct kunit *test)
{
	struct trace_array *tr = inst_tr(test);

	inst_write(test, "snapshot", "1");
	alloc(test);
	trace_array_snapshot_free(tr);
	expect_allocated(test, true);
	inst_write(test, "snapshot", "0");
	expect_allocated(test, false);

	/* User space can also free the one of the kernel, and make another. */
	alloc(test);
	inst_write(test, "snapshot", "0");
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(tr), -ENODEV);
	inst_write(test, "snapshot", "1");
	take(test);
	trace_array_snapshot_free(tr);
	expect_allocated(test, true);
	inst_write(test, "snapshot", "0");
}

/* To open the file "trigger" for writing would remove other triggers. */
static void set_trigger(struct kunit *test, const char *trigger)
{
	struct trace_event_file *file;
	char text[16];
	int ret;

	strscpy(text, trigger);
	scoped_guard(mutex, &event_mutex) {
		file = __find_event_file(inst_tr(test), INST_SYSTEM,
					 INST_EVENT);
		ret = file ? trigger_process_regex(file, text) : -ENOENT;
	}
	KUNIT_EXPECT_GE_MSG(test, ret, 0, "%s", trigger);
}

static void buffer_of_trigger(struct kunit *test)
{
	struct trace_array *tr = inst_tr(test);

	inst_enable(test);
	alloc(test);
	inst_record(0, 10);
	set_trigger(test, "snapshot");
	trace_array_snapshot_free(tr);
	expect_allocated(test, true);
	inst_record(10, 1);
	inst_expect_records(test, SNAPSHOT, 0, 10);
	inst_expect_records(test, 0, 10, 1);

	/* The kernel uses it again, and is the last one to need it. */
	alloc(test);
	set_trigger(test, "!snapshot");
	take(test);
	inst_expect_records(test, SNAPSHOT, 10, 1);
	trace_array_snapshot_free(tr);
	expect_allocated(test, true);
	inst_write(test, "snapshot", "0");

	/* The buffer of a trigger stays, as ever. */
	set_trigger(test, "snapshot");
	alloc(test);
	set_trigger(test, "!snapshot");
	trace_array_snapshot_free(tr);
	expect_allocated(test, true);
}

/* Kernel code that comes later finds a snapshot of user space. */
static void buffer_left_to_trigger(struct kunit *test)
{
	struct trace_array *tr = inst_tr(test);

	inst_enable(test);
	alloc(test);
	set_trigger(test, "snapshot");
	trace_array_snapshot_free(tr);
	set_trigger(test, "!snapshot");

	inst_record(0, 10);
	inst_write(test, "snapshot", "1");
	alloc(test);
	trace_array_snapshot_free(tr);
	inst_expect_records(test, SNAPSHOT, 0, 10);
	expect_allocated(test, true);
	inst_write(test, "snapshot", "0");
	expect_allocated(test, false);
}

static struct kunit_case snapshot_cases[] = {
	KUNIT_CASE(needs_alloc),
	KUNIT_CASE(swaps_buffers),
	KUNIT_CASE(previous_comes_back),
	KUNIT_CASE(has_older_records),
	KUNIT_CASE(while_off),
	KUNIT_CASE(of_one_cpu),
	KUNIT_CASE(from_nmi),
	KUNIT_CASE(from_irq),
	KUNIT_CASE(while_reader_pauses),
	KUNIT_CASE(while_read),
	KUNIT_CASE(while_one_cpu_is_read),
	KUNIT_CASE(with_condition),
	KUNIT_CASE(with_latency_tracer),
	KUNIT_CASE(with_mapped_buffer),
	KUNIT_CASE(of_boot_buffer),
	KUNIT_CASE(buffer_of_user_space),
	KUNIT_CASE(buffer_of_trigger),
	KUNIT_CASE(buffer_left_to_trigger),
	{}
};

static struct kunit_suite snapshot_suite = {
	.name		= "trace_inst_snapshot",
	.init		= inst_kunit_init,
	.test_cases	= snapshot_cases,
};

kunit_test_suite(snapshot_suite);

MODULE_DESCRIPTION("KUnit tests for snapshots of trace instances");
MODULE_LICENSE("GPL");

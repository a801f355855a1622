// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for snapshots of trace instances, see trace_snapshot.c.
 * Cases about two CPUs stop one side at max_lock, a grace period or a callback.
 */

#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/kthread.h>
#include <linux/pipe_fs_i.h>
#include <linux/poll.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>
#include <linux/trace.h>
#include <linux/trace_clock.h>
#include <trace/events/kmem.h>

#include "trace_kunit.h"

#define INSTANCE		"trace_snapshot_kunit"

static void free_tr_snapshot(void *data)
{
	struct trace_array *tr = data;

	guard(mutex)(&trace_types_lock);

	/* The test may have freed it already. */
	if (tr->allocated_snapshot)
		free_snapshot(tr);
}

static void alloc_snapshot(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	int ret;

	scoped_guard(mutex, &trace_types_lock)
		ret = tracing_alloc_snapshot_instance(env->tr);
	KUNIT_ASSERT_EQ(test, ret, 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_tr_snapshot,
							env->tr), 0);
}

static struct trace_buffer *live_buffer(struct trace_array *tr)
{
	return READ_ONCE(tr->array_buffer.buffer);
}

static void make_record(struct kunit *test)
{
	struct trace_kunit *env = test->priv;

	KUNIT_EXPECT_EQ(test, __trace_array_puts(env->tr, _THIS_IP_, "x\n", 2),
			2);
}

/* References on the snapshot buffer */

static bool always(struct trace_array *tr, void *cond_data)
{
	return true;
}

KUNIT_DEFINE_ACTION_WRAPPER(disarm, tracing_disarm_snapshot,
			    struct trace_array *);

/* A trigger has such a reference, for example. */
static void cond_disable_keeps_reference(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;

	KUNIT_ASSERT_EQ(test, tracing_arm_snapshot(tr), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, disarm, tr), 0);

	KUNIT_EXPECT_EQ(test, tracing_snapshot_cond_disable(tr), -EINVAL);
	KUNIT_EXPECT_EQ(test, tr->snapshot, 1);

	/* The end of the test is quiet, also if the reference was dropped. */
	tr->snapshot = 1;
}

static void cond_disable_drops_its_own(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;

	KUNIT_ASSERT_EQ(test, tracing_snapshot_cond_enable(tr, NULL, always),
			0);
	KUNIT_EXPECT_EQ(test, tr->snapshot, 1);
	KUNIT_EXPECT_EQ(test, tracing_snapshot_cond_disable(tr), 0);
	KUNIT_EXPECT_EQ(test, tr->snapshot, 0);
}

static void tracer_leaves_buffer_to_others(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;

	if (!IS_ENABLED(CONFIG_SCHED_TRACER))
		kunit_skip(test, "needs CONFIG_SCHED_TRACER");

	KUNIT_EXPECT_EQ(test, tracing_set_tracer(tr, "wakeup"), 0);
	KUNIT_EXPECT_EQ(test, tracing_set_tracer(tr, "nop"), 0);
	KUNIT_EXPECT_FALSE(test, tr->allocated_snapshot);

	KUNIT_ASSERT_EQ(test, tracing_arm_snapshot(tr), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, disarm, tr), 0);
	KUNIT_EXPECT_EQ(test, tracing_set_tracer(tr, "wakeup"), 0);
	KUNIT_EXPECT_EQ(test, tracing_set_tracer(tr, "nop"), 0);
	KUNIT_EXPECT_TRUE(test, tr->allocated_snapshot);
	KUNIT_EXPECT_EQ(test, tr->snapshot, 1);
}

/* How large the snapshot buffer of each CPU is */
static unsigned long *snapshot_sizes(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	unsigned long *sizes;
	int cpu;

	sizes = kunit_kcalloc(test, nr_cpu_ids, sizeof(*sizes), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sizes);
	for_each_online_cpu(cpu)
		sizes[cpu] = ring_buffer_size(env->tr->snapshot_buffer.buffer,
					      cpu);

	return sizes;
}

static void expect_sizes(struct kunit *test, const unsigned long *sizes)
{
	struct trace_kunit *env = test->priv;
	int cpu;

	KUNIT_EXPECT_FALSE(test, env->tr->allocated_snapshot);
	for_each_online_cpu(cpu)
		KUNIT_EXPECT_EQ(test, sizes[cpu],
				ring_buffer_size(env->tr->snapshot_buffer.buffer,
						 cpu));
}

/* A buffer that could be allocated for some CPUs only is small again. */
static void alloc_without_memory(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;
	unsigned int failed = 0;
	unsigned long *sizes;
	unsigned int left;
	int ret;

	trace_kunit_failslab(test);
	sizes = snapshot_sizes(test);

	for (unsigned int nth = 1; nth < 10000; nth += 1 + nth / 4) {
		scoped_guard(mutex, &trace_types_lock) {
			trace_kunit_fail(nth);
			ret = tracing_alloc_snapshot_instance(tr);
			left = trace_kunit_fail_stop();
			if (!ret)
				free_snapshot(tr);
		}
		if (ret)
			failed++;
		expect_sizes(test, sizes);
		if (left)
			break;
	}
	KUNIT_EXPECT_GT(test, failed, 0);
}

KUNIT_DEFINE_ACTION_WRAPPER(close_file, __fput_sync, struct file *);

/* No CPU gets a buffer while that of another one is being read. */
static void alloc_while_read(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;
	unsigned long *sizes;
	struct file *file;
	char path[64];
	int cpu[2];
	int ret;

	trace_kunit_two_cpus(test, cpu);
	snprintf(path, sizeof(path), "per_cpu/cpu%d/snapshot", cpu[1]);
	file = trace_kunit_open(test, INSTANCE, path, O_RDONLY);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, close_file, file),
			0);
	sizes = snapshot_sizes(test);
	scoped_guard(mutex, &trace_types_lock)
		ret = tracing_alloc_snapshot_instance(tr);
	KUNIT_EXPECT_EQ(test, ret, -EBUSY);
	expect_sizes(test, sizes);

	/* Nothing else kept it from being allocated. */
	kunit_release_action(test, close_file, file);
	alloc_snapshot(test);
}

/* Nor does it go away then, without being freed. */
static void free_while_read(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;
	struct file *file;
	int ret;

	alloc_snapshot(test);
	file = trace_kunit_open(test, INSTANCE, "snapshot", O_RDONLY);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	ret = trace_kunit_write(test, "snapshot", "0");
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_TRUE(test, tr->allocated_snapshot);

	__fput_sync(file);
	ret = trace_kunit_write(test, "snapshot", "0");
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_FALSE(test, tr->allocated_snapshot);
}

/* buffer_size_kb shows the entries. */
static void subbufs_change_size(struct kunit *test)
{
	static const char * const kb[] = { "128", "64" };
	struct trace_kunit *env = test->priv;
	struct array_buffer *buf = &env->tr->array_buffer;
	int cpu;
	int ret;

	for (int i = 0; i < ARRAY_SIZE(kb); i++) {
		ret = trace_kunit_write(test, "buffer_subbuf_size_kb", kb[i]);
		KUNIT_ASSERT_EQ(test, ret, 0);
		for_each_online_cpu(cpu)
			KUNIT_EXPECT_EQ(test,
					per_cpu_ptr(buf->data, cpu)->entries,
					ring_buffer_size(buf->buffer, cpu));
	}
}

/* As for a CPU that comes online while "trace" is open */
static void cpu_without_iterator(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_iterator *iter;

	iter = kunit_kzalloc(test, sizeof(*iter), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, iter);
	iter->tr = env->tr;
	iter->array_buffer = &env->tr->array_buffer;
	iter->cpu_file = RING_BUFFER_ALL_CPUS;
	iter->buffer_iter = kunit_kcalloc(test, nr_cpu_ids,
					  sizeof(*iter->buffer_iter),
					  GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, iter->buffer_iter);

	make_record(test);
	KUNIT_EXPECT_NULL(test, trace_find_next_entry_inc(iter));

	/* A consuming reader has no iterators. */
	iter->buffer_iter = NULL;
	KUNIT_EXPECT_NOT_NULL(test, trace_find_next_entry_inc(iter));
}

struct poller {
	poll_table		table;
	struct wait_queue_head	*queue;
	unsigned int		calls;
	struct wait_queue_entry	entry;
	struct completion	woken;
};

static void count_queue(struct file *file, struct wait_queue_head *queue,
			poll_table *table)
{
	struct poller *poller = container_of(table, struct poller, table);

	poller->queue = queue;
	poller->calls++;
}

/* aio takes one wait queue, and epoll asks only once for it. */
static void poll_has_one_queue(struct kunit *test)
{
	static const char * const files[] = { "trace_pipe", "trace_pipe_raw" };
	struct trace_kunit *env = test->priv;
	struct wait_queue_head *queue;
	struct poller poller = {};
	struct file *file;
	char path[64];

	alloc_snapshot(test);
	init_poll_funcptr(&poller.table, count_queue);
	for (int i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "per_cpu/cpu%d/%s",
			 cpumask_first(cpu_online_mask), files[i]);
		file = trace_kunit_open(test, INSTANCE, path, O_RDONLY);
		KUNIT_ASSERT_FALSE(test, IS_ERR(file));

		poller.calls = 0;
		vfs_poll(file, &poller.table);
		KUNIT_EXPECT_EQ(test, poller.calls, 1);
		queue = poller.queue;
		tracing_snapshot_instance(env->tr);
		vfs_poll(file, &poller.table);
		KUNIT_EXPECT_EQ(test, poller.calls, 2);
		KUNIT_EXPECT_PTR_EQ(test, poller.queue, queue);
		__fput_sync(file);
	}
}

static int poller_is_woken(struct wait_queue_entry *entry, unsigned int mode,
			   int flags, void *key)
{
	complete(&container_of(entry, struct poller, entry)->woken);

	return 0;
}

static void add_poller(struct file *file, struct wait_queue_head *queue,
		       poll_table *table)
{
	struct poller *poller = container_of(table, struct poller, table);

	poller->queue = queue;
	add_wait_queue(queue, &poller->entry);
}

static int record_once(void *data)
{
	make_record(data);

	return 0;
}

/* Those who poll the file of another CPU sleep on. */
static void record_wakes_its_pollers(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct poller *pollers;
	struct task_struct *task;
	struct file *file[2];
	int cpu[2];
	char path[64];

	trace_kunit_two_cpus(test, cpu);
	pollers = kunit_kcalloc(test, 2, sizeof(*pollers), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pollers);
	env->tr->buffer_percent = 0;

	for (int i = 0; i < 2; i++) {
		init_poll_funcptr(&pollers[i].table, add_poller);
		init_waitqueue_func_entry(&pollers[i].entry, poller_is_woken);
		init_completion(&pollers[i].woken);
		snprintf(path, sizeof(path), "per_cpu/cpu%d/trace_pipe_raw",
			 cpu[i]);
		file[i] = trace_kunit_open(test, INSTANCE, path, O_RDONLY);
		KUNIT_ASSERT_FALSE(test, IS_ERR(file[i]));
	}
	for (int i = 0; i < 2; i++) {
		KUNIT_EXPECT_FALSE(test, vfs_poll(file[i], &pollers[i].table));
		__fput_sync(file[i]);
	}

	task = trace_kunit_thread(test, record_once, test, cpu[0]);
	wake_up_process(task);
	KUNIT_EXPECT_GT(test,
			wait_for_completion_timeout(&pollers[0].woken,
						    TRACE_KUNIT_TIMEOUT), 0);
	trace_kunit_stop(test, task);
	/* Waits for a wake-up that goes on. */
	for (int i = 0; i < 2; i++) {
		if (pollers[i].queue)
			remove_wait_queue(pollers[i].queue, &pollers[i].entry);
	}
	KUNIT_EXPECT_FALSE(test, completion_done(&pollers[1].woken));
}

/* Taking a snapshot */

static void start_time_goes_along(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;
	u64 start;

	alloc_snapshot(test);
	for (int i = 0; i < 3; i++) {
		tracing_reset_online_cpus(&tr->array_buffer);
		start = tr->array_buffer.time_start;
		KUNIT_EXPECT_GT(test, start, 0);
		tracing_snapshot_instance(tr);
		KUNIT_EXPECT_EQ(test, tr->snapshot_buffer.time_start, start);
	}
}

static bool switch_off(struct trace_array *tr, void *cond_data)
{
	tracer_tracing_off(tr);

	return true;
}

static void cond_disable(void *tr)
{
	tracing_snapshot_cond_disable(tr);
}

static void enable_condition(struct kunit *test, cond_update_fn_t update)
{
	struct trace_kunit *env = test->priv;

	KUNIT_ASSERT_EQ(test, tracing_snapshot_cond_enable(env->tr, NULL,
							   update), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, cond_disable,
							env->tr), 0);
}

/* Tracing is switched off after the snapshot has read the old setting. */
static void stays_off(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;
	struct trace_buffer *live;

	enable_condition(test, switch_off);
	for (int i = 0; i < 2; i++) {
		tracer_tracing_on(tr);
		live = live_buffer(tr);
		tracing_snapshot_cond(tr, NULL);
		KUNIT_EXPECT_PTR_NE(test, live, live_buffer(tr));
		KUNIT_EXPECT_FALSE(test, tracer_tracing_is_on(tr));
		KUNIT_EXPECT_FALSE(test, ring_buffer_record_is_set_on(live_buffer(tr)));
	}
	tracer_tracing_on(tr);
	KUNIT_EXPECT_TRUE(test, ring_buffer_record_is_set_on(live_buffer(tr)));
	make_record(test);
}

struct frees {
	struct trace_array	*tr;
	struct task_struct	*task;
	unsigned int		nr;
	unsigned int		locked;
};

static void probe_kfree(void *data, unsigned long ip, const void *ptr)
{
	struct frees *frees = data;

	if (!in_task() || current != frees->task)
		return;

	frees->nr++;
	if (arch_spin_is_locked(&frees->tr->max_lock))
		frees->locked++;
}

static void unregister_probe(void *frees)
{
	unregister_trace_kfree(probe_kfree, frees);
	tracepoint_synchronize_unregister();
}

/*
 * A snapshot trigger on kmem:kfree would deadlock. Nobody else takes a snapshot
 * of this instance, so only this task can hold the lock.
 */
static void condition_is_freed_unlocked(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;
	struct frees *frees;

	frees = kunit_kzalloc(test, sizeof(*frees), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, frees);
	frees->tr = tr;
	frees->task = current;
	KUNIT_ASSERT_EQ(test, tracing_snapshot_cond_enable(tr, NULL, always),
			0);
	KUNIT_ASSERT_EQ(test, register_trace_kfree(probe_kfree, frees), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, unregister_probe,
							frees), 0);
	frees->nr = 0;
	KUNIT_EXPECT_EQ(test, tracing_snapshot_cond_disable(tr), 0);
	/* It frees the condition. */
	KUNIT_EXPECT_GE(test, frees->nr, 1);
	KUNIT_EXPECT_EQ(test, frees->locked, 0);
}

static bool snapshot_within(struct trace_array *tr, void *cond_data)
{
	int *depth = cond_data;

	/* End the recursion of a kernel that has the bug. */
	if (++*depth > 1)
		return false;
	tracing_snapshot_cond(tr, cond_data);

	return true;
}

/* A kernel that has the bug deadlocks here. */
static void within_a_snapshot(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_buffer *live;
	int depth = 0;

	enable_condition(test, snapshot_within);
	live = live_buffer(env->tr);
	tracing_snapshot_cond(env->tr, &depth);
	KUNIT_EXPECT_EQ(test, depth, 1);
	KUNIT_EXPECT_PTR_NE(test, live, live_buffer(env->tr));
}

/* Two CPUs */

struct taker {
	struct trace_array	*tr;
	unsigned int		taken;
};

static int take_snapshots(void *data)
{
	struct taker *taker = data;

	while (!kthread_should_stop()) {
		scoped_guard(irqsave)
			update_max_tr(taker->tr, current, smp_processor_id(),
				      NULL);
		/* Pairs with smp_load_acquire() in await_taker(). */
		smp_store_release(&taker->taken, taker->taken + 1);
		cond_resched();
	}

	return 0;
}

/* Waits until the snapshots that are in progress are over. */
static void await_taker(struct taker *taker)
{
	unsigned int taken = READ_ONCE(taker->taken);

	/* Pairs with smp_store_release() in take_snapshots(). */
	while (smp_load_acquire(&taker->taken) - taken < 2)
		cond_resched();
}

static void stop_instance(struct trace_array *tr)
{
	tr->stop_count++;
}

static void start_instance(struct trace_array *tr)
{
	tr->stop_count--;
}

static void clear_allocated(struct trace_array *tr)
{
	tr->allocated_snapshot = false;
}

static void set_allocated(struct trace_array *tr)
{
	tr->allocated_snapshot = true;
}

#define ROUNDS	200

/*
 * A thread takes one snapshot after the other. Each round makes a change with
 * max_lock held: no snapshot may be taken from then on. No probe runs here, so
 * the raw lock is enough. It is held ever longer before the change. So in some
 * rounds the thread waits for it, and a kernel with the bug has looked before.
 */
static void expect_not_taken(struct kunit *test,
			     void (*change)(struct trace_array *tr),
			     void (*undo)(struct trace_array *tr))
{
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;
	struct trace_buffer *live;
	unsigned int swapped = 0;
	struct task_struct *task;
	struct taker *taker;
	int cpu[2];

	trace_kunit_two_cpus(test, cpu);
	taker = kunit_kzalloc(test, sizeof(*taker), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, taker);
	alloc_snapshot(test);
	taker->tr = tr;
	task = trace_kunit_thread(test, take_snapshots, taker, cpu[1]);
	wake_up_process(task);
	await_taker(taker);

	for (int i = 0; i < ROUNDS; i++) {
		scoped_guard(irqsave) {
			arch_spin_lock(&tr->max_lock);
			for (int n = 0; n < i * 10; n++)
				cpu_relax();
			change(tr);
			live = live_buffer(tr);
			arch_spin_unlock(&tr->max_lock);
		}
		await_taker(taker);
		if (live != live_buffer(tr))
			swapped++;
		undo(tr);
	}
	trace_kunit_stop(test, task);
	KUNIT_EXPECT_EQ(test, swapped, 0);

	live = live_buffer(tr);
	tracing_snapshot_instance(tr);
	KUNIT_EXPECT_PTR_NE(test, live, live_buffer(tr));
}

static void not_while_stopped(struct kunit *test)
{
	expect_not_taken(test, stop_instance, start_instance);
}

static void not_when_freed(struct kunit *test)
{
	expect_not_taken(test, clear_allocated, set_allocated);
}

/* A snapshot that is taken later makes the small buffer the live one. */
static void not_while_freed(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;
	struct task_struct *task;
	struct taker *taker;
	unsigned long size;
	int cpu[2];

	trace_kunit_two_cpus(test, cpu);
	taker = kunit_kzalloc(test, sizeof(*taker), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, taker);
	taker->tr = tr;
	size = ring_buffer_size(live_buffer(tr), cpu[0]);
	task = trace_kunit_thread(test, take_snapshots, taker, cpu[1]);
	wake_up_process(task);

	for (int i = 0; i < 20; i++) {
		alloc_snapshot(test);
		await_taker(taker);
		scoped_guard(mutex, &trace_types_lock)
			free_snapshot(tr);
		KUNIT_EXPECT_EQ(test, size,
				ring_buffer_size(live_buffer(tr), cpu[0]));
	}
	trace_kunit_stop(test, task);
}

struct swapper {
	struct trace_array	*tr;
	unsigned long		us;
	bool			held;
};

static int swap_slowly(void *data)
{
	struct swapper *swapper = data;
	struct trace_array *tr = swapper->tr;

	guard(irqsave)();
	arch_spin_lock(&tr->max_lock);
	WRITE_ONCE(swapper->held, true);
	udelay(swapper->us);
	swap(tr->array_buffer.buffer, tr->snapshot_buffer.buffer);
	arch_spin_unlock(&tr->max_lock);

	return 0;
}

/*
 * The live buffer is read, and becomes the snapshot when it is to be freed. A
 * kernel with the bug looks for readers while the thread holds max_lock.
 */
static void not_freed_after_swap(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;
	struct ring_buffer_iter *iter;
	struct swapper *swapper;
	struct task_struct *task;
	unsigned int freed = 0;
	int cpu[2];

	trace_kunit_two_cpus(test, cpu);
	swapper = kunit_kzalloc(test, sizeof(*swapper), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, swapper);

	for (int i = 0; i < 100; i++) {
		alloc_snapshot(test);
		iter = ring_buffer_read_start(live_buffer(tr), cpu[0],
					      GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, iter);
		*swapper = (struct swapper){ .tr = tr, .us = i * 50 };
		task = trace_kunit_thread(test, swap_slowly, swapper, cpu[1]);
		wake_up_process(task);
		while (!READ_ONCE(swapper->held))
			cond_resched();
		KUNIT_EXPECT_EQ(test, trace_kunit_write(test, "snapshot", "0"),
				0);
		if (!tr->allocated_snapshot)
			freed++;
		trace_kunit_stop(test, task);
		ring_buffer_read_finish(iter);
	}
	KUNIT_EXPECT_EQ(test, freed, 0);
}

struct waiter {
	struct trace_array	*tr;
	/* The buffer in which recording is disabled during the wait */
	struct trace_buffer	*buffer;
	const char		*clock;
	bool			done;
};

static int clear_snapshot(void *data)
{
	struct waiter *waiter = data;

	tracing_reset_online_cpus(&waiter->tr->snapshot_buffer);
	WRITE_ONCE(waiter->done, true);

	return 0;
}

static int set_clock(void *data)
{
	struct waiter *waiter = data;

	tracing_set_clock(waiter->tr, waiter->clock);
	WRITE_ONCE(waiter->done, true);

	return 0;
}

/*
 * Takes a snapshot while @fn waits for a grace period. Usually the grace period
 * can't end while this CPU has interrupts disabled. If it did end, try again.
 * Returns whether a snapshot was tried during the wait.
 */
static bool take_while_waiting(struct kunit *test, struct waiter *waiter,
			       int (*fn)(void *data), int cpu)
{
	struct task_struct *task;
	bool taken = false;

	waiter->done = false;
	task = trace_kunit_thread(test, fn, waiter, cpu);
	wake_up_process(task);
	while (!READ_ONCE(waiter->done) && !taken) {
		local_irq_disable();
		if (!ring_buffer_record_is_on(waiter->buffer)) {
			tracing_snapshot_instance(waiter->tr);
			taken = !ring_buffer_record_is_on(waiter->buffer);
		}
		local_irq_enable();
		cond_resched();
	}
	trace_kunit_stop(test, task);

	return taken;
}

/* The clear would hit the new live buffer. */
static void not_while_cleared(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;
	struct trace_buffer *live;
	struct waiter *waiter;
	bool taken = false;
	int cpu[2];

	trace_kunit_two_cpus(test, cpu);
	waiter = kunit_kzalloc(test, sizeof(*waiter), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, waiter);
	alloc_snapshot(test);
	waiter->tr = tr;
	for (int i = 0; i < 100 && !taken; i++) {
		live = live_buffer(tr);
		waiter->buffer = tr->snapshot_buffer.buffer;
		taken = take_while_waiting(test, waiter, clear_snapshot,
					   cpu[1]);
		if (taken)
			KUNIT_EXPECT_PTR_EQ(test, live, live_buffer(tr));
	}
	KUNIT_EXPECT_TRUE(test, taken);

	tracing_snapshot_instance(tr);
	KUNIT_EXPECT_PTR_NE(test, live, live_buffer(tr));
}

/* "counter" counts its calls, so a reading is between two others. */
static bool clock_is_counter(struct trace_buffer *buffer)
{
	u64 before = trace_clock_counter();
	u64 now = ring_buffer_time_stamp(buffer);

	return now > before && now < trace_clock_counter();
}

static void clock_of_both_buffers(struct kunit *test)
{
	static const char * const clocks[] = { "counter", "local" };
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;
	struct waiter *waiter;
	unsigned int taken = 0;
	int cpu[2];

	trace_kunit_two_cpus(test, cpu);
	waiter = kunit_kzalloc(test, sizeof(*waiter), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, waiter);
	alloc_snapshot(test);
	waiter->tr = tr;
	for (int i = 0; i < 100 && taken < 2; i++) {
		waiter->clock = clocks[i % 2];
		waiter->buffer = live_buffer(tr);
		taken += take_while_waiting(test, waiter, set_clock, cpu[1]);
		KUNIT_EXPECT_EQ(test, clock_is_counter(live_buffer(tr)),
				i % 2 == 0);
		KUNIT_EXPECT_EQ(test,
				clock_is_counter(tr->snapshot_buffer.buffer),
				i % 2 == 0);
	}
	KUNIT_EXPECT_EQ(test, taken, 2);
}

/* A change of the live buffer waits for this. */
static int clear_live(void *data)
{
	struct taker *taker = data;

	while (!kthread_should_stop())
		ring_buffer_reset(live_buffer(taker->tr));

	return 0;
}

/* What happens to a record that finds no free sub-buffer? */
static bool overwrites(struct trace_buffer *buffer)
{
	int cpu = raw_smp_processor_id();
	char data[256] = {};

	ring_buffer_reset(buffer);
	for (int i = 0; i < SZ_64K; i++) {
		if (ring_buffer_overrun_cpu(buffer, cpu) ||
		    ring_buffer_dropped_events_cpu(buffer, cpu))
			break;
		ring_buffer_write(buffer, sizeof(data), data);
	}

	return ring_buffer_overrun_cpu(buffer, cpu);
}

static void overwrite_of_both_buffers(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;
	struct task_struct *task[2];
	struct taker *taker;
	int cpu[2];

	trace_kunit_two_cpus(test, cpu);
	taker = kunit_kzalloc(test, sizeof(*taker), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, taker);
	taker->tr = tr;
	KUNIT_ASSERT_EQ(test, trace_kunit_write(test, "buffer_size_kb", "8"),
			0);
	alloc_snapshot(test);
	for (int i = 0; i < 50; i++) {
		task[0] = trace_kunit_thread(test, clear_live, taker, cpu[0]);
		task[1] = trace_kunit_thread(test, take_snapshots, taker,
					     cpu[1]);
		wake_up_process(task[0]);
		wake_up_process(task[1]);
		await_taker(taker);
		KUNIT_EXPECT_EQ(test,
				trace_kunit_write(test, "options/overwrite",
						  i % 2 ? "1" : "0"), 0);
		trace_kunit_stop(test, task[0]);
		trace_kunit_stop(test, task[1]);
		KUNIT_EXPECT_EQ(test, overwrites(live_buffer(tr)), i % 2);
		KUNIT_EXPECT_EQ(test, overwrites(tr->snapshot_buffer.buffer),
				i % 2);
	}
}

/* Records after recording was disabled */

/* A CPU that is traced again is traced with both buffers. */
static void cpumask_of_both_buffers(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;
	struct trace_buffer *live;
	struct cpumask *cpus;

	cpus = kunit_kzalloc(test, cpumask_size(), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, cpus);
	alloc_snapshot(test);
	for (int traced = 0; traced < 2; traced++) {
		KUNIT_EXPECT_EQ(test, tracing_set_cpumask(tr, cpus), 0);
		for (int i = 0; i < 2; i++) {
			KUNIT_EXPECT_EQ(test,
					__trace_array_puts(tr, _THIS_IP_,
							   "x\n", 2),
					traced ? 2 : 0);
			live = live_buffer(tr);
			tracing_snapshot_instance(tr);
			KUNIT_EXPECT_PTR_NE(test, live, live_buffer(tr));
		}
		cpumask_setall(cpus);
	}
}

/* A dump of the top level switches tracing off, which can be undone. */
static void records_after_dump(struct kunit *test)
{
	struct trace_array *tr = top_trace_array();
	bool on = tracing_is_on();

	ftrace_dump(DUMP_ORIG);
	KUNIT_EXPECT_FALSE(test, tracing_is_on());
	tracing_on();
	KUNIT_EXPECT_TRUE(test, ring_buffer_record_is_on(live_buffer(tr)));
	if (!on)
		tracing_off();
}

/* Ring buffers */

/* Sub-buffers of another size have no records, and the counters know that. */
static void subbuf_order_empties(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_buffer *buffer = live_buffer(env->tr);

	for (int order = 1; order >= 0; order--) {
		do {
			make_record(test);
		} while (!ring_buffer_overruns(buffer));
		KUNIT_ASSERT_EQ(test, ring_buffer_subbuf_order_set(buffer,
								   order), 0);
		KUNIT_EXPECT_TRUE(test, ring_buffer_empty(buffer));
		KUNIT_EXPECT_EQ(test, ring_buffer_entries(buffer), 0);
		KUNIT_EXPECT_EQ(test, ring_buffer_overruns(buffer), 0);
		make_record(test);
		KUNIT_EXPECT_EQ(test, ring_buffer_entries(buffer), 1);
	}
}

static void free_pipe(void *pipe)
{
	free_pipe_info(pipe);
}

/* KASAN reports a page that is returned to a freed ring buffer. */
static void page_outlives_instance(struct kunit *test)
{
	struct pipe_inode_info *pipe = alloc_pipe_info();
	char name[] = "trace_snapshot_kunit_page";
	struct trace_array *tr;
	struct file *file;
	loff_t pos = 0;
	char path[64];

	KUNIT_ASSERT_NOT_NULL(test, pipe);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_pipe, pipe),
			0);
	/* splice() needs a reader, which does not have to read yet. */
	pipe->readers = 1;
	pipe->writers = 1;

	KUNIT_ASSERT_EQ(test, trace_kunit_mkdir(test, name), 0);
	tr = trace_kunit_find(name);
	snprintf(path, sizeof(path), "per_cpu/cpu%d/trace_pipe_raw",
		 raw_smp_processor_id());
	/* Only full pages are spliced. */
	for (int i = 0; i < PAGE_SIZE / sizeof(struct print_entry); i++)
		__trace_array_puts(tr, _THIS_IP_, "x\n", 2);
	file = trace_kunit_open(test, name, path, O_RDONLY | O_NONBLOCK);
	if (!IS_ERR(file)) {
		KUNIT_EXPECT_GT(test, file->f_op->splice_read(file, &pos, pipe,
							      SZ_64K, 0), 0);
		__fput_sync(file);
	}
	KUNIT_EXPECT_EQ(test, trace_kunit_rmdir(test, name), 0);
	KUNIT_EXPECT_NULL(test, trace_kunit_find(name));
	KUNIT_EXPECT_FALSE(test, IS_ERR(file));
	KUNIT_EXPECT_FALSE(test, pipe_is_empty(pipe));
	kunit_release_action(test, free_pipe, pipe);
}

static int snapshot_init(struct kunit *test)
{
	struct trace_kunit *env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);
	char kb[16];

	trace_kunit_init(test, env, INSTANCE);

	/* More sub-buffers than the two of a snapshot buffer that is freed */
	snprintf(kb, sizeof(kb), "%lu", 4 * PAGE_SIZE >> 10);

	return trace_kunit_write(test, "buffer_size_kb", kb);
}

struct waker {
	struct poller		poller;
	struct trace_buffer	*buffer;
	int			cpu;
	unsigned long		left;
};

/* The poller is on the wait queue, and nobody knows that it waits. */
static void wake_at_once(struct file *file, struct wait_queue_head *queue,
			 poll_table *table)
{
	struct waker *waker = container_of(table, struct waker, poller.table);

	add_poller(file, queue, table);
	ring_buffer_wake_waiters(waker->buffer, waker->cpu);
	waker->left = wait_for_completion_timeout(&waker->poller.woken,
						  TRACE_KUNIT_TIMEOUT);
	remove_wait_queue(queue, &waker->poller.entry);
}

/* Those who wait for the ring buffer to be half full are woken in any case. */
static void poller_is_woken_early(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct waker *waker;

	waker = kunit_kzalloc(test, sizeof(*waker), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, waker);
	init_poll_funcptr(&waker->poller.table, wake_at_once);
	init_waitqueue_func_entry(&waker->poller.entry, poller_is_woken);
	init_completion(&waker->poller.woken);
	waker->buffer = live_buffer(env->tr);
	waker->cpu = cpumask_first(cpu_online_mask);
	KUNIT_EXPECT_FALSE(test, ring_buffer_poll_wait(waker->buffer, waker->cpu,
						       NULL,
						       &waker->poller.table,
						       50));
	KUNIT_EXPECT_GT(test, waker->left, 0);
}

struct splicer {
	struct file		*file;
	struct pipe_inode_info	*pipe;
	struct completion	done;
	ssize_t			ret;
};

static int splice_once(void *data)
{
	struct splicer *splicer = data;
	loff_t pos = 0;

	splicer->ret = splicer->file->f_op->splice_read(splicer->file, &pos,
							splicer->pipe, SZ_64K,
							0);
	complete(&splicer->done);

	return 0;
}

/*
 * A reader that waits for the ring buffer to be half full, and came while
 * tracing was off, learns that tracing was on and is off again.
 */
static void splice_ends_with_tracing(struct kunit *test)
{
	struct trace_kunit *env = test->priv;
	struct trace_array *tr = env->tr;
	struct splicer *splicer;
	struct task_struct *task;
	char path[64];

	splicer = kunit_kzalloc(test, sizeof(*splicer), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, splicer);
	init_completion(&splicer->done);
	splicer->pipe = alloc_pipe_info();
	KUNIT_ASSERT_NOT_NULL(test, splicer->pipe);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_pipe,
							splicer->pipe), 0);
	splicer->pipe->readers = 1;
	splicer->pipe->writers = 1;

	tracer_tracing_off(tr);
	snprintf(path, sizeof(path), "per_cpu/cpu%d/trace_pipe_raw",
		 raw_smp_processor_id());
	splicer->file = trace_kunit_open(test, INSTANCE, path, O_RDONLY);
	KUNIT_ASSERT_FALSE(test, IS_ERR(splicer->file));
	task = trace_kunit_thread(test, splice_once, splicer, -1);
	wake_up_process(task);
	while (!(READ_ONCE(task->__state) & TASK_INTERRUPTIBLE) &&
	       !completion_done(&splicer->done))
		schedule_timeout_uninterruptible(1);

	tracer_tracing_on(tr);
	make_record(test);
	tracer_tracing_off(tr);
	KUNIT_EXPECT_GT(test,
			wait_for_completion_timeout(&splicer->done,
						    TRACE_KUNIT_TIMEOUT), 0);

	/* If it still waits, it does not after this. */
	splicer->file->f_op->flush(splicer->file, NULL);
	trace_kunit_stop(test, task);
	KUNIT_EXPECT_EQ(test, splicer->ret, 0);
	__fput_sync(splicer->file);
	tracer_tracing_on(tr);
}

static struct kunit_case snapshot_cases[] = {
	KUNIT_CASE(cond_disable_keeps_reference),
	KUNIT_CASE(cond_disable_drops_its_own),
	KUNIT_CASE(tracer_leaves_buffer_to_others),
	KUNIT_CASE(alloc_without_memory),
	KUNIT_CASE(free_while_read),
	KUNIT_CASE(subbufs_change_size),
	KUNIT_CASE(cpu_without_iterator),
	KUNIT_CASE(poll_has_one_queue),
	KUNIT_CASE(record_wakes_its_pollers),
	KUNIT_CASE(alloc_while_read),
	KUNIT_CASE(start_time_goes_along),
	KUNIT_CASE(stays_off),
	KUNIT_CASE(condition_is_freed_unlocked),
	KUNIT_CASE(within_a_snapshot),
	KUNIT_CASE(not_while_stopped),
	KUNIT_CASE(not_when_freed),
	KUNIT_CASE(not_while_freed),
	KUNIT_CASE(not_freed_after_swap),
	KUNIT_CASE(not_while_cleared),
	KUNIT_CASE(clock_of_both_buffers),
	KUNIT_CASE(overwrite_of_both_buffers),
	KUNIT_CASE(cpumask_of_both_buffers),
	KUNIT_CASE(records_after_dump),
	KUNIT_CASE(subbuf_order_empties),
	KUNIT_CASE(page_outlives_instance),
	KUNIT_CASE(poller_is_woken_early),
	KUNIT_CASE(splice_ends_with_tracing),
	{}
};

static struct kunit_suite snapshot_suite = {
	.name		= "trace_snapshot",
	.init		= snapshot_init,
	.test_cases	= snapshot_cases,
};

kunit_test_suite(snapshot_suite);

MODULE_DESCRIPTION("KUnit tests for snapshots of trace instances");
MODULE_LICENSE("GPL");

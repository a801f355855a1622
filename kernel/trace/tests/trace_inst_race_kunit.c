// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for trace instances that several threads of kernel code and user
 * space use at the same time.
 */

#include <kunit/test.h>
#include <linux/bitmap.h>
#include <linux/cpumask.h>
#include <linux/kthread.h>
#include <linux/sched.h>

#include "trace_inst_kunit.h"

#define CYCLES		30

/* The ring buffer of a CPU has room for so many records of two threads. */
#define RECORDS		5000
/* There is a snapshot for each so many records. */
#define BATCH		20

struct racer {
	struct kunit		*test;
	int			id;
	/* The first wrong thing that it saw */
	int			ret;
	/* Its records, or what else it counts */
	u32			count;
	/* A writer waits for this to count its batches. */
	u32			*turn;
	bool			done;
};

static struct racer *new_racer(struct kunit *test, int id)
{
	struct racer *racer = kunit_kzalloc(test, sizeof(*racer), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, racer);
	racer->test = test;
	racer->id = id;

	return racer;
}

static struct task_struct *start(struct kunit *test, int (*fn)(void *data),
				 struct racer *racer, int cpu)
{
	struct task_struct *task = trace_kunit_thread(test, fn, racer, cpu);

	wake_up_process(task);

	return task;
}

static void stop(struct kunit *test, struct task_struct *task,
		 struct racer *racer)
{
	trace_kunit_stop(test, task);
	KUNIT_EXPECT_EQ_MSG(test, racer->ret, 0, "racer %d", racer->id);
}

/* The name of an instance */

/* As long as there is a reference, the name means this instance. */
static bool is_held(struct trace_array *tr)
{
	return trace_kunit_find(INST_OTHER) == tr &&
	       !strcmp(tr->name, INST_OTHER);
}

static struct trace_array *get_other(bool create)
{
	struct trace_array *tr;

	if (create) {
		tr = trace_array_create(INST_OTHER);
		if (PTR_ERR(tr) != -EEXIST)
			return tr;
	}

	return trace_array_get_by_name(INST_OTHER, NULL) ?: ERR_PTR(-ENOMEM);
}

static int destroy_or_put(struct trace_array *tr)
{
	int ret = trace_array_put_and_destroy(tr);

	if (!ret)
		return 0;

	/* Somebody else has a reference as well. */
	if (ret == -EBUSY && !is_held(tr))
		ret = -EINVAL;
	trace_array_put(tr);

	return ret;
}

static int use_name(void *data)
{
	struct racer *racer = data;

	for (int i = 0; i < CYCLES && !racer->ret; i++) {
		struct trace_array *tr = get_other((i + racer->id) & 1);
		int ret;

		if (IS_ERR(tr)) {
			racer->ret = PTR_ERR(tr);
			break;
		}

		if (!is_held(tr))
			racer->ret = -EINVAL;
		ret = destroy_or_put(tr);
		if (!ret)
			racer->count++;
		else if (ret != -EBUSY)
			racer->ret = ret;
	}

	return 0;
}

/* Nothing is there to remove, or somebody uses it, or is faster. */
static bool rmdir_may_fail(int ret)
{
	return ret == -EBUSY || ret == -ENOENT || ret == -ENODEV;
}

static void try_rmdir(struct racer *racer)
{
	int ret = trace_kunit_rmdir(racer->test, INST_OTHER);

	if (ret && !rmdir_may_fail(ret))
		racer->ret = ret;
}

static int remove_other(void *data)
{
	while (!kthread_should_stop()) {
		try_rmdir(data);
		cond_resched();
	}

	return 0;
}

static void name_of_two_users(struct kunit *test)
{
	struct task_struct *remover, *task[2];
	struct racer *racer[3];
	int cpu[2];
	int ret;

	trace_kunit_two_cpus(test, cpu);
	for (int i = 0; i < 3; i++)
		racer[i] = new_racer(test, i);
	remover = start(test, remove_other, racer[2], cpu[1]);
	for (int i = 0; i < 2; i++)
		task[i] = start(test, use_name, racer[i], cpu[i]);
	for (int i = 0; i < 2; i++)
		stop(test, task[i], racer[i]);
	stop(test, remover, racer[2]);

	/* Both may have put their references, and have left it. */
	ret = trace_kunit_rmdir(test, INST_OTHER);
	KUNIT_EXPECT_TRUE(test, !ret || ret == -ENOENT);
	inst_expect_there(test, INST_OTHER, NULL);

	/* Without the others the last reference removes it. */
	racer[0]->count = 0;
	use_name(racer[0]);
	KUNIT_EXPECT_EQ(test, racer[0]->ret, 0);
	KUNIT_EXPECT_EQ(test, racer[0]->count, CYCLES);
}

static int remove_and_make_other(void *data)
{
	struct racer *racer = data;
	int ret;

	while (!kthread_should_stop()) {
		try_rmdir(racer);
		ret = trace_kunit_mkdir(racer->test, INST_OTHER);
		if (ret && ret != -EEXIST)
			racer->ret = ret;
		cond_resched();
	}

	return 0;
}

/* A reader keeps the instance, too. */
static void read_other(struct kunit *test, struct trace_array *tr)
{
	struct trace_array_reader *reader = trace_array_reader_open(tr, 0);
	char buf[16];

	trace_array_put(tr);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(reader), 0);
	if (IS_ERR(reader))
		return;

	KUNIT_EXPECT_EQ(test, trace_kunit_rmdir(test, INST_OTHER), -EBUSY);
	KUNIT_EXPECT_PTR_EQ(test, trace_kunit_find(INST_OTHER), tr);
	KUNIT_EXPECT_EQ(test, trace_array_reader_read(reader, buf, sizeof(buf)),
			sizeof(buf));
	trace_array_reader_close(reader);
}

static void name_that_user_space_reuses(struct kunit *test)
{
	struct task_struct *task;
	struct racer *racer;
	int cpu[2];

	trace_kunit_two_cpus(test, cpu);
	racer = new_racer(test, 0);
	task = start(test, remove_and_make_other, racer, cpu[1]);
	for (int i = 0; i < CYCLES; i++) {
		struct trace_array *tr = get_other(i & 2);
		int ret;

		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(tr), 0);
		if (IS_ERR(tr))
			break;
		KUNIT_EXPECT_EQ(test, trace_kunit_rmdir(test, INST_OTHER),
				-EBUSY);
		KUNIT_EXPECT_TRUE(test, is_held(tr));
		if (i & 1) {
			read_other(test, tr);
		} else {
			/* rmdir has its directory for a moment. */
			ret = destroy_or_put(tr);
			KUNIT_EXPECT_TRUE(test, !ret || ret == -EBUSY);
		}
	}
	stop(test, task, racer);
	trace_kunit_rmdir(test, INST_OTHER);
	inst_expect_there(test, INST_OTHER, NULL);
}

/* Snapshots of an instance that is written and read */

static int write_records(void *data)
{
	struct racer *racer = data;

	while (racer->count < RECORDS) {
		while (READ_ONCE(*racer->turn) < racer->count / BATCH) {
			if (kthread_should_stop())
				return 0;
			cond_resched();
		}
		trace_inst_kunit(racer->id, racer->count++, 0);
	}
	WRITE_ONCE(racer->done, true);

	return 0;
}

/* These are whole lines with growing numbers. The last line may be cut. */
static int check_text(const char *text)
{
	u32 next[2] = {};
	const char *p;

	for (p = text; (p = strstr(p, ": " INST_EVENT ": ")); p++) {
		u32 source, seq;

		if (!strchr(p, '\n'))
			break;
		if (sscanf(p, ": " INST_EVENT ": source=%u seq=%u pattern=",
			   &source, &seq) != 2 ||
		    source > 1 || seq < next[source])
			return -EINVAL;
		next[source] = seq + 1;
	}

	return 0;
}

static int read_all_the_time(void *data)
{
	struct racer *racer = data;
	struct inst_kunit *inst = racer->test->priv;
	ssize_t len;

	while (!kthread_should_stop()) {
		len = inst_read(inst->env.tr, racer->count++ & 1 ?
				TRACE_ARRAY_READ_SNAPSHOT : 0, inst->mine,
				INST_TEXT_SIZE - 1);
		if (len >= 0) {
			inst->mine[len] = '\0';
			len = check_text(inst->mine);
		}
		if (len < 0)
			racer->ret = len;
		cond_resched();
	}

	return 0;
}

/* Marks the records of a buffer, and expects each once and in order. */
static void mark_records(struct kunit *test, struct trace_buffer *buffer,
			 unsigned long *seen[2])
{
	unsigned int wrong = 0;
	u32 source, seq;
	int cpu;

	for_each_online_cpu(cpu) {
		u32 next[2] = {};

		while (inst_consume(buffer, cpu, &source, &seq)) {
			if (source > 1 || seq >= RECORDS ||
			    seq < next[source] ||
			    __test_and_set_bit(seq, seen[source]))
				wrong++;
			else
				next[source] = seq + 1;
		}
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* Nothing is lost: each record is in one of the two buffers. */
static void snapshots_meanwhile(struct kunit *test)
{
	struct trace_array *tr = inst_tr(test);
	struct task_struct *task[3];
	struct racer *racer[3];
	unsigned long *seen[2];
	u32 *taken;
	int cpu[2];

	trace_kunit_two_cpus(test, cpu);
	inst_enable(test);
	KUNIT_ASSERT_EQ(test, trace_array_snapshot_alloc(tr), 0);
	taken = kunit_kzalloc(test, sizeof(*taken), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, taken);
	for (int i = 0; i < 2; i++) {
		seen[i] = kunit_kcalloc(test, BITS_TO_LONGS(RECORDS),
					sizeof(long), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, seen[i]);
	}
	for (int i = 0; i < 3; i++) {
		racer[i] = new_racer(test, i);
		racer[i]->turn = taken;
	}
	for (int i = 0; i < 2; i++)
		task[i] = start(test, write_records, racer[i], cpu[i]);
	task[2] = start(test, read_all_the_time, racer[2], cpu[1]);

	while (!READ_ONCE(racer[0]->done) || !READ_ONCE(racer[1]->done)) {
		KUNIT_EXPECT_EQ(test, trace_array_snapshot(tr), 0);
		WRITE_ONCE(*taken, *taken + 1);
		cond_resched();
	}
	for (int i = 0; i < 3; i++)
		stop(test, task[i], racer[i]);
	KUNIT_EXPECT_GE(test, *taken, RECORDS / BATCH - 1);

	mark_records(test, tr->array_buffer.buffer, seen);
	mark_records(test, tr->snapshot_buffer.buffer, seen);
	for (int i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, bitmap_weight(seen[i], RECORDS), RECORDS);
	trace_array_snapshot_free(tr);
}

static struct kunit_case race_cases[] = {
	KUNIT_CASE_SLOW(name_of_two_users),
	KUNIT_CASE_SLOW(name_that_user_space_reuses),
	KUNIT_CASE_SLOW(snapshots_meanwhile),
	{}
};

static struct kunit_suite race_suite = {
	.name		= "trace_inst_race",
	.init		= inst_kunit_init,
	.test_cases	= race_cases,
};

kunit_test_suite(race_suite);

MODULE_DESCRIPTION("KUnit tests for trace instances with several users");
MODULE_LICENSE("GPL");

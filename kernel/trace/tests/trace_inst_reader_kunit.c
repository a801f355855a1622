// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for reading trace instances in kernel code. The text of a reader
 * is compared with the files "trace" and "snapshot".
 */

#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>

#include "trace_inst_kunit.h"

#define SNAPSHOT	TRACE_ARRAY_READ_SNAPSHOT

static void expect_same(struct kunit *test, size_t len)
{
	struct inst_kunit *inst = test->priv;
	size_t i;

	for (i = 0; i < len && inst->mine[i] == inst->its[i]; i++)
		;
	KUNIT_EXPECT_EQ_MSG(test, i, len, "this and the file differ: %.40s",
			    inst->mine + i);
}

/* Each of many reads returns as much as fits, up to the end. */
static size_t read_in_chunks(struct kunit *test, unsigned int flags,
			     size_t chunk)
{
	struct trace_array_reader *reader = inst_open(test, flags);
	struct inst_kunit *inst = test->priv;
	size_t done = 0;
	ssize_t n;

	KUNIT_EXPECT_EQ(test, trace_array_reader_read(reader, inst->mine, 0),
			0);
	do {
		size_t size = min(chunk, INST_TEXT_SIZE - done);

		n = trace_array_reader_read(reader, inst->mine + done, size);
		if (n < 0)
			break;
		done += n;
	} while (n == chunk);
	KUNIT_EXPECT_GE(test, n, 0);
	KUNIT_EXPECT_EQ(test, trace_array_reader_read(reader, inst->its, 1), 0);
	inst_close(test, reader);

	return done;
}

static void expect_file_text(struct kunit *test, unsigned int flags,
			     size_t chunk)
{
	size_t mine = read_in_chunks(test, flags, chunk);
	struct inst_kunit *inst = test->priv;
	ssize_t its;

	its = inst_read_file(test, flags ? "snapshot" : "trace", inst->its,
			     INST_TEXT_SIZE);
	KUNIT_ASSERT_GT(test, its, 0);
	KUNIT_ASSERT_LT(test, its, INST_TEXT_SIZE);
	KUNIT_EXPECT_EQ_MSG(test, mine, its, "chunks of %zu", chunk);
	expect_same(test, its);
}

static void move_to(struct kunit *test, int cpu)
{
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(cpu)),
			0);
}

/*
 * A later context switch would save the name of the command. The lines that
 * are read after that show it, and those before do not.
 */
static void save_command(void)
{
	char comm[TASK_COMM_LEN];

	for (int i = 0; i < 1000; i++) {
		scoped_guard(preempt)
			tracing_record_cmdline(current);
		trace_find_cmdline(current->pid, comm);
		if (!strcmp(comm, current->comm))
			break;
	}
}

/*
 * The last line but one nearly fills a trace_seq. The text of two CPUs has to be
 * merged already, and that of many would be longer than INST_TEXT_SIZE.
 */
static void record_lines(struct kunit *test, u32 nr)
{
	static const u32 lens[] = { 0, 1, 7, 40, 300, 2600, 3900 };
	int cpu, cpus = 0;

	for_each_online_cpu(cpu) {
		if (cpus++ == 2)
			break;
		move_to(test, cpu);
		for (u32 seq = 0; seq < nr; seq++)
			trace_inst_kunit(0, seq, lens[seq % ARRAY_SIZE(lens)]);
		save_command();
	}
}

static void read_as_files(struct kunit *test)
{
	static const size_t chunks[] = { 1, 7, 4096, INST_TEXT_SIZE };
	static const char * const options[] = {
		"verbose", "noverbose", "latency-format", "nolatency-format",
		"raw", "noraw", "hex", "nohex", "bin", "nobin",
		"nocontext-info", "context-info",
	};
	struct trace_array *tr = inst_tr(test);

	expect_file_text(test, 0, 7);
	expect_file_text(test, SNAPSHOT, 7);

	inst_enable(test);
	KUNIT_ASSERT_EQ(test, trace_array_snapshot_alloc(tr), 0);
	expect_file_text(test, SNAPSHOT, 7);
	inst_write(test, "trace_clock", "local");
	for (int i = 0; i < 2; i++) {
		record_lines(test, 40);
		KUNIT_EXPECT_EQ(test, trace_array_snapshot(tr), 0);
	}
	for (int i = 0; i < ARRAY_SIZE(chunks); i++) {
		expect_file_text(test, 0, chunks[i]);
		expect_file_text(test, SNAPSHOT, chunks[i]);
	}
	for (int i = 0; i < ARRAY_SIZE(options); i++) {
		inst_write(test, "trace_options", options[i]);
		expect_file_text(test, 0, 1000);
		expect_file_text(test, SNAPSHOT, 1000);
	}
	trace_array_snapshot_free(tr);
}

/* After an overrun, the text says where each ring buffer starts. */
static void read_after_overrun(struct kunit *test)
{
	struct trace_array *tr = inst_tr(test);

	KUNIT_ASSERT_EQ(test, trace_array_set_buffer_size(tr, SZ_32K), 0);
	inst_enable(test);
	record_lines(test, 200);
	KUNIT_EXPECT_GT(test, ring_buffer_overruns(tr->array_buffer.buffer), 0);
	expect_file_text(test, 0, 1000);
}

static void read_consumes_nothing(struct kunit *test)
{
	struct inst_kunit *inst = test->priv;
	struct trace_buffer *buffer;
	unsigned int records = 0;

	inst_enable(test);
	inst_record(0, 10);
	inst_expect_records(test, 0, 0, 10);
	inst_expect_records(test, 0, 0, 10);
	inst_record(10, 5);
	inst_expect_records(test, 0, 0, 15);
	buffer = inst_tr(test)->array_buffer.buffer;
	while (ring_buffer_consume(buffer, inst->cpu, NULL, NULL))
		records++;
	KUNIT_EXPECT_EQ(test, records, 15);
	inst_expect_records(test, 0, 0, 0);
}

static void unknown_flags(struct kunit *test)
{
	struct trace_array *tr = inst_tr(test);

	KUNIT_EXPECT_EQ(test, PTR_ERR(trace_array_reader_open(tr, BIT(1))),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(trace_array_reader_open(tr, SNAPSHOT |
							      BIT(31))),
			-EINVAL);
}

#ifdef CONFIG_TRACER_MAX_TRACE
/* It uses the snapshot buffer from the moment at which a line is printed. */
static struct tracer busy_tracer = {
	.name		= "busy",
	.use_max_tr	= true,
};

static struct trace_array *busy_tr;

u32 inst_kunit_print(u32 seq)
{
	if (busy_tr)
		busy_tr->current_trace = &busy_tracer;

	return seq;
}

/* The text before the error is returned, and then the error. */
static void read_up_to_error(struct kunit *test)
{
	struct trace_array *tr = inst_tr(test);
	struct tracer *tracer = tr->current_trace;
	struct inst_kunit *inst = test->priv;
	struct trace_array_reader *reader;
	ssize_t n, again, all;

	inst_enable(test);
	KUNIT_ASSERT_EQ(test, trace_array_snapshot_alloc(tr), 0);
	/* This is more than is printed at a time. */
	for (u32 seq = 0; seq < 4000; seq++)
		trace_inst_kunit_print_hook(0, seq, 8);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(tr), 0);

	reader = inst_open(test, SNAPSHOT);
	busy_tr = tr;
	n = trace_array_reader_read(reader, inst->mine, INST_TEXT_SIZE);
	again = trace_array_reader_read(reader, inst->its, INST_TEXT_SIZE);
	busy_tr = NULL;
	tr->current_trace = tracer;
	inst_close(test, reader);
	KUNIT_EXPECT_GT(test, n, 0);
	KUNIT_EXPECT_EQ(test, again, -EBUSY);

	all = inst_read(tr, SNAPSHOT, inst->its, INST_TEXT_SIZE);
	KUNIT_EXPECT_GT(test, all, n);
	if (all > n && n > 0)
		expect_same(test, n);
	trace_array_snapshot_free(tr);
}
#else
u32 inst_kunit_print(u32 seq)
{
	return seq;
}

static void read_up_to_error(struct kunit *test)
{
	kunit_skip(test, "needs a latency tracer");
}
#endif

static void reader_keeps_instance(struct kunit *test)
{
	struct trace_array *tr = trace_array_create(INST_OTHER);
	struct trace_array_reader *reader;
	char buf[16];

	KUNIT_ASSERT_FALSE(test, IS_ERR(tr));
	for (int flags = 0; flags <= SNAPSHOT; flags++) {
		reader = trace_array_reader_open(tr, flags);
		KUNIT_ASSERT_FALSE(test, IS_ERR(reader));
		KUNIT_EXPECT_EQ(test, tr->ref, 3);
		KUNIT_EXPECT_EQ(test, trace_array_put_and_destroy(tr), -EBUSY);
		KUNIT_EXPECT_EQ(test, tr->ref, 3);
		trace_array_put(tr);
		KUNIT_EXPECT_EQ(test, trace_kunit_rmdir(test, INST_OTHER),
				-EBUSY);
		inst_expect_there(test, INST_OTHER, tr);
		KUNIT_EXPECT_EQ(test, trace_array_reader_read(reader, buf,
							      sizeof(buf)),
				sizeof(buf));
		KUNIT_ASSERT_PTR_EQ(test,
				    trace_array_get_by_name(INST_OTHER, NULL),
				    tr);
		trace_array_reader_close(reader);
		KUNIT_EXPECT_EQ(test, tr->ref, 2);
	}
	KUNIT_EXPECT_EQ(test, trace_array_put_and_destroy(tr), 0);
	inst_expect_there(test, INST_OTHER, NULL);
}

static void snapshot_is_freed_meanwhile(struct kunit *test)
{
	struct trace_array *tr = inst_tr(test);
	struct trace_array_reader *reader;
	char buf[16];

	inst_enable(test);
	KUNIT_ASSERT_EQ(test, trace_array_snapshot_alloc(tr), 0);
	inst_record(0, 40);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(tr), 0);
	reader = inst_open(test, SNAPSHOT);
	KUNIT_EXPECT_EQ(test, trace_array_reader_read(reader, buf, sizeof(buf)),
			sizeof(buf));
	trace_array_snapshot_free(tr);
	while (trace_array_reader_read(reader, buf, sizeof(buf)) > 0)
		;
	inst_close(test, reader);

	KUNIT_ASSERT_EQ(test, trace_array_snapshot_alloc(tr), 0);
	inst_expect_in_file(test, "snapshot", "Snapshot is allocated");
	inst_record(0, 5);
	KUNIT_EXPECT_EQ(test, trace_array_snapshot(tr), 0);
	inst_expect_records(test, SNAPSHOT, 0, 5);
	trace_array_snapshot_free(tr);
}

static void reader_leaves_nothing(struct kunit *test)
{
	struct trace_array_reader *reader = inst_open(test, 0);
	const bool *freed = trace_kunit_watch_free(test, reader);

	inst_close(test, reader);
	KUNIT_EXPECT_TRUE(test, *freed);
}

static struct kunit_case reader_cases[] = {
	KUNIT_CASE(read_as_files),
	KUNIT_CASE(read_after_overrun),
	KUNIT_CASE(read_consumes_nothing),
	KUNIT_CASE(unknown_flags),
	KUNIT_CASE(read_up_to_error),
	KUNIT_CASE(reader_keeps_instance),
	KUNIT_CASE(snapshot_is_freed_meanwhile),
	KUNIT_CASE(reader_leaves_nothing),
	{}
};

static struct kunit_suite reader_suite = {
	.name		= "trace_inst_reader",
	.init		= inst_kunit_init,
	.test_cases	= reader_cases,
};

kunit_test_suite(reader_suite);

MODULE_DESCRIPTION("KUnit tests for reading trace instances");
MODULE_LICENSE("GPL");

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers of the KUnit suites of snapshot_enabled, snapshot_pipe and
 * snapshot_stat.
 *
 * Records have numbers, so that it is seen which of them are there, in which
 * order, and whether what is missing was announced.
 */
#ifndef _TRACE_SNAPSHOT_PIPE_KUNIT_H
#define _TRACE_SNAPSHOT_PIPE_KUNIT_H

#include "trace_kunit.h"

#define INSTANCE	"trace_snapshot_pipe_kunit"

/**
 * struct snap_kunit - the environment of a test
 * @env:	what all suites of tracing have
 * @cpu:	the CPU that the test runs on
 * @next:	the number of the next record
 */
struct snap_kunit {
	struct trace_kunit	env;
	int			cpu;
	u32			next;
};

/* CPUs with a higher number are of no use in a race. */
#define SEEN_CPUS	64

/* The most bytes of a read, and of a line */
#define SEEN_READ	SZ_1K
#define SEEN_LINE	256

/**
 * struct snap_seen - what a reader has come to, and what it was told
 * @record:	the last record, of each writer of a race
 * @nr:		how many records
 * @all_lost:	how many were announced as lost
 * @lost:	those of a CPU since its last record
 * @mark:	the number of the last snapshot
 * @marks:	how many snapshots
 * @gaps:	records may be missing without a word
 * @bad:	the first line that was not in order
 * @text:	what was read last
 */
struct snap_seen {
	u32	record[2];
	u32	nr;
	u32	all_lost;
	u32	lost[SEEN_CPUS];
	u64	mark;
	u32	marks;
	bool	gaps;
	char	bad[128];
	char	text[SEEN_READ + SEEN_LINE];
};

int snap_init(struct kunit *test);

struct file *snap_open(struct kunit *test, const char *name, int flags);
void snap_close(struct kunit *test, struct file *file);
const char *snap_text(struct kunit *test, const char *name);

int snap_write_enabled(struct kunit *test, const char *text);
void snap_enable(struct kunit *test);
void snap_write_records(struct kunit *test, u32 nr);
int snap_take(struct kunit *test);
int snap_take_by_kernel(struct trace_array *tr);

struct snap_seen *snap_alloc_seen(struct kunit *test);
ssize_t snap_see(struct file *file, struct snap_seen *seen);
void snap_expect_records(struct kunit *test, struct file *file, u32 first,
			 u32 last, u32 lost);
void snap_expect_poll(struct kunit *test, struct file *file, __poll_t events);

#endif /* _TRACE_SNAPSHOT_PIPE_KUNIT_H */

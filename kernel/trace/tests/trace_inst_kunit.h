/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers of the KUnit suites of trace_instance.c. Each test has an instance,
 * whose files and records tell what a function has done. When the test ends
 * nobody else may have a reference on the instance.
 */
#ifndef _TRACE_INST_KUNIT_H
#define _TRACE_INST_KUNIT_H

#include <linux/trace_instance.h>

#include "trace_inst_events_kunit.h"
#include "trace_kunit.h"

#define INST_NAME	"trace_inst_kunit"
#define INST_OTHER	"trace_inst_kunit_other"
#define INST_SYSTEM	"trace_inst_kunit"
#define INST_EVENT	"inst_kunit"
#define INST_FILES	"events/" INST_SYSTEM "/" INST_EVENT "/"

/* No text is as long. */
#define INST_TEXT_SIZE	SZ_512K

/**
 * struct inst_kunit - the environment of a test
 * @env:	with the instance
 * @mine:	text that the test has read with a reader
 * @its:	text that the test has read from a file
 * @cpu:	the CPU that the test runs on at the beginning
 */
struct inst_kunit {
	struct trace_kunit	env;
	char			*mine;
	char			*its;
	int			cpu;
};

int inst_kunit_init(struct kunit *test);

static inline struct trace_array *inst_tr(struct kunit *test)
{
	struct inst_kunit *inst = test->priv;

	return inst->env.tr;
}

void inst_expect_there(struct kunit *test, const char *name,
		       struct trace_array *tr);

ssize_t inst_read_file(struct kunit *test, const char *name, char *buf,
		       size_t size);
const char *inst_file(struct kunit *test, const char *name);
void inst_expect_file(struct kunit *test, const char *name, const char *text);
void inst_expect_in_file(struct kunit *test, const char *name,
			 const char *text);
void inst_write(struct kunit *test, const char *name, const char *text);

void inst_enable(struct kunit *test);
void inst_record(u32 first, u32 nr);
ssize_t inst_read(struct trace_array *tr, unsigned int flags, char *buf,
		  size_t size);
const char *inst_text(struct kunit *test, unsigned int flags);
void inst_expect_records(struct kunit *test, unsigned int flags, u32 first,
			 u32 nr);
bool inst_consume(struct trace_buffer *buffer, int cpu, u32 *source, u32 *seq);

struct trace_array_reader *inst_open(struct kunit *test, unsigned int flags);
void inst_close(struct kunit *test, struct trace_array_reader *reader);

unsigned long inst_buffer_size(struct kunit *test);
int inst_in_nmi(int (*call)(struct trace_array *tr), struct trace_array *tr);

#endif /* _TRACE_INST_KUNIT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers of the KUnit suites of ktrace.
 */
#ifndef _TRACE_KTRACE_KUNIT_H
#define _TRACE_KTRACE_KUNIT_H

#include <kunit/test.h>

/* All suites have their events in one system. */
#define KTRACE_SYSTEM	ktrace_kunit

#include "../trace.h"
#include "../trace_ktrace.h"
#include "trace_kunit.h"

#define KTRACE_KUNIT_SYSTEM	"ktrace_kunit"
#define KTRACE_KUNIT_INSTANCE	"trace_ktrace_kunit"
#define KTRACE_KUNIT_TEXT_SIZE	SZ_64K

/**
 * struct ktrace_kunit - the environment of a test
 * @env:	what all suites of tracing have
 * @text:	a whole file, or all records
 */
struct ktrace_kunit {
	struct trace_kunit	env;
	char			*text;
};

int ktrace_kunit_init(struct kunit *test);

/* Files of the top level */

const char *ktrace_kunit_read(struct kunit *test, const char *name);
int ktrace_kunit_write(struct kunit *test, const char *name, const char *text);
bool ktrace_kunit_exists(struct kunit *test, const char *event);
const char *ktrace_kunit_format(struct kunit *test, const char *event);
void ktrace_kunit_in_format(struct kunit *test, const char *event,
			    const char *text);

/* Events and records of the instance */

void ktrace_kunit_switch(struct kunit *test, const char *event, bool on);
void ktrace_kunit_set(struct kunit *test, const char *event, const char *file,
		      const char *text);
struct ring_buffer_event *ktrace_kunit_consume(struct kunit *test);
void ktrace_kunit_clear(struct kunit *test);
const char *ktrace_kunit_records(struct kunit *test);
void ktrace_kunit_expect(struct kunit *test, const char *records);
void ktrace_kunit_expect_in(struct kunit *test, const char *instance,
			    const char *records);

/* Events of modules, with a module that is not there */

#define KTRACE_KUNIT_MODULE	"ktrace_kunit_fake"
#define KTRACE_KUNIT_FILE	"ktrace_kunit_fake.c"

#define KTRACE_KUNIT_SITE_IN(_system, _name, _fmt, _nr_args, _line)	\
	{								\
		.text	 = _system "\0" _name "\0" _fmt,		\
		.file	 = "drivers/fake/" KTRACE_KUNIT_FILE,		\
		.func	 = "fake_function",				\
		.line	 = _line,					\
		.nr_args = _nr_args,					\
		.key	 = STATIC_KEY_FALSE_INIT,			\
	}

#define KTRACE_KUNIT_SITE(_name, _fmt, _nr_args, _line)			\
	KTRACE_KUNIT_SITE_IN(KTRACE_KUNIT_SYSTEM, _name, _fmt, _nr_args, _line)

void ktrace_kunit_load(struct kunit *test, struct ktrace_site *sites,
		       unsigned int nr);
void ktrace_kunit_unload(struct kunit *test);
void ktrace_kunit_expect_event(struct kunit *test,
			       const struct ktrace_site *site,
			       const char *event, const char *state);
void ktrace_kunit_expect_state(struct kunit *test,
			       const struct ktrace_site *site,
			       const char *state);

#endif /* _TRACE_KTRACE_KUNIT_H */

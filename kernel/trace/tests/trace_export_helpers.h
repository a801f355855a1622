/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers of the KUnit suites of trace exports: an instance with an event, a
 * sink and a mirror.
 *
 * Records of the event are self-describing: source (the writer), seq (per
 * source, from 0) and a byte pattern made of seq, of any length. A sink is an
 * export that checks each record it gets. It notices a short, foreign, lost,
 * doubled or reordered record where it happens. A mirror is an export that keeps
 * the records, to compare them with the contents of the ring buffer.
 */
#ifndef _TRACE_EXPORT_HELPERS_H
#define _TRACE_EXPORT_HELPERS_H

#include <linux/trace.h>

#include "../trace_export_core.h"
#include "trace_kunit.h"
#include "trace_export_kunit.h"

/* The name of the instance, and of the system of the event */
#define EXPORT_KUNIT		"trace_export_kunit"
#define EXPORT_KUNIT_OTHER	"trace_export_kunit_other"
#define SINK_ALIVE		0x600df00d
#define SOURCES			2
#define MIRROR_RECORDS		16
#define MIRROR_BYTES		1024
#define ALL_TYPES		0xff

struct export_kunit {
	struct trace_kunit	env;
	struct trace_event_file	*file;
	struct trace_array	*other;
};

/* Of an export for one trace array */
struct export_registration {
	struct trace_array	*tr;
	struct trace_export	*export;
};

struct sink {
	struct trace_export	export;
	u32			magic;
	/* Next sequence number of each source; a source writes on one CPU. */
	u32			next[SOURCES];
	atomic_t		records;
	atomic_t		functions;
	atomic_t		wrong;
	/* The last record, for a test that looks at the bytes */
	u8			*copy;
	unsigned int		len;
};

struct mirror {
	struct trace_export		export;
	/* A callback may be interrupted by another one. */
	atomic_t			got;
	struct trace_export_record	record[MIRROR_RECORDS];
	/* The records that were found in the ring buffer */
	bool				met[MIRROR_RECORDS];
	u8				data[MIRROR_RECORDS][MIRROR_BYTES];
	/* Called by the first callback, or by all, to make records inside */
	void (*inside)(void);
	bool				always;
	/* Count records of other types than the event, and no more */
	bool				own;
	atomic_t			foreign;
};

/* Calls of a sink after its end */
extern atomic_t export_late_writes;

int export_kunit_init(struct kunit *test);
int export_kunit_init_counter(struct kunit *test);
struct trace_array *export_kunit_other(struct kunit *test);
struct export_registration *
export_kunit_register(struct kunit *test, struct trace_array *tr,
		      struct trace_export *export);
void export_kunit_unregister(struct kunit *test,
			     struct export_registration *reg);
void export_kunit_expect_shown(struct kunit *test, const char *text);
void export_kunit_filter(struct kunit *test, const char *filter);
void export_kunit_trigger(struct kunit *test, const char *trigger);
struct ring_buffer_event *export_kunit_next(struct trace_array *tr);

void export_sink_init(struct sink *sink, int flags);
struct sink *export_sink_alloc(struct kunit *test, int flags);
void export_sink_register(struct kunit *test, struct sink *sink);
void export_sink_unregister(struct kunit *test, struct sink *sink);
struct sink *export_sink_new(struct kunit *test, int flags);
struct sink *export_sink_new_for(struct kunit *test, struct trace_array *tr,
				 int flags);
void export_sink_expect(struct kunit *test, struct sink *sink, int records);

struct mirror *export_mirror_alloc(struct kunit *test, int flags);
struct mirror *export_mirror_new(struct kunit *test, int flags);
int export_mirror_expect(struct kunit *test, struct mirror *mirror,
			 struct mirror *other, int type);

#endif /* _TRACE_EXPORT_HELPERS_H */

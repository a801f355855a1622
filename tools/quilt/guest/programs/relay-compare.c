// SPDX-License-Identifier: GPL-2.0
/*
 * Compares the stream of the kernel's sample trace_export_relay with the ring
 * buffer of the same trace instance, record by record, while both are filled.
 *
 * usage: relay-compare [-n RECORDS] [-m MUTATION] [-t FIFO] [INSTANCE]
 *
 *   -n RECORDS   how many to wait for (1000000)
 *   -m MUTATION  spoil one record of the stream: drop, twice, swap, corrupt,
 *		  cut, stamp. The comparison has to fail.
 *   -t FIFO	  write a line there for each piece of work that may begin, three
 *		  for each CPU whenever all records are read and all lines taken.
 *		  So this work overflows no buffer, however late this program runs.
 *   INSTANCE	  the trace instance (relay)
 *
 * After RECORDS it switches tracing off in the instance, and compares the rest of
 * both sides, too.
 *
 * Both sides are consumed: per_cpu/cpuN/trace_pipe_raw, whose pages are taken
 * apart here, and debugfs/trace_export_relay/streamN.
 *
 * The ring buffer has the records of a CPU in the order in which they were
 * begun, the stream in the order in which they were complete. The two differ
 * for records that an interrupt made while another was not complete yet. So
 * for each record of the ring buffer the stream must have the same one, equal
 * to the last byte and the nanosecond, at its very front or behind records of
 * higher contexts (softirq, interrupt, NMI) only. Those are counted as nested.
 *
 * One difference is the ring buffer's: a record that is interrupted while its
 * place and time are taken can have a delta of 0 there, the time of the record
 * before. The stream has its own time, before that of the next record that did
 * not interrupt it. Those are counted as late.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include "common.h"
#include "ring-page.h"

#define MAX_CPUS	64
#define NR_TYPES	8
#define MAX_PENDING	(8UL << 20)
#define PATIENCE_S	60

/* The head of a record in the stream, as samples/trace_export/ has it. */
struct relay_record {
	uint32_t magic;
	uint32_t len;
	uint64_t ts;
	uint16_t type;
	uint16_t cpu;
	uint32_t dropped;
};

#define RELAY_MAGIC	0x54524558

/* A record of either side; its data follows. */
struct record {
	uint64_t ts;
	uint32_t len;
	uint16_t type;
	bool taken;
	bool nested;
	bool no_delta;
};

/* Bytes, first in first out. */
struct queue {
	char *bytes;
	size_t head, tail, size;
};

struct cpu {
	int id;
	int ring_fd, stream_fd;
	struct queue raw;		/* of the stream, not yet whole records */
	struct queue ring, stream;	/* records */
	uint64_t in_stream, same, last_ts;
};

static const char * const type_names[NR_TYPES] = {
	"function", "event", "marker", "printk", "raw_marker", "graph",
	"stack", "tracer",
};

static struct cpu cpus[MAX_CPUS];
static int nr_cpus;
static uint64_t nested, late, unsorted, by_type[NR_TYPES];
static const char *mutation;
static int work_fd = -1;
static char instance_dir[256];
static const char relay_dir[] = "/sys/kernel/debug/trace_export_relay";

/* Queues */

static size_t pending(const struct queue *q)
{
	return q->tail - q->head;
}

/* Room for @len more bytes at the tail. */
static char *room(struct queue *q, size_t len)
{
	if (q->head == q->tail)
		q->head = q->tail = 0;

	if (q->tail + len > q->size && q->head >= q->size / 2) {
		memmove(q->bytes, q->bytes + q->head, pending(q));
		q->tail -= q->head;
		q->head = 0;
	}

	if (q->tail + len > q->size) {
		q->size = (q->tail + len) * 2;
		q->bytes = realloc(q->bytes, q->size);
		if (!q->bytes)
			fail("no memory for %zu bytes", q->size);
	}

	return q->bytes + q->tail;
}

static size_t record_size(uint32_t len)
{
	return (sizeof(struct record) + len + 7) & ~7UL;
}

static const uint8_t *data_of(const struct record *r)
{
	return (const uint8_t *)(r + 1);
}

static struct record *push(struct queue *q, uint64_t ts, uint16_t type, const void *data,
			   uint32_t len)
{
	struct record *r = (struct record *)room(q, record_size(len));

	*r = (struct record){ .ts = ts, .len = len, .type = type };
	memcpy(r + 1, data, len);
	q->tail += record_size(len);

	return r;
}

static struct record *record_at(const struct queue *q, size_t pos)
{
	return pos < q->tail ? (struct record *)(q->bytes + pos) : NULL;
}

static struct record *next(const struct queue *q, const struct record *r)
{
	return record_at(q, (const char *)r - q->bytes + record_size(r->len));
}

static struct record *front(struct queue *q)
{
	struct record *r;

	while ((r = record_at(q, q->head)) && r->taken)
		q->head += record_size(r->len);

	return r;
}

/* Records */

/*
 * From the flags in struct trace_entry: task, softirq, interrupt, NMI, each with
 * interrupts on or off. The first and last steps of an interrupt count as what
 * it interrupts, with interrupts off.
 */
static int level(const struct record *r)
{
	uint8_t flags = r->len > 2 ? data_of(r)[2] : 0;

	return (flags & 0x40 ? 6 : flags & 0x08 ? 4 : flags & 0x10 ? 2 : 0) + (flags & 0x01);
}

static void show(const char *what, const struct record *r)
{
	printf("  %-16s", what);
	if (!r) {
		printf("nothing\n");
		return;
	}
	printf("ts %" PRIu64 " len %u context %d:", r->ts, r->len, level(r));
	for (uint32_t i = 0; i < r->len && i < 48; i++)
		printf("%s%02x", i % 4 ? "" : " ", data_of(r)[i]);
	printf("\n");
}

static bool same_bytes(const struct record *a, const struct record *b)
{
	return a->len == b->len && !memcmp(data_of(a), data_of(b), a->len);
}

__attribute__((noreturn))
static void differ(struct cpu *cpu, const char *what, const struct record *ring,
		   const struct record *stream)
{
	const struct record *after = ring, *r;

	printf("CPU %d, after %" PRIu64 " records that are the same:\n", cpu->id, cpu->same);
	show("ring buffer", ring);
	if (ring && ring->no_delta)
		printf("  (at the time of the one before)\n");
	for (int i = 0; i < 3 && after; i++) {
		after = next(&cpu->ring, after);
		show("  followed by", after);
	}
	show("stream", stream);
	for (r = stream; ring && r; r = next(&cpu->stream, r)) {
		if (same_bytes(r, ring)) {
			show("same bytes", r);
			break;
		}
	}
	for (int i = 0; i < 3 && stream; i++) {
		stream = next(&cpu->stream, stream);
		show("  followed by", stream);
	}
	fail("%s", what);
}

/* Records ahead of their place in the stream must be of a higher context. */
static void check_order(struct cpu *cpu, const struct record *ring, const struct record *found)
{
	struct record *r;

	for (r = front(&cpu->stream); r != found; r = next(&cpu->stream, r)) {
		if (r->taken)
			continue;
		if (level(r) <= level(found))
			differ(cpu, "a record in the stream is twice, or not in its place", ring, r);
		nested += !r->nested;
		r->nested = true;
	}
}

/* The record of the ring buffer in the stream, NULL if it is not there (yet). */
static struct record *find(struct cpu *cpu, const struct record *ring, bool all_there)
{
	const struct record *after = ring;
	struct record *r;

	for (r = front(&cpu->stream); r; r = next(&cpu->stream, r)) {
		if (!r->taken && r->ts == ring->ts && same_bytes(r, ring))
			return r;
	}

	do
		after = next(&cpu->ring, after);
	while (after && level(after) > level(ring));
	if (!ring->no_delta || (!after && !all_there))
		return NULL;
	for (r = front(&cpu->stream); r; r = next(&cpu->stream, r)) {
		if (!r->taken && r->ts > ring->ts && (!after || r->ts < after->ts) &&
		    same_bytes(r, ring)) {
			late++;
			return r;
		}
	}

	return NULL;
}

/* Removes equal records from both sides, as far as they are there. */
static void compare(struct cpu *cpu, bool all_there)
{
	struct record *ring, *r;

	while ((ring = front(&cpu->ring))) {
		r = find(cpu, ring, all_there);
		if (!r) {
			if (all_there || pending(&cpu->stream) > MAX_PENDING)
				differ(cpu, "a record is missing in the stream, or different",
				       ring, front(&cpu->stream));
			return;
		}
		check_order(cpu, ring, r);
		/* Does a stable sort by time put it behind the last one? */
		unsorted += r->ts < cpu->last_ts || (r->ts == cpu->last_ts && r->nested);
		cpu->last_ts = r->ts;
		for (int i = 0; i < NR_TYPES; i++)
			by_type[i] += r->type == 1 << i;
		r->taken = ring->taken = true;
		cpu->same++;
	}

	if (all_there && front(&cpu->stream))
		differ(cpu, "a record in the stream is not in the ring buffer, or twice", NULL,
		       front(&cpu->stream));
}

/* The ring buffer's records */

struct taken {
	struct cpu *cpu;
	uint64_t before;
};

static void take_record(void *arg, uint64_t ts, const uint8_t *data, uint32_t len)
{
	struct taken *taken = arg;

	push(&taken->cpu->ring, ts, 0, data, len)->no_delta = ts == taken->before;
	taken->before = ts;
}

static void read_ring(struct cpu *cpu)
{
	static _Alignas(8) char bytes[1 << 20];
	const struct ring_page *page = (struct ring_page *)bytes;
	struct taken taken = { .cpu = cpu };
	const char *wrong;
	ssize_t size;

	/* With a limit, as this program makes records, too. */
	for (int i = 0; i < 4096; i++) {
		size = read(cpu->ring_fd, bytes, sizeof(bytes));
		if (size < 0 && errno != EAGAIN)
			fail("trace_pipe_raw of CPU %d: %s", cpu->id, strerror(errno));
		if (size <= (ssize_t)sizeof(*page))
			return;
		taken.before = page->ts;
		wrong = take_page(page, size, take_record, &taken);
		if (wrong)
			fail("CPU %d: %s", cpu->id, wrong);
		if (page->commit < (size_t)size / 2)
			return;
	}
}

/* The stream */

static void parse_stream(struct cpu *cpu)
{
	struct relay_record head;
	struct queue *raw = &cpu->raw;
	size_t size;

	while (pending(raw) >= sizeof(head)) {
		memcpy(&head, raw->bytes + raw->head, sizeof(head));
		if (head.magic != RELAY_MAGIC || head.cpu != cpu->id)
			fail("CPU %d: the stream is broken after %" PRIu64 " records",
			     cpu->id, cpu->in_stream);
		if (head.dropped)
			fail("CPU %d: %u records were dropped: give the module larger buffers",
			     cpu->id, head.dropped);
		size = (sizeof(head) + head.len + 7) & ~7UL;
		if (pending(raw) < size)
			break;
		push(&cpu->stream, head.ts, head.type, raw->bytes + raw->head + sizeof(head),
		     head.len);
		raw->head += size;
		cpu->in_stream++;
	}
}

static void read_stream(struct cpu *cpu)
{
	const size_t chunk = 1 << 20;
	ssize_t size;

	for (int i = 0; i < 16; i++) {
		size = read(cpu->stream_fd, room(&cpu->raw, chunk), chunk);
		if (size < 0)
			fail("stream%d: %s", cpu->id, strerror(errno));
		cpu->raw.tail += size;
		parse_stream(cpu);
		if (size < (ssize_t)chunk)
			return;
	}
}

/*
 * Spoils one record, the second of three neighbours of one context. So none is
 * nested, and no interrupt has made a record while the second one took its time.
 */
static void mutate(struct cpu *cpu)
{
	struct record *p = front(&cpu->stream), *r = NULL, *n = NULL;
	char *bytes, *copy;
	size_t a, b;

	if (!mutation || cpu->same < 1000)
		return;

	for (; p && (r = next(&cpu->stream, p)) && (n = next(&cpu->stream, r)); p = r) {
		if (!r->taken && !n->taken && level(p) == level(r) && level(r) == level(n) &&
		    r->ts != n->ts && r->len % 8 == 0)
			break;
	}
	if (!p || !r || !n)
		return;

	a = record_size(r->len);
	b = record_size(n->len);
	bytes = (char *)r;
	copy = malloc(a);
	if (!copy)
		fail("no memory");
	memcpy(copy, r, a);

	if (!strcmp(mutation, "drop")) {
		r->taken = true;
	} else if (!strcmp(mutation, "twice")) {
		push(&cpu->stream, r->ts, r->type, ((struct record *)copy) + 1, r->len);
	} else if (!strcmp(mutation, "swap")) {
		memmove(bytes, bytes + a, b);
		memcpy(bytes + b, copy, a);
	} else if (!strcmp(mutation, "corrupt")) {
		bytes[sizeof(*r) + r->len - 1] ^= 1;
	} else if (!strcmp(mutation, "cut")) {
		r->len -= 4;
	} else if (!strcmp(mutation, "stamp")) {
		/* A later time can be right where the ring buffer has no delta. */
		r->ts--;
	} else {
		fail("no such mutation: %s", mutation);
	}
	free(copy);
	mutation = NULL;
}

/* All of it */

static void open_cpu(int id)
{
	struct cpu *cpu = &cpus[nr_cpus];
	char path[512];

	snprintf(path, sizeof(path), "%s/stream%d", relay_dir, id);
	cpu->stream_fd = open(path, O_RDONLY);
	if (cpu->stream_fd < 0 && errno == ENOENT)
		return;
	if (cpu->stream_fd < 0)
		fail("%s: %s", path, strerror(errno));

	snprintf(path, sizeof(path), "%s/per_cpu/cpu%d/trace_pipe_raw", instance_dir, id);
	cpu->ring_fd = open(path, O_RDONLY | O_NONBLOCK);
	if (cpu->ring_fd < 0)
		fail("%s: %s", path, strerror(errno));

	cpu->id = id;
	nr_cpus++;
}

static void run_on_all_cpus(void)
{
	cpu_set_t before, one;

	if (sched_getaffinity(0, sizeof(before), &before))
		fail("the CPUs: %s", strerror(errno));
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (CPU_ISSET(cpu, &before) && sched_setaffinity(0, sizeof(one), &one))
			fail("CPU %d: %s", cpu, strerror(errno));
	}
	if (sched_setaffinity(0, sizeof(before), &before))
		fail("the CPUs: %s", strerror(errno));
}

static void tracing_off(void)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/tracing_on", instance_dir);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, "0", 1) != 1)
		fail("%s: %s", path, strerror(errno));
	close(fd);
	/* A record that has begun is complete when its CPU runs another task. */
	run_on_all_cpus();
}

/* The counters of the kernel have to agree. */
static void check_counters(uint64_t records)
{
	unsigned long long exported = 0, missed = 0, dropped;
	char path[512], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/exports", instance_dir);
	file = fopen(path, "r");
	if (!file)
		fail("%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), file))
		sscanf(line, "trace_export_relay instance %*s %llu %*u %llu", &exported, &missed);
	fclose(file);
	if (missed || exported != records)
		fail("%s has %llu records and %llu missed, the stream has %" PRIu64, path,
		     exported, missed, records);

	snprintf(path, sizeof(path), "%s/dropped", relay_dir);
	file = fopen(path, "r");
	if (!file)
		fail("%s: %s", path, strerror(errno));
	if (fscanf(file, "%llu", &dropped) != 1 || dropped)
		fail("%s: records were dropped", path);
	fclose(file);
}

/* Lets the workers begin the next pieces of work. */
static void allow_work(void)
{
	int left;

	if (work_fd < 0 || ioctl(work_fd, FIONREAD, &left) || left)
		return;

	for (int i = 0; i < 3 * nr_cpus; i++) {
		if (write(work_fd, "\n", 1) != 1)
			fail("the FIFO: %s", strerror(errno));
	}
}

static uint64_t count(void)
{
	uint64_t records = 0;

	for (int i = 0; i < nr_cpus; i++)
		records += cpus[i].same;

	return records;
}

/* Until @wanted records have been compared, and then until nothing is left. */
static void run(uint64_t wanted)
{
	const struct timespec pause = { .tv_nsec = 5000000 };
	uint64_t before, now = 0;
	time_t progress = time(NULL);
	bool off = false;
	int quiet = 0;

	while (quiet < 10) {
		before = now;
		for (int i = 0; i < nr_cpus; i++) {
			read_ring(&cpus[i]);
			read_stream(&cpus[i]);
			mutate(&cpus[i]);
			compare(&cpus[i], false);
		}
		allow_work();
		now = count();

		if (now != before) {
			progress = time(NULL);
			quiet = 0;
		} else if (off) {
			quiet++;
		} else if (time(NULL) - progress > PATIENCE_S) {
			fail("no more records after %" PRIu64, now);
		}
		if (now >= wanted && !off) {
			tracing_off();
			off = true;
		}
		nanosleep(&pause, NULL);
	}
	for (int i = 0; i < nr_cpus; i++)
		compare(&cpus[i], true);
}

int main(int argc, char **argv)
{
	uint64_t wanted = 1000000;
	int opt, busy = 0;

	while ((opt = getopt(argc, argv, "n:m:t:")) != -1) {
		if (opt == 'n')
			wanted = strtoull(optarg, NULL, 0);
		else if (opt == 'm')
			mutation = optarg;
		else if (opt == 't')
			work_fd = open(optarg, O_RDWR);
		else
			fail("usage: relay-compare [-n RECORDS] [-m MUTATION] [-t FIFO] [INSTANCE]");
		if (opt == 't' && work_fd < 0)
			fail("%s: %s", optarg, strerror(errno));
	}
	setlinebuf(stdout);
	snprintf(instance_dir, sizeof(instance_dir), "/sys/kernel/tracing/instances/%s",
		 optind < argc ? argv[optind] : "relay");
	for (int id = 0; id < MAX_CPUS; id++)
		open_cpu(id);
	if (!nr_cpus)
		fail("no streams in %s: load trace_export_relay", relay_dir);

	run(wanted);
	if (mutation)
		fail("found no record to spoil");
	check_counters(count());

	for (int i = 0; i < NR_TYPES; i++) {
		if (by_type[i])
			printf("%" PRIu64 " %s, ", by_type[i], type_names[i]);
	}
	printf("%" PRIu64 " nested, %" PRIu64 " late, %" PRIu64 " not where a sort by time puts them\n",
	       nested, late, unsorted);
	for (int i = 0; i < nr_cpus; i++)
		busy += cpus[i].same > 0;
	printf("%" PRIu64 " records on %d CPUs: same records, same order, same bytes, none missing, none twice\n",
	       count(), busy);

	return 0;
}

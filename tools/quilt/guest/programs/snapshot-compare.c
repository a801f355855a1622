// SPDX-License-Identifier: GPL-2.0
/*
 * Are all records there, once, in order, when snapshots are consumed?
 *
 * A thread on each CPU writes numbered markers into a trace instance as fast as
 * it goes, another one takes snapshots, and this program reads snapshot_pipe as
 * a daemon would: it waits in poll() and reads until nothing is left. On each
 * CPU the numbers have to come one after the other. A gap may be where the file
 * says that events were lost, and has to be as large as it says.
 *
 * The writers of CPUs that go off and come back move to those of these CPUs that
 * are there. Each of their records has to be read once, and on each CPU their
 * numbers have to grow. As many as the file says may be missing in all.
 *
 * usage: snapshot-compare [-n SNAPSHOTS] [-l | -c] [-b] [-o CPU] [-k KIB]
 *			   [-m MUTATION] [INSTANCE]
 *
 *   -n SNAPSHOTS  how many are taken (1000)
 *   -l            late: the next one is taken whether or not the last one was
 *                 read, and records are overwritten before, too
 *   -c            of one CPU after the other, by per_cpu/cpuN/snapshot_pipe
 *   -b            others resize the buffers meanwhile: a snapshot that is
 *                 refused is taken again. They may begin when there is a file
 *                 /tmp/started, should end when there is /tmp/stop, and say
 *                 that they have by /tmp/stopped
 *   -o CPU        this one and all behind it go off and come back
 *   -k KIB        size of the buffer of a CPU (256, with -l 128)
 *   -m MUTATION   spoil one line before it is looked at: drop, twice, swap
 *                 (records), gap, quiet (reports of lost ones), mark
 *
 * Without -l nothing may be lost, as the writers wait when they are too far ahead.
 * With -l there have to be gaps, or the test has tested nothing.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common.h"

#define MAX_CPUS	64
#define PATIENCE_MS	30000
/* A writer may be ahead by this many, which a buffer of BUFFER_KB can hold. */
#define AHEAD		400
#define BUFFER_KB	256
#define LATE_BUFFER_KB	128
#define STARTED		"/tmp/started"
#define STOP		"/tmp/stop"
#define STOPPED		"/tmp/stopped"

struct cpu {
	int			id;
	pthread_t		writer;
	/* The next number to be written, and the next one to be read */
	_Atomic uint64_t	written;
	_Atomic uint64_t	next;
	/* Events reported as lost since the last record, and in all */
	uint64_t		lost;
	uint64_t		all_lost;
	uint64_t		gaps;
	uint64_t		refused;
	/* Goes off and comes back. In this case next is only how many were read. */
	bool			moves;
	/* The next number on each CPU, and a bit for each one that was read */
	uint64_t		next_on[MAX_CPUS];
	uint8_t			*seen;
	uint64_t		seen_size;
	/* Records that were on this CPU */
	uint64_t		records;
};

static struct cpu cpus[MAX_CPUS];
static int nr_cpus;
static char instance[256];
static const char *mutation;
static bool late, by_cpu, disturbed;
static int first_moving = MAX_CPUS;
static pthread_barrier_t started, stopped;
static uint64_t wanted = 1000;
static _Atomic bool stop;
static _Atomic uint64_t taken;
static uint64_t busy;
static sem_t drained;
static uint64_t last_mark, marks, records, failed_swaps;

__attribute__((format(printf, 2, 3)))
static int open_file(int flags, const char *fmt, ...)
{
	char name[64], path[512];
	va_list args;
	int fd;

	va_start(args, fmt);
	vsnprintf(name, sizeof(name), fmt, args);
	va_end(args);
	snprintf(path, sizeof(path), "%s/%s", instance, name);
	fd = open(path, flags);
	if (fd < 0)
		fail("%s: %s", path, strerror(errno));

	return fd;
}

static void put(const char *name, const char *value)
{
	int fd = open_file(O_WRONLY | O_TRUNC, "%s", name);

	if (write(fd, value, strlen(value)) < 0)
		fail("%s to %s: %s", value, name, strerror(errno));
	close(fd);
}

/* Writers */

static void write_record(struct cpu *cpu, int fd)
{
	char text[64];
	int len;

	len = snprintf(text, sizeof(text), "%d %" PRIu64, cpu->id, cpu->written);
	while (write(fd, text, len) != len) {
		/* The ring buffer can't be written to for a moment. */
		if (errno != EBADF)
			fail("trace_marker: %s", strerror(errno));
		cpu->refused++;
		sched_yield();
	}
	cpu->written++;
}

/* The calling thread runs on this CPU, or on all that move, or that don't. */
static void run_on(int id, bool moving)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = 0; i < nr_cpus; i++) {
		if (id >= 0 ? cpus[i].id == id : cpus[i].moves == moving)
			CPU_SET(cpus[i].id, &set);
	}
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("can't run on CPU %d: %s", id, strerror(errno));
}

static void *write_records(void *arg)
{
	int fd = open_file(O_WRONLY, "trace_marker");
	struct cpu *cpu = arg;

	/* All CPUs are there, and have a record. */
	run_on(cpu->id, false);
	write_record(cpu, fd);
	if (cpu->moves)
		run_on(-1, true);
	pthread_barrier_wait(&started);

	while (!stop) {
		if (!late && cpu->written - cpu->next > AHEAD)
			usleep(1000);
		else
			write_record(cpu, fd);
	}
	/* The next record reports the lost ones. All CPUs are there again. */
	pthread_barrier_wait(&stopped);
	run_on(cpu->id, false);
	write_record(cpu, fd);
	close(fd);

	return NULL;
}

static void start_writers(void)
{
	pthread_barrier_init(&started, NULL, nr_cpus + 1);
	pthread_barrier_init(&stopped, NULL, nr_cpus + 1);
	for (int i = 0; i < nr_cpus; i++) {
		if (pthread_create(&cpus[i].writer, NULL, write_records, &cpus[i]))
			fail("no thread for CPU %d", cpus[i].id);
	}
	pthread_barrier_wait(&started);
}

static void make_file(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT, 0600);

	if (fd < 0)
		fail("%s: %s", name, strerror(errno));
	close(fd);
}

static void stop_others(void)
{
	make_file(STOP);
	for (int tries = 0; access(STOPPED, F_OK); tries++) {
		if (tries > 4 * PATIENCE_MS / 10)
			fail("those who resize and switch CPUs off do not end");
		usleep(10000);
	}
}

static void stop_writers(void)
{
	stop = true;
	if (disturbed)
		stop_others();
	pthread_barrier_wait(&stopped);
	for (int i = 0; i < nr_cpus; i++)
		pthread_join(cpus[i].writer, NULL);
}

/* The one that takes snapshots */

static void take(int fd)
{
	while (write(fd, "1", 1) != 1) {
		/* One CPU was in the middle of a record, or there is a resize. */
		if ((!by_cpu && !disturbed) || errno != EBUSY)
			fail("no snapshot: %s", strerror(errno));
		if (disturbed)
			usleep(100);
		busy++;
	}
}

static void take_one(uint64_t nr)
{
	static int fds[MAX_CPUS] = { [0 ... MAX_CPUS - 1] = -1 };
	int *fd = &fds[by_cpu ? nr % nr_cpus : 0];

	if (*fd < 0 && by_cpu)
		*fd = open_file(O_WRONLY, "per_cpu/cpu%d/snapshot_pipe", cpus[nr % nr_cpus].id);
	else if (*fd < 0)
		*fd = open_file(O_WRONLY, "snapshot_pipe");
	take(*fd);
}

static void *take_snapshots(void *arg)
{
	unsigned int seed = 1;

	while (taken < wanted) {
		if (late)
			usleep(rand_r(&seed) % 60000);
		else
			sem_wait(&drained);
		take_one(taken);
		taken++;
	}

	return arg;
}

/* The reader */

static struct cpu *cpu_of(int id, const char *line)
{
	for (int i = 0; i < nr_cpus; i++) {
		if (cpus[i].id == id)
			return &cpus[i];
	}
	fail("no such CPU: %s", line);
}

static void read_once(struct cpu *writer, uint64_t number, const char *line)
{
	uint64_t byte = number / 8, size = writer->seen_size;
	uint8_t bit = 1 << (number % 8);

	if (byte >= size) {
		size = (byte + 1) * 2;
		writer->seen = realloc(writer->seen, size);
		if (!writer->seen)
			fail("no memory");
		memset(writer->seen + writer->seen_size, 0, size - writer->seen_size);
		writer->seen_size = size;
	}
	if (writer->seen[byte] & bit)
		fail("a record is there twice: %s", line);
	writer->seen[byte] |= bit;
}

/* It is of any writer that moves, on any CPU that they move to. */
static void look_at_moving(const char *line, struct cpu *cpu, const char *text)
{
	struct cpu *writer;
	uint64_t number;
	int by;

	if (sscanf(text, "%d %" SCNu64, &by, &number) != 2)
		fail("not a record: %s", line);
	writer = cpu_of(by, line);
	if (!writer->moves)
		fail("CPU %d has a record of a writer that does not move: %s", cpu->id, line);
	if (number < writer->next_on[cpu->id])
		fail("CPU %d: a record is not in its place: number %" PRIu64 " after %" PRIu64
		     ": %s", cpu->id, number, writer->next_on[cpu->id] - 1, line);
	read_once(writer, number, line);

	writer->next_on[cpu->id] = number + 1;
	writer->next++;
	cpu->all_lost += cpu->lost;
	cpu->gaps += cpu->lost > 0;
	cpu->lost = 0;
	cpu->records++;
	records++;
}

static void look_at_record(const char *line, int id, const char *text)
{
	struct cpu *cpu = cpu_of(id, line);
	uint64_t number, expected = cpu->next + cpu->lost;
	int by;

	if (cpu->moves) {
		look_at_moving(line, cpu, text);
		return;
	}

	if (sscanf(text, "%d %" SCNu64, &by, &number) != 2 || by != id)
		fail("not a record of CPU %d: %s", id, line);
	if (number != expected)
		fail("CPU %d: a record is not in its place: number %" PRIu64 ", and %" PRIu64
		     " is to come after %" PRIu64 " lost ones: %s",
		     id, number, expected, cpu->lost, line);

	cpu->next = number + 1;
	cpu->all_lost += cpu->lost;
	cpu->gaps += cpu->lost > 0;
	cpu->lost = 0;
	records++;
}

static void look_at(const char *line)
{
	static const char write_mark[] = ": tracing_mark_write: ";
	const char *text, *bracket;
	uint64_t number;
	int id;

	if (sscanf(line, "##### snapshot %" SCNu64 " #####", &number) == 1) {
		if (number <= last_mark)
			fail("snapshot %" PRIu64 " after snapshot %" PRIu64, number, last_mark);
		last_mark = number;
		marks++;
		return;
	}

	if (sscanf(line, "CPU:%d [LOST %" SCNu64 " EVENTS]", &id, &number) == 2) {
		if (cpu_of(id, line)->lost)
			fail("lost twice before one record: %s", line);
		cpu_of(id, line)->lost = number;
		return;
	}

	bracket = strstr(line, " [");
	text = strstr(line, write_mark);
	if (bracket && text && sscanf(bracket, " [%d]", &id) == 1) {
		if (!last_mark)
			fail("a record before the first mark: %s", line);
		look_at_record(line, id, text + strlen(write_mark));
	} else if (strstr(line, "Failed to swap buffers")) {
		failed_swaps++;
	} else {
		fail("what is this: %s", line);
	}
}

/* One line is spoilt, in the middle of the work. */
static void spoil(const char *line)
{
	bool is_mark = !strncmp(line, "#####", 5), is_lost = !strncmp(line, "CPU:", 4);
	static char held[256];
	uint64_t number;
	int id;

	if (!mutation || records < 5000) {
		look_at(line);
	} else if (!is_mark && !is_lost && !strcmp(mutation, "drop")) {
		mutation = NULL;
	} else if (!is_mark && !is_lost && !strcmp(mutation, "twice")) {
		mutation = NULL;
		look_at(line);
		look_at(line);
	} else if (!is_mark && !is_lost && !strcmp(mutation, "swap")) {
		char *cpu = strstr(line, " [");

		if (*held && cpu && strstr(held, " [") && !strncmp(strstr(held, " ["), cpu, 6)) {
			mutation = NULL;
			look_at(line);
			look_at(held);
			return;
		}
		if (*held)
			look_at(held);
		snprintf(held, sizeof(held), "%s", line);
	} else if (is_lost && !strcmp(mutation, "gap")) {
		char other[64];

		sscanf(line, "CPU:%d [LOST %" SCNu64, &id, &number);
		snprintf(other, sizeof(other), "CPU:%d [LOST %" PRIu64 " EVENTS]", id, number + 1);
		mutation = NULL;
		look_at(other);
	} else if (is_lost && !strcmp(mutation, "quiet")) {
		mutation = NULL;
	} else if (is_mark && !strcmp(mutation, "mark")) {
		mutation = NULL;
		look_at(line);
		look_at(line);
	} else {
		/* The held line had no partner, and comes first. */
		if (*held)
			look_at(held);
		*held = '\0';
		look_at(line);
	}
}

/* Reads until there is nothing; the last line is always whole by then. */
static void drain(int fd)
{
	static char text[1 << 16];
	static size_t left;
	char *line, *end;
	ssize_t n;

	while ((n = read(fd, text + left, late ? 2000 : sizeof(text) - left - 1)) > 0) {
		text[left + n] = '\0';
		for (line = text; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			spoil(line);
		}
		left = strlen(line);
		memmove(text, line, left);
	}
	if (!n)
		fail("the end of snapshot_pipe, while there is a buffer");
	if (errno != EAGAIN)
		fail("snapshot_pipe: %s", strerror(errno));
	if (left)
		fail("half a line: %.*s", (int)left, text);
}

/* How many snapshots the kernel has counted */
static uint64_t count(void)
{
	static int fd = -1;
	char text[128] = "";
	uint64_t number;

	if (fd < 0)
		fd = open_file(O_RDONLY, "snapshot_stat");
	if (pread(fd, text, sizeof(text) - 1, 0) < 0 ||
	    sscanf(text, "count: %" SCNu64, &number) != 1)
		fail("snapshot_stat: %s", text);

	return number;
}

static void run(void)
{
	int fd = open_file(O_RDONLY | O_NONBLOCK, "snapshot_pipe");
	struct pollfd pfd = { .fd = fd, .events = POLLIN | POLLPRI };
	uint64_t seen = 0, before = count();
	pthread_t taker;

	sem_init(&drained, 0, 1);
	start_writers();
	run_on(-1, false);
	if (disturbed)
		make_file(STARTED);
	if (pthread_create(&taker, NULL, take_snapshots, NULL))
		fail("no thread to take snapshots");

	while (seen < wanted) {
		int n = poll(&pfd, 1, PATIENCE_MS);

		if (n <= 0)
			fail("poll: %s", n ? strerror(errno) : "nobody wakes me");
		/* It can be read when the write() that has taken it is back. */
		while (!late && taken == seen)
			usleep(100);
		drain(fd);
		seen = late ? count() - before : taken;
		if (!late && seen < wanted)
			sem_post(&drained);
	}
	pthread_join(taker, NULL);

	stop_writers();
	for (int i = 0; i < (by_cpu ? nr_cpus : 1); i++) {
		take_one(i);
		drain(fd);
	}
	close(fd);
}

static void read_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		fail("sched_getaffinity: %s", strerror(errno));
	for (int id = 0; id < MAX_CPUS; id++) {
		if (!CPU_ISSET(id, &set))
			continue;
		cpus[nr_cpus].moves = id >= first_moving;
		cpus[nr_cpus++].id = id;
	}
}

int main(int argc, char **argv)
{
	uint64_t written = 0, lost = 0, gaps = 0, refused = 0;
	unsigned long kib = 0;
	char value[32];
	int opt;

	while ((opt = getopt(argc, argv, "n:lcbo:k:m:")) != -1) {
		if (opt == 'n')
			wanted = strtoull(optarg, NULL, 0);
		else if (opt == 'l')
			late = true;
		else if (opt == 'c')
			by_cpu = true;
		else if (opt == 'b')
			disturbed = true;
		else if (opt == 'o')
			first_moving = atoi(optarg);
		else if (opt == 'k')
			kib = strtoul(optarg, NULL, 0);
		else if (opt == 'm')
			mutation = optarg;
		else
			fail("usage: snapshot-compare [-n SNAPSHOTS] [-l | -c] [-b] [-o CPU] [-k KIB] [-m MUTATION] [INSTANCE]");
	}
	setlinebuf(stdout);
	snprintf(instance, sizeof(instance), "/sys/kernel/tracing/instances/%s",
		 optind < argc ? argv[optind] : "snapshots");
	read_cpus();
	if (!kib)
		kib = late ? LATE_BUFFER_KB : BUFFER_KB;
	snprintf(value, sizeof(value), "%lu", kib);
	put("buffer_size_kb", value);
	put("snapshot_enabled", "1");

	run();

	for (int i = 0; i < nr_cpus; i++) {
		struct cpu *cpu = &cpus[i];

		if (cpu->moves && !cpu->records)
			fail("CPU %d had no records", cpu->id);
		if (!cpu->moves && cpu->next != cpu->written)
			fail("CPU %d: %" PRIu64 " were written, and the last one read is number %"
			     PRIu64, cpu->id, cpu->written, cpu->next - 1);
		written += cpu->written;
		lost += cpu->all_lost;
		gaps += cpu->gaps;
		refused += cpu->refused;
	}
	if (mutation)
		fail("found no line to spoil");
	if (records + lost != written)
		fail("%" PRIu64 " written, %" PRIu64 " read, %" PRIu64 " lost", written, records,
		     lost);
	if (late && !lost)
		fail("nothing was lost, so nothing was tried");
	if (!late && lost)
		fail("%" PRIu64 " were lost, and everything was read in time", lost);
	if (!late && !by_cpu && marks < wanted * 9 / 10)
		fail("only %" PRIu64 " of the snapshots had a record", marks);

	for (int i = 0; i < nr_cpus; i++) {
		if (cpus[i].moves)
			printf("%" PRIu64 " records read were on CPU %d, which went off and on\n",
			       cpus[i].records, cpus[i].id);
	}
	if (refused || busy || failed_swaps)
		printf("%" PRIu64 " writes and %" PRIu64 " snapshots done again, %" PRIu64
		       " messages of it\n", refused, busy, failed_swaps);
	printf("%" PRIu64 " snapshots, %" PRIu64 " records on %d CPUs: %" PRIu64
	       " read once and in order, %" PRIu64 " told to be lost in %" PRIu64 " gaps\n",
	       taken + 1, written, nr_cpus, records, lost, gaps);

	return 0;
}

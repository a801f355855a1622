// SPDX-License-Identifier: GPL-2.0
/*
 * How long does a reader of snapshot_pipe that comes to many old records keep
 * others waiting?
 *
 * Fills the ring buffer of an instance, takes snapshots until what it was filled
 * with is in the snapshot buffer, as old records, and reads. Meanwhile a thread
 * of high priority on the same CPU reads trace_pipe of another instance with
 * O_NONBLOCK, again and again, which needs the same lock. It is to be back soon.
 *
 * usage: snapshot-stall [-m MIB] [-u MICROSECONDS]
 *
 *   -m MIB           old records of the CPU (16)
 *   -u MICROSECONDS  so long a read of the other one may take (1000)
 *
 * Only under guest.sh --icount does time mean anything.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "common.h"

#define DIR	"/sys/kernel/tracing/instances/"
#define FULL	DIR "stall_full/"
#define OTHER	DIR "stall_other/"

static _Atomic bool begun, stop;
static uint64_t most, reads;

static int open_file(const char *name, int flags)
{
	int fd = open(name, flags);

	if (fd < 0)
		fail("%s: %s", name, strerror(errno));

	return fd;
}

static void put(const char *name, const char *text)
{
	int fd = open_file(name, O_WRONLY | O_TRUNC);

	if (write(fd, text, strlen(text)) < 0)
		fail("%s: %s", name, strerror(errno));
	close(fd);
}

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);

	return ts.tv_sec * 1000000ULL + ts.tv_nsec / 1000;
}

static void *read_other(void *arg)
{
	struct timespec pause = { .tv_nsec = 100000 };
	struct sched_param param = { .sched_priority = 10 };
	int fd = open_file(OTHER "trace_pipe", O_RDONLY | O_NONBLOCK);
	char text[64];
	uint64_t us;

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		fail("no priority: %s", strerror(errno));
	begun = true;
	while (!stop) {
		us = now_us();
		if (read(fd, text, sizeof(text)) >= 0 || errno != EAGAIN)
			fail("there is something in the other instance");
		us = now_us() - us;
		if (us > most)
			most = us;
		reads++;
		nanosleep(&pause, NULL);
	}
	close(fd);

	return arg;
}

/* So many small records that the buffer is full. */
static uint64_t fill(unsigned long mib)
{
	int fd = open_file(FULL "trace_marker", O_WRONLY);
	uint64_t nr = mib * (1 << 20) / 32;

	for (uint64_t i = 0; i < nr; i++) {
		if (write(fd, "record", 6) != 6)
			fail("trace_marker: %s", strerror(errno));
	}
	close(fd);

	return nr;
}

int main(int argc, char **argv)
{
	uint64_t limit_us = 1000, us, nr, before;
	unsigned long mib = 16;
	pthread_t other;
	char text[256];
	ssize_t n;
	int fd, opt;

	while ((opt = getopt(argc, argv, "m:u:")) != -1) {
		if (opt == 'm')
			mib = strtoul(optarg, NULL, 0);
		else if (opt == 'u')
			limit_us = strtoul(optarg, NULL, 0);
		else
			fail("usage: snapshot-stall [-m MIB] [-u MICROSECONDS]");
	}
	if (mkdir(FULL, 0700) || mkdir(OTHER, 0700))
		fail("no instances: %s", strerror(errno));
	snprintf(text, sizeof(text), "%lu", mib * 1024);
	put(FULL "buffer_size_kb", text);
	put(FULL "snapshot_enabled", "1");
	fd = open_file(FULL "snapshot_pipe", O_RDONLY);

	nr = fill(mib);
	put(FULL "snapshot_pipe", "1");
	put(FULL "snapshot_pipe", "1");
	put(FULL "trace_marker", "the only new record");
	if (pthread_create(&other, NULL, read_other, NULL))
		fail("no thread");
	while (!begun)
		sched_yield();
	most = 0;
	before = reads;
	put(FULL "snapshot_pipe", "1");
	us = now_us();
	n = read(fd, text, sizeof(text) - 1);
	us = now_us() - us;
	stop = true;
	pthread_join(other, NULL);
	close(fd);
	put(FULL "snapshot_enabled", "0");
	if (rmdir(FULL) || rmdir(OTHER))
		fail("the instances stay: %s", strerror(errno));

	text[n > 0 ? n : 0] = '\0';
	if (!strstr(text, "the only new record"))
		fail("not what is new: %s", text);
	if (reads == before)
		fail("nothing was read meanwhile");
	printf("%" PRIu64 " old records, %lu MiB, gone after %" PRIu64 " us; %" PRIu64
	       " reads of another instance meanwhile, %" PRIu64 " us at most\n",
	       nr, mib, us, reads - before, most);
	if (most > limit_us)
		fail("that is more than %" PRIu64 " us", limit_us);

	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Attaches a BPF program to an event of the module quilt_bench. It writes a record
 * with the time and the fields of the event into a BPF ring buffer, which nobody
 * reads.
 *
 * usage: bpf-ringbuf raw|event bench_two_u64|bench_int_string FIFO
 *
 * raw: the program gets the arguments of the tracepoint; event: it gets the record
 * of the trace event, as perf makes it. Returns when the program is attached, and
 * leaves a process behind: its id is the first line of FIFO.pid. After SIGTERM it
 * writes the number of records in the ring buffer to FIFO.
 */

#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bpf-program.h"

#define RING_BYTES	(32 << 20)
#define STRING_BYTES	16

static struct program program;

/* Makes the program; returns the size of its record. */
static unsigned int make(const char *event, const char *path, int raw, int map)
{
	int string = !strcmp(event, "bench_int_string");
	int size = 16 + (string ? STRING_BYTES : 8);

	emit(&program, MOVE(BPF_REG_6, BPF_REG_1));
	emit(&program, CALL(BPF_FUNC_ktime_get_ns));
	emit(&program, STORE(BPF_REG_10, -size, BPF_REG_0));
	if (string) {
		emit(&program, raw ? LOAD(BPF_DW, BPF_REG_1, BPF_REG_6, 0) :
			   LOAD(BPF_W, BPF_REG_1, BPF_REG_6, format(path, "number")));
		emit(&program, STORE(BPF_REG_10, -size + 8, BPF_REG_1));
		emit(&program, MOVE(BPF_REG_1, BPF_REG_10));
		emit(&program, ADD(BPF_REG_1, -STRING_BYTES));
		emit(&program, SET(BPF_REG_2, STRING_BYTES));
		if (raw) {
			emit(&program, LOAD(BPF_DW, BPF_REG_3, BPF_REG_6, 8));
		} else {
			emit(&program, LOAD(BPF_W, BPF_REG_3, BPF_REG_6, format(path, "name")));
			emit(&program, AND(BPF_REG_3, 0xffff));
			emit(&program, ADD_REG(BPF_REG_3, BPF_REG_6));
		}
		emit(&program, CALL(BPF_FUNC_probe_read_kernel_str));
	} else {
		emit(&program, LOAD(BPF_DW, BPF_REG_1, BPF_REG_6, raw ? 0 : format(path, "a")));
		emit(&program, STORE(BPF_REG_10, -size + 8, BPF_REG_1));
		emit(&program, LOAD(BPF_DW, BPF_REG_1, BPF_REG_6, raw ? 8 : format(path, "b")));
		emit(&program, STORE(BPF_REG_10, -size + 16, BPF_REG_1));
	}
	emit_map(&program, BPF_REG_1, map);
	emit(&program, MOVE(BPF_REG_2, BPF_REG_10));
	emit(&program, ADD(BPF_REG_2, -size));
	emit(&program, SET(BPF_REG_3, size));
	emit(&program, SET(BPF_REG_4, 0));
	emit(&program, CALL(BPF_FUNC_ringbuf_output));
	emit(&program, SET(BPF_REG_0, 0));
	emit(&program, EXIT);

	return size;
}

static int attach(const char *event, const char *path, int raw)
{
	int prog = load(&program, raw ? BPF_PROG_TYPE_RAW_TRACEPOINT : BPF_PROG_TYPE_TRACEPOINT);

	return raw ? attach_raw(prog, event) : attach_event(prog, path);
}

int main(int argc, char **argv)
{
	union bpf_attr ring = {
		.map_type	= BPF_MAP_TYPE_RINGBUF,
		.max_entries	= RING_BYTES,
	};
	unsigned long *producer;
	char path[256], event[64];
	unsigned int size;
	sigset_t set;
	FILE *file;
	int map, fd, n;

	if (argc != 4)
		error(2, 0, "usage: bpf-ringbuf raw|event EVENT FIFO");

	map = bpf(BPF_MAP_CREATE, &ring);
	if (map < 0)
		error(1, errno, "no ring buffer");
	producer = mmap(NULL, getpagesize(), PROT_READ, MAP_SHARED, map, getpagesize());
	if (producer == MAP_FAILED)
		error(1, errno, "the ring buffer can't be mapped");
	snprintf(event, sizeof(event), "quilt_bench/%s", argv[2]);
	size = make(argv[2], event, !strcmp(argv[1], "raw"), map);
	fd = attach(argv[2], event, !strcmp(argv[1], "raw"));

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	n = fork();
	if (n < 0)
		error(1, errno, "no process");
	if (n) {
		snprintf(path, sizeof(path), "%s.pid", argv[3]);
		file = fopen(path, "w");
		if (!file || fprintf(file, "%d\n", n) < 0 || fclose(file))
			error(1, errno, "%s", path);
		return 0;
	}

	sigwait(&set, &n);
	/* The module with the event may go then. */
	close(fd);
	file = fopen(argv[3], "w");
	if (!file)
		error(1, errno, "%s", argv[3]);
	/* Each record has a head of 8 bytes. */
	fprintf(file, "%lu\n", *producer / (size + 8));
	fclose(file);

	return 0;
}

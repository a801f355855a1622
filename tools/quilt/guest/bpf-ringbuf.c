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
#include <errno.h>
#include <error.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENTS		"/sys/kernel/tracing/events/quilt_bench"
#define RING_BYTES	(32 << 20)
#define STRING_BYTES	16

#define INSN(c, d, s, o, i)	\
	((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) })
#define MOVE(d, s)		INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define ADD(d, i)		INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define ADD_REG(d, s)		INSN(BPF_ALU64 | BPF_ADD | BPF_X, d, s, 0, 0)
#define AND(d, i)		INSN(BPF_ALU64 | BPF_AND | BPF_K, d, 0, 0, i)
#define SET(d, i)		INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define LOAD(size, d, s, o)	INSN(BPF_LDX | BPF_MEM | (size), d, s, o, 0)
#define STORE(d, o, s)		INSN(BPF_STX | BPF_MEM | BPF_DW, d, s, o, 0)
#define CALL(f)			INSN(BPF_JMP | BPF_CALL, 0, 0, 0, f)
#define EXIT			INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

static struct bpf_insn program[64];
static unsigned int insns;

static void emit(struct bpf_insn insn)
{
	program[insns++] = insn;
}

static int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(__NR_bpf, cmd, attr, sizeof(*attr));
}

/* The offset of a field in the event's record, or the event's id */
static int format(const char *event, const char *field)
{
	char path[256], line[512], name[64];
	unsigned int offset, found = 0;
	FILE *file;

	snprintf(path, sizeof(path), EVENTS "/%s/format", event);
	snprintf(name, sizeof(name), " %s;", field ?: "");
	file = fopen(path, "r");
	if (!file)
		error(1, errno, "%s", path);
	while (!found && fgets(line, sizeof(line), file)) {
		if (field)
			found = strstr(line, name) &&
				sscanf(line, "\tfield:%*[^;];\toffset:%u;", &offset) == 1;
		else
			found = sscanf(line, "ID: %u", &offset) == 1;
	}
	fclose(file);
	if (!found)
		error(1, 0, "%s lacks %s", event, field ?: "an id");

	return offset;
}

/* Makes the program; returns the size of its record. */
static unsigned int make(const char *event, int raw, int map)
{
	int string = !strcmp(event, "bench_int_string");
	int size = 16 + (string ? STRING_BYTES : 8);

	emit(MOVE(BPF_REG_6, BPF_REG_1));
	emit(CALL(BPF_FUNC_ktime_get_ns));
	emit(STORE(BPF_REG_10, -size, BPF_REG_0));
	if (string) {
		emit(raw ? LOAD(BPF_DW, BPF_REG_1, BPF_REG_6, 0) :
			   LOAD(BPF_W, BPF_REG_1, BPF_REG_6, format(event, "number")));
		emit(STORE(BPF_REG_10, -size + 8, BPF_REG_1));
		emit(MOVE(BPF_REG_1, BPF_REG_10));
		emit(ADD(BPF_REG_1, -STRING_BYTES));
		emit(SET(BPF_REG_2, STRING_BYTES));
		if (raw) {
			emit(LOAD(BPF_DW, BPF_REG_3, BPF_REG_6, 8));
		} else {
			emit(LOAD(BPF_W, BPF_REG_3, BPF_REG_6, format(event, "name")));
			emit(AND(BPF_REG_3, 0xffff));
			emit(ADD_REG(BPF_REG_3, BPF_REG_6));
		}
		emit(CALL(BPF_FUNC_probe_read_kernel_str));
	} else {
		emit(LOAD(BPF_DW, BPF_REG_1, BPF_REG_6, raw ? 0 : format(event, "a")));
		emit(STORE(BPF_REG_10, -size + 8, BPF_REG_1));
		emit(LOAD(BPF_DW, BPF_REG_1, BPF_REG_6, raw ? 8 : format(event, "b")));
		emit(STORE(BPF_REG_10, -size + 16, BPF_REG_1));
	}
	emit(INSN(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map));
	emit(INSN(0, 0, 0, 0, 0));
	emit(MOVE(BPF_REG_2, BPF_REG_10));
	emit(ADD(BPF_REG_2, -size));
	emit(SET(BPF_REG_3, size));
	emit(SET(BPF_REG_4, 0));
	emit(CALL(BPF_FUNC_ringbuf_output));
	emit(SET(BPF_REG_0, 0));
	emit(EXIT);

	return size;
}

/* Returns the descriptor that holds the program at the event. */
static int attach(const char *event, int raw)
{
	static char log[1 << 16];
	union bpf_attr load = {
		.prog_type	= raw ? BPF_PROG_TYPE_RAW_TRACEPOINT : BPF_PROG_TYPE_TRACEPOINT,
		.insns		= (uintptr_t)program,
		.insn_cnt	= insns,
		.license	= (uintptr_t)"GPL",
		.log_buf	= (uintptr_t)log,
		.log_size	= sizeof(log),
		.log_level	= 1,
	};
	union bpf_attr open = { .raw_tracepoint.name = (uintptr_t)event };
	struct perf_event_attr perf = {
		.type		= PERF_TYPE_TRACEPOINT,
		.size		= sizeof(perf),
		.sample_period	= 1,
	};
	int prog, fd;

	prog = bpf(BPF_PROG_LOAD, &load);
	if (prog < 0)
		error(1, errno, "the program is refused:\n%s", log);
	if (raw) {
		open.raw_tracepoint.prog_fd = prog;
		fd = bpf(BPF_RAW_TRACEPOINT_OPEN, &open);
		if (fd < 0)
			error(1, errno, "the program does not go with %s", event);
		return fd;
	}
	perf.config = format(event, NULL);
	fd = syscall(__NR_perf_event_open, &perf, -1, 0, -1, 0);
	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog) ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		error(1, errno, "the program does not go with %s", event);

	return fd;
}

int main(int argc, char **argv)
{
	union bpf_attr ring = {
		.map_type	= BPF_MAP_TYPE_RINGBUF,
		.max_entries	= RING_BYTES,
	};
	unsigned long *producer;
	unsigned int size;
	char path[256];
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
	size = make(argv[2], !strcmp(argv[1], "raw"), map);
	fd = attach(argv[2], !strcmp(argv[1], "raw"));

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

/* SPDX-License-Identifier: GPL-2.0 */
/* Instructions and system calls for programs that bring a BPF program along. */

#ifndef BPF_PROGRAM_H
#define BPF_PROGRAM_H

#include <errno.h>
#include <error.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRACE_EVENTS	"/sys/kernel/tracing/events"

#define INSN(c, d, s, o, i)	\
	((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) })
#define MOVE(d, s)		INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define ADD(d, i)		INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define ADD_REG(d, s)		INSN(BPF_ALU64 | BPF_ADD | BPF_X, d, s, 0, 0)
#define AND(d, i)		INSN(BPF_ALU64 | BPF_AND | BPF_K, d, 0, 0, i)
#define SET(d, i)		INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define LOAD(size, d, s, o)	INSN(BPF_LDX | BPF_MEM | (size), d, s, o, 0)
#define STORE_SIZE(size, d, o, s)	INSN(BPF_STX | BPF_MEM | (size), d, s, o, 0)
#define STORE(d, o, s)		STORE_SIZE(BPF_DW, d, o, s)
#define CALL(f)			INSN(BPF_JMP | BPF_CALL, 0, 0, 0, f)
#define EXIT			INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

struct program {
	struct bpf_insn	insn[64];
	unsigned int	insns;
};

static inline void emit(struct program *program, struct bpf_insn insn)
{
	program->insn[program->insns++] = insn;
}

static inline void emit_map(struct program *program, int reg, int map)
{
	emit(program, INSN(BPF_LD | BPF_DW | BPF_IMM, reg, BPF_PSEUDO_MAP_FD, 0, map));
	emit(program, INSN(0, 0, 0, 0, 0));
}

static inline int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(__NR_bpf, cmd, attr, sizeof(*attr));
}

/* The offset of a field in the record of SYSTEM/EVENT, or the event's id */
static inline int format(const char *event, const char *field)
{
	char path[256], line[512], name[64];
	unsigned int offset, found = 0;
	FILE *file;

	snprintf(path, sizeof(path), TRACE_EVENTS "/%s/format", event);
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

static inline int load(const struct program *program, int type)
{
	static char log[1 << 16];
	union bpf_attr attr = {
		.prog_type	= type,
		.insns		= (uintptr_t)program->insn,
		.insn_cnt	= program->insns,
		.license	= (uintptr_t)"GPL",
		.log_buf	= (uintptr_t)log,
		.log_size	= sizeof(log),
		.log_level	= 1,
	};
	int prog = bpf(BPF_PROG_LOAD, &attr);

	if (prog < 0)
		error(1, errno, "the program is refused:\n%s", log);

	return prog;
}

/* These return the descriptor that holds the program at the event. */
static inline int attach_raw(int prog, const char *tracepoint)
{
	union bpf_attr attr = {
		.raw_tracepoint.name	= (uintptr_t)tracepoint,
		.raw_tracepoint.prog_fd	= prog,
	};
	int fd = bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);

	if (fd < 0)
		error(1, errno, "the program does not go with %s", tracepoint);

	return fd;
}

static inline int attach_event(int prog, const char *event)
{
	struct perf_event_attr perf = {
		.type		= PERF_TYPE_TRACEPOINT,
		.size		= sizeof(perf),
		.sample_period	= 1,
		.config		= format(event, NULL),
	};
	int fd = syscall(__NR_perf_event_open, &perf, -1, 0, -1, 0);

	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog) ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		error(1, errno, "the program does not go with %s", event);

	return fd;
}

#endif

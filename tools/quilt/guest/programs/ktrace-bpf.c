// SPDX-License-Identifier: GPL-2.0
/*
 * Attaches a BPF program to ktrace events, runs a command, and prints what the
 * program has seen of each record: "COMM-PID CPU EVENT FIELD=VALUE...".
 *
 * usage: ktrace-bpf EVENT... -- COMMAND [ARGUMENT]...
 *
 * It makes the program from the event's format file, an instruction after the
 * other, without a compiler or a library. For each record the program loads each
 * field from its offset, as a program of bpftrace or libbpf would do, and keeps all
 * in a map, under the number in the record's first field, an unsigned int "seq".
 * It takes no events without such a number. Numbers go up to MAX_RECORDS.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <error.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENTS		"/sys/kernel/tracing/events/ktrace_clients"
#define MAX_RECORDS	8192
#define MAX_FIELDS	16
#define MAX_EVENTS	8
#define MAX_INSNS	512
#define MAX_STRING	256

/* The part of a record that the program keeps */
struct record {
	uint64_t	pid_tgid;
	uint32_t	cpu;
	uint32_t	times;
	char		comm[16];
	/* Of a string: its length, as the helper returns it. */
	uint64_t	value[MAX_FIELDS];
	char		string[MAX_FIELDS][MAX_STRING];
};

struct field {
	char		type[64];
	char		name[64];
	unsigned int	offset;
	unsigned int	size;
	unsigned int	is_signed;
};

struct event {
	const char	*name;
	struct field	fields[MAX_FIELDS];
	unsigned int	nr_fields;
	unsigned int	id;
	int		map;
};

struct program {
	struct bpf_insn	insns[MAX_INSNS];
	unsigned int	nr;
};

static int is_string(const struct field *field)
{
	return !strcmp(field->type, "__data_loc char[]");
}

static void read_format(struct event *event)
{
	char path[256], line[1024], *name;
	FILE *file;

	snprintf(path, sizeof(path), EVENTS "/%s/format", event->name);
	file = fopen(path, "r");
	if (!file)
		error(1, errno, "%s", path);

	while (fgets(line, sizeof(line), file)) {
		struct field *field = &event->fields[event->nr_fields];

		if (sscanf(line, "ID: %u", &event->id) == 1)
			continue;
		if (sscanf(line, "\tfield:%63[^;];\toffset:%u;\tsize:%u;\tsigned:%u;",
			   field->type, &field->offset, &field->size,
			   &field->is_signed) != 4)
			continue;
		name = strrchr(field->type, ' ');
		if (!name || !strncmp(name + 1, "common_", 7))
			continue;
		*name = '\0';
		strcpy(field->name, name + 1);
		if (++event->nr_fields == MAX_FIELDS)
			error(1, 0, "%s has too many fields", event->name);
	}
	fclose(file);

	if (!event->nr_fields || strcmp(event->fields[0].name, "seq"))
		error(1, 0, "%s does not begin with seq", event->name);
}

static void emit(struct program *program, uint8_t code, uint8_t dst, uint8_t src,
		 int16_t off, int32_t imm)
{
	if (program->nr == MAX_INSNS)
		error(1, 0, "the program gets too long");
	program->insns[program->nr++] = (struct bpf_insn){
		.code = code, .dst_reg = dst, .src_reg = src, .off = off, .imm = imm,
	};
}

static void move(struct program *program, uint8_t dst, uint8_t src, int32_t add)
{
	emit(program, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
	if (add)
		emit(program, BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, add);
}

static void set(struct program *program, uint8_t dst, int32_t value)
{
	emit(program, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, value);
}

static void load(struct program *program, unsigned int size, uint8_t dst,
		 uint8_t src, int16_t off)
{
	static const uint8_t sizes[] = {
		[1] = BPF_B, [2] = BPF_H, [4] = BPF_W, [8] = BPF_DW,
	};

	emit(program, BPF_LDX | BPF_MEM | sizes[size], dst, src, off, 0);
}

static void store(struct program *program, uint8_t size, uint8_t dst, int16_t off,
		  uint8_t src)
{
	emit(program, BPF_STX | BPF_MEM | size, dst, src, off, 0);
}

static void call(struct program *program, int32_t helper)
{
	emit(program, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

/* R6 is the record, R7 the kept part. */
static void make_field(struct program *program, const struct field *field,
		       unsigned int i)
{
	int16_t to = offsetof(struct record, value) + i * sizeof(uint64_t);

	if (is_string(field)) {
		load(program, 4, BPF_REG_3, BPF_REG_6, field->offset);
		emit(program, BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_3, 0, 0, 0xffff);
		emit(program, BPF_ALU64 | BPF_ADD | BPF_X, BPF_REG_3, BPF_REG_6, 0, 0);
		move(program, BPF_REG_1, BPF_REG_7,
		     offsetof(struct record, string) + i * MAX_STRING);
		set(program, BPF_REG_2, MAX_STRING);
		call(program, BPF_FUNC_probe_read_kernel_str);
		store(program, BPF_DW, BPF_REG_7, to, BPF_REG_0);
		return;
	}

	if (field->size > 8 || (field->size & (field->size - 1)))
		error(1, 0, "%s has a size of %u", field->name, field->size);
	load(program, field->size, BPF_REG_1, BPF_REG_6, field->offset);
	store(program, BPF_DW, BPF_REG_7, to, BPF_REG_1);
}

static void make_program(struct program *program, const struct event *event)
{
	unsigned int i, jump;

	move(program, BPF_REG_6, BPF_REG_1, 0);
	load(program, 4, BPF_REG_1, BPF_REG_6, event->fields[0].offset);
	store(program, BPF_W, BPF_REG_10, -4, BPF_REG_1);
	emit(program, BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0,
	     event->map);
	emit(program, 0, 0, 0, 0, 0);
	move(program, BPF_REG_2, BPF_REG_10, -4);
	call(program, BPF_FUNC_map_lookup_elem);
	jump = program->nr;
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 0, 0);

	move(program, BPF_REG_7, BPF_REG_0, 0);
	call(program, BPF_FUNC_get_current_pid_tgid);
	store(program, BPF_DW, BPF_REG_7, offsetof(struct record, pid_tgid), BPF_REG_0);
	call(program, BPF_FUNC_get_smp_processor_id);
	store(program, BPF_W, BPF_REG_7, offsetof(struct record, cpu), BPF_REG_0);
	load(program, 4, BPF_REG_1, BPF_REG_7, offsetof(struct record, times));
	emit(program, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, 1);
	store(program, BPF_W, BPF_REG_7, offsetof(struct record, times), BPF_REG_1);
	move(program, BPF_REG_1, BPF_REG_7, offsetof(struct record, comm));
	set(program, BPF_REG_2, sizeof(((struct record *)0)->comm));
	call(program, BPF_FUNC_get_current_comm);
	for (i = 0; i < event->nr_fields; i++)
		make_field(program, &event->fields[i], i);

	program->insns[jump].off = program->nr - jump - 1;
	set(program, BPF_REG_0, 0);
	emit(program, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(__NR_bpf, cmd, attr, sizeof(*attr));
}

static void attach(struct event *event)
{
	static char log[1 << 16];
	struct program program = {};
	union bpf_attr map = {
		.map_type	= BPF_MAP_TYPE_ARRAY,
		.key_size	= sizeof(uint32_t),
		.value_size	= sizeof(struct record),
		.max_entries	= MAX_RECORDS,
	};
	union bpf_attr load = {
		.prog_type	= BPF_PROG_TYPE_TRACEPOINT,
		.insns		= (uintptr_t)program.insns,
		.license	= (uintptr_t)"GPL",
		.log_buf	= (uintptr_t)log,
		.log_size	= sizeof(log),
		.log_level	= 1,
	};
	struct perf_event_attr perf = {
		.type		= PERF_TYPE_TRACEPOINT,
		.size		= sizeof(perf),
		.config		= event->id,
		.sample_period	= 1,
	};
	int prog, fd;

	event->map = bpf(BPF_MAP_CREATE, &map);
	if (event->map < 0)
		error(1, errno, "no map for %s", event->name);

	make_program(&program, event);
	load.insn_cnt = program.nr;
	prog = bpf(BPF_PROG_LOAD, &load);
	if (prog < 0)
		error(1, errno, "the program for %s is refused:\n%s", event->name, log);

	fd = syscall(__NR_perf_event_open, &perf, -1, 0, -1, 0);
	if (fd < 0)
		error(1, errno, "no perf event for %s", event->name);
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog))
		error(1, errno, "the program does not go with %s", event->name);
	if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		error(1, errno, "%s can't be enabled", event->name);
}

static void print_symbol(unsigned long long address)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	unsigned long long start;
	char line[512], name[256];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx %*c %255s", &start, name) == 2 &&
		    start == address) {
			fputs(name, stdout);
			break;
		}
	}
	if (file)
		fclose(file);
}

static void print_field(const struct field *field, const struct record *record,
			unsigned int i)
{
	unsigned int shift = 64 - 8 * field->size;
	uint64_t value = record->value[i];

	printf(" %s=", field->name);
	if (is_string(field)) {
		if ((int64_t)value < 0)
			printf("(error %lld)", (long long)value);
		else
			fputs(record->string[i], stdout);
	} else if (!strcmp(field->type, "void *")) {
		if (!strncmp(field->name, "func", 4))
			print_symbol(value);
		else
			printf("%llx", (unsigned long long)value);
	} else if (field->is_signed) {
		printf("%lld", (long long)(value << shift) >> shift);
	} else {
		printf("%llu", (unsigned long long)value);
	}
}

static void print_records(const struct event *event)
{
	struct record record;
	uint32_t seq;
	union bpf_attr lookup = {
		.map_fd	= event->map,
		.key	= (uintptr_t)&seq,
		.value	= (uintptr_t)&record,
	};
	unsigned int i;

	for (seq = 0; seq < MAX_RECORDS; seq++) {
		if (bpf(BPF_MAP_LOOKUP_ELEM, &lookup))
			error(1, errno, "record %u of %s", seq, event->name);
		/* One that came twice is printed twice. */
		while (record.times--) {
			printf("%s-%u %u %s", record.comm, (uint32_t)record.pid_tgid,
			       record.cpu, event->name);
			for (i = 0; i < event->nr_fields; i++)
				print_field(&event->fields[i], &record, i);
			putchar('\n');
			if (record.times > 8)
				break;
		}
	}
}

int main(int argc, char **argv)
{
	static struct event events[MAX_EVENTS];
	int nr = 0, status, i;
	pid_t pid;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (nr == MAX_EVENTS)
			error(2, 0, "too many events");
		events[nr++].name = argv[i];
	}
	if (!nr || i + 1 >= argc)
		error(2, 0, "usage: ktrace-bpf EVENT... -- COMMAND [ARGUMENT]...");

	for (int e = 0; e < nr; e++) {
		read_format(&events[e]);
		attach(&events[e]);
	}

	pid = fork();
	if (!pid) {
		execvp(argv[i + 1], argv + i + 1);
		error(127, errno, "%s", argv[i + 1]);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		error(1, 0, "%s failed", argv[i + 1]);

	for (int e = 0; e < nr; e++)
		print_records(&events[e]);

	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a command and records its system calls, and those of all that it forks, with
 * BPF programs: one at each of the events sys_enter and sys_exit, and one that adds
 * children. They write into a BPF ring buffer, and a reader appends what is there to a
 * file, in binary form.
 *
 * usage: bpf-syscalls FILE COMMAND [ARG]...
 *
 * The record of an entry has the time, the task, the number and six arguments; that of
 * an exit the time, the task, the number and the result. When the command has ended
 * and all is read, it prints a line with the number of records that were read, of
 * those that were lost, of those of getppid(), and whether the programs were compiled.
 *
 * It does what is cheapest for BPF: nobody is woken for a record, and the reader looks
 * every ten milliseconds. Raw tracepoints would be a bit cheaper, and lose records: a
 * program does not run while a preempted task is in it on the same CPU. At events it
 * can't be preempted.
 */

#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "bpf-program.h"

#define RING_BYTES	(16UL << 20)
#define TASKS		65536

#define LOOK_MS		10
#define MAX_ARGS	6

/* An exit has its result in the place of the first argument, and no others. */
struct record {
	uint64_t	time;
	uint32_t	task;
	uint32_t	nr;
	uint64_t	args[MAX_ARGS];
};

static int ring, tasks, lost;
static uint8_t *data;
static unsigned long *consumer, *producer;
static uint64_t records, of_getppid;
static int output;

static int make_map(int type, int key, int value, unsigned int entries)
{
	union bpf_attr attr = {
		.map_type	= type,
		.key_size	= key,
		.value_size	= value,
		.max_entries	= entries,
	};
	int map = bpf(BPF_MAP_CREATE, &attr);

	if (map < 0)
		error(1, errno, "no map");

	return map;
}

/* Looks the number at the stack's offset up; a jump that land() completes if absent. */
static unsigned int look_up(struct program *p, int map, int offset)
{
	emit_map(p, BPF_REG_1, map);
	emit(p, MOVE(BPF_REG_2, BPF_REG_10));
	emit(p, ADD(BPF_REG_2, offset));
	emit(p, CALL(BPF_FUNC_map_lookup_elem));
	emit(p, INSN(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 0, 0));

	return p->insns - 1;
}

static void land(struct program *p, unsigned int jump)
{
	p->insn[jump].off = p->insns - jump - 1;
}

static void finish(struct program *p)
{
	emit(p, SET(BPF_REG_0, 0));
	emit(p, EXIT);
}

/* The event has the number, and the numbers that follow it. */
static struct program make_recorder(const char *event, const char *first, int numbers)
{
	int nr = format(event, "id"), from = format(event, first);
	struct program program = {}, *p = &program;
	unsigned int other, full, none;

	emit(p, MOVE(BPF_REG_6, BPF_REG_1));
	emit(p, CALL(BPF_FUNC_get_current_pid_tgid));
	emit(p, MOVE(BPF_REG_7, BPF_REG_0));
	emit(p, STORE_SIZE(BPF_W, BPF_REG_10, -4, BPF_REG_0));
	other = look_up(p, tasks, -4);

	emit_map(p, BPF_REG_1, ring);
	emit(p, SET(BPF_REG_2, offsetof(struct record, args[numbers])));
	emit(p, SET(BPF_REG_3, 0));
	emit(p, CALL(BPF_FUNC_ringbuf_reserve));
	emit(p, INSN(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 0, 0));
	full = p->insns - 1;

	emit(p, MOVE(BPF_REG_8, BPF_REG_0));
	emit(p, CALL(BPF_FUNC_ktime_get_ns));
	emit(p, STORE(BPF_REG_8, offsetof(struct record, time), BPF_REG_0));
	emit(p, STORE_SIZE(BPF_W, BPF_REG_8, offsetof(struct record, task), BPF_REG_7));
	emit(p, LOAD(BPF_DW, BPF_REG_1, BPF_REG_6, nr));
	emit(p, STORE_SIZE(BPF_W, BPF_REG_8, offsetof(struct record, nr), BPF_REG_1));
	for (int i = 0; i < numbers; i++) {
		emit(p, LOAD(BPF_DW, BPF_REG_1, BPF_REG_6, from + 8 * i));
		emit(p, STORE(BPF_REG_8, offsetof(struct record, args[i]), BPF_REG_1));
	}
	emit(p, MOVE(BPF_REG_1, BPF_REG_8));
	emit(p, SET(BPF_REG_2, BPF_RB_NO_WAKEUP));
	emit(p, CALL(BPF_FUNC_ringbuf_submit));
	land(p, other);
	finish(p);

	land(p, full);
	emit(p, INSN(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -4, 0));
	none = look_up(p, lost, -4);
	emit(p, SET(BPF_REG_1, 1));
	emit(p, INSN(BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_0, BPF_REG_1, 0, BPF_ADD));
	land(p, none);
	finish(p);

	return program;
}

static struct program make_forks(const char *event)
{
	struct program program = {}, *p = &program;
	unsigned int other;

	emit(p, MOVE(BPF_REG_6, BPF_REG_1));
	emit(p, LOAD(BPF_W, BPF_REG_1, BPF_REG_6, format(event, "parent_pid")));
	emit(p, STORE_SIZE(BPF_W, BPF_REG_10, -4, BPF_REG_1));
	other = look_up(p, tasks, -4);
	emit(p, LOAD(BPF_W, BPF_REG_1, BPF_REG_6, format(event, "child_pid")));
	emit(p, STORE_SIZE(BPF_W, BPF_REG_10, -4, BPF_REG_1));
	emit_map(p, BPF_REG_1, tasks);
	emit(p, MOVE(BPF_REG_2, BPF_REG_10));
	emit(p, ADD(BPF_REG_2, -4));
	emit(p, MOVE(BPF_REG_3, BPF_REG_2));
	emit(p, SET(BPF_REG_4, BPF_ANY));
	emit(p, CALL(BPF_FUNC_map_update_elem));
	land(p, other);
	finish(p);

	return program;
}

/* Sets whether it is compiled, and returns how often it did not run. */
static uint64_t get_info(int prog, bool *compiled)
{
	struct bpf_prog_info info = {};
	union bpf_attr attr = {
		.info.bpf_fd	= prog,
		.info.info_len	= sizeof(info),
		.info.info	= (uintptr_t)&info,
	};

	if (bpf(BPF_OBJ_GET_INFO_BY_FD, &attr))
		error(1, errno, "nothing is known of the program");
	*compiled = info.jited_prog_len;

	return info.recursion_misses;
}

static void map_ring(void)
{
	long page = getpagesize();

	consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, ring, 0);
	producer = mmap(NULL, page + 2 * RING_BYTES, PROT_READ, MAP_SHARED, ring, page);
	if (consumer == MAP_FAILED || producer == MAP_FAILED)
		error(1, errno, "the ring buffer can't be mapped");
	/* It is there twice, so that each record is in one piece. */
	data = (uint8_t *)producer + page;
}

/* Reads all that is there. */
static void drain(void)
{
	unsigned long start, at = *consumer, end;

	for (;;) {
		start = at;
		end = __atomic_load_n(producer, __ATOMIC_ACQUIRE);
		while (at < end) {
			const uint8_t *head = data + (at & (RING_BYTES - 1));
			uint32_t len = __atomic_load_n((uint32_t *)head, __ATOMIC_ACQUIRE);

			if (len & BPF_RINGBUF_BUSY_BIT)
				break;
			len &= ~BPF_RINGBUF_DISCARD_BIT;
			records++;
			of_getppid += ((const struct record *)(head + BPF_RINGBUF_HDR_SZ))->nr == SYS_getppid;
			at += (len + BPF_RINGBUF_HDR_SZ + 7) & ~7UL;
		}
		if (at == start)
			return;
		if (write(output, data + (start & (RING_BYTES - 1)), at - start) !=
		    (ssize_t)(at - start))
			error(1, errno, "the file can't be written");
		__atomic_store_n(consumer, at, __ATOMIC_RELEASE);
	}
}

int main(int argc, char **argv)
{
	struct program enter, leave, forks;
	int go[2], status = 0, progs[2];
	struct pollfd end = { .events = POLLIN };
	uint32_t key = 0, task;
	uint64_t losses = 0;
	bool compiled;
	pid_t child;

	if (argc < 3)
		error(2, 0, "usage: bpf-syscalls FILE COMMAND [ARG]...");
	output = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (output < 0)
		error(1, errno, "%s", argv[1]);

	ring = make_map(BPF_MAP_TYPE_RINGBUF, 0, 0, RING_BYTES);
	tasks = make_map(BPF_MAP_TYPE_HASH, 4, 4, TASKS);
	lost = make_map(BPF_MAP_TYPE_ARRAY, 4, 8, 1);
	map_ring();

	if (pipe2(go, O_CLOEXEC))
		error(1, errno, "no pipe");
	child = fork();
	if (child < 0)
		error(1, errno, "no process");
	if (!child) {
		close(go[1]);
		if (read(go[0], &status, sizeof(status)) != sizeof(status))
			_exit(1);
		execvp(argv[2], argv + 2);
		error(127, errno, "%s", argv[2]);
	}
	task = child;
	if (bpf(BPF_MAP_UPDATE_ELEM, &(union bpf_attr){ .map_fd = tasks, .key = (uintptr_t)&task,
							.value = (uintptr_t)&task }))
		error(1, errno, "the command can't be followed");

	forks = make_forks("sched/sched_process_fork");
	enter = make_recorder("raw_syscalls/sys_enter", "args[6]", MAX_ARGS);
	leave = make_recorder("raw_syscalls/sys_exit", "ret", 1);
	attach_event(load(&forks, BPF_PROG_TYPE_TRACEPOINT), "sched/sched_process_fork");
	progs[0] = load(&enter, BPF_PROG_TYPE_TRACEPOINT);
	progs[1] = load(&leave, BPF_PROG_TYPE_TRACEPOINT);
	attach_event(progs[0], "raw_syscalls/sys_enter");
	attach_event(progs[1], "raw_syscalls/sys_exit");

	end.fd = syscall(SYS_pidfd_open, child, 0);
	if (end.fd < 0 || write(go[1], &status, sizeof(status)) != sizeof(status))
		error(1, errno, "the command can't start");
	do {
		status = poll(&end, 1, LOOK_MS);
		if (status < 0 && errno != EINTR)
			error(1, errno, "poll");
		drain();
	} while (status <= 0);
	waitpid(child, &status, 0);
	drain();

	if (bpf(BPF_MAP_LOOKUP_ELEM, &(union bpf_attr){ .map_fd = lost, .key = (uintptr_t)&key,
							.value = (uintptr_t)&losses }))
		error(1, errno, "the losses are not known");
	losses += get_info(progs[0], &compiled) + get_info(progs[1], &compiled);
	printf("bpf-syscalls: %llu read, %llu lost, %llu of getppid, %s\n",
	       (unsigned long long)records, (unsigned long long)losses,
	       (unsigned long long)of_getppid, compiled ? "compiled" : "interpreted");

	return !WIFEXITED(status) || WEXITSTATUS(status);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * What a system call and a new process cost under a tracer.
 *
 * usage: process-loops syscalls N	getppid()
 *        process-loops opens N		open() of a file that is not there
 *        process-loops forks N		a process that runs a program that ends
 *        process-loops run COMMAND...
 *
 * Prints nanoseconds for one of them, or for the command. In the guest with
 * --icount a nanosecond is an instruction.
 */

#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);

	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void call(void)
{
	syscall(SYS_getppid);
}

static void call_with_name(void)
{
	if (open("/nonexistent", O_RDONLY) >= 0)
		exit(1);
}

static void spawn(char **argv)
{
	int status;
	pid_t pid;

	if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) ||
	    waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "process-loops: %s does not run\n", argv[0]);
		exit(1);
	}
}

static void fork_and_exec(void)
{
	char *argv[] = { "process-loops", "nothing", NULL };

	spawn(argv);
}

static void loop(void (*what)(void), unsigned long n)
{
	uint64_t start;

	/* What comes once, like page faults, is not to be counted. */
	what();
	what();
	start = now();
	for (unsigned long i = 0; i < n; i++)
		what();
	printf("%llu\n", (unsigned long long)((now() - start) / n));
}

int main(int argc, char **argv)
{
	unsigned long n = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	uint64_t start;

	if (argc == 2 && !strcmp(argv[1], "nothing"))
		return 0;

	if (argc > 2 && !strcmp(argv[1], "run")) {
		start = now();
		spawn(argv + 2);
		printf("%llu\n", (unsigned long long)(now() - start));
	} else if (n && !strcmp(argv[1], "syscalls")) {
		loop(call, n);
	} else if (n && !strcmp(argv[1], "opens")) {
		loop(call_with_name, n);
	} else if (n && !strcmp(argv[1], "forks")) {
		loop(fork_and_exec, n);
	} else {
		fprintf(stderr, "usage: process-loops syscalls|opens|forks N, or run COMMAND...\n");
		return 2;
	}

	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Measures a system call and a new process under a tracer.
 *
 * usage: process-loops syscalls N	getppid()
 *        process-loops opens N		open() of a file that is not there
 *        process-loops forks N		a process that runs a program that ends
 *        process-loops run COMMAND...
 *        process-loops repeat N COMMAND...
 *        process-loops threads N		says "ready" when N threads sleep
 *        process-loops cpu COMMAND...	with all processes that it waits for
 *
 * Prints nanoseconds for one of them, or for the command; "cpu" prints those that
 * the processes ran. In the guest with --icount a nanosecond is an instruction.
 */

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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

/* The time that all children and theirs have run: each ends, and is waited for. */
static uint64_t children_ran(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);

	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ULL +
		(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ULL;
}

static void loop(void (*what)(void), unsigned long n)
{
	uint64_t start;

	/* Page faults and the like come in the first calls. */
	what();
	what();
	start = now();
	for (unsigned long i = 0; i < n; i++)
		what();
	printf("%llu\n", (unsigned long long)((now() - start) / n));
}

static void *sleeper(void *arg)
{
	for (;;)
		pause();

	return arg;
}

/* 100 threads a process, which is one of them. All end with the caller. */
static void threads(unsigned long n)
{
	unsigned long i, left;
	pthread_attr_t attr;
	pthread_t thread;
	int ready[2];
	char byte = 0;
	pid_t pid;

	if (pipe(ready) || pthread_attr_init(&attr) ||
	    pthread_attr_setstacksize(&attr, 1 << 16))
		goto failed;

	for (left = n; left; left -= i) {
		i = left < 100 ? left : 100;
		pid = fork();
		if (pid < 0)
			goto failed;
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			while (--i) {
				if (pthread_create(&thread, &attr, sleeper, NULL))
					goto failed;
			}
			if (write(ready[1], &byte, 1) != 1)
				goto failed;
			sleeper(NULL);
		}
		if (read(ready[0], &byte, 1) != 1)
			goto failed;
	}
	printf("ready\n");
	fflush(stdout);
	sleeper(NULL);

failed:
	perror("process-loops: threads");
	exit(1);
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	bool alone = n && argc == 3;
	uint64_t start;

	if (argc == 2 && !strcmp(argv[1], "nothing"))
		return 0;

	if (argc > 2 && !strcmp(argv[1], "run")) {
		start = now();
		spawn(argv + 2);
		printf("%llu\n", (unsigned long long)(now() - start));
	} else if (argc > 2 && !strcmp(argv[1], "cpu")) {
		spawn(argv + 2);
		printf("%llu\n", (unsigned long long)children_ran());
	} else if (argc > 3 && n && !strcmp(argv[1], "repeat")) {
		start = now();
		for (unsigned long i = 0; i < n; i++)
			spawn(argv + 3);
		printf("%llu\n", (unsigned long long)((now() - start) / n));
	} else if (alone && !strcmp(argv[1], "syscalls")) {
		loop(call, n);
	} else if (alone && !strcmp(argv[1], "opens")) {
		loop(call_with_name, n);
	} else if (alone && !strcmp(argv[1], "forks")) {
		loop(fork_and_exec, n);
	} else if (alone && !strcmp(argv[1], "threads")) {
		threads(n);
	} else {
		fprintf(stderr, "usage: process-loops syscalls|opens|forks|threads N, repeat N COMMAND..., or run|cpu COMMAND...\n");
		return 2;
	}

	return 0;
}

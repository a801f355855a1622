// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a command and prints how long the CPU was busy meanwhile, in nanoseconds:
 * the time that has passed, less the time that it was idle. In the guest with
 * --icount a nanosecond is an instruction. Idle time is counted in steps of 10 ms.
 *
 * usage: busy FILE COMMAND [ARGUMENT]...
 *
 * The number goes to FILE, as the command has the standard output.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <error.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static int64_t busy(void)
{
	FILE *file = fopen("/proc/uptime", "r");
	struct timespec t;
	double idle;

	if (!file || fscanf(file, "%*f %lf", &idle) != 1)
		error(1, errno, "/proc/uptime");
	fclose(file);
	clock_gettime(CLOCK_MONOTONIC, &t);

	return t.tv_sec * 1000000000LL + t.tv_nsec - (int64_t)(idle * 1e9);
}

int main(int argc, char **argv)
{
	int64_t start;
	int status;
	FILE *file;
	pid_t pid;

	if (argc < 3)
		error(2, 0, "usage: busy FILE COMMAND [ARGUMENT]...");

	file = fopen(argv[1], "w");
	if (!file)
		error(1, errno, "%s", argv[1]);
	start = busy();
	errno = posix_spawnp(&pid, argv[2], NULL, NULL, argv + 2, environ);
	if (errno || waitpid(pid, &status, 0) != pid)
		error(1, errno, "%s", argv[2]);
	fprintf(file, "%lld\n", (long long)(busy() - start));
	fclose(file);

	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

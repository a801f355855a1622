// SPDX-License-Identifier: GPL-2.0
/*
 * What a shell can't do with a file of tracefs.
 *
 * Usage:
 *  tracefile wait MILLISECONDS FILE
 *	poll() for POLLIN and POLLPRI, without a read before. Prints "waiting"
 *	before and what was found after, or "timeout". -1 waits for ever.
 *  tracefile splice FILE
 *	splice() to a pipe, and from there to stdout, as much as is there.
 *  tracefile page FILE
 *	splice() once, and wait for it. Prints how many bytes that were.
 *  tracefile map FILE
 *	Print "mapped" when the file is, which it stays until stdin ends.
 */

#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHUNK	65536

static int wait_for(int fd, int timeout)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN | POLLPRI };
	int n;

	puts("waiting");
	n = poll(&pfd, 1, timeout);
	if (n < 0)
		err(2, "poll");

	if (!n) {
		puts("timeout");
		return 1;
	}

	printf("%s%s%s%s\n", pfd.revents & POLLIN ? "in " : "",
	       pfd.revents & POLLPRI ? "pri " : "",
	       pfd.revents & POLLERR ? "err " : "",
	       pfd.revents & POLLHUP ? "hup " : "");

	return 0;
}

static int splice_all(int fd)
{
	ssize_t n, out;
	int pipefd[2];

	if (pipe(pipefd))
		err(2, "pipe");

	while ((n = splice(fd, NULL, pipefd[1], NULL, CHUNK, 0)) > 0) {
		for (; n; n -= out) {
			out = splice(pipefd[0], NULL, STDOUT_FILENO, NULL, n,
				     0);
			if (out <= 0)
				err(2, "splice to stdout");
		}
	}
	if (n < 0 && errno != EAGAIN)
		err(2, "splice");

	return 0;
}

static int splice_page(int fd)
{
	int pipefd[2];
	ssize_t n;

	if (pipe(pipefd) || fcntl(fd, F_SETFL, 0))
		err(2, "pipe");

	n = splice(fd, NULL, pipefd[1], NULL, CHUNK, 0);
	if (n < 0)
		err(2, "splice");

	printf("%zd\n", n);

	return 0;
}

static int map(int fd)
{
	char c;

	if (mmap(NULL, getpagesize(), PROT_READ, MAP_SHARED, fd, 0) ==
	    MAP_FAILED)
		err(2, "mmap");

	puts("mapped");
	while (read(STDIN_FILENO, &c, 1) > 0)
		;

	return 0;
}

int main(int argc, char *argv[])
{
	int fd;

	if (argc < 3)
		errx(2, "usage: tracefile wait MILLISECONDS|splice|page|map FILE");

	setlinebuf(stdout);
	fd = open(argv[argc - 1], O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		err(2, "%s", argv[argc - 1]);

	if (!strcmp(argv[1], "wait") && argc == 4)
		return wait_for(fd, atoi(argv[2]));
	if (!strcmp(argv[1], "splice"))
		return splice_all(fd);
	if (!strcmp(argv[1], "page"))
		return splice_page(fd);
	if (!strcmp(argv[1], "map"))
		return map(fd);

	errx(2, "%s: unknown", argv[1]);
}

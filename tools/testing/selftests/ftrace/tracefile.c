// SPDX-License-Identifier: GPL-2.0
/*
 * Poll, splice or watch a file of tracefs, for shell scripts.
 *
 * Usage:
 *  tracefile wait MILLISECONDS FILE
 *	poll() for POLLIN and POLLPRI without reading first. Print "waiting",
 *	and then the events found, or "timeout". -1 waits for ever.
 *  tracefile pri MILLISECONDS FILE
 *	The same for POLLPRI alone.
 *  tracefile in MILLISECONDS FILE
 *	And for POLLIN.
 *  tracefile epoll MILLISECONDS FILE
 *	The same with epoll. Print "added" when the file is in the set.
 *  tracefile aio MILLISECONDS FILE
 *	And with asynchronous I/O, for POLLIN. Exit with 3 where there is none.
 *  tracefile rest FILE
 *	splice() one byte, where no line fits in. Print "waiting". When stdin
 *	ends, splice() the rest, and write it to stdout.
 *  tracefile page FILE
 *	splice() once, and wait for it. Print how many bytes that were.
 *  tracefile splice FILE
 *	splice() to a pipe, and from there to stdout, as much as is there.
 *  tracefile map FILE
 *	Print "mapped" when the file is, which it stays until stdin ends.
 *  tracefile keep FILE
 *	splice() the content to a pipe, and close the file. Print how many
 *	bytes that were. When stdin ends, read them from the pipe.
 *  tracefile remap FILE
 *	Map the file, and move the mapping. Print "moved", and keep it until
 *	stdin ends.
 *  tracefile watch FILE
 *	Print "watching", and a line for each time that the file was modified.
 *  tracefile records FILE
 *	Read the pages of a trace_pipe_raw that are there. Write the data of
 *	their records to stdout, without the headers of pages and records.
 */

#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/time_types.h>
#include <linux/unistd.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHUNK	65536

static int found(unsigned int events)
{
	printf("%s%s%s%s\n", events & POLLIN ? "in " : "",
	       events & POLLPRI ? "pri " : "", events & POLLERR ? "err " : "",
	       events & POLLHUP ? "hup " : "");

	return 0;
}

static int timed_out(void)
{
	puts("timeout");

	return 1;
}

static int wait_for(int fd, int timeout, short events)
{
	struct pollfd pfd = { .fd = fd, .events = events };
	int n;

	puts("waiting");
	n = poll(&pfd, 1, timeout);
	if (n < 0)
		err(2, "poll");

	return n ? found(pfd.revents) : timed_out();
}

static int epoll_for(int fd, int timeout)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLPRI };
	int set = epoll_create1(0);
	int n;

	if (set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, fd, &event))
		err(2, "epoll_ctl");

	puts("added");
	n = epoll_wait(set, &event, 1, timeout);
	if (n < 0)
		err(2, "epoll_wait");

	return n ? found(event.events) : timed_out();
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

#define NO_AIO	3

#ifdef __NR_io_getevents
static int aio_for(int fd, int timeout)
{
	struct __kernel_old_timespec ts = { .tv_sec = timeout / 1000,
					    .tv_nsec = timeout % 1000 * 1000000L };
	struct iocb cb = { .aio_lio_opcode = IOCB_CMD_POLL, .aio_fildes = fd,
			   .aio_buf = POLLIN };
	struct iocb *cbs[] = { &cb };
	aio_context_t ctx = 0;
	struct io_event event;
	long n;

	if (syscall(__NR_io_setup, 1, &ctx))
		return NO_AIO;
	if (syscall(__NR_io_submit, ctx, 1, cbs) != 1)
		err(2, "io_submit");

	puts("added");
	n = syscall(__NR_io_getevents, ctx, 1, 1, &event,
		    timeout < 0 ? NULL : &ts);
	if (n < 0)
		err(2, "io_getevents");

	return n ? found(event.res) : timed_out();
}
#else
static int aio_for(int fd, int timeout)
{
	return NO_AIO;
}
#endif

static int splice_rest(int fd)
{
	static char buf[CHUNK];
	int first[2], rest[2];
	ssize_t n;

	if (pipe(first) || pipe(rest))
		err(2, "pipe");

	if (splice(fd, NULL, first[1], NULL, 1, 0))
		err(2, "splice of one byte");

	puts("waiting");
	while (read(STDIN_FILENO, buf, 1) > 0)
		;
	n = splice(fd, NULL, rest[1], NULL, CHUNK, 0);
	if (n < 0)
		err(2, "splice");

	n = read(rest[0], buf, n);
	if (n < 0 || fwrite(buf, 1, n, stdout) != (size_t)n)
		err(2, "write");

	return 0;
}

static int keep_pages(int fd)
{
	static char buf[CHUNK];
	int pipefd[2];
	ssize_t n, left;

	if (pipe(pipefd))
		err(2, "pipe");

	left = splice(fd, NULL, pipefd[1], NULL, CHUNK, 0);
	if (left < 0)
		err(2, "splice");

	close(fd);
	printf("%zd\n", left);
	while (read(STDIN_FILENO, buf, 1) > 0)
		;
	for (; left > 0; left -= n) {
		n = read(pipefd[0], buf, sizeof(buf));
		if (n <= 0)
			err(2, "read");
	}

	return 0;
}

/* As in events/header_page and events/header_event */
struct page {
	uint64_t	ts;
	unsigned long	commit;
	unsigned char	data[];
};

struct record {
	uint32_t	type_len:5, time_delta:27;
	uint32_t	array[];
};

#define COMMIT_MASK	0xfffffffUL
#define TYPE_PADDING	29
#define TYPE_EXTEND	30

static void write_records(struct page *page, size_t size)
{
	size_t end = page->commit & COMMIT_MASK, pos = 0, len, header;

	if (end > size - sizeof(*page))
		errx(2, "%zu bytes in a page of %zu", end, size);

	while (pos < end) {
		struct record *record = (struct record *)(page->data + pos);

		header = sizeof(*record);
		if (!record->type_len || record->type_len == TYPE_PADDING) {
			/* The length is in array[0], which it includes. */
			if (record->type_len && !record->time_delta)
				return;
			len = header + record->array[0];
			header += sizeof(record->array[0]);
		} else if (record->type_len >= TYPE_EXTEND) {
			len = header + sizeof(record->array[0]);
		} else {
			len = header + 4 * record->type_len;
		}
		if (record->type_len < TYPE_PADDING &&
		    fwrite((char *)record + header, len - header, 1, stdout) != 1)
			err(2, "write");
		pos += len;
	}
}

static int read_records(int fd)
{
	static uint64_t buf[CHUNK / sizeof(uint64_t)];
	ssize_t n;

	/* One page each time, until nothing is left */
	while ((n = read(fd, buf, sizeof(buf))) > (ssize_t)sizeof(struct page))
		write_records((struct page *)buf, n);

	return fflush(stdout) ? 2 : 0;
}

static int remap(int fd)
{
	size_t size = getpagesize();
	void *from, *to;
	char c;

	from = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	to = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (from == MAP_FAILED || to == MAP_FAILED)
		err(2, "mmap");

	if (mremap(from, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to)
		err(2, "mremap");

	puts("moved");
	while (read(STDIN_FILENO, &c, 1) > 0)
		;

	return 0;
}

static int watch(const char *name)
{
	struct inotify_event event;
	int fd = inotify_init();

	if (fd < 0 || inotify_add_watch(fd, name, IN_MODIFY) < 0)
		err(2, "inotify");

	puts("watching");
	while (read(fd, &event, sizeof(event)) > 0)
		puts("modified");

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
	const char *what = argc > 1 ? argv[1] : "";
	int fd;

	setlinebuf(stdout);
	if (!strcmp(what, "watch") && argc == 3)
		return watch(argv[2]);

	if (argc < 3)
		errx(2, "usage: tracefile COMMAND [MILLISECONDS] FILE");

	fd = open(argv[argc - 1], O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		err(2, "%s", argv[argc - 1]);

	if (!strcmp(what, "wait") && argc == 4)
		return wait_for(fd, atoi(argv[2]), POLLIN | POLLPRI);
	if (!strcmp(what, "pri") && argc == 4)
		return wait_for(fd, atoi(argv[2]), POLLPRI);
	if (!strcmp(what, "in") && argc == 4)
		return wait_for(fd, atoi(argv[2]), POLLIN);
	if (!strcmp(what, "epoll") && argc == 4)
		return epoll_for(fd, atoi(argv[2]));
	if (!strcmp(what, "splice"))
		return splice_all(fd);
	if (!strcmp(what, "map"))
		return map(fd);
	if (!strcmp(what, "page"))
		return splice_page(fd);
	if (!strcmp(what, "aio") && argc == 4)
		return aio_for(fd, atoi(argv[2]));
	if (!strcmp(what, "rest"))
		return splice_rest(fd);
	if (!strcmp(what, "keep"))
		return keep_pages(fd);
	if (!strcmp(what, "remap"))
		return remap(fd);
	if (!strcmp(what, "records"))
		return read_records(fd);

	errx(2, "%s: unknown", what);
}

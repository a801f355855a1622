// SPDX-License-Identifier: GPL-2.0
/*
 * Names that system calls read from pages that user space delivers late, one
 * at a time, or never. For the scenario user-fault.
 *
 * usage: user-fault hold open|marker   one thread on CPU 1 opens a name, or
 *                                      writes it to trace_marker, in a page
 *                                      that comes with SIGUSR1; says "waits"
 *        user-fault alternate NAME     opens a name across two pages of which
 *                                      only one is there at a time
 *        user-fault storm THREADS N    N opens by each thread, of a page that is
 *                                      new each time: /storm-THREAD-I
 *        user-fault cost mapped|dropped|null N
 *                                      nanoseconds for each of N accesses
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE		4096
#define MAX_THREADS	64
#define MARKER		"/sys/kernel/tracing/trace_marker"

static char *pages, *from;
static int uffd;
static volatile unsigned long faults;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/* Memory whose pages user space delivers. */
static void make_pages(int nr)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api))
		die("userfaultfd");
	pages = mmap(NULL, nr * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	from = aligned_alloc(PAGE, nr * PAGE);
	if (pages == MAP_FAILED || !from)
		die("memory");
	memset(from, 0, nr * PAGE);
	reg.range.start = (unsigned long)pages;
	reg.range.len = nr * PAGE;
	if (ioctl(uffd, UFFDIO_REGISTER, &reg))
		die("UFFDIO_REGISTER");
}

static int wait_for_fault(void)
{
	struct uffd_msg m;

	while (read(uffd, &m, sizeof(m)) != sizeof(m) ||
	       m.event != UFFD_EVENT_PAGEFAULT)
		;
	return (m.arg.pagefault.address - (unsigned long)pages) / PAGE;
}

static void deliver(int i)
{
	struct uffdio_copy c = {
		.dst = (unsigned long)pages + i * PAGE,
		.src = (unsigned long)from + i * PAGE,
		.len = PAGE,
	};

	ioctl(uffd, UFFDIO_COPY, &c);
}

static void *holder(void *marker)
{
	int fd = open(MARKER, O_WRONLY);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(1, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
	/* It may go elsewhere when CPU 1 does. */
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
	if (marker)
		return (void *)(long)write(fd, pages, 16);
	syscall(SYS_openat, AT_FDCWD, pages, O_RDONLY);
	return NULL;
}

static int hold(int marker)
{
	pthread_t thread;
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	make_pages(1);
	strcpy(from, "/comes-very-late");
	pthread_create(&thread, NULL, holder, marker ? "" : NULL);
	wait_for_fault();
	puts("waits");
	fflush(stdout);
	sigwait(&set, &sig);
	deliver(0);
	pthread_join(thread, NULL);
	return 0;
}

static void *one_at_a_time(void *unused)
{
	for (;;) {
		int i = wait_for_fault();

		madvise(pages + PAGE * !i, PAGE, MADV_DONTNEED);
		faults++;
		deliver(i);
	}
	return unused;
}

static int alternate(const char *name)
{
	/* No word of it is in both pages: the kernel reads whole words. */
	size_t half = strlen(name) / 2 & ~7UL;
	pthread_t thread;

	make_pages(2);
	memcpy(from + PAGE - half, name, half);
	strcpy(from + PAGE, name + half);
	pthread_create(&thread, NULL, one_at_a_time, NULL);
	for (int i = 0; i < 3; i++) {
		unsigned long before = faults;
		int ret = syscall(SYS_openat, AT_FDCWD, pages + PAGE - half,
				  O_RDONLY);

		printf("openat: %d, %lu faults\n", ret, faults - before);
	}
	return 0;
}

static int opens;

static void *deliverer(void *unused)
{
	for (;;)
		deliver(wait_for_fault());
	return unused;
}

static void *opener(void *arg)
{
	long t = (long)arg;

	for (int i = 0; i < opens; i++) {
		snprintf(from + t * PAGE, PAGE, "/storm-%ld-%d", t, i);
		madvise(pages + t * PAGE, PAGE, MADV_DONTNEED);
		syscall(SYS_openat, AT_FDCWD, pages + t * PAGE, O_RDONLY);
	}
	return NULL;
}

static int storm(int nr)
{
	pthread_t thread[MAX_THREADS], server;

	make_pages(nr);
	pthread_create(&server, NULL, deliverer, NULL);
	for (long t = 0; t < nr; t++)
		pthread_create(&thread[t], NULL, opener, (void *)t);
	for (long t = 0; t < nr; t++)
		pthread_join(thread[t], NULL);
	return 0;
}

static int cost(const char *how, int nr)
{
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct timespec a, b;
	double min = 1e18;

	strcpy(page, "/there/is/no/file/of/this/name");
	for (int round = 0; round < 5; round++) {
		double ns;

		clock_gettime(CLOCK_MONOTONIC, &a);
		for (int i = 0; i < nr; i++) {
			if (*how == 'd')
				madvise(page, PAGE, MADV_DONTNEED);
			syscall(SYS_access, *how == 'n' ? NULL : page, F_OK);
		}
		clock_gettime(CLOCK_MONOTONIC, &b);
		ns = (b.tv_sec - a.tv_sec) * 1e9 + b.tv_nsec - a.tv_nsec;
		if (ns < min)
			min = ns;
	}
	printf("%-8s %8.0f ns\n", how, min / nr);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "hold"))
		return hold(!strcmp(argv[2], "marker"));
	if (argc == 3 && !strcmp(argv[1], "alternate"))
		return alternate(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "storm")) {
		opens = atoi(argv[3]);
		return storm(atoi(argv[2]) > MAX_THREADS ? MAX_THREADS :
			     atoi(argv[2]));
	}
	if (argc == 4 && !strcmp(argv[1], "cost"))
		return cost(argv[2], atoi(argv[3]));
	fprintf(stderr, "user-fault: see its first lines\n");
	return 2;
}

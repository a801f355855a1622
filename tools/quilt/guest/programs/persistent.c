// SPDX-License-Identifier: GPL-2.0
/*
 * poll() of files that give records. For the scenario persistent.
 *
 * usage: persistent FILE...       poll each of them without a wait, and say what
 *                                 was found
 *        persistent -w FILE       say "waiting", and wait for a record
 */

#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void poll_file(const char *name, int timeout)
{
	int fd = open(name, O_RDONLY | O_NONBLOCK);
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	int n;

	if (fd < 0)
		err(2, "%s", name);

	n = poll(&pfd, 1, timeout);
	if (n < 0)
		err(2, "poll %s", name);

	printf("%s: %s\n", name, n ? "in" : "nothing");
	close(fd);
}

int main(int argc, char *argv[])
{
	setlinebuf(stdout);
	if (argc == 3 && !strcmp(argv[1], "-w")) {
		puts("waiting");
		poll_file(argv[2], -1);
		return 0;
	}

	for (int i = 1; i < argc; i++)
		poll_file(argv[i], 0);

	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Sends messages to a peer, one each hundredth of a second, and receives those of
 * the peer, until it is killed. Prints a line after each hundred that arrived.
 *
 * usage: rds_traffic ADDRESS PEER PORT
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/rds.h>

#ifndef AF_RDS
#define AF_RDS 21
#endif

static void fail(const char *what)
{
	fprintf(stderr, "rds_traffic: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct sockaddr_in address(const char *ip, const char *port)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET,
		.sin_port = htons(atoi(port)),
	};

	if (inet_pton(AF_INET, ip, &sin.sin_addr) != 1)
		fail(ip);

	return sin;
}

int main(int argc, char **argv)
{
	uint32_t message[256] = {}, buf[256], received = 0;
	int transport = RDS_TRANS_TCP;
	struct sockaddr_in self, peer;
	struct pollfd fd;
	ssize_t n;

	if (argc != 4) {
		fprintf(stderr, "usage: rds_traffic ADDRESS PEER PORT\n");
		return 2;
	}

	self = address(argv[1], argv[3]);
	peer = address(argv[2], argv[3]);
	fd.fd = socket(AF_RDS, SOCK_SEQPACKET, 0);
	if (fd.fd < 0)
		fail("socket");
	if (setsockopt(fd.fd, SOL_RDS, SO_RDS_TRANSPORT, &transport,
		       sizeof(transport)))
		fail("SO_RDS_TRANSPORT");
	if (bind(fd.fd, (struct sockaddr *)&self, sizeof(self)))
		fail("bind");

	for (;;) {
		n = sendto(fd.fd, message, sizeof(message), MSG_DONTWAIT,
			   (struct sockaddr *)&peer, sizeof(peer));
		if (n == sizeof(message))
			message[0]++;
		else if (errno != EAGAIN && errno != ENOBUFS)
			fail("sendto");

		fd.events = POLLIN;
		if (poll(&fd, 1, 10) < 0)
			fail("poll");
		while (recv(fd.fd, buf, sizeof(buf), MSG_DONTWAIT) >= 0) {
			if (++received % 100)
				continue;
			printf("%u messages\n", received);
			fflush(stdout);
		}
		if (errno != EAGAIN)
			fail("recv");
	}
}

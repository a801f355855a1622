// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the rate of this CPU's time stamp counter in kHz. An emulated CPU
 * shows its guest the same counter, and the guest can't measure it reliably.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

/* Counter and clock at one moment: the closest of several readings. */
static void sample(uint64_t *counter, uint64_t *ns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 64; i++) {
		struct timespec now;
		uint64_t before, after;

		before = __rdtsc();
		clock_gettime(CLOCK_MONOTONIC_RAW, &now);
		after = __rdtsc();
		if (after - before >= best)
			continue;
		best = after - before;
		*counter = before + best / 2;
		*ns = now.tv_sec * 1000000000ULL + now.tv_nsec;
	}
}

int main(void)
{
	struct timespec pause = { .tv_nsec = 100000000 };
	uint64_t counter[2], ns[2];

	sample(&counter[0], &ns[0]);
	nanosleep(&pause, NULL);
	sample(&counter[1], &ns[1]);
	printf("%llu\n", (unsigned long long)((counter[1] - counter[0]) * 1000000.0 /
					      (ns[1] - ns[0]) + 0.5));
	return 0;
}

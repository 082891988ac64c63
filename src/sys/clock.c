// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/clock.h"

#include <errno.h>
#include <sys/auxv.h>

int64_t clock_wall(void)
{
	return clock_read(CLOCK_REALTIME);
}

int64_t clock_suspended(void)
{
	int64_t monotonic = clock_now();

	return clock_read(CLOCK_BOOTTIME) - monotonic;
}

int clock_sleep_until(int64_t instant)
{
	struct timespec ts = clock_to(instant);

	return -clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

int64_t clock_cost(unsigned rounds)
{
	int64_t best = INT64_MAX;

	/* pairs can read equal where the clock is coarser than its cost: ten readings a round */
	while (rounds--) {
		int64_t start = clock_now(), cost;

		for (int i = 0; i < 9; i++)
			(void)clock_now();
		cost = (clock_now() - start) / 10;
		if (cost < best)
			best = cost;
	}
	return best;
}

bool clock_has_vdso(void)
{
	return getauxval(AT_SYSINFO_EHDR) != 0;
}

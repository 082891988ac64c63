// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/clock.h"

#include <sys/syscall.h>
#include <unistd.h>

int64_t clock_wall(void)
{
	return clock_read(CLOCK_REALTIME);
}

/* Between two readings of one clock, so that being kept from running in between shows; it does not
 * happen many times in a row. */
int64_t clock_suspended(void)
{
	int64_t before, boot, after;
	int tries = 100;

	do {
		before = clock_now();
		boot = clock_read(CLOCK_BOOTTIME);
		after = clock_now();
	} while (after - before > 100000 && tries--);
	return boot - after;
}

int clock_sleep_until(int64_t instant)
{
	struct timespec ts = clock_to(instant);

	return -clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

/* The best of ROUNDS of ten calls each: a single one can be below the clock's step. */
static int64_t best_of(unsigned rounds, void (*call)(void))
{
	int64_t best = INT64_MAX;

	while (rounds--) {
		int64_t start = clock_now(), cost;

		for (int i = 0; i < 10; i++)
			call();
		cost = (clock_now() - start) / 10;
		if (cost < best)
			best = cost;
	}
	return best;
}

static void read_clock(void)
{
	(void)clock_now();
}

static void read_by_syscall(void)
{
	long ts[4]; /* room for either form of struct timespec */

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, ts);
}

int64_t clock_cost(unsigned rounds)
{
	return best_of(rounds, read_clock);
}

int64_t clock_syscall_cost(unsigned rounds)
{
	return best_of(rounds, read_by_syscall);
}

int64_t clock_sleep_cost(unsigned rounds)
{
	int64_t best = INT64_MAX;

	while (rounds--) {
		int64_t start = clock_now(), cost;

		clock_sleep_until(start);
		cost = clock_now() - start;
		if (cost < best)
			best = cost;
	}
	return best;
}

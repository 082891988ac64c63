/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clocks. Instants and durations are int64_t nanoseconds. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

static inline int64_t clock_from(const struct timespec *ts)
{
	return (int64_t)ts->tv_sec * 1000000000 + ts->tv_nsec;
}

static inline struct timespec clock_to(int64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000) };
}

static inline int64_t clock_read(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return clock_from(&ts);
}

/* CLOCK_MONOTONIC now. */
static inline int64_t clock_now(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

/* CLOCK_REALTIME now: for showing an instant to people, never for measuring. */
int64_t clock_wall(void);
/* Time spent suspended since boot: CLOCK_BOOTTIME minus CLOCK_MONOTONIC. */
int64_t clock_suspended(void);
/* Sleeps until CLOCK_MONOTONIC INSTANT; returns early (-EINTR) on a signal. */
int clock_sleep_until(int64_t instant);
/* The smallest difference of two readings over ROUNDS: what one reading costs, at its best. */
int64_t clock_cost(unsigned rounds);
/* Whether the clock is read without a system call: the kernel's shared page holds it and the clock
 * source allows it. Judged by counting: no system call is seen in 1,000 readings' cost is not proof,
 * so this looks for the page (getauxval) only; see environment "clocksource" for the rest. */
bool clock_has_vdso(void);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clocks. Instants and durations are int64_t nanoseconds. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

static inline int64_t clock_from(const struct timespec *ts)
{
	return (int64_t)ts->tv_sec * 1000000000 + ts->tv_nsec;
}

static inline struct timespec clock_to(int64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000),
				  .tv_nsec = (long)(ns % 1000000000) };
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

/* Sleeps until the instant UNTIL of CLOCK by a bare system call: glibc's cancellation handling is
 * most of what a sleep costs outside the kernel. 0 or a negative errno. */
static inline int64_t clock_sleep(clockid_t clock, const struct timespec *until)
{
#if defined(__x86_64__) && defined(__LP64__)
	register const void *remaining __asm__("r10") = NULL;
	int64_t result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"((int64_t)SYS_clock_nanosleep), "D"((int64_t)clock),
			   "S"((int64_t)TIMER_ABSTIME), "d"(until), "r"(remaining)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register int64_t result __asm__("x0") = clock;
	register int64_t flags __asm__("x1") = TIMER_ABSTIME;
	register const void *instant __asm__("x2") = until, *remaining __asm__("x3") = NULL;
	register int64_t number __asm__("x8") = SYS_clock_nanosleep;

	__asm__ volatile("svc 0"
			 : "+r"(result)
			 : "r"(flags), "r"(instant), "r"(remaining), "r"(number)
			 : "memory");
	return result;
#else /* glibc knows which form of the call this kernel has */
	return -clock_nanosleep(clock, TIMER_ABSTIME, until, NULL);
#endif
}

/* CLOCK_REALTIME now: for showing an instant to people, never for measuring. */
int64_t clock_wall(void);
/* Time spent suspended since boot: CLOCK_BOOTTIME minus CLOCK_MONOTONIC. */
int64_t clock_suspended(void);
/* Sleeps until CLOCK_MONOTONIC INSTANT; returns early (-EINTR) on a signal. */
int clock_sleep_until(int64_t instant);
/* What reading the clock costs, at its best over ROUNDS: as clock_now does it, and by a plain
 * system call. Where the first is not clearly below the second the clock source has no vDSO (hpet,
 * acpi_pm), and every reading is a system call. */
int64_t clock_cost(unsigned rounds);
int64_t clock_syscall_cost(unsigned rounds);
/* What a sleep costs, at its best over ROUNDS, whose time has come when it begins: the way through
 * the kernel without any waiting. */
int64_t clock_sleep_cost(unsigned rounds);

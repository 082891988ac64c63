/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What wakes a sampler. A source is one file with one descriptor, named in sources.list.
 *
 * A timed source sleeps until an instant by itself. A hand-off needs a second thread, the waker: it
 * sleeps on the clock, notes the instant in the link and calls .wake; the sampler's latency counts
 * from that instant. While a hand-off has not been taken the waker adds none, it counts it as
 * missed.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct fail;

/* The state of one sampler's source. */
struct link {
	clockid_t clock;
	int64_t interval_ns;
	/* the last instant as the kernel takes it, and the start of its second: saves a division */
	struct timespec until;
	int64_t second_ns;
	int fds[2];    /* -1: not open */
	timer_t timer; /* signal source */
	bool timer_made;
	_Atomic uint32_t word; /* futex source */
	/* hand-offs: the instant of the one under way, 0 when taken; those that were left out */
	_Atomic int64_t sent;
	_Atomic uint32_t skipped;
};

struct wakeup_source {
	const char *name;
	bool handoff;
	/* In the sampler's thread, before the start; NULL: nothing to prepare. -errno with the
	 * sentence. */
	int (*open)(struct link *link, struct fail *fail);
	/* Sleeps until the instant (or the hand-off) and returns the instant that latency counts
	 * from; -errno when it failed, -EINTR when a signal came. Makes no other system call than
	 * the sleep. */
	int64_t (*wait)(struct link *link, int64_t until);
	/* Hand-offs, in the waker's thread. */
	void (*wake)(struct link *link);
	void (*close)(struct link *link);
};

/* Not in the list: sleeps for the interval instead of until an instant (cyclictest -r). */
extern const struct wakeup_source wakeup_source_relative;

/* The signal that interrupts a sleeping sampler so that it sees it should end. */
#define LINK_STOP_SIGNAL (SIGRTMIN + 1)

/* INSTANT as the kernel takes it; good until the next call. */
static inline const struct timespec *link_until(struct link *link, int64_t instant)
{
	int64_t nanoseconds = instant - link->second_ns;

	if (__builtin_expect((uint64_t)nanoseconds >= 1000000000, 0)) {
		link->until.tv_sec = (time_t)(instant / 1000000000);
		link->second_ns = link->until.tv_sec * INT64_C(1000000000);
		nanoseconds = instant - link->second_ns;
	}
	link->until.tv_nsec = (long)nanoseconds;
	return &link->until;
}

static inline int64_t link_sent(struct link *link)
{
	return atomic_load_explicit(&link->sent, memory_order_acquire);
}

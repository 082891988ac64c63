/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One sampler: the thread that sleeps, wakes and notes how late it is. All it touches while it runs
 * lies in this struct and on its stack, both in one block that is made and touched beforehand.
 *
 * Who writes what: the sampler writes everything from `state` on; the control thread only lowers
 * `end_ns` and moves `ring_tail`. Fields that both sides see are atomic.
 */
#pragma once

#include "base/fail.h"
#include "probe/source.h"
#include "probe/wakeup.h"
#include "sys/sched.h"

#include <pthread.h>
#include <stdatomic.h>

#define SAMPLER_RING 32 /* finished windows that wait for the control thread */

#define SAMPLER_STOP INT64_MIN

enum sampler_state {
	SAMPLER_STARTING,
	SAMPLER_READY,
	SAMPLER_REFUSED, /* could not start: see error and fail */
	SAMPLER_RUNNING,
	SAMPLER_ENDED,
};

/* The start: samplers report, the control thread says go and when. */
struct starting_line {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	size_t ready;
	bool go, cancelled;
};

struct sampler {
	/* set before the thread is made */
	struct starting_line *line;
	const struct wakeup_source *source;
	struct wakeup_hook hook;
	int index, cpu, waker_cpu; /* -1: not pinned */
	enum sched_kind kind;
	int priority;
	int64_t interval_ns, window_ns;
	uint64_t samples_limit; /* 0: none */
	bool fixed_phase;
	pthread_t thread, waker;
	bool waker_made;
	_Atomic bool waker_ended;
	/* set before go, on the link's clock */
	int64_t started_ns, first_ns;

	/* the sampler's */
	_Atomic int state;      /* enum sampler_state */
	_Atomic int64_t end_ns; /* no sleep goes beyond; SAMPLER_STOP ends it at the next wake-up */
	_Atomic int end;        /* enum cpu_end */
	_Atomic int tid;
	/* for those who keep out of its way: the instant of the wake-up it waits for, and the one
	 * from which on a random phase has moved them; INT64_MAX: none ever will */
	_Atomic int64_t next_ns, phase_until_ns;
	int error;
	int64_t sleep_cost_ns;
	struct fail fail;
	struct link link;
	const volatile uint32_t
		*cpu_word; /* kept by the kernel; our own on_cpu where there is none */
	uint32_t on_cpu;
	int64_t special_ns; /* latencies from here on need more than being counted */
	uint64_t random;
	uint64_t early;

	/* the window under way: the sampler's alone, plain fields because each sample touches them
	 */
	int64_t window_start_ns, window_end_ns;
	uint64_t count, missed, sum_ns;
	double sum_squares;
	int64_t min_ns, max_ns, max_at_ns, moves;

	/* of the windows closed so far, for progress; sequence is odd while they are being changed
	 */
	_Atomic uint32_t sequence;
	_Atomic int64_t last_ns;
	_Atomic uint64_t total_count, total_missed, total_sum_ns;
	_Atomic int64_t total_min_ns, total_max_ns;

	_Atomic uint32_t ring_head, ring_tail;
	struct window ring[SAMPLER_RING];

	struct largest largest;
	_Atomic uint32_t live[HISTOGRAM_BUCKETS]; /* wraps; the control thread adds differences */
};

/* The threads' bodies; ARGUMENT is the struct sampler. */
void *sampler_main(void *argument);
void *sampler_waker_main(void *argument);
/* Makes LINK_STOP_SIGNAL harmless to threads that are just being made; call before making any. */
void sampler_take_stop_signal(void);
/* The instant near WANTED (both on CLOCK_MONOTONIC) at which another thread had best wake up on the
 * sampler's CPU: WANTED itself where no sample is near, else right after one, so that it is done
 * before the next. Never at or before NOW unless WANTED is. It may lie before WANTED by any time:
 * samples are known in advance only up to the next random phase, right before which the result
 * lies then. WANTED where nothing is known: the sampler does not run, sleeps on another clock, or
 * its interval is too short for anything to fit in. */
int64_t sampler_room(const struct sampler *sampler, int64_t wanted, int64_t now);
/* The one of COUNT samplers that measures the CPU the caller is on; one that is not pinned may be
 * there. NULL: none. */
const struct sampler *sampler_here(struct sampler *const *samplers, size_t count);
/* The window under way, as it would be handed over. Only once the thread has ended. */
void sampler_window(const struct sampler *sampler, struct window *window);

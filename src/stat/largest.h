/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The largest samples of a run with their times, in fixed memory: a min-heap, so that a new sample
 * costs one comparison unless it belongs among them. Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define LARGEST_MAX 2048

struct timed_latency {
	int64_t time_ns, latency_ns;
};

struct largest {
	size_t count;
	struct timed_latency heap[LARGEST_MAX]; /* heap[0] is the smallest of them */
};

void largest_insert(struct largest *largest, int64_t time_ns, int64_t latency_ns);

static inline void largest_record(struct largest *largest, int64_t time_ns, int64_t latency_ns)
{
	if (largest->count < LARGEST_MAX || latency_ns > largest->heap[0].latency_ns)
		largest_insert(largest, time_ns, latency_ns);
}

/* Sorts a copy by latency, the largest first (equal ones by time); OUT holds LARGEST_MAX. */
size_t largest_sorted(const struct largest *largest, struct timed_latency *out);

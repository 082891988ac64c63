/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The largest samples of a run with their times, in fixed memory: a heap with the smallest of them
 * on top, which makes room for a larger one. A new sample costs one comparison unless it belongs
 * among them, and then some 150 instructions at most: never so many at once that the next sample
 * would have to wait. Starts from all zeroes. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define LARGEST_MAX 2048

struct timed_latency {
	int64_t time_ns, latency_ns;
};

struct largest {
	size_t count;
	int64_t floor_ns; /* smaller ones are not among the largest any more */
	struct timed_latency items[LARGEST_MAX]; /* the parent of each I is (I - 1) / 2 */
};

/* Takes a sample of at least floor_ns. Of equal ones at the edge the earlier stay. */
void largest_insert(struct largest *largest, struct timed_latency sample);

static inline void largest_record(struct largest *largest, int64_t time_ns, int64_t latency_ns)
{
	if (latency_ns >= largest->floor_ns)
		largest_insert(largest, (struct timed_latency){ time_ns, latency_ns });
}

/* Sorts a copy by latency, the largest first (equal ones by time); OUT holds LARGEST_MAX. Returns
 * how many there are. */
size_t largest_sorted(const struct largest *largest, struct timed_latency *out);

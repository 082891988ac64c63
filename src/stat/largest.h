/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The largest samples of a run with their times, in fixed memory: candidates are appended, and when
 * the room is full the smaller half is thrown out. A new sample costs one comparison unless it
 * belongs among them. Starts from all zeroes. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define LARGEST_MAX  2048
#define LARGEST_ROOM (2 * LARGEST_MAX)

struct timed_latency {
	int64_t time_ns, latency_ns;
};

struct largest {
	size_t count;     /* of items; at most LARGEST_MAX after largest_compact */
	int64_t floor_ns; /* smaller ones are not among the largest any more */
	struct timed_latency items[LARGEST_ROOM]; /* in no order */
};

/* Keeps the LARGEST_MAX largest ones; of equal ones at the edge any. Bounded: about 60,000
 * instructions when the room is full, which happens once per doubling of the run. */
void largest_compact(struct largest *largest);

static inline void largest_record(struct largest *largest, int64_t time_ns, int64_t latency_ns)
{
	if (latency_ns < largest->floor_ns)
		return;
	largest->items[largest->count++] = (struct timed_latency){ time_ns, latency_ns };
	if (largest->count == LARGEST_ROOM)
		largest_compact(largest);
}

/* Sorts a copy by latency, the largest first (equal ones by time); OUT holds LARGEST_MAX. LARGEST
 * must have been compacted. Returns how many there are. */
size_t largest_sorted(const struct largest *largest, struct timed_latency *out);

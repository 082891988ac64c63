/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows: stretches of a run with their own figures, in constant memory for a run of any length.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* -1 in moves, faults, switches and steal_ns: not known. Times are nanoseconds since the start of
 * the session. */
struct window {
	int64_t start_ns, length_ns;
	uint64_t count, missed;
	int64_t min_ns, max_ns, max_at_ns; /* meaningless while count is 0 */
	double sum_ns, sum_squares;        /* of latencies; exact below 2^53 */
	int64_t moves;                     /* times the thread was found on another CPU */
	int64_t faults;                    /* minor and major page faults of the thread */
	int64_t switches;                  /* involuntary context switches of the thread */
	int64_t steal_ns;                  /* time the hypervisor took from the CPU */
};

#define WINDOWS_MAX 512

struct windows {
	struct window *items;
	size_t count, capacity;
	unsigned
		merged; /* how often pairs were merged: a window now spans 2^merged original ones */
	/* the one being put together after merging began */
	struct window pending;
	unsigned pending_parts;
};

/* Adds B, which follows A in time, to A. Maxima stay exact; unknown stays unknown. */
void window_merge(struct window *a, const struct window *b);
double window_mean(const struct window *window);
double window_stddev(const struct window *window);

/* Appends WINDOW; when WINDOWS_MAX is reached, neighbours merge pairwise and later windows are put
 * together to the same length. Starts from all zeroes. -ENOMEM leaves it as it was. */
int windows_add(struct windows *windows, const struct window *window);
/* Puts the pending one at the end, at the end of a run. */
int windows_finish(struct windows *windows);
void windows_free(struct windows *windows);

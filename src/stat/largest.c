// SPDX-License-Identifier: GPL-2.0-or-later
#include "stat/largest.h"

#include <stdlib.h>
#include <string.h>

/* Where SAMPLE belongs on the way from the empty place AT up. */
static void sift_up(struct timed_latency *items, size_t at, struct timed_latency sample)
{
	while (at && items[(at - 1) / 2].latency_ns > sample.latency_ns) {
		items[at] = items[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	items[at] = sample;
}

/* The same from the top, in place of what is there, down in a full heap. */
static void sift_down(struct timed_latency *items, struct timed_latency sample)
{
	size_t at = 0, child;

	while ((child = 2 * at + 1) < LARGEST_MAX) {
		if (child + 1 < LARGEST_MAX &&
		    items[child + 1].latency_ns < items[child].latency_ns)
			child++;
		if (items[child].latency_ns >= sample.latency_ns)
			break;
		items[at] = items[child];
		at = child;
	}
	items[at] = sample;
}

void largest_insert(struct largest *largest, struct timed_latency sample)
{
	if (largest->count < LARGEST_MAX)
		sift_up(largest->items, largest->count++, sample);
	else
		sift_down(largest->items, sample);
	if (largest->count == LARGEST_MAX)
		largest->floor_ns =
			largest->items[0].latency_ns + (largest->items[0].latency_ns < INT64_MAX);
}

static int by_latency_then_time(const void *a, const void *b)
{
	const struct timed_latency *x = a, *y = b;

	if (x->latency_ns != y->latency_ns)
		return x->latency_ns > y->latency_ns ? -1 : 1;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

size_t largest_sorted(const struct largest *largest, struct timed_latency *out)
{
	memcpy(out, largest->items, largest->count * sizeof(out[0]));
	qsort(out, largest->count, sizeof(out[0]), by_latency_then_time);
	return largest->count;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "stat/largest.h"

#include <stdlib.h>
#include <string.h>

static void swap(struct timed_latency *a, struct timed_latency *b)
{
	struct timed_latency held = *a;

	*a = *b;
	*b = held;
}

/* The median of three items spread over FIRST to LAST by a fixed pseudo-random sequence: no input
 * order can make the selection quadratic for long. */
static int64_t choose_pivot(const struct timed_latency *items, size_t first, size_t last,
			    uint32_t *random)
{
	int64_t three[3];

	for (int i = 0; i < 3; i++) {
		*random = *random * 1664525 +
			  1013904223; /* Knuth's LCG; the high bits are good enough */
		three[i] = items[first + (size_t)(*random >> 8) % (last - first + 1)].latency_ns;
	}
	if (three[0] > three[1]) {
		int64_t held = three[0];

		three[0] = three[1];
		three[1] = held;
	}
	if (three[2] < three[0])
		return three[0];
	return three[2] < three[1] ? three[2] : three[1];
}

/* Hoare's FIND (1961): afterwards items[K] is the one that would stand there if all were sorted
 * from the largest down, with none smaller before it. */
static void find(struct timed_latency *items, size_t count, size_t k)
{
	size_t first = 0, last = count - 1;
	uint32_t random = 1;

	while (first < last) {
		int64_t pivot = choose_pivot(items, first, last, &random);
		size_t i = first, j = last;

		/* the pivot itself stops both walks, so neither leaves the range and j can't pass
		 * below first */
		while (i <= j) {
			while (items[i].latency_ns > pivot)
				i++;
			while (items[j].latency_ns < pivot)
				j--;
			if (i > j)
				break;
			swap(&items[i++], &items[j]);
			if (!j--)
				break;
		}
		if (j != SIZE_MAX && k <= j)
			last = j;
		else if (k >= i)
			first = i;
		else
			return;
	}
}

void largest_compact(struct largest *largest)
{
	if (largest->count <= LARGEST_MAX)
		return;
	find(largest->items, largest->count, LARGEST_MAX - 1);
	largest->count = LARGEST_MAX;
	largest->floor_ns = largest->items[LARGEST_MAX - 1].latency_ns;
	if (largest->floor_ns < INT64_MAX)
		largest->floor_ns++;
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

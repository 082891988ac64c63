// SPDX-License-Identifier: GPL-2.0-or-later
#include "stat/window.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define CAPACITY_FIRST 16

static int64_t known_sum(int64_t a, int64_t b)
{
	return a < 0 || b < 0 ? -1 : a + b;
}

static void merge_latencies(struct window *a, const struct window *b)
{
	if (!b->count)
		return;
	if (!a->count || b->min_ns < a->min_ns)
		a->min_ns = b->min_ns;
	if (!a->count || b->max_ns > a->max_ns) {
		a->max_ns = b->max_ns;
		a->max_at_ns = b->max_at_ns;
	}
	a->count += b->count;
	a->sum_ns += b->sum_ns;
	a->sum_squares += b->sum_squares;
}

void window_merge(struct window *a, const struct window *b)
{
	/* to the end of B: a stretch between them that nobody measured belongs to neither alone */
	a->length_ns = b->start_ns + b->length_ns - a->start_ns;
	merge_latencies(a, b);
	a->missed += b->missed;
	a->moves = known_sum(a->moves, b->moves);
	a->faults = known_sum(a->faults, b->faults);
	a->switches = known_sum(a->switches, b->switches);
	a->steal_ns = known_sum(a->steal_ns, b->steal_ns);
}

double window_mean(const struct window *window)
{
	return window->count ? window->sum_ns / (double)window->count : NAN;
}

double window_stddev(const struct window *window)
{
	double mean = window_mean(window);

	if (!window->count)
		return NAN;
	return sqrt(fmax(0, window->sum_squares / (double)window->count - mean * mean));
}

static int grow(struct windows *windows)
{
	size_t capacity = windows->capacity ? 2 * windows->capacity : CAPACITY_FIRST;
	struct window *items;

	if (capacity > WINDOWS_MAX)
		capacity = WINDOWS_MAX;
	items = reallocarray(windows->items, capacity, sizeof(*items));
	if (!items)
		return -ENOMEM;
	windows->items = items;
	windows->capacity = capacity;
	return 0;
}

static void merge_neighbours(struct windows *windows)
{
	for (size_t i = 0; i < WINDOWS_MAX / 2; i++) {
		windows->items[i] = windows->items[2 * i];
		window_merge(&windows->items[i], &windows->items[2 * i + 1]);
	}
	windows->count = WINDOWS_MAX / 2;
	windows->merged++;
}

/* Appends the pending window; there is room. */
static void settle(struct windows *windows)
{
	windows->items[windows->count++] = windows->pending;
	windows->pending_parts = 0;
}

int windows_add(struct windows *windows, const struct window *window)
{
	if (windows->count == windows->capacity && windows->capacity < WINDOWS_MAX) {
		int err = grow(windows);

		if (err)
			return err;
	}
	if (windows->pending_parts++)
		window_merge(&windows->pending, window);
	else
		windows->pending = *window;
	/* one more than fits: now twice as long, so that the pending one becomes the half of one */
	if (windows->pending_parts == 1U << windows->merged) {
		if (windows->count == WINDOWS_MAX)
			merge_neighbours(windows);
		else
			settle(windows);
	}
	return 0;
}

int windows_finish(struct windows *windows)
{
	if (!windows->pending_parts)
		return 0;
	if (windows->count == WINDOWS_MAX)
		merge_neighbours(windows);
	if (windows->count == windows->capacity) {
		int err = grow(windows);

		if (err)
			return err;
	}
	settle(windows);
	return 0;
}

void windows_free(struct windows *windows)
{
	free(windows->items);
	*windows = (struct windows){ 0 };
}

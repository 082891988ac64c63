// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/histogram_text.h"

#include "base/sink.h"
#include "format/layout.h"
#include "stat/histogram.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#define ROWS_MAX  12
#define BAR_WIDTH 44

/* Round bounds, from fine to coarse: those within a stretch of so many times, in tenths; each list
 * ends with 0. */
static const struct ladder {
	int stretch, steps[11];
} ladders[] = {
	{ 10, { 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 0 } },
	{ 10, { 10, 15, 20, 30, 50, 70, 0 } },
	{ 10, { 10, 20, 50, 0 } },
	{ 10, { 10, 30, 0 } },
	{ 10, { 10, 0 } },
	{ 100, { 10, 0 } }, /* seven rows take in all that a histogram holds */
};
#define LADDERS (sizeof(ladders) / sizeof(ladders[0]))

struct rows {
	unsigned count;
	int64_t bounds[ROWS_MAX +
		       1]; /* row I holds what is from bounds[I] to below bounds[I + 1] */
	uint64_t samples[ROWS_MAX];
};

/* The bounds of LADDER that take in LOW to HIGH; false where they are too many. */
static bool lay_bounds(struct rows *rows, const struct ladder *ladder, int64_t low, int64_t high)
{
	rows->count = 0;
	for (int64_t stretch = 1; stretch <= INT64_MAX / 1000; stretch *= ladder->stretch) {
		for (const int *step = ladder->steps; *step; step++) {
			/* 1.2 ns and 1.5 ns fall together with 1 ns */
			int64_t bound = stretch * *step / 10;

			if (bound <= low || !rows->count) {
				rows->count = 1;
				rows->bounds[0] = bound;
				continue;
			}
			if (bound == rows->bounds[rows->count - 1])
				continue;
			if (rows->count > ROWS_MAX)
				return false;
			rows->bounds[rows->count++] = bound;
			if (bound > high) {
				rows->count--;
				return true;
			}
		}
	}
	return false;
}

/* A bucket stands where its lowest value does: it is 0.1 % wide at most. */
static void fill_rows(struct rows *rows, const struct histogram *histogram)
{
	unsigned row = 0;

	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (!histogram->counts[i])
			continue;
		while (row + 1 < rows->count && histogram_low(i) >= rows->bounds[row + 1])
			row++;
		rows->samples[row] += histogram->counts[i];
	}
}

static unsigned bar_length(uint64_t count, uint64_t most)
{
	double share = log((double)count + 1) / log((double)most + 1);

	if (!count)
		return 0;
	return share * BAR_WIDTH < 1 ? 1 : (unsigned)lround(share * BAR_WIDTH);
}

static void write_row(struct sink *sink, const struct rows *rows, unsigned row, uint64_t most)
{
	unsigned length = bar_length(rows->samples[row], most);
	char buf[32];

	layout_right(sink, 7, layout_number(buf, sizeof(buf), 5, (double)rows->bounds[row] / 1e3));
	sink_text(sink, " – ");
	layout_left(sink, 7,
		    layout_number(buf, sizeof(buf), 5, (double)rows->bounds[row + 1] / 1e3));
	for (unsigned i = 0; i < length; i++)
		sink_text(sink, "▇");
	sink_printf(sink, "%s%s\n", length ? " " : "",
		    layout_count(buf, sizeof(buf), 9, rows->samples[row]));
}

void histogram_text(const struct histogram *histogram, struct sink *sink)
{
	struct rows rows = { 0 };
	uint64_t most = 0;
	int64_t low, high;

	if (!histogram || !histogram->count)
		return;
	low = histogram->min > 1 ? histogram->min : 1;
	high = histogram->max > 1 ? histogram->max : 1;
	high = high < HISTOGRAM_HIGHEST ? high : HISTOGRAM_HIGHEST;
	for (size_t i = 0; i < LADDERS && !lay_bounds(&rows, &ladders[i], low, high); i++)
		;
	if (histogram->min < rows.bounds[0])
		rows.bounds[0] = histogram->min > 0 ? histogram->min : 0;
	fill_rows(&rows, histogram);
	for (unsigned i = 0; i < rows.count; i++)
		most = rows.samples[i] > most ? rows.samples[i] : most;
	layout_right(sink, 15, "latency in µs");
	sink_text(sink, "   samples (bars: their logarithm)\n");
	for (unsigned i = 0; i < rows.count; i++)
		write_row(sink, &rows, i, most);
}

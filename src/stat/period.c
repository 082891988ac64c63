// SPDX-License-Identifier: GPL-2.0-or-later
#include "stat/period.h"

#include "stat/period_search.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SPIKES_MIN     5
#define SPIKES_GRID    32 /* the grid test is for few spikes: it forgives none that is off */
#define SPIKES_H       12 /* below, the H-test's chances are not those of its large-sample law */
#define CYCLES_A_SPIKE 50 /* fewer than one spike in that many periods is no disturber to name */
#define SERIES_MIN     ((size_t)1 << 8)
#define SETS_MAX       8

static int by_time(const void *a, const void *b)
{
	const struct spike *x = a, *y = b;

	return (x->woken > y->woken) - (x->woken < y->woken);
}

void search_take_spikes(struct search *search, size_t count)
{
	struct spike *spikes = search->spikes;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		const struct timed_latency *sample = &search->sorted[i];

		spikes[i].expected = (double)sample->time_ns * 1e-9;
		spikes[i].woken = ((double)sample->time_ns + (double)sample->latency_ns) * 1e-9;
	}
	qsort(spikes, count, sizeof(spikes[0]), by_time);
	for (size_t i = 0, last = 0; i < count; i++) {
		bool first =
			i == 0 || spikes[i].woken - spikes[last].woken > 2.5 * search->interval;

		last = i;
		if (first)
			spikes[kept++] = spikes[i];
	}
	search->spike_count = kept;
}

/* How many of the largest samples stand above the widest gap in size: a guess at which are spikes.
 */
static size_t above_widest_gap(const struct search *search)
{
	size_t best = SPIKES_MIN;
	double widest = 0;

	for (size_t i = SPIKES_MIN; i < search->sorted_count; i++) {
		double gap = (double)search->sorted[i - 1].latency_ns /
			     fmax(1, (double)search->sorted[i].latency_ns);

		if (gap > widest) {
			widest = gap;
			best = i;
		}
	}
	return best;
}

static size_t choose_sets(const struct search *search, size_t sets[SETS_MAX])
{
	static const size_t sizes[] = { 5, 8, 16, 64, 256, LARGEST_MAX };
	size_t count = 0, own = above_widest_gap(search);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (sizes[i] <= search->sorted_count)
			sets[count++] = sizes[i];
	}
	if (count && sets[count - 1] != search->sorted_count)
		sets[count++] = search->sorted_count;
	for (size_t i = 0; i < count; i++) {
		if (sets[i] == own)
			return count;
	}
	if (count < SETS_MAX)
		sets[count++] = own;
	return count;
}

/* Bins are whole intervals wide: else the sampling's own grid would beat with them and show as a
 * line. The run fills at most half of the series. */
static void choose_bins(struct search *search)
{
	double intervals = ceil(search->length / search->interval);
	double wide = ceil(intervals / ((double)SERIES_MAX / 2));

	search->bin = wide * search->interval;
	search->bins = (size_t)ceil(intervals / wide);
	search->series = SERIES_MIN;
	while (search->series < 2 * search->bins)
		search->series *= 2;
}

/* The spectrum of the spike train: counts in bins, less their mean, padded with as many zeroes (so
 * that a line between two frequencies is not lost), as power over the number of spikes: 1 for
 * spikes at random. Frequency I is I / (series bin). */
static void find_spectrum(struct search *search)
{
	size_t bins = search->series / 2, used = search->bins;
	float mean = (float)search->spike_count / (float)used;
	float *power = search->power;

	memset(power, 0, search->series * sizeof(power[0]));
	for (size_t i = 0; i < search->spike_count; i++) {
		double at = search->spikes[i].woken / search->bin;

		power[at < 0 ? 0 : at >= (double)used ? used - 1 : (size_t)at] += 1;
	}
	for (size_t i = 0; i < used; i++)
		power[i] -= mean;
	fft_power(power, search->series);
	for (size_t i = 0; i < bins; i++)
		power[i] /= (float)search->spike_count;
}

static int by_value(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

#define BLOCK_MIN  32
#define BLOCK_MAX  4096
#define BLOCK_LOOK 128 /* a median of so many values is within 10 % or so */

/* The median of COUNT values, of at most BLOCK_LOOK of them. */
static float median_of(const float *values, size_t count)
{
	size_t step = (count + BLOCK_LOOK - 1) / BLOCK_LOOK, taken = 0;
	float sorted[BLOCK_LOOK];

	for (size_t i = 0; i < count; i += step)
		sorted[taken++] = values[i];
	qsort(sorted, taken, sizeof(sorted[0]), by_value);
	return sorted[taken / 2];
}

/* Measures each frequency against its neighbourhood: divides by the median of a block around it,
 * made a mean (by ln 2, as for exponential values). Blocks grow with frequency. Never by less than
 * 1: where a strong line leaves its surroundings empty, they say nothing. */
static void whiten(float *power, size_t count)
{
	for (size_t at = 1, size; at < count; at += size) {
		float level;

		size = at / 7 < BLOCK_MIN ? BLOCK_MIN : at / 7 > BLOCK_MAX ? BLOCK_MAX : at / 7;
		if (at + size > count)
			size = count - at;
		level = median_of(power + at, size) / (float)M_LN2;
		for (size_t i = 0; level > 1 && i < size; i++)
			power[at + i] /= level;
	}
}

/* The H-test at frequency X (in steps of the spectrum): the best of Z²(m) - 4 (m - 1) over the
 * first LIMIT harmonics. */
static double h_test(const float *power, double x, unsigned limit, unsigned *harmonics)
{
	double sum = 0, best = 0, at = 0.5;

	for (unsigned m = 1; m <= limit; m++) {
		at += x;
		sum += 2 * (double)power[(size_t)at] - (m > 1 ? 4 : 0);
		if (sum > best) {
			best = sum;
			*harmonics = m;
		}
	}
	return best;
}

static void keep_better(struct candidate *best, double log_p, double period, unsigned harmonics)
{
	if (log_p >= best->log_p)
		return;
	best->log_p = log_p;
	best->period = period;
	best->harmonics = harmonics;
}

/* Searches the spectrum. The chance of an H beyond h is exp(-0.398 h) (de Jager & Büsching 2010);
 * at each frequency it is paid for by the number of independent trials there, spread over the
 * logarithm of the frequency. Frequencies above what is reported are searched too: else the second
 * harmonic below a fast disturber would be taken for one. */
static void search_spectrum(const struct search *search, struct candidate *best)
{
	/* frequencies are counted in steps of the spectrum; cycles in the run are fewer */
	double span = (double)search->series * search->bin, cycles = search->length / span;
	double first = PERIODS_MIN / cycles, top = (double)search->series / 2 - 2;
	double last = fmin(top, CYCLES_A_SPIKE * (double)search->spike_count / cycles);
	double decades = log(last / first) + 1, x = first;
	unsigned most =
		search->spike_count / 4 < HARMONICS ? (unsigned)search->spike_count / 4 : HARMONICS;

	while (x <= last) {
		unsigned limit = top / x < most ? (unsigned)(top / x) : most, m = 1;
		double h = h_test(search->power, x, limit, &m);
		double trials = x * cycles * limit * decades * (double)search->sets * 2;

		if (h > 20)
			keep_better(best, -0.398 * h + log(trials), span / x, m);
		x += 1.0 / limit;
	}
}

/* How far the spikes lie off a grid of CYCLES cycles between the first and the last of them, in
 * cycles; 1 where two fall on one place of the grid. */
static double grid_error(const struct search *search, double cycles)
{
	const struct spike *spikes = search->spikes;
	size_t count = search->spike_count;
	double first = spikes[0].woken, span = spikes[count - 1].woken - first, worst = 0,
	       before = 0;

	for (size_t i = 1; i < count; i++) {
		double at = (spikes[i].woken - first) / span * cycles, place = round(at);

		if (place == before)
			return 1;
		before = place;
		worst = fmax(worst, fabs(at - place));
	}
	return worst;
}

/* For few spikes: every grid through the first and the last. Those between are, if there is no
 * period, anywhere: each lies within E of the grid with chance 2 E. */
static void search_grids(const struct search *search, struct candidate *best)
{
	size_t count = search->spike_count;
	double span = search->spikes[count - 1].woken - search->spikes[0].woken;
	double first = fmax((double)count - 1, ceil(PERIODS_MIN * span / search->length * 0.99));
	double last = fmin(CYCLES_A_SPIKE * (double)count,
			   floor(span / (INTERVALS_MIN * search->interval)));
	double decades = log(last / first) + 1;

	for (double cycles = first; cycles <= last; cycles++) {
		double error = grid_error(search, cycles);
		/* samples stand in a grid of their own: no closer than that can be told */
		double least = search->interval / span * cycles / 2;
		double trials = cycles * decades * (double)search->sets * 2;

		if (error < 0.25)
			keep_better(best,
				    (double)(count - 2) * log(2 * fmax(error, least)) + log(trials),
				    span / cycles, 1);
	}
}

static void search_set(struct search *search, size_t set, struct candidate *best)
{
	struct candidate found = { 0 };

	search_take_spikes(search, set);
	if (search->spike_count >= SPIKES_MIN && search->spike_count <= SPIKES_GRID)
		search_grids(search, &found);
	if (search->spike_count >= SPIKES_H) {
		find_spectrum(search);
		whiten(search->power, search->series / 2);
		search_spectrum(search, &found);
	}
	found.set = set;
	if (found.log_p < best->log_p)
		*best = found;
}

static void search_all(struct search *search, struct period *period)
{
	struct candidate best = { 0 };
	size_t sets[SETS_MAX], count = choose_sets(search, sets);
	double found;

	search->sets = count;
	for (size_t i = 0; i < count; i++)
		search_set(search, sets[i], &best);
	if (best.log_p > log(PERIOD_P_LIMIT))
		return;
	found = search_settle(search, &best);
	if (found <= 0)
		return;
	period->period_ns = (int64_t)(found * 1e9 + 0.5);
	period->p = fmax(PERIOD_P_LEAST, exp(best.log_p));
}

int period_find(struct period *period, const struct largest *largest, int64_t interval_ns,
		int64_t window_ns, int64_t length_ns)
{
	struct timed_latency *sorted;
	struct search *search;

	*period = (struct period){ .p = 1 };
	if (largest->count < SPIKES_MIN || interval_ns <= 0 ||
	    length_ns / (PERIODS_MIN * INTERVALS_MIN) < interval_ns)
		return 0;
	sorted = malloc(LARGEST_MAX * sizeof(*sorted));
	search = malloc(sizeof(*search));
	if (!sorted || !search) {
		free(sorted);
		free(search);
		return -ENOMEM;
	}
	search->sorted = sorted;
	search->sorted_count = largest_sorted(largest, sorted);
	search->interval = (double)interval_ns * 1e-9;
	search->window = (double)window_ns * 1e-9;
	search->length = (double)length_ns * 1e-9;
	choose_bins(search);
	search_all(search, period);
	free(sorted);
	free(search);
	return 0;
}

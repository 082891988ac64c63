// SPDX-License-Identifier: GPL-2.0-or-later
#include "stat/period.h"

#include "stat/fft.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SPIKES_MIN     5
#define SPIKES_GRID    32 /* the grid test is for few spikes: it forgives none that is off */
#define SPIKES_H       12 /* below, the H-test's chances are not those of its large-sample law */
#define PERIODS_MIN    5  /* a period must fit this often into the run */
#define INTERVALS_MIN  5  /* and be this many sampling intervals long */
#define CYCLES_A_SPIKE 50 /* fewer than one spike in that many periods is no disturber to name */
#define HARMONICS      20 /* of the H-test, as de Jager et al. propose */
#define SERIES_MAX     ((size_t)1 << 17)
#define SERIES_MIN     ((size_t)1 << 8)
#define SETS_MAX       8

/* One wake-up that was late: when it should have been, and when it was. */
struct spike {
	double expected, woken; /* seconds */
};

/* What is searched: all times in seconds. */
struct search {
	const struct timed_latency *sorted; /* the largest first */
	size_t sorted_count;
	double interval, window, length;
	size_t sets;   /* how many the chances are paid for */
	size_t series; /* the length of the transformed series: twice the run, padded */
	size_t spike_count;
	struct spike spikes[LARGEST_MAX];
	float power[SERIES_MAX];
};

/* A period that was found, or none while its log_p is 0. */
struct candidate {
	double log_p; /* natural logarithm of the corrected chance */
	double period;
	unsigned harmonics; /* that the H-test chose; 1 for the grid test */
	size_t set;         /* the number of largest samples it was found in */
};

static int by_time(const void *a, const void *b)
{
	const struct spike *x = a, *y = b;

	return (x->woken > y->woken) - (x->woken < y->woken);
}

/* Takes the COUNT largest samples as spikes: in order of time, and of those that follow each other
 * within two and a half intervals the first only. One disturbance can delay several samples. */
static void take_spikes(struct search *search, size_t count)
{
	struct spike *spikes = search->spikes;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		const struct timed_latency *sample = &search->sorted[i];

		spikes[i].expected = (double)sample->time_ns * 1e-9;
		spikes[i].woken = (double)(sample->time_ns + sample->latency_ns) * 1e-9;
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

/* The spectrum of the spike train: counts in bins, less their mean, padded with as many zeroes (so
 * that a line between two frequencies is not lost), as power over the number of spikes: 1 for
 * spikes at random. Frequency I is I / (2 length). */
static void find_spectrum(struct search *search)
{
	size_t bins = search->series / 2;
	float mean = (float)search->spike_count / (float)bins;
	float *power = search->power;

	memset(power, 0, search->series * sizeof(power[0]));
	for (size_t i = 0; i < search->spike_count; i++) {
		double at = search->spikes[i].woken / search->length * (double)bins;

		power[at < 0 ? 0 : at >= (double)bins ? bins - 1 : (size_t)at] += 1;
	}
	for (size_t i = 0; i < bins; i++)
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
	double length = search->length, first = 2 * PERIODS_MIN;
	double top = fmin((double)search->series / 2 - 2, length / search->interval);
	double last = fmin(top, 2.0 * CYCLES_A_SPIKE * (double)search->spike_count);
	double decades = log(last / first) + 1, x = first;
	unsigned most =
		search->spike_count / 4 < HARMONICS ? (unsigned)search->spike_count / 4 : HARMONICS;

	while (x <= last) {
		unsigned limit = top / x < most ? (unsigned)(top / x) : most, m = 1;
		double h = h_test(search->power, x, limit, &m);
		double trials = x / 2 * limit * decades * (double)search->sets * 2;

		if (h > 20)
			keep_better(best, -0.398 * h + log(trials), 2 * length / x, m);
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

/* The power of the spikes at the first COUNT harmonics of FREQUENCY, over their number, from their
 * exact times; POWERS from 1 to COUNT. Returns the sum. */
static double harmonic_powers(const struct search *search, double frequency, unsigned count,
			      double powers[HARMONICS + 1])
{
	double re[HARMONICS + 1] = { 0 }, im[HARMONICS + 1] = { 0 }, sum = 0;

	for (size_t i = 0; i < search->spike_count; i++) {
		double angle = 2 * M_PI * fmod(search->spikes[i].woken * frequency, 1);
		double c = cos(angle), s = sin(angle), x = 1, y = 0;

		for (unsigned k = 1; k <= count; k++) {
			double held = x;

			x = x * c - y * s;
			y = held * s + y * c;
			re[k] += x;
			im[k] += y;
		}
	}
	for (unsigned k = 1; k <= count; k++) {
		powers[k] = (re[k] * re[k] + im[k] * im[k]) / (double)search->spike_count;
		sum += powers[k];
	}
	return sum;
}

/* Where most of the power of FREQUENCY's harmonics stands in every q-th, the disturber is q times
 * as fast: harmonics in between come from hits and misses, not from a longer period. */
static unsigned overtone_factor(const struct search *search, double frequency)
{
	double powers[HARMONICS + 1];
	unsigned limit = HARMONICS;

	while (limit > 1 && limit * frequency > 0.5 / search->interval)
		limit--;
	harmonic_powers(search, frequency, limit, powers);
	for (unsigned q = limit > 6 ? 6 : limit; q > 1; q--) {
		double on = 0, off = 0;

		for (unsigned k = 1; k <= limit / q * q; k++)
			*(k % q ? &off : &on) += powers[k];
		if (off / (q - 1) < 0.15 * on)
			return q;
	}
	return 1;
}

static double overtone(const struct search *search, double frequency)
{
	unsigned q;

	while ((q = overtone_factor(search, frequency)) > 1)
		frequency *= q;
	return frequency;
}

#define UNDERTONES_MAX 200

/* The mean power of the harmonics of FREQUENCY / Q that are none of FREQUENCY itself, up to the
 * highest of its own HARMONICS. */
static double undertone_power(const struct search *search, double frequency, unsigned q,
			      unsigned harmonics)
{
	double powers[HARMONICS + 1], sum = 0;
	unsigned limit = q * harmonics < HARMONICS ? q * harmonics : HARMONICS, count = 0;

	harmonic_powers(search, frequency / q, limit, powers);
	for (unsigned k = 1; k <= limit; k++) {
		if (k % q) {
			sum += powers[k];
			count++;
		}
	}
	return sum / count;
}

/* The other way round: where the spikes stand as well together at a q-th of FREQUENCY, they all
 * fall on every q-th place of the grid (a strict period is one at all its fractions). Of several,
 * the lowest: the others are fractions again. */
static double undertone(const struct search *search, double frequency, unsigned harmonics)
{
	double powers[HARMONICS + 1], q_power[UNDERTONES_MAX + 1], most = 0;
	double own = harmonic_powers(search, frequency, harmonics, powers) / harmonics;
	double last = frequency * search->length / PERIODS_MIN * 1.01;
	unsigned count, best = 1;

	/* there can't be many more spikes than periods */
	last = fmin(last, 4 * frequency * search->length / (double)search->spike_count);
	count = last < UNDERTONES_MAX ? (unsigned)last : UNDERTONES_MAX;

	for (unsigned q = 2; q <= count; q++) {
		q_power[q] = undertone_power(search, frequency, q, harmonics);
		most = fmax(most, q_power[q]);
	}
	for (unsigned q = 2; q <= count; q++) {
		if (q_power[q] > 0.7 * own && q_power[q] > 0.7 * most)
			best = q;
	}
	return frequency / best;
}

/* The frequency near FREQUENCY at which HARMONICS harmonics together have the most power, looked
 * for within one resolution of the highest, twice. */
static double refine(const struct search *search, double frequency, unsigned harmonics)
{
	double step = 1 / (search->length * harmonics) / 8, best = frequency, most = -1;
	double powers[HARMONICS + 1];

	for (int round = 0; round < 2; round++, step /= 8) {
		double centre = best;

		for (int i = -8; i <= 8; i++) {
			double sum = harmonic_powers(search, centre + i * step, harmonics, powers);

			if (sum > most) {
				most = sum;
				best = centre + i * step;
			}
		}
	}
	return best;
}

/* One window's Fourier sum at a frequency. */
struct phasor {
	double re, im, count;
};

/* Adds the window's sum to what tells whether windows agree, if it says anything: a square of 3
 * times the count comes by chance in 5 % of the windows, one of 6 in 0.25 %. */
static void add_window(const struct phasor *sum, struct phasor *before, struct phasor *agree,
		       double *together, double least)
{
	double square = sum->re * sum->re + sum->im * sum->im;

	if (square < least * sum->count)
		return;
	agree->re += sum->re * before->re + sum->im * before->im;
	agree->im += sum->im * before->re - sum->re * before->im;
	agree->count++;
	*together += sqrt(square) * hypot(before->re, before->im);
	*before = *sum;
}

/* True where FREQUENCY is a beat between a faster disturber and the sampling. The sampler's phase
 * changes at random from window to window, and with it a beat's, while a disturber goes on:
 * compared are windows with spikes that follow each other, so that a disturber may well wander
 * slowly. */
static bool is_beat(const struct search *search, double frequency, double least)
{
	struct phasor sum = { 0 }, before = { 0 }, agree = { 0 };
	double together = 0, at = 0;

	if (frequency * search->window < 4)
		return false; /* a beat does not live longer than a window */
	for (size_t i = 0; i < search->spike_count; i++) {
		double angle = 2 * M_PI * fmod(search->spikes[i].woken * frequency, 1);
		double window = floor(search->spikes[i].expected / search->window);

		if (window != at) {
			add_window(&sum, &before, &agree, &together, least);
			sum = (struct phasor){ 0 };
			at = window;
		}
		sum.re += cos(angle);
		sum.im += sin(angle);
		sum.count++;
	}
	add_window(&sum, &before, &agree, &together, least);
	return agree.count > 4 && hypot(agree.re, agree.im) < 0.5 * together;
}

/* True for spikes that come with the sampler's windows: most of them in the first intervals of one.
 */
static bool is_window(const struct search *search, double period)
{
	size_t at_start = 0;

	if (search->window <= 0 || fabs(period / search->window - 1) > 0.005)
		return false;
	for (size_t i = 0; i < search->spike_count; i++) {
		double into = remainder(search->spikes[i].expected, search->window);

		at_start += into >= -search->interval && into <= 3 * search->interval;
	}
	return 2 * at_start > search->spike_count;
}

static void search_set(struct search *search, size_t set, struct candidate *best)
{
	struct candidate found = { 0 };

	take_spikes(search, set);
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

/* The period of the best candidate, or 0 where it is none to report. */
static double settle(struct search *search, const struct candidate *best)
{
	double frequency = 1 / best->period, period;
	size_t wider = best->set;

	take_spikes(search, best->set);
	frequency = overtone(search, refine(search, frequency, best->harmonics));
	frequency = undertone(search, frequency, best->harmonics);
	frequency = refine(search, frequency, best->harmonics);
	period = 1 / frequency;
	if (period < INTERVALS_MIN * search->interval ||
	    period > search->length / PERIODS_MIN * 1.01)
		return 0;
	if (is_window(search, period))
		return 0;
	/* the largest of a beat come from windows of like phase: look at more of them */
	while (wider < search->sorted_count &&
	       2 * search->sorted[wider].latency_ns > search->sorted[best->set - 1].latency_ns)
		wider++;
	if (is_beat(search, frequency, 3))
		return 0;
	take_spikes(search, wider);
	return is_beat(search, frequency, 6) ? 0 : period;
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
	found = settle(search, &best);
	if (found <= 0)
		return;
	period->period_ns = (int64_t)(found * 1e9 + 0.5);
	period->p = exp(best.log_p);
}

int period_find(struct period *period, const struct largest *largest, int64_t interval_ns,
		int64_t window_ns, int64_t length_ns)
{
	struct timed_latency *sorted;
	struct search *search;

	*period = (struct period){ .p = 1 };
	if (largest->count < SPIKES_MIN || interval_ns <= 0 ||
	    length_ns / PERIODS_MIN < INTERVALS_MIN * interval_ns)
		return 0;
	sorted = malloc(LARGEST_ROOM * sizeof(*sorted));
	search = malloc(sizeof(*search));
	if (!sorted || !search) {
		free(sorted);
		free(search);
		return -ENOMEM;
	}
	search->sorted = sorted;
	search->sorted_count = largest_sorted(largest, sorted);
	if (search->sorted_count > LARGEST_MAX) /* not compacted yet */
		search->sorted_count = LARGEST_MAX;
	search->interval = (double)interval_ns * 1e-9;
	search->window = (double)window_ns * 1e-9;
	search->length = (double)length_ns * 1e-9;
	search->series = SERIES_MIN;
	while (search->series < SERIES_MAX &&
	       (double)search->series < 2.2 * search->length / search->interval)
		search->series *= 2;
	search_all(search, period);
	free(sorted);
	free(search);
	return 0;
}

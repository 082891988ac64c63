// SPDX-License-Identifier: GPL-2.0-or-later
#include "stat/period_search.h"

#include <math.h>
#include <stdbool.h>

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

#define UNDERTONES_MAX    200
#define UNDERTONE_LEAST   2.2 /* of ten powers or more: chance gives 1, and this once in 1,000 */
#define UNDERTONE_GLIMPSE 4

/* The mean power of the harmonics of FREQUENCY / Q that are none of FREQUENCY itself, up to the
 * highest of its own HARMONICS. */
static double undertone_power(const struct search *search, double frequency, unsigned q,
			      unsigned harmonics)
{
	double powers[HARMONICS + 1], sum = 0;
	unsigned limit = q * harmonics < HARMONICS ? q * harmonics : HARMONICS, count = 0;

	/* most fractions are none: a few powers show that */
	if (q > UNDERTONE_GLIMPSE) {
		sum = harmonic_powers(search, frequency / q, UNDERTONE_GLIMPSE, powers);
		if (sum < UNDERTONE_GLIMPSE)
			return sum / UNDERTONE_GLIMPSE;
		sum = 0;
	}
	harmonic_powers(search, frequency / q, limit, powers);
	for (unsigned k = 1; k <= limit; k++) {
		if (k % q) {
			sum += powers[k];
			count++;
		}
	}
	return sum / count;
}

/* The other way round: where the spikes stand together at a q-th of FREQUENCY too, they all fall on
 * every q-th place of the grid (a strict period is one at all its fractions). FREQUENCY's own power
 * was chosen among many for being large, so the other need not quite reach it. Of several the
 * lowest: the others are fractions again. */
static double undertone(const struct search *search, double frequency, unsigned harmonics)
{
	double powers[HARMONICS + 1], q_power[UNDERTONES_MAX + 1], most = 0;
	double own = harmonic_powers(search, frequency, harmonics, powers) / harmonics;
	double last = frequency * search->length / PERIODS_MIN * 1.01;
	unsigned count, best = 1;

	/* a set with more than 16 spikes a period shows no period at all */
	last = fmin(last, 16 * frequency * search->length / (double)search->spike_count);
	count = last < UNDERTONES_MAX ? (unsigned)last : UNDERTONES_MAX;
	for (unsigned q = 2; q <= count; q++) {
		q_power[q] = undertone_power(search, frequency, q, harmonics);
		most = fmax(most, q_power[q]);
	}
	for (unsigned q = 2; q <= count; q++) {
		if (q_power[q] > fmax(UNDERTONE_LEAST, 0.4 * own) && q_power[q] > 0.7 * most)
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

double search_settle(struct search *search, const struct candidate *best)
{
	double frequency = 1 / best->period, period;
	size_t wider = best->set;

	search_take_spikes(search, best->set);
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
	search_take_spikes(search, wider);
	return is_beat(search, frequency, 6) ? 0 : period;
}

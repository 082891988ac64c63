/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A simulated sampler for tests: latencies of a given kind of noise, with a periodic disturber if
 * wanted, recorded as a run would. Deterministic: the same seed gives the same run.
 */
#pragma once

#include "stat/histogram.h"
#include "stat/largest.h"
#include "stat/window.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum noise {
	NOISE_EXPONENTIAL, /* 3 µs and an exponential of 1 µs */
	NOISE_PARETO,      /* 3 µs times a Pareto of shape 2.5 */
	NOISE_AR,          /* the logarithm wanders: AR(1), ρ = 0.9 */
	NOISE_AR_SLOW,     /* ρ = 0.999 */
	NOISE_BURSTS,      /* one sample in 100 is 20 to 200 µs, in bursts of 50 intervals */
	NOISE_KINDS
};

enum plant {
	PLANT_NONE,
	PLANT_SPIKES,   /* the first sample after each period is late by 200 µs to 2 ms */
	PLANT_BLOCKS,   /* the CPU is blocked for block_ns each period; who sleeps then, wakes after
			 */
	PLANT_RELATIVE, /* as spikes, but the disturber sleeps for the period: its phase wanders */
};

struct simulation {
	uint64_t state; /* of the generator: the seed; not 0 */
	enum noise noise;
	enum plant plant;
	int64_t interval_ns, length_ns, window_ns;
	int64_t period_ns, block_ns;
	double drift; /* the latency's growth over the run: 0.2 is 20 % */
	bool fixed_phase;
};

struct run {
	struct histogram *histogram;
	struct largest largest;
	struct windows windows;
};

/* xorshift64* (Vigna 2016). */
static inline double uniform(struct simulation *s)
{
	s->state ^= s->state >> 12;
	s->state ^= s->state << 25;
	s->state ^= s->state >> 27;
	return ((double)((s->state * 2685821657736338717U) >> 11) + 0.5) * 0x1p-53;
}

static inline double gaussian(struct simulation *s)
{
	double a = uniform(s), b = uniform(s);

	return sqrt(-2 * log(a)) * cos(2 * M_PI * b);
}

/* The latency without the disturber, in ns; *LEVEL is the noise's memory. */
static inline double quiet_latency(struct simulation *s, double *level)
{
	double rho = s->noise == NOISE_AR ? 0.9 : 0.999;

	switch (s->noise) {
	case NOISE_PARETO:
		return 3000 * pow(uniform(s), -1 / 2.5);
	case NOISE_AR:
	case NOISE_AR_SLOW:
		*level = rho * *level + sqrt(1 - rho * rho) * gaussian(s);
		return 5000 * exp(0.5 * *level) - 500 * log(uniform(s));
	case NOISE_BURSTS:
		if (*level > 0)
			*level -= 1;
		else if (uniform(s) < 1.0 / 2500)
			*level = -50 * log(uniform(s));
		if (*level > 0 && uniform(s) < 0.5)
			return 20000 + 180000 * uniform(s);
		return 3000 - 1000 * log(uniform(s));
	default:
		return 3000 - 1000 * log(uniform(s));
	}
}

struct disturber {
	double start, end; /* of the block at hand */
	double next;
};

/* How much later the disturber makes a sample that is due at T. */
static inline double disturb(struct simulation *s, struct disturber *d, double t)
{
	double late = 0;

	if (s->plant == PLANT_NONE)
		return 0;
	while (d->next <= t) {
		d->start = d->next;
		d->end = d->start + (double)s->block_ns;
		d->next += (double)s->period_ns;
		if (s->plant == PLANT_RELATIVE)
			d->next += 20e3 + 10e3 * gaussian(s);
		late = 200e3 + 1.8e6 * uniform(s);
	}
	if (s->plant == PLANT_BLOCKS)
		return d->end > t ? d->end - t : 0;
	return late;
}

static inline void end_window(struct run *run, struct window *window, int64_t length)
{
	if (window->count)
		windows_add(&run->windows, window);
	*window = (struct window){ .start_ns = window->start_ns + length };
}

static inline void take_sample(struct run *run, struct window *window, int64_t due, int64_t latency)
{
	histogram_record(run->histogram, latency, 1);
	largest_record(&run->largest, due, latency);
	if (!window->count || latency > window->max_ns) {
		window->max_ns = latency;
		window->max_at_ns = due;
	}
	if (!window->count || latency < window->min_ns)
		window->min_ns = latency;
	window->count++;
	window->sum_ns += (double)latency;
	window->sum_squares += (double)latency * (double)latency;
}

/* Fills RUN, which starts from all zeroes but a histogram_new(). */
static inline void simulate(struct simulation *s, struct run *run)
{
	double interval = (double)s->interval_ns, length = (double)s->length_ns, level = 0;
	struct disturber d = { .next = uniform(s) * (double)s->period_ns };
	struct window window = { .length_ns = s->window_ns };
	double phase = uniform(s) * interval, due = phase;

	while (due < length) {
		double latency = quiet_latency(s, &level) * (1 + s->drift * due / length);

		latency += disturb(s, &d, due);
		while (due >= (double)(window.start_ns + s->window_ns)) {
			window.length_ns = s->window_ns;
			end_window(run, &window, s->window_ns);
			if (!s->fixed_phase)
				due += (uniform(s) - 0.5) * interval;
			window.length_ns = s->window_ns;
		}
		take_sample(run, &window, (int64_t)due, (int64_t)latency);
		due += interval * (floor(latency / interval) + 1);
	}
	window.length_ns = s->window_ns;
	end_window(run, &window, s->window_ns);
	windows_finish(&run->windows);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the two halves of the search for a period share: period.c finds a candidate, period_settle.c
 * says which of its multiples and fractions it is, and whether it is one to report. */
#pragma once

#include "stat/fft.h"
#include "stat/largest.h"

#include <stddef.h>

#define PERIODS_MIN   5  /* a period must fit this often into the run */
#define INTERVALS_MIN 5  /* and be this many sampling intervals long */
#define HARMONICS     20 /* of the H-test, as de Jager et al. propose */
#define SERIES_MAX    ((size_t)1 << 17)

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
	double bin;    /* a bin of the series, a multiple of the interval */
	size_t bins;   /* that the run fills */
	size_t series; /* with as much padding or more */
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

/* Takes the COUNT largest samples as spikes: in order of time, and of those that follow each other
 * within two and a half intervals the first only. One disturbance can delay several samples. */
void search_take_spikes(struct search *search, size_t count);
/* The period of the best candidate, in seconds, or 0 where it is none to report. Takes other
 * spikes. */
double search_settle(struct search *search, const struct candidate *best);

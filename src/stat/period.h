/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The period of a disturber, from the times of the largest samples. Two tests, each over several
 * sets of spikes (the 5, 8, 16, 64 … largest, and those above the widest gap in size; size says
 * nothing about time, so that choosing by it costs no more than the number of sets):
 *
 * - the H-test (de Jager, Raubenheimer & Swanepoel 1989) on the spectrum of the spike times, in
 * which every frequency is measured against its neighbourhood, so that bursts and slow changes of
 * the rate don't count as periods (as Israel & Stella 1996 do);
 * - for 5 to 32 spikes also the chance that all of them lie that close to one grid: few spikes of a
 *   long period say more by their exact times than their spectrum shows.
 *
 * The chance is corrected for all that was tried: sets, tests, and periods by their logarithm
 * (weights as Genovese, Roeder & Wasserman 2006), so that a long period isn't paid for by the many
 * short ones. Shuffling gaps, the usual way to a chance, is blind here: the gaps of a strict period
 * are all alike, and every order of them is as periodic. What it finds and how often it is wrong
 * was measured by simulation: tests/slow/shape_rates.c. Pure; works in 0.6 MB that it allocates.
 */
#pragma once

#include "stat/largest.h"

#include <stdint.h>

#define PERIOD_P_LIMIT 1e-3 /* a period less sure than this is not reported */
#define PERIOD_P_LEAST 1e-9 /* so far out the laws are not known to hold: no less is said */

struct period {
	int64_t period_ns; /* 0: none found */
	double p;          /* chance that spikes without a period look as periodic anywhere */
};

/*
 * Searches periods from 5 sampling INTERVALs to a fifth of the run's LENGTH. WINDOW is the
 * sampler's own (0: none): a period of a window whose spikes sit at the windows' starts is the
 * sampler itself and not reported; nor is one that is a beat of a faster disturber with the
 * sampling, which the sampler's random phase shows. 0, or -ENOMEM with none found.
 */
int period_find(struct period *period, const struct largest *largest, int64_t interval_ns,
		int64_t window_ns, int64_t length_ns);

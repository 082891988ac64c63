/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a series of windows drifts: a straight trend, tested against noise that remembers. On the
 * ranks of the values (as normal scores: single spikes must not make or hide a trend); the trend's
 * t-ratio with a long-run variance (Newey & West 1987), its chance from series simulated by an
 * autoregression fitted to the rest (the sieve bootstrap of Bühlmann 1997). Runs of two days and
 * more may have a daily and half-daily wave beside the trend. No trend is claimed where the noise
 * remembers so long that it can't be told from one (sum of the coefficients 0.95 or more), or from
 * fewer than 24 windows. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define DRIFT_MIN     24
#define DRIFT_MAX     512
#define DRIFT_P_LIMIT 1e-3

struct drift {
	double p;           /* chance of such a trend without drift; 1 where none can be told */
	double ns_per_hour; /* median of slopes (Theil 1950) */
	double change;      /* over the run, as a part of the series' median */
};

/* COUNT values, at times in hours. Deterministic. */
void drift_find(struct drift *drift, const double *hours, const double *values, size_t count);

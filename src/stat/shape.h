/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the distribution of a run looks like: its peaks, its tail, whether something disturbs it
 * periodically, whether it drifts. Every statement is tested against chance; what the data can't
 * support is not said. Pure.
 */
#pragma once

#include "stat/histogram.h"
#include "stat/largest.h"
#include "stat/window.h"

#include <stdbool.h>

enum shape_kind {
	SHAPE_UNKNOWN,   /* too few samples to tell */
	SHAPE_ONE_PEAK,  /* one peak with a short tail */
	SHAPE_TWO_PEAKS, /* two or more peaks */
	SHAPE_LONG_TAIL, /* one peak with a long tail */
	SHAPE_DRIFT,     /* the middle or the maxima wander over the run */
};

#define SHAPE_PEAKS_MAX 8

struct shape {
	enum shape_kind kind;
	unsigned peaks;
	int64_t peaks_ns[SHAPE_PEAKS_MAX];  /* where, ascending */
	double peak_share[SHAPE_PEAKS_MAX]; /* how much of the samples stands around each */
	int64_t period_ns;                  /* of a periodic disturber; 0: none found */
	double period_p;                    /* chance that noise alone looks as periodic */
	double drift_ns_per_hour;           /* of the windows' means, else maxima; where drifts */
	bool drifts;
};

/* "one peak", "two peaks", "long tail", "drift", "unknown": the same words in text and JSON. */
const char *shape_name(enum shape_kind kind);

/* INTERVAL is the sampling interval: periods are searched between 5 of it and a fifth of the run,
 * whose LENGTH is given. WINDOWS and LARGEST of one CPU. */
void shape_find(struct shape *shape, const struct histogram *histogram,
		const struct largest *largest, const struct windows *windows, int64_t interval_ns,
		int64_t length_ns);

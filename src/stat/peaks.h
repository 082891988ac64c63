/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The peaks of a histogram, on a scale that is linear below about half a microsecond and
 * logarithmic above, smoothed by a Gaussian of 6 % (wider where the clock itself ticks in coarser
 * steps, else each tick would be a peak). A peak counts if
 * - its top is at least twice as high as the valley that parts it from a higher one, and above it
 * by five standard deviations of what is counted there (Poisson): chance does that once in
 * millions;
 * - at least one sample in 1,000 stands around it.
 * Pure, and works in a few pages of stack.
 */
#pragma once

#include "stat/histogram.h"

struct peak {
	int64_t ns;   /* where its top is */
	double share; /* how much of the samples stands between its valleys */
};

/* Finds at most MAX peaks (the largest by share), ascending, and returns how many. */
unsigned peaks_find(const struct histogram *histogram, struct peak *peaks, unsigned max);

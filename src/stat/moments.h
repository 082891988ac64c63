/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mean and variance that can be merged without cancellation (Chan, Golub & LeVeque 1983). Pure. */
#pragma once

#include <stdint.h>

struct moments {
	uint64_t count;
	double mean, m2; /* m2: sum of squared differences from the mean */
};

/* Adds COUNT values given by their sum and sum of squares. */
void moments_add_sums(struct moments *moments, uint64_t count, double sum, double sum_squares);
void moments_merge(struct moments *into, const struct moments *from);
/* Of the population (divided by count), as cyclictest's users compute it; NaN when empty. */
double moments_stddev(const struct moments *moments);

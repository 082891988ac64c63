// SPDX-License-Identifier: GPL-2.0-or-later
#include "stat/moments.h"

#include <math.h>

void moments_add_sums(struct moments *moments, uint64_t count, double sum, double sum_squares)
{
	struct moments part = { .count = count };

	if (!count)
		return;
	part.mean = sum / (double)count;
	part.m2 = fmax(0, sum_squares - sum * part.mean);
	moments_merge(moments, &part);
}

/* Chan, Golub & LeVeque, "Algorithms for computing the sample variance", equation 1.5. */
void moments_merge(struct moments *into, const struct moments *from)
{
	double a = (double)into->count, b = (double)from->count;
	double difference = from->mean - into->mean;

	if (!from->count)
		return;
	if (!into->count) {
		*into = *from;
		return;
	}
	into->mean += difference * (b / (a + b));
	into->m2 += from->m2 + difference * difference * (a * b / (a + b));
	into->count += from->count;
}

double moments_stddev(const struct moments *moments)
{
	return moments->count ? sqrt(moments->m2 / (double)moments->count) : NAN;
}

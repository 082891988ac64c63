// SPDX-License-Identifier: GPL-2.0-or-later
#include "result/figure.h"

#include "result/session.h"

#include <math.h>
#include <string.h>

const double shown_percents[6] = { 50, 90, 99, 99.9, 99.99, 99.999 };
const char *const shown_percent_names[6] = { "50", "90", "99", "99.9", "99.99", "99.999" };

static bool value_min(const struct figure *figure, const struct cpu_result *result, int64_t *value)
{
	(void)figure;
	*value = result->min_ns;
	return result->samples > 0;
}

static bool value_max(const struct figure *figure, const struct cpu_result *result, int64_t *value)
{
	(void)figure;
	*value = result->max_ns;
	return result->samples > 0;
}

/* Cut, not rounded: a whole-number limit is then met exactly when the fraction meets it too. */
static bool whole(double exact, int64_t *value)
{
	if (!isfinite(exact) || exact < 0 || exact >= 0x1p63)
		return false;
	*value = (int64_t)exact;
	return true;
}

static bool value_mean(const struct figure *figure, const struct cpu_result *result, int64_t *value)
{
	(void)figure;
	return result->moments.count > 0 && whole(result->moments.mean, value);
}

static bool value_stddev(const struct figure *figure, const struct cpu_result *result,
			 int64_t *value)
{
	(void)figure;
	return result->moments.count > 0 && whole(moments_stddev(&result->moments), value);
}

static bool value_percentile(const struct figure *figure, const struct cpu_result *result,
			     int64_t *value)
{
	*value = result->histogram ? histogram_supported(result->histogram, figure->percent) : -1;
	return *value >= 0;
}

/* Without a single sample nothing is known of missed ones either. */
static bool value_missed(const struct figure *figure, const struct cpu_result *result,
			 int64_t *value)
{
	(void)figure;
	*value = result->missed > INT64_MAX ? INT64_MAX : (int64_t)result->missed;
	return result->samples > 0 || result->missed > 0;
}

#define PERCENTILE(percent_)                                                                   \
	{                                                                                      \
		.name = "p" #percent_, .what = #percent_ " % of the samples are not above it", \
		.unit = FIGURE_NS, .percent = percent_, .value = value_percentile              \
	}

const struct figure figures[] = {
	{ .name = "min", .what = "smallest latency", .unit = FIGURE_NS, .value = value_min },
	{ .name = "mean", .what = "mean latency", .unit = FIGURE_NS, .value = value_mean },
	{ .name = "stddev",
	  .what = "standard deviation of the latencies",
	  .unit = FIGURE_NS,
	  .value = value_stddev },
	PERCENTILE(50),
	PERCENTILE(90),
	PERCENTILE(99),
	PERCENTILE(99.9),
	PERCENTILE(99.99),
	PERCENTILE(99.999),
	{ .name = "max", .what = "largest latency", .unit = FIGURE_NS, .value = value_max },
	{ .name = "missed",
	  .what = "periods in which no sample could be taken",
	  .unit = FIGURE_COUNT,
	  .value = value_missed },
	{ .name = NULL },
};

const struct figure *figure_find(const char *name)
{
	for (const struct figure *figure = figures; figure->name; figure++) {
		if (!strcmp(figure->name, name))
			return figure;
	}
	return NULL;
}

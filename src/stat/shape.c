// SPDX-License-Identifier: GPL-2.0-or-later
#include "stat/shape.h"

#include "stat/drift.h"
#include "stat/peaks.h"
#include "stat/period.h"

#include <math.h>

#define SAMPLES_MIN 1000 /* fewer tell nothing about a shape */
#define TAIL_EXCESS 2.0  /* times as far out as an exponential tail would reach */
#define TAIL_MEDIAN 3.0  /* and at least so many medians */
#define TAIL_COUNT  10   /* samples beyond a percentile, for it to say something */

/* A drift of less over the whole run is not worth a word, however sure it is. */
#define CHANGE_MEAN 0.10
#define CHANGE_MAX  0.50

const char *shape_name(enum shape_kind kind)
{
	switch (kind) {
	case SHAPE_ONE_PEAK:
		return "one peak";
	case SHAPE_TWO_PEAKS:
		return "two peaks";
	case SHAPE_LONG_TAIL:
		return "long tail";
	case SHAPE_DRIFT:
		return "drift";
	default:
		return "unknown";
	}
}

/*
 * The exponential is the border between light and heavy tails (Foss, Korshunov & Zachary, An
 * Introduction to Heavy-Tailed and Subexponential Distributions, 2.1). Its quantiles go out with
 * the logarithm of what lies beyond: from the median and p90, which the peak's width sets, the
 * others follow. A tail is long where one reaches twice as far. Simulated: normal, exponential and
 * uniform peaks never; log-normal from a spread of e^0.8 on; Pareto of shape 3 always.
 */
static bool has_long_tail(const struct histogram *histogram)
{
	static const double percents[] = { 99, 99.9, 99.99, 99.999 };
	double median = (double)histogram_quantile(histogram, 50);
	double width = (double)histogram_quantile(histogram, 90) - median;

	for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
		double beyond = 1 - percents[i] / 100;
		double value = (double)histogram_quantile(histogram, percents[i]);

		if ((double)histogram->count * beyond < TAIL_COUNT * 0.999)
			break;
		if (value - median > TAIL_EXCESS * width * log(0.5 / beyond) / log(5) &&
		    value > TAIL_MEDIAN * median)
			return true;
	}
	return false;
}

enum series { SERIES_MEAN, SERIES_MAX };

/* The drift of one figure of the windows. The last window is left out where it is cut short: it has
 * fewer samples, and so a smaller maximum. */
static void find_series(struct drift *drift, const struct windows *windows, enum series series)
{
	double hours[DRIFT_MAX], values[DRIFT_MAX];
	size_t count = 0;

	for (size_t i = 0; i < windows->count && count < DRIFT_MAX; i++) {
		const struct window *window = &windows->items[i];

		if (!window->count || 2 * window->length_ns < windows->items[0].length_ns)
			continue;
		hours[count] = ((double)window->start_ns + (double)window->length_ns / 2) / 3.6e12;
		values[count++] =
			series == SERIES_MEAN ? window_mean(window) : (double)window->max_ns;
	}
	drift_find(drift, hours, values, count);
}

static void find_drift(struct shape *shape, const struct windows *windows)
{
	static const double least[] = { [SERIES_MEAN] = CHANGE_MEAN, [SERIES_MAX] = CHANGE_MAX };
	struct drift drift;

	for (int series = SERIES_MEAN; series <= SERIES_MAX && !shape->drifts; series++) {
		find_series(&drift, windows, (enum series)series);
		if (drift.p > DRIFT_P_LIMIT || fabs(drift.change) < least[series])
			continue;
		shape->drifts = true;
		shape->drift_ns_per_hour = drift.ns_per_hour;
	}
}

static void find_peaks(struct shape *shape, const struct histogram *histogram)
{
	struct peak peaks[SHAPE_PEAKS_MAX];

	shape->peaks = peaks_find(histogram, peaks, SHAPE_PEAKS_MAX);
	for (unsigned i = 0; i < shape->peaks; i++) {
		shape->peaks_ns[i] = peaks[i].ns;
		shape->peak_share[i] = peaks[i].share;
	}
}

static enum shape_kind kind_of(const struct shape *shape, const struct histogram *histogram)
{
	if (shape->drifts)
		return SHAPE_DRIFT;
	if (shape->peaks > 1)
		return SHAPE_TWO_PEAKS;
	return has_long_tail(histogram) ? SHAPE_LONG_TAIL : SHAPE_ONE_PEAK;
}

void shape_find(struct shape *shape, const struct histogram *histogram,
		const struct largest *largest, const struct windows *windows, int64_t interval_ns,
		int64_t length_ns)
{
	struct period period = { .p = 1 };
	int64_t window_ns = windows->count ? windows->items[0].length_ns >> windows->merged : 0;

	*shape = (struct shape){ .kind = SHAPE_UNKNOWN, .period_p = 1 };
	/* without memory no period is found: nothing is claimed then */
	if (largest && !period_find(&period, largest, interval_ns, window_ns, length_ns)) {
		shape->period_ns = period.period_ns;
		shape->period_p = period.p;
	}
	if (histogram->count < SAMPLES_MIN)
		return;
	find_peaks(shape, histogram);
	find_drift(shape, windows);
	shape->kind = kind_of(shape, histogram);
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "stat/peaks.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#define BINS_AN_OCTAVE 24
#define LINEAR_NS      500.0 /* below about this the scale is linear */
#define BINS_MAX       832   /* up to HISTOGRAM_HIGHEST */
#define SMOOTH_BINS    2.0
#define SMOOTH_MAX     24.0
#define RISE           2.0 /* of a peak over its valley */
#define DEVIATIONS     5.0 /* likewise, of the counts */
#define SHARE_MIN      1e-3
#define TICK_DISTANCES 2  /* so many steps of the clock are needed to see that it has any */
#define TICK_SAMPLES   20 /* and so many samples each */

/* The histogram on the scale at hand, then smoothed; square is the variance of height. */
struct profile {
	double count[BINS_MAX], height[BINS_MAX], square[BINS_MAX];
	size_t first, last; /* bins that have counts */
};

static double bin_of(double ns)
{
	return log2(1 + ns / LINEAR_NS) * BINS_AN_OCTAVE;
}

static double ns_of(double bin)
{
	return (exp2(bin / BINS_AN_OCTAVE) - 1) * LINEAR_NS;
}

static void fill(struct profile *profile, const struct histogram *histogram)
{
	profile->first = BINS_MAX;
	profile->last = 0;
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		double middle = ((double)histogram_low(i) + (double)histogram_high(i)) / 2;
		size_t bin;

		if (!histogram->counts[i])
			continue;
		bin = (size_t)bin_of(middle);
		profile->count[bin] += (double)histogram->counts[i];
		if (profile->first == BINS_MAX)
			profile->first = bin;
		profile->last = bin;
	}
}

/* Of the distances between neighbouring occupied buckets from LOW to HIGH, how many there are, and
 * in *WITHIN how many are at most LIMIT. */
static size_t count_distances(const struct histogram *histogram, size_t low, size_t high,
			      int64_t limit, size_t *within)
{
	size_t before = low, count = 0;

	*within = 0;
	for (size_t i = low + 1; i <= high; i++) {
		if (!histogram->counts[i])
			continue;
		count++;
		*within += histogram_low(i) - histogram_low(before) <= limit;
		before = i;
	}
	return count;
}

/* The step of the clock that the latencies were read from, if it shows: the median distance between
 * occupied buckets of the middle 90 %, where there are so many samples that none would be empty by
 * chance. 0: finer than can be told. */
static double clock_step(const struct histogram *histogram)
{
	size_t low = histogram_bucket(histogram_quantile(histogram, 5));
	size_t high = histogram_bucket(histogram_quantile(histogram, 95)), within;
	size_t count = count_distances(histogram, low, high, 0, &within);
	int64_t least = 0, most = histogram_high(high);

	if (count < TICK_DISTANCES || histogram->count < TICK_SAMPLES * count)
		return 0;
	while (most - least > 1) {
		int64_t middle = least + (most - least) / 2;

		count_distances(histogram, low, high, middle, &within);
		*(2 * within >= count ? &most : &least) = middle;
	}
	return most > 1 ? (double)most : 0;
}

/* How wide to smooth at BIN, in bins. A comb of step q is level to 0.2 % under a Gaussian of 0.6 q.
 */
static double smoothing(size_t bin, double step)
{
	double width = (ns_of((double)bin + 1.5) - ns_of((double)bin - 0.5)) / 2;

	return fmin(SMOOTH_MAX, fmax(SMOOTH_BINS, 0.6 * step / width));
}

static void smooth(struct profile *profile, double step)
{
	for (size_t i = profile->first; i <= profile->last; i++) {
		double sigma = smoothing(i, step), reach = ceil(3 * sigma);
		size_t low = (double)i > reach ? i - (size_t)reach : 0, high = i + (size_t)reach;

		for (size_t k = low; k <= high && k < BINS_MAX; k++) {
			double off = ((double)k - (double)i) / sigma;
			double weight = exp(-off * off / 2) / sigma;

			profile->height[i] += weight * profile->count[k];
			profile->square[i] += weight * weight * profile->count[k];
		}
	}
}

/* Tops and the valleys between them, from left to right: valley[i] is between top[i] and top[i +
 * 1]. */
struct ridge {
	size_t count;
	size_t top[BINS_MAX / 2 + 1], valley[BINS_MAX / 2 + 1];
};

static void find_tops(const struct profile *profile, struct ridge *ridge)
{
	size_t valley = profile->first;
	bool rising = true;

	ridge->count = 0;
	for (size_t i = profile->first; i <= profile->last; i++) {
		double next = i < profile->last ? profile->height[i + 1] : -1;

		if (rising && next < profile->height[i]) {
			if (ridge->count)
				ridge->valley[ridge->count - 1] = valley;
			ridge->top[ridge->count++] = i;
			rising = false;
		} else if (!rising && next > profile->height[i]) {
			valley = i;
			rising = true;
		}
	}
}

/* By how much top I stands out of VALLEY, as a ratio; below 1: not enough. */
static double stand(const struct profile *profile, size_t top, size_t valley)
{
	double rise = profile->height[top] - profile->height[valley];
	double noise = sqrt(profile->square[top] + profile->square[valley]);
	double ratio = profile->height[top] / fmax(profile->height[valley], 1e-9);

	return fmin(ratio / RISE, rise / fmax(DEVIATIONS * noise, 1e-9));
}

/* The lower of two neighbouring tops is the one that must stand out. Takes it away, and with it the
 * higher of its two valleys. */
static void remove_lower(const struct profile *profile, struct ridge *ridge, size_t at)
{
	size_t lower =
		profile->height[ridge->top[at]] < profile->height[ridge->top[at + 1]] ? at : at + 1;

	for (size_t i = lower; i + 1 < ridge->count; i++)
		ridge->top[i] = ridge->top[i + 1];
	for (size_t i = at; i + 2 < ridge->count; i++)
		ridge->valley[i] = ridge->valley[i + 1];
	ridge->count--;
}

/* Removes the tops that don't stand out, the least first, until all that are left do. */
static void merge_tops(const struct profile *profile, struct ridge *ridge)
{
	while (ridge->count > 1) {
		double least = INFINITY;
		size_t at = 0;

		for (size_t i = 0; i + 1 < ridge->count; i++) {
			double left = stand(profile, ridge->top[i], ridge->valley[i]);
			double right = stand(profile, ridge->top[i + 1], ridge->valley[i]);

			if (fmin(left, right) < least) {
				least = fmin(left, right);
				at = i;
			}
		}
		if (least >= 1)
			return;
		remove_lower(profile, ridge, at);
	}
}

static double share_between(const struct profile *profile, size_t low, size_t high, uint64_t all)
{
	double sum = 0;

	for (size_t i = low; i < high; i++)
		sum += profile->count[i];
	return sum / (double)all;
}

/* The top of a parabola through the logarithms of three neighbours: exact for a Gaussian. */
static double top_ns(const struct profile *profile, size_t top)
{
	double a, b, c, shift = 0;

	if (top > 0 && top < BINS_MAX - 1 && profile->height[top - 1] > 0 &&
	    profile->height[top + 1] > 0) {
		a = log(profile->height[top - 1]);
		b = log(profile->height[top]);
		c = log(profile->height[top + 1]);
		if (a + c < 2 * b)
			shift = (a - c) / (2 * (a + c - 2 * b));
	}
	return fmax(0, ns_of((double)top + 0.5 + shift));
}

/* Adds PEAK behind the COUNT that are there; where that is MAX, the one with the least share goes.
 */
static unsigned add_peak(struct peak *peaks, unsigned count, unsigned max, struct peak peak)
{
	unsigned least = 0;

	if (count < max) {
		peaks[count] = peak;
		return count + 1;
	}
	for (unsigned i = 1; i < count; i++) {
		if (peaks[i].share < peaks[least].share)
			least = i;
	}
	if (peaks[least].share >= peak.share)
		return count;
	for (unsigned i = least; i + 1 < count; i++)
		peaks[i] = peaks[i + 1];
	peaks[count - 1] = peak;
	return count;
}

unsigned peaks_find(const struct histogram *histogram, struct peak *peaks, unsigned max)
{
	struct profile profile = { 0 };
	struct ridge ridge;
	unsigned count = 0;

	if (!histogram->count || !max)
		return 0;
	fill(&profile, histogram);
	smooth(&profile, clock_step(histogram));
	find_tops(&profile, &ridge);
	merge_tops(&profile, &ridge);
	for (size_t i = 0; i < ridge.count; i++) {
		size_t low = i ? ridge.valley[i - 1] : 0;
		size_t high = i + 1 < ridge.count ? ridge.valley[i] : BINS_MAX;
		double share = share_between(&profile, low, high, histogram->count);

		struct peak peak = { (int64_t)(top_ns(&profile, ridge.top[i]) + 0.5), share };

		if (share >= SHARE_MIN)
			count = add_peak(peaks, count, max, peak);
	}
	return count;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "stat/histogram.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define HALF            (1U << (HISTOGRAM_SUB_BITS - 1)) /* buckets of each step but the first */
#define VARINT_SIZE_MAX 9

/* How far values of BUCKET are shifted: its width is 2^step. */
static unsigned bucket_step(size_t bucket)
{
	return bucket < 2 * HALF ? 0 : (unsigned)(bucket / HALF) - 1;
}

int64_t histogram_low(size_t bucket)
{
	unsigned step = bucket_step(bucket);

	return (int64_t)((uint64_t)(bucket - (size_t)step * HALF) << step);
}

int64_t histogram_high(size_t bucket)
{
	return histogram_low(bucket) + ((int64_t)1 << bucket_step(bucket)) - 1;
}

struct histogram *histogram_new(void)
{
	return calloc(1, sizeof(struct histogram));
}

void histogram_free(struct histogram *histogram)
{
	free(histogram);
}

void histogram_reset(struct histogram *histogram)
{
	memset(histogram, 0, sizeof(*histogram));
}

/* Counts stick at their end instead of wrapping: a wrong small number would look like a true one.
 */
static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static void widen(struct histogram *histogram, int64_t min, int64_t max)
{
	bool first = histogram->count == 0;

	if (first || min < histogram->min)
		histogram->min = min;
	if (first || max > histogram->max)
		histogram->max = max;
}

static void count_in(struct histogram *histogram, size_t bucket, uint64_t count)
{
	histogram->counts[bucket] = add_saturated(histogram->counts[bucket], count);
	histogram->count = add_saturated(histogram->count, count);
}

void histogram_record(struct histogram *histogram, int64_t ns, uint64_t count)
{
	if (!count)
		return;
	widen(histogram, ns, ns);
	count_in(histogram, histogram_bucket(ns), count);
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	if (!from->count)
		return;
	widen(into, from->min, from->max);
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (from->counts[i])
			count_in(into, i, from->counts[i]);
	}
}

/* The upper end of BUCKET as far as the samples go; the last bucket also holds what lies beyond it.
 */
static int64_t bucket_value(const struct histogram *histogram, size_t bucket)
{
	int64_t high = histogram_high(bucket);

	return bucket == HISTOGRAM_BUCKETS - 1 || high > histogram->max ? histogram->max : high;
}

/* The rank of the sample that PERCENT do not exceed, from 1. The slack takes back what rounding
 * 99.9 to a double and multiplying it adds, else 99.9 % of 1,000 would be the 1,000th. */
static uint64_t rank_of(double percent, uint64_t count)
{
	double rank = ceil(percent / 100 * (double)count * (1 - 2 * DBL_EPSILON));

	if (!(rank > 1))
		return 1;
	return rank >= (double)count ? count : (uint64_t)rank;
}

int64_t histogram_quantile(const struct histogram *histogram, double percent)
{
	uint64_t left;

	if (!histogram->count)
		return -1;
	left = rank_of(percent, histogram->count);
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (histogram->counts[i] >= left)
			return bucket_value(histogram, i);
		left -= histogram->counts[i];
	}
	return histogram->max;
}

int64_t histogram_supported(const struct histogram *histogram, double percent)
{
	if (!histogram->count ||
	    !((double)histogram->count * log1p(percent / 100 - 1) <= log(0.05)))
		return -1;
	return histogram_quantile(histogram, percent);
}

/* Counts the samples that COUNT samples of VALUE kept from being taken: VALUE less INTERVAL, less
 * twice that … down to INTERVAL. Those that fall into one bucket are counted at once: a second's
 * stall at an interval of 1 µs is a million values, but a few thousand buckets. */
static void correct_value(struct histogram *into, int64_t value, uint64_t count, int64_t interval)
{
	int64_t left = value - interval;

	if (left >= interval)
		widen(into, interval + left % interval, left);
	while (left >= interval) {
		size_t bucket = histogram_bucket(left);
		int64_t low = histogram_low(bucket);
		int64_t end = low > interval ? low : interval;
		int64_t values = (left - end) / interval + 1;
		uint64_t missing;

		if (__builtin_mul_overflow((uint64_t)values, count, &missing))
			missing = UINT64_MAX;
		count_in(into, bucket, missing);
		left -= values * interval;
	}
}

void histogram_correct(struct histogram *into, const struct histogram *from, int64_t interval)
{
	histogram_merge(into, from);
	if (interval <= 0 || !from->count)
		return;
	for (size_t i = histogram_bucket(interval); i < HISTOGRAM_BUCKETS; i++) {
		if (from->counts[i])
			correct_value(into, bucket_value(from, i), from->counts[i], interval);
	}
}

/* A bounded place to write to: what does not fit is only counted. */
struct packer {
	unsigned char *data;
	size_t size, used;
};

static void pack_byte(struct packer *packer, unsigned byte)
{
	if (packer->used < packer->size)
		packer->data[packer->used] = (unsigned char)byte;
	packer->used++;
}

/* ZigZag LEB128 as HdrHistogram has it ("LEB128-64b9B"): seven bits a byte, the lowest first, but
 * the ninth byte holds eight, so that 64 bits need no tenth. */
static void pack_number(struct packer *packer, int64_t number)
{
	uint64_t left = ((uint64_t)number << 1) ^ (number < 0 ? UINT64_MAX : 0);

	for (int i = 1; i < VARINT_SIZE_MAX && left > 0x7f; i++) {
		pack_byte(packer, (unsigned)(left & 0x7f) | 0x80);
		left >>= 7;
	}
	pack_byte(packer, (unsigned)left);
}

/* The first bucket from AT on that is not empty, or HISTOGRAM_BUCKETS. Most are empty, in long
 * runs. */
static size_t next_counted(const struct histogram *histogram, size_t at)
{
	const uint64_t *counts = histogram->counts;

	while (at + 4 <= HISTOGRAM_BUCKETS &&
	       !(counts[at] | counts[at + 1] | counts[at + 2] | counts[at + 3]))
		at += 4;
	while (at < HISTOGRAM_BUCKETS && !counts[at])
		at++;
	return at;
}

size_t histogram_encode(const struct histogram *histogram, unsigned char *data, size_t size)
{
	struct packer packer = { .data = data, .size = size };
	uint64_t left = histogram->count;

	for (size_t i = 0; left;) {
		size_t next = next_counted(histogram, i);
		uint64_t count;

		if (next == HISTOGRAM_BUCKETS)
			break;
		if (next > i) /* a single one is its own count */
			pack_number(&packer, next - i > 1 ? -(int64_t)(next - i) : 0);
		count = histogram->counts[next];
		pack_number(&packer, count > INT64_MAX ? INT64_MAX : (int64_t)count);
		left = left > count ? left - count : 0;
		i = next + 1;
	}
	return packer.used;
}

/* Reads a number at *AT and moves it on; false where the bytes end in the middle. */
static bool unpack_number(const unsigned char **at, const unsigned char *end, int64_t *number)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < VARINT_SIZE_MAX; i++) {
		unsigned byte;

		if (*at == end)
			return false;
		byte = *(*at)++;
		if (i == VARINT_SIZE_MAX - 1) {
			value |= (uint64_t)byte << (7 * i);
			break;
		}
		value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (!(byte & 0x80))
			break;
	}
	*number = (int64_t)((value >> 1) ^ (0 - (value & 1)));
	return true;
}

static bool unpack(struct histogram *histogram, const unsigned char *at, const unsigned char *end)
{
	size_t bucket = 0;

	while (at < end) {
		int64_t number;

		if (!unpack_number(&at, end, &number))
			return false;
		if (number < 0) {
			if (number < -(int64_t)(HISTOGRAM_BUCKETS - bucket))
				return false;
			bucket += (size_t)-number;
			continue;
		}
		if (bucket == HISTOGRAM_BUCKETS ||
		    __builtin_add_overflow(histogram->count, (uint64_t)number, &histogram->count))
			return false;
		histogram->counts[bucket++] = (uint64_t)number;
	}
	return true;
}

int histogram_decode(struct histogram *histogram, const unsigned char *data, size_t size)
{
	size_t low = 0, high = HISTOGRAM_BUCKETS - 1;

	histogram_reset(histogram);
	if (!unpack(histogram, data, data + size)) {
		histogram_reset(histogram);
		return -EBADMSG;
	}
	if (!histogram->count)
		return 0;
	while (!histogram->counts[low])
		low++;
	while (!histogram->counts[high])
		high--;
	histogram->min = histogram_low(low);
	histogram->max = histogram_high(high);
	return 0;
}

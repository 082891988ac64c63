/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A log-linear histogram of nanoseconds, 1 ns to over 1 h (2^42 ns = 73 min), three significant
 * digits: exact below 2,048 ns, above that a bucket is at most 1/1,024 of its value wide. The
 * layout is HdrHistogram's with a lowest value of 1 and three digits (hdrhistogram.org: 2,048
 * sub-buckets, 32 halving steps), so that its files hold our counts unchanged. It never overflows:
 * what lies beyond counts in the last bucket, and min and max stay exact. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_SUB_BITS 11 /* 2,048 sub-buckets */
#define HISTOGRAM_STEPS    32
#define HISTOGRAM_BUCKETS  ((HISTOGRAM_STEPS + 1) << (HISTOGRAM_SUB_BITS - 1)) /* 33,792 */
#define HISTOGRAM_HIGHEST  (((int64_t)1 << (HISTOGRAM_SUB_BITS + HISTOGRAM_STEPS - 1)) - 1)

struct histogram {
	uint64_t count;   /* all of counts[] */
	int64_t min, max; /* exact; meaningless while count is 0 */
	uint64_t counts[HISTOGRAM_BUCKETS];
};

/* The bucket of a value that is known to be at most HISTOGRAM_HIGHEST. */
static inline size_t histogram_bucket_inside(uint64_t value)
{
	unsigned step = 64 - HISTOGRAM_SUB_BITS -
			(unsigned)__builtin_clzll(value | ((1U << HISTOGRAM_SUB_BITS) - 1));

	return ((size_t)step << (HISTOGRAM_SUB_BITS - 1)) + (size_t)(value >> step);
}

/* The bucket of NS; negative counts as 0, beyond HISTOGRAM_HIGHEST as that. */
static inline size_t histogram_bucket(int64_t ns)
{
	return histogram_bucket_inside(ns < 0                   ? 0
				       : ns > HISTOGRAM_HIGHEST ? (uint64_t)HISTOGRAM_HIGHEST
								: (uint64_t)ns);
}

/* The lowest and the highest value that fall into BUCKET. */
int64_t histogram_low(size_t bucket);
int64_t histogram_high(size_t bucket);

/* 264 KiB of zeroes, of which only touched pages need memory. NULL without memory. */
struct histogram *histogram_new(void);
void histogram_free(struct histogram *histogram);
void histogram_reset(struct histogram *histogram);
void histogram_record(struct histogram *histogram, int64_t ns, uint64_t count);
void histogram_merge(struct histogram *into, const struct histogram *from);

/* The value that PERCENT (0 to 100) of the samples do not exceed: the upper end of its bucket, but
 * never beyond the exact max; relative error ≤ 1/1,024. -1 for an empty histogram. */
int64_t histogram_quantile(const struct histogram *histogram, double percent);
/* The same where the count can support it, else -1: a quantile's upper 95 % bound must lie within
 * the sample, (PERCENT/100)^count ≤ 0.05 (order statistics; Hahn & Meeker, Statistical Intervals).
 */
int64_t histogram_supported(const struct histogram *histogram, double percent);

/* Adds FROM to INTO with the correction for coordinated omission: a sample longer than INTERVAL
 * also counts as the ones it kept from being taken, each one interval shorter (HdrHistogram's
 * copyCorrectedForCoordinatedOmission; Tene, "How NOT to measure latency"). */
void histogram_correct(struct histogram *into, const struct histogram *from, int64_t interval);

/* Packed form, as HdrHistogram V2's payload: ZigZag LEB128 counts, runs of zeroes as one negative
 * number. encode: bytes needed (writes at most SIZE; call with 0 to learn the size). decode: 0, or
 * -EBADMSG for bytes that are no such histogram; counts only, min and max from the bucket ends. */
size_t histogram_encode(const struct histogram *histogram, unsigned char *data, size_t size);
int histogram_decode(struct histogram *histogram, const unsigned char *data, size_t size);

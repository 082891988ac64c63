// SPDX-License-Identifier: GPL-2.0-or-later
#include "stat/histogram.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t random_state;

/* xorshift64* (Vigna 2016). */
static uint64_t draw(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 2685821657736338717U;
}

static int setup(void **state)
{
	random_state = 88172645463325252U;
	*state = NULL;
	return 0;
}

/* Every bucket lies where the one before ends, holds its own ends, and is narrow enough. */
static void test_buckets(void **state)
{
	int64_t next = 0;

	(void)state;
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		int64_t low = histogram_low(i), high = histogram_high(i);

		assert_int_equal(low, next);
		assert_true(high >= low);
		assert_int_equal(histogram_bucket(low), i);
		assert_int_equal(histogram_bucket(high), i);
		assert_true((high - low) * 1024 <= low || high == low);
		next = high + 1;
	}
	assert_int_equal(next, HISTOGRAM_HIGHEST + 1);
}

static void test_extremes(void **state)
{
	static const struct {
		int64_t ns;
		size_t bucket;
		int64_t median; /* of a histogram with this value alone */
	} rows[] = {
		{ INT64_MIN, 0, INT64_MIN },
		{ -5, 0, -5 },
		{ 0, 0, 0 },
		{ 1, 1, 1 },
		{ 2047, 2047, 2047 },
		{ 2048, 2048, 2048 },
		{ 2049, 2048, 2049 },
		{ 2050, 2049, 2050 },
		{ 3600000000000, 33420, 3600000000000 },
		{ HISTOGRAM_HIGHEST, HISTOGRAM_BUCKETS - 1, HISTOGRAM_HIGHEST },
		{ HISTOGRAM_HIGHEST + 1, HISTOGRAM_BUCKETS - 1, HISTOGRAM_HIGHEST + 1 },
		{ INT64_MAX, HISTOGRAM_BUCKETS - 1, INT64_MAX },
	};
	struct histogram *histogram = histogram_new();

	(void)state;
	assert_non_null(histogram);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		histogram_reset(histogram);
		histogram_record(histogram, rows[i].ns, 1);
		assert_int_equal(histogram_bucket(rows[i].ns), rows[i].bucket);
		assert_int_equal(histogram->counts[rows[i].bucket], 1);
		assert_int_equal(histogram->min, rows[i].ns);
		assert_int_equal(histogram->max, rows[i].ns);
		assert_int_equal(histogram_quantile(histogram, 50), rows[i].median);
	}
	histogram_free(histogram);
	histogram_free(NULL);
}

static void test_empty(void **state)
{
	struct histogram *histogram = histogram_new();

	(void)state;
	histogram_record(histogram, 5, 0);
	assert_int_equal(histogram->count, 0);
	assert_int_equal(histogram_quantile(histogram, 50), -1);
	assert_int_equal(histogram_supported(histogram, 50), -1);
	assert_int_equal(histogram_encode(histogram, NULL, 0), 0);
	histogram_free(histogram);
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* One value of the kind at hand: wide, narrow, few-valued, at the edges of buckets, huge. */
static int64_t value_of(int kind)
{
	uint64_t random = draw();

	switch (kind) {
	case 0:
		return (int64_t)(random >> (22 + random % 42));
	case 1:
		return 3000 + (int64_t)(random % 1000);
	case 2:
		return random % 100 ? 2047 : 2048;
	case 3:
		return (int64_t)(1ULL << (random % 42)) - (int64_t)(random >> 63);
	default:
		return HISTOGRAM_HIGHEST - (int64_t)(random % 5000000000);
	}
}
#define VALUE_KINDS 5

/* The exact value: the smallest that PERCENT of the samples do not exceed. PERCENT is in
 * millionths. */
static int64_t exact_quantile(const int64_t *sorted, size_t count, uint64_t millionths)
{
	uint64_t rank = (count * millionths + 99999999) / 100000000;

	return sorted[rank ? rank - 1 : 0];
}

#define SAMPLES 20000

static void test_quantiles_against_exact(void **state)
{
	static const uint64_t percents[] = { 0,        1,        10000000, 50000000, 90000000,
					     99000000, 99900000, 99990000, 99999000, 100000000 };
	static int64_t values[SAMPLES];

	(void)state;
	for (int kind = 0; kind < VALUE_KINDS; kind++) {
		struct histogram *histogram = histogram_new();

		for (size_t i = 0; i < SAMPLES; i++) {
			values[i] = value_of(kind);
			histogram_record(histogram, values[i], 1);
		}
		qsort(values, SAMPLES, sizeof(values[0]), by_value);
		assert_int_equal(histogram->min, values[0]);
		assert_int_equal(histogram->max, values[SAMPLES - 1]);
		for (size_t p = 0; p < sizeof(percents) / sizeof(percents[0]); p++) {
			int64_t exact = exact_quantile(values, SAMPLES, percents[p]);
			int64_t got = histogram_quantile(histogram, (double)percents[p] / 1e6);

			assert_true(got >= exact);
			assert_true((got - exact) * 1024 <= exact);
		}
		histogram_free(histogram);
	}
}

/* Percentages whose doubles are not exact must not move the rank: with values 1 to N each bucket
 * (below 2,048) is one rank. */
static void test_ranks_are_not_rounded_up(void **state)
{
	(void)state;
	for (int64_t count = 1; count <= 2000; count = count < 100 ? count + 1 : count + 100) {
		struct histogram *histogram = histogram_new();

		for (int64_t i = 1; i <= count; i++)
			histogram_record(histogram, i, 1);
		for (int64_t thousandth = 1; thousandth <= 1000; thousandth++) {
			int64_t rank = (count * thousandth + 999) / 1000;

			assert_int_equal(histogram_quantile(histogram, (double)thousandth / 10.0),
					 rank);
		}
		histogram_free(histogram);
	}
}

static void test_quantile_is_monotone(void **state)
{
	(void)state;
	for (int kind = 0; kind < VALUE_KINDS; kind++) {
		struct histogram *histogram = histogram_new();
		int64_t before = -1;

		for (int i = 0; i < 1000; i++)
			histogram_record(histogram, value_of(kind), 1 + draw() % 1000000);
		for (double percent = 0; percent <= 100; percent += 0.013) {
			int64_t value = histogram_quantile(histogram, percent);

			assert_true(value >= before);
			before = value;
		}
		assert_int_equal(histogram_quantile(histogram, 100), histogram->max);
		histogram_free(histogram);
	}
}

/* From which count on a percentile is shown: the least n with (p/100)^n ≤ 0.05. */
static void test_supported(void **state)
{
	static const struct {
		double percent;
		uint64_t count;
	} rows[] = { { 50, 5 },      { 90, 29 },       { 99, 299 },
		     { 99.9, 2995 }, { 99.99, 29956 }, { 99.999, 299572 } };
	struct histogram *histogram = histogram_new();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		histogram_reset(histogram);
		histogram_record(histogram, 77, rows[i].count - 1);
		assert_int_equal(histogram_supported(histogram, rows[i].percent), -1);
		histogram_record(histogram, 77, 1);
		assert_int_equal(histogram_supported(histogram, rows[i].percent), 77);
	}
	assert_int_equal(histogram_supported(histogram, 100), -1);
	histogram_free(histogram);
}

static void test_merge_is_record(void **state)
{
	struct histogram *parts[3] = { histogram_new(), histogram_new(), histogram_new() };
	struct histogram *whole = histogram_new(), *merged = histogram_new();

	(void)state;
	for (int i = 0; i < 30000; i++) {
		int64_t value = value_of(i % VALUE_KINDS) - 10;

		histogram_record(whole, value, 1);
		histogram_record(parts[draw() % 2], value, 1); /* the third stays empty */
	}
	for (int i = 2; i >= 0; i--)
		histogram_merge(merged, parts[i]);
	assert_memory_equal(merged, whole, sizeof(*whole));
	for (int i = 0; i < 3; i++)
		histogram_free(parts[i]);
	histogram_free(whole);
	histogram_free(merged);
}

static void test_counts_beyond_32_bits(void **state)
{
	struct histogram *histogram = histogram_new();

	(void)state;
	histogram_record(histogram, 100, 5000000000);
	histogram_record(histogram, 200, 15000000000);
	histogram_merge(histogram, histogram);
	assert_int_equal(histogram->count, 40000000000);
	assert_int_equal(histogram_quantile(histogram, 25), 100);
	assert_int_equal(histogram_quantile(histogram, 25.1), 200);
	histogram_record(histogram, 300, UINT64_MAX);
	assert_true(histogram->count == UINT64_MAX); /* sticks, does not wrap */
	histogram_free(histogram);
}

/* The correction by its definition, one value at a time. */
static void correct_slowly(struct histogram *into, const struct histogram *from, int64_t interval)
{
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		int64_t high = histogram_high(i), value = high < from->max ? high : from->max;

		if (!from->counts[i])
			continue;
		into->counts[i] += from->counts[i];
		into->count += from->counts[i];
		for (int64_t left = value - interval; left >= interval; left -= interval)
			histogram_record(into, left, from->counts[i]);
	}
}

static void test_correction(void **state)
{
	static const int64_t intervals[] = { 1, 7, 1000, 2048, 100000, 1000000 };

	(void)state;
	for (size_t k = 0; k < sizeof(intervals) / sizeof(intervals[0]); k++) {
		struct histogram *from = histogram_new();
		struct histogram *got = histogram_new(), *wanted = histogram_new();
		int64_t range = intervals[k] * 3000;

		for (int i = 0; i < 200; i++)
			histogram_record(from, (int64_t)(draw() % (uint64_t)range), 1 + draw() % 3);
		histogram_correct(got, from, intervals[k]);
		correct_slowly(wanted, from, intervals[k]);
		assert_int_equal(got->count, wanted->count);
		assert_memory_equal(got->counts, wanted->counts, sizeof(got->counts));
		assert_int_equal(got->max, from->max);
		assert_true(got->min <= from->min);
		histogram_free(from);
		histogram_free(got);
		histogram_free(wanted);
	}
}

/*
 * What it is for: a sampler that is stalled takes one sample where a periodic observer would have
 * taken one an interval. The corrected histogram of the stalled sampler is the observer's, but for
 * the last one: a sample of less than an interval is not added, since it can't be told from an
 * ordinary one.
 */
static void test_correction_against_simulation(void **state)
{
	const int64_t interval = 1000;
	struct histogram *stalled = histogram_new(), *observer = histogram_new();
	struct histogram *corrected = histogram_new();

	(void)state;
	for (int stall = 0; stall < 50; stall++) {
		int64_t length = (int64_t)(1 + draw() % 400) * interval;

		histogram_record(stalled, length, 1);
		for (int64_t late = length; late > 0; late -= interval)
			histogram_record(observer, late, 1);
		histogram_record(stalled, 10, 100);
		histogram_record(observer, 10, 100);
	}
	histogram_correct(corrected, stalled, interval);
	assert_true(corrected->count <= observer->count);
	assert_true(corrected->count + 50 >= observer->count);
	for (double percent = 1; percent < 100; percent++) {
		int64_t a = histogram_quantile(corrected, percent);
		int64_t b = histogram_quantile(observer, percent);

		assert_true(a <= b + b / 100 + interval && b <= a + a / 100 + interval);
	}
	histogram_free(stalled);
	histogram_free(observer);
	histogram_free(corrected);
}

/* An hour's stall at an interval of 1 ns is 10^12 values: counted by buckets, not one by one. */
static void test_correction_is_bounded(void **state)
{
	struct histogram *from = histogram_new(), *into = histogram_new();

	(void)state;
	histogram_record(from, 3600000000000, 1);
	histogram_record(from, INT64_MAX, 1);
	histogram_correct(into, from, 1);
	/* of a bucket the upper end counts */
	assert_true(into->count == 3601330077695U + INT64_MAX);
	histogram_reset(into);
	histogram_correct(into, from, 0); /* no interval, no correction */
	assert_int_equal(into->count, 2);
	histogram_free(from);
	histogram_free(into);
}

static void check_round_trip(const struct histogram *histogram)
{
	size_t size = histogram_encode(histogram, NULL, 0);
	unsigned char *data = malloc(size + 1);
	struct histogram *back = histogram_new();

	assert_non_null(data);
	data[size] = 0xa5;
	assert_int_equal(histogram_encode(histogram, data, size), size);
	assert_int_equal(data[size], 0xa5);
	assert_int_equal(histogram_decode(back, data, size), 0);
	assert_int_equal(back->count, histogram->count);
	assert_memory_equal(back->counts, histogram->counts, sizeof(back->counts));
	if (histogram->count) {
		assert_int_equal(histogram_bucket(back->min), histogram_bucket(histogram->min));
		assert_int_equal(histogram_bucket(back->max), histogram_bucket(histogram->max));
	}
	if (size) /* a number cut in the middle, or a histogram that ends early: never more than
		     this */
		assert_true(histogram_decode(back, data, size - 1) == -EBADMSG ||
			    back->count < histogram->count);
	free(data);
	histogram_free(back);
}

static void test_round_trip(void **state)
{
	struct histogram *histogram = histogram_new();

	(void)state;
	check_round_trip(histogram);
	for (int kind = 0; kind < VALUE_KINDS; kind++) {
		histogram_reset(histogram);
		for (int i = 0; i < 5000; i++)
			histogram_record(histogram, value_of(kind),
					 1 + (draw() >> (8 + draw() % 56)));
		check_round_trip(histogram);
	}
	histogram_reset(histogram);
	histogram_record(histogram, INT64_MAX, INT64_MAX);
	check_round_trip(histogram);
	for (int64_t i = 0; i < 4000; i++)
		histogram_record(histogram, 2 * i, 1); /* single zeroes between */
	check_round_trip(histogram);
	histogram_free(histogram);
}

/* HdrHistogram's own examples of its numbers (ZigZagEncoding): the sign in the lowest bit, seven
 * bits a byte, eight in the ninth. */
static void test_packed_bytes(void **state)
{
	static const struct {
		int64_t first; /* value recorded … */
		uint64_t count;
		size_t size;
		unsigned char bytes[12];
	} rows[] = {
		{ 0, 1, 1, { 0x02 } },
		{ 0, 63, 1, { 0x7e } },
		{ 0, 64, 2, { 0x80, 0x01 } },
		{ 1, 1, 2, { 0x00, 0x02 } },
		{ 2, 1, 2, { 0x03, 0x02 } },
		{ 200, 1, 3, { 0x8f, 0x03, 0x02 } },
		{ 0, 1ULL << 56, 9, { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02 } },
		{ 0, INT64_MAX, 9, { 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } },
	};
	struct histogram *histogram = histogram_new();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned char data[16];

		histogram_reset(histogram);
		histogram_record(histogram, rows[i].first, rows[i].count);
		assert_int_equal(histogram_encode(histogram, data, sizeof(data)), rows[i].size);
		assert_memory_equal(data, rows[i].bytes, rows[i].size);
	}
	histogram_free(histogram);
}

static void test_malformed(void **state)
{
	static const struct {
		size_t size;
		unsigned char bytes[12];
	} rows[] = {
		{ 1, { 0x80 } },             /* ends within a number */
		{ 3, { 0x81, 0x90, 0x04 } }, /* more zeroes than buckets: -33,793 */
		{ 9,
		  { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } }, /* INT64_MIN zeroes */
		{ 4, { 0xff, 0x8f, 0x04, 0x02 } }, /* a count behind the last bucket */
	};
	struct histogram *histogram = histogram_new();
	unsigned char overflow[27];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		histogram_record(histogram, 5, 5);
		assert_int_equal(histogram_decode(histogram, rows[i].bytes, rows[i].size),
				 -EBADMSG);
		assert_int_equal(histogram->count, 0);
		assert_int_equal(histogram_quantile(histogram, 50), -1);
	}
	for (size_t i = 0; i < sizeof(overflow); i++)
		overflow[i] = i % 9 ? 0xff : 0xfe; /* three times INT64_MAX */
	assert_int_equal(histogram_decode(histogram, overflow, sizeof(overflow)), -EBADMSG);
	assert_int_equal(histogram_decode(histogram, NULL, 0), 0);
	histogram_free(histogram);
}

/* Random bytes, and good ones with some changed: refused, or a histogram whose parts agree. */
static void test_random_bytes(void **state)
{
	struct histogram *histogram = histogram_new();
	int accepted = 0;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		unsigned char data[64];
		size_t size = draw() % sizeof(data);
		uint64_t sum = 0;
		int err;

		for (size_t i = 0; i < size; i++)
			data[i] = (unsigned char)(draw() >> 40) & (round % 2 ? 0xff : 0x7f);
		err = histogram_decode(histogram, data, size);
		assert_true(err == 0 || err == -EBADMSG);
		if (err)
			continue;
		accepted++;
		for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
			sum += histogram->counts[i];
		assert_true(sum == histogram->count);
		assert_true(!sum || histogram->min <= histogram->max);
	}
	assert_true(accepted > 100); /* else nothing but refusals was tried */
	histogram_free(histogram);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buckets),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_quantiles_against_exact),
		cmocka_unit_test(test_ranks_are_not_rounded_up),
		cmocka_unit_test(test_quantile_is_monotone),
		cmocka_unit_test(test_supported),
		cmocka_unit_test(test_merge_is_record),
		cmocka_unit_test(test_counts_beyond_32_bits),
		cmocka_unit_test(test_correction),
		cmocka_unit_test(test_correction_against_simulation),
		cmocka_unit_test(test_correction_is_bounded),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_packed_bytes),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_random_bytes),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}

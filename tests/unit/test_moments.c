// SPDX-License-Identifier: GPL-2.0-or-later
#include "stat/moments.h"

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

#define near(a, b, relative) assert_true(fabs((a) - (b)) <= (relative)*fabs(b))

static void test_empty(void **state)
{
	struct moments moments = { 0 }, other = { 0 };

	(void)state;
	assert_true(isnan(moments_stddev(&moments)));
	moments_add_sums(&moments, 0, 0, 0);
	moments_merge(&moments, &other);
	assert_int_equal(moments.count, 0);
	moments_add_sums(&other, 1, 7, 49);
	moments_merge(&moments, &other);
	near(moments.mean, 7.0, 0);
	assert_true(moments_stddev(&moments) == 0);
}

/* 2 4 4 4 5 5 7 9: mean 5, standard deviation of the population 2. */
static void test_known(void **state)
{
	struct moments moments = { 0 };

	(void)state;
	moments_add_sums(&moments, 3, 10, 36);
	moments_add_sums(&moments, 5, 30, 196);
	assert_int_equal(moments.count, 8);
	near(moments.mean, 5.0, 1e-15);
	near(moments_stddev(&moments), 2.0, 1e-15);
}

/* Against two passes in long double, with a large mean and a small spread, added window by window.
 * The sum of all squares at once would have lost the spread. */
static void test_no_cancellation(void **state)
{
	const size_t windows = 2000, each = 1000;
	struct moments moments = { 0 };
	long double sum = 0, squares = 0;
	uint64_t random = 1;

	(void)state;
	for (size_t w = 0; w < windows; w++) {
		double window_sum = 0, window_squares = 0;

		for (size_t i = 0; i < each; i++) {
			double value;

			random = random * 6364136223846793005U + 1442695040888963407U;
			value = 3e6 + (double)(random >> 54) + (double)w / 100;
			window_sum += value;
			window_squares += value * value;
			sum += value;
			squares += ((long double)value - 3e6L) * ((long double)value - 3e6L);
		}
		moments_add_sums(&moments, each, window_sum, window_squares);
	}
	sum /= (long double)(windows * each);
	squares = squares / (long double)(windows * each) - (sum - 3e6L) * (sum - 3e6L);
	near(moments.mean, (double)sum, 1e-12);
	near(moments_stddev(&moments), (double)sqrtl(squares), 1e-6);
}

static void test_order_does_not_matter(void **state)
{
	struct moments a = { 0 }, b = { 0 }, c = { 0 }, left, right;

	(void)state;
	moments_add_sums(&a, 1000, 3000000, 9.1e9);
	moments_add_sums(&b, 10, 500000, 2.6e10);
	moments_add_sums(&c, 1, 4e9, 1.6e19);
	left = a;
	moments_merge(&left, &b);
	moments_merge(&left, &c);
	right = c;
	moments_merge(&b, &a);
	moments_merge(&right, &b);
	assert_int_equal(left.count, right.count);
	near(left.mean, right.mean, 1e-12);
	near(left.m2, right.m2, 1e-12);
}

/* Sums whose rounding makes the variance negative give none, not NaN. */
static void test_rounding(void **state)
{
	struct moments moments = { 0 };

	(void)state;
	moments_add_sums(&moments, 3, 3e8, 3e16 - 8);
	assert_true(moments_stddev(&moments) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_no_cancellation),
		cmocka_unit_test(test_order_does_not_matter),
		cmocka_unit_test(test_rounding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "stat/window.h"

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

#define SECOND INT64_C(1000000000)

/* The I-th window of a run, whose figures all follow from I. */
static struct window nth(int64_t i)
{
	int64_t peak = (int64_t)((uint64_t)(i + 1) * 0x9e3779b97f4a7c15U >> 40);

	return (struct window){
		.start_ns = i * SECOND,
		.length_ns = SECOND,
		.count = 10,
		.missed = i % 3 == 0,
		.min_ns = 100 + i % 17,
		.max_ns = 1000 + peak,
		.max_at_ns = i * SECOND + 5,
		.sum_ns = 2000 + (double)i,
		.sum_squares = 500000 + (double)i,
		.moves = i % 2,
		.faults = 1,
		.switches = i,
		.steal_ns = 7,
	};
}

static void fill(struct windows *windows, int64_t count)
{
	*windows = (struct windows){ 0 };
	for (int64_t i = 0; i < count; i++) {
		struct window window = nth(i);

		assert_int_equal(windows_add(windows, &window), 0);
		assert_true(windows->count <= WINDOWS_MAX);
	}
	assert_int_equal(windows_finish(windows), 0);
}

static void test_merge(void **state)
{
	struct window a = nth(4), b = nth(5), sum = a;

	(void)state;
	window_merge(&sum, &b);
	assert_int_equal(sum.start_ns, a.start_ns);
	assert_int_equal(sum.length_ns, 2 * SECOND);
	assert_int_equal(sum.count, 20);
	assert_int_equal(sum.missed, 0);
	assert_int_equal(sum.min_ns, 104);
	assert_int_equal(sum.max_ns, a.max_ns > b.max_ns ? a.max_ns : b.max_ns);
	assert_int_equal(sum.max_at_ns, a.max_ns > b.max_ns ? a.max_at_ns : b.max_at_ns);
	assert_int_equal(sum.moves, 1);
	assert_int_equal(sum.faults, 2);
	assert_int_equal(sum.switches, 9);
	assert_int_equal(sum.steal_ns, 14);
	assert_true(window_mean(&sum) == 4009.0 / 20);
}

/* Unknown stays unknown, from either side; an empty window has no min and max to give. */
static void test_merge_unknown_and_empty(void **state)
{
	struct window empty = { .start_ns = 5 * SECOND,
				.length_ns = SECOND,
				.moves = -1,
				.faults = -1,
				.switches = -1,
				.steal_ns = -1 };
	struct window before = nth(4), after = nth(6), sum = before;

	(void)state;
	window_merge(&sum, &empty);
	assert_int_equal(sum.min_ns, before.min_ns);
	assert_int_equal(sum.max_ns, before.max_ns);
	assert_int_equal(sum.moves, -1);
	assert_int_equal(sum.faults, -1);
	assert_int_equal(sum.switches, -1);
	assert_int_equal(sum.steal_ns, -1);
	assert_int_equal(sum.length_ns, 2 * SECOND);
	window_merge(&empty, &after);
	assert_int_equal(empty.min_ns, after.min_ns);
	assert_int_equal(empty.max_ns, after.max_ns);
	assert_int_equal(empty.max_at_ns, after.max_at_ns);
	assert_int_equal(empty.moves, -1);
}

static void test_mean_and_stddev(void **state)
{
	struct window window = { .count = 8, .sum_ns = 40, .sum_squares = 232 }, none = { 0 };
	struct window alike = { .count = 3, .sum_ns = 3e8, .sum_squares = 3e16 - 8 };

	(void)state;
	assert_true(window_mean(&window) == 5);
	assert_true(window_stddev(&window) == 2);
	assert_true(isnan(window_mean(&none)));
	assert_true(isnan(window_stddev(&none)));
	assert_true(window_stddev(&alike) == 0);
}

static void test_few_are_kept_as_they_are(void **state)
{
	struct windows windows;

	(void)state;
	fill(&windows, WINDOWS_MAX);
	assert_int_equal(windows.count, WINDOWS_MAX);
	assert_int_equal(windows.merged, 0);
	for (int64_t i = 0; i < WINDOWS_MAX; i++) {
		struct window wanted = nth(i);

		assert_memory_equal(&windows.items[i], &wanted, sizeof(wanted));
	}
	windows_free(&windows);
}

/* Whatever the length: every window is the exact sum of the ones it spans, none is lost, all but
 * the last are equally long. */
static void check_run(int64_t count)
{
	struct windows windows;
	int64_t next = 0, span;

	fill(&windows, count);
	span = (int64_t)1 << windows.merged;
	assert_true(windows.count > WINDOWS_MAX / 2 || count <= WINDOWS_MAX / 2);
	for (size_t i = 0; i < windows.count; i++) {
		int64_t parts = count - next < span ? count - next : span;
		struct window wanted = nth(next);

		for (int64_t k = 1; k < parts; k++) {
			struct window part = nth(next + k);

			window_merge(&wanted, &part);
		}
		assert_memory_equal(&windows.items[i], &wanted, sizeof(wanted));
		next += parts;
	}
	assert_int_equal(next, count);
	assert_int_equal(windows.pending_parts, 0);
	windows_free(&windows);
	assert_null(windows.items);
}

static void test_long_runs(void **state)
{
	static const int64_t counts[] = { 1,    16,   17,   511,  512,  513,  514,   515,
					  1023, 1024, 1025, 1026, 1027, 2049, 12345, 259200 };

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		check_run(counts[i]);
}

static void test_finish_without_any(void **state)
{
	struct windows windows = { 0 };

	(void)state;
	assert_int_equal(windows_finish(&windows), 0);
	assert_int_equal(windows.count, 0);
	windows_free(&windows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_merge_unknown_and_empty),
		cmocka_unit_test(test_mean_and_stddev),
		cmocka_unit_test(test_few_are_kept_as_they_are),
		cmocka_unit_test(test_long_runs),
		cmocka_unit_test(test_finish_without_any),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

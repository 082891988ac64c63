// SPDX-License-Identifier: GPL-2.0-or-later
#include "result/figure.h"
#include "result/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void fill(struct cpu_result *result, const int64_t *values, size_t count)
{
	double sum = 0, squares = 0;

	*result = (struct cpu_result){ .histogram = histogram_new(), .samples = count };
	assert_non_null(result->histogram);
	for (size_t i = 0; i < count; i++) {
		histogram_record(result->histogram, values[i], 1);
		sum += (double)values[i];
		squares += (double)values[i] * (double)values[i];
	}
	moments_add_sums(&result->moments, count, sum, squares);
	result->min_ns = result->histogram->min;
	result->max_ns = result->histogram->max;
}

static int64_t known(const char *name, const struct cpu_result *result)
{
	const struct figure *figure = figure_find(name);
	int64_t value = -1;

	assert_non_null(figure);
	assert_true(figure->value(figure, result, &value));
	return value;
}

static bool is_known(const char *name, const struct cpu_result *result)
{
	const struct figure *figure = figure_find(name);
	int64_t value;

	assert_non_null(figure);
	return figure->value(figure, result, &value);
}

static void each_figure_is_found_by_its_name(void **state)
{
	(void)state;
	for (const struct figure *figure = figures; figure->name; figure++) {
		assert_ptr_equal(figure_find(figure->name), figure);
		assert_true(strlen(figure->what) > 0);
		assert_int_equal(figure->percent > 0, figure->name[0] == 'p');
	}
	assert_null(figure_find("p98"));
	assert_null(figure_find(""));
	for (size_t i = 0; i < 6; i++) {
		char name[16] = "p";

		strncat(name, shown_percent_names[i], sizeof(name) - 2);
		assert_true(figure_find(name)->percent == shown_percents[i]);
	}
}

static void values_of_a_small_sample(void **state)
{
	static const int64_t values[] = { 1000, 1200, 1001, 1500 };
	struct cpu_result result;

	(void)state;
	fill(&result, values, 4);
	result.missed = 3;
	assert_int_equal(known("min", &result), 1000);
	assert_int_equal(known("max", &result), 1500);
	assert_int_equal(known("mean", &result), 1175);  /* 1175.25 */
	assert_int_equal(known("stddev", &result), 204); /* 204.54 */
	assert_int_equal(known("missed", &result), 3);
	/* five samples are the fewest of which a median can be told (0.5^5 ≤ 0.05) */
	assert_false(is_known("p50", &result));
	histogram_free(result.histogram);
}

static void percentiles_need_their_samples(void **state)
{
	struct cpu_result result;
	int64_t values[400];

	(void)state;
	for (int i = 0; i < 400; i++)
		values[i] = i + 1;
	fill(&result, values, 400);
	assert_int_equal(known("p50", &result), 200);
	assert_int_equal(known("p90", &result), 360);
	assert_int_equal(known("p99", &result), 396);
	assert_false(is_known("p99.9", &result));
	assert_false(is_known("p99.999", &result));
	histogram_free(result.histogram);
}

static void nothing_is_known_of_no_samples(void **state)
{
	struct cpu_result result;

	(void)state;
	fill(&result, NULL, 0);
	for (const struct figure *figure = figures; figure->name; figure++)
		assert_false(is_known(figure->name, &result));
	/* but periods were seen to be missed */
	result.missed = 9;
	assert_int_equal(known("missed", &result), 9);
	histogram_free(result.histogram);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_figure_is_found_by_its_name),
		cmocka_unit_test(values_of_a_small_sample),
		cmocka_unit_test(percentiles_need_their_samples),
		cmocka_unit_test(nothing_is_known_of_no_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

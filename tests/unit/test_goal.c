// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/fail.h"
#include "result/goal.h"
#include "result/session.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void the_standing_sets(void **state)
{
	struct goals goals;

	(void)state;
	assert_int_equal(goals_parse(&goals, "industrial", NULL), 0);
	assert_int_equal(goals.count, 3);
	assert_string_equal(goals.goals[0].name, "p99");
	assert_int_equal(goals.goals[0].limit, 80000);
	assert_string_equal(goals.goals[1].name, "stddev");
	assert_int_equal(goals.goals[1].limit, 15000);
	assert_string_equal(goals.goals[2].name, "irq_latency");
	assert_int_equal(goals.goals[2].limit, 100000);
	assert_null(goals.goals[2].figure);
	assert_int_equal(goals_parse(&goals, "video", NULL), 0);
	assert_int_equal(goals.goals[0].limit, 400000);
	assert_int_equal(goals.goals[1].limit, 80000);
	assert_int_equal(goals.goals[2].limit, 500000);
	assert_int_equal(goals_parse(&goals, "control", NULL), 0);
	assert_int_equal(goals.count, 1);
	assert_string_equal(goals.goals[0].name, "max");
	assert_int_equal(goals.goals[0].limit, 50000);
	for (size_t i = 0; goal_names[i]; i++) {
		assert_int_equal(goals_parse(&goals, goal_names[i], NULL), 0);
		assert_string_equal(goals.text, goal_names[i]);
		assert_non_null(goal_name_help[i]);
	}
}

static void own_goals(void **state)
{
	struct goals goals;

	(void)state;
	assert_int_equal(goals_parse(&goals, "p99=80us,stddev=1.5ms,max=200µs,missed=0", NULL), 0);
	assert_int_equal(goals.count, 4);
	assert_int_equal(goals.goals[0].limit, 80000);
	assert_int_equal(goals.goals[1].limit, 1500000);
	assert_int_equal(goals.goals[2].limit, 200000);
	assert_int_equal(goals.goals[3].limit, 0);
	assert_string_equal(goals.goals[3].name, "missed");
	assert_int_equal(goals_parse(&goals,
				     "min=1h,mean=1us,stddev=1ns,p50=1us,p90=1us,p99=1us,p99.9=1us,"
				     "p99.99=1us,p99.999=1us,max=1us,missed=7",
				     NULL),
			 0);
	assert_int_equal(goals.count, 11);
}

static void nonsense_is_refused_in_one_line(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "", "empty" },
		{ ",", "empty" },
		{ "p99=80us,", "empty" },
		{ "industial", "did you mean industrial?" },
		{ "industrial,max=5us", "stands alone" },
		{ "p99", "no limit" },
		{ "xyzzyplugh", "neither a set" },
		{ "p98=80us", "did you mean p9" },
		{ "stdev=15us", "did you mean stddev?" },
		{ "irq_latency=5us", "not what this measures" },
		{ "=80us", "no such figure" },
		{ "quux=80us", "no such figure" },
		{ "p99=", "no time" },
		{ "p99=80", "no time" },
		{ "p99=fast", "no time" },
		{ "p99==80us", "no time" },
		{ "p99=-80us", "no time" },
		{ "p99= 80us", "no time" },
		{ "p99=0", "never be met" },
		{ "p99=0us", "never be met" },
		{ "p99=0.1ns", "less than 1 ns" },
		{ "p99=99999999999999999d", "too long" },
		{ "missed=1us", "no whole number" },
		{ "missed=-1", "no whole number" },
		{ "missed=99999999999999999999", "too large" },
		{ "missed=9223372036854775808", "too large" },
		{ "p99=80us,p99=90us", "given twice" },
		{ "p99=80us;max=1ms", "no time" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct goals goals = { .count = 99 };
		struct fail fail = { "" };

		assert_int_equal(goals_parse(&goals, rows[i].text, &fail), -EINVAL);
		if (!strstr(fail.text, rows[i].says))
			fail_msg("'%s' gave: %s", rows[i].text, fail.text);
		assert_null(strchr(fail.text, '\n'));
		assert_int_equal(goals.count, 99);
	}
}

static void too_long_a_text_is_refused(void **state)
{
	char text[300] = "p99=";
	struct goals goals;
	struct fail fail;

	(void)state;
	memset(text + 4, '1', 200);
	assert_int_equal(goals_parse(&goals, text, &fail), -EINVAL);
	assert_non_null(strstr(fail.text, "longer than 127"));
}

/* 1,000 samples of VALUE but for one of 1 ms. */
static struct cpu_result sample(int64_t value)
{
	struct cpu_result result = { .samples = 1000, .histogram = histogram_new() };
	double v = (double)value;

	assert_non_null(result.histogram);
	histogram_record(result.histogram, value, 999);
	histogram_record(result.histogram, 1000000, 1);
	moments_add_sums(&result.moments, 1000, 999 * v + 1e6, 999 * v * v + 1e12);
	result.min_ns = value;
	result.max_ns = 1000000;
	return result;
}

static void verdicts(void **state)
{
	static const struct {
		const char *goal;
		enum verdict verdict;
		enum goal_state first;
	} rows[] = {
		{ "p99=80us", VERDICT_MET, GOAL_MET },
		{ "p99=10us", VERDICT_MISSED, GOAL_MISSED }, /* at the limit is not below it */
		{ "max=1ms", VERDICT_MISSED, GOAL_MISSED },
		{ "max=1000001ns", VERDICT_MET, GOAL_MET },
		{ "missed=0", VERDICT_MET, GOAL_MET }, /* at the limit is not above it */
		{ "p99.999=80us", VERDICT_UNKNOWN, GOAL_UNKNOWN },
		{ "p99.999=80us,p99=80us", VERDICT_UNKNOWN, GOAL_UNKNOWN },
		{ "p99.999=80us,max=80us", VERDICT_MISSED, GOAL_UNKNOWN },
		/* what can't be measured here does not count; stddev is 31.3 µs */
		{ "industrial", VERDICT_MISSED, GOAL_MET },
		{ "video", VERDICT_MET, GOAL_MET },
	};
	struct cpu_result result = sample(10000);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct goals goals;

		assert_int_equal(goals_parse(&goals, rows[i].goal, NULL), 0);
		goals_judge(&goals, &result);
		if (goals.verdict != rows[i].verdict)
			fail_msg("%s: %s", rows[i].goal, verdict_name(goals.verdict));
		assert_int_equal(goals.goals[0].state, rows[i].first);
	}
	histogram_free(result.histogram);
}

static void a_fraction_of_stddev_decides(void **state)
{
	struct cpu_result result = { .samples = 2 };
	struct goals goals;

	(void)state;
	/* 0 and 1,999 have a stddev of 999.5 ns, 0 and 2,001 one of 1,000.5 ns */
	moments_add_sums(&result.moments, 2, 1999, 1999.0 * 1999.0);
	assert_int_equal(goals_parse(&goals, "stddev=1us", NULL), 0);
	goals_judge(&goals, &result);
	assert_int_equal(goals.goals[0].state, GOAL_MET);
	result.moments = (struct moments){ 0 };
	moments_add_sums(&result.moments, 2, 2001, 2001.0 * 2001.0);
	goals_judge(&goals, &result);
	assert_int_equal(goals.goals[0].state, GOAL_MISSED);
}

static void no_samples_no_verdict(void **state)
{
	struct cpu_result result = { .histogram = histogram_new() };
	struct goals goals = { 0 };

	(void)state;
	goals_judge(&goals, &result);
	assert_int_equal(goals.verdict, VERDICT_NONE);
	assert_int_equal(goals_parse(&goals, "industrial", NULL), 0);
	goals_judge(&goals, &result);
	assert_int_equal(goals.verdict, VERDICT_UNKNOWN);
	assert_int_equal(goals_parse(&goals, "missed=0", NULL), 0);
	goals_judge(&goals, &result);
	assert_int_equal(goals.verdict, VERDICT_UNKNOWN);
	histogram_free(result.histogram);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_standing_sets),
		cmocka_unit_test(own_goals),
		cmocka_unit_test(nonsense_is_refused_in_one_line),
		cmocka_unit_test(too_long_a_text_is_refused),
		cmocka_unit_test(verdicts),
		cmocka_unit_test(a_fraction_of_stddev_decides),
		cmocka_unit_test(no_samples_no_verdict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Short simulations with fixed seeds; tests/slow has the long ones that the rates were accepted by.
 */
#include "stat/shape.h"

#include "../slow/simulate.h"
#include "stat/drift.h"
#include "stat/fft.h"
#include "stat/peaks.h"
#include "stat/period.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MS     INT64_C(1000000)
#define SECOND INT64_C(1000000000)

static struct run run;

static int setup(void **state)
{
	*state = NULL;
	run.histogram = histogram_new();
	return run.histogram ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	histogram_free(run.histogram);
	windows_free(&run.windows);
	return 0;
}

/* A run of MODEL with the SEED-th seed, into run. */
static struct simulation make_run(const struct simulation *model, unsigned seed)
{
	struct simulation s = *model;

	s.state = 0x9e3779b97f4a7c15U * (seed + 1);
	s.interval_ns = s.interval_ns ? s.interval_ns : MS;
	s.window_ns = s.window_ns ? s.window_ns : SECOND;
	histogram_reset(run.histogram);
	windows_free(&run.windows);
	run.largest = (struct largest){ 0 };
	simulate(&s, &run);
	return s;
}

static struct shape shape_of(const struct simulation *model, unsigned seed)
{
	struct simulation s = make_run(model, seed);
	struct shape shape;

	shape_find(&shape, run.histogram, &run.largest, &run.windows, s.interval_ns, s.length_ns);
	return shape;
}

static struct period period_of(const struct simulation *model, unsigned seed)
{
	struct simulation s = make_run(model, seed);
	struct period period;

	assert_int_equal(
		period_find(&period, &run.largest, s.interval_ns, s.window_ns, s.length_ns), 0);
	return period;
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(shape_name(SHAPE_UNKNOWN), "unknown");
	assert_string_equal(shape_name(SHAPE_ONE_PEAK), "one peak");
	assert_string_equal(shape_name(SHAPE_TWO_PEAKS), "two peaks");
	assert_string_equal(shape_name(SHAPE_LONG_TAIL), "long tail");
	assert_string_equal(shape_name(SHAPE_DRIFT), "drift");
}

static void test_too_little(void **state)
{
	struct windows windows = { 0 };
	struct shape shape;

	(void)state;
	histogram_reset(run.histogram);
	run.largest = (struct largest){ 0 };
	for (int i = 0; i < 1000; i++) {
		shape_find(&shape, run.histogram, &run.largest, &windows, MS, (i + 1) * MS);
		assert_int_equal(shape.kind, SHAPE_UNKNOWN);
		assert_int_equal(shape.peaks, 0);
		assert_int_equal(shape.period_ns, 0);
		assert_false(shape.drifts);
		histogram_record(run.histogram, 3000, 1);
		largest_record(&run.largest, i * MS, 3000);
	}
	shape_find(&shape, run.histogram, NULL, &windows, MS, SECOND);
	assert_int_equal(shape.kind, SHAPE_ONE_PEAK);
	assert_int_equal(shape.peaks, 1);
}

static void test_kinds(void **state)
{
	static const struct {
		struct simulation model;
		enum shape_kind kind;
		unsigned peaks;
		int64_t period_ns;
	} rows[] = {
		{ { .noise = NOISE_EXPONENTIAL }, SHAPE_ONE_PEAK, 1, 0 },
		{ { .noise = NOISE_AR }, SHAPE_ONE_PEAK, 1, 0 },
		{ { .noise = NOISE_PARETO }, SHAPE_LONG_TAIL, 1, 0 },
		{ { .plant = PLANT_SPIKES, .period_ns = 20 * MS }, SHAPE_TWO_PEAKS, 2, 20 * MS },
		{ { .plant = PLANT_BLOCKS, .period_ns = SECOND / 3, .block_ns = 2 * MS },
		  SHAPE_TWO_PEAKS,
		  2,
		  SECOND / 3 },
		{ { .drift = 0.3 }, SHAPE_DRIFT, 1, 0 },
		{ { .noise = NOISE_PARETO, .drift = 0.3 }, SHAPE_DRIFT, 1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct simulation model = rows[i].model;
		struct shape shape;

		model.length_ns = 40 * SECOND;
		shape = shape_of(&model, (unsigned)i);
		assert_int_equal(shape.kind, rows[i].kind);
		assert_int_equal(shape.peaks, rows[i].peaks);
		assert_true(llabs(shape.period_ns - rows[i].period_ns) <= rows[i].period_ns / 100);
		assert_int_equal(shape.drifts, rows[i].kind == SHAPE_DRIFT);
	}
}

/* 4 µs on average, growing by 30 % in 40 s: 1.2 µs in 40 s. */
static void test_drift_rate(void **state)
{
	struct simulation model = { .length_ns = 40 * SECOND, .drift = 0.3 };
	struct shape shape = shape_of(&model, 5);

	(void)state;
	assert_true(fabs(shape.drift_ns_per_hour / (1200 * 90.0) - 1) < 0.1);
	model.drift = -0.3;
	shape = shape_of(&model, 6);
	assert_true(fabs(shape.drift_ns_per_hour / (-1200 * 90.0) - 1) < 0.1);
}

static void record_normal(struct simulation *random, double mean, double width, int count)
{
	for (int i = 0; i < count; i++)
		histogram_record(run.histogram, (int64_t)(mean + width * gaussian(random)), 1);
}

static void test_peaks_where_they_are(void **state)
{
	struct simulation random = { .state = 1 };
	struct peak peaks[SHAPE_PEAKS_MAX];

	(void)state;
	histogram_reset(run.histogram);
	record_normal(&random, 3000, 150, 50000);
	record_normal(&random, 4500, 200, 40000);
	record_normal(&random, 60000, 3000, 9700);
	record_normal(&random, 2e6, 1e5, 300);
	record_normal(&random, 9e6, 1e5, 60); /* too few to be called a peak */
	assert_int_equal(peaks_find(run.histogram, peaks, SHAPE_PEAKS_MAX), 4);
	assert_true(llabs(peaks[0].ns - 3000) < 60);
	assert_true(llabs(peaks[1].ns - 4500) < 90);
	assert_true(llabs(peaks[2].ns - 60000) < 1800);
	assert_true(llabs(peaks[3].ns - 2000000) < 60000);
	assert_true(fabs(peaks[0].share - 0.5) < 0.01);
	assert_true(fabs(peaks[2].share - 0.097) < 0.002);
	assert_int_equal(peaks_find(run.histogram, peaks, 2), 2); /* the largest by share */
	assert_true(llabs(peaks[1].ns - 4500) < 90);
	assert_int_equal(peaks_find(run.histogram, peaks, 0), 0);
}

/* Few samples make ragged histograms: no raggedness may pass for a peak. */
static void test_no_peaks_from_noise(void **state)
{
	struct simulation random = { .state = 2 };
	struct peak peaks[SHAPE_PEAKS_MAX];
	int wrong = 0;

	(void)state;
	for (int i = 0; i < 500; i++) {
		histogram_reset(run.histogram);
		for (int k = 0; k < 1000; k++)
			histogram_record(run.histogram,
					 (int64_t)(3000 * pow(uniform(&random), -0.5)), 1);
		wrong += peaks_find(run.histogram, peaks, SHAPE_PEAKS_MAX) != 1;
	}
	assert_in_range(wrong, 0, 2);
}

/* A clock that ticks in steps makes combs; their teeth are no peaks. 19.2 MHz and 24 MHz counters,
 * a microsecond, a 32 kHz clock. */
static void test_coarse_clocks(void **state)
{
	static const double steps[] = { 52.083, 41.667, 100, 1000 };
	struct simulation random = { .state = 3 };
	struct peak peaks[SHAPE_PEAKS_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		histogram_reset(run.histogram);
		for (int k = 0; k < 50000; k++) {
			double ns = 300 + (1500 + 1.5 * steps[i]) * -log(uniform(&random));

			histogram_record(run.histogram, (int64_t)(floor(ns / steps[i]) * steps[i]),
					 1);
		}
		assert_int_equal(peaks_find(run.histogram, peaks, SHAPE_PEAKS_MAX), 1);
	}
}

static void test_extreme_histograms(void **state)
{
	struct peak peaks[SHAPE_PEAKS_MAX];

	(void)state;
	histogram_reset(run.histogram);
	assert_int_equal(peaks_find(run.histogram, peaks, SHAPE_PEAKS_MAX), 0);
	histogram_record(run.histogram, 0, 1000);
	assert_int_equal(peaks_find(run.histogram, peaks, SHAPE_PEAKS_MAX), 1);
	histogram_record(run.histogram, INT64_MAX, UINT32_MAX);
	histogram_record(run.histogram, -7, UINT32_MAX);
	assert_int_equal(peaks_find(run.histogram, peaks, SHAPE_PEAKS_MAX), 2);
	assert_true(peaks[0].ns < 100 && peaks[1].ns > HISTOGRAM_HIGHEST / 100 * 95);
}

static void test_period_is_found(void **state)
{
	static const struct simulation rows[] = {
		{ .plant = PLANT_SPIKES, .length_ns = 20 * SECOND, .period_ns = 10 * MS },
		{ .plant = PLANT_SPIKES, .length_ns = 20 * SECOND, .period_ns = 100 * MS },
		{ .plant = PLANT_SPIKES, .length_ns = 20 * SECOND, .period_ns = SECOND },
		{ .plant = PLANT_SPIKES, .length_ns = 20 * SECOND, .period_ns = 4 * SECOND },
		{ .plant = PLANT_SPIKES, .length_ns = 60 * SECOND, .period_ns = 4 * SECOND },
		{ .plant = PLANT_RELATIVE, .length_ns = 30 * SECOND, .period_ns = 100 * MS },
		{ .noise = NOISE_BURSTS,
		  .plant = PLANT_SPIKES,
		  .length_ns = 30 * SECOND,
		  .period_ns = SECOND },
		/* hits and misses: 200 µs are met by a fifth of the windows only */
		{ .plant = PLANT_BLOCKS,
		  .length_ns = 60 * SECOND,
		  .period_ns = 10 * MS,
		  .block_ns = 200000 },
		{ .plant = PLANT_BLOCKS,
		  .length_ns = 60 * SECOND,
		  .period_ns = 33333333,
		  .block_ns = 200000 },
		/* an hour at 10 ms: the spectrum can't hold it at the sampling's resolution */
		{ .plant = PLANT_SPIKES,
		  .length_ns = 3600 * SECOND,
		  .period_ns = 60 * SECOND,
		  .interval_ns = 10 * MS },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (unsigned seed = 1; seed <= 4; seed++) {
			struct period period = period_of(&rows[i], seed);
			int64_t truth =
				rows[i].period_ns + (rows[i].plant == PLANT_RELATIVE ? 20000 : 0);

			assert_true(llabs(period.period_ns - truth) <= truth / 100);
			assert_true(period.p <= PERIOD_P_LIMIT);
		}
	}
}

/* Once a second among three times as many larger spikes at random: the second itself, none of its
 * fractions. */
static void test_period_among_larger_spikes(void **state)
{
	const struct simulation model = { .plant = PLANT_SPIKES,
					  .length_ns = 20 * SECOND,
					  .period_ns = SECOND };
	int right = 0;

	(void)state;
	for (unsigned seed = 500; seed < 520; seed++) {
		struct simulation s = make_run(&model, seed);
		struct period period;

		for (int i = 0; i < 60; i++)
			largest_record(&run.largest, (int64_t)(uniform(&s) * 20e9),
				       MS + (int64_t)(8e6 * uniform(&s)));
		period_find(&period, &run.largest, MS, SECOND, 20 * SECOND);
		right += llabs(period.period_ns - SECOND) <= SECOND / 100;
	}
	assert_in_range(right, 18, 20);
}

static void test_no_period_in_noise(void **state)
{
	int wrong = 0;

	(void)state;
	for (int noise = 0; noise < NOISE_KINDS; noise++) {
		struct simulation model = { .noise = (enum noise)noise, .length_ns = 20 * SECOND };

		for (unsigned seed = 100; seed < 112; seed++)
			wrong += period_of(&model, seed).period_ns != 0;
	}
	assert_in_range(wrong, 0, 2); /* of 60: at a true rate of 1 % more come once in 40 */
}

/* Faster than five intervals: not reported, and no beat with the sampling, no multiple in its
 * place. */
static void test_no_beats(void **state)
{
	static const int64_t periods[] = { 990000, 1010000, 1700000, 3330000, 4000000 };

	(void)state;
	for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
		struct simulation model = { .plant = PLANT_BLOCKS,
					    .length_ns = 30 * SECOND,
					    .period_ns = periods[i],
					    .block_ns = 100000 };

		for (unsigned seed = 0; seed < 4; seed++)
			assert_int_equal(period_of(&model, seed).period_ns, 0);
	}
}

/* Spikes at the start of every window are the sampler's own; a disturber of the same period that
 * sits elsewhere in it is one. */
static void test_windows_are_no_disturber(void **state)
{
	static const int64_t offsets[] = { 0, 300 * MS };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct simulation random = { .state = 4 };
		struct period period;

		run.largest = (struct largest){ 0 };
		for (int64_t t = 0; t < 30000; t++) {
			bool spike = (t * MS - offsets[i]) % SECOND == 0;

			largest_record(&run.largest, t * MS,
				       (spike ? 100000 : 3000) +
					       (int64_t)(1000 * uniform(&random)));
		}
		assert_int_equal(period_find(&period, &run.largest, MS, SECOND, 30 * SECOND), 0);
		assert_int_equal(period.period_ns != 0, offsets[i] != 0);
	}
}

static void test_period_of_nonsense(void **state)
{
	struct period period;

	(void)state;
	run.largest = (struct largest){ 0 };
	for (int64_t i = 0; i < 4096; i++) {
		largest_record(&run.largest, 0, INT64_MAX / 2);
		period_find(&period, &run.largest, MS, SECOND, 20 * SECOND);
		assert_int_equal(period.period_ns, 0);
		i += i / 2;
	}
	for (int64_t i = 0; i < 4096; i++)
		largest_record(&run.largest, INT64_MAX / 4096 * i, -i);
	assert_int_equal(period_find(&period, &run.largest, MS, SECOND, 20 * SECOND), 0);
	assert_int_equal(period_find(&period, &run.largest, 0, 0, 0), 0);
	assert_int_equal(period_find(&period, &run.largest, 1, 1, INT64_MAX), 0);
	assert_int_equal(period_find(&period, &run.largest, INT64_MAX, 1, 1), 0);
	assert_int_equal(period.period_ns, 0);
}

static void test_drift_against_memory(void **state)
{
	static double hours[200], values[200];
	int wrong = 0, found = 0;

	(void)state;
	for (int round = 0; round < 40; round++) {
		struct simulation random = { .state = (uint64_t)round + 1 };
		struct drift drift;
		double level = 0;

		for (int i = 0; i < 200; i++) {
			hours[i] = i / 3600.0;
			level = 0.6 * level + gaussian(&random);
			values[i] = 100 + level;
		}
		drift_find(&drift, hours, values, 200);
		wrong += drift.p <= DRIFT_P_LIMIT;
		for (int i = 0; i < 200; i++)
			values[i] += 0.03 * i;
		drift_find(&drift, hours, values, 200);
		found += drift.p <= DRIFT_P_LIMIT;
		assert_true(fabs(drift.ns_per_hour - 108) < 40);
	}
	assert_in_range(wrong, 0, 1);
	assert_in_range(found, 38, 40);
}

/* A daily wave over three days is no trend; with a trend under it, that is found. */
static void test_drift_with_a_daily_wave(void **state)
{
	static double hours[432], values[432];
	struct simulation random = { .state = 9 };
	struct drift drift;

	(void)state;
	for (int i = 0; i < 432; i++) {
		hours[i] = i / 6.0;
		values[i] = 100 + 20 * sin(2 * M_PI * hours[i] / 24 + 1) + 5 * gaussian(&random);
	}
	drift_find(&drift, hours, values, 432);
	assert_true(drift.p > DRIFT_P_LIMIT);
	for (int i = 0; i < 432; i++)
		values[i] += 0.2 * hours[i];
	drift_find(&drift, hours, values, 432);
	assert_true(drift.p <= DRIFT_P_LIMIT);
}

static void test_drift_of_nonsense(void **state)
{
	static double hours[DRIFT_MAX + 1], values[DRIFT_MAX + 1];
	struct drift drift;

	(void)state;
	for (int i = 0; i <= DRIFT_MAX; i++)
		hours[i] = i;
	drift_find(&drift, hours, values, DRIFT_MAX); /* all alike */
	assert_true(drift.p == 1);
	for (int i = 0; i <= DRIFT_MAX; i++)
		values[i] = i;
	drift_find(&drift, hours, values, DRIFT_MIN - 1);
	assert_true(drift.p == 1);
	drift_find(&drift, hours, values, DRIFT_MAX + 1);
	assert_true(drift.p == 1);
}

/* Noise that remembers nearly for ever wanders like a trend: mostly nothing can be told, and then
 * nothing is claimed. */
static void test_drift_against_wandering(void **state)
{
	static double hours[DRIFT_MAX], values[DRIFT_MAX];
	int wrong = 0;

	(void)state;
	for (int round = 0; round < 40; round++) {
		struct simulation random = { .state = (uint64_t)round + 1 };
		struct drift drift;
		double level = 0;

		for (int i = 0; i < DRIFT_MAX; i++) {
			hours[i] = i;
			level = 0.98 * level + gaussian(&random);
			values[i] = 1000 + level;
		}
		drift_find(&drift, hours, values, DRIFT_MAX);
		wrong += drift.p <= DRIFT_P_LIMIT;
	}
	assert_in_range(wrong, 0, 3);
}

/* Against sums by the definition. */
static void test_fft(void **state)
{
	static float series[1024], power[1024];
	struct simulation random = { .state = 12 };

	(void)state;
	for (size_t count = 4; count <= 1024; count *= 4) {
		for (size_t i = 0; i < count; i++)
			series[i] = power[i] = (float)gaussian(&random);
		fft_power(power, count);
		for (size_t k = 0; k < count / 2; k++) {
			double re = 0, im = 0;

			for (size_t i = 0; i < count; i++) {
				double angle = 2 * M_PI * (double)(i * k % count) / (double)count;

				re += (double)series[i] * cos(angle);
				im += (double)series[i] * sin(angle);
			}
			assert_true(fabs((double)power[k] - re * re - im * im) <
				    1e-4 * (double)count);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_too_little),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_drift_rate),
		cmocka_unit_test(test_peaks_where_they_are),
		cmocka_unit_test(test_no_peaks_from_noise),
		cmocka_unit_test(test_coarse_clocks),
		cmocka_unit_test(test_extreme_histograms),
		cmocka_unit_test(test_period_is_found),
		cmocka_unit_test(test_period_among_larger_spikes),
		cmocka_unit_test(test_no_period_in_noise),
		cmocka_unit_test(test_no_beats),
		cmocka_unit_test(test_windows_are_no_disturber),
		cmocka_unit_test(test_period_of_nonsense),
		cmocka_unit_test(test_drift_against_memory),
		cmocka_unit_test(test_drift_with_a_daily_wave),
		cmocka_unit_test(test_drift_of_nonsense),
		cmocka_unit_test(test_drift_against_wandering),
		cmocka_unit_test(test_fft),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

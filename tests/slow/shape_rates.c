// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How often the shape's statements are right and wrong, over many simulated runs. One line a row:
 *   name runs found right wrong slowest_ms
 * test_shape_rates.py says what they must be. Usage: shape_rates [RUNS] (default 400).
 */
#include "stat/drift.h"
#include "stat/period.h"
#include "stat/shape.h"

#include "simulate.h"

#include <stdio.h>
#include <time.h>

#define MS     INT64_C(1000000)
#define SECOND INT64_C(1000000000)

static const struct row {
	const char *name;
	struct simulation model;
} rows[] = {
	/* nothing planted: what is found is wrong */
	{ "null-exponential-20s", { .noise = NOISE_EXPONENTIAL, .length_ns = 20 * SECOND } },
	{ "null-exponential-60s", { .noise = NOISE_EXPONENTIAL, .length_ns = 60 * SECOND } },
	{ "null-pareto-20s", { .noise = NOISE_PARETO, .length_ns = 20 * SECOND } },
	{ "null-pareto-60s", { .noise = NOISE_PARETO, .length_ns = 60 * SECOND } },
	{ "null-ar-20s", { .noise = NOISE_AR, .length_ns = 20 * SECOND } },
	{ "null-ar-60s", { .noise = NOISE_AR, .length_ns = 60 * SECOND } },
	{ "null-ar-slow-60s", { .noise = NOISE_AR_SLOW, .length_ns = 60 * SECOND } },
	{ "null-bursts-60s", { .noise = NOISE_BURSTS, .length_ns = 60 * SECOND } },
	{ "null-exponential-600s", { .noise = NOISE_EXPONENTIAL, .length_ns = 600 * SECOND } },
	{ "null-fixed-phase-60s",
	  { .noise = NOISE_PARETO, .length_ns = 60 * SECOND, .fixed_phase = true } },
	/* faster than the sampling can show: likewise */
	{ "null-beat-990us",
	  { .plant = PLANT_BLOCKS,
	    .length_ns = 60 * SECOND,
	    .period_ns = 990000,
	    .block_ns = 100000 } },
	{ "null-beat-1700us",
	  { .plant = PLANT_BLOCKS,
	    .length_ns = 60 * SECOND,
	    .period_ns = 1700000,
	    .block_ns = 100000 } },
	{ "null-fast-4ms",
	  { .plant = PLANT_BLOCKS,
	    .length_ns = 60 * SECOND,
	    .period_ns = 4 * MS,
	    .block_ns = 100000 } },
	/* planted */
	{ "spikes-10ms-20s",
	  { .plant = PLANT_SPIKES, .length_ns = 20 * SECOND, .period_ns = 10 * MS } },
	{ "spikes-100ms-20s",
	  { .plant = PLANT_SPIKES, .length_ns = 20 * SECOND, .period_ns = 100 * MS } },
	{ "spikes-1s-20s",
	  { .plant = PLANT_SPIKES, .length_ns = 20 * SECOND, .period_ns = SECOND } },
	{ "spikes-4s-20s",
	  { .plant = PLANT_SPIKES, .length_ns = 20 * SECOND, .period_ns = 4 * SECOND } },
	{ "spikes-10ms-60s",
	  { .plant = PLANT_SPIKES, .length_ns = 60 * SECOND, .period_ns = 10 * MS } },
	{ "spikes-100ms-60s",
	  { .plant = PLANT_SPIKES, .length_ns = 60 * SECOND, .period_ns = 100 * MS } },
	{ "spikes-1s-60s",
	  { .plant = PLANT_SPIKES, .length_ns = 60 * SECOND, .period_ns = SECOND } },
	{ "spikes-4s-60s",
	  { .plant = PLANT_SPIKES, .length_ns = 60 * SECOND, .period_ns = 4 * SECOND } },
	{ "spikes-bursts-4s-60s",
	  { .noise = NOISE_BURSTS,
	    .plant = PLANT_SPIKES,
	    .length_ns = 60 * SECOND,
	    .period_ns = 4 * SECOND } },
	{ "relative-100ms-60s",
	  { .plant = PLANT_RELATIVE, .length_ns = 60 * SECOND, .period_ns = 100 * MS } },
	{ "blocks-10ms-60s",
	  { .plant = PLANT_BLOCKS,
	    .length_ns = 60 * SECOND,
	    .period_ns = 10 * MS,
	    .block_ns = 200000 } },
	{ "blocks-100ms-60s",
	  { .plant = PLANT_BLOCKS,
	    .length_ns = 60 * SECOND,
	    .period_ns = 100 * MS,
	    .block_ns = 500000 } },
	{ "blocks-1s-60s",
	  { .plant = PLANT_BLOCKS,
	    .length_ns = 60 * SECOND,
	    .period_ns = SECOND,
	    .block_ns = 2 * MS } },
	{ "spikes-100ms-600s",
	  { .plant = PLANT_SPIKES, .length_ns = 600 * SECOND, .period_ns = 100 * MS } },
};

static struct run run;

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static struct simulation make_run(const struct simulation *model, unsigned seed)
{
	struct simulation s = *model;

	s.state = 0x9e3779b97f4a7c15U * (seed + 1);
	s.interval_ns = MS;
	s.window_ns = SECOND;
	histogram_reset(run.histogram);
	windows_free(&run.windows);
	run.largest = (struct largest){ 0 };
	simulate(&s, &run);
	return s;
}

static void periods(const struct row *row, unsigned runs)
{
	int64_t truth = row->model.period_ns + (row->model.plant == PLANT_RELATIVE ? 20000 : 0);
	unsigned found = 0, right = 0;
	double slowest = 0;

	for (unsigned seed = 0; seed < runs; seed++) {
		struct simulation s = make_run(&row->model, seed);
		struct period period;
		double start = now_ms();

		period_find(&period, &run.largest, s.interval_ns, s.window_ns, s.length_ns);
		slowest = fmax(slowest, now_ms() - start);
		found += period.period_ns > 0;
		right += period.period_ns > 0 && llabs(period.period_ns - truth) <= truth / 100;
	}
	printf("period-%s %u %u %u %u %.1f\n", row->name, runs, found, right, found - right,
	       slowest);
	fflush(stdout);
}

static void kinds(const char *name, const struct simulation *model, enum shape_kind kind,
		  unsigned runs)
{
	unsigned right = 0;
	double slowest = 0;

	for (unsigned seed = 0; seed < runs; seed++) {
		struct simulation s = make_run(model, seed);
		struct shape shape;
		double start = now_ms();

		shape_find(&shape, run.histogram, NULL, &run.windows, s.interval_ns, s.length_ns);
		slowest = fmax(slowest, now_ms() - start);
		right += shape.kind == kind;
	}
	printf("kind-%s %u %u %u %u %.1f\n", name, runs, runs, right, runs - right, slowest);
	fflush(stdout);
}

/* A series of COUNT windows whose noise remembers RHO of its last value, with a TREND in standard
 * deviations over the whole. */
static void drifts(const char *name, size_t count, double rho, double trend, unsigned runs)
{
	static double hours[DRIFT_MAX], values[DRIFT_MAX];
	unsigned found = 0;

	for (unsigned seed = 0; seed < runs; seed++) {
		struct simulation random = { .state = 7919 * (uint64_t)seed + 1 };
		struct drift drift;
		double level = gaussian(&random);

		for (size_t i = 0; i < count; i++) {
			level = rho * level + sqrt(1 - rho * rho) * gaussian(&random);
			hours[i] = (double)i / 3600;
			values[i] = 100 + level + trend * (double)i / (double)count;
		}
		drift_find(&drift, hours, values, count);
		found += drift.p <= DRIFT_P_LIMIT;
	}
	printf("drift-%s %u %u %u %u 0\n", name, runs, found, trend ? found : 0, trend ? 0 : found);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	unsigned runs = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 400;

	run.histogram = histogram_new();
	if (!run.histogram)
		return 1;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		periods(&rows[i], runs);
	for (int noise = 0; noise < NOISE_AR_SLOW; noise++)
		kinds((const char *[]){ "exponential", "pareto", "ar" }[noise],
		      &(struct simulation){ .noise = (enum noise)noise, .length_ns = 60 * SECOND },
		      noise == NOISE_PARETO ? SHAPE_LONG_TAIL : SHAPE_ONE_PEAK, runs);
	kinds("spikes",
	      &(struct simulation){
		      .plant = PLANT_SPIKES, .length_ns = 60 * SECOND, .period_ns = 100 * MS },
	      SHAPE_TWO_PEAKS, runs);
	kinds("drift", &(struct simulation){ .drift = 0.2, .length_ns = 60 * SECOND }, SHAPE_DRIFT,
	      runs);
	drifts("null-24", 24, 0, 0, runs);
	drifts("null-60", 60, 0, 0, runs);
	drifts("null-60-ar5", 60, 0.5, 0, runs);
	drifts("null-120-ar8", 120, 0.8, 0, runs);
	drifts("null-500-ar9", 500, 0.9, 0, runs);
	drifts("60", 60, 0, 4, runs);
	drifts("500-ar5", 500, 0.5, 4, runs);
	histogram_free(run.histogram);
	windows_free(&run.windows);
	return 0;
}

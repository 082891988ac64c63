// SPDX-License-Identifier: GPL-2.0-or-later
#include "stat/drift.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ORDER_MAX  6
#define REGRESSORS 6 /* constant, trend, two waves of sine and cosine */
#define BOOTSTRAPS 1999
#define MEMORY_MAX 0.95
#define WARM_UP    64

/* A linear model whose columns are orthonormal; the last one is the trend, freed of the others. */
struct model {
	size_t rows, columns;
	double column[REGRESSORS][DRIFT_MAX];
};

/* What remembers: x(t) = sum of coefficient(k) x(t - k) + noise. */
struct memory {
	size_t order;
	double coefficient[ORDER_MAX];
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_of(double *values, size_t count)
{
	qsort(values, count, sizeof(values[0]), by_value);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* The normal quantile of P (Abramowitz & Stegun 26.2.23; error below 4.5e-4). */
static double normal_quantile(double p)
{
	double t = sqrt(-2 * log(p < 0.5 ? p : 1 - p));
	double x = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
			       (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));

	return p < 0.5 ? -x : x;
}

/* Normal scores; equal values get the mean of their ranks. */
static void find_scores(const double *values, size_t count, double *scores)
{
	for (size_t i = 0; i < count; i++) {
		double rank = 0.5;

		for (size_t k = 0; k < count; k++)
			rank += values[k] < values[i]              ? 1
				: values[k] == values[i] && k != i ? 0.5
								   : 0;
		scores[i] = normal_quantile(rank / (double)count);
	}
}

static double dot(const double *a, const double *b, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

/* Takes from VALUES what COLUMN explains, and returns its coefficient. */
static double take_out(double *values, const double *column, size_t count)
{
	double part = dot(values, column, count);

	for (size_t i = 0; i < count; i++)
		values[i] -= part * column[i];
	return part;
}

/* Makes the last column orthonormal to those before (Gram & Schmidt, twice for accuracy). */
static void add_column(struct model *model)
{
	double *column = model->column[model->columns], norm;

	for (int pass = 0; pass < 2; pass++) {
		for (size_t k = 0; k < model->columns; k++)
			take_out(column, model->column[k], model->rows);
	}
	norm = sqrt(dot(column, column, model->rows));
	for (size_t i = 0; i < model->rows; i++)
		column[i] /= norm;
	model->columns++;
}

static void make_model(struct model *model, const double *hours, size_t count)
{
	bool daily = hours[count - 1] - hours[0] >= 48;

	model->rows = count;
	model->columns = 0;
	for (size_t i = 0; i < count; i++)
		model->column[0][i] = 1;
	add_column(model);
	for (int wave = 0; daily && wave < 4; wave++) {
		double *column = model->column[model->columns];

		for (size_t i = 0; i < count; i++)
			column[i] = sin(2 * M_PI * hours[i] / (wave < 2 ? 24 : 12) +
					(wave % 2 ? M_PI / 2 : 0));
		add_column(model);
	}
	memcpy(model->column[model->columns], hours, count * sizeof(hours[0]));
	add_column(model);
}

/* Leaves in VALUES what the model does not explain; returns the trend. */
static double take_model(const struct model *model, double *values)
{
	double trend = 0;

	for (size_t k = 0; k < model->columns; k++)
		trend = take_out(values, model->column[k], model->rows);
	return trend;
}

/* The trend's t-ratio: its variance is that of the products of trend and rest, neighbours weighted
 * by Bartlett's triangle. */
static double trend_ratio(const struct model *model, double *values)
{
	const double *column = model->column[model->columns - 1];
	size_t count = model->rows, lags = (size_t)(1.5 * cbrt((double)count));
	double products[DRIFT_MAX], trend = take_model(model, values), variance;

	for (size_t i = 0; i < count; i++)
		products[i] = values[i] * column[i];
	variance = dot(products, products, count);
	for (size_t lag = 1; lag <= lags; lag++)
		variance += 2 * (1 - (double)lag / (double)(lags + 1)) *
			    dot(products, products + lag, count - lag);
	return trend / sqrt(fmax(variance, 1e-300));
}

/* Yule & Walker's equations by Levinson & Durbin; the order by Akaike's criterion. */
static void fit_memory(struct memory *memory, const double *rest, size_t count)
{
	size_t limit = count / 8 < ORDER_MAX ? count / 8 : ORDER_MAX;
	double at[ORDER_MAX] = { 0 }, old[ORDER_MAX], error = dot(rest, rest, count);
	double best = INFINITY;

	*memory = (struct memory){ 0 };
	for (size_t order = 1; order <= limit; order++) {
		double next = dot(rest, rest + order, count - order), criterion;

		for (size_t k = 1; k < order; k++)
			next -= at[k - 1] * dot(rest, rest + (order - k), count - (order - k));
		next /= error;
		memcpy(old, at, sizeof(at));
		for (size_t k = 1; k < order; k++)
			at[k - 1] = old[k - 1] - next * old[order - k - 1];
		at[order - 1] = next;
		error *= 1 - next * next;
		criterion = (double)count * log(error) + 2 * (double)order;
		if (criterion < best) {
			best = criterion;
			memory->order = order;
			memcpy(memory->coefficient, at, sizeof(at));
		}
	}
}

/* The fit is too forgetful in short series with a trend taken out, by about (2 + 4 rho) / n
 * (Marriott & Pope 1954, with a trend): gives that back, and one standard error more, so that
 * chance does not make the noise look tamer than it is. Returns the sum of the coefficients without
 * that error. */
static double correct_memory(struct memory *memory, size_t count)
{
	double sum = 0, corrected, error, share;

	for (size_t k = 0; k < memory->order; k++)
		sum += memory->coefficient[k];
	corrected = sum + (2 + 4 * fabs(sum)) / (double)count;
	error = sqrt(fmax(0, 1 - sum * sum) / (double)count);
	share = (fmin(0.99, corrected + error) - sum) / (double)memory->order;
	for (size_t k = 0; k < memory->order; k++)
		memory->coefficient[k] += share;
	return corrected;
}

static double foretell(const struct memory *memory, const double *now)
{
	double sum = 0;

	for (size_t k = 0; k < memory->order; k++)
		sum += memory->coefficient[k] * now[-1 - (ptrdiff_t)k];
	return sum;
}

/* What the memory does not foretell, about zero. Returns how many. */
static size_t find_shocks(const struct memory *memory, const double *rest, size_t count,
			  double *shocks)
{
	size_t kept = 0;
	double mean = 0;

	for (size_t i = memory->order; i < count; i++) {
		shocks[kept] = rest[i] - foretell(memory, rest + i);
		mean += shocks[kept++];
	}
	for (size_t i = 0; i < kept; i++)
		shocks[i] -= mean / (double)kept;
	return kept;
}

/* xorshift64* (Vigna 2016). */
static size_t draw(uint64_t *state, size_t count)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (size_t)((*state * 2685821657736338717U) >> 33) % count;
}

/* The chance that series without a trend, with this memory, show a ratio as large. Stops early once
 * it is clear that it is not small. */
static double simulate(const struct model *model, const struct memory *memory, const double *shocks,
		       size_t shock_count, double ratio)
{
	double series[WARM_UP + DRIFT_MAX];
	uint64_t state = 0x9e3779b97f4a7c15U;
	int beyond = 0;

	for (int round = 1; round <= BOOTSTRAPS; round++) {
		memset(series, 0, ORDER_MAX * sizeof(series[0]));
		for (size_t i = ORDER_MAX; i < WARM_UP + model->rows; i++)
			series[i] =
				foretell(memory, series + i) + shocks[draw(&state, shock_count)];
		beyond += fabs(trend_ratio(model, series + WARM_UP)) >= ratio;
		if (beyond >= 10)
			return (double)(beyond + 1) / (round + 1);
	}
	return (double)(beyond + 1) / (BOOTSTRAPS + 1);
}

static double chance(const struct model *model, const double *values)
{
	double rest[DRIFT_MAX], shocks[DRIFT_MAX], ratio;
	struct memory memory;
	size_t shock_count;

	find_scores(values, model->rows, rest);
	ratio = fabs(trend_ratio(model, rest));
	if (!(dot(rest, rest, model->rows) > 1e-9))
		return 1; /* all alike */
	fit_memory(&memory, rest, model->rows);
	if (correct_memory(&memory, model->rows) >= MEMORY_MAX)
		return 1;
	shock_count = find_shocks(&memory, rest, model->rows, shocks);
	return simulate(model, &memory, shocks, shock_count, ratio);
}

/* Theil's incomplete method: each value of the first half against its like in the second. */
static double median_slope(const double *hours, const double *values, size_t count)
{
	double slopes[DRIFT_MAX / 2];
	size_t half = count / 2;

	for (size_t i = 0; i < half; i++)
		slopes[i] = (values[count - half + i] - values[i]) /
			    (hours[count - half + i] - hours[i]);
	return median_of(slopes, half);
}

void drift_find(struct drift *drift, const double *hours, const double *values, size_t count)
{
	double sorted[DRIFT_MAX], middle;
	struct model model;

	*drift = (struct drift){ .p = 1 };
	if (count < DRIFT_MIN || count > DRIFT_MAX)
		return;
	memcpy(sorted, values, count * sizeof(values[0]));
	middle = median_of(sorted, count);
	drift->ns_per_hour = median_slope(hours, values, count);
	if (middle > 0)
		drift->change = drift->ns_per_hour * (hours[count - 1] - hours[0]) / middle;
	make_model(&model, hours, count);
	drift->p = chance(&model, values);
}

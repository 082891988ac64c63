// SPDX-License-Identifier: GPL-2.0-or-later
#include "stat/fft.h"

#include <math.h>

static void swap(float *a, float *b)
{
	float held = *a;

	*a = *b;
	*b = held;
}

/* Brings the numbers into bit-reversed order. */
static void reorder(float *data, size_t count)
{
	for (size_t i = 1, j = 0; i < count; i++) {
		size_t bit = count >> 1;

		for (; j & bit; bit >>= 1)
			j ^= bit;
		j ^= bit;
		if (i < j) {
			swap(&data[2 * i], &data[2 * j]);
			swap(&data[2 * i + 1], &data[2 * j + 1]);
		}
	}
}

#define CHUNK 32

struct factor {
	float re, im;
};

/* COUNT neighbouring pairs: each (a, b) becomes (a + w b, a - w b). */
static void butterflies(float *a, float *b, const struct factor *factors, size_t count)
{
	for (size_t k = 0; k < count; k++, a += 2, b += 2) {
		float re = factors[k].re, im = factors[k].im;
		float x = b[0] * re - b[1] * im, y = b[0] * im + b[1] * re;

		b[0] = a[0] - x;
		b[1] = a[1] - y;
		a[0] += x;
		a[1] += y;
	}
}

/* The factors exp(-pi i k / half) for COUNT k from FIRST. */
static void find_factors(struct factor *factors, size_t first, size_t count, size_t half)
{
	for (size_t k = 0; k < count; k++) {
		double angle = -M_PI * (double)(first + k) / (double)half;

		factors[k] = (struct factor){ (float)cos(angle), (float)sin(angle) };
	}
}

/* Cooley & Tukey 1965, radix 2. Factors are made for some neighbours at a time, and used for all
 * blocks before the next: neither a table nor a walk with long strides is needed. */
void fft_complex(float *data, size_t count)
{
	struct factor factors[CHUNK];

	reorder(data, count);
	for (size_t half = 1; half < count; half *= 2) {
		size_t chunk = half < CHUNK ? half : CHUNK;

		for (size_t first = 0; first < half; first += chunk) {
			find_factors(factors, first, chunk, half);
			for (size_t i = first; i < count; i += 2 * half)
				butterflies(&data[2 * i], &data[2 * (i + half)], factors, chunk);
		}
	}
}

/* The real series is transformed as half as many complex numbers, even and odd members in one,
 * which are then told apart by symmetry. Pairs k and half - k share their inputs. */
void fft_power(float *series, size_t count)
{
	size_t half = count / 2;

	fft_complex(series, half);
	/* powers end up at even places first: the odd ones still hold what is needed */
	for (size_t k = 1; k <= half / 2; k++) {
		float *a = &series[2 * k], *b = &series[2 * (half - k)];
		double even_re = (a[0] + b[0]) / 2, even_im = (a[1] - b[1]) / 2;
		double odd_re = (a[1] + b[1]) / 2, odd_im = (b[0] - a[0]) / 2;
		double angle = -2 * M_PI * (double)k / (double)count;
		double re = odd_re * cos(angle) - odd_im * sin(angle);
		double im = odd_re * sin(angle) + odd_im * cos(angle);

		a[0] = (float)((even_re + re) * (even_re + re) + (even_im + im) * (even_im + im));
		b[0] = (float)((even_re - re) * (even_re - re) + (even_im - im) * (even_im - im));
	}
	series[0] = (series[0] + series[1]) * (series[0] + series[1]);
	for (size_t k = 1; k < half; k++)
		series[k] = series[2 * k];
}

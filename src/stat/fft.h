/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The power spectrum of a series. Pure. */
#pragma once

#include <stddef.h>

/* COUNT complex numbers (a power of two), real and imaginary parts in turn: transforms in place. */
void fft_complex(float *data, size_t count);
/*
 * The squared magnitudes of the Fourier sums of SERIES, COUNT real values (a power of two, at least
 * 4), at frequencies 0 to COUNT / 2 - 1 cycles a COUNT: over the first half of SERIES itself.
 */
void fft_power(float *series, size_t count);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A histogram as a dozen rows of text. Pure. */
#pragma once

struct histogram;
struct sink;

/* Rows with round bounds in µs, spaced by ratio, with bars whose length goes by the logarithm of
 * the count, so that single samples stay in sight. Nothing for an empty histogram. */
void histogram_text(const struct histogram *histogram, struct sink *sink);

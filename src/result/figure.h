/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one list of figures: what can be a goal, be compared, be tracked. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;
struct cpu_result;

enum figure_unit { FIGURE_NS, FIGURE_COUNT };

struct figure {
	const char *name; /* "p99.9", "max", "missed" … */
	const char *what; /* in words */
	enum figure_unit unit;
	double percent; /* for percentiles, else 0 */
	/* *VALUE of a CPU or of all; false where it isn't known. */
	bool (*value)(const struct figure *figure, const struct cpu_result *result, int64_t *value);
};

extern const struct figure figures[]; /* ends with name NULL; lower is better for all */
const struct figure *figure_find(const char *name);

/* The percentiles that every result shows, ascending: 50 90 99 99.9 99.99 99.999. */
extern const double shown_percents[6];
extern const char *const shown_percent_names[6]; /* "50" … "99.999", keys in JSON */

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one line that shows how a long run stands. */
#pragma once

#include <stdint.h>

struct sink;

struct progress_line {
	int64_t elapsed_ns, duration_ns; /* duration 0: open-ended */
	uint64_t samples, missed;
	int64_t max_ns; /* -1: no sample yet */
	int max_cpu;
};

/* Draws over the current line, at most COLUMNS wide. */
void progress_draw(const struct progress_line *line, unsigned columns, struct sink *sink);
/* Takes the line away. */
void progress_clear(struct sink *sink);

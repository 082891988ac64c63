/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A topology for people and for programs. Both only write to the sink; errors stick in it. */
#pragma once

#include <stdbool.h>

struct sink;
struct topology;

enum topology_detail {
	TOPOLOGY_COMPACT, /* on large boards CPUs that are equal share a line */
	TOPOLOGY_WHOLE,   /* one line a CPU, whatever their number */
};

/* At 80 columns, as far as the board's own names allow. */
void topology_write_text(const struct topology *topology, enum topology_detail detail,
			 struct sink *sink);
/* One document, schema punctual/topology/1. */
void topology_write_json(const struct topology *topology, struct sink *sink);

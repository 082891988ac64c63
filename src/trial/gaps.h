/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stretches in which nothing ran for a reason that is not the board's scheduling: the program was
 * stopped (SIGSTOP), the machine slept, or the whole machine stood still (a paused virtual
 * machine). SIGCONT and the clocks tell of the first two while the run goes on; how long a stop
 * was, and whether everything stood still at once, is told by the samplers' largest samples at the
 * end.
 */
#pragma once

#include "result/session.h"

#include <stdint.h>

struct gap_finder {
	size_t count;
	struct gap
		gaps[GAPS_MAX]; /* start on CLOCK_MONOTONIC until settled; a stop: when it ended */
	int64_t suspended_ns, continued_ns, last_look_ns;
};

void gaps_begin(struct gap_finder *finder);
/* At every look of the control thread. */
void gaps_look(struct gap_finder *finder);
/* At the end: moves what is confirmed into SESSION, which started at STARTED. */
void gaps_settle(const struct gap_finder *finder, int64_t started_ns, struct session *session);

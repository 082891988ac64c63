/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stretches in which nothing ran for a reason that is not the board's scheduling: the program was
 * stopped (SIGSTOP), the machine slept, or the whole machine stood still (a paused virtual
 * machine). The control thread's own lateness is the witness; the samplers' largest samples confirm
 * it.
 */
#pragma once

#include "result/session.h"

#include <stdint.h>

struct gap_finder {
	size_t count;
	struct gap gaps[GAPS_MAX]; /* start on CLOCK_MONOTONIC until settled */
	int64_t suspended_ns, continued_ns, last_look_ns;
};

void gaps_begin(struct gap_finder *finder);
/* At every look of the control thread: it wanted to look at WANTED and did NOW. */
void gaps_look(struct gap_finder *finder, int64_t wanted_ns, int64_t now_ns);
/* At the end: moves what is confirmed into SESSION, which started at STARTED. */
void gaps_settle(const struct gap_finder *finder, int64_t started_ns, struct session *session);

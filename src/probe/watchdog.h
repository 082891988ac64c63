/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread of higher priority than the samplers that stops those which never sleep (an interval too
 * short for the board, a source that fails to block), so that a measurement can't lock up a board.
 * It wakes about once a second and makes a few system calls. Where it shares a CPU with a sampler
 * it wakes right after a sample (see sampler_room), so that it is asleep again at the next.
 */
#pragma once

#include <stddef.h>

struct fail;
struct sampler;
struct watchdog;

/* Watches SAMPLERS[0..COUNT), which must outlive it. PRIORITY is the watchdog's own. */
int watchdog_start(struct watchdog **watchdog, struct sampler *const *samplers, size_t count,
		   int priority, struct fail *fail);
/* Ends it; NULL is allowed. */
void watchdog_stop(struct watchdog *watchdog);

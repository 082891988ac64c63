/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One line of the history: what a list shows of a session without loading it. A plain value. */
#pragma once

#include "result/session.h"

#include <stdbool.h>
#include <stdint.h>

struct session_entry {
	char id[SESSION_ID_TEXT];
	int64_t started_wall_ns, duration_ns;
	bool complete;    /* as in struct session */
	bool interrupted; /* likewise */
	bool ended;       /* false: still running, or cut off before its end */
	char cpus[64], source[16], policy[16];
	char kernel[80];             /* "" where unknown */
	char goal[128], verdict[16]; /* as asked for, "" where none; verdict_name */
	uint64_t samples, missed;    /* of all CPUs together */
	int64_t p99_ns, max_ns;      /* -1: not known */
};

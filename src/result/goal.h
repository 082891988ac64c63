/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Goals: limits on figures, and the verdict over them. Pure. */
#pragma once

#include "result/figure.h"

#define GOALS_MAX 16

enum goal_state { GOAL_UNKNOWN, GOAL_MET, GOAL_MISSED };

struct goal {
	const struct figure *figure; /* NULL: one that this measurement can't yield (see name) */
	const char *name;            /* the figure's name */
	int64_t limit; /* met when the value is below it, or for counts not above it */
	int64_t value; /* where state is not GOAL_UNKNOWN */
	enum goal_state state;
};

enum verdict { VERDICT_NONE, VERDICT_MET, VERDICT_MISSED, VERDICT_UNKNOWN };

struct goals {
	char text[128]; /* as it was asked for: "industrial", "p99=80us,max=200us" */
	size_t count;
	struct goal goals[GOALS_MAX];
	enum verdict verdict;
};

/* The named sets: industrial, video, control. NULL-terminated, with a line each. */
extern const char *const goal_names[];
extern const char *const goal_name_help[];

/* A name of a set, or "FIGURE=LIMIT,…" with times in units. -EINVAL naming the offending piece. */
int goals_parse(struct goals *goals, const char *text, struct fail *fail);
/* Judges the figures of ALL. A figure that isn't known makes the verdict unknown unless another one
 * is missed; goals that this measurement can't yield (interrupt latency) don't count. */
void goals_judge(struct goals *goals, const struct cpu_result *all);
const char *verdict_name(enum verdict verdict); /* "none", "met", "missed", "unknown" */

// SPDX-License-Identifier: GPL-2.0-or-later
#include "result/goal.h"

#include "base/fail.h"
#include "base/str.h"
#include "result/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MICROSECOND INT64_C(1000)

/* A figure that no sleeping thread can yield: its name is known, its value never is. */
#define INTERRUPT_LATENCY "irq_latency"

struct named_limit {
	const char *figure; /* NULL ends the list */
	int64_t limit;
};

struct named_set {
	const char *name;
	struct named_limit limits[4];
};

/* The three standing scenarios: control of machines, video, control loops of 1 kHz and faster. */
static const struct named_set sets[] = {
	{ "industrial",
	  { { "p99", 80 * MICROSECOND },
	    { "stddev", 15 * MICROSECOND },
	    { INTERRUPT_LATENCY, 100 * MICROSECOND } } },
	{ "video",
	  { { "p99", 400 * MICROSECOND },
	    { "stddev", 80 * MICROSECOND },
	    { INTERRUPT_LATENCY, 500 * MICROSECOND } } },
	{ "control", { { "max", 50 * MICROSECOND } } },
};

const char *const goal_names[] = { "industrial", "video", "control", NULL };
const char *const goal_name_help[] = {
	"p99 below 80 µs, stddev below 15 µs (and interrupt latency below 100 µs: not measured "
	"here)",
	"p99 below 400 µs, stddev below 80 µs (and interrupt latency below 500 µs: not measured "
	"here)",
	"max below 50 µs",
	NULL,
};

static void use_set(struct goals *goals, const struct named_set *set)
{
	for (const struct named_limit *limit = set->limits; limit->figure; limit++) {
		const struct figure *figure = figure_find(limit->figure);

		goals->goals[goals->count++] = (struct goal){
			.figure = figure,
			.name = figure ? figure->name : limit->figure,
			.limit = limit->limit,
		};
	}
}

#define FIGURES_MAX 32

static int unknown_figure(const char *name, struct fail *fail)
{
	const char *names[FIGURES_MAX + 1];
	const char *nearest;
	size_t count = 0;

	if (!strcmp(name, INTERRUPT_LATENCY))
		return fail_set(
			fail, EINVAL,
			"goal %s: interrupt latency is not what this measures; goals are on %s",
			name, "min, mean, stddev, p50 to p99.999, max and missed");
	for (const struct figure *figure = figures; figure->name && count < FIGURES_MAX; figure++)
		names[count++] = figure->name;
	names[count] = NULL;
	nearest = str_nearest(name, names);
	if (nearest)
		return fail_set(fail, EINVAL, "goal '%.40s': no such figure; did you mean %s?",
				name, nearest);
	return fail_set(fail, EINVAL, "goal '%.40s': no such figure; there are %s", name,
			"min, mean, stddev, p50, p90, p99, p99.9, p99.99, p99.999, max and missed");
}

static int parse_time_limit(const char *name, const char *text, int64_t *limit, struct fail *fail)
{
	int err = str_duration(text, 0, limit);

	if (err == -ERANGE)
		return fail_set(fail, EINVAL, "goal %s: %.40s is too long, or less than 1 ns", name,
				text);
	if (err)
		return fail_set(fail, EINVAL,
				"goal %s: '%.40s' is no time with a unit (like 80us, 1.5ms)", name,
				text);
	if (*limit <= 0)
		return fail_set(fail, EINVAL, "goal %s: the limit %.40s can never be met", name,
				text);
	return 0;
}

static int parse_count_limit(const char *name, const char *text, int64_t *limit, struct fail *fail)
{
	uint64_t count;
	int err = str_u64(text, &count);

	if (err == -ERANGE || (!err && count > INT64_MAX))
		return fail_set(fail, EINVAL, "goal %s: %.40s is too large", name, text);
	if (err)
		return fail_set(fail, EINVAL, "goal %s: '%.40s' is no whole number", name, text);
	*limit = (int64_t)count;
	return 0;
}

static int no_equals_sign(const char *piece, const char *whole, struct fail *fail)
{
	const char *nearest = str_nearest(piece, goal_names);

	if (!*piece)
		return fail_set(fail, EINVAL, "goal '%.80s': a piece of it is empty", whole);
	if (figure_find(piece))
		return fail_set(fail, EINVAL, "goal '%.40s' has no limit; write it as %s=%s", piece,
				piece, figure_find(piece)->unit == FIGURE_COUNT ? "0" : "80us");
	if (nearest && !strcmp(nearest, piece))
		return fail_set(fail, EINVAL, "goal '%.80s': %s is a set of goals and stands alone",
				whole, nearest);
	if (nearest)
		return fail_set(fail, EINVAL, "goal '%.40s': no such set; did you mean %s?", piece,
				nearest);
	return fail_set(
		fail, EINVAL,
		"goal '%.40s' is neither a set (industrial, video, control) nor FIGURE=LIMIT "
		"like p99=80us",
		piece);
}

/* One "FIGURE=LIMIT"; PIECE is cut at the '='. */
static int parse_piece(struct goals *goals, char *piece, const char *whole, struct fail *fail)
{
	char *limit = strchr(piece, '=');
	struct goal goal = { 0 };
	int err;

	if (!limit)
		return no_equals_sign(piece, whole, fail);
	*limit++ = '\0';
	goal.figure = figure_find(piece);
	if (!goal.figure)
		return unknown_figure(piece, fail);
	goal.name = goal.figure->name;
	for (size_t i = 0; i < goals->count; i++) {
		if (goals->goals[i].figure == goal.figure)
			return fail_set(fail, EINVAL, "goal %s is given twice", goal.name);
	}
	err = goal.figure->unit == FIGURE_COUNT
		      ? parse_count_limit(goal.name, limit, &goal.limit, fail)
		      : parse_time_limit(goal.name, limit, &goal.limit, fail);
	if (err)
		return err;
	/* no two of them are the same figure, and there are fewer figures than places */
	goals->goals[goals->count++] = goal;
	return 0;
}

int goals_parse(struct goals *goals, const char *text, struct fail *fail)
{
	struct goals parsed = { 0 };
	char pieces[sizeof(parsed.text)], *piece, *rest = pieces;
	int err;

	if (!*text)
		return fail_set(fail, EINVAL, "the goal is empty");
	if (strlen(text) >= sizeof(parsed.text))
		return fail_set(fail, EINVAL, "goal '%.40s…' is longer than %zu characters", text,
				sizeof(parsed.text) - 1);
	memcpy(parsed.text, text, strlen(text) + 1);
	memcpy(pieces, text, strlen(text) + 1);
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		if (!strcmp(sets[i].name, text)) {
			use_set(&parsed, &sets[i]);
			*goals = parsed;
			return 0;
		}
	}
	while ((piece = strsep(&rest, ","))) {
		err = parse_piece(&parsed, piece, text, fail);
		if (err)
			return err;
	}
	*goals = parsed;
	return 0;
}

static void judge(struct goal *goal, const struct cpu_result *all)
{
	bool met;

	goal->value = 0;
	goal->state = GOAL_UNKNOWN;
	if (!goal->figure || !goal->figure->value(goal->figure, all, &goal->value))
		return;
	met = goal->figure->unit == FIGURE_COUNT ? goal->value <= goal->limit
						 : goal->value < goal->limit;
	goal->state = met ? GOAL_MET : GOAL_MISSED;
}

void goals_judge(struct goals *goals, const struct cpu_result *all)
{
	size_t met = 0, missed = 0, unknown = 0;

	for (size_t i = 0; i < goals->count; i++) {
		struct goal *goal = &goals->goals[i];

		judge(goal, all);
		met += goal->state == GOAL_MET;
		missed += goal->state == GOAL_MISSED;
		unknown += goal->state == GOAL_UNKNOWN && goal->figure;
	}
	if (!goals->count)
		goals->verdict = VERDICT_NONE;
	else if (missed)
		goals->verdict = VERDICT_MISSED;
	else
		goals->verdict = unknown || !met ? VERDICT_UNKNOWN : VERDICT_MET;
}

const char *verdict_name(enum verdict verdict)
{
	switch (verdict) {
	case VERDICT_NONE:
		return "none";
	case VERDICT_MET:
		return "met";
	case VERDICT_MISSED:
		return "missed";
	case VERDICT_UNKNOWN:
		return "unknown";
	}
	return "unknown";
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/fail.h"
#include "result/session.h"
#include "store/columns.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct fail *fail)
{
	return fail_set(fail, ENOMEM, "out of memory");
}

static int parse(const char *text, bool array, const char *what, json_t **document,
		 struct fail *fail)
{
	json_error_t error;

	*document = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!*document)
		return fail_set(fail, EBADMSG, "%s: %s", what, error.text);
	if (array ? json_is_array(*document) : json_is_object(*document))
		return 0;
	json_decref(*document);
	return fail_set(fail, EBADMSG, "%s: no JSON %s", what, array ? "array" : "object");
}

/* Takes members by name; the first one of a wrong type sticks. */
struct reader {
	const json_t *object;
	const char *wrong;
};

static const json_t *member(struct reader *reader, const char *key, bool ok_type(const json_t *))
{
	const json_t *value = json_object_get(reader->object, key);

	if (!value || ok_type(value))
		return value;
	if (!reader->wrong)
		reader->wrong = key;
	return NULL;
}

static bool is_integer(const json_t *value)
{
	return json_is_integer(value);
}

static bool is_number(const json_t *value)
{
	return json_is_number(value) || json_is_null(value);
}

static bool is_boolean(const json_t *value)
{
	return json_is_boolean(value);
}

static bool is_string(const json_t *value)
{
	return json_is_string(value);
}

static bool is_array(const json_t *value)
{
	return json_is_array(value);
}

static void take_i64(struct reader *reader, const char *key, int64_t *into)
{
	const json_t *value = member(reader, key, is_integer);

	if (value)
		*into = json_integer_value(value);
}

static void take_u64(struct reader *reader, const char *key, uint64_t *into)
{
	int64_t value = 0;

	take_i64(reader, key, &value);
	if (value < 0)
		reader->wrong = key;
	else
		*into = (uint64_t)value;
}

static void take_double(struct reader *reader, const char *key, double *into)
{
	const json_t *value = member(reader, key, is_number);

	if (value && !json_is_null(value))
		*into = json_number_value(value);
}

static void take_bool(struct reader *reader, const char *key, bool *into)
{
	const json_t *value = member(reader, key, is_boolean);

	if (value)
		*into = json_is_true(value);
}

static const char *take_string(struct reader *reader, const char *key)
{
	const json_t *value = member(reader, key, is_string);

	return value ? json_string_value(value) : "";
}

static void take_text(struct reader *reader, const char *key, char *into, size_t size)
{
	const char *text = take_string(reader, key);

	if (strlen(text) >= size)
		reader->wrong = key;
	else if (*text)
		memcpy(into, text, strlen(text) + 1);
}

static void take_cpus(struct reader *reader, const char *key, struct cpuset *into)
{
	if (cpuset_parse(take_string(reader, key), -1, into, NULL))
		reader->wrong = key;
}

static int finish(const struct reader *reader, const char *what, struct fail *fail)
{
	if (!reader->wrong)
		return 0;
	return fail_set(fail, EBADMSG, "%s: '%s' is not what it should be", what, reader->wrong);
}

int column_read_settings(struct session *session, const char *text, struct fail *fail)
{
	struct settings *settings = &session->settings;
	struct reader reader = { 0 };
	json_t *document;
	int err = parse(text, false, "settings", &document, fail);

	if (err)
		return err;
	reader.object = document;
	take_text(&reader, "source", settings->source, sizeof(settings->source));
	take_text(&reader, "policy", settings->policy, sizeof(settings->policy));
	take_i64(&reader, "priority", &settings->priority);
	take_i64(&reader, "interval_ns", &settings->interval_ns);
	take_i64(&reader, "duration_ns", &settings->duration_ns);
	take_u64(&reader, "samples", &settings->samples);
	take_i64(&reader, "window_ns", &settings->window_ns);
	take_i64(&reader, "dma_latency_us", &settings->dma_latency_us);
	take_cpus(&reader, "cpus", &settings->cpus);
	take_cpus(&reader, "wakers", &settings->wakers);
	take_bool(&reader, "aligned", &settings->aligned);
	take_bool(&reader, "pinned", &settings->pinned);
	take_bool(&reader, "fixed_phase", &settings->fixed_phase);
	err = finish(&reader, "settings", fail);
	json_decref(document);
	return err;
}

/* The name where it may stay: a figure's own, or that of a goal of the same set which this
 * measurement can't yield. NULL: a figure of a later version. */
static const char *goal_name(const struct goals *parsed, const char *name)
{
	const struct figure *figure = figure_find(name);

	if (figure)
		return figure->name;
	for (size_t i = 0; i < parsed->count; i++) {
		if (!strcmp(parsed->goals[i].name, name))
			return parsed->goals[i].name;
	}
	return NULL;
}

static enum goal_state state_of(const char *name)
{
	return !strcmp(name, "met")      ? GOAL_MET
	       : !strcmp(name, "missed") ? GOAL_MISSED
					 : GOAL_UNKNOWN;
}

static void read_goal(struct goals *goals, const struct goals *parsed, const json_t *object,
		      struct reader *outer)
{
	struct reader reader = { .object = object };
	struct goal goal = { .name = goal_name(parsed, take_string(&reader, "figure")) };

	take_i64(&reader, "limit", &goal.limit);
	take_i64(&reader, "value", &goal.value);
	goal.state = state_of(take_string(&reader, "state"));
	if (reader.wrong || !json_is_object(object) || goals->count == GOALS_MAX) {
		outer->wrong = "goals";
	} else if (goal.name) {
		goal.figure = figure_find(goal.name);
		goals->goals[goals->count++] = goal;
	}
}

static enum verdict verdict_of(const char *name, struct reader *reader)
{
	for (int i = VERDICT_NONE; i <= VERDICT_UNKNOWN; i++) {
		if (!strcmp(verdict_name((enum verdict)i), name))
			return (enum verdict)i;
	}
	reader->wrong = "verdict";
	return VERDICT_UNKNOWN;
}

int column_read_goals(struct session *session, const char *text, struct fail *fail)
{
	struct goals goals = { 0 }, parsed = { 0 };
	struct reader reader = { 0 };
	const json_t *list;
	json_t *document;
	int err = parse(text, false, "goals", &document, fail);

	if (err)
		return err;
	reader.object = document;
	take_text(&reader, "text", goals.text, sizeof(goals.text));
	/* the limits of the day count, not what the name means now: only names are taken from here
	 */
	goals_parse(&parsed, goals.text, NULL);
	goals.verdict = verdict_of(take_string(&reader, "verdict"), &reader);
	list = member(&reader, "goals", is_array);
	for (size_t i = 0; i < json_array_size(list); i++)
		read_goal(&goals, &parsed, json_array_get(list, i), &reader);
	err = finish(&reader, "goals", fail);
	json_decref(document);
	if (!err)
		session->goals = goals;
	return err;
}

static enum shape_kind kind_of(const char *name)
{
	for (int i = SHAPE_UNKNOWN; i <= SHAPE_DRIFT; i++) {
		if (!strcmp(shape_name((enum shape_kind)i), name))
			return (enum shape_kind)i;
	}
	return SHAPE_UNKNOWN;
}

int column_read_shape(struct session *session, const char *text, struct fail *fail)
{
	struct reader reader = { 0 };
	struct shape shape = { 0 };
	int64_t of = -1;
	const json_t *peaks;
	json_t *document;
	int err = parse(text, false, "shape", &document, fail);

	if (err)
		return err;
	reader.object = document;
	shape.kind = kind_of(take_string(&reader, "kind"));
	peaks = member(&reader, "peaks", is_array);
	for (size_t i = 0; i < json_array_size(peaks) && i < SHAPE_PEAKS_MAX; i++) {
		struct reader peak = { .object = json_array_get(peaks, i) };

		take_i64(&peak, "at_ns", &shape.peaks_ns[i]);
		take_double(&peak, "share", &shape.peak_share[i]);
		shape.peaks++;
		if (peak.wrong)
			reader.wrong = "peaks";
	}
	take_i64(&reader, "period_ns", &shape.period_ns);
	take_double(&reader, "period_p", &shape.period_p);
	take_double(&reader, "drift_ns_per_hour", &shape.drift_ns_per_hour);
	take_bool(&reader, "drifts", &shape.drifts);
	take_i64(&reader, "of", &of);
	if (of < -1 || of >= (int64_t)session->cpu_count)
		reader.wrong = "of";
	err = finish(&reader, "shape", fail);
	json_decref(document);
	if (!err) {
		session->shape = shape;
		session->shape_of = (int)of;
	}
	return err;
}

/* Kinds of gaps are few and static in the struct; one of a later version is named as unknown. */
static const char *gap_kind(const char *name)
{
	static const char *const kinds[] = { "stopped", "suspended", "paused" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(kinds[i], name))
			return kinds[i];
	}
	return "unknown";
}

int column_read_gaps(struct session *session, const char *text, struct fail *fail)
{
	struct reader reader = { 0 };
	json_t *document;
	int err = parse(text, true, "gaps", &document, fail);

	if (err)
		return err;
	session->gap_count = 0;
	for (size_t i = 0; i < json_array_size(document) && i < GAPS_MAX; i++) {
		struct gap *gap = &session->gaps[session->gap_count++];

		*gap = (struct gap){ 0 };
		reader.object = json_array_get(document, i);
		take_i64(&reader, "start_ns", &gap->start_ns);
		take_i64(&reader, "length_ns", &gap->length_ns);
		gap->kind = gap_kind(take_string(&reader, "kind"));
	}
	err = finish(&reader, "gaps", fail);
	json_decref(document);
	return err;
}

/* session_distortion keeps a kind that it does not know by the pointer; this one lives in a
 * document that goes away. So it is kept behind the text, in the same allocation. */
static int keep_kind(struct session *session, const char *kind)
{
	struct distortion *added;
	size_t length;
	char *grown;

	if (!session->distortion_count)
		return 0;
	added = &session->distortions[session->distortion_count - 1];
	if (added->kind != kind)
		return 0;
	length = strlen(added->text) + 1;
	grown = realloc(added->text, length + strlen(kind) + 1);
	if (!grown) {
		free(added->text);
		session->distortion_count--;
		return -ENOMEM;
	}
	memcpy(grown + length, kind, strlen(kind) + 1);
	*added = (struct distortion){ .kind = grown + length, .text = grown };
	return 0;
}

int column_read_distortions(struct session *session, const char *text, struct fail *fail)
{
	struct reader reader = { 0 };
	json_t *document;
	int err = parse(text, true, "distortions", &document, fail);

	if (err)
		return err;
	for (size_t i = 0; i < session->distortion_count; i++)
		free(session->distortions[i].text);
	session->distortion_count = 0;
	for (size_t i = 0; !err && i < json_array_size(document); i++) {
		const char *kind;

		reader.object = json_array_get(document, i);
		kind = take_string(&reader, "kind");
		err = session_distortion(session, kind, "%s", take_string(&reader, "text"));
		if (!err)
			err = keep_kind(session, kind);
	}
	err = err ? no_memory(fail) : finish(&reader, "distortions", fail);
	json_decref(document);
	return err;
}

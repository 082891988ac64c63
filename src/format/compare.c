// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/compare.h"

#include "base/json_writer.h"
#include "base/sink.h"
#include "base/str.h"
#include "format/history.h"
#include "format/layout.h"
#include "result/session.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char one_run_each[] =
	"One run each says little: a difference may be chance. Measure both in "
	"turn a few times (A B A B) before you believe it.";

/* One thing of both sessions. */
struct pair {
	bool known_a, known_b;
	int64_t a, b;
};

static struct pair pair_of(const struct figure *figure, const struct cpu_result *a,
			   const struct cpu_result *b)
{
	struct pair pair = { 0 };

	pair.known_a = figure->value(figure, a, &pair.a);
	pair.known_b = figure->value(figure, b, &pair.b);
	return pair;
}

/* Why the figures are not comparable: the settings that forbid it. */
struct reasons {
	size_t count;
	char text[3][80];
};

static struct reasons find_reasons(const struct session *a, const struct session *b)
{
	const struct settings *left = &a->settings, *right = &b->settings;
	struct reasons reasons = { 0 };
	char from[32], to[32];

	if (strcmp(left->source, right->source) != 0)
		snprintf(reasons.text[reasons.count++], sizeof(reasons.text[0]),
			 "source %s against %s", left->source, right->source);
	if (left->interval_ns != right->interval_ns)
		snprintf(reasons.text[reasons.count++], sizeof(reasons.text[0]),
			 "interval %s against %s",
			 str_from_duration(from, sizeof(from), left->interval_ns),
			 str_from_duration(to, sizeof(to), right->interval_ns));
	if (strcmp(left->policy, right->policy) != 0)
		snprintf(reasons.text[reasons.count++], sizeof(reasons.text[0]),
			 "policy %s against %s", left->policy, right->policy);
	return reasons;
}

/* Settings as a flat list, so that they are compared as surroundings are. */
static int add_cpus(struct environment *list, const char *key, const struct cpuset *cpus)
{
	struct strbuf text = STRBUF_INIT;
	int err;

	cpuset_write(cpus, &text.sink);
	err = text.sink.error ? text.sink.error
			      : environment_text(list, key, text.text ? text.text : "");
	strbuf_free(&text);
	return err;
}

static int add_number(struct environment *list, const char *key, int64_t value, int64_t none,
		      const char *reason)
{
	return value == none ? environment_unknown(list, key, reason)
			     : environment_number(list, key, value);
}

static int list_settings(const struct settings *settings, struct environment *list)
{
	int err = environment_text(list, "source", settings->source);

	err = err ? err : environment_text(list, "policy", settings->policy);
	err = err ? err : add_number(list, "priority", settings->priority, 0, "none");
	err = err ? err : environment_number(list, "interval_ns", settings->interval_ns);
	err = err ? err : add_number(list, "duration_ns", settings->duration_ns, 0, "not limited");
	err = err ? err : add_number(list, "samples", (int64_t)settings->samples, 0, "not limited");
	err = err ? err : environment_number(list, "window_ns", settings->window_ns);
	err = err ? err
		  : add_number(list, "dma_latency_us", settings->dma_latency_us, -1, "not held");
	err = err ? err : add_cpus(list, "cpus", &settings->cpus);
	err = err ? err : add_cpus(list, "wakers", &settings->wakers);
	err = err ? err : environment_text(list, "aligned", settings->aligned ? "yes" : "no");
	err = err ? err : environment_text(list, "pinned", settings->pinned ? "yes" : "no");
	return err ? err
		   : environment_text(list, "phase", settings->fixed_phase ? "fixed" : "random");
}

static bool same_item(const struct environment_item *a, const struct environment_item *b)
{
	if (!a || !b || a->kind != b->kind)
		return false;
	switch (a->kind) {
	case ENVIRONMENT_TEXT:
		return !strcmp(a->text, b->text);
	case ENVIRONMENT_NUMBER:
		return a->number == b->number;
	case ENVIRONMENT_UNKNOWN:
		return true;
	}
	return false;
}

/* Told each item that differs; A or B is NULL where that session does not have it. */
typedef void item_teller(void *context, const struct environment_item *a,
			 const struct environment_item *b);

static size_t tell_differences(const struct environment *a, const struct environment *b,
			       item_teller *tell, void *context)
{
	size_t told = 0;

	for (size_t i = 0; i < a->count; i++) {
		const struct environment_item *other = environment_find(b, a->items[i].key);

		if (same_item(&a->items[i], other))
			continue;
		tell(context, &a->items[i], other);
		told++;
	}
	for (size_t i = 0; i < b->count; i++) {
		if (environment_find(a, b->items[i].key))
			continue;
		tell(context, NULL, &b->items[i]);
		told++;
	}
	return told;
}

static size_t tell_settings(const struct session *a, const struct session *b, item_teller *tell,
			    void *context, struct sink *sink)
{
	struct environment left = { 0 }, right = { 0 };
	size_t told = 0;
	int err = list_settings(&a->settings, &left);

	if (!err)
		err = list_settings(&b->settings, &right);
	if (err)
		sink->error = sink->error ? sink->error : err;
	else
		told = tell_differences(&left, &right, tell, context);
	environment_free(&left);
	environment_free(&right);
	return told;
}

/* The CPU's result in SESSION, where its threads are pinned; NULL where it was not measured. */
static const struct cpu_result *find_cpu(const struct session *session, int cpu)
{
	for (size_t i = 0; session->settings.pinned && i < session->cpu_count; i++) {
		if (session->cpus[i].cpu == cpu)
			return &session->cpus[i];
	}
	return NULL;
}

/* Text: µs with two decimals, counts whole. */

static void value_text(char *buf, size_t size, enum figure_unit unit, bool known, int64_t value)
{
	if (!known)
		snprintf(buf, size, LAYOUT_UNKNOWN);
	else if (unit == FIGURE_COUNT)
		snprintf(buf, size, "%" PRId64, value);
	else
		snprintf(buf, size, "%.2f", (double)value / 1e3);
}

static void difference_text(char *buf, size_t size, enum figure_unit unit, const struct pair *pair,
			    bool comparable)
{
	int64_t difference = pair->b - pair->a;

	if (!comparable || !pair->known_a || !pair->known_b)
		snprintf(buf, size, LAYOUT_UNKNOWN);
	else if (unit == FIGURE_COUNT)
		snprintf(buf, size, "%+" PRId64, difference);
	else
		snprintf(buf, size, "%+.2f", (double)difference / 1e3);
}

/* NaN where there is no percentage. */
static double percent_of(const struct pair *pair, bool comparable)
{
	if (!comparable || !pair->known_a || !pair->known_b || !pair->a)
		return NAN;
	return 100 * (double)(pair->b - pair->a) / (double)pair->a;
}

static void right(struct sink *sink, unsigned width, const char *text)
{
	sink_text(sink, " ");
	layout_right(sink, width, text);
}

static void figure_line(const struct figure *figure, const struct pair *pair, bool comparable,
			struct sink *sink)
{
	double percent = percent_of(pair, comparable);
	char text[48];

	sink_text(sink, "  ");
	layout_left(sink, 9, figure->name);
	value_text(text, sizeof(text), figure->unit, pair->known_a, pair->a);
	right(sink, 14, text);
	value_text(text, sizeof(text), figure->unit, pair->known_b, pair->b);
	right(sink, 14, text);
	difference_text(text, sizeof(text), figure->unit, pair, comparable);
	right(sink, 14, text);
	if (isnan(percent))
		snprintf(text, sizeof(text), LAYOUT_UNKNOWN);
	else
		snprintf(text, sizeof(text), "%+.1f %%", percent);
	right(sink, 12, text);
	sink_text(sink, "\n");
}

static void figures_text(const struct session *a, const struct session *b, bool comparable,
			 struct sink *sink)
{
	sink_text(sink, "\nAll CPUs together, latencies in µs\n"
			"                          A              B          B − A        of A\n");
	for (const struct figure *figure = figures; figure->name; figure++) {
		struct pair pair = pair_of(figure, &a->all, &b->all);

		figure_line(figure, &pair, comparable, sink);
	}
}

static void cpu_line(const struct cpu_result *a, const struct cpu_result *b, bool comparable,
		     struct sink *sink)
{
	static const char *const names[] = { "p99", "max" };
	char text[48];

	sink_printf(sink, "  %-5d", a->cpu);
	for (size_t i = 0; i < 2; i++) {
		struct pair pair = pair_of(figure_find(names[i]), a, b);

		sink_text(sink, i ? "   " : "");
		value_text(text, sizeof(text), FIGURE_NS, pair.known_a, pair.a);
		right(sink, 10, text);
		value_text(text, sizeof(text), FIGURE_NS, pair.known_b, pair.b);
		right(sink, 10, text);
		difference_text(text, sizeof(text), FIGURE_NS, &pair, comparable);
		right(sink, 10, text);
	}
	sink_text(sink, "\n");
}

static void cpus_text(const struct session *a, const struct session *b, bool comparable,
		      struct sink *sink)
{
	bool any = false;

	for (size_t i = 0; i < a->cpu_count; i++) {
		const struct cpu_result *left = find_cpu(a, a->cpus[i].cpu);
		const struct cpu_result *other = find_cpu(b, a->cpus[i].cpu);

		if (left != &a->cpus[i] || !other) /* where two threads share a CPU, its first */
			continue;
		if (!any)
			sink_text(sink, "\n  CPU        p99 A      p99 B      B − A        max A"
					"      max B      B − A\n");
		any = true;
		cpu_line(left, other, comparable, sink);
	}
}

/* A value as people read it: durations with their unit, what is unknown with the reason. */
static void item_value(const struct environment_item *item, char *buf, size_t size)
{
	char text[32];
	size_t length;

	if (!item) {
		snprintf(buf, size, LAYOUT_UNKNOWN);
	} else if (item->kind == ENVIRONMENT_TEXT) {
		snprintf(buf, size, "%s", *item->text ? item->text : "(empty)");
	} else if (item->kind == ENVIRONMENT_UNKNOWN) {
		snprintf(buf, size, "unknown (%s)", item->text);
	} else {
		length = strlen(item->key);
		if (length > 3 && !strcmp(item->key + length - 3, "_ns"))
			snprintf(buf, size, "%s",
				 str_from_duration(text, sizeof(text), item->number));
		else
			snprintf(buf, size, "%" PRId64, item->number);
	}
}

#define KEY_WIDTH   28
#define VALUE_WIDTH 23

struct list_text {
	struct sink *sink;
	const char *heading; /* NULL once it is written */
	bool settings;       /* what has no value is not unknown, but not asked for */
};

static void item_text(void *context, const struct environment_item *a,
		      const struct environment_item *b)
{
	struct list_text *list = context;
	char left[1024], other[1024];
	const char *key = a ? a->key : b->key;

	if (list->heading)
		sink_printf(list->sink, "\n%s\n", list->heading);
	list->heading = NULL;
	item_value(a, left, sizeof(left));
	item_value(b, other, sizeof(other));
	if (list->settings && a && a->kind == ENVIRONMENT_UNKNOWN)
		snprintf(left, sizeof(left), "%s", a->text);
	if (list->settings && b && b->kind == ENVIRONMENT_UNKNOWN)
		snprintf(other, sizeof(other), "%s", b->text);
	sink_text(list->sink, "  ");
	if (strlen(key) <= KEY_WIDTH && strlen(left) <= VALUE_WIDTH &&
	    strlen(other) <= VALUE_WIDTH) {
		layout_left(list->sink, KEY_WIDTH, key);
		sink_text(list->sink, " ");
		layout_left(list->sink, VALUE_WIDTH, left);
		sink_printf(list->sink, " %s\n", other);
		return;
	}
	sink_printf(list->sink, "%s\n", key);
	layout_paragraph(list->sink, "    A  ", left);
	layout_paragraph(list->sink, "    B  ", other);
}

static void session_line(const char *name, const struct session *session, struct sink *sink)
{
	char when[32], ran[32], cpus[48];

	sink_printf(sink, "%s  %.8s  %s  ran %s, CPU%s %s%s\n", name, session->id,
		    history_when(when, sizeof(when), session->started_wall_ns),
		    layout_time(ran, sizeof(ran), session->duration_ns),
		    session->cpu_count == 1 ? "" : "s",
		    cpuset_text(&session->settings.cpus, cpus, 20),
		    session->complete ? "" : " (not complete)");
}

void compare_text(const struct session *a, const struct session *b, struct sink *sink)
{
	struct list_text settings = { .sink = sink,
				      .heading = "Settings that differ",
				      .settings = true };
	struct list_text surroundings = { .sink = sink, .heading = "Surroundings that differ" };
	struct reasons reasons = find_reasons(a, b);

	session_line("A", a, sink);
	session_line("B", b, sink);
	if (reasons.count) {
		struct strbuf text = STRBUF_INIT;

		for (size_t i = 0; i < reasons.count; i++)
			sink_printf(&text.sink, "%s%s", i ? "; " : "", reasons.text[i]);
		sink_text(&text.sink, ". They stand side by side, but no differences are formed.");
		sink_text(sink, "\n");
		if (!text.sink.error)
			layout_paragraph(sink, "Not comparable: ", text.text);
		sink->error = sink->error ? sink->error : text.sink.error;
		strbuf_free(&text);
	}
	figures_text(a, b, !reasons.count, sink);
	cpus_text(a, b, !reasons.count, sink);
	if (!tell_settings(a, b, item_text, &settings, sink))
		sink_text(sink, "\nThe settings are the same.\n");
	if (!tell_differences(&a->environment, &b->environment, item_text, &surroundings))
		sink_text(sink, "\nThe recorded surroundings are the same.\n");
	if (!reasons.count) {
		sink_text(sink, "\n");
		layout_paragraph(sink, "", one_run_each);
	}
}

/* JSON */

static void known_json(struct json_writer *json, const char *key, bool known, int64_t value)
{
	if (known)
		json_i64(json, key, value);
	else
		json_null(json, key);
}

static void pair_json(struct json_writer *json, const char *key, const struct figure *figure,
		      const struct pair *pair, bool comparable)
{
	bool ns = figure->unit == FIGURE_NS;

	json_object_inline(json, key);
	if (!key)
		json_text(json, "figure", figure->name);
	known_json(json, ns ? "a_ns" : "a", pair->known_a, pair->a);
	known_json(json, ns ? "b_ns" : "b", pair->known_b, pair->b);
	known_json(json, ns ? "difference_ns" : "difference",
		   comparable && pair->known_a && pair->known_b, pair->b - pair->a);
	json_double(json, "percent", round(100 * percent_of(pair, comparable)) / 100);
	json_end(json);
}

static void cpus_json(const struct session *a, const struct session *b, bool comparable,
		      struct json_writer *json)
{
	static const char *const names[] = { "p99", "max" };

	json_array(json, "cpus");
	for (size_t i = 0; i < a->cpu_count; i++) {
		const struct cpu_result *left = find_cpu(a, a->cpus[i].cpu);
		const struct cpu_result *other = find_cpu(b, a->cpus[i].cpu);

		if (left != &a->cpus[i] || !other)
			continue;
		json_object(json, NULL);
		json_i64(json, "cpu", left->cpu);
		for (size_t j = 0; j < 2; j++) {
			const struct figure *figure = figure_find(names[j]);
			struct pair pair = pair_of(figure, left, other);

			pair_json(json, names[j], figure, &pair, comparable);
		}
		json_end(json);
	}
	json_end(json);
}

static void item_value_json(struct json_writer *json, const char *key,
			    const struct environment_item *item)
{
	if (!item || item->kind == ENVIRONMENT_UNKNOWN)
		json_null(json, key);
	else if (item->kind == ENVIRONMENT_TEXT)
		json_text(json, key, item->text);
	else
		json_i64(json, key, item->number);
}

static void item_json(void *context, const struct environment_item *a,
		      const struct environment_item *b)
{
	struct json_writer *json = context;

	json_object_inline(json, NULL);
	json_text(json, "key", a ? a->key : b->key);
	item_value_json(json, "a", a);
	item_value_json(json, "b", b);
	json_end(json);
}

static void session_object(struct json_writer *json, const char *key, const struct session *session)
{
	json_object(json, key);
	json_text(json, "id", session->id);
	json_instant(json, "started", session->started_wall_ns);
	json_i64(json, "duration_ns", session->duration_ns);
	json_bool(json, "complete", session->complete);
	json_text(json, "source", session->settings.source);
	json_text(json, "policy", session->settings.policy);
	json_i64(json, "interval_ns", session->settings.interval_ns);
	json_u64(json, "samples", session->all.samples);
	json_end(json);
}

void compare_json(const struct session *a, const struct session *b, struct sink *sink)
{
	struct reasons reasons = find_reasons(a, b);
	struct json_writer json;

	json_init(&json, sink);
	json_object(&json, NULL);
	json_text(&json, "schema", "punctual/compare/1");
	session_object(&json, "a", a);
	session_object(&json, "b", b);
	json_bool(&json, "comparable", !reasons.count);
	json_array(&json, "reasons");
	for (size_t i = 0; i < reasons.count; i++)
		json_text(&json, NULL, reasons.text[i]);
	json_end(&json);
	json_text(&json, "remark", one_run_each);
	json_array(&json, "figures");
	for (const struct figure *figure = figures; figure->name; figure++) {
		struct pair pair = pair_of(figure, &a->all, &b->all);

		pair_json(&json, NULL, figure, &pair, !reasons.count);
	}
	json_end(&json);
	cpus_json(a, b, !reasons.count, &json);
	json_array(&json, "settings");
	tell_settings(a, b, item_json, &json, sink);
	json_end(&json);
	json_array(&json, "environment");
	tell_differences(&a->environment, &b->environment, item_json, &json);
	json_end(&json);
	json_end(&json);
}

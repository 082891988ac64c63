// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/json_writer.h"
#include "base/sink.h"
#include "format/compare.h"
#include "format/compare_parts.h"

#include <math.h>

static void known_json(struct json_writer *json, const char *key, bool known, int64_t value)
{
	if (known)
		json_i64(json, key, value);
	else
		json_null_value(json, key);
}

static void pair_json(struct json_writer *json, const char *key, const struct figure *figure,
		      const struct pair *pair, bool comparable)
{
	bool ns = figure->unit == FIGURE_NS;

	json_begin_object_inline(json, key);
	if (!key)
		json_text(json, "figure", figure->name);
	known_json(json, ns ? "a_ns" : "a", pair->known_a, pair->a);
	known_json(json, ns ? "b_ns" : "b", pair->known_b, pair->b);
	known_json(json, ns ? "difference_ns" : "difference",
		   comparable && pair->known_a && pair->known_b, pair->b - pair->a);
	json_double(json, "percent", round(100 * compare_percent(pair, comparable)) / 100);
	json_end(json);
}

static void cpus_json(const struct session *a, const struct session *b, bool comparable,
		      struct json_writer *json)
{
	static const char *const names[] = { "p99", "max" };

	json_begin_array(json, "cpus");
	for (size_t i = 0; i < a->cpu_count; i++) {
		const struct cpu_result *left = compare_cpu(a, a->cpus[i].cpu);
		const struct cpu_result *other = compare_cpu(b, a->cpus[i].cpu);

		if (left != &a->cpus[i] || !other)
			continue;
		json_begin_object(json, NULL);
		json_i64(json, "cpu", left->cpu);
		for (size_t j = 0; j < 2; j++) {
			const struct figure *figure = figure_find(names[j]);
			struct pair pair = compare_pair(figure, left, other);

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
		json_null_value(json, key);
	else if (item->kind == ENVIRONMENT_TEXT)
		json_text(json, key, item->text);
	else
		json_i64(json, key, item->number);
}

static void item_json(void *context, const struct environment_item *a,
		      const struct environment_item *b)
{
	struct json_writer *json = context;

	json_begin_object_inline(json, NULL);
	json_text(json, "key", a ? a->key : b->key);
	item_value_json(json, "a", a);
	item_value_json(json, "b", b);
	json_end(json);
}

static void session_object(struct json_writer *json, const char *key, const struct session *session)
{
	json_begin_object(json, key);
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
	struct reasons reasons = compare_reasons(a, b);
	struct remarks remarks = compare_remarks(a, b);
	struct json_writer json;

	json_init(&json, sink);
	json_begin_object(&json, NULL);
	json_text(&json, "schema", "punctual/compare/1");
	session_object(&json, "a", a);
	session_object(&json, "b", b);
	json_bool(&json, "comparable", !reasons.count);
	json_begin_array(&json, "reasons");
	for (size_t i = 0; i < reasons.count; i++)
		json_text(&json, NULL, reasons.text[i]);
	json_end(&json);
	json_begin_array(&json, "remarks");
	for (size_t i = 0; remarks.text[i]; i++)
		json_text(&json, NULL, remarks.text[i]);
	json_end(&json);
	json_begin_array(&json, "figures");
	for (const struct figure *figure = figures; figure->name; figure++) {
		struct pair pair = compare_pair(figure, &a->all, &b->all);

		pair_json(&json, NULL, figure, &pair, !reasons.count);
	}
	json_end(&json);
	cpus_json(a, b, !reasons.count, &json);
	json_begin_array(&json, "settings");
	compare_settings(a, b, item_json, &json, sink);
	json_end(&json);
	json_begin_array(&json, "environment");
	compare_environments(&a->environment, &b->environment, item_json, &json);
	json_end(&json);
	json_end(&json);
}

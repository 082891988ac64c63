// SPDX-License-Identifier: GPL-2.0-or-later
/* The document punctual/session/1. Keys are only ever added. */
#include "base/json_writer.h"
#include "base/sink.h"
#include "result/session.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Nanoseconds with one decimal: more digits than that are noise. */
static void tenths(struct json_writer *json, const char *key, double ns)
{
	json_double(json, key, round(ns * 10) / 10);
}

static void i64_or_null(struct json_writer *json, const char *key, bool known, int64_t value)
{
	if (known)
		json_i64(json, key, value);
	else
		json_null_value(json, key);
}

static void settings_json(const struct settings *settings, struct json_writer *json)
{
	json_begin_object(json, "settings");
	json_cpuset(json, "cpus", &settings->cpus);
	json_text(json, "source", settings->source);
	json_text(json, "policy", settings->policy);
	i64_or_null(json, "priority", settings->priority > 0, settings->priority);
	json_i64(json, "interval_ns", settings->interval_ns);
	i64_or_null(json, "duration_ns", settings->duration_ns > 0, settings->duration_ns);
	if (settings->samples)
		json_u64(json, "samples", settings->samples);
	else
		json_null_value(json, "samples");
	json_i64(json, "window_ns", settings->window_ns);
	i64_or_null(json, "dma_latency_us", settings->dma_latency_us >= 0,
		    settings->dma_latency_us);
	if (cpuset_empty(&settings->wakers))
		json_null_value(json, "wakers");
	else
		json_cpuset(json, "wakers", &settings->wakers);
	json_bool(json, "aligned", settings->aligned);
	json_bool(json, "pinned", settings->pinned);
	json_text(json, "phase", settings->fixed_phase ? "fixed" : "random");
	json_end(json);
}

static void percentiles_json(const struct histogram *histogram, struct json_writer *json)
{
	json_begin_object_inline(json, "percentiles");
	for (size_t i = 0; i < sizeof(shown_percents) / sizeof(shown_percents[0]); i++) {
		int64_t value = histogram ? histogram_supported(histogram, shown_percents[i]) : -1;

		i64_or_null(json, shown_percent_names[i], value >= 0, value);
	}
	json_end(json);
}

/* The figures as they might be had no period been missed; apart from the others, never instead. */
static void corrected_json(const struct session *session, const struct cpu_result *result,
			   struct json_writer *json)
{
	struct histogram *corrected;

	if (!result->missed || !result->histogram || session->settings.interval_ns <= 0) {
		json_null_value(json, "corrected");
		return;
	}
	corrected = histogram_new();
	if (!corrected) {
		json->sink->error = json->sink->error ? json->sink->error : -ENOMEM;
		return;
	}
	histogram_correct(corrected, result->histogram, session->settings.interval_ns);
	json_begin_object(json, "corrected");
	json_u64(json, "samples", corrected->count);
	percentiles_json(corrected, json);
	json_end(json);
	histogram_free(corrected);
}

static void histogram_json(const struct histogram *histogram, struct json_writer *json)
{
	json_begin_array(json, "histogram");
	for (size_t i = 0; histogram && i < HISTOGRAM_BUCKETS; i++) {
		if (!histogram->counts[i])
			continue;
		json_begin_array_inline(json, NULL);
		json_i64(json, NULL, histogram_low(i));
		json_i64(json, NULL, histogram_high(i));
		json_u64(json, NULL, histogram->counts[i]);
		json_end(json);
	}
	json_end(json);
}

static void instant_or_null(const struct session *session, const struct cpu_result *result,
			    struct json_writer *json)
{
	if (result->samples)
		json_instant(json, "max_at", session->started_wall_ns + result->max_at_ns);
	else
		json_null_value(json, "max_at");
	i64_or_null(json, "max_at_ns", result->samples > 0, result->max_at_ns);
}

/* What a CPU and all have in common. */
static void figures_json(const struct session *session, const struct cpu_result *result,
			 struct json_writer *json)
{
	bool any = result->samples > 0;

	json_u64(json, "samples", result->samples);
	json_u64(json, "missed", result->missed);
	json_u64(json, "early", result->early);
	i64_or_null(json, "min_ns", any, result->min_ns);
	tenths(json, "mean_ns", any ? result->moments.mean : NAN);
	tenths(json, "stddev_ns", any ? moments_stddev(&result->moments) : NAN);
	i64_or_null(json, "max_ns", any, result->max_ns);
	instant_or_null(session, result, json);
	percentiles_json(result->histogram, json);
	corrected_json(session, result, json);
	histogram_json(result->histogram, json);
}

static void largest_json(const struct session *session, const struct largest *largest,
			 struct json_writer *json)
{
	struct timed_latency *sorted;
	size_t count;

	if (!largest) {
		json_null_value(json, "largest");
		return;
	}
	sorted = calloc(LARGEST_MAX, sizeof(*sorted));
	if (!sorted) {
		json->sink->error = json->sink->error ? json->sink->error : -ENOMEM;
		return;
	}
	count = largest_sorted(largest, sorted);
	json_begin_array(json, "largest");
	for (size_t i = 0; i < count; i++) {
		json_begin_array_inline(json, NULL);
		json_instant(json, NULL, session->started_wall_ns + sorted[i].time_ns);
		json_i64(json, NULL, sorted[i].latency_ns);
		json_end(json);
	}
	json_end(json);
	free(sorted);
}

static void window_json(const struct window *window, struct json_writer *json)
{
	bool any = window->count > 0;

	json_begin_object_inline(json, NULL);
	json_i64(json, "start_ns", window->start_ns);
	json_i64(json, "length_ns", window->length_ns);
	json_u64(json, "count", window->count);
	json_u64(json, "missed", window->missed);
	i64_or_null(json, "min_ns", any, window->min_ns);
	tenths(json, "mean_ns", any ? window_mean(window) : NAN);
	tenths(json, "stddev_ns", any ? window_stddev(window) : NAN);
	i64_or_null(json, "max_ns", any, window->max_ns);
	i64_or_null(json, "max_at_ns", any, window->max_at_ns);
	i64_or_null(json, "moves", window->moves >= 0, window->moves);
	i64_or_null(json, "faults", window->faults >= 0, window->faults);
	i64_or_null(json, "switches", window->switches >= 0, window->switches);
	i64_or_null(json, "steal_ns", window->steal_ns >= 0, window->steal_ns);
	json_end(json);
}

static void cpu_json(const struct session *session, size_t index, struct json_writer *json)
{
	const struct cpu_result *cpu = &session->cpus[index];

	json_begin_object(json, NULL);
	i64_or_null(json, "cpu", session->settings.pinned, cpu->cpu);
	json_u64(json, "thread", index);
	json_text(json, "end", cpu_end_name(cpu->end));
	figures_json(session, cpu, json);
	largest_json(session, cpu->largest, json);
	json_begin_array(json, "windows");
	for (size_t i = 0; i < cpu->windows.count; i++)
		window_json(&cpu->windows.items[i], json);
	json_end(json);
	json_end(json);
}

static void all_json(const struct session *session, struct json_writer *json)
{
	const struct cpu_result *worst = session_worst(session);

	json_begin_object(json, "all");
	i64_or_null(json, "max_cpu", worst && session->settings.pinned, worst ? worst->cpu : 0);
	i64_or_null(json, "max_thread", worst != NULL, worst ? worst - session->cpus : 0);
	figures_json(session, &session->all, json);
	json_end(json);
}

static void goal_json(const struct goal *goal, struct json_writer *json)
{
	bool count = goal->figure && goal->figure->unit == FIGURE_COUNT;
	bool known = goal->state != GOAL_UNKNOWN;

	json_begin_object_inline(json, NULL);
	json_text(json, "figure", goal->name);
	json_i64(json, count ? "limit" : "limit_ns", goal->limit);
	i64_or_null(json, count ? "value" : "value_ns", known, goal->value);
	if (known)
		json_bool(json, "met", goal->state == GOAL_MET);
	else
		json_null_value(json, "met");
	/* false: this measurement can't yield the figure, and it does not count for the verdict */
	json_bool(json, "measurable", goal->figure != NULL);
	json_end(json);
}

static void goals_json(const struct goals *goals, struct json_writer *json)
{
	json_text(json, "goal", goals->count ? goals->text : NULL);
	json_begin_array(json, "goals");
	for (size_t i = 0; i < goals->count; i++)
		goal_json(&goals->goals[i], json);
	json_end(json);
	json_text(json, "verdict", verdict_name(goals->verdict));
}

static void shape_json(const struct session *session, struct json_writer *json)
{
	const struct shape *shape = &session->shape;
	bool has = session->shape_of >= 0 && (size_t)session->shape_of < session->cpu_count;

	json_begin_object(json, "shape");
	json_text(json, "kind", shape_name(shape->kind));
	i64_or_null(json, "cpu", has && session->settings.pinned,
		    has ? session->cpus[session->shape_of].cpu : 0);
	i64_or_null(json, "thread", has, session->shape_of);
	json_begin_array_inline(json, "peaks_ns");
	for (unsigned i = 0; i < shape->peaks; i++)
		json_i64(json, NULL, shape->peaks_ns[i]);
	json_end(json);
	json_begin_array_inline(json, "peak_shares");
	for (unsigned i = 0; i < shape->peaks; i++)
		json_double(json, NULL, round(shape->peak_share[i] * 1e4) / 1e4);
	json_end(json);
	i64_or_null(json, "period_ns", shape->period_ns > 0, shape->period_ns);
	json_double(json, "period_p", shape->period_ns > 0 ? shape->period_p : NAN);
	tenths(json, "drift_ns_per_hour", shape->drifts ? shape->drift_ns_per_hour : NAN);
	json_end(json);
}

static void remarks_json(const struct session *session, struct json_writer *json)
{
	json_begin_array(json, "gaps");
	for (size_t i = 0; i < session->gap_count; i++) {
		const struct gap *gap = &session->gaps[i];

		json_begin_object_inline(json, NULL);
		json_instant(json, "start", session->started_wall_ns + gap->start_ns);
		json_i64(json, "start_ns", gap->start_ns);
		json_i64(json, "length_ns", gap->length_ns);
		json_text(json, "kind", gap->kind);
		json_end(json);
	}
	json_end(json);
	json_begin_array(json, "distortions");
	for (size_t i = 0; i < session->distortion_count; i++) {
		json_begin_object_inline(json, NULL);
		json_text(json, "kind", session->distortions[i].kind);
		json_text(json, "text", session->distortions[i].text);
		json_end(json);
	}
	json_end(json);
}

void session_json(const struct session *session, struct sink *sink)
{
	struct json_writer json;

	json_init(&json, sink);
	json_begin_object(&json, NULL);
	json_text(&json, "schema", "punctual/session/1");
	json_text(&json, "id", *session->id ? session->id : NULL);
	json_instant(&json, "started", session->started_wall_ns);
	json_i64(&json, "duration_ns", session->duration_ns);
	json_bool(&json, "complete", session->complete);
	json_bool(&json, "interrupted", session->interrupted);
	environment_json(&session->environment, &json, "environment");
	settings_json(&session->settings, &json);
	json_begin_array(&json, "cpus");
	for (size_t i = 0; i < session->cpu_count; i++)
		cpu_json(session, i, &json);
	json_end(&json);
	all_json(session, &json);
	goals_json(&session->goals, &json);
	shape_json(session, &json);
	remarks_json(session, &json);
	json_end(&json);
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/json_writer.h"
#include "result/session.h"
#include "store/columns.h"

void column_write_settings(const struct session *session, struct sink *sink)
{
	const struct settings *settings = &session->settings;
	struct json_writer json;

	json_init(&json, sink);
	json_begin_object_inline(&json, NULL);
	json_text(&json, "source", settings->source);
	json_text(&json, "policy", settings->policy);
	json_i64(&json, "priority", settings->priority);
	json_i64(&json, "interval_ns", settings->interval_ns);
	json_i64(&json, "duration_ns", settings->duration_ns);
	json_u64(&json, "samples", settings->samples);
	json_i64(&json, "window_ns", settings->window_ns);
	json_i64(&json, "dma_latency_us", settings->dma_latency_us);
	json_cpuset(&json, "cpus", &settings->cpus);
	json_cpuset(&json, "wakers", &settings->wakers);
	json_bool(&json, "aligned", settings->aligned);
	json_bool(&json, "pinned", settings->pinned);
	json_bool(&json, "fixed_phase", settings->fixed_phase);
	json_end(&json);
}

void column_write_environment(const struct session *session, struct sink *sink)
{
	struct json_writer json;

	json_init(&json, sink);
	environment_json(&session->environment, &json, NULL);
}

static const char *state_name(enum goal_state state)
{
	return state == GOAL_MET ? "met" : state == GOAL_MISSED ? "missed" : "unknown";
}

void column_write_goals(const struct session *session, struct sink *sink)
{
	const struct goals *goals = &session->goals;
	struct json_writer json;

	json_init(&json, sink);
	json_begin_object_inline(&json, NULL);
	json_text(&json, "text", goals->text);
	json_text(&json, "verdict", verdict_name(goals->verdict));
	json_begin_array(&json, "goals");
	for (size_t i = 0; i < goals->count; i++) {
		const struct goal *goal = &goals->goals[i];

		json_begin_object(&json, NULL);
		json_text(&json, "figure", goal->name);
		json_i64(&json, "limit", goal->limit);
		json_i64(&json, "value", goal->value);
		json_text(&json, "state", state_name(goal->state));
		json_end(&json);
	}
	json_end(&json);
	json_end(&json);
}

void column_write_shape(const struct session *session, struct sink *sink)
{
	const struct shape *shape = &session->shape;
	struct json_writer json;

	json_init(&json, sink);
	json_begin_object_inline(&json, NULL);
	json_text(&json, "kind", shape_name(shape->kind));
	json_begin_array(&json, "peaks");
	for (unsigned i = 0; i < shape->peaks && i < SHAPE_PEAKS_MAX; i++) {
		json_begin_object(&json, NULL);
		json_i64(&json, "at_ns", shape->peaks_ns[i]);
		json_double(&json, "share", shape->peak_share[i]);
		json_end(&json);
	}
	json_end(&json);
	json_i64(&json, "period_ns", shape->period_ns);
	json_double(&json, "period_p", shape->period_p);
	json_double(&json, "drift_ns_per_hour", shape->drift_ns_per_hour);
	json_bool(&json, "drifts", shape->drifts);
	json_i64(&json, "of", session->shape_of);
	json_end(&json);
}

void column_write_gaps(const struct session *session, struct sink *sink)
{
	struct json_writer json;

	json_init(&json, sink);
	json_begin_array_inline(&json, NULL);
	for (size_t i = 0; i < session->gap_count; i++) {
		json_begin_object(&json, NULL);
		json_i64(&json, "start_ns", session->gaps[i].start_ns);
		json_i64(&json, "length_ns", session->gaps[i].length_ns);
		json_text(&json, "kind", session->gaps[i].kind);
		json_end(&json);
	}
	json_end(&json);
}

void column_write_distortions(const struct session *session, struct sink *sink)
{
	struct json_writer json;

	json_init(&json, sink);
	json_begin_array_inline(&json, NULL);
	for (size_t i = 0; i < session->distortion_count; i++) {
		json_begin_object(&json, NULL);
		json_text(&json, "kind", session->distortions[i].kind);
		json_text(&json, "text", session->distortions[i].text);
		json_end(&json);
	}
	json_end(&json);
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/sink.h"
#include "result/session.h"
#include "session_fixture.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#define SECOND (1000 * FIXTURE_MS)

static bool has_kind(const struct session *session, const char *kind)
{
	for (size_t i = 0; i < session->distortion_count; i++) {
		if (!strcmp(session->distortions[i].kind, kind))
			return true;
	}
	return false;
}

static const char *text_of_kind(const struct session *session, const char *kind)
{
	for (size_t i = 0; i < session->distortion_count; i++) {
		if (!strcmp(session->distortions[i].kind, kind))
			return session->distortions[i].text;
	}
	fail_msg("no distortion of kind %s", kind);
	return "";
}

static void all_is_the_sum(void **state)
{
	struct session *session = fixture_session(3);
	int64_t time = 5 * FIXTURE_MS;

	(void)state;
	fixture_record(&session->cpus[0], &time, 2000, 10);
	fixture_record(&session->cpus[1], &time, 1000, 20);
	fixture_record(&session->cpus[1], &time, 9000, 1);
	session->cpus[1].missed = 2;
	session->cpus[1].early = 1;
	assert_int_equal(session_conclude(session), 0);
	assert_int_equal(session->all.cpu, -1);
	assert_int_equal(session->all.samples, 31);
	assert_int_equal(session->all.missed, 2);
	assert_int_equal(session->all.early, 1);
	assert_int_equal(session->all.min_ns, 1000);
	assert_int_equal(session->all.max_ns, 9000);
	assert_int_equal(session->all.max_at_ns, 35 * FIXTURE_MS);
	assert_int_equal(session->all.histogram->count, 31);
	assert_true(fabs(session->all.moments.mean - 49000.0 / 31) < 1e-6);
	assert_ptr_equal(session_worst(session), &session->cpus[1]);
	session_free(session);
}

static void empty_sessions_have_no_worst(void **state)
{
	struct session *session = fixture_session(2);

	(void)state;
	assert_int_equal(session_conclude(session), 0);
	assert_null(session_worst(session));
	assert_int_equal(session->all.samples, 0);
	assert_int_equal(session->shape_of, -1);
	assert_int_equal(session->shape.kind, SHAPE_UNKNOWN);
	session_free(session);
	session = session_new();
	assert_int_equal(session_conclude(session), 0);
	session_free(session);
	session_free(NULL);
}

static void the_shape_is_of_the_thread_with_most_extremes(void **state)
{
	struct session *session = fixture_session(3);
	int64_t time = 0;

	(void)state;
	for (int i = 0; i < 3; i++)
		fixture_record(&session->cpus[i], &time, 5000, 10000);
	fixture_record(&session->cpus[0], &time, 90000, 1);
	fixture_record(&session->cpus[2], &time, 80000, 20);
	assert_int_equal(session_conclude(session), 0);
	assert_int_equal(session->shape_of, 2);
	session_free(session);
}

static void add_window(struct cpu_result *cpu, int64_t moves, int64_t faults, int64_t steal)
{
	struct window window = {
		.start_ns = (int64_t)cpu->windows.count * SECOND,
		.length_ns = SECOND,
		.count = 2,
		.min_ns = 1000,
		.max_ns = 2000,
		.max_at_ns = 7,
		.sum_ns = 3000,
		.sum_squares = 5e6,
		.moves = moves,
		.faults = faults,
		.switches = -1,
		.steal_ns = steal,
	};

	assert_int_equal(windows_add(&cpu->windows, &window), 0);
}

static void data_tell_their_distortions(void **state)
{
	struct session *session = fixture_session(4);
	int64_t time = 0;
	size_t count;

	(void)state;
	for (int i = 0; i < 4; i++)
		fixture_record(&session->cpus[i], &time, 5000, 1000);
	fixture_record(&session->cpus[0], &time, HISTOGRAM_HIGHEST + 5, 1);
	session->cpus[0].missed = 7;
	session->cpus[0].early = 1;
	add_window(&session->cpus[0], 0, 0, 0);
	add_window(&session->cpus[1], 2, 5, 30 * FIXTURE_MS);
	add_window(&session->cpus[1], -1, -1, -1);
	add_window(&session->cpus[3], 0, 0, 20 * FIXTURE_MS);
	session->cpus[2].end = CPU_END_OFFLINE;
	session->cpus[3].end = CPU_END_OFFLINE;
	session->gaps[0] = (struct gap){ SECOND, 2 * SECOND, "stopped" };
	session->gaps[1] = (struct gap){ 5 * SECOND, SECOND, "stopped" };
	session->gaps[2] = (struct gap){ 8 * SECOND, SECOND, "suspended" };
	session->gap_count = 3;
	session->complete = false;
	assert_int_equal(session_conclude(session), 0);
	assert_non_null(strstr(text_of_kind(session, "missed"), "7 periods"));
	assert_non_null(strstr(text_of_kind(session, "early"), "1 wake-up"));
	assert_string_equal(text_of_kind(session, "steal"),
			    "the hypervisor took 50.0 ms from CPUs 1,3");
	assert_non_null(strstr(text_of_kind(session, "moves"), "2 times (CPU 1)"));
	assert_non_null(strstr(text_of_kind(session, "page-faults"), "5 page faults (CPU 1)"));
	assert_non_null(strstr(text_of_kind(session, "gap"), "stopped 2 times, 3.0 s in all"));
	assert_non_null(strstr(text_of_kind(session, "cpu-ended"), "CPUs 2-3 went off line"));
	assert_true(has_kind(session, "beyond-histogram"));
	assert_true(has_kind(session, "cut-off"));
	count = session->distortion_count;
	assert_int_equal(count, 10);
	/* another part's remark stays, what was derived is not doubled and follows the data */
	assert_int_equal(session_distortion(session, "store", "not kept: %s", "disk full"), 0);
	session->cpus[0].missed = 8;
	assert_int_equal(session_conclude(session), 0);
	assert_int_equal(session->distortion_count, count + 1);
	assert_non_null(strstr(text_of_kind(session, "missed"), "8 periods"));
	assert_string_equal(text_of_kind(session, "store"), "not kept: disk full");
	session_free(session);
}

static void clean_data_have_none(void **state)
{
	struct session *session = fixture_session(1);
	int64_t time = 0;

	(void)state;
	fixture_record(&session->cpus[0], &time, 5000, 1000);
	add_window(&session->cpus[0], 0, 0, 0);
	assert_int_equal(session_conclude(session), 0);
	assert_int_equal(session_surroundings_distort(session), 0);
	assert_int_equal(session->distortion_count, 0);
	session_free(session);
}

static void unpinned_threads_are_not_called_cpus(void **state)
{
	struct session *session = fixture_session(2);
	int64_t time = 0;

	(void)state;
	session->settings.pinned = false;
	fixture_record(&session->cpus[1], &time, 5000, 10);
	add_window(&session->cpus[1], 3, 0, 0);
	assert_int_equal(session_conclude(session), 0);
	assert_non_null(strstr(text_of_kind(session, "moves"), "(thread 1)"));
	session_free(session);
}

static void surroundings_tell_their_distortions(void **state)
{
	static const struct {
		const char *key, *value, *kind;
	} rows[] = {
		{ "virtual_machine", "kvm", "virtual-machine" },
		{ "preempt_rt", "no", "not-realtime-kernel" },
		{ "tracing_on", "tracer function", "tracing-on" },
		{ "clock_source", "hpet", "slow-clock" },
	};
	static const char *const harmless[][2] = {
		{ "virtual_machine", "no" },
		{ "preempt_rt", "yes" },
		{ "tracing_on", "no" },
		{ "clock_source", "tsc" },
	};
	struct session *session = fixture_session(1);
	struct environment *environment = &session->environment;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(environment_text(environment, rows[i].key, rows[i].value), 0);
		assert_int_equal(session_surroundings_distort(session), 0);
		assert_int_equal(session->distortion_count, 1);
		assert_true(has_kind(session, rows[i].kind));
		assert_int_equal(environment_unknown(environment, rows[i].key, "unreadable"), 0);
		assert_int_equal(session_surroundings_distort(session), 0);
		assert_int_equal(session->distortion_count, 0);
		assert_int_equal(environment_text(environment, harmless[i][0], harmless[i][1]), 0);
		assert_int_equal(session_surroundings_distort(session), 0);
		assert_int_equal(session->distortion_count, 0);
	}
	session_free(session);
}

static void settings_tell_their_distortions(void **state)
{
	struct session *session = fixture_session(1);

	(void)state;
	snprintf(session->settings.policy, sizeof(session->settings.policy), "other");
	session->settings.fixed_phase = true;
	session->settings.dma_latency_us = 0;
	assert_int_equal(environment_number(&session->environment, "dma_latency_us", 20), 0);
	assert_int_equal(session_surroundings_distort(session), 0);
	assert_int_equal(session->distortion_count, 4);
	assert_true(has_kind(session, "policy-other"));
	assert_true(has_kind(session, "fixed-phase"));
	assert_true(has_kind(session, "dma-latency-held"));
	/* isolated CPUs that nobody asked for are named; one that was measured is enough */
	assert_int_equal(environment_text(&session->environment, "cpus_isolated", "2-3"), 0);
	session->settings.cpus = (struct cpuset){ { 3 } };
	assert_int_equal(session_surroundings_distort(session), 0);
	assert_true(has_kind(session, "isolated-left-out"));
	session->settings.cpus = (struct cpuset){ { 4 } };
	assert_int_equal(session_surroundings_distort(session), 0);
	assert_false(has_kind(session, "isolated-left-out"));
	/* twice changes nothing */
	assert_int_equal(session_surroundings_distort(session), 0);
	assert_int_equal(session->distortion_count, 4);
	/* nobody holds it: 2,000 s are the kernel's word for that */
	session->settings.dma_latency_us = -1;
	environment_number(&session->environment, "dma_latency_us", 2000000000);
	assert_int_equal(session_surroundings_distort(session), 0);
	assert_false(has_kind(session, "dma-latency-held"));
	session_free(session);
}

static void a_kind_outlives_the_callers_copy(void **state)
{
	struct session *session = fixture_session(1);
	char kind[] = "steal";

	(void)state;
	assert_int_equal(session_distortion(session, kind, "a"), 0);
	assert_int_equal(session_distortion(session, kind, "a"), 0);
	kind[0] = 'x';
	assert_int_equal(session->distortion_count, 1);
	assert_string_equal(session->distortions[0].kind, "steal");
	session_free(session);
}

static json_t *document(const struct session *session)
{
	struct strbuf text = STRBUF_INIT;
	json_error_t error;
	json_t *json;

	session_json(session, &text.sink);
	assert_int_equal(text.sink.error, 0);
	json = json_loads(text.text, JSON_REJECT_DUPLICATES, &error);
	if (!json)
		fail_msg("line %d: %s", error.line, error.text);
	strbuf_free(&text);
	return json;
}

static json_t *at(json_t *json, const char *key)
{
	json_t *value = json_object_get(json, key);

	if (!value)
		fail_msg("no key %s", key);
	return value;
}

static int64_t number(json_t *json, const char *key)
{
	assert_true(json_is_integer(at(json, key)));
	return json_integer_value(at(json, key));
}

static const char *text(json_t *json, const char *key)
{
	assert_true(json_is_string(at(json, key)));
	return json_string_value(at(json, key));
}

/* The names that programs rely on: none may ever go away. */
static void check_keys(json_t *json, const char *const *keys)
{
	for (; *keys; keys++)
		at(json, *keys);
}

static void the_document_has_its_keys(void **state)
{
	static const char *const top[] = { "schema",   "id",          "started",     "duration_ns",
					   "complete", "interrupted", "environment", "settings",
					   "cpus",     "all",         "goals",       "goal",
					   "verdict",  "shape",       "gaps",        "distortions",
					   NULL };
	static const char *const settings[] = { "cpus",     "source",      "policy",
						"priority", "interval_ns", "duration_ns",
						"samples",  "window_ns",   "dma_latency_us",
						"wakers",   "aligned",     "pinned",
						"phase",    NULL };
	static const char *const cpu[] = { "cpu",         "thread",    "end",       "samples",
					   "missed",      "early",     "min_ns",    "mean_ns",
					   "stddev_ns",   "max_ns",    "max_at",    "max_at_ns",
					   "percentiles", "corrected", "histogram", "largest",
					   "windows",     NULL };
	static const char *const window[] = { "start_ns",  "length_ns", "count",     "missed",
					      "min_ns",    "mean_ns",   "stddev_ns", "max_ns",
					      "max_at_ns", "moves",     "faults",    "switches",
					      "steal_ns",  NULL };
	static const char *const shape[] = { "kind",        "cpu",
					     "thread",      "peaks_ns",
					     "peak_shares", "period_ns",
					     "period_p",    "drift_ns_per_hour",
					     NULL };
	static const char *const percents[] = { "50", "90", "99", "99.9", "99.99", "99.999", NULL };
	struct session *session = fixture_session(1);
	json_t *json, *first;

	(void)state;
	fixture_fill(&session->cpus[0], 1);
	add_window(&session->cpus[0], 0, 0, -1);
	assert_int_equal(session_conclude(session), 0);
	json = document(session);
	check_keys(json, top);
	assert_int_equal(json_object_size(json), 16);
	check_keys(at(json, "settings"), settings);
	first = json_array_get(at(json, "cpus"), 0);
	check_keys(first, cpu);
	check_keys(at(first, "percentiles"), percents);
	check_keys(json_array_get(at(first, "windows"), 0), window);
	check_keys(at(json, "shape"), shape);
	json_decref(json);
	session_free(session);
}

static void the_document_holds_the_figures(void **state)
{
	struct session *session = fixture_session(2);
	json_t *json, *cpu, *all, *row;
	int64_t total = 0;
	size_t i;

	(void)state;
	fixture_fill(&session->cpus[0], 1);
	fixture_fill(&session->cpus[1], 2);
	assert_int_equal(session_conclude(session), 0);
	json = document(session);
	assert_string_equal(text(json, "schema"), "punctual/session/1");
	assert_string_equal(text(json, "started"), "2026-09-21T14:13:20.123456789Z");
	assert_string_equal(text(at(json, "settings"), "cpus"), "0-1");
	assert_string_equal(text(at(json, "settings"), "phase"), "random");
	assert_true(json_is_null(at(at(json, "settings"), "samples")));
	assert_true(json_is_null(at(at(json, "settings"), "dma_latency_us")));
	assert_true(json_is_null(at(at(json, "environment"), "boost")));
	assert_string_equal(text(at(at(json, "environment"), "unknown"), "boost"), "no switch");
	cpu = json_array_get(at(json, "cpus"), 1);
	assert_int_equal(number(cpu, "samples"), 20000);
	assert_int_equal(number(cpu, "max_ns"), 600246);
	assert_int_equal(number(cpu, "max_at_ns"), 19999 * FIXTURE_MS);
	assert_string_equal(text(cpu, "max_at"), "2026-09-21T14:13:40.122456789Z");
	assert_string_equal(text(cpu, "end"), "done");
	assert_true(json_is_null(at(cpu, "corrected")));
	assert_true(fabs(json_number_value(at(cpu, "mean_ns")) - session->cpus[1].moments.mean) <=
		    0.05);
	assert_int_equal(number(at(cpu, "percentiles"), "99.9"),
			 histogram_quantile(session->cpus[1].histogram, 99.9));
	/* 20,000 samples can't tell the one in 100,000 */
	assert_true(json_is_null(at(at(cpu, "percentiles"), "99.999")));
	json_array_foreach(at(cpu, "histogram"), i, row)
	{
		int64_t low = json_integer_value(json_array_get(row, 0));
		int64_t high = json_integer_value(json_array_get(row, 1));

		assert_int_equal(json_array_size(row), 3);
		assert_true(low <= high && high - low <= low / 1024);
		assert_true(json_integer_value(json_array_get(row, 2)) > 0);
		total += json_integer_value(json_array_get(row, 2));
	}
	assert_int_equal(total, 20000);
	row = json_array_get(at(cpu, "largest"), 0);
	assert_string_equal(json_string_value(json_array_get(row, 0)),
			    "2026-09-21T14:13:40.122456789Z");
	assert_int_equal(json_integer_value(json_array_get(row, 1)), 600246);
	assert_int_equal(json_array_size(at(cpu, "largest")), LARGEST_MAX);
	all = at(json, "all");
	assert_int_equal(number(all, "max_cpu"), 1);
	assert_int_equal(number(all, "samples"), 40000);
	assert_null(json_object_get(all, "windows"));
	json_decref(json);
	session_free(session);
}

static void what_is_not_known_is_null(void **state)
{
	static const char *const figures_[] = { "min_ns", "mean_ns",   "stddev_ns", "max_ns",
						"max_at", "max_at_ns", "corrected", NULL };
	struct session *session = fixture_session(1);
	json_t *json, *cpu, *window;

	(void)state;
	session->settings.pinned = false;
	session->settings.priority = 0;
	add_window(&session->cpus[0], -1, -1, -1);
	session->cpus[0].windows.items[0].count = 0;
	assert_int_equal(session_conclude(session), 0);
	json = document(session);
	cpu = json_array_get(at(json, "cpus"), 0);
	for (size_t i = 0; figures_[i]; i++) {
		assert_true(json_is_null(at(cpu, figures_[i])));
		assert_true(json_is_null(at(at(json, "all"), figures_[i])));
	}
	assert_true(json_is_null(at(cpu, "cpu")));
	assert_int_equal(number(cpu, "thread"), 0);
	assert_true(json_is_null(at(at(cpu, "percentiles"), "50")));
	assert_int_equal(json_array_size(at(cpu, "histogram")), 0);
	window = json_array_get(at(cpu, "windows"), 0);
	assert_true(json_is_null(at(window, "min_ns")));
	assert_true(json_is_null(at(window, "mean_ns")));
	assert_true(json_is_null(at(window, "steal_ns")));
	assert_true(json_is_null(at(at(json, "settings"), "priority")));
	assert_true(json_is_null(at(at(json, "all"), "max_cpu")));
	assert_true(json_is_null(at(json, "goal")));
	assert_string_equal(text(json, "verdict"), "none");
	assert_true(json_is_null(at(at(json, "shape"), "thread")));
	json_decref(json);
	session_free(session);
}

static void missed_periods_have_a_second_figure(void **state)
{
	struct session *session = fixture_session(1);
	int64_t time = 0;
	json_t *json, *cpu;

	(void)state;
	fixture_record(&session->cpus[0], &time, 2000, 990);
	fixture_record(&session->cpus[0], &time, 100 * FIXTURE_MS, 1);
	session->cpus[0].missed = 99;
	assert_int_equal(session_conclude(session), 0);
	json = document(session);
	cpu = json_array_get(at(json, "cpus"), 0);
	/* one sample of 100 ms stands for 100 of 1 to 100 ms: a tenth of all */
	assert_int_equal(number(at(cpu, "percentiles"), "99"), 2000);
	assert_int_equal(number(at(cpu, "corrected"), "samples"), 1090);
	assert_true(number(at(at(cpu, "corrected"), "percentiles"), "99") > 80 * FIXTURE_MS);
	json_decref(json);
	session_free(session);
}

static void goals_stand_in_the_document(void **state)
{
	struct session *session = fixture_session(1);
	json_t *json, *goal;

	(void)state;
	fixture_fill(&session->cpus[0], 1);
	assert_int_equal(
		goals_parse(&session->goals, "p99=80us,missed=0,max=100us,p99.999=1ms", NULL), 0);
	assert_int_equal(session_conclude(session), 0);
	json = document(session);
	assert_string_equal(text(json, "goal"), "p99=80us,missed=0,max=100us,p99.999=1ms");
	assert_string_equal(text(json, "verdict"), "missed");
	goal = json_array_get(at(json, "goals"), 0);
	assert_int_equal(number(goal, "limit_ns"), 80000);
	assert_true(json_is_true(at(goal, "met")));
	goal = json_array_get(at(json, "goals"), 1);
	assert_int_equal(number(goal, "limit"), 0);
	assert_int_equal(number(goal, "value"), 0);
	goal = json_array_get(at(json, "goals"), 2);
	assert_int_equal(number(goal, "value_ns"), 300123);
	assert_true(json_is_false(at(goal, "met")));
	goal = json_array_get(at(json, "goals"), 3);
	assert_true(json_is_null(at(goal, "met")));
	assert_true(json_is_null(at(goal, "value_ns")));
	assert_true(json_is_true(at(goal, "measurable")));
	json_decref(json);
	session_free(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_the_sum),
		cmocka_unit_test(empty_sessions_have_no_worst),
		cmocka_unit_test(the_shape_is_of_the_thread_with_most_extremes),
		cmocka_unit_test(data_tell_their_distortions),
		cmocka_unit_test(clean_data_have_none),
		cmocka_unit_test(unpinned_threads_are_not_called_cpus),
		cmocka_unit_test(surroundings_tell_their_distortions),
		cmocka_unit_test(settings_tell_their_distortions),
		cmocka_unit_test(a_kind_outlives_the_callers_copy),
		cmocka_unit_test(the_document_has_its_keys),
		cmocka_unit_test(the_document_holds_the_figures),
		cmocka_unit_test(what_is_not_known_is_null),
		cmocka_unit_test(missed_periods_have_a_second_figure),
		cmocka_unit_test(goals_stand_in_the_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

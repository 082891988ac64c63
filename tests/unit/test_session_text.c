// SPDX-License-Identifier: GPL-2.0-or-later
/* Golden texts stand under tests/golden; UPDATE_GOLDEN=1 writes them anew, for review. */
#include "base/sink.h"
#include "format/layout.h"
#include "format/session_text.h"
#include "result/session.h"
#include "session_fixture.h"

#include <string.h>

#define SECOND (1000 * FIXTURE_MS)

static char *golden_text(const char *path)
{
	static char text[65536];
	FILE *file = fopen(path, "re");
	size_t length;

	if (!file)
		fail_msg("%s cannot be read; UPDATE_GOLDEN=1 writes it", path);
	length = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[length] = '\0';
	return text;
}

static void check_golden(const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "tests/golden/session_%s.txt", name);
	if (getenv("UPDATE_GOLDEN")) {
		FILE *file = fopen(path, "we");

		assert_non_null(file);
		assert_true(fputs(text, file) >= 0);
		assert_int_equal(fclose(file), 0);
	}
	assert_string_equal(text, golden_text(path));
}

/* No line is wider than a terminal, ends in a blank, or holds a tab. */
static void check_lines(const char *text)
{
	size_t width = 0;

	for (const char *c = text; *c; c++) {
		if (*c == '\n') {
			if (width > 80)
				fail_msg("a line of %zu columns in:\n%s", width, text);
			assert_false(c > text && c[-1] == ' ');
			width = 0;
			continue;
		}
		assert_true((unsigned char)*c >= ' ');
		width += ((unsigned char)*c & 0xc0) != 0x80;
	}
	assert_int_equal(width, 0);
}

/* Shows SESSION, compares, frees it. The shape is set here: finding it has its own tests. */
static void show(struct session *session, const struct shape *shape, const char *golden)
{
	struct strbuf text = STRBUF_INIT;

	assert_int_equal(session_conclude(session), 0);
	assert_int_equal(session_surroundings_distort(session), 0);
	session->shape = *shape;
	session_text(session, &text.sink);
	assert_int_equal(text.sink.error, 0);
	check_lines(text.text);
	if (golden)
		check_golden(golden, text.text);
	strbuf_free(&text);
	session_free(session);
}

static const struct shape one_peak = {
	.kind = SHAPE_ONE_PEAK, .peaks = 1, .peaks_ns = { 13500 }, .peak_share = { 0.999 }
};

static void one_cpu_with_goals(void **state)
{
	struct session *session = fixture_session(1);

	(void)state;
	fixture_fill(&session->cpus[0], 1);
	assert_int_equal(goals_parse(&session->goals, "industrial", NULL), 0);
	show(session, &one_peak, "one_cpu");
}

static void two_cpus_with_all_that_can_be_said(void **state)
{
	struct session *session = fixture_session(2);
	struct shape shape = {
		.kind = SHAPE_TWO_PEAKS,
		.peaks = 2,
		.peaks_ns = { 13500, 90000 },
		.peak_share = { 0.7, 0.2951 },
		.period_ns = 100 * FIXTURE_MS,
		.period_p = 0.0004,
		.drifts = true,
		.drift_ns_per_hour = 3217,
	};
	struct window window = {
		.length_ns = SECOND,
		.count = 1000,
		.moves = 0,
		.faults = 2,
		.switches = 0,
		.steal_ns = 12 * FIXTURE_MS,
	};

	(void)state;
	fixture_fill(&session->cpus[0], 1);
	fixture_fill(&session->cpus[1], 8);
	session->cpus[1].missed = 12;
	session->interrupted = true;
	session->duration_ns = 12345 * FIXTURE_MS;
	session->settings.dma_latency_us = 0;
	snprintf(session->settings.source, sizeof(session->settings.source), "futex");
	cpuset_add(&session->settings.wakers, 3);
	assert_int_equal(windows_add(&session->cpus[1].windows, &window), 0);
	session->gaps[session->gap_count++] = (struct gap){ SECOND, 3 * SECOND, "stopped" };
	session->cpus[1].end = CPU_END_OFFLINE;
	environment_text(&session->environment, "preempt_rt", "no");
	environment_text(&session->environment, "virtual_machine", "kvm");
	assert_int_equal(goals_parse(&session->goals, "p99=80us,missed=0,p99.999=1ms,max=1h", NULL),
			 0);
	show(session, &shape, "two_cpus");
}

static void nothing_was_measured(void **state)
{
	struct session *session = fixture_session(1);

	(void)state;
	session->duration_ns = 0;
	session->interrupted = true;
	assert_int_equal(goals_parse(&session->goals, "control", NULL), 0);
	show(session, &(struct shape){ 0 }, "no_samples");
}

static void threads_that_are_not_pinned(void **state)
{
	struct session *session = fixture_session(2);
	int64_t time = 0;

	(void)state;
	session->settings.pinned = false;
	snprintf(session->settings.policy, sizeof(session->settings.policy), "deadline");
	session->settings.priority = 0;
	fixture_record(&session->cpus[0], &time, 840, 3);
	fixture_record(&session->cpus[1], &time, 9130, 10);
	show(session, &(struct shape){ .kind = SHAPE_UNKNOWN }, "unpinned");
}

/* From 0 ns to over an hour, for three days, with counts that need shortening. */
static void the_widest_numbers_fit(void **state)
{
	struct session *session = fixture_session(1);
	struct cpu_result *cpu = &session->cpus[0];
	int64_t time = 0;

	(void)state;
	for (int64_t latency = 1; latency < INT64_C(5000000000000); latency *= 3)
		fixture_record(cpu, &time, latency, 1000);
	fixture_record(cpu, &time, 0, 1);
	cpu->samples += 259200000;
	cpu->missed = 98765432109;
	cpu->max_at_ns = 250000 * SECOND;
	session->duration_ns = 259200 * SECOND;
	session->settings.cpus = (struct cpuset){ 0 };
	cpu->cpu = 8191;
	environment_text(
		&session->environment, "board_model",
		"A Board Whose Maker Gave It a Very Long Name Indeed, Revision 17, With Extras");
	show(session, &(struct shape){ .kind = SHAPE_LONG_TAIL, .peaks = 1, .peaks_ns = { 1 } },
	     "widest");
}

static void many_cpus(void **state)
{
	struct session *session = fixture_session(128);
	int64_t time = 0;

	(void)state;
	for (size_t i = 0; i < 128; i++)
		fixture_record(&session->cpus[i], &time, 4000 + (int64_t)i * 100, 500);
	for (size_t i = 1; i < 128; i += 2)
		session->cpus[i].end = CPU_END_RUNAWAY;
	show(session, &one_peak, NULL);
}

static void every_histogram_fits(void **state)
{
	(void)state;
	for (int64_t low = 0; low < INT64_C(1000000000000); low = low * 7 + 1) {
		for (int64_t high = low; high < INT64_C(5000000000000); high = high * 5 + 1) {
			struct session *session = fixture_session(1);
			int64_t time = 0;

			fixture_record(&session->cpus[0], &time, low, 5);
			fixture_record(&session->cpus[0], &time, high, 1);
			show(session, &one_peak, NULL);
		}
	}
}

static void numbers_of_few_characters(void **state)
{
	static const struct {
		double value;
		unsigned width;
		const char *text;
	} rows[] = {
		{ 0, 5, "0.00" },        { 0.84, 5, "0.84" },    { 9.13, 5, "9.13" },
		{ 9.996, 5, "10.0" },    { 13.5, 5, "13.5" },    { 99.96, 5, "100" },
		{ 133.4, 5, "133" },     { 2390.4, 5, "2390" },  { 12345, 5, "12345" },
		{ 12345, 4, "12k" },     { 99999.7, 5, "100k" }, { 123456, 5, "123k" },
		{ 1234567, 5, "1.23M" }, { 1234567, 4, "1.2M" }, { 3.6e9, 4, "3.6G" },
		{ 4.3e9, 5, "4.30G" },   { -1, 5, "–" },         { 0.0 / 0.0, 5, "–" },
	};
	char buf[32];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(layout_number(buf, sizeof(buf), rows[i].width, rows[i].value),
				    rows[i].text);
	assert_string_equal(layout_count(buf, sizeof(buf), 7, 9999999), "9999999");
	assert_string_equal(layout_count(buf, sizeof(buf), 7, 259200000), "259M");
	/* whatever the value, it fits */
	for (double value = 1e-3; value < 1e19; value *= 1.37) {
		assert_in_range(strlen(layout_number(buf, sizeof(buf), 4, value)), 1, 4);
		assert_in_range(strlen(layout_number(buf, sizeof(buf), 5, value)), 1, 5);
	}
}

static void paragraphs_break_at_blanks(void **state)
{
	struct strbuf text = STRBUF_INIT;
	char word[101];

	(void)state;
	memset(word, 'x', 100);
	word[100] = '\0';
	layout_paragraph(&text.sink, "  - ", "µµµ µµµ");
	layout_paragraph(&text.sink, "", word);
	assert_int_equal(strncmp(text.text, "  - µµµ µµµ\nxxx", 15), 0);
	strbuf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_few_characters),
		cmocka_unit_test(paragraphs_break_at_blanks),
		cmocka_unit_test(one_cpu_with_goals),
		cmocka_unit_test(two_cpus_with_all_that_can_be_said),
		cmocka_unit_test(nothing_was_measured),
		cmocka_unit_test(threads_that_are_not_pinned),
		cmocka_unit_test(the_widest_numbers_fit),
		cmocka_unit_test(many_cpus),
		cmocka_unit_test(every_histogram_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

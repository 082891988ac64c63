// SPDX-License-Identifier: GPL-2.0-or-later
/* Gaps are told from latencies by what all threads went through at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "result/session.h"
#include "trial/gaps.h"

#include <stdlib.h>
#include <string.h>

#define MS 1000000LL

static struct session *make_session(size_t cpus)
{
	struct session *session = session_new();

	assert_non_null(session);
	assert_int_equal(session_set_cpus(session, cpus), 0);
	session->settings.interval_ns = MS;
	for (size_t i = 0; i < cpus; i++) {
		session->cpus[i].largest = calloc(1, sizeof(struct largest));
		assert_non_null(session->cpus[i].largest);
		largest_record(session->cpus[i].largest, 5 * MS, 20000);
	}
	return session;
}

static void late(struct session *session, size_t cpu, int64_t at_ms, int64_t for_ms)
{
	largest_record(session->cpus[cpu].largest, at_ms * MS, for_ms * MS);
}

static void a_stop_is_as_long_as_the_sample_it_held_up(void **state)
{
	struct gap_finder finder = { .count = 1,
				     .gaps = { { 100 * MS + 900 * MS, 0, "stopped" } } };
	struct session *session = make_session(2);

	(void)state;
	late(session, 0, 301, 600);
	late(session, 1, 300, 601);
	gaps_settle(&finder, 100 * MS, session);
	assert_int_equal(session->gap_count, 1);
	assert_string_equal(session->gaps[0].kind, "stopped");
	assert_int_equal(session->gaps[0].start_ns, 300 * MS);
	assert_int_equal(session->gaps[0].length_ns, 600 * MS);
	session_free(session);
}

static void a_stop_without_effect_is_none(void **state)
{
	struct gap_finder finder = { .count = 1, .gaps = { { 900 * MS, 0, "stopped" } } };
	struct session *session = make_session(1);

	(void)state;
	gaps_settle(&finder, 0, session);
	assert_int_equal(session->gap_count, 0);
	session_free(session);
}

static void a_pause_holds_up_every_cpu(void **state)
{
	struct gap_finder finder = { 0 };
	struct session *session = make_session(3);

	(void)state;
	late(session, 0, 1000, 500);
	late(session, 1, 1001, 499);
	gaps_settle(&finder, 0, session);
	assert_int_equal(session->gap_count, 0); /* CPU 2 went on */
	late(session, 2, 1002, 498);
	gaps_settle(&finder, 0, session);
	assert_int_equal(session->gap_count, 1);
	assert_string_equal(session->gaps[0].kind, "paused");
	assert_int_equal(session->gaps[0].length_ns, 500 * MS);
	session_free(session);
}

static void a_cpu_that_was_off_line_is_no_witness(void **state)
{
	struct gap_finder finder = { 0 };
	struct session *session = make_session(2);

	(void)state;
	session->cpus[1].end = CPU_END_OFFLINE;
	late(session, 0, 1000, 500);
	gaps_settle(&finder, 0, session);
	assert_int_equal(session->gap_count, 1);
	session_free(session);
}

static void a_stop_is_not_a_pause_too(void **state)
{
	struct gap_finder finder = { .count = 1, .gaps = { { 1500 * MS, 0, "stopped" } } };
	struct session *session = make_session(1);

	(void)state;
	late(session, 0, 1000, 500);
	gaps_settle(&finder, 0, session);
	assert_int_equal(session->gap_count, 1);
	assert_string_equal(session->gaps[0].kind, "stopped");
	session_free(session);
}

static void more_gaps_than_fit_are_left_out(void **state)
{
	struct gap_finder finder = { .count = GAPS_MAX };
	struct session *session = make_session(1);

	(void)state;
	for (size_t i = 0; i < GAPS_MAX; i++)
		finder.gaps[i] = (struct gap){ (int64_t)i * MS, MS, "suspended" };
	late(session, 0, 10000, 500);
	gaps_settle(&finder, 0, session);
	assert_int_equal(session->gap_count, GAPS_MAX);
	session_free(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stop_is_as_long_as_the_sample_it_held_up),
		cmocka_unit_test(a_stop_without_effect_is_none),
		cmocka_unit_test(a_pause_holds_up_every_cpu),
		cmocka_unit_test(a_cpu_that_was_off_line_is_no_witness),
		cmocka_unit_test(a_stop_is_not_a_pause_too),
		cmocka_unit_test(more_gaps_than_fit_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

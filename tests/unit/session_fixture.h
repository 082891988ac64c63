/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sessions with known contents, for tests of what shows and stores them. */
#pragma once

#include "result/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define FIXTURE_STARTED INT64_C(1790000000123456789) /* 2026-09-21T14:13:20.123456789Z */
#define FIXTURE_MS      INT64_C(1000000)

/* Samples COUNT times LATENCY into RESULT, one every millisecond from *TIME on. */
static inline void fixture_record(struct cpu_result *result, int64_t *time, int64_t latency,
				  uint64_t count)
{
	double value = (double)latency;

	if (!result->samples || latency < result->min_ns)
		result->min_ns = latency;
	if (!result->samples || latency > result->max_ns) {
		result->max_ns = latency;
		result->max_at_ns = *time;
	}
	for (uint64_t i = 0; i < count; i++, *time += FIXTURE_MS)
		largest_record(result->largest, *time, latency);
	histogram_record(result->histogram, latency, count);
	moments_add_sums(&result->moments, count, (double)count * value,
			 (double)count * value * value);
	result->samples += count;
}

/* 20,000 samples around 13.5 µs times FACTOR, with a tail up to 300 µs times FACTOR. */
static inline void fixture_fill(struct cpu_result *result, int64_t factor)
{
	uint64_t random = 12345;
	int64_t time = 0;

	for (int i = 0; i < 19996; i++) {
		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		fixture_record(
			result, &time,
			factor * (11000 + (int64_t)(random >> 52) + (int64_t)(random >> 40 & 1023)),
			1);
	}
	fixture_record(result, &time, factor * 45000, 2);
	fixture_record(result, &time, factor * 120000, 1);
	fixture_record(result, &time, factor * 300123, 1);
	result->end = CPU_END_DONE;
}

static inline void fixture_settings(struct session *session)
{
	struct settings *settings = &session->settings;

	snprintf(settings->source, sizeof(settings->source), "timer");
	snprintf(settings->policy, sizeof(settings->policy), "fifo");
	settings->priority = 95;
	settings->interval_ns = FIXTURE_MS;
	settings->duration_ns = 20000 * FIXTURE_MS;
	settings->window_ns = 1000 * FIXTURE_MS;
	settings->pinned = true;
	for (size_t i = 0; i < session->cpu_count; i++)
		cpuset_add(&settings->cpus, (int)i);
}

/* COUNT CPUs without samples; the caller concludes. */
static inline struct session *fixture_session(size_t count)
{
	struct session *session = session_new();

	assert_non_null(session);
	assert_int_equal(session_set_cpus(session, count), 0);
	for (size_t i = 0; i < count; i++) {
		session->cpus[i].end = CPU_END_DONE;
		session->cpus[i].largest = calloc(1, sizeof(struct largest));
		assert_non_null(session->cpus[i].largest);
	}
	snprintf(session->id, sizeof(session->id), "00112233445566778899aabbccddeeff");
	session->started_wall_ns = FIXTURE_STARTED;
	session->duration_ns = 20000 * FIXTURE_MS;
	session->complete = true;
	fixture_settings(session);
	assert_int_equal(
		environment_text(&session->environment, "kernel_release", "6.1.0-18-rt-arm64"), 0);
	assert_int_equal(environment_text(&session->environment, "preempt_rt", "yes"), 0);
	assert_int_equal(environment_text(&session->environment, "board_model", "Example Board 4"),
			 0);
	assert_int_equal(environment_unknown(&session->environment, "boost", "no switch"), 0);
	return session;
}

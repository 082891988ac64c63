// SPDX-License-Identifier: GPL-2.0-or-later
/* The probe on the machine at hand: real threads, real sleeps. What needs a right (SCHED_FIFO) is
 * skipped where there is none. Nothing here depends on how fast or quiet the machine is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "base/fail.h"
#include "probe/sampler.h"
#include "probe/source.h"
#include "probe/wakeup.h"
#include "stat/histogram.h"
#include "sys/clock.h"
#include "sys/sched.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static struct settings plain_settings(void)
{
	struct settings settings = {
		.source = "timer",
		.policy = "other",
		.interval_ns = 1000000,
		.window_ns = 50000000,
		.samples = 100,
		.dma_latency_us = -1,
		.pinned = true,
	};

	return settings;
}

static int first_cpu(void)
{
	struct cpuset set;

	assert_int_equal(sched_get_cpus(&set), 0);
	return cpuset_next(&set, -1);
}

static void wait_for_end(struct wakeup *w)
{
	while (wakeup_running(w))
		clock_sleep_until(clock_now() + 5000000);
	wakeup_stop(w);
}

struct sums {
	uint64_t samples, missed;
	int64_t min, max, end;
	size_t windows;
};

static struct sums collect(struct wakeup *w, size_t index)
{
	struct sums sums = { .min = INT64_MAX };
	struct window window;

	while (wakeup_collect(w, index, &window)) {
		assert_true(window.start_ns >= sums.end);
		assert_true(window.length_ns > 0);
		sums.end = window.start_ns + window.length_ns;
		sums.samples += window.count;
		sums.missed += window.missed;
		sums.windows++;
		if (window.count && window.min_ns < sums.min)
			sums.min = window.min_ns;
		if (window.count && window.max_ns > sums.max)
			sums.max = window.max_ns;
	}
	return sums;
}

/* Every way of looking at a run must tell the same numbers. */
static void check_agreement(struct wakeup *w, size_t index, const struct sums *sums)
{
	struct histogram *histogram = histogram_new();
	struct largest *largest = malloc(sizeof(*largest));
	struct cpu_result result = { .largest = largest };
	int64_t low = -1;

	assert_non_null(histogram);
	assert_non_null(largest);
	wakeup_drain(w, index, histogram);
	assert_int_equal(histogram->count, sums->samples);
	for (size_t i = 0; i < HISTOGRAM_BUCKETS && low < 0; i++)
		low = histogram->counts[i] ? (int64_t)i : -1;
	assert_int_equal(low, histogram_bucket(sums->min));
	assert_true(histogram->counts[histogram_bucket(sums->max)] > 0);
	wakeup_drain(w, index, histogram); /* nothing new */
	assert_int_equal(histogram->count, sums->samples);
	wakeup_result(w, index, &result);
	assert_int_equal(largest->count, sums->samples < LARGEST_MAX ? sums->samples : LARGEST_MAX);
	free(largest);
	histogram_free(histogram);
}

static void run_source(const char *source, int threads)
{
	struct settings settings = plain_settings();
	int cpu = first_cpu(), cpus[4] = { cpu, cpu, cpu, cpu };
	struct wakeup_options options = {
		.settings = &settings,
		.cpus = cpus,
		.threads = (size_t)threads,
		.clock = CLOCK_MONOTONIC,
		.align_ns = -1,
	};
	struct fail fail = { "" };
	struct wakeup *w;

	strcpy(settings.source, source);
	assert_int_equal(wakeup_start(&w, &options, &fail), 0);
	wait_for_end(w);
	for (size_t i = 0; i < (size_t)threads; i++) {
		struct sums sums = collect(w, i);

		assert_int_equal(sums.samples, settings.samples);
		assert_true(sums.windows >= 2);
		check_agreement(w, i, &sums);
	}
	wakeup_free(w);
}

static void every_source_yields_its_samples(void **state)
{
	(void)state;
	for (size_t i = 0; wakeup_source_names[i]; i++)
		run_source(wakeup_source_names[i], 2);
}

static void several_threads_share_a_cpu(void **state)
{
	(void)state;
	run_source("timer", 4);
}

static void duration_ends_a_run(void **state)
{
	struct settings settings = plain_settings();
	int cpu = first_cpu();
	struct wakeup_options options = { .settings = &settings,
					  .cpus = &cpu,
					  .threads = 1,
					  .clock = CLOCK_MONOTONIC,
					  .align_ns = -1 };
	struct fail fail = { "" };
	struct wakeup *w;
	struct sums sums;

	(void)state;
	settings.samples = 0;
	settings.duration_ns = 200000000;
	settings.fixed_phase = true;
	assert_int_equal(wakeup_start(&w, &options, &fail), 0);
	wait_for_end(w);
	sums = collect(w, 0);
	/* with a fixed phase every period is a sample or missed, but for those that a slow start
	 * took */
	assert_in_range(sums.samples + sums.missed, 1, 200);
	assert_true(sums.end <= settings.duration_ns + settings.window_ns);
	wakeup_free(w);
}

static void phase_moves_from_window_to_window(void **state)
{
	struct settings settings = plain_settings();
	int cpu = first_cpu();
	struct wakeup_options options = { .settings = &settings,
					  .cpus = &cpu,
					  .threads = 1,
					  .clock = CLOCK_MONOTONIC,
					  .align_ns = -1 };
	struct largest *largest = malloc(sizeof(*largest));
	struct cpu_result result = { .largest = largest };
	struct fail fail = { "" };
	struct wakeup *w;
	int64_t phase;
	size_t moved = 0;

	(void)state;
	assert_non_null(largest);
	settings.window_ns = 10000000;
	assert_int_equal(wakeup_start(&w, &options, &fail), 0);
	wait_for_end(w);
	wakeup_result(w, 0, &result);
	phase = largest->items[0].time_ns % settings.interval_ns;
	for (size_t i = 1; i < largest->count; i++)
		moved += largest->items[i].time_ns % settings.interval_ns != phase;
	assert_true(moved > largest->count / 2);
	free(largest);
	wakeup_free(w);
}

/* Sources that never sleep, which is what the watchdog is for: one that hurries into the future,
 * and one that stays in the past until it is let go. */
static int64_t spin(struct link *link, int64_t until)
{
	(void)link;
	return until;
}

static _Atomic bool let_go;

static int64_t stay(struct link *link, int64_t until)
{
	(void)link;
	while (!atomic_load(&let_go))
		;
	return until;
}

static void assert_watchdog_stops(int64_t (*wait)(struct link *, int64_t), int64_t interval)
{
	struct wakeup_source source = { .name = "runaway", .wait = wait };
	struct settings settings = plain_settings();
	int cpu = first_cpu();
	struct wakeup_options options = { .settings = &settings,
					  .source = &source,
					  .cpus = &cpu,
					  .threads = 1,
					  .clock = CLOCK_MONOTONIC,
					  .align_ns = -1,
					  .watchdog = true };
	struct cpu_result result = { 0 };
	struct fail fail = { "" };
	struct wakeup *w;
	int err;

	strcpy(settings.policy, "fifo");
	settings.priority = 50;
	settings.samples = 0;
	settings.duration_ns = INT64_MAX / 4;
	settings.interval_ns = interval;
	settings.fixed_phase = true;
	atomic_store(&let_go, false);
	err = wakeup_start(&w, &options, &fail);
	if (err == -EPERM || err == -EACCES)
		skip();
	assert_int_equal(err, 0);
	while (sched_getscheduler(wakeup_tid(w, 0)) == SCHED_FIFO)
		clock_sleep_until(clock_now() + 5000000);
	atomic_store(&let_go, true);
	wait_for_end(w);
	wakeup_result(w, 0, &result);
	assert_int_equal(result.end, CPU_END_RUNAWAY);
	wakeup_free(w);
}

static void watchdog_stops_a_runaway(void **state)
{
	(void)state;
	assert_watchdog_stops(spin, 1); /* time creeps, so that the run would never end */
}

/* The watchdog reckons with the samples of these, and must not be misled by them. */
static void watchdog_stops_what_tells_its_samples(void **state)
{
	(void)state;
	assert_watchdog_stops(spin, 1000000);
	assert_watchdog_stops(stay, 1000000);
	assert_watchdog_stops(stay, 100000000);
}

static void refusals_leave_nothing_running(void **state)
{
	struct settings settings = plain_settings();
	int cpus[2] = { first_cpu(), CPUSET_MAX - 1 };
	struct wakeup_options options = { .settings = &settings,
					  .cpus = cpus,
					  .threads = 2,
					  .clock = CLOCK_MONOTONIC,
					  .align_ns = -1 };
	struct fail fail = { "" };
	struct wakeup *w;

	(void)state;
	assert_true(wakeup_start(&w, &options, &fail) < 0);
	assert_non_null(strstr(fail.text, "CPU 8191"));
}

static void a_thread_can_be_dropped(void **state)
{
	struct settings settings = plain_settings();
	int cpu = first_cpu(), cpus[2] = { cpu, cpu };
	struct wakeup_options options = { .settings = &settings,
					  .cpus = cpus,
					  .threads = 2,
					  .clock = CLOCK_MONOTONIC,
					  .align_ns = -1 };
	struct cpu_result result = { 0 };
	struct fail fail = { "" };
	struct wakeup *w;

	(void)state;
	settings.interval_ns = 3600000000000; /* only the stop signal can end it in time */
	assert_int_equal(wakeup_start(&w, &options, &fail), 0);
	wakeup_drop(w, 0, CPU_END_OFFLINE);
	wakeup_stop(w);
	wakeup_result(w, 0, &result);
	assert_int_equal(result.end, CPU_END_OFFLINE);
	wakeup_result(w, 1, &result);
	assert_int_equal(result.end, CPU_END_DONE);
	wakeup_free(w);
}

#define US INT64_C(1000)
#define MS INT64_C(1000000)

/* A sampler that sleeps until one second; its samples are known up to UNTIL. */
static struct sampler *sleeping(int64_t interval, int64_t until)
{
	struct sampler *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	atomic_store(&s->state, SAMPLER_RUNNING);
	s->link.clock = CLOCK_MONOTONIC;
	s->interval_ns = interval;
	s->window_ns = 1000 * MS;
	s->fixed_phase = until == INT64_MAX;
	atomic_store(&s->next_ns, 1000 * MS);
	atomic_store(&s->phase_until_ns, until);
	return s;
}

static void room_is_right_after_a_near_sample(void **state)
{
	static const struct {
		int64_t interval, until, now, wanted, room;
	} rows[] = {
		/* far from the one waited for, near to it before and behind, far again */
		{ 10 * MS, INT64_MAX, 0, 900 * MS, 900 * MS },
		{ 10 * MS, INT64_MAX, 0, 998 * MS - 1, 998 * MS - 1 },
		{ 10 * MS, INT64_MAX, 0, 998 * MS, 1000 * MS + 100 * US },
		{ 10 * MS, INT64_MAX, 0, 1000 * MS, 1000 * MS + 100 * US },
		{ 10 * MS, INT64_MAX, 0, 1000 * MS + 99 * US, 1000 * MS + 100 * US },
		{ 10 * MS, INT64_MAX, 0, 1000 * MS + 100 * US, 1000 * MS + 100 * US },
		{ 10 * MS, INT64_MAX, 0, 1005 * MS, 1005 * MS },
		/* the same about those that follow */
		{ 10 * MS, INT64_MAX, 0, 1994 * MS, 1994 * MS },
		{ 10 * MS, INT64_MAX, 0, 1999 * MS, 2000 * MS + 100 * US },
		{ 10 * MS, INT64_MAX, 0, 2001 * MS, 2001 * MS },
		/* a random phase moves all behind 1020 ms: what is far from it stays */
		{ 10 * MS, 1025 * MS, 0, 1019 * MS, 1020 * MS + 100 * US },
		{ 10 * MS, 1025 * MS, 0, 1027 * MS, 1027 * MS },
		{ 10 * MS, 1025 * MS, 0, 1028 * MS, 1020 * MS + 100 * US },
		{ 10 * MS, 1025 * MS, 0, 1900 * MS, 1020 * MS + 100 * US },
		{ 10 * MS, 1020 * MS, 0, 1900 * MS, 1010 * MS + 100 * US },
		/* the phase has ended at 1000 ms */
		{ 10 * MS, 1000 * MS, 0, 1900 * MS, 1000 * MS + 100 * US },
		{ 10 * MS, 1000 * MS, 0, 999 * MS, 1000 * MS + 100 * US },
		/* a sampler that is late or stuck is not waited for */
		{ 10 * MS, 1025 * MS, 1020 * MS + 100 * US, 1900 * MS, 1900 * MS },
		{ 10 * MS, 1025 * MS, 5000 * MS, 5900 * MS, 5900 * MS },
		{ 10 * MS, INT64_MAX, 5000 * MS, 5900 * MS, 5900 * MS + 100 * US },
		{ 10 * MS, 1000 * MS, 5000 * MS, 5000 * MS, 5000 * MS },
		/* short intervals: a quarter behind the sample, half of one is enough */
		{ MS, INT64_MAX, 0, 1000 * MS + 300 * US, 1000 * MS + 300 * US },
		{ MS, INT64_MAX, 0, 1000 * MS + 500 * US, 1001 * MS + 100 * US },
		{ 100 * US, INT64_MAX, 0, 1000 * MS + 10 * US, 1000 * MS + 25 * US },
		{ 100 * US, INT64_MAX, 0, 1000 * MS + 30 * US, 1000 * MS + 30 * US },
		{ 100 * US, INT64_MAX, 0, 1000 * MS + 60 * US, 1000 * MS + 125 * US },
		{ 40 * US, INT64_MAX, 0, 1000 * MS, 1000 * MS + 10 * US },
		{ 40 * US - 1, INT64_MAX, 0, 1000 * MS, 1000 * MS },
		{ 3600000 * MS, INT64_MAX, 0, 1000 * MS, 1000 * MS + 100 * US },
		{ 3600000 * MS, INT64_MAX, 0, 2000 * MS, 2000 * MS },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sampler *s = sleeping(rows[i].interval, rows[i].until);
		int64_t room = sampler_room(s, rows[i].wanted, rows[i].now);

		if (room != rows[i].room)
			fail_msg("row %zu gave %" PRId64, i, room);
		free(s);
	}
}

static void no_room_is_known_of_those_that_tell_nothing(void **state)
{
	struct sampler *s = sleeping(10 * MS, 1900 * MS);
	int64_t wanted = 1000 * MS;

	(void)state;
	assert_int_not_equal(sampler_room(s, wanted, 0), wanted);
	atomic_store(&s->state, SAMPLER_ENDED);
	assert_int_equal(sampler_room(s, wanted, 0), wanted);
	atomic_store(&s->state, SAMPLER_RUNNING);
	s->link.clock = CLOCK_REALTIME;
	assert_int_equal(sampler_room(s, wanted, 0), wanted);
	s->link.clock = CLOCK_MONOTONIC;
	s->window_ns = 99 * MS; /* a new phase too often */
	assert_int_equal(sampler_room(s, wanted, 0), wanted);
	s->fixed_phase = true;
	assert_int_not_equal(sampler_room(s, wanted, 0), wanted);
	free(s);
}

/* The bounds that the watchdog relies on: never long after what was wanted, and always ahead, so
 * that it neither comes late nor spins; and never in a sample's way, as far as samples are known.
 */
static void room_is_bounded_and_in_no_samples_way(void **state)
{
	(void)state;
	srandom(3);
	for (int round = 0; round < 20000; round++) {
		int64_t interval = 40 * US + random() % (round % 2 ? 20 * MS : MS);
		int64_t until = 1000 * MS + random() % (100 * MS);
		struct sampler *s = sleeping(interval, until);
		int64_t now = 980 * MS + random() % (100 * MS), wanted = now + random() % (60 * MS);
		int64_t near = interval / 2 < 2 * MS ? interval / 2 : 2 * MS;
		int64_t after = interval / 4 < 100 * US ? interval / 4 : 100 * US;
		int64_t room = sampler_room(s, wanted, now), sample = 1000 * MS;

		assert_true(room == wanted || room > now);
		assert_true(room <= wanted + near + after);
		for (; sample < until && sample + after > now; sample += interval) {
			if (room > sample - near && room < sample + after)
				fail_msg("%" PRId64 " is in the way of %" PRId64, room, sample);
		}
		free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_source_yields_its_samples),
		cmocka_unit_test(several_threads_share_a_cpu),
		cmocka_unit_test(duration_ends_a_run),
		cmocka_unit_test(phase_moves_from_window_to_window),
		cmocka_unit_test(watchdog_stops_a_runaway),
		cmocka_unit_test(watchdog_stops_what_tells_its_samples),
		cmocka_unit_test(refusals_leave_nothing_running),
		cmocka_unit_test(a_thread_can_be_dropped),
		cmocka_unit_test(room_is_right_after_a_near_sample),
		cmocka_unit_test(no_room_is_known_of_those_that_tell_nothing),
		cmocka_unit_test(room_is_bounded_and_in_no_samples_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

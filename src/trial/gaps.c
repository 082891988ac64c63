// SPDX-License-Identifier: GPL-2.0-or-later
#include "trial/gaps.h"

#include "sys/clock.h"
#include "sys/signals.h"

#include <string.h>

/* A standstill of all CPUs at once that is shorter may well be the kernel's own doing. */
#define PAUSE_LEAST_NS 200000000
/* A suspend shows as a step between two clocks that are read one after the other. */
#define SUSPEND_LEAST_NS 10000000
/* A stopped program's threads wake up some time after the SIGCONT that they are counted against. */
#define CONTINUE_SLACK_NS 5000000

void gaps_begin(struct gap_finder *finder)
{
	*finder = (struct gap_finder){
		.suspended_ns = clock_suspended(),
		.continued_ns = signals_continued(),
		.last_look_ns = clock_now(),
	};
}

static void add(struct gap_finder *finder, int64_t start, int64_t length, const char *kind)
{
	if (finder->count < GAPS_MAX)
		finder->gaps[finder->count++] = (struct gap){ start, length, kind };
}

void gaps_look(struct gap_finder *finder)
{
	int64_t suspended = clock_suspended(), continued = signals_continued();

	if (suspended - finder->suspended_ns > SUSPEND_LEAST_NS)
		add(finder, finder->last_look_ns, suspended - finder->suspended_ns, "suspended");
	if (continued != finder->continued_ns)
		add(finder, continued, 0, "stopped");
	finder->suspended_ns = suspended;
	finder->continued_ns = continued;
	finder->last_look_ns = clock_now();
}

static int64_t end_of(const struct timed_latency *sample)
{
	return sample->time_ns + sample->latency_ns;
}

/* The longest of CPU's samples that was under way at INSTANT, NULL where none was. */
static const struct timed_latency *sample_at(const struct cpu_result *cpu, int64_t instant)
{
	const struct timed_latency *longest = NULL;

	for (size_t i = 0; cpu->largest && i < cpu->largest->count; i++) {
		const struct timed_latency *sample = &cpu->largest->items[i];

		if (sample->time_ns <= instant && end_of(sample) + CONTINUE_SLACK_NS >= instant &&
		    (!longest || sample->latency_ns > longest->latency_ns))
			longest = sample;
	}
	return longest;
}

/* A stop that held up no sample for longer than an interval left no trace in the result. */
static void settle_stop(struct session *session, int64_t continued)
{
	const struct timed_latency *longest = NULL;

	for (size_t i = 0; i < session->cpu_count; i++) {
		const struct timed_latency *sample = sample_at(&session->cpus[i], continued);

		if (sample && (!longest || sample->latency_ns > longest->latency_ns))
			longest = sample;
	}
	if (!longest || longest->latency_ns <= session->settings.interval_ns)
		return;
	session->gaps[session->gap_count++] =
		(struct gap){ longest->time_ns, continued - longest->time_ns, "stopped" };
}

static bool known_already(const struct session *session, const struct timed_latency *sample)
{
	for (size_t i = 0; i < session->gap_count; i++) {
		const struct gap *gap = &session->gaps[i];

		if (sample->time_ns < gap->start_ns + gap->length_ns &&
		    end_of(sample) > gap->start_ns)
			return true;
	}
	return false;
}

/* Whether every thread that measured then stood still through the middle of SAMPLE. */
static bool all_stood_still(const struct session *session, const struct timed_latency *sample)
{
	int64_t middle = sample->time_ns + sample->latency_ns / 2;

	for (size_t i = 0; i < session->cpu_count; i++) {
		const struct timed_latency *other = sample_at(&session->cpus[i], middle);

		if (session->cpus[i].end != CPU_END_OFFLINE &&
		    (!other || other->latency_ns < sample->latency_ns / 2))
			return false;
	}
	return true;
}

static void find_pauses(struct session *session)
{
	const struct largest *largest = session->cpu_count ? session->cpus[0].largest : NULL;

	for (size_t i = 0; largest && i < largest->count && session->gap_count < GAPS_MAX; i++) {
		const struct timed_latency *sample = &largest->items[i];

		if (sample->latency_ns >= PAUSE_LEAST_NS && !known_already(session, sample) &&
		    all_stood_still(session, sample))
			session->gaps[session->gap_count++] =
				(struct gap){ sample->time_ns, sample->latency_ns, "paused" };
	}
}

void gaps_settle(const struct gap_finder *finder, int64_t started, struct session *session)
{
	for (size_t i = 0; i < finder->count; i++) {
		struct gap gap = finder->gaps[i];

		gap.start_ns = gap.start_ns < started ? 0 : gap.start_ns - started;
		if (!strcmp(gap.kind, "stopped"))
			settle_stop(session, gap.start_ns);
		else
			session->gaps[session->gap_count++] = gap;
	}
	find_pauses(session);
}

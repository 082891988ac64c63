// SPDX-License-Identifier: GPL-2.0-or-later
#include "trial/gaps.h"

#include "sys/clock.h"
#include "sys/signals.h"

#include <string.h>

/* Shorter stops are told by the latencies alone; the control thread's own wake-up can be this late
 * on a busy board. */
#define GAP_LEAST_NS 200000000
/* A suspend shows as a step between two clocks that are read one after the other. */
#define SUSPEND_LEAST_NS 10000000

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

void gaps_look(struct gap_finder *finder, int64_t wanted, int64_t now)
{
	int64_t suspended = clock_suspended(), continued = signals_continued();

	if (suspended - finder->suspended_ns > SUSPEND_LEAST_NS)
		add(finder, finder->last_look_ns, suspended - finder->suspended_ns, "suspended");
	else if (continued != finder->continued_ns && now - wanted > GAP_LEAST_NS)
		add(finder, wanted, continued - wanted, "stopped");
	else if (now - wanted > GAP_LEAST_NS)
		add(finder, wanted, now - wanted, "paused");
	finder->suspended_ns = suspended;
	finder->continued_ns = continued;
	finder->last_look_ns = now;
}

/* Whether CPU has a sample that began in or just before the gap and lasted for most of it. */
static bool covered(const struct cpu_result *cpu, const struct gap *gap, int64_t interval)
{
	if (!cpu->largest)
		return false;
	for (size_t i = 0; i < cpu->largest->count; i++) {
		const struct timed_latency *sample = &cpu->largest->items[i];

		if (sample->latency_ns >= gap->length_ns / 2 &&
		    sample->time_ns < gap->start_ns + gap->length_ns &&
		    sample->time_ns + sample->latency_ns + interval > gap->start_ns)
			return true;
	}
	return false;
}

/* A standstill of the whole machine held up every thread that was still measuring. */
static bool confirmed(const struct session *session, const struct gap *gap)
{
	if (strcmp(gap->kind, "paused") != 0)
		return true;
	for (size_t i = 0; i < session->cpu_count; i++) {
		const struct cpu_result *cpu = &session->cpus[i];

		if (cpu->end != CPU_END_OFFLINE &&
		    !covered(cpu, gap, session->settings.interval_ns))
			return false;
	}
	return session->cpu_count > 0;
}

void gaps_settle(const struct gap_finder *finder, int64_t started, struct session *session)
{
	for (size_t i = 0; i < finder->count; i++) {
		struct gap gap = finder->gaps[i];

		gap.start_ns -= started;
		if (confirmed(session, &gap))
			session->gaps[session->gap_count++] = gap;
	}
}

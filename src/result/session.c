// SPDX-License-Identifier: GPL-2.0-or-later
#include "result/session.h"

#include "result/distort.h"

#include <errno.h>
#include <stdlib.h>

static void cpu_result_clear(struct cpu_result *result)
{
	histogram_free(result->histogram);
	free(result->largest);
	windows_free(&result->windows);
	*result = (struct cpu_result){ 0 };
}

static void drop_cpus(struct session *session)
{
	for (size_t i = 0; i < session->cpu_count; i++)
		cpu_result_clear(&session->cpus[i]);
	free(session->cpus);
	session->cpus = NULL;
	session->cpu_count = 0;
	session->shape_of = -1;
}

struct session *session_new(void)
{
	struct session *session = calloc(1, sizeof(*session));

	if (!session)
		return NULL;
	session->settings.dma_latency_us = -1;
	session->all.cpu = -1;
	session->shape_of = -1;
	return session;
}

void session_free(struct session *session)
{
	if (!session)
		return;
	drop_cpus(session);
	cpu_result_clear(&session->all);
	environment_free(&session->environment);
	for (size_t i = 0; i < session->distortion_count; i++)
		free(session->distortions[i].text);
	free(session->distortions);
	free(session);
}

int session_set_cpus(struct session *session, size_t count)
{
	drop_cpus(session);
	session->cpus = calloc(count ? count : 1, sizeof(*session->cpus));
	if (!session->cpus)
		return -ENOMEM;
	session->cpu_count = count;
	for (size_t i = 0; i < count; i++) {
		session->cpus[i].cpu = (int)i;
		session->cpus[i].end = CPU_END_RUNNING;
		session->cpus[i].histogram = histogram_new();
		if (!session->cpus[i].histogram) {
			drop_cpus(session);
			return -ENOMEM;
		}
	}
	return 0;
}

static void add_cpu(struct cpu_result *all, const struct cpu_result *cpu)
{
	if (cpu->samples && (!all->samples || cpu->min_ns < all->min_ns))
		all->min_ns = cpu->min_ns;
	if (cpu->samples && (!all->samples || cpu->max_ns > all->max_ns)) {
		all->max_ns = cpu->max_ns;
		all->max_at_ns = cpu->max_at_ns;
	}
	all->samples += cpu->samples;
	all->missed += cpu->missed;
	all->early += cpu->early;
	moments_merge(&all->moments, &cpu->moments);
	if (cpu->histogram)
		histogram_merge(all->histogram, cpu->histogram);
}

const struct cpu_result *session_worst(const struct session *session)
{
	const struct cpu_result *worst = NULL;

	for (size_t i = 0; i < session->cpu_count; i++) {
		const struct cpu_result *cpu = &session->cpus[i];

		if (cpu->samples && (!worst || cpu->max_ns > worst->max_ns))
			worst = cpu;
	}
	return worst;
}

static int64_t known_sum(int64_t a, int64_t b)
{
	if (a < 0 || b < 0)
		return a > b ? a : b;
	return a + b;
}

struct window session_window_sum(const struct cpu_result *result)
{
	struct window sum = { .moves = -1, .faults = -1, .switches = -1, .steal_ns = -1 };

	for (size_t i = 0; i < result->windows.count; i++) {
		const struct window *window = &result->windows.items[i];

		sum.length_ns += window->length_ns;
		sum.count += window->count;
		sum.missed += window->missed;
		sum.moves = known_sum(sum.moves, window->moves);
		sum.faults = known_sum(sum.faults, window->faults);
		sum.switches = known_sum(sum.switches, window->switches);
		sum.steal_ns = known_sum(sum.steal_ns, window->steal_ns);
	}
	return sum;
}

static uint64_t samples_beyond(const struct histogram *histogram, size_t bucket)
{
	uint64_t count = 0;

	for (size_t i = bucket + 1; i < HISTOGRAM_BUCKETS; i++)
		count += histogram->counts[i];
	return count;
}

/* The thread with the most samples beyond the p99.9 of all; among equals the one with the larger
 * max. It is chosen by how many they are, not by when they came, so tests of their times stay
 * honest. */
static int most_extreme(const struct session *session)
{
	size_t bucket = histogram_bucket(histogram_quantile(session->all.histogram, 99.9));
	uint64_t most = 0;
	int found = -1;

	for (size_t i = 0; i < session->cpu_count; i++) {
		const struct cpu_result *cpu = &session->cpus[i];
		uint64_t count;

		if (!cpu->samples || !cpu->histogram)
			continue;
		count = samples_beyond(cpu->histogram, bucket);
		if (found >= 0 &&
		    (count < most || (count == most && cpu->max_ns <= session->cpus[found].max_ns)))
			continue;
		most = count;
		found = (int)i;
	}
	return found;
}

static void find_shape(struct session *session)
{
	const struct cpu_result *cpu;

	session->shape = (struct shape){ 0 };
	session->shape_of = session->all.samples ? most_extreme(session) : -1;
	if (session->shape_of < 0)
		return;
	cpu = &session->cpus[session->shape_of];
	shape_find(&session->shape, cpu->histogram, cpu->largest, &cpu->windows,
		   session->settings.interval_ns, session->duration_ns);
}

int session_conclude(struct session *session)
{
	cpu_result_clear(&session->all);
	session->all.cpu = -1;
	session->all.histogram = histogram_new();
	if (!session->all.histogram)
		return -ENOMEM;
	for (size_t i = 0; i < session->cpu_count; i++)
		add_cpu(&session->all, &session->cpus[i]);
	find_shape(session);
	goals_judge(&session->goals, &session->all);
	return distort_by_data(session);
}

const char *cpu_end_name(enum cpu_end end)
{
	switch (end) {
	case CPU_END_DONE:
		return "done";
	case CPU_END_RUNNING:
		return "running";
	case CPU_END_STOPPED:
		return "stopped";
	case CPU_END_OFFLINE:
		return "off line";
	case CPU_END_MOVED:
		return "moved";
	case CPU_END_RUNAWAY:
		return "runaway";
	case CPU_END_FAILED:
		return "failed";
	}
	return "failed";
}

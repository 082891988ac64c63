// SPDX-License-Identifier: GPL-2.0-or-later
#include "trial/cyclic.h"

#include "base/fail.h"
#include "probe/wakeup.h"
#include "result/session.h"
#include "sys/clock.h"
#include "sys/tracemark.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Single values that wait for the control thread, a power of two: at 10 kHz it may sleep for 1.6 s.
 */
#define VALUES 16384

/* Windows are of no use here: one that no run outlives. */
#define WINDOW_NS (10LL * 365 * 86400 * 1000000000)

/* Each counter has one writer, its sampler: plain loads and stores. */
#define peek(field)        atomic_load_explicit(&(field), memory_order_relaxed)
#define poke(field, value) atomic_store_explicit(&(field), (value), memory_order_relaxed)

/* What a sampler counts; on cache lines of its own. */
struct tally {
	_Alignas(128) _Atomic uint64_t cycles;
	_Atomic uint64_t sum, missed, overflows;
	_Atomic int64_t min, last, max;
	int64_t interval_ns;
	uint64_t *buckets, *overflow_cycles;
	_Atomic int64_t *values;
	uint64_t values_taken; /* the control thread's */
};

struct cyclic {
	const struct cyclic_options *options;
	struct wakeup *wakeup;
	struct settings settings;
	struct tally *tallies;
	struct cyclictest_thread *seen;
	struct cyclictest_spike *spikes;
	_Atomic uint64_t spike_count;
	_Atomic int broken; /* the thread that exceeded the limit, -1 */
	_Atomic int64_t break_value;
	uint64_t values_lost;
};

static void note_spike(struct cyclic *c, int index, int64_t value)
{
	uint64_t at = atomic_fetch_add_explicit(&c->spike_count, 1, memory_order_relaxed);

	if (at < c->options->spikes_kept)
		c->spikes[at] = (struct cyclictest_spike){ index, value,
							   clock_read(c->options->clock) / 1000 };
}

/* The first thread over the limit ends the run for all: what others still see is not counted. */
static void note_break(struct cyclic *c, int index, int64_t value)
{
	char text[96];
	int none = -1, length;

	if (!atomic_compare_exchange_strong(&c->broken, &none, index))
		return;
	poke(c->break_value, value);
	if (!c->options->mark)
		return;
	length = snprintf(text, sizeof(text), "hit latency threshold (%" PRId64 " > %" PRId64 ")",
			  value, c->options->break_above);
	tracemark_stop(c->options->mark, text, (size_t)length);
}

static void count_in_histogram(struct tally *t, int64_t value, int64_t buckets, uint64_t cycle)
{
	uint64_t overflows = peek(t->overflows);

	if (value < buckets) {
		t->buckets[value]++;
		return;
	}
	if (overflows < (uint64_t)buckets)
		t->overflow_cycles[overflows] = cycle;
	poke(t->overflows, overflows + 1);
}

/* In the sampler's thread. Whole units, cut as cyclictest cuts them. */
static void count_sample(void *context, int index, int64_t latency_ns)
{
	struct cyclic *c = context;
	const struct cyclic_options *options = c->options;
	struct tally *t = &c->tallies[index];
	uint64_t cycle = peek(t->cycles), late = latency_ns < 0 ? 0 : (uint64_t)latency_ns;
	int64_t value = (int64_t)(options->nanoseconds ? late : late / 1000);

	if (__builtin_expect(peek(c->broken) >= 0, 0))
		return;
	if (__builtin_expect(latency_ns >= t->interval_ns, 0))
		poke(t->missed, peek(t->missed) + late / (uint64_t)t->interval_ns);
	if (value < peek(t->min))
		poke(t->min, value);
	if (value > peek(t->max))
		poke(t->max, value);
	poke(t->sum, peek(t->sum) + (uint64_t)value);
	poke(t->last, value);
	if (t->values)
		poke(t->values[cycle % VALUES], value);
	if (options->buckets)
		count_in_histogram(t, value, options->buckets, cycle);
	atomic_store_explicit(&t->cycles, cycle + 1, memory_order_release);
	if (options->spikes_above && value > options->spikes_above)
		note_spike(c, index, value);
	if (options->break_above && value > options->break_above)
		note_break(c, index, value);
}

/* Zeroed memory that is there, not promised: the samplers must not fault it in. */
static void *present(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (memory)
		memset(memory, 0, count * size);
	__asm__ volatile("" : : "r"(memory) : "memory"); /* the zeroes above look superfluous */
	return memory;
}

static int allocate_tally(struct tally *t, const struct cyclic_options *options, size_t index)
{
	size_t buckets = (size_t)options->buckets;

	/* without periods to keep (relative) none can be missed */
	t->interval_ns = options->relative ? INT64_MAX : options->intervals_ns[index];
	poke(t->min, CYCLICTEST_NO_MIN);
	if (buckets) {
		t->buckets = present(buckets, sizeof(*t->buckets));
		t->overflow_cycles = present(buckets, sizeof(*t->overflow_cycles));
		if (!t->buckets || !t->overflow_cycles)
			return -ENOMEM;
	}
	if (options->values)
		t->values = present(VALUES, sizeof(*t->values));
	return options->values && !t->values ? -ENOMEM : 0;
}

static struct cyclic *allocate(const struct cyclic_options *options)
{
	struct cyclic *c = calloc(1, sizeof(*c));
	size_t size = options->threads * sizeof(*c->tallies);
	int err = 0;

	if (!c)
		return NULL;
	c->options = options;
	poke(c->broken, -1);
	c->tallies = aligned_alloc(_Alignof(struct tally), size);
	c->seen = calloc(options->threads, sizeof(*c->seen));
	c->spikes = present(options->spikes_kept + 1, sizeof(*c->spikes));
	if (c->tallies)
		memset(c->tallies, 0, size);
	for (size_t i = 0; c->tallies && i < options->threads && !err; i++)
		err = allocate_tally(&c->tallies[i], options, i);
	if (err || !c->tallies || !c->seen || !c->spikes) {
		cyclic_free(c);
		return NULL;
	}
	return c;
}

static void set_up(struct cyclic *c)
{
	const struct cyclic_options *options = c->options;

	c->settings = (struct settings){
		.priority = options->priorities[0],
		.interval_ns = options->intervals_ns[0],
		.duration_ns = options->duration_ns,
		.samples = (uint64_t)options->loops,
		.window_ns = WINDOW_NS,
		.dma_latency_us = -1,
		.aligned = options->offsets_ns != NULL,
		.pinned = true,
		.fixed_phase = true,
	};
	snprintf(c->settings.source, sizeof(c->settings.source), "%s", options->source);
	snprintf(c->settings.policy, sizeof(c->settings.policy), "%s", options->policy);
}

static int highest_priority(const struct cyclic_options *options)
{
	int highest = 0;

	for (size_t i = 0; i < options->threads; i++) {
		if (options->priorities[i] > highest)
			highest = options->priorities[i];
	}
	return highest;
}

int cyclic_start(struct cyclic **cyclic, const struct cyclic_options *options, struct fail *fail)
{
	struct cyclic *c = allocate(options);
	struct wakeup_options wakeup;
	int err;

	if (!c)
		return fail_set(fail, ENOMEM, "no memory for %zu threads' histograms",
				options->threads);
	set_up(c);
	wakeup = (struct wakeup_options){
		.settings = &c->settings,
		.cpus = options->cpus,
		.threads = options->threads,
		.intervals_ns = options->intervals_ns,
		.priorities = options->priorities,
		.hook = { count_sample, c },
		.clock = options->clock,
		.relative = options->relative,
		/* at 99 nothing can be above the samplers, as with cyclictest itself */
		.watchdog = highest_priority(options) < 99,
		.align_ns = options->align_ns,
		.offsets_ns = options->offsets_ns,
	};
	err = wakeup_start(&c->wakeup, &wakeup, fail);
	if (err) {
		cyclic_free(c);
		return err;
	}
	*cyclic = c;
	return 0;
}

static bool has_made_loops(const struct cyclic *c)
{
	for (size_t i = 0; c->options->loops && i < c->options->threads; i++) {
		if (peek(c->tallies[i].cycles) >= (uint64_t)c->options->loops)
			return true;
	}
	return false;
}

bool cyclic_over(const struct cyclic *c)
{
	return peek(c->broken) >= 0 || has_made_loops(c) || !wakeup_running(c->wakeup);
}

int64_t cyclic_left(const struct cyclic *c)
{
	int64_t left = INT64_MAX;

	if (c->options->duration_ns)
		left = wakeup_started(c->wakeup) + c->options->duration_ns -
		       clock_read(c->options->clock);
	for (size_t i = 0; c->options->loops && i < c->options->threads; i++) {
		int64_t loops = c->options->loops - (int64_t)peek(c->tallies[i].cycles), time;

		if (!__builtin_mul_overflow(loops, c->options->intervals_ns[i], &time) &&
		    time < left)
			left = time;
	}
	return left;
}

void cyclic_stop(struct cyclic *c)
{
	wakeup_stop(c->wakeup);
}

static void look_at(struct cyclic *c, size_t index)
{
	const struct cyclic_options *options = c->options;
	const struct tally *t = &c->tallies[index];
	uint64_t overflows = peek(t->overflows), kept = (uint64_t)options->buckets;

	c->seen[index] = (struct cyclictest_thread){
		.tid = wakeup_tid(c->wakeup, index),
		.priority = options->priorities[index],
		.interval_us = options->intervals_ns[index] / 1000,
		.cpu = options->cpus[index],
		.node = options->nodes[index],
		.cycles = peek(t->cycles),
		.missed = peek(t->missed),
		.min = peek(t->min),
		.last = peek(t->last),
		.max = peek(t->max),
		.sum = peek(t->sum),
		.buckets = t->buckets,
		.overflows = overflows,
		.overflow_cycles = t->overflow_cycles,
		.overflow_cycle_count = (size_t)(overflows < kept ? overflows : kept),
	};
}

void cyclic_look(struct cyclic *c, struct cyclictest_report *report)
{
	const struct cyclic_options *options = c->options;

	for (size_t i = 0; i < options->threads; i++)
		look_at(c, i);
	report->nanoseconds = options->nanoseconds;
	report->buckets = options->buckets;
	report->count = options->threads;
	report->threads = c->seen;
	report->spikes = peek(c->spike_count);
	report->spike_count = report->spikes < options->spikes_kept ? (size_t)report->spikes
								    : options->spikes_kept;
	report->spike = c->spikes;
	report->break_asked = options->break_above > 0;
	report->broken = peek(c->broken);
	report->break_value = peek(c->break_value);
}

bool cyclic_value(struct cyclic *c, size_t index, uint64_t *cycle, int64_t *value)
{
	struct tally *t = &c->tallies[index];
	uint64_t made = atomic_load_explicit(&t->cycles, memory_order_acquire);

	/* one less than fits: the sampler may be writing the next one */
	if (made - t->values_taken >= VALUES) {
		uint64_t lost = made - t->values_taken - VALUES / 2;

		c->values_lost += lost;
		t->values_taken += lost;
	}
	if (t->values_taken == made)
		return false;
	*cycle = t->values_taken++;
	*value = peek(t->values[*cycle % VALUES]);
	return true;
}

uint64_t cyclic_values_lost(const struct cyclic *c)
{
	return c->values_lost;
}

bool cyclic_memory_locked(const struct cyclic *c)
{
	return wakeup_memory_locked(c->wakeup);
}

const char *cyclic_failure(const struct cyclic *c, size_t index)
{
	struct cpu_result result = { 0 };

	wakeup_result(c->wakeup, index, &result);
	switch (result.end) {
	case CPU_END_OFFLINE:
		return "was found on another CPU: its own went off line, or its affinity was "
		       "changed";
	case CPU_END_RUNAWAY:
		return "never slept: the interval is too short for this board";
	case CPU_END_FAILED:
		return "could not be woken or ended";
	default:
		return NULL;
	}
}

void cyclic_free(struct cyclic *c)
{
	if (!c)
		return;
	wakeup_free(c->wakeup);
	for (size_t i = 0; c->tallies && i < c->options->threads; i++) {
		free(c->tallies[i].buckets);
		free(c->tallies[i].overflow_cycles);
		free((void *)c->tallies[i].values);
	}
	free(c->tallies);
	free(c->seen);
	free(c->spikes);
	free(c);
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "result/distort.h"

#include "base/str.h"
#include "result/session.h"
#include "sys/dma_latency.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first ones are derived from the data, the others from settings and surroundings. */
#define BY_DATA 9
const char *const distortion_kinds[] = {
	"missed",
	"early",
	"steal",
	"moves",
	"page-faults",
	"gap",
	"beyond-histogram",
	"cpu-ended",
	"cut-off",
	/* surroundings */
	"dma-latency-held",
	"virtual-machine",
	"not-realtime-kernel",
	"policy-other",
	"tracing-on",
	"slow-clock",
	"fixed-phase",
	"isolated-left-out",
	NULL,
};

/* The kind as it stands in the table, so that it outlives the caller's copy; else as it is. */
static const char *intern(const char *kind)
{
	for (size_t i = 0; distortion_kinds[i]; i++) {
		if (!strcmp(distortion_kinds[i], kind))
			return distortion_kinds[i];
	}
	return kind;
}

int session_distortion(struct session *session, const char *kind, const char *format, ...)
{
	struct distortion *grown;
	va_list args;
	char *text;
	int length;

	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	if (length < 0)
		return -ENOMEM;
	for (size_t i = 0; i < session->distortion_count; i++) {
		if (!strcmp(session->distortions[i].kind, kind) &&
		    !strcmp(session->distortions[i].text, text)) {
			free(text);
			return 0;
		}
	}
	grown = reallocarray(session->distortions, session->distortion_count + 1, sizeof(*grown));
	if (!grown) {
		free(text);
		return -ENOMEM;
	}
	session->distortions = grown;
	grown[session->distortion_count++] =
		(struct distortion){ .kind = intern(kind), .text = text };
	return 0;
}

/* Takes out what an earlier call derived: kinds FROM up to TO of the table. */
static void forget(struct session *session, size_t from, size_t to)
{
	size_t kept = 0;

	for (size_t i = 0; i < session->distortion_count; i++) {
		struct distortion distortion = session->distortions[i];
		bool derived = false;

		for (size_t j = from; j < to && distortion_kinds[j]; j++)
			derived |= !strcmp(distortion.kind, distortion_kinds[j]);
		if (derived)
			free(distortion.text);
		else
			session->distortions[kept++] = distortion;
	}
	session->distortion_count = kept;
}

struct names {
	char text[CPUSET_TEXT_MAX + 16];
};

/* "CPU 1", "CPUs 0-1,3", "threads 0-7" */
static struct names name_set(const struct session *session, const struct cpuset *set)
{
	const char *word = session->settings.pinned ? "CPU" : "thread";
	char list[CPUSET_TEXT_MAX];
	struct names names;

	snprintf(names.text, sizeof(names.text), "%s%s %s", word, cpuset_count(set) == 1 ? "" : "s",
		 cpuset_text(set, list, sizeof(list)));
	return names;
}

struct length {
	char text[32];
};

static struct length name_length(int64_t ns)
{
	struct length length;

	if (ns < 1000000)
		snprintf(length.text, sizeof(length.text), "%.1f µs", (double)ns / 1e3);
	else if (ns < 1000000000)
		snprintf(length.text, sizeof(length.text), "%.1f ms", (double)ns / 1e6);
	else
		snprintf(length.text, sizeof(length.text), "%.1f s", (double)ns / 1e9);
	return length;
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static int add_missed(struct session *session)
{
	const struct cpu_result *all = &session->all;
	double periods = (double)all->samples + (double)all->missed;

	if (!all->missed)
		return 0;
	return session_distortion(
		session, "missed",
		"%" PRIu64
		" period%s missed (%.3g %%): no sample was taken then, which flatters every "
		"figure but max; the corrected ones make up for it",
		all->missed, plural(all->missed), 100 * (double)all->missed / periods);
}

static int add_early(struct session *session)
{
	uint64_t early = session->all.early;

	if (!early)
		return 0;
	return session_distortion(session, "early",
				  "%" PRIu64
				  " wake-up%s came before the time and count%s as 0: the clock "
				  "that wakes and the clock that is read disagree",
				  early, plural(early), early == 1 ? "s" : "");
}

enum moved { MOVED_STEAL, MOVED_MOVES, MOVED_FAULTS };

static int64_t sum_of(const struct cpu_result *cpu, enum moved what)
{
	struct window sum = session_window_sum(cpu);

	switch (what) {
	case MOVED_STEAL:
		return sum.steal_ns;
	case MOVED_MOVES:
		return sum.moves;
	case MOVED_FAULTS:
		return sum.faults;
	}
	return -1;
}

/* The sum of WHAT over all threads, and in SET those that have any. */
static int64_t sum_over(const struct session *session, enum moved what, struct cpuset *set)
{
	int64_t total = 0;

	*set = (struct cpuset){ 0 };
	for (size_t i = 0; i < session->cpu_count; i++) {
		int64_t sum = sum_of(&session->cpus[i], what);

		if (sum <= 0)
			continue;
		total += sum;
		cpuset_add(set, session->cpus[i].cpu);
	}
	return total;
}

static int add_window_sums(struct session *session)
{
	struct cpuset set;
	int64_t sum = sum_over(session, MOVED_STEAL, &set);
	int err = 0;

	if (sum)
		err = session_distortion(session, "steal", "the hypervisor took %s from %s",
					 name_length(sum).text, name_set(session, &set).text);
	sum = sum_over(session, MOVED_MOVES, &set);
	if (sum && !err)
		err = session_distortion(session, "moves",
					 "sampler threads were moved to another CPU %" PRId64
					 " time%s (%s)",
					 sum, plural((uint64_t)sum), name_set(session, &set).text);
	sum = sum_over(session, MOVED_FAULTS, &set);
	if (sum && !err)
		err = session_distortion(session, "page-faults",
					 "sampler threads took %" PRId64 " page fault%s (%s)", sum,
					 plural((uint64_t)sum), name_set(session, &set).text);
	return err;
}

/* What happened, in words; an unknown kind speaks for itself. */
static const char *gap_words(const char *kind)
{
	static const struct {
		const char *kind, *words;
	} rows[] = {
		{ "stopped", "the program was stopped" },
		{ "suspended", "the board was suspended" },
		{ "paused", "all measured CPUs stood still at once (a machine that was paused or "
			    "held up as a "
			    "whole)" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!strcmp(rows[i].kind, kind))
			return rows[i].words;
	}
	return kind;
}

/* One sentence for all gaps of a kind. */
static int add_gaps_of(struct session *session, const char *kind)
{
	int64_t length = 0, first = -1;
	uint64_t count = 0;

	for (size_t i = 0; i < session->gap_count; i++) {
		const struct gap *gap = &session->gaps[i];

		if (strcmp(gap->kind, kind) != 0)
			continue;
		length += gap->length_ns;
		first = count ? first : gap->start_ns;
		count++;
	}
	if (count == 1)
		return session_distortion(
			session, "gap", "%s for %s, %s after the start: nothing was measured then",
			gap_words(kind), name_length(length).text, name_length(first).text);
	return session_distortion(session, "gap",
				  "%s %" PRIu64 " times, %s in all, the first %s after the start: "
				  "nothing was measured then",
				  gap_words(kind), count, name_length(length).text,
				  name_length(first).text);
}

static int add_gaps(struct session *session)
{
	int err = 0;

	/* the same sentence again for the next gap of the kind is not added */
	for (size_t i = 0; i < session->gap_count && !err; i++)
		err = add_gaps_of(session, session->gaps[i].kind);
	return err;
}

static int add_beyond(struct session *session)
{
	uint64_t beyond = session->all.histogram->counts[HISTOGRAM_BUCKETS - 1];

	if (!beyond || session->all.max_ns <= HISTOGRAM_HIGHEST)
		return 0;
	return session_distortion(session, "beyond-histogram",
				  "up to %" PRIu64
				  " sample%s lie%s beyond the histogram's end (73 min) "
				  "and count there; max is exact",
				  beyond, plural(beyond), beyond == 1 ? "s" : "");
}

static int add_ends(struct session *session)
{
	static const struct {
		enum cpu_end end;
		const char *sentence;
	} early[] = {
		{ CPU_END_OFFLINE, "went off line before the end" },
		{ CPU_END_MOVED, "ended early: somebody gave the thread other CPUs" },
		{ CPU_END_RUNAWAY,
		  "could not keep up: the priority was lowered to keep the board alive" },
		{ CPU_END_FAILED, "ended early: the wake-up source failed" },
	};

	for (size_t i = 0; i < sizeof(early) / sizeof(early[0]); i++) {
		struct cpuset set = { 0 };
		int err;

		for (size_t j = 0; j < session->cpu_count; j++) {
			if (session->cpus[j].end == early[i].end)
				cpuset_add(&set, session->cpus[j].cpu);
		}
		if (cpuset_empty(&set))
			continue;
		err = session_distortion(session, "cpu-ended", "%s %s",
					 name_set(session, &set).text, early[i].sentence);
		if (err)
			return err;
	}
	return 0;
}

static int add_cut_off(struct session *session)
{
	if (session->complete)
		return 0;
	return session_distortion(
		session, "cut-off",
		"the recording ends before the run did: what came after is not known");
}

typedef int adder(struct session *session);

static int add_all(struct session *session, adder *const *adders)
{
	int err = 0;

	for (; *adders && !err; adders++)
		err = (*adders)(session);
	return err;
}

int distort_by_data(struct session *session)
{
	static adder *const adders[] = { add_missed, add_early, add_window_sums, add_gaps,
					 add_beyond, add_ends,  add_cut_off,     NULL };

	forget(session, 0, BY_DATA);
	return add_all(session, adders);
}

/* The text of an item, or NULL where it is unknown, absent or a number. */
static const char *item_text(const struct session *session, const char *key)
{
	const struct environment_item *item = environment_find(&session->environment, key);

	return item && item->kind == ENVIRONMENT_TEXT ? item->text : NULL;
}

static int add_dma_latency(struct session *session)
{
	const struct environment_item *found =
		environment_find(&session->environment, "dma_latency_us");
	int err = 0;

	if (session->settings.dma_latency_us >= 0)
		err = session_distortion(session, "dma-latency-held",
					 "this run held the DMA latency at %" PRId64
					 " µs: idle states that wake more slowly were not used",
					 session->settings.dma_latency_us);
	/* the same number may be this run's own, had it been read too late */
	if (!err && found && found->kind == ENVIRONMENT_NUMBER && found->number >= 0 &&
	    found->number < DMA_LATENCY_NONE && found->number != session->settings.dma_latency_us)
		err = session_distortion(session, "dma-latency-held",
					 "somebody else held the DMA latency at %" PRId64
					 " µs: idle states that wake more slowly were not used",
					 found->number);
	return err;
}

static int add_virtual_machine(struct session *session)
{
	const char *name = item_text(session, "virtual_machine");

	if (!name || !strcmp(name, "no"))
		return 0;
	return session_distortion(
		session, "virtual-machine",
		"the board is a virtual machine (%s): its host's doings are in every "
		"figure",
		name);
}

static int add_not_realtime(struct session *session)
{
	const char *answer = item_text(session, "preempt_rt");

	if (!answer || strcmp(answer, "no") != 0)
		return 0;
	return session_distortion(session, "not-realtime-kernel",
				  "the kernel is not PREEMPT_RT: nothing bounds its latencies");
}

static int add_policy(struct session *session)
{
	if (strcmp(session->settings.policy, "other") != 0)
		return 0;
	return session_distortion(
		session, "policy-other",
		"measured at normal priority (policy other): waiting for other tasks "
		"and the timer slack are in every figure");
}

static int add_tracing(struct session *session)
{
	const char *tracing = item_text(session, "tracing_on");

	if (!tracing || !strcmp(tracing, "no"))
		return 0;
	return session_distortion(session, "tracing-on", "the kernel was being traced (%s)",
				  tracing);
}

/* These are read through a device register, without help of the kernel's shared page (x86:
 * arch/x86/include/asm/vdso/clocksource.h lists TSC, pvclock and Hyper-V's page only). */
static int add_slow_clock(struct session *session)
{
	static const char *const slow[] = { "hpet", "acpi_pm", "jiffies", "refined-jiffies",
					    "pit" };
	const char *source = item_text(session, "clock_source");

	for (size_t i = 0; source && i < sizeof(slow) / sizeof(slow[0]); i++) {
		if (!strcmp(source, slow[i]))
			return session_distortion(
				session, "slow-clock",
				"the clock source is %s: reading the time is slow or "
				"coarse",
				source);
	}
	return 0;
}

static int add_fixed_phase(struct session *session)
{
	if (!session->settings.fixed_phase)
		return 0;
	return session_distortion(
		session, "fixed-phase",
		"the sampler's phase was fixed: what happens in step with the interval "
		"is seen always or never");
}

/* A thread that is not told where to run never sees isolated CPUs, which are the ones that matter.
 */
static int add_isolated_left_out(struct session *session)
{
	const char *text = item_text(session, "cpus_isolated");
	struct cpuset isolated = { 0 };
	char list[CPUSET_TEXT_MAX];

	if (!text || cpuset_parse(text, -1, &isolated, NULL) || cpuset_empty(&isolated) ||
	    cpuset_intersects(&isolated, &session->settings.cpus))
		return 0;
	return session_distortion(
		session, "isolated-left-out",
		"the isolated CPU%s %s %s not measured: that takes --cpus isolated",
		cpuset_count(&isolated) == 1 ? "" : "s", cpuset_text(&isolated, list, sizeof(list)),
		cpuset_count(&isolated) == 1 ? "was" : "were");
}

int session_surroundings_distort(struct session *session)
{
	static adder *const adders[] = { add_dma_latency, add_virtual_machine,   add_not_realtime,
					 add_policy,      add_tracing,           add_slow_clock,
					 add_fixed_phase, add_isolated_left_out, NULL };

	forget(session, BY_DATA, SIZE_MAX);
	return add_all(session, adders);
}

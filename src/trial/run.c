// SPDX-License-Identifier: GPL-2.0-or-later
#include "trial/run.h"

#include "base/fail.h"
#include "board/cpus.h"
#include "board/surroundings.h"
#include "board/usage.h"
#include "probe/wakeup.h"
#include "store/store.h"
#include "sys/clock.h"
#include "sys/dma_latency.h"
#include "sys/root.h"
#include "sys/sched.h"
#include "sys/signals.h"
#include "trial/gaps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEP_WATCHED_NS 250000000   /* between looks, while somebody watches the progress */
#define STEP_NS         1000000000  /* and where nobody does */
#define STEP_END_NS     5000000     /* once the end is near */
#define BATCH_NS        10000000000 /* between two writes to the store: what a power cut may cost */
#define COST_ROUNDS     100

/* A CPU's thread as the control thread follows it. */
struct follow {
	struct thread_usage usage;
	int64_t steal_ns;
};

struct run {
	const struct run_options *options;
	struct session *session;
	struct run_remarks *remarks;
	struct wakeup *wakeup;
	struct store *store; /* NULL once it failed */
	struct gap_finder gaps;
	size_t count;
	int *cpus;
	struct follow *follows;
	int64_t next_batch;
	int dma_fd; /* -1: not held */
};

static int choose_threads(struct run *run)
{
	const struct settings *settings = &run->session->settings;
	size_t i = 0;

	run->count = (size_t)cpuset_count(&settings->cpus);
	run->cpus = calloc(run->count, sizeof(*run->cpus));
	run->follows = calloc(run->count, sizeof(*run->follows));
	if (!run->cpus || !run->follows)
		return -ENOMEM;
	cpuset_for_each (cpu, &settings->cpus) {
		run->cpus[i++] = settings->pinned ? cpu : -1;
	}
	return session_set_cpus(run->session, run->count);
}

/* Counters of the threads and CPUs now; DIFFERENCE of the former ones goes into WINDOWS[i]. */
static void read_usage(struct run *run, size_t index, const int64_t *steal, struct window *window)
{
	struct follow *follow = &run->follows[index];
	struct thread_usage usage;

	thread_usage_read(run->options->root, getpid(), wakeup_tid(run->wakeup, index), &usage);
	if (window && usage.faults >= 0 && follow->usage.faults >= 0)
		window->faults = usage.faults - follow->usage.faults;
	if (window && usage.switches >= 0 && follow->usage.switches >= 0)
		window->switches = usage.switches - follow->usage.switches;
	if (window && steal[index] >= 0 && follow->steal_ns >= 0)
		window->steal_ns = steal[index] - follow->steal_ns;
	follow->usage = usage;
	follow->steal_ns = steal[index];
}

/* Steal time of every followed CPU; -1 where not known. */
static void read_steal(struct run *run, int64_t *steal)
{
	char *text = NULL;
	size_t length;

	for (size_t i = 0; i < run->count; i++)
		steal[i] = -1;
	wakeup_wait_for_room(run->wakeup);
	if (root_all(run->options->root, ROOT_FILE_MAX, &text, &length, "proc/stat"))
		return;
	cpu_steal_parse(text, run->cpus, run->count, sysconf(_SC_CLK_TCK), steal);
	free(text);
}

static int add_window(struct run *run, size_t index, const struct window *window)
{
	struct cpu_result *cpu = &run->session->cpus[index];

	if (window->count && (!cpu->samples || window->min_ns < cpu->min_ns))
		cpu->min_ns = window->min_ns;
	if (window->count && (!cpu->samples || window->max_ns > cpu->max_ns)) {
		cpu->max_ns = window->max_ns;
		cpu->max_at_ns = window->max_at_ns;
	}
	cpu->samples += window->count;
	cpu->missed += window->missed;
	moments_add_sums(&cpu->moments, window->count, window->sum_ns, window->sum_squares);
	return windows_add(&cpu->windows, window);
}

/* Takes all finished windows; what threads and CPUs went through since the last time goes to the
 * newest one of each. */
static int collect(struct run *run)
{
	int64_t *steal = calloc(run->count, sizeof(*steal));
	bool steal_read = false;
	int err = steal ? 0 : -ENOMEM;

	for (size_t i = 0; i < run->count && !err; i++) {
		struct window window, next;

		if (!wakeup_collect(run->wakeup, i, &window))
			continue;
		while (!err && wakeup_collect(run->wakeup, i, &next)) {
			err = add_window(run, i, &window);
			window = next;
		}
		if (!steal_read)
			read_steal(run, steal);
		steal_read = true;
		wakeup_wait_for_room(run->wakeup);
		read_usage(run, i, steal, &window);
		if (!err)
			err = add_window(run, i, &window);
	}
	free(steal);
	return err;
}

static void first_usage(struct run *run)
{
	int64_t *steal = calloc(run->count, sizeof(*steal));

	if (!steal)
		return;
	read_steal(run, steal);
	for (size_t i = 0; i < run->count; i++) {
		wakeup_wait_for_room(run->wakeup);
		read_usage(run, i, steal, NULL);
	}
	free(steal);
}

static void drain(struct run *run)
{
	for (size_t i = 0; i < run->count; i++) {
		struct cpu_result *cpu = &run->session->cpus[i];

		wakeup_drain(run->wakeup, i, cpu->histogram);
		cpu->histogram->min = cpu->min_ns;
		cpu->histogram->max = cpu->max_ns;
	}
}

static void give_up_store(struct run *run, const struct fail *fail)
{
	run->store = NULL;
	run->remarks->store = *fail;
}

static void batch(struct run *run, int64_t now)
{
	struct fail fail = { "" };

	wakeup_wait_for_room(run->wakeup);
	drain(run);
	run->session->duration_ns = now - wakeup_started(run->wakeup);
	if (store_batch(run->store, run->session, &fail))
		give_up_store(run, &fail);
}

/* Threads whose CPU went away end; those that were moved by hand are told from them. */
static void follow_hotplug(struct run *run)
{
	struct cpuset online;

	if (!run->session->settings.pinned)
		return;
	wakeup_wait_for_room(run->wakeup);
	if (root_cpus(run->options->root, &online, "sys/devices/system/cpu/online"))
		return;
	for (size_t i = 0; i < run->count; i++) {
		if (!cpuset_has(&online, run->cpus[i]))
			wakeup_drop(run->wakeup, i, CPU_END_OFFLINE);
	}
}

static void tell_progress(struct run *run)
{
	struct run_progress progress = {
		.elapsed_ns = clock_now() - wakeup_started(run->wakeup),
		.duration_ns = run->session->settings.duration_ns,
		.max_ns = -1,
	};

	if (!run->options->progress)
		return;
	wakeup_wait_for_room(run->wakeup);
	for (size_t i = 0; i < run->count; i++) {
		struct wakeup_status status;

		wakeup_peek(run->wakeup, i, &status);
		progress.samples += status.samples;
		progress.missed += status.missed;
		if (status.samples && status.max_ns > progress.max_ns) {
			progress.max_ns = status.max_ns;
			progress.max_cpu = run->cpus[i] >= 0 ? run->cpus[i] : (int)i;
		}
	}
	run->options->progress(run->options->progress_context, &progress);
}

/* When to look next: at the usual step, but not past the expected end. */
static int64_t next_look(const struct run *run, int64_t now)
{
	const struct settings *settings = &run->session->settings;
	int64_t step = run->options->progress ? STEP_WATCHED_NS : STEP_NS;
	int64_t end = wakeup_started(run->wakeup), length = settings->duration_ns;

	if (settings->samples) {
		int64_t needed;

		if (__builtin_mul_overflow((int64_t)settings->samples, settings->interval_ns,
					   &needed))
			needed = INT64_MAX / 2;
		if (!length || needed < length)
			length = needed;
	}
	if (!length)
		return now + step;
	end += length + STEP_END_NS;
	if (now >= end)
		return now + STEP_END_NS;
	return now + step < end ? now + step : end;
}

/* Where the control thread shares a measured CPU it looks right after a sample, which can be some
 * time before the usual step is over; before that it goes on sleeping. */
static void sleep_until_look(const struct run *run)
{
	int64_t now = clock_now(), wanted = next_look(run, now),
		least = wanted - (wanted - now) / 4;

	do {
		if (clock_sleep_until(wakeup_room(run->wakeup, wanted)))
			return;
	} while (clock_now() < least);
}

static int follow(struct run *run)
{
	int err = 0;

	run->next_batch = wakeup_started(run->wakeup) + BATCH_NS;
	while (!err && wakeup_running(run->wakeup) && !signals_stop()) {
		int64_t now;

		sleep_until_look(run);
		now = clock_now();
		gaps_look(&run->gaps);
		err = collect(run);
		follow_hotplug(run);
		tell_progress(run);
		if (run->store && !err && now >= run->next_batch) {
			batch(run, now);
			run->next_batch = now + BATCH_NS;
		}
	}
	return err;
}

/* What the samplers kept to the end, and the ends that only the control thread can tell. */
static int settle_ends(struct run *run, bool stopped)
{
	for (size_t i = 0; i < run->count; i++) {
		struct cpu_result *cpu = &run->session->cpus[i];

		cpu->largest = malloc(sizeof(*cpu->largest));
		if (!cpu->largest)
			return -ENOMEM;
		wakeup_result(run->wakeup, i, cpu);
		if (cpu->end == CPU_END_DONE && stopped && run->session->settings.duration_ns)
			cpu->end = CPU_END_STOPPED;
	}
	return 0;
}

/* Costs of the means: what no figure can be below. */
static int note_costs(struct session *session, const struct wakeup *wakeup)
{
	int64_t clock_ns = clock_cost(COST_ROUNDS), syscall_ns = clock_syscall_cost(COST_ROUNDS);
	struct environment *environment = &session->environment;
	int err = environment_number(environment, "clock_read_ns", clock_ns);

	if (!err)
		err = environment_number(environment, "sleep_call_ns", wakeup_sleep_cost(wakeup));
	/* a vDSO reading takes a fraction of a system call; through one it takes as long */
	if (!err && clock_ns * 10 >= syscall_ns * 8)
		err = session_distortion(
			session, "clock-by-syscall",
			"the clock source has no vDSO: every reading of the clock is a system "
			"call (%lld ns)",
			(long long)clock_ns);
	return err;
}

static int finish(struct run *run)
{
	struct session *session = run->session;
	bool stopped = signals_stop() && wakeup_running(run->wakeup);
	int err;

	wakeup_stop(run->wakeup);
	session->duration_ns = clock_now() - wakeup_started(run->wakeup);
	if (session->settings.duration_ns && session->duration_ns > session->settings.duration_ns &&
	    !stopped)
		session->duration_ns = session->settings.duration_ns;
	session->complete = true;
	session->interrupted = stopped;
	err = collect(run);
	if (err)
		return err;
	drain(run);
	err = settle_ends(run, stopped);
	for (size_t i = 0; i < run->count && !err; i++)
		err = windows_finish(&session->cpus[i].windows);
	if (err)
		return err;
	gaps_settle(&run->gaps, wakeup_started(run->wakeup), session);
	err = note_costs(session, run->wakeup);
	if (!err)
		err = surroundings_after(run->options->root, &session->environment);
	if (!err)
		err = session_surroundings_distort(session);
	return err ? err : session_conclude(session);
}

/* Idle states are left as they are unless asked; what was in force before is noted either way. */
static int hold_dma_latency(struct run *run, struct fail *fail)
{
	struct environment *environment = &run->session->environment;
	int64_t wanted = run->session->settings.dma_latency_us;
	int32_t before;
	int err = dma_latency_read(&before);

	if (err)
		err = environment_unknown(environment, "dma_latency_us", strerror(-err));
	else if (before >= DMA_LATENCY_NONE)
		err = environment_text(environment, "dma_latency_us", "not held");
	else
		err = environment_number(environment, "dma_latency_us", before);
	if (err || wanted < 0)
		return err;
	err = dma_latency_hold((int32_t)wanted, &run->dma_fd);
	if (err)
		return fail_set(fail, -err, "cannot hold /dev/cpu_dma_latency at %lld us: %s",
				(long long)wanted, strerror(-err));
	return 0;
}

/* The control thread moves off the measured CPUs where there are others. */
static int step_aside(struct run *run)
{
	struct cpuset others;

	if (sched_get_cpus(&others))
		return 0;
	cpuset_without(&others, &run->session->settings.cpus);
	if (!cpuset_empty(&others) && !sched_set_cpus(&others))
		return 0;
	return session_distortion(
		run->session, "control-on-measured-cpu",
		"the control thread shares the measured CPUs: it may use no other");
}

static int start(struct run *run, struct fail *fail)
{
	const struct settings *settings = &run->session->settings;
	struct wakeup_options options = {
		.settings = settings,
		.cpus = run->cpus,
		.threads = run->count,
		.clock = CLOCK_MONOTONIC,
		.watchdog = true,
		.align_ns = -1,
	};
	struct cpuset before;
	int err;

	/* threads that are not pinned inherit where they may run */
	if (!settings->pinned && !sched_get_cpus(&before) &&
	    !cpuset_equal(&before, &settings->cpus)) {
		err = sched_set_cpus(&settings->cpus);
		if (err)
			return fail_set(fail, -err, "may not run on the given CPUs: %s",
					strerror(-err));
	}
	err = step_aside(run);
	if (!err)
		err = wakeup_start(&run->wakeup, &options, fail);
	if (err)
		return err;
	run->session->started_wall_ns = clock_wall() + wakeup_started(run->wakeup) - clock_now();
	if (!wakeup_memory_locked(run->wakeup))
		err = session_distortion(
			run->session, "memory-not-locked",
			"memory could not be locked (RLIMIT_MEMLOCK): page faults may add to "
			"latencies");
	first_usage(run);
	gaps_begin(&run->gaps);
	return err;
}

static void begin_store(struct run *run)
{
	struct fail fail = { "" };

	if (run->store && store_begin(run->store, run->session, &fail))
		give_up_store(run, &fail);
}

static void end_store(struct run *run)
{
	struct fail fail = { "" };

	if (run->store && store_end(run->store, run->session, &fail))
		give_up_store(run, &fail);
}

static void release(struct run *run)
{
	wakeup_free(run->wakeup);
	if (run->dma_fd >= 0)
		close(run->dma_fd);
	free(run->follows);
	free(run->cpus);
}

static int measure(struct run *run, struct fail *fail)
{
	int err = choose_threads(run);

	if (!err)
		err = surroundings_read(run->options->root, &run->session->environment);
	if (!err)
		err = hold_dma_latency(run, fail);
	if (!err)
		err = start(run, fail);
	if (err)
		return err;
	begin_store(run);
	err = follow(run);
	if (!err)
		err = finish(run);
	else
		wakeup_stop(run->wakeup);
	if (!err)
		end_store(run);
	return err;
}

int run_measure(const struct run_options *options, struct session **session,
		struct run_remarks *remarks, struct fail *fail)
{
	struct run run = {
		.options = options,
		.session = session_new(),
		.remarks = remarks,
		.store = options->store,
		.dma_fd = -1,
	};
	int err;

	if (!run.session)
		return fail_set(fail, ENOMEM, "out of memory");
	run.session->settings = options->settings;
	run.session->goals = options->goals;
	run.session->started_wall_ns = clock_wall();
	err = measure(&run, fail);
	release(&run);
	if (err) {
		session_free(run.session);
		if (err == -ENOMEM)
			fail_set(fail, ENOMEM, "out of memory");
		return err;
	}
	*session = run.session;
	return 0;
}

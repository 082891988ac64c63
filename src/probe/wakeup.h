/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The wake-up latency probe: one thread a CPU sleeps until an absolute time and notes how late it
 * ran. Each sampler owns one block of memory, touched and locked before the start; while it runs it
 * makes no system call but its wake-up source's, and hands finished windows to the control thread
 * through a ring. The control thread (the caller) collects with wakeup_collect, seldom.
 *
 *   wakeup_start → { wakeup_collect … } → wakeup_stop → wakeup_result for each → wakeup_free
 */
#pragma once

#include "result/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct fail;
struct wakeup;
struct wakeup_source;

/* All wake-up sources in the order of sources.list, NULL-terminated. */
extern const struct wakeup_source *const wakeup_sources[];
/* Their names, and what wakes the thread in a few words; in the same order. */
extern const char *const wakeup_source_names[], *const wakeup_source_help[];
/* Whether SOURCE is a hand-off from another thread. */
bool wakeup_is_handoff(const char *source);

/* Called for every sample by the sampler itself, in its RT context; may only write to memory that
 * was touched before. cyclictest mode uses it for what it shows of single samples. */
struct wakeup_hook {
	void (*sample)(void *context, int index, int64_t latency_ns);
	void *context;
};

struct wakeup_options {
	const struct settings *settings;
	const struct wakeup_source *source; /* NULL: the one that the settings name */
	/* One thread each, in this order; where a number stands twice, two threads share the CPU.
	 * -1: not pinned. */
	const int *cpus;
	size_t threads;
	/* NULL: the settings' interval and priority for all. */
	const int64_t *intervals_ns;
	const int *priorities;
	struct wakeup_hook hook;
	clockid_t clock;  /* CLOCK_MONOTONIC, or CLOCK_REALTIME in cyclictest mode */
	bool relative;    /* sleep for the interval instead of until an instant (cyclictest -r) */
	bool watchdog;    /* a thread of higher priority stops samplers that never sleep */
	int64_t align_ns; /* -1: not aligned; else offset from the full second */
	/* NULL, or for each thread how long after the common start (see align_ns) its first wake-up
	 * comes, in place of the usual staggering (cyclictest -A) */
	const int64_t *offsets_ns;
};

/* Makes the threads and lets them take their first samples (which are discarded). -EPERM, -EACCES,
 * -EBUSY, -EOPNOTSUPP, … with the sentence; nothing is left running then. */
int wakeup_start(struct wakeup **wakeup, const struct wakeup_options *options, struct fail *fail);
/* Asks every sampler to end at its next wake-up and waits for them (bounded: a sampler that does
 * not wake within LIMIT is left behind and reported as failed). */
void wakeup_stop(struct wakeup *wakeup);
/* Like a stop for one thread: its CPU went off line. */
void wakeup_drop(struct wakeup *wakeup, size_t index, enum cpu_end why);
bool wakeup_running(const struct wakeup *wakeup);
bool wakeup_thread_running(const struct wakeup *wakeup, size_t index);
pid_t wakeup_tid(const struct wakeup *wakeup, size_t index);
/* CLOCK_MONOTONIC of the common start that windows count from. */
int64_t wakeup_started(const struct wakeup *wakeup);

/* Takes the next finished window of thread INDEX, false when there is none yet. */
bool wakeup_collect(struct wakeup *wakeup, size_t index, struct window *window);
/* Brings HISTOGRAM up to what thread INDEX has counted so far (count and counts; not min, max). It
 * must be the same one at every call, empty at the first, and be drained once in 2^32 samples. */
void wakeup_drain(struct wakeup *wakeup, size_t index, struct histogram *histogram);

struct wakeup_status {
	uint64_t samples, missed;
	int64_t last_ns, min_ns, max_ns; /* meaningless while samples is 0 */
	double sum_ns;
};
/* A look at a running sampler, for progress: the windows it has closed, and its last sample. */
void wakeup_peek(const struct wakeup *wakeup, size_t index, struct wakeup_status *status);

/* For threads that must share a CPU with a sampler: the instant near WANTED at which the caller had
 * best wake up so as to delay no sample of the CPU it is on; see sampler_room. WANTED where that
 * CPU is not measured. The caller goes on sleeping when it comes long before WANTED. */
int64_t wakeup_room(const struct wakeup *wakeup, int64_t wanted);
/* Sleeps, where the next sample of the caller's CPU is near, until it has been taken. To be called
 * before every piece of work; it waits for no more than one sample, and a signal ends it. */
void wakeup_wait_for_room(const struct wakeup *wakeup);

/* Whether the memory could be locked; without the right to it the run goes on, and says so. */
bool wakeup_memory_locked(const struct wakeup *wakeup);
/* What a sleep cost the samplers, at best, whose time had come when it began. */
int64_t wakeup_sleep_cost(const struct wakeup *wakeup);
/* After the stop: the end, early and missed counts and the largest samples (copied). */
void wakeup_result(struct wakeup *wakeup, size_t index, struct cpu_result *result);
void wakeup_free(struct wakeup *wakeup);

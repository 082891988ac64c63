/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run as cyclictest makes it, on the wake-up probe: every thread with its own interval and
 * priority, counted in whole microseconds (or nanoseconds), with a plain histogram, the numbers of
 * the cycles that did not fit in, spikes, single values, and an end at the first sample over a
 * limit. Everything is counted by the samplers themselves, in memory made beforehand; the control
 * thread only looks.
 */
#pragma once

#include "format/cyclictest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct cyclic;
struct fail;
struct tracemark;

struct cyclic_options {
	size_t threads;
	const int *cpus, *nodes, *priorities; /* of each thread */
	const int64_t *intervals_ns;
	const int64_t *offsets_ns; /* of each thread's first wake-up; NULL: staggered */
	const char *policy;        /* "fifo", "rr", "other" */
	const char *source;        /* "timer" or "signal" */
	bool relative;
	clockid_t clock;
	int64_t align_ns;             /* -1: not to the full second */
	int64_t loops, duration_ns;   /* 0: no such bound */
	bool nanoseconds;             /* the unit of all that follows */
	int64_t buckets;              /* 0: no histogram */
	int64_t break_above;          /* 0: never */
	const struct tracemark *mark; /* marked and stopped then; NULL: nothing to mark */
	int64_t spikes_above;         /* 0: none are kept */
	size_t spikes_kept;
	bool values; /* keep single values for cyclic_value */
};

/* OPTIONS and what it points to must outlive the run. Negative errno with the sentence. */
int cyclic_start(struct cyclic **cyclic, const struct cyclic_options *options, struct fail *fail);
/* True when the run should be stopped: a thread has made its loops or exceeded the limit, or all of
 * them have ended. */
bool cyclic_over(const struct cyclic *cyclic);
/* A guess how long the run goes on at least, for a control thread that wants to sleep; INT64_MAX
 * where only a signal ends it. */
int64_t cyclic_left(const struct cyclic *cyclic);
/* Asks all threads to end and waits for them. */
void cyclic_stop(struct cyclic *cyclic);

/* How the run stands; REPORT's arrays belong to the run and are those of the last look. The fields
 * dialect and sum_column are left alone. */
void cyclic_look(struct cyclic *cyclic, struct cyclictest_report *report);
/* Takes the next single value of thread INDEX; false when there is none yet. */
bool cyclic_value(struct cyclic *cyclic, size_t index, uint64_t *cycle, int64_t *value);
/* Single values that were overwritten before they were taken. */
uint64_t cyclic_values_lost(const struct cyclic *cyclic);
bool cyclic_memory_locked(const struct cyclic *cyclic);
/* After the stop: how thread INDEX ended, in words; NULL where it ended as it should. */
const char *cyclic_failure(const struct cyclic *cyclic, size_t index);
/* NULL is allowed. */
void cyclic_free(struct cyclic *cyclic);

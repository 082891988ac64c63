/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One measurement from its settings to a session: starts the probe, collects windows, notes gaps
 * and CPUs that go away, keeps the store up to date, and puts the result together. Prints nothing.
 */
#pragma once

#include "base/fail.h"
#include "result/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct root;
struct store;

struct run_progress {
	int64_t elapsed_ns, duration_ns; /* duration 0: open-ended */
	uint64_t samples, missed;
	int64_t max_ns; /* -1: no sample yet */
	int max_cpu;
};

struct run_options {
	struct settings settings;
	struct goals goals;      /* as parsed; judged in the session */
	const struct root *root; /* this machine */
	struct store *store;     /* NULL: not kept */
	/* Told a few times a second; NULL: nobody watches. */
	void (*progress)(void *context, const struct run_progress *progress);
	void *progress_context;
};

/* What went wrong beside the measurement: an empty text where nothing did. */
struct run_remarks {
	struct fail store; /* why the session is not (wholly) in the store */
};

/* The session is the caller's (session_free), also when it was cut short by a signal (interrupted
 * is set). -errno with the sentence where nothing was measured. */
int run_measure(const struct run_options *options, struct session **session,
		struct run_remarks *remarks, struct fail *fail);

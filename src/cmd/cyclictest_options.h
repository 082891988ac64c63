/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of cyclictest, and what follows from them on this board. */
#pragma once

#include "base/cpuset.h"
#include "base/options.h"
#include "trial/cyclic.h"

#include <stdbool.h>
#include <stdint.h>

struct board_cpus;
struct fail;
struct root;

enum cyclictest_policy {
	POLICY_OTHER,
	POLICY_NORMAL,
	POLICY_BATCH,
	POLICY_IDLE,
	POLICY_FIFO,
	POLICY_RR,
};
extern const char *const cyclictest_policies[]; /* names; NULL-terminated */

struct cyclictest_options {
	/* threads */
	bool affinity_given, smp, priospread;
	const char *affinity; /* NULL: all CPUs */
	const char *main_affinity;
	int64_t threads; /* 0: not given, -1: one for each CPU */
	int64_t priority;
	int policy; /* enum cyclictest_policy */
	/* timing */
	int64_t interval_us, distance_us, loops, duration_ns;
	clockid_t clock;
	bool relative, system, posix_timers, nanosleep, resolution;
	bool aligned, secaligned;
	int64_t aligned_us;
	/* board */
	bool lock, laptop, default_system;
	int64_t latency_us;
	/* output */
	int64_t histogram, oscope, break_above, spike, spike_nodes;
	bool sum_column, nanoseconds, quiet, verbose, refresh_on_max, unbuffered, tracemark, help;
	const char *histfile, *json, *fifo;
	int dialect; /* enum cyclictest_dialect */
};

extern const struct option cyclictest_options_table[];
extern const struct cyclictest_options cyclictest_defaults;

/* What is run. Owns its arrays; .run points to them. */
struct cyclictest_plan {
	struct cyclic_options run; /* .mark is left to the caller */
	int *cpus, *nodes, *priorities;
	int64_t *intervals_ns, *offsets_ns;
	int64_t distance_us; /* by how much intervals grow from thread to thread */
	const char *policy_shown;
	bool fell_back;       /* a named policy, but no priority: threads run as "other" */
	struct cpuset chosen; /* the CPUs that -a named, else those that this process may use */
	struct cpuset main;   /* where the main thread goes; empty: stays */
};

/* Checks what single options can't see, and lays out the threads; remarks go to stderr. Negative
 * errno with the sentence; *plan is to be freed in any case. */
int cyclictest_plan(struct cyclictest_plan *plan, const struct cyclictest_options *options,
		    const struct root *root, struct fail *fail);
void cyclictest_plan_free(struct cyclictest_plan *plan);

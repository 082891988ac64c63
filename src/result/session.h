/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session: one recorded run with its surroundings, as plain data that parts hand each other. All
 * times are int64 nanoseconds; instants inside are nanoseconds since the session's start, which is
 * known by wall clock. A session owns all that it points to (session_free). Pure.
 */
#pragma once

#include "base/cpuset.h"
#include "base/environment.h"
#include "result/goal.h"
#include "stat/histogram.h"
#include "stat/largest.h"
#include "stat/moments.h"
#include "stat/shape.h"
#include "stat/window.h"

struct sink;

#define SESSION_ID_BYTES 16
#define SESSION_ID_TEXT  (2 * SESSION_ID_BYTES + 1)

/* What was asked for. Names, not numbers, where the meaning may grow: they are stored. */
struct settings {
	char source[16];  /* what woke the threads: "timer" … */
	char policy[16];  /* "fifo", "rr", "deadline", "other" */
	int64_t priority; /* 0 with deadline and other */
	int64_t interval_ns;
	int64_t duration_ns; /* 0: until stopped */
	uint64_t samples;    /* a CPU; 0: by duration */
	int64_t window_ns;
	int64_t dma_latency_us; /* -1: not held */
	struct cpuset cpus;     /* the measured ones */
	struct cpuset wakers; /* for hand-offs: where the waking threads sit; empty: the same CPU */
	bool aligned;         /* all threads start together */
	bool pinned;          /* one thread stays on one CPU */
	bool fixed_phase;     /* the sampler's phase is the same in all windows */
};

/* How a CPU's thread ended. */
enum cpu_end {
	CPU_END_DONE,
	CPU_END_RUNNING, /* the session was cut off before it could say */
	CPU_END_STOPPED, /* Ctrl-C */
	CPU_END_OFFLINE, /* the CPU went off line */
	CPU_END_MOVED,   /* somebody gave the thread other CPUs */
	CPU_END_RUNAWAY, /* the watchdog lowered its priority */
	CPU_END_FAILED,  /* the wake-up source failed */
};

/* One CPU's figures, or those of all together. */
struct cpu_result {
	int cpu; /* -1 for all; the thread's number where threads are not pinned */
	enum cpu_end end;
	uint64_t samples, missed, early; /* early: woken before the time (counted as 0 ns) */
	struct moments moments;
	int64_t min_ns, max_ns, max_at_ns; /* meaningless while samples is 0 */
	struct histogram *histogram;
	struct largest *largest; /* NULL where not kept */
	struct windows windows;
};

/* A stretch in which nothing could be measured, for a reason that is not the board's. */
struct gap {
	int64_t start_ns, length_ns;
	const char *kind; /* "stopped" (SIGSTOP), "suspended", "paused" (whole machine) */
};
#define GAPS_MAX 64

/* What may distort the result: a kind for programs, a sentence for people (without a full stop). */
struct distortion {
	const char *kind; /* "dma-latency-held", "missed", "virtual-machine", "steal" … (static) */
	char *text;
};
/* Every kind that session_conclude and session_surroundings_distort add, NULL-terminated; other
 * parts may add others. */
extern const char *const distortion_kinds[];

struct session {
	char id[SESSION_ID_TEXT];
	int64_t started_wall_ns;
	int64_t duration_ns; /* how long it really ran */
	bool complete;       /* ran to its end, or was stopped in order */
	bool interrupted;    /* Ctrl-C cut it short */
	struct settings settings;
	struct environment environment;
	size_t cpu_count;
	struct cpu_result *cpus;
	struct cpu_result all;
	struct goals goals;
	struct shape shape;
	int shape_of; /* index into cpus of the thread whose figures shape describes; -1: of none */
	size_t gap_count;
	struct gap gaps[GAPS_MAX];
	size_t distortion_count;
	struct distortion *distortions;
};

/* All zeroes but what must not be; free with session_free (NULL is allowed). NULL without memory.
 */
struct session *session_new(void);
void session_free(struct session *session);
/* Makes room for COUNT CPUs instead of what was there: each with an empty histogram, numbered from
 * 0 and still running (CPU_END_RUNNING). -ENOMEM leaves none. */
int session_set_cpus(struct session *session, size_t count);
/* Adds one, unless the same stands there already. A KIND of distortion_kinds may be a copy of the
 * name; any other must be static. -ENOMEM. */
__attribute__((format(printf, 3, 4))) int session_distortion(struct session *session,
							     const char *kind, const char *format,
							     ...);
/*
 * Derives all, shape, verdict and the distortions that the data themselves show, from the CPUs'
 * figures; call once they are whole (windows_finish done). May be called again: what it derived is
 * replaced. The shape is that of one thread, the one with the most samples beyond the p99.9 of all
 * (then the one with the larger max): where CPUs differ (big.LITTLE), their sum has peaks that none
 * of them has. Compacts each CPU's largest. -ENOMEM.
 */
int session_conclude(struct session *session);
/* The distortions that settings and surroundings show: the keys of board/surroundings.h, and
 * "dma_latency_us" (what was in force before the run; PM_QOS_CPU_LATENCY_DEFAULT_VALUE: nobody held
 * it) where the caller has added it. Replaces those of an earlier call. -ENOMEM. */
int session_surroundings_distort(struct session *session);
/* The thread that took the largest sample; NULL where there are no samples. */
const struct cpu_result *session_worst(const struct session *session);
/* The time that hypervisors took from RESULT's CPU, moves, faults …: sums over its windows; -1
 * where no window knows. */
struct window session_window_sum(const struct cpu_result *result);
/* Words for text and JSON: "done", "running", "stopped", "off line" … */
const char *cpu_end_name(enum cpu_end end);

/* The document punctual/session/1. */
void session_json(const struct session *session, struct sink *sink);

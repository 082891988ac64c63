/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session: one recorded run with its surroundings, as plain data that parts hand each other. All
 * times are int64 nanoseconds; instants inside are nanoseconds since the session's start, which is
 * known by wall clock. A session owns all that it points to (session_free). Pure.
 */
#pragma once

#include "base/cpuset.h"
#include "result/environment.h"
#include "result/goal.h"
#include "stat/histogram.h"
#include "stat/largest.h"
#include "stat/moments.h"
#include "stat/shape.h"
#include "stat/window.h"

struct sink;

#define SESSION_ID_BYTES 16
#define SESSION_ID_TEXT	 (2 * SESSION_ID_BYTES + 1)

/* What was asked for. Names, not numbers, where the meaning may grow: they are stored. */
struct settings {
	char source[16];      /* what woke the threads: "timer" … */
	char policy[16];      /* "fifo", "rr", "deadline", "other" */
	int64_t priority;     /* 0 with deadline and other */
	int64_t interval_ns;
	int64_t duration_ns;  /* 0: until stopped */
	uint64_t samples;     /* a CPU; 0: by duration */
	int64_t window_ns;
	int64_t dma_latency_us; /* -1: not held */
	struct cpuset cpus;   /* the measured ones */
	struct cpuset wakers; /* for hand-offs: where the waking threads sit; empty: the same CPU */
	bool aligned;	      /* all threads start together */
	bool pinned;	      /* one thread stays on one CPU */
	bool fixed_phase;     /* the sampler's phase is the same in all windows */
};

/* How a CPU's thread ended. */
enum cpu_end {
	CPU_END_DONE,
	CPU_END_RUNNING, /* the session was cut off before it could say */
	CPU_END_STOPPED, /* Ctrl-C */
	CPU_END_OFFLINE, /* the CPU went off line */
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

/* What may distort the result: a kind for programs, a sentence for people. */
struct distortion {
	const char *kind; /* "dma-latency-held", "missed", "virtual-machine", "steal" … (static) */
	char *text;
};

struct session {
	char id[SESSION_ID_TEXT];
	int64_t started_wall_ns;
	int64_t duration_ns; /* how long it really ran */
	bool complete;	     /* ran to its end, or was stopped in order */
	bool interrupted;    /* Ctrl-C cut it short */
	struct settings settings;
	struct environment environment;
	size_t cpu_count;
	struct cpu_result *cpus;
	struct cpu_result all;
	struct goals goals;
	struct shape shape;
	size_t gap_count;
	struct gap gaps[GAPS_MAX];
	size_t distortion_count;
	struct distortion *distortions;
};

/* All zeroes but what must not be; free with session_free. NULL without memory. */
struct session *session_new(void);
void session_free(struct session *session);
/* Makes room for COUNT CPUs, each with an empty histogram. -ENOMEM. */
int session_set_cpus(struct session *session, size_t count);
__attribute__((format(printf, 3, 4))) int session_distortion(struct session *session, const char *kind,
							     const char *format, ...);
/* Derives all, shape and verdict from the CPUs' figures; call once they are whole. */
int session_conclude(struct session *session);
/* Words for text and JSON: "done", "running", "stopped", "off line" … */
const char *cpu_end_name(enum cpu_end end);

/* The document punctual/session/1. */
void session_json(const struct session *session, struct sink *sink);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The formats of rt-tests' cyclictest, byte for byte, since scripts and labs read them: status
 * lines, the histogram text, JSON version 1; and a reader of the histogram text. Learnt from
 * rt-tests 2.4's output, run side by side.
 *
 * Two dialects of the histogram are about: up to rt-tests 2.6 every bucket has its row and a line
 * "# Total:" follows; since 2.7 rows without a sample are left out, and so is the total.
 *
 * Values are whole microseconds, or nanoseconds with -N, which also makes the buckets of -h
 * nanoseconds wide. Pure; writers check nothing and owe nothing but the sink's error.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;
struct histogram;
struct sink;

enum cyclictest_dialect { CYCLICTEST_2_4, CYCLICTEST_2_7 };

/* What the original shows as the lowest latency while there is none. */
#define CYCLICTEST_NO_MIN 1000000

/* One measuring thread as it stands. Arrays belong to whoever fills this in. */
struct cyclictest_thread {
	int tid, priority;
	int64_t interval_us;
	int cpu, node; /* -1: not pinned; not known */
	uint64_t cycles, missed;
	int64_t min, last,
		max; /* in the report's unit; while cycles is 0: CYCLICTEST_NO_MIN, 0, 0 */
	uint64_t sum;
	const uint64_t *buckets; /* as many as the report says */
	uint64_t overflows;
	const uint64_t *overflow_cycles; /* the numbers of the first of these cycles, from 0 */
	size_t overflow_cycle_count;
};

struct cyclictest_spike {
	int thread;
	int64_t value, time_us; /* of the clock that is slept on */
};

struct cyclictest_report {
	enum cyclictest_dialect dialect;
	bool nanoseconds;
	bool sum_column; /* -H; a single thread gets none */
	int64_t buckets; /* 0: no histogram was asked for */
	size_t count;
	const struct cyclictest_thread *threads;
	uint64_t spikes; /* all; the first SPIKE_COUNT of them are kept */
	size_t spike_count;
	const struct cyclictest_spike *spike;
	bool break_asked; /* -b */
	int broken;       /* the thread that exceeded its limit; -1: none */
	int64_t break_value;
};

/* "policy: fifo: loadavg: …"; FELL_BACK where threads without a priority run as "other" though a
 * policy was named. LOADAVG is the text of /proc/loadavg. */
void cyclictest_write_policy(const char *policy, bool fell_back, const char *loadavg,
			     struct sink *sink);
/* "T: 0 (…) P:…" of thread INDEX. */
void cyclictest_write_status(const struct cyclictest_report *report, size_t index,
			     struct sink *sink);
/* A line of -v. */
void cyclictest_write_value(size_t index, uint64_t cycle, int64_t value, struct sink *sink);
/* Nothing where there was no spike. */
void cyclictest_write_spikes(const struct cyclictest_report *report, struct sink *sink);
void cyclictest_write_histogram(const struct cyclictest_report *report, struct sink *sink);
/* What -b adds at the end. */
void cyclictest_write_break(const struct cyclictest_report *report, struct sink *sink);

/* What the JSON document says beside the threads. */
struct cyclictest_run {
	const char *command_line;
	const char *version;        /* ours */
	int64_t started_s, ended_s; /* since 1970, shown in local time */
	int status;
	const char *sysname, *nodename, *release, *kernel_version, *machine;
	bool realtime;
};

/* JSON, file_version 1. Lines that the original lacks are added between its own, which stay as they
 * are: "punctual_version", and for each thread "missed" (periods skipped) and "overflows" (samples
 * beyond the histogram, null without one). */
void cyclictest_write_json(const struct cyclictest_report *report, const struct cyclictest_run *run,
			   struct sink *sink);

/* One thread's column as read back. */
struct cyclictest_column {
	struct histogram *histogram; /* each sample at the low end of its bucket; min and max too */
	bool summary;                /* min_ns and max_ns stood in the file, and are these */
	int64_t min_ns, max_ns;      /* they cover overflows, which the histogram can't */
	bool overflows_known;
	uint64_t overflows;
};

struct cyclictest_columns {
	size_t count;
	struct cyclictest_column *columns;
};

/*
 * Reads the histogram text of either dialect out of SIZE bytes of TEXT: a --histfile, a captured
 * stdout (what stands before "# Histogram" is passed over), or bare rows as OSADL publishes them.
 * UNIT_NS is a bucket's width, which the text does not tell: 1000, or 1 for runs with -N. A sum
 * column (-H) is recognised by the summary lines and left out. 0, -EBADMSG with the number of the
 * offending line, or -ENOMEM; *columns is to be freed only after 0.
 */
int cyclictest_read_histogram(const char *text, size_t size, int64_t unit_ns,
			      struct cyclictest_columns *columns, struct fail *fail);
void cyclictest_columns_free(struct cyclictest_columns *columns);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of what a thread and a CPU went through, for differences over a window. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct root;

struct thread_usage {
	int64_t faults;   /* minor and major page faults; -1: not known */
	int64_t switches; /* involuntary context switches; -1: not known */
};

/* From /proc/PID/task/TID/stat and status. */
void thread_usage_read(const struct root *root, pid_t pid, pid_t tid, struct thread_usage *usage);
/* Faults of a stat line (proc(5): fields 10 and 12, behind the last ')' of the name); -1. Pure. */
int64_t thread_stat_faults(const char *line);

/* Time the hypervisor took, per CPU, from a text of /proc/stat: STEAL[i] for CPUS[i] in
 * nanoseconds, -1 where the line or the column is missing. Pure. TICKS_PER_SECOND is USER_HZ. */
void cpu_steal_parse(const char *stat, const int *cpus, size_t count, int64_t ticks_per_second,
		     int64_t *steal);

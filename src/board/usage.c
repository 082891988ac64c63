// SPDX-License-Identifier: GPL-2.0-or-later
#include "board/usage.h"

#include "sys/root.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t thread_stat_faults(const char *line)
{
	const char *rest = strrchr(line, ')');
	uint64_t minor, major;

	/* state ppid pgrp session tty tpgid flags minflt cminflt majflt */
	if (!rest || sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %" SCNu64 " %*u %" SCNu64,
			    &minor, &major) != 2)
		return -1;
	return (int64_t)(minor + major);
}

void thread_usage_read(const struct root *root, pid_t pid, pid_t tid, struct thread_usage *usage)
{
	static const char key[] = "\nnonvoluntary_ctxt_switches:";
	char text[4096];
	const char *at;

	*usage = (struct thread_usage){ -1, -1 };
	if (root_text(root, text, sizeof(text), "proc/%d/task/%d/stat", pid, tid) > 0)
		usage->faults = thread_stat_faults(text);
	if (root_text(root, text, sizeof(text), "proc/%d/task/%d/status", pid, tid) <= 0)
		return;
	at = strstr(text, key);
	if (at)
		usage->switches = strtoll(at + sizeof(key) - 1, NULL, 10);
}

static const char *next_line(const char *at)
{
	at = strchr(at, '\n');
	return at ? at + 1 : NULL;
}

void cpu_steal_parse(const char *stat, const int *cpus, size_t count, int64_t ticks_per_second,
		     int64_t *steal)
{
	for (size_t i = 0; i < count; i++)
		steal[i] = -1;
	for (const char *line = stat; line && !strncmp(line, "cpu", 3); line = next_line(line)) {
		uint64_t ticks;
		int cpu;

		/* cpuN user nice system idle iowait irq softirq steal */
		if (sscanf(line, "cpu%d %*u %*u %*u %*u %*u %*u %*u %" SCNu64, &cpu, &ticks) != 2)
			continue;
		for (size_t i = 0; i < count; i++) {
			if (cpus[i] == cpu)
				steal[i] = (int64_t)ticks * (1000000000 / ticks_per_second);
		}
	}
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "board/usage.h"

#include "sys/root.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Behind the next COUNT words of the line. sscanf would do, at fifty times the cost, once a window.
 */
static const char *skip_words(const char *at, int count)
{
	while (count--) {
		at += strspn(at, " ");
		at += strcspn(at, " \n");
	}
	return at;
}

/* The number that follows, -1 where there is none. */
static int64_t number(const char *at)
{
	char *end;
	uint64_t value = strtoull(at, &end, 10);

	return end == at || value > INT64_MAX ? -1 : (int64_t)value;
}

int64_t thread_stat_faults(const char *line)
{
	const char *rest = strrchr(line, ')');
	int64_t minor, major;

	if (!rest)
		return -1;
	/* state ppid pgrp session tty tpgid flags minflt cminflt majflt */
	rest = skip_words(rest + 1, 7);
	minor = number(rest);
	major = number(skip_words(rest, 2));
	return minor < 0 || major < 0 ? -1 : minor + major;
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
		usage->switches = number(at + sizeof(key) - 1);
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
		/* cpuN user nice system idle iowait irq softirq steal */
		int64_t cpu = isdigit((unsigned char)line[3]) ? number(line + 3) : -1;
		int64_t ticks = number(skip_words(line, 8));

		for (size_t i = 0; i < count; i++) {
			if (cpu >= 0 && cpus[i] == cpu && ticks >= 0)
				steal[i] = ticks * (1000000000 / ticks_per_second);
		}
	}
}

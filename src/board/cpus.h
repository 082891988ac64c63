/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which CPUs a board has, and what they are kept for: the sets alone, a handful of small files. A
 * set whose source is missing or unreadable is empty and not known; that is not the same as known
 * to be empty. Plain values, nothing to free. Pure but for reads through the root.
 */
#pragma once

#include "base/cpuset.h"

#include <stdbool.h>

struct root;

/* Where the set of present CPUs was found; old kernels and thin trees lack the first. */
enum cpus_source {
	CPUS_FROM_LIST,        /* sys/devices/system/cpu/present */
	CPUS_FROM_DIRECTORIES, /* sys/devices/system/cpu/cpuN */
	CPUS_FROM_CPUINFO,     /* proc/cpuinfo */
	CPUS_FROM_STAT,        /* proc/stat */
};

struct board_cpus {
	struct cpuset present, online, possible, isolated, nohz_full;
	bool online_known, possible_known, isolated_known, nohz_full_known;
	enum cpus_source source; /* of present, which is known whenever cpus_read succeeds */
	int last;                /* the highest present CPU */
};

/*
 * present: see enum cpus_source. online: the list, else the cpuN/online files, else proc/cpuinfo or
 * proc/stat, which name online CPUs only. isolated: the kernel's list together with isolated cgroup
 * partitions (cpuset.cpus.isolated, since 6.7); before 4.2 there was no list and "isolcpus=" of the
 * boot parameters is taken. 0, -ENOENT where no CPU is found, or -ENOMEM; *cpus is untouched then.
 */
int cpus_read(const struct root *root, struct board_cpus *cpus);

/* The CPU number of a directory's name ("cpu12"), or -1: no leading zeros, below CPUSET_MAX. */
int cpus_directory(const char *name);

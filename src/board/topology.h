/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A board's true shape: which CPUs there are and what they belong to, caches, frequency domains,
 * idle states, NUMA nodes, what the device tree says, and what is odd about it all. Read once
 * through the root, then constant; everything in it is owned by the topology and freed with it.
 * Pure but for reads.
 *
 * CPUs go by their number, never by a position: numbers may have holes. What the board doesn't tell
 * is unknown: -1 for numbers, NULL for texts and sets; no fact is made up in its stead. Sets hold
 * present CPUs only. Equal texts and equal sets are the same pointer.
 */
#pragma once

#include "base/pool.h"
#include "board/cpus.h"

#include <stddef.h>
#include <stdint.h>

struct devicetree;
struct fail;
struct root;

#define TOPOLOGY_UNKNOWN (-1)

struct topology_cpu {
	int cpu;
	bool online;
	/* The kernel's own ids: a core's is unique within its package or die only. */
	int package, die, cluster, core;
	int numa;
	int freq_domain;
	int capacity; /* of 1024, the board's strongest */
	int64_t max_freq_khz;
	const char *model;                 /* "Cortex-A53", "AMD Opteron(tm) Processor 6134" */
	const char *revision;              /* "r0p4", ARM's */
	const char *kind;                  /* "core", "atom": the kernel's word on hybrid boards */
	const struct cpuset *smt_siblings; /* with itself */
	const struct cpuset *cluster_cpus, *die_cpus, *package_cpus;
};

struct topology_cache {
	int level;        /* 1 to 9 */
	const char *type; /* "data", "instruction", "unified" */
	int64_t size_bytes;
	int ways, line_bytes;
	int owner;                 /* the CPU in whose directory it was found */
	const struct cpuset *cpus; /* who shares it */
};

struct topology_idle {
	int index; /* N of the kernel's stateN */
	const char *name, *description;
	int64_t exit_latency_ns,
		residency_ns;   /* worst-case exit; shortest stay that saves energy */
	struct cpuset cpus;     /* that have it */
	struct cpuset disabled; /* where it is switched off now */
	bool disabled_known;
};

struct topology_freq {
	int domain;                           /* N of the kernel's policyN */
	const struct cpuset *cpus;            /* that always change together */
	int64_t min_khz, max_khz;             /* what the hardware can do */
	int64_t limit_min_khz, limit_max_khz; /* what is allowed now */
	int64_t transition_latency_ns;
	const char *governor, *driver;
};

struct topology_numa {
	int node;
	const struct cpuset *cpus;
};

struct topology {
	struct board_cpus cpus;
	const char *model, *kernel, *arch; /* the board's, not the CPUs' */

	size_t cpu_count; /* of present ones, in ascending order */
	struct topology_cpu *cpu;
	size_t cache_count; /* by level, type and first CPU */
	struct topology_cache *cache;
	size_t idle_count; /* by first CPU and index */
	struct topology_idle *idle;
	const char *idle_driver, *idle_governor;
	size_t freq_count;
	struct topology_freq *freq;
	size_t numa_count;
	struct topology_numa *numa;
	struct devicetree *tree; /* NULL where the board has none */

	/* How many there are among online CPUs; -1 where a CPU doesn't tell. */
	int package_count, die_count, cluster_count, core_count;

	size_t odd_count; /* sentences for people: no full stop, one line each */
	const char **odd;

	/* private */
	struct pool pool;
	int *position; /* in .cpu, by CPU number; -1: not present */
	int error;
};

/* 0, or a negative errno with the sentence: EINVAL where no CPU is found, ENOMEM. Unreadable files
 * make facts unknown and are no error. *TOPOLOGY is freed with topology_free, and untouched on
 * failure. */
int topology_read(const struct root *root, struct topology **topology, struct fail *fail);
/* NULL is allowed. */
void topology_free(struct topology *topology);

/* NULL where the CPU is not present. */
struct topology_cpu *topology_find(const struct topology *topology, int cpu);

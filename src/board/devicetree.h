/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the device tree says about CPUs: their nodes, their places in cpu-map, how they are brought
 * up, which idle states and power domains they have (devicetree.org specification;
 * Documentation/devicetree/bindings/arm/cpus.yaml, cpu/cpu-topology.txt, cpu/idle-states.yaml).
 * Owns all its texts. Absent facts are NULL or -1. Pure but for reads through the root.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct root;

#define DEVICETREE_LIST 8 /* idle states or power domains of one CPU */

struct devicetree_cpu {
	char *node;          /* "cpu@100" */
	int64_t reg;         /* the hardware's id, as MPIDR or hart */
	int cpu;             /* the kernel's number; by the of_node link, never by order */
	char *compatible;    /* the first, most specific one */
	char *enable_method; /* "psci", "spin-table" */
	char *status;        /* NULL means okay */
	int64_t capacity_dmips_mhz;
	int64_t clock_hz;
	char *place; /* in cpu-map: "cluster0/core1" */
	int cluster; /* of the place, its outermost cluster */
	char *idle_states[DEVICETREE_LIST];
	char *power_domains[DEVICETREE_LIST];
	uint32_t phandle; /* 0: none */
};

struct devicetree_idle {
	char *node; /* "cpu-sleep-0" */
	char *compatible;
	int64_t entry_latency_ns, exit_latency_ns, residency_ns;
	bool local_timer_stop;
	uint32_t phandle;
};

struct devicetree {
	char *model;
	char *compatible;
	size_t cpu_count, idle_count;
	struct devicetree_cpu *cpu;
	struct devicetree_idle *idle;
};

/* 0, -ENOENT where the board has no device tree with a model or CPUs, -ENOMEM. */
int devicetree_read(const struct root *root, struct devicetree **tree);
/* NULL is allowed. */
void devicetree_free(struct devicetree *tree);
/* The CPU of that hardware id; NULL. */
struct devicetree_cpu *devicetree_find(const struct devicetree *tree, int64_t reg);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets of CPU numbers, as plain values. The text form is the kernel's own list syntax ("0-1,3",
 * "100-200:3/25", "N" for the last CPU, "all"; Documentation/admin-guide/kernel-parameters.rst),
 * or its comma-grouped hexadecimal mask. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct fail;
struct sink;

/* The largest NR_CPUS a kernel can be built for (x86, MAXSMP). */
#define CPUSET_MAX      8192
#define CPUSET_WORD     (8 * (int)sizeof(unsigned long))
#define CPUSET_TEXT_MAX 256 /* a buffer for short lists; longer ones are cut with "…" */

struct cpuset {
	unsigned long words[CPUSET_MAX / (8 * sizeof(unsigned long))];
};

void cpuset_add(struct cpuset *set, int cpu);
void cpuset_remove(struct cpuset *set, int cpu);
bool cpuset_has(const struct cpuset *set, int cpu);
int cpuset_count(const struct cpuset *set);
bool cpuset_empty(const struct cpuset *set);
bool cpuset_equal(const struct cpuset *a, const struct cpuset *b);
bool cpuset_intersects(const struct cpuset *a, const struct cpuset *b);
bool cpuset_subset(const struct cpuset *part, const struct cpuset *whole);
/* In place: a = a and b, a or b, a without b. */
void cpuset_and(struct cpuset *a, const struct cpuset *b);
void cpuset_or(struct cpuset *a, const struct cpuset *b);
void cpuset_without(struct cpuset *a, const struct cpuset *b);

/* The first CPU after AFTER (-1 to start), or -1. */
int cpuset_next(const struct cpuset *set, int after);
int cpuset_last(const struct cpuset *set);
#define cpuset_for_each(cpu, set) \
	for (int cpu = cpuset_next((set), -1); cpu >= 0; cpu = cpuset_next((set), cpu))

/* Parses a list. LAST is the board's highest CPU number, what "N" and "all" mean; without one (-1)
 * they are refused. "" is the empty set. -EINVAL with the offending piece named; *set untouched
 * then. */
int cpuset_parse(const char *text, int last, struct cpuset *set, struct fail *fail);
/* Parses a mask: "f", "00000000,0000000c". -EINVAL. */
int cpuset_parse_mask(const char *text, struct cpuset *set);

/* Writes the list ("0-1,3"; "" when empty). */
void cpuset_write(const struct cpuset *set, struct sink *sink);
/* The same into BUF, cut with "…" if it does not fit; returns BUF. */
const char *cpuset_text(const struct cpuset *set, char *buf, size_t size);

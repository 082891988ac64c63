/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of a topology's picture share: lines, numbers, and who shares what in few words.
 */
#pragma once

#include "base/cpuset.h"
#include "base/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct topology;

/* Writes what LINE holds as one line, broken at blanks and behind commas where it is too long;
 * further lines start at column HANG. LINE is empty afterwards. */
void topology_line(struct sink *sink, struct strbuf *line, size_t hang);

const char *topology_plural(int64_t count, const char *one, const char *many);
/* Each fills BUF (32 bytes suffice) and returns it; "unknown" or "?" for TOPOLOGY_UNKNOWN.
 * "1.8 GHz", "307.2 MHz": the driver's own digits, at most four. */
const char *topology_frequency(char *buf, size_t size, int64_t khz);
const char *topology_bytes(char *buf, size_t size, int64_t count);
/* Whole microseconds, as the kernel states idle states' times; without the unit. */
const char *topology_microseconds(char *buf, size_t size, int64_t ns);

/* How sets of one kind lie over the CPUs: collected one by one, told in a few words. Starts zeroed;
 * sharing_write ends it. */
struct sharing {
	struct cpuset all;
	int count, size;
	bool alone, cores, equal, unknown;
	struct strbuf list;
};

/* SET NULL: one of which nobody knows who shares it. */
void sharing_add(struct sharing *sharing, const struct topology *t, const struct cpuset *set);
/* "each CPU", "each core of 0-3", "0-3 | 4-7", "all CPUs", "16 of them, 8 CPUs each". */
void sharing_write(struct sharing *sharing, const struct topology *t, struct sink *sink);

/* The blocks of CPUs that belong together; WHOLE: one line a CPU. */
void topology_write_blocks(const struct topology *t, bool whole, struct sink *sink);

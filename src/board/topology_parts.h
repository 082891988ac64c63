/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files that read a topology share: the pool that owns its texts and sets, and one reader
 * a subject. Readers fill what they find and leave the rest unknown; running out of memory sticks
 * in topology->error. For board/topology*.c only.
 */
#pragma once

#include "board/topology.h"

#include <sys/types.h>

#define CPU_DIR "sys/devices/system/cpu"

/* From how many CPUs on facts that are equal by design within a class (see topology_class) are read
 * once for it: a small board is read whole, whatever it looks like. */
#define TOPOLOGY_READ_WHOLE 64

/* One copy of DATA, the same pointer for the same bytes; NULL without memory. */
const void *topology_intern(struct topology *t, const void *data, size_t size);
/* The same for texts; white space around cut off, runs of it made one blank, control characters
 * made
 * '?'. NULL for NULL and for what is empty then. */
const char *topology_text(struct topology *t, const char *text);
/* For sets, cut to present CPUs; NULL for the empty one. */
const struct cpuset *topology_set(struct topology *t, const struct cpuset *set);
/* Room for one more element of SIZE behind COUNT; the array moved, or NULL without memory. */
void *topology_grow(struct topology *t, void *array, size_t count, size_t size);

/* Makes topology_read fail. */
void topology_out_of_memory(struct topology *t);

/* A plain file's number in DIR, decimal; TOPOLOGY_UNKNOWN where absent, negative, or no number. */
int64_t topology_number(const struct root *root, int dir, const char *name);
/* The CPUs that a file in DIR names: MASK_NAME's mask, or where there is none the list in
 * LIST_NAME, also with blanks between numbers as cpufreq writes it. Either may be NULL. The mask
 * goes first: the kernel writes both from one, but who edits a recorded tree edits the mask.
 * Negative errno. */
int topology_cpu_list(const struct root *root, int dir, const char *mask_name,
		      const char *list_name, struct cpuset *set);
/* A file's text, interned, or NULL. */
const char *topology_file_text(struct topology *t, const struct root *root, int dir,
			       const char *name);

/* Whether it is still worth looking for what a kernel has for all CPUs or for none: not after eight
 * CPUs without it. */
struct lookout {
	int hits, misses;
};
static inline bool lookout_open(const struct lookout *lookout)
{
	return lookout->hits || lookout->misses < 8;
}
static inline void lookout_saw(struct lookout *lookout, bool found)
{
	*(found ? &lookout->hits : &lookout->misses) += 1;
}

/* What decides which caches and idle states a CPU has: the same pointer for CPUs of the same core,
 * revision, kind, capacity, package, and, on boards of few clusters, cluster. */
const void *topology_class(struct topology *t, const struct topology_cpu *cpu);

void topology_read_board(struct topology *t, const struct root *root);
void topology_read_cpuinfo(struct topology *t, const struct root *root);
void topology_read_siblings(struct topology *t, const struct root *root);
void topology_read_kinds(struct topology *t, const struct root *root);
void topology_read_caches(struct topology *t, const struct root *root);
void topology_read_freq(struct topology *t, const struct root *root);
void topology_read_idle(struct topology *t, const struct root *root);
void topology_read_numa(struct topology *t, const struct root *root);
void topology_read_tree(struct topology *t, const struct root *root);
/* After all others. */
void topology_count_groups(struct topology *t);
void topology_find_odd(struct topology *t);

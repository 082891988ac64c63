/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files that read surroundings share. For board/surroundings*.c only. */
#pragma once

#include "base/cpuset.h"
#include "board/cpus.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct environment;
struct root;

/* One pass; running out of memory sticks in .error. */
struct reading {
	const struct root *root;
	struct environment *environment;
	const char *when; /* "before" or "after": part of some keys */
	bool cpus_known;
	struct board_cpus cpus;
	struct cpuset kept; /* isolated or nohz_full: not to be interrupted by reading */
	int error;
};

#define KEY_MAX 128

/* Cut at 4,095 bytes; control characters become blanks. */
void reading_text(struct reading *reading, const char *key, const char *value);
void reading_number(struct reading *reading, const char *key, int64_t value);
__attribute__((format(printf, 3, 4))) void reading_unknown(struct reading *reading, const char *key,
							   const char *reason, ...);
/* Unknown, because reading PATH failed with ERR (negative errno); -ENOMEM sticks. */
void reading_failed(struct reading *reading, const char *key, const char *path, int err);
/* The file's text or number as the value of KEY, else unknown. */
void reading_copy_text(struct reading *reading, const char *key, const char *path);
void reading_copy_number(struct reading *reading, const char *key, const char *path);
/* True where reading may interrupt a CPU of SET and that would be a live isolated one. */
bool reading_disturbs(const struct reading *reading, const struct cpuset *set);

/* The kernel's release, "" where unknown. */
void surroundings_release(const struct root *root, char *buf, size_t size);

void surroundings_config(struct reading *reading);
void surroundings_identity(struct reading *reading);
void surroundings_virtual(struct reading *reading);
void surroundings_irqs(struct reading *reading);
void surroundings_frequencies_fixed(struct reading *reading);
void surroundings_frequencies_now(struct reading *reading);
void surroundings_idle(struct reading *reading);
void surroundings_temperatures(struct reading *reading);

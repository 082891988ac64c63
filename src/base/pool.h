/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of one pass over something: it is taken piece by piece and given back at once. A pool that
 * is all zeroes is an empty one. Running out of memory sticks in .error (-ENOMEM): callers look
 * once, at the end; until then functions return NULL and their results are left unknown. One thread
 * at a time. Pure.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

struct cpuset;

struct pool_block;
struct pool_entry;

struct pool {
	int error; /* 0 or -ENOMEM */
	/* private */
	struct pool_block *blocks;
	size_t entry_count, bucket_count;
	struct pool_entry **buckets;
};

/* All that came from the pool is gone, and the pool is an empty one. */
void pool_free(struct pool *pool);

/* SIZE bytes, zeroed and aligned for anything. */
void *pool_alloc(struct pool *pool, size_t size);
/* Room for one more element of SIZE behind COUNT: ARRAY itself, or moved to where there is twice as
 * much. For arrays that were always grown by this function, from NULL and 0; the new element is
 * zeroed. NULL leaves ARRAY as it was. */
void *pool_grow(struct pool *pool, void *array, size_t count, size_t size);

/* One copy of DATA, the same pointer for the same bytes, for ever constant. */
const void *pool_intern(struct pool *pool, const void *data, size_t size);
/* The same for a text of LENGTH bytes that becomes one line: white space around is cut off, runs of
 * it made one blank, control characters and what is not ASCII made '?'. NULL for what is empty
 * then. */
const char *pool_text(struct pool *pool, const char *text, size_t length);
__attribute__((format(printf, 2, 3))) const char *pool_format(struct pool *pool, const char *format,
							      ...);
__attribute__((format(printf, 2, 0))) const char *pool_vformat(struct pool *pool,
							       const char *format, va_list args);
/* The same set, the same pointer. */
const struct cpuset *pool_set(struct pool *pool, const struct cpuset *set);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strict numbers, units and the nearest word. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A whole decimal number and nothing else: no sign, no blanks, no overflow. -EINVAL or -ERANGE;
 * *value is untouched on failure. */
int str_u64(const char *text, uint64_t *value);
/* The same with an optional leading '-'. */
int str_i64(const char *text, int64_t *value);

/* A duration with its unit: "80us", "1.5ms", "10s", "5m", "12h", "3d" (ns us µs ms s m h d; "0"
 * needs none). A number without a unit counts BARE_NS nanoseconds each, or is refused where BARE_NS
 * is 0. -EINVAL, or -ERANGE beyond int64 or, but for 0, below 1 ns. A fraction is exact or cut to
 * whole nanoseconds. */
int str_duration(const char *text, int64_t bare_ns, int64_t *ns);

/* A duration as people write it, the shortest exact form: "1ms", "2.5s", "10m", "90us". Fills BUF
 * and returns it; 32 bytes always suffice. */
const char *str_from_duration(char *buf, size_t size, int64_t ns);

/* The word of WORDS (NULL-terminated) that TEXT most likely meant, or NULL when none is near. */
const char *str_nearest(const char *text, const char *const *words);
/* Edit distance with transpositions (optimal string alignment), cut off at 64 characters. */
unsigned str_distance(const char *a, const char *b);

/* Cuts white space (newlines too) off both ends, in place; returns the new start. */
char *str_trim(char *text);
bool str_starts(const char *text, const char *start);

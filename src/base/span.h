/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pieces of a text that is not ours and need not end in NUL: what parsers of kernel files are made
 * of. Any bytes are allowed in it. Nothing is copied; a span lives as long as its text. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span {
	const char *at;
	size_t length;
};

struct span span_of(const char *text); /* of a NUL-terminated one */

/* Takes the first line, without its newline, off REST. False when nothing is left. */
bool span_line(struct span *rest, struct span *line);
/* Takes the first run of non-blanks off REST, and the blanks before it. False when none is left. */
bool span_word(struct span *rest, struct span *word);
/* Takes what is before the first SEPARATOR (or the end) off REST, and the separator. False when
 * nothing is left. */
bool span_until(struct span *rest, char separator, struct span *piece);

struct span span_trim(struct span span); /* blanks off both ends */
bool span_equal(struct span span, const char *text);
bool span_starts(struct span span, const char *start);
bool span_has(struct span span, const char *needle);
/* Where it begins, or NULL. */
const char *span_find(struct span span, const char *needle);

/* The whole span as a number, decimal and without sign (or with one, or hexadecimal with or without
 * "0x"). False, and *VALUE untouched, for anything else and where it does not fit. */
bool span_u64(struct span span, uint64_t *value);
bool span_i64(struct span span, int64_t *value);
bool span_hex(struct span span, uint64_t *value);

/* A copy, cut to fit, always NUL-terminated; returns BUF. */
const char *span_copy(struct span span, char *buf, size_t size);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers, columns and paragraphs of the text views: 80 columns, UTF-8. Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct sink;

#define LAYOUT_COLUMNS 79 /* one less than a terminal has, so that no line wraps by itself */

/* What a number that is not known looks like. */
#define LAYOUT_UNKNOWN "–"

/*
 * VALUE in at most WIDTH (4 or more) characters with three significant digits where they fit:
 * "9.13", "13.5", "133", "2390", then in thousands, millions and billions ("12.3k", "1.2M",
 * "3.6G"). Negative or not finite: LAYOUT_UNKNOWN. Fills BUF (32 bytes suffice) and returns it.
 */
const char *layout_number(char *buf, size_t size, unsigned width, double value);
/* The same for a count: exact while it fits. */
const char *layout_count(char *buf, size_t size, unsigned width, uint64_t count);
/* A stretch of time for a sentence: "740 µs", "12.3 ms", "9.077 s", "2 h 3 min 4 s", "72 h". */
const char *layout_time(char *buf, size_t size, int64_t ns);

/* TEXT with blanks before it (or behind it) up to WIDTH columns. */
void layout_right(struct sink *sink, unsigned width, const char *text);
void layout_left(struct sink *sink, unsigned width, const char *text);
/* TEXT as a paragraph: FIRST before its first line, as many blanks before the others. Breaks at
 * blanks only, and in words longer than a line after commas. */
void layout_paragraph(struct sink *sink, const char *first, const char *text);

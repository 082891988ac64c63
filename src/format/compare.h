/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two sessions side by side: figures with their differences (B minus A), then the settings and the
 * surroundings that differ. Where source, interval or policy differ, the figures do not answer the
 * same question: that is said first, and no differences are formed. As text for people (80 columns,
 * µs) and as the document punctual/compare/1. Errors stick in the sink.
 */
#pragma once

struct session;
struct sink;

/* Both after session_conclude. */
void compare_text(const struct session *a, const struct session *b, struct sink *sink);
void compare_json(const struct session *a, const struct session *b, struct sink *sink);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of stored sessions: as text for people (80 columns, latencies in µs, local time) and as
 * the document punctual/history/1. Errors stick in the sink. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct session_entry;
struct sink;

/* ENTRIES newest first. What neighbours share (kernel, policy, goal) stands above them once. */
void history_text(const struct session_entry *entries, size_t count, struct sink *sink);
/* STORE: the file's name. */
void history_json(const char *store, const struct session_entry *entries, size_t count,
		  struct sink *sink);

/* "2026-12-01 03:29" in local time; fills BUF (32 bytes suffice) and returns it. */
const char *history_when(char *buf, size_t size, int64_t wall_ns);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session as text for people: 80 columns, latencies in µs, one line a CPU and one for all, a
 * small histogram, the shape in words, goals and verdict, and what may distort the result. Pure. */
#pragma once

struct session;
struct sink;

/* Call after session_conclude. Errors stick in SINK. */
void session_text(const struct session *session, struct sink *sink);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sessions in one SQLite file (WAL, full sync at each batch), written as a run goes: after a power cut
 * or kill -9 all but the last batch is there. Several processes share a store; each waits for the
 * others' batches. Calls return 0 or a negative errno with the sentence: EIO, ENOSPC, EACCES, EBADMSG
 * (no store of ours, or damaged), ENOENT (no such session), EINVAL (an id that fits several).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpu_result;
struct fail;
struct session;
struct store;
struct window;

enum store_mode { STORE_READ, STORE_WRITE };

/* PATH NULL: /var/lib/punctual/sessions.db for root, else $XDG_STATE_HOME (or ~/.local/state)
 * /punctual/sessions.db; missing folders are made for STORE_WRITE (mode 0700). */
int store_open(struct store **store, const char *path, enum store_mode mode, struct fail *fail);
void store_close(struct store *store);
const char *store_path(const struct store *store);

/* A run: begin (settings, environment, CPUs; fills session->id if it is empty), then batches, then
 * end (all figures, verdict, shape, distortions, environment again). After a failed batch the caller
 * goes on without the store. */
int store_begin(struct store *store, struct session *session, struct fail *fail);
/* Adds, for cpus[i] of SESSION, the windows from index written[i] on of what LIST holds. */
struct store_windows {
	size_t count;
	const struct window *windows;
};
int store_batch(struct store *store, const struct session *session, const struct store_windows *added,
		struct fail *fail);
int store_end(struct store *store, const struct session *session, struct fail *fail);

/* One line of the history. */
struct store_entry {
	char id[33];
	int64_t started_wall_ns, duration_ns;
	bool complete;
	char cpus[64], source[16], kernel[80], verdict[16], goal[64];
	uint64_t samples, missed;
	int64_t p99_ns, max_ns; /* -1: not known */
};
/* Newest first, at most LIMIT (0: all). The list is the caller's (free). */
int store_list(struct store *store, size_t limit, struct store_entry **entries, size_t *count,
	       struct fail *fail);
/* ID: a beginning of one, or "last" / "last~N" for the N-th before it. session_free when done. */
int store_load(struct store *store, const char *id, struct session **session, struct fail *fail);

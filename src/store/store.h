/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sessions in one SQLite file (WAL, full sync at each batch), written as a run goes: after a power
 * cut or kill -9 all but the last batch is there. Several processes share a store; each waits for
 * the others' batches. Calls return 0 or a negative errno with the sentence: EIO and other errors
 * of files, ENOSPC, EACCES, EBUSY (another program holds it too long), EBADMSG (no store of ours,
 * of a newer version, or damaged), EINVAL (an id that fits no session or several), ENODATA (nothing
 * is stored yet), EOPNOTSUPP (built without the store). One thread uses a store at a time; samplers
 * never do.
 */
#pragma once

#include "result/entry.h"

#include <stddef.h>

struct fail;
struct session;
struct store;

enum store_mode { STORE_READ, STORE_WRITE };

/* PATH NULL: /var/lib/punctual/sessions.db for root, else $XDG_STATE_HOME (or ~/.local/state)
 * /punctual/sessions.db; their missing folders are made for STORE_WRITE (mode 0700). STORE_READ of
 * a file that is not there is -ENODATA; it changes nothing in the file. */
int store_open(struct store **store, const char *path, enum store_mode mode, struct fail *fail);
void store_close(struct store *store);
const char *store_path(const struct store *store);

/* A run: begin (settings, environment, goals, CPUs; fills session->id if it is empty), then
 * batches, then end. One run per open store at a time. After a failed call the caller goes on
 * without the store: what earlier calls wrote is kept. */
int store_begin(struct store *store, struct session *session, struct fail *fail);
/* Brings the stored session up to date, in one transaction: of each cpus[i] the counts, moments,
 * min, max, histogram and windows (only what is new; all of them after neighbours were merged), and
 * the session's duration, gaps and distortions. */
int store_batch(struct store *store, const struct session *session, struct fail *fail);
/* The same and all that is known only at the end: ends, largest samples, all, verdict, shape,
 * environment. Call after session_conclude. */
int store_end(struct store *store, const struct session *session, struct fail *fail);

/* Newest first, at most LIMIT (0: all). The list is the caller's (free); NULL where it is empty. */
int store_list(struct store *store, size_t limit, struct session_entry **entries, size_t *count,
	       struct fail *fail);
/* ID: a beginning of one (at least 4 digits), or "last" / "last~N" for the N-th before it. A
 * session that was not ended comes with complete false, each cpu's end CPU_END_RUNNING, the largest
 * samples from the windows' maxima, and the rest derived. session_free when done. */
int store_load(struct store *store, const char *id, struct session **session, struct fail *fail);

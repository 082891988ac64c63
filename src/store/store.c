// SPDX-License-Identifier: GPL-2.0-or-later
/* Opening, recognising, making and closing a store, and what its errors mean. */
#include "base/fail.h"
#include "base/sink.h"
#include "store/internal.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Times are nanoseconds, instants of the session's own since its start; NULL is unknown. The
 * columns settings to distortions are JSON; histogram and largest are packed (stat/histogram.h,
 * pack.c). */
static const char schema[] =
	"CREATE TABLE session ("
	"number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, started_ns INTEGER NOT NULL, "
	"duration_ns INTEGER NOT NULL, ended INTEGER NOT NULL, complete INTEGER NOT NULL, "
	"interrupted INTEGER NOT NULL, source TEXT, policy TEXT, cpus TEXT, kernel TEXT, goal "
	"TEXT, "
	"verdict TEXT, samples INTEGER, missed INTEGER, p99_ns INTEGER, max_ns INTEGER, "
	"settings TEXT, environment TEXT, goals TEXT, shape TEXT, gaps TEXT, distortions TEXT);"
	"CREATE TABLE cpu ("
	"session INTEGER NOT NULL, position INTEGER NOT NULL, cpu INTEGER NOT NULL, end TEXT, "
	"samples INTEGER, missed INTEGER, early INTEGER, moments_count INTEGER, mean_ns REAL, m2 "
	"REAL, "
	"min_ns INTEGER, max_ns INTEGER, max_at_ns INTEGER, windows_merged INTEGER, histogram "
	"BLOB, "
	"largest BLOB, PRIMARY KEY (session, position));"
	"CREATE TABLE window ("
	"session INTEGER NOT NULL, position INTEGER NOT NULL, sequence INTEGER NOT NULL, "
	"start_ns INTEGER, length_ns INTEGER, count INTEGER, missed INTEGER, min_ns INTEGER, "
	"max_ns INTEGER, max_at_ns INTEGER, sum_ns REAL, sum_squares REAL, moves INTEGER, "
	"faults INTEGER, switches INTEGER, steal_ns INTEGER, "
	"PRIMARY KEY (session, position, sequence)) WITHOUT ROWID;";

#define TEXT_OF(number)  TEXT_OF_(number)
#define TEXT_OF_(number) #number
static const char identity[] = "PRAGMA application_id = " TEXT_OF(
	STORE_APPLICATION) ";"
			   "PRAGMA user_version = " TEXT_OF(STORE_LAYOUT) ";";

int store_no_memory(struct fail *fail)
{
	return fail_set(fail, ENOMEM, "out of memory");
}

int store_damaged(const struct store *store, const char *what, struct fail *fail)
{
	return fail_set(fail, EBADMSG, "the store %s is damaged: %s", store->path, what);
}

/* The last errno of the store's file (SQLITE_FCNTL_FILE_POINTER) or of its log
 * (SQLITE_FCNTL_JOURNAL_POINTER).
 */
static int file_error(struct store *store, int which)
{
	sqlite3_file *file = NULL;
	int error = 0;

	if (sqlite3_file_control(store->db, NULL, which, &file) || !file || !file->pMethods)
		return 0;
	file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &error);
	return error;
}

/* The errno behind RC, 0 where it can't be told. sqlite3_system_errno alone would not do: it is not
 * set when a commit fails (3.40), and may then be that of an earlier look for a file. */
static int error_behind(struct store *store, int rc)
{
	bool file = (rc & 0xff) == SQLITE_IOERR && rc != SQLITE_IOERR_SHMOPEN &&
		    rc != SQLITE_IOERR_SHMSIZE && rc != SQLITE_IOERR_SHMMAP;
	int error;

	if (!store->db)
		return 0;
	if (!file)
		return sqlite3_system_errno(store->db);
	error = file_error(store, SQLITE_FCNTL_JOURNAL_POINTER);
	return error ? error : file_error(store, SQLITE_FCNTL_FILE_POINTER);
}

static int fail_system(struct store *store, int rc, const char *doing, struct fail *fail)
{
	int error = error_behind(store, rc);

	if (store_errno(error) == ENOSPC)
		return fail_set(fail, ENOSPC,
				"no room for the store %s (%s); what is in it already is kept",
				store->path, strerror(error));
	if (error)
		return fail_set(fail, store_errno(error), "cannot %s the store %s: %s", doing,
				store->path, strerror(error));
	return fail_set(fail, EIO, "cannot %s the store %s: %s", doing, store->path,
			sqlite3_errstr(rc));
}

int store_fail(struct store *store, int rc, const char *doing, struct fail *fail)
{
	switch (rc & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return fail_set(fail, EBUSY, "another program has held the store %s for over %d s",
				store->path, STORE_BUSY_MS / 1000);
	case SQLITE_FULL:
		return fail_set(
			fail, ENOSPC,
			"no room for the store %s: the disk is full; what is in it already is kept",
			store->path);
	case SQLITE_NOTADB:
		return fail_set(fail, EBADMSG, "%s is no store of sessions (no SQLite file)",
				store->path);
	case SQLITE_CORRUPT:
		return store_damaged(store, "its pages do not fit together", fail);
	case SQLITE_ERROR: /* a statement does not fit the tables */
		return store_damaged(
			store, store->db ? sqlite3_errmsg(store->db) : "it has other tables", fail);
	case SQLITE_READONLY:
		return fail_set(fail, EACCES, "cannot %s the store %s: it is read-only", doing,
				store->path);
	case SQLITE_NOMEM:
		return store_no_memory(fail);
	default:
		return fail_system(store, rc, doing, fail);
	}
}

/* A pragma's or count's one number, or SQLite's error. */
static int get_number(struct store *store, const char *query, int64_t *value)
{
	sqlite3_stmt *statement = NULL;
	int rc = sqlite3_prepare_v2(store->db, query, -1, &statement, NULL);

	if (!rc)
		rc = sqlite3_step(statement);
	if (rc == SQLITE_ROW) {
		*value = sqlite3_column_int64(statement, 0);
		rc = SQLITE_OK;
	} else if (rc == SQLITE_DONE) {
		rc = SQLITE_CORRUPT;
	}
	sqlite3_finalize(statement);
	return rc;
}

static int open_database(struct store *store, const char *name, int flags)
{
	int rc = sqlite3_open_v2(name, &store->db,
				 flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);

	if (rc)
		return rc;
	sqlite3_busy_timeout(store->db, STORE_BUSY_MS);
	/* the file may come from anywhere: it has no say in what is run, nor unlimited sizes */
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_limit(store->db, SQLITE_LIMIT_LENGTH, 64 << 20);
	/* The cache stays small: a measurement runs beside it. Full sync makes each batch last. */
	return sqlite3_exec(store->db,
			    "PRAGMA cell_size_check = ON; PRAGMA cache_size = -256; "
			    "PRAGMA wal_autocheckpoint = 256; PRAGMA journal_size_limit = 1048576; "
			    "PRAGMA synchronous = FULL",
			    NULL, NULL, NULL);
}

/* "./" in front keeps SQLite from taking a name like ":memory:" or "file:x?y" for more than a name.
 */
static int open_plain(struct store *store, int flags)
{
	char *name;
	int rc;

	if (asprintf(&name, "%s%s", *store->path == '/' ? "" : "./", store->path) < 0)
		return SQLITE_NOMEM;
	rc = open_database(store, name, flags);
	free(name);
	return rc;
}

/* The file as it lies there, without locks or files beside it: on a read-only file system. */
static int open_immutable(struct store *store)
{
	struct strbuf uri = STRBUF_INIT;
	int rc = SQLITE_NOMEM;

	sink_text(&uri.sink, *store->path == '/' ? "file://" : "file:./");
	for (const char *c = store->path; *c; c++) {
		if (isalnum((unsigned char)*c) || strchr("/._-~", *c))
			sink_write(&uri.sink, c, 1);
		else
			sink_printf(&uri.sink, "%%%02X", (unsigned)(unsigned char)*c);
	}
	sink_text(&uri.sink, "?immutable=1");
	if (!uri.sink.error)
		rc = open_database(store, uri.text, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
	strbuf_free(&uri);
	return rc;
}

static bool has_beside(const struct store *store, const char *suffix)
{
	struct stat st;
	char *name;
	bool result;

	if (asprintf(&name, "%s%s", store->path, suffix) < 0)
		return true;
	result = !stat(name, &st) && st.st_size;
	free(name);
	return result;
}

struct identity {
	int64_t application, layout, tables;
};

static int read_numbers(struct store *store, struct identity *found)
{
	int rc = get_number(store, "PRAGMA application_id", &found->application);

	if (!rc)
		rc = get_number(store, "PRAGMA user_version", &found->layout);
	if (!rc)
		rc = get_number(store, "SELECT count(*) FROM sqlite_master", &found->tables);
	return rc;
}

/* In one transaction: another program may be making the tables just now. */
static int read_identity(struct store *store, struct identity *found)
{
	int rc = sqlite3_exec(store->db, "BEGIN", NULL, NULL, NULL);

	if (rc)
		return rc;
	rc = read_numbers(store, found);
	sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL);
	return rc;
}

static bool is_fresh(const struct identity *found)
{
	return !found->application && !found->layout && !found->tables;
}

static int judge_identity(struct store *store, const struct identity *found, struct fail *fail)
{
	if (is_fresh(found))
		return store->mode == STORE_WRITE
			       ? 0
			       : fail_set(fail, ENODATA,
					  "no sessions yet in %s; run punctual measure first",
					  store->path);
	if (found->application != STORE_APPLICATION)
		return fail_set(fail, EBADMSG,
				"%s is no store of sessions: it belongs to another application",
				store->path);
	if (found->layout > STORE_LAYOUT)
		return fail_set(fail, EBADMSG,
				"the store %s was written by a newer punctual (layout %" PRId64
				"; this one knows up to %d): use that version, or another --store",
				store->path, found->layout, STORE_LAYOUT);
	if (found->layout < 1)
		return store_damaged(store, "its layout number is not valid", fail);
	return 0;
}

/* The first try: read-only. A change that was cut off where there is no log (SQLite's older
 * journal) must be undone before anybody can read; that is the one thing for which reading writes.
 */
static int try_reading(struct store *store, struct identity *found)
{
	int rc = open_plain(store, SQLITE_OPEN_READONLY);

	if (!rc)
		rc = read_identity(store, found);
	if (rc != SQLITE_READONLY_ROLLBACK)
		return rc;
	sqlite3_close(store->db);
	store->db = NULL;
	rc = open_plain(store, SQLITE_OPEN_READWRITE);
	return rc ? rc : read_identity(store, found);
}

static int open_reading(struct store *store, struct fail *fail)
{
	struct identity found;
	int rc = try_reading(store, &found);

	/* the log's index beside the file could not be made: read-only file system or folder */
	if ((rc & 0xff) == SQLITE_CANTOPEN || (rc & 0xff) == SQLITE_READONLY) {
		if (has_beside(store, "-wal") || has_beside(store, "-journal"))
			return fail_set(
				fail, EACCES,
				"the store %s was not closed in order and lies where nothing can "
				"be "
				"written: copy it and its -wal or -journal to another folder",
				store->path);
		sqlite3_close(store->db);
		store->db = NULL;
		rc = open_immutable(store);
		if (!rc)
			rc = read_identity(store, &found);
	}
	return rc ? store_fail(store, rc, "read", fail) : judge_identity(store, &found, fail);
}

/* Changing the journal's kind needs the file alone for a moment, and SQLite does not wait for it.
 */
static int use_log(struct store *store)
{
	int rc = SQLITE_BUSY;

	for (int waited_ms = 0; (rc & 0xff) == SQLITE_BUSY && waited_ms < STORE_BUSY_MS;
	     waited_ms += 10) {
		if (waited_ms)
			usleep(10000);
		rc = sqlite3_exec(store->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
	}
	return rc;
}

/* Two programs may come here at once: the second finds the tables made. */
static int make_tables(struct store *store)
{
	struct identity found;
	int rc = sqlite3_exec(store->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);

	if (rc)
		return rc;
	rc = read_numbers(store, &found);
	if (!rc && is_fresh(&found)) {
		rc = sqlite3_exec(store->db, schema, NULL, NULL, NULL);
		if (!rc)
			rc = sqlite3_exec(store->db, identity, NULL, NULL, NULL);
	}
	if (!rc)
		rc = sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL);
	if (rc)
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

static int open_writing(struct store *store, struct fail *fail)
{
	struct identity found;
	int rc = open_plain(store, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE), err;

	if (!rc)
		rc = read_identity(store, &found);
	if (rc)
		return store_fail(store, rc, "open", fail);
	err = judge_identity(store, &found, fail);
	if (err)
		return err;
	rc = use_log(store);
	if (!rc && is_fresh(&found)) {
		rc = make_tables(store);
		if (!rc)
			rc = read_identity(store, &found);
		if (!rc)
			return judge_identity(store, &found, fail);
	}
	return rc ? store_fail(store, rc, "write to", fail) : 0;
}

int store_open(struct store **store, const char *path, enum store_mode mode, struct fail *fail)
{
	struct store *opened = calloc(1, sizeof(*opened));
	bool empty;
	int err;

	if (!opened)
		return store_no_memory(fail);
	opened->mode = mode;
	if (path) {
		opened->path = strdup(path);
		err = opened->path ? 0 : store_no_memory(fail);
	} else {
		err = store_default_path(&opened->path, mode, fail);
	}
	if (!err)
		err = store_check_path(opened->path, mode, &empty, fail);
	if (!err)
		err = mode == STORE_READ ? open_reading(opened, fail) : open_writing(opened, fail);
	if (err)
		store_close(opened);
	else
		*store = opened;
	return err;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	for (int i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(store->statements[i]);
	/* A store at rest is one plain file that can be copied, and read where nothing can be
	 * written. While others have it open this does nothing: the last one does it. */
	if (store->db && store->mode == STORE_WRITE)
		sqlite3_exec(store->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
	sqlite3_close(store->db);
	free(store->written);
	free(store->packed);
	free(store->path);
	free(store);
}

const char *store_path(const struct store *store)
{
	return store->path;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Statements, parameters and columns. The SQL of the whole store stands here. */
#include "base/fail.h"
#include "store/internal.h"

#include <errno.h>
#include <limits.h>
#include <math.h>

#define WINDOW_COLUMNS                                                                         \
	"start_ns, length_ns, count, missed, min_ns, max_ns, max_at_ns, sum_ns, sum_squares, " \
	"moves, faults, switches, steal_ns"

static const char *const sql[STATEMENTS] = {
	[STATEMENT_BEGIN] = "BEGIN IMMEDIATE",
	[STATEMENT_COMMIT] = "COMMIT",
	[STATEMENT_ROLLBACK] = "ROLLBACK",
	[STATEMENT_ADD_SESSION] = "INSERT INTO session (id, started_ns, source, policy, cpus, "
				  "kernel, goal, settings, "
				  "environment, goals, duration_ns, ended, complete, interrupted) "
				  "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0)",
	[STATEMENT_ADD_CPU] = "INSERT INTO cpu (session, position, cpu) VALUES (?, ?, ?)",
	[STATEMENT_PROGRESS] =
		"UPDATE session SET duration_ns = ?, samples = ?, missed = ?, max_ns = ?, "
		"gaps = ?, distortions = ? WHERE number = ?",
	[STATEMENT_END] =
		"UPDATE session SET ended = 1, complete = ?, interrupted = ?, kernel = ?, "
		"verdict = ?, p99_ns = ?, environment = ?, goals = ?, shape = ? WHERE number = ?",
	[STATEMENT_SET_CPU] =
		"UPDATE cpu SET end = ?, samples = ?, missed = ?, early = ?, moments_count = ?, "
		"mean_ns = ?, m2 = ?, min_ns = ?, max_ns = ?, max_at_ns = ?, windows_merged = ?, "
		"histogram = ? WHERE session = ? AND position = ?",
	[STATEMENT_SET_LARGEST] = "UPDATE cpu SET largest = ? WHERE session = ? AND position = ?",
	[STATEMENT_PUT_WINDOW] =
		"INSERT OR REPLACE INTO window (session, position, sequence, " WINDOW_COLUMNS ") "
		"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[STATEMENT_DROP_WINDOWS] =
		"DELETE FROM window WHERE session = ? AND position = ? AND sequence >= ?",
	[STATEMENT_COUNT_SESSIONS] = "SELECT count(*) FROM session",
	[STATEMENT_LIST] =
		"SELECT id, started_ns, duration_ns, ended, complete, interrupted, cpus, source, "
		"policy, kernel, goal, verdict, samples, missed, p99_ns, max_ns FROM session "
		"ORDER BY number DESC LIMIT ?",
	/* by order of beginning, not by date: boards without a clock all live in 1970 */
	[STATEMENT_FIND_LAST] =
		"SELECT number, id FROM session ORDER BY number DESC LIMIT 1 OFFSET ?",
	[STATEMENT_FIND_PREFIX] =
		"SELECT number, id FROM session WHERE id >= ?1 AND id < ?1 || 'g' LIMIT 2",
	[STATEMENT_GET_SESSION] =
		"SELECT id, started_ns, duration_ns, ended, complete, interrupted, settings, "
		"environment, goals, shape, gaps, distortions FROM session WHERE number = ?",
	[STATEMENT_COUNT_CPUS] = "SELECT count(*), max(position) FROM cpu WHERE session = ?",
	[STATEMENT_GET_CPUS] =
		"SELECT cpu, end, samples, missed, early, moments_count, mean_ns, m2, min_ns, "
		"max_ns, "
		"max_at_ns, windows_merged, histogram, largest FROM cpu WHERE session = ? "
		"ORDER BY position",
	[STATEMENT_GET_WINDOWS] = "SELECT " WINDOW_COLUMNS " FROM window "
				  "WHERE session = ? AND position = ? ORDER BY sequence",
};

sqlite3_stmt *store_statement(struct store *store, enum store_statement which, int *rc)
{
	sqlite3_stmt **statement = &store->statements[which];

	*rc = SQLITE_OK;
	if (*statement)
		sqlite3_reset(*statement);
	else
		*rc = sqlite3_prepare_v3(store->db, sql[which], -1, SQLITE_PREPARE_PERSISTENT,
					 statement, NULL);
	return *statement;
}

struct row row_start(struct store *store, enum store_statement which)
{
	struct row row = { .next = 1 };

	row.statement = store_statement(store, which, &row.rc);
	return row;
}

static void put(struct row *row, int rc)
{
	if (!row->rc)
		row->rc = rc;
	row->next++;
}

void row_put_i64(struct row *row, int64_t value)
{
	put(row, sqlite3_bind_int64(row->statement, row->next, value));
}

void row_put_u64(struct row *row, uint64_t value)
{
	row_put_i64(row, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

void row_put_known(struct row *row, int64_t value)
{
	if (value == -1)
		put(row, sqlite3_bind_null(row->statement, row->next));
	else
		row_put_i64(row, value);
}

void row_put_double(struct row *row, double value)
{
	put(row, sqlite3_bind_double(row->statement, row->next, value));
}

void row_put_text(struct row *row, const char *text)
{
	put(row, sqlite3_bind_text(row->statement, row->next, text, -1, SQLITE_STATIC));
}

void row_put_blob(struct row *row, const void *data, size_t size)
{
	put(row, sqlite3_bind_blob64(row->statement, row->next, data, size, SQLITE_STATIC));
}

int row_run(struct store *store, struct row *row, struct fail *fail)
{
	if (!row->rc)
		row->rc = sqlite3_step(row->statement);
	/* the reset gives up the bound pointers' use and, for selects, the read lock */
	if (row->statement)
		sqlite3_reset(row->statement);
	return row->rc == SQLITE_DONE ? 0 : store_fail(store, row->rc, "write to", fail);
}

int row_step(struct store *store, struct row *row, struct fail *fail)
{
	int rc = row->rc ? row->rc : sqlite3_step(row->statement);

	row->next = 0;
	if (rc == SQLITE_ROW)
		return 1;
	sqlite3_reset(row->statement);
	return rc == SQLITE_DONE ? 0 : store_fail(store, rc, "read", fail);
}

static bool is_type(struct row *row, int type)
{
	int found = sqlite3_column_type(row->statement, row->next);

	if (found != type && found != SQLITE_NULL)
		row->rc = SQLITE_CORRUPT;
	return found == type;
}

int64_t row_take_i64(struct row *row)
{
	int64_t value = 0;

	if (is_type(row, SQLITE_INTEGER))
		value = sqlite3_column_int64(row->statement, row->next);
	row->next++;
	return value;
}

uint64_t row_take_u64(struct row *row)
{
	int64_t value = row_take_i64(row);

	if (value < 0)
		row->rc = SQLITE_CORRUPT;
	return value < 0 ? 0 : (uint64_t)value;
}

int64_t row_take_known(struct row *row)
{
	if (sqlite3_column_type(row->statement, row->next) != SQLITE_NULL)
		return row_take_i64(row);
	row->next++;
	return -1;
}

double row_take_double(struct row *row)
{
	double value = 0;

	if (is_type(row, SQLITE_FLOAT))
		value = sqlite3_column_double(row->statement, row->next);
	row->next++;
	return value;
}

const char *row_take_text(struct row *row)
{
	const char *text = NULL;

	if (is_type(row, SQLITE_TEXT))
		text = (const char *)sqlite3_column_text(row->statement, row->next);
	row->next++;
	return text ? text : "";
}

const void *row_take_blob(struct row *row, size_t *size)
{
	const void *data = NULL;

	*size = 0;
	if (is_type(row, SQLITE_BLOB)) {
		data = sqlite3_column_blob(row->statement, row->next);
		*size = (size_t)sqlite3_column_bytes(row->statement, row->next);
	}
	row->next++;
	return data;
}

int row_end(struct store *store, const struct row *row, struct fail *fail)
{
	if (!row->rc)
		return 0;
	sqlite3_reset(row->statement);
	return store_damaged(store, "a row of it has values of the wrong kind", fail);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the store share: the open database with its prepared statements, one way of
 * binding and taking columns in order, and one place that turns SQLite's errors into sentences.
 */
#pragma once

#include "stat/largest.h"
#include "store/store.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "punc", in the header of every store; and the layout of its tables. */
#define STORE_APPLICATION 0x70756e63
#define STORE_LAYOUT      1
/* How long a batch waits for the batches of others, which take milliseconds but on slow media. */
#define STORE_BUSY_MS 5000
#define STORE_ID_MIN  4

enum store_statement {
	STATEMENT_BEGIN,
	STATEMENT_COMMIT,
	STATEMENT_ROLLBACK,
	STATEMENT_ADD_SESSION,
	STATEMENT_ADD_CPU,
	STATEMENT_PROGRESS,
	STATEMENT_END,
	STATEMENT_SET_CPU,
	STATEMENT_SET_LARGEST,
	STATEMENT_PUT_WINDOW,
	STATEMENT_DROP_WINDOWS,
	STATEMENT_COUNT_SESSIONS,
	STATEMENT_LIST,
	STATEMENT_FIND_LAST,
	STATEMENT_FIND_PREFIX,
	STATEMENT_GET_SESSION,
	STATEMENT_COUNT_CPUS,
	STATEMENT_GET_CPUS,
	STATEMENT_GET_WINDOWS,
	STATEMENTS
};

/* How much of a CPU's windows the file holds. */
struct store_written {
	size_t count;    /* whole ones; a pending one may follow */
	unsigned merged; /* as in struct windows, when they were written */
};

struct store {
	sqlite3 *db;
	char *path;
	enum store_mode mode;
	sqlite3_stmt *statements[STATEMENTS];
	/* the run being written */
	int64_t session; /* its row's number; 0: none */
	size_t cpu_count;
	struct store_written *written;
	unsigned char *packed; /* for histograms and largest samples */
	size_t packed_size;
};

/* The sentence for SQLite's RC, met while DOING ("read", "write to") the store. Never 0. */
int store_fail(struct store *store, int rc, const char *doing, struct fail *fail);
int store_damaged(const struct store *store, const char *what, struct fail *fail);
int store_no_memory(struct fail *fail);
/* The errno by which the sentence about a file's ERROR is passed up: those of missing permission as
 * EACCES, and never one that means wrong usage. */
int store_errno(int error);

/* A prepared statement, made at its first use and reset; *RC tells why there is none. */
sqlite3_stmt *store_statement(struct store *store, enum store_statement which, int *rc);

/* A statement whose parameters are bound, or whose columns are taken, in order. The first error
 * sticks; rows of other types than expected are SQLITE_CORRUPT. */
struct row {
	sqlite3_stmt *statement;
	int next, rc;
};

struct row row_start(struct store *store, enum store_statement which);
void row_put_i64(struct row *row, int64_t value);
void row_put_u64(struct row *row, uint64_t value);
/* NULL for -1, which means unknown. */
void row_put_known(struct row *row, int64_t value);
void row_put_double(struct row *row, double value);
/* Both must stay as they are until row_run. TEXT may be NULL. */
void row_put_text(struct row *row, const char *text);
void row_put_blob(struct row *row, const void *data, size_t size);
/* Runs a statement that yields no rows. */
int row_run(struct store *store, struct row *row, struct fail *fail);

/* The next row: 1, or 0 at the end, or a negative errno with the sentence. */
int row_step(struct store *store, struct row *row, struct fail *fail);
int64_t row_take_i64(struct row *row);
uint64_t row_take_u64(struct row *row);
int64_t row_take_known(struct row *row);
double row_take_double(struct row *row);
/* Valid until the next step; "" for NULL. */
const char *row_take_text(struct row *row);
const void *row_take_blob(struct row *row, size_t *size);
/* After the columns were taken: 0, or the sentence for a row of wrong types. */
int row_end(struct store *store, const struct row *row, struct fail *fail);

/* path.c: the file's name, freed by the caller. For STORE_WRITE its folders are made. */
int store_default_path(char **path, enum store_mode mode, struct fail *fail);
/* Whether PATH can be a store at all: -ENODATA for STORE_READ where there is no file. *EMPTY: it is
 * missing or has no bytes. */
int store_check_path(const char *path, enum store_mode mode, bool *empty, struct fail *fail);

/* find.c: the row number of the session that ID names. -EINVAL, -ENODATA as store_load. */
int store_find(struct store *store, const char *id, int64_t *number, struct fail *fail);

/* pack.c: the largest samples as bytes: the count, then by time the differences of times and the
 * latencies, all ZigZag LEB128, and that deflated (12 kB to 5 kB; a histogram would go from 1.5 kB
 * to 0.7 kB, which is not worth it at each batch). pack: *SIZE is the room in DATA
 * (pack_largest_bound always suffices), then what was used; -ENOMEM. unpack: -ENOMEM, -EBADMSG for
 * bytes that are nothing of the kind. */
size_t pack_largest_bound(void);
int pack_largest(const struct largest *largest, unsigned char *data, size_t *size);
int unpack_largest(struct largest *largest, const unsigned char *data, size_t size);

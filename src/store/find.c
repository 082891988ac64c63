// SPDX-License-Identifier: GPL-2.0-or-later
/* From what a person types to a session's row. */
#include "base/fail.h"
#include "base/str.h"
#include "store/internal.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int count_sessions(struct store *store, uint64_t *count, struct fail *fail)
{
	struct row row = row_start(store, STATEMENT_COUNT_SESSIONS);
	int got = row_step(store, &row, fail);

	*count = got == 1 ? row_take_u64(&row) : 0;
	sqlite3_reset(row.statement);
	return got < 0 ? got : 0;
}

/* The one row of a look-up, or why there is none: 1, 0 or a negative errno. */
static int find_last(struct store *store, uint64_t back, int64_t *number, struct fail *fail)
{
	struct row row = row_start(store, STATEMENT_FIND_LAST);
	int got;

	row_put_u64(&row, back);
	got = row_step(store, &row, fail);
	if (got == 1) {
		*number = row_take_i64(&row);
		sqlite3_reset(row.statement);
	}
	return got;
}

/* "last" or "last~N". False where ID is neither. */
static bool parse_last(const char *id, uint64_t *back)
{
	*back = 0;
	if (!str_starts(id, "last"))
		return false;
	return !id[4] || (id[4] == '~' && !str_u64(id + 5, back));
}

static int resolve_last(struct store *store, const char *id, uint64_t back, uint64_t count,
			int64_t *number, struct fail *fail)
{
	int got = find_last(store, back, number, fail);

	if (got)
		return got < 0 ? got : 0;
	return fail_set(fail, EINVAL, "no session %.40s: %s holds %" PRIu64, id, store->path,
			count);
}

static int resolve_prefix(struct store *store, const char *prefix, int64_t *number,
			  struct fail *fail)
{
	struct row row = row_start(store, STATEMENT_FIND_PREFIX);
	char first[SESSION_ID_TEXT];
	int got, err;

	row_put_text(&row, prefix);
	got = row_step(store, &row, fail);
	if (got < 0)
		return got;
	if (!got)
		return fail_set(fail, EINVAL, "no session %s in %s; punctual history lists them",
				prefix, store->path);
	*number = row_take_i64(&row);
	snprintf(first, sizeof(first), "%s", row_take_text(&row));
	err = row_end(store, &row, fail);
	if (err)
		return err;
	got = row_step(store, &row, fail);
	if (got <= 0)
		return got;
	row_take_i64(&row);
	err = fail_set(fail, EINVAL,
		       "%s fits several sessions (%.12s…, %.12s…): give more of the id", prefix,
		       first, row_take_text(&row));
	sqlite3_reset(row.statement);
	return err;
}

int store_find(struct store *store, const char *id, int64_t *number, struct fail *fail)
{
	char prefix[SESSION_ID_TEXT] = "";
	size_t length = strlen(id);
	uint64_t count, back;
	int err = count_sessions(store, &count, fail);

	if (err)
		return err;
	if (!count)
		return fail_set(fail, ENODATA, "no sessions yet in %s; run punctual measure first",
				store->path);
	if (parse_last(id, &back))
		return resolve_last(store, id, back, count, number, fail);
	if (length >= sizeof(prefix) || strspn(id, "0123456789abcdefABCDEF") != length)
		return fail_set(
			fail, EINVAL,
			"'%.40s' is no session: give the beginning of an id, last or last~N", id);
	if (length < STORE_ID_MIN)
		return fail_set(fail, EINVAL,
				"'%s' is too short: give at least %d digits of the id", id,
				STORE_ID_MIN);
	for (size_t i = 0; i < length; i++)
		prefix[i] = (char)tolower((unsigned char)id[i]);
	return resolve_prefix(store, prefix, number, fail);
}

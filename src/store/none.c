// SPDX-License-Identifier: GPL-2.0-or-later
/* In the place of the store where it was left out of the build (-Dstore=false). */
#include "base/fail.h"
#include "store/store.h"

#include <errno.h>

static int left_out(struct fail *fail)
{
	return fail_set(
		fail, EOPNOTSUPP,
		"this punctual was built without the store (-Dstore=false), so sessions can be "
		"neither kept nor read");
}

int store_open(struct store **store, const char *path, enum store_mode mode, struct fail *fail)
{
	(void)store;
	(void)path;
	(void)mode;
	return left_out(fail);
}

void store_close(struct store *store)
{
	(void)store;
}

const char *store_path(const struct store *store)
{
	(void)store;
	return "";
}

int store_begin(struct store *store, struct session *session, struct fail *fail)
{
	(void)store;
	(void)session;
	return left_out(fail);
}

int store_batch(struct store *store, const struct session *session, struct fail *fail)
{
	(void)store;
	(void)session;
	return left_out(fail);
}

int store_end(struct store *store, const struct session *session, struct fail *fail)
{
	(void)store;
	(void)session;
	return left_out(fail);
}

int store_list(struct store *store, size_t limit, struct session_entry **entries, size_t *count,
	       struct fail *fail)
{
	(void)store;
	(void)limit;
	(void)entries;
	(void)count;
	return left_out(fail);
}

int store_load(struct store *store, const char *id, struct session **session, struct fail *fail)
{
	(void)store;
	(void)id;
	(void)session;
	return left_out(fail);
}

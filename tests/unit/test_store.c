// SPDX-License-Identifier: GPL-2.0-or-later
/* The store: what is written comes back, ids find it, and files that are no store are told apart.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "store/internal.h"
#include "store_fixture.h"

#include <fcntl.h>
#include <zlib.h>

static void whole_session_comes_back(void **state)
{
	struct place *place = *state;
	struct store *store = open_store(place->path, STORE_WRITE);
	struct session *session = new_session(3), *loaded;
	struct fail fail = { "" };

	keep_largest(session);
	must(store_begin(store, session, &fail), &fail);
	assert_int_equal(strlen(session->id), 32);
	assert_int_equal(strspn(session->id, "0123456789abcdef"), 32);
	/* past two merges of neighbours, with batches of all sizes, more samples than largest ones
	 */
	for (unsigned n = 0; n < 60; n++) {
		add_windows(session, n);
		must(store_batch(store, session, &fail), &fail);
	}
	assert_int_equal(session->cpus[0].windows.merged, 2);
	end_session(session);
	must(store_end(store, session, &fail), &fail);
	store_close(store);
	/* at rest it is one file */
	assert_int_equal(count_files(place), 1);

	loaded = load(place->path, session->id);
	assert_true(loaded->complete);
	assert_int_equal(loaded->cpus[0].end, CPU_END_DONE);
	assert_int_equal(loaded->cpus[1].end, CPU_END_OFFLINE);
	assert_int_equal(loaded->cpus[0].largest->count, LARGEST_MAX);
	assert_same_session(session, loaded);
	/* reading changed and left nothing */
	assert_int_equal(count_files(place), 1);
	session_free(loaded);
	session_free(session);
}

/* The windows that a reader must see: whole ones, and the one being put together. */
static size_t visible(const struct windows *windows)
{
	return windows->count + (windows->pending_parts > 0);
}

static void each_batch_can_be_read(void **state)
{
	struct place *place = *state;
	struct store *store = open_store(place->path, STORE_WRITE);
	struct session *session = new_session(2), *loaded;
	struct fail fail = { "" };

	must(store_begin(store, session, &fail), &fail);
	for (unsigned n = 0; n < 40; n++) {
		const struct cpu_result *cpu = &session->cpus[1];

		add_windows(session, 31);
		must(store_batch(store, session, &fail), &fail);
		/* the writer is still there: reading goes on beside it */
		loaded = load(place->path, "last");
		assert_false(loaded->complete);
		assert_int_equal(loaded->duration_ns, session->duration_ns);
		assert_int_equal(loaded->cpus[1].end, CPU_END_RUNNING);
		assert_int_equal(loaded->cpus[1].samples, cpu->samples);
		assert_int_equal(loaded->cpus[1].max_ns, cpu->max_ns);
		assert_int_equal(loaded->cpus[1].windows.count, visible(&cpu->windows));
		assert_int_equal(loaded->all.samples, 2 * cpu->samples);
		/* no samples were kept; each window's largest stands for them */
		assert_int_equal(loaded->cpus[1].largest->count, visible(&cpu->windows));
		session_free(loaded);
	}
	store_close(store);
	session_free(session);
}

static void histogram_ahead_of_windows(void **state)
{
	struct place *place = *state;
	struct store *store = open_store(place->path, STORE_WRITE);
	struct session *session = new_session(1), *loaded;
	struct fail fail = { "" };

	must(store_begin(store, session, &fail), &fail);
	add_windows(session, 3);
	histogram_record(session->cpus[0].histogram, 5000000, 1);
	must(store_batch(store, session, &fail), &fail);
	loaded = load(place->path, "last");
	assert_int_equal(loaded->cpus[0].samples, session->cpus[0].samples + 1);
	assert_int_equal(histogram_bucket(loaded->all.max_ns), histogram_bucket(5000000));
	assert_int_equal(loaded->all.max_at_ns, 3 * WINDOW_NS);
	session_free(loaded);
	store_close(store);
	session_free(session);
}

static void session_without_batches(void **state)
{
	struct place *place = *state;
	struct store *store = open_store(place->path, STORE_WRITE);
	struct session *session = new_session(2), *loaded;
	struct session_entry *entries;
	struct fail fail = { "" };
	size_t count;

	must(store_begin(store, session, &fail), &fail);
	must(store_list(store, 0, &entries, &count, &fail), &fail);
	assert_int_equal(count, 1);
	assert_false(entries[0].ended);
	assert_int_equal(entries[0].max_ns, -1);
	assert_int_equal(entries[0].p99_ns, -1);
	assert_string_equal(entries[0].verdict, "unknown");
	free(entries);
	loaded = load(place->path, "last");
	assert_int_equal(loaded->cpu_count, 2);
	assert_int_equal(loaded->cpus[1].cpu, 3);
	assert_int_equal(loaded->all.samples, 0);
	session_free(loaded);
	store_close(store);
	session_free(session);
}

static void expect_refusal(const char *path, enum store_mode mode, int err, const char *what)
{
	struct store *store = NULL;
	struct fail fail = { "" };
	int got = store_open(&store, path, mode, &fail);

	if (got != -err || !strstr(fail.text, what) || !strstr(fail.text, path))
		fail_msg("%d, not %d with '%s': %s", got, -err, what, fail.text);
	assert_null(strchr(fail.text, '\n'));
}

static void put_file(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), size);
	close(fd);
}

static void foreign_files(void **state)
{
	static const enum store_mode modes[] = { STORE_READ, STORE_WRITE };
	struct place *place = *state;
	char garbage[5000];
	sqlite3 *db;

	for (size_t i = 0; i < sizeof(garbage); i++)
		garbage[i] = (char)scramble(i);
	for (size_t i = 0; i < 2; i++) {
		put_file(place->path, garbage, sizeof(garbage));
		expect_refusal(place->path, modes[i], EBADMSG, "no store of sessions");
		put_file(place->path, "hello", 5);
		expect_refusal(place->path, modes[i], EBADMSG, "no store of sessions");
		empty_folder(place);
		assert_int_equal(sqlite3_open(place->path, &db), SQLITE_OK);
		assert_int_equal(sqlite3_exec(db, "CREATE TABLE t (a)", NULL, NULL, NULL),
				 SQLITE_OK);
		sqlite3_close(db);
		expect_refusal(place->path, modes[i], EBADMSG, "another application");
		/* and it was left as it is, and alone */
		assert_int_equal(count_files(place), 1);
		expect_refusal(place->folder, modes[i], EISDIR, "is a folder");
		empty_folder(place);
		assert_false(mkfifo(place->path, 0600));
		expect_refusal(place->path, modes[i], EIO, "no regular file");
		empty_folder(place);
	}
	expect_refusal(place->path, STORE_READ, ENODATA, "run punctual measure first");
	put_file(place->path, "", 0);
	expect_refusal(place->path, STORE_READ, ENODATA, "run punctual measure first");
	expect_refusal("/proc/punctual/none/x.db", STORE_WRITE, ENOENT, "/proc/punctual/none");
}

static void make_small_store(const char *path)
{
	struct store *store = open_store(path, STORE_WRITE);
	struct session *session = new_session(2);
	struct fail fail = { "" };

	must(store_begin(store, session, &fail), &fail);
	add_windows(session, 30);
	end_session(session);
	must(store_end(store, session, &fail), &fail);
	store_close(store);
	session_free(session);
}

static void run_sql(const char *path, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void newer_layout(void **state)
{
	struct place *place = *state;

	make_small_store(place->path);
	run_sql(place->path, "PRAGMA user_version = 99");
	expect_refusal(place->path, STORE_READ, EBADMSG, "newer punctual");
	expect_refusal(place->path, STORE_WRITE, EBADMSG, "newer punctual");
}

static void expect_damage(const char *path, const char *sql)
{
	struct session *session = NULL;
	struct store *store;
	struct fail fail = { "" };
	int err;

	if (sql)
		run_sql(path, sql);
	err = store_open(&store, path, STORE_READ, &fail);
	if (!err) {
		err = store_load(store, "last", &session, &fail);
		store_close(store);
	}
	if (err != -EBADMSG || !strstr(fail.text, path))
		fail_msg("%s: %d: %s", sql ? sql : "cut", err, fail.text);
	unlink(path);
}

static void damaged_rows(void **state)
{
	static const char *const damages[] = {
		"UPDATE session SET settings = '{'",
		"UPDATE session SET settings = '{\"source\": 3}'",
		"UPDATE session SET settings = '{\"cpus\": \"0-x\"}'",
		"UPDATE session SET settings = '{\"source\": \"a source with far too long a "
		"name\"}'",
		"UPDATE session SET environment = '[]'",
		"UPDATE session SET goals = '{\"verdict\": \"perhaps\"}'",
		"UPDATE session SET shape = '{\"peaks\": [3, \"x\"], \"of\": 99}'",
		"UPDATE session SET gaps = '{}'",
		"UPDATE session SET distortions = '[{\"kind\": 1}]'",
		"UPDATE session SET duration_ns = 'long'",
		"UPDATE cpu SET histogram = x'ffffffffffffffffffffffffffffffff'",
		"UPDATE cpu SET largest = x'ff'",
		"UPDATE cpu SET samples = -1",
		"UPDATE cpu SET cpu = 99999999999",
		"UPDATE cpu SET windows_merged = 4000",
		"DELETE FROM cpu WHERE position = 0",
		"UPDATE cpu SET position = 7 WHERE position = 1",
		"UPDATE window SET sum_ns = 'x'",
		"DROP TABLE window",
		"ALTER TABLE session RENAME COLUMN gaps TO holes",
	};
	struct place *place = *state;

	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		make_small_store(place->path);
		expect_damage(place->path, damages[i]);
	}
}

static void truncated_file(void **state)
{
	struct place *place = *state;
	struct stat st;

	make_small_store(place->path);
	assert_false(stat(place->path, &st));
	for (off_t size = st.st_size - 4096; size > 4096; size -= 4096) {
		make_small_store(place->path);
		assert_false(truncate(place->path, size));
		expect_damage(place->path, NULL);
	}
}

static void expect_load(struct store *store, const char *id, int err, const char *what)
{
	struct session *session = NULL;
	struct fail fail = { "" };
	int got = store_load(store, id, &session, &fail);

	if (got != -err || (err && !strstr(fail.text, what)))
		fail_msg("%s: %d: %s", id, got, fail.text);
	if (!err)
		assert_string_equal(session->id, what);
	session_free(session);
}

static void ids(void **state)
{
	static const char *const names[] = {
		"aaaa0000000000000000000000000001",
		"aaaa0000000000000000000000000002",
		"beef0000000000000000000000000003",
	};
	struct place *place = *state;
	struct store *store = open_store(place->path, STORE_WRITE);
	struct fail fail = { "" };

	expect_load(store, "last", ENODATA, "no sessions yet");
	for (size_t i = 0; i < 3; i++) {
		struct session *session = new_session(1);

		memcpy(session->id, names[i], sizeof(session->id));
		session->started_wall_ns -= (int64_t)i * WINDOW_NS; /* the clock was set back */
		must(store_begin(store, session, &fail), &fail);
		end_session(session);
		must(store_end(store, session, &fail), &fail);
		if (i == 2) /* the same id again is refused, and costs nothing */
			assert_int_not_equal(store_begin(store, session, &fail), 0);
		session_free(session);
	}
	expect_load(store, "last", 0, names[2]);
	expect_load(store, "last~0", 0, names[2]);
	expect_load(store, "last~2", 0, names[0]);
	expect_load(store, "last~3", EINVAL, "holds 3");
	expect_load(store, "last~99999999999999999999", EINVAL, "is no session");
	expect_load(store, "last~", EINVAL, "is no session");
	expect_load(store, "last~-1", EINVAL, "is no session");
	expect_load(store, "beef", 0, names[2]);
	expect_load(store, "BEEF0000", 0, names[2]);
	expect_load(store, names[0], 0, names[0]);
	expect_load(store, "aaaa", EINVAL, "fits several");
	expect_load(store, "bee", EINVAL, "too short");
	expect_load(store, "", EINVAL, "too short");
	expect_load(store, "dead", EINVAL, "no session dead");
	expect_load(store, "beef' OR 1 --", EINVAL, "is no session");
	expect_load(store, "aaaa00000000000000000000000000010", EINVAL, "is no session");
	store_close(store);
}

static void list_is_newest_first(void **state)
{
	struct place *place = *state;
	struct session_entry *entries;
	struct store *store;
	struct fail fail = { "" };
	size_t count;

	for (int i = 0; i < 5; i++)
		make_small_store(place->path);
	store = open_store(place->path, STORE_READ);
	must(store_list(store, 3, &entries, &count, &fail), &fail);
	assert_int_equal(count, 3);
	expect_load(store, "last", 0, entries[0].id);
	expect_load(store, "last~2", 0, entries[2].id);
	assert_string_equal(entries[0].kernel, "6.1.0-rt \"x\" µ");
	assert_string_equal(entries[0].cpus, "1,3");
	assert_string_equal(entries[0].goal, "industrial");
	assert_int_equal(entries[0].samples, 2 * 30 * WINDOW_SAMPLES);
	assert_true(entries[0].p99_ns > 0 && entries[0].p99_ns <= entries[0].max_ns);
	free(entries);
	must(store_list(store, 0, &entries, &count, &fail), &fail);
	assert_int_equal(count, 5);
	free(entries);
	store_close(store);
}

static void odd_names(void **state)
{
	static const char *const names[] = { ":memory:", "file:x?mode=memory", "a b%#?.db" };
	struct place *place = *state;
	char before[4096];

	assert_non_null(getcwd(before, sizeof(before)));
	assert_false(chdir(place->folder));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		make_small_store(names[i]);
		assert_false(access(names[i], F_OK));
		session_free(load(names[i], "last"));
	}
	assert_false(chdir(before));
	expect_refusal("", STORE_READ, EINVAL, "empty");
}

/* In a child that is not root: 0, or the number of what was wrong. */
static int look_for_places(const char *state_home)
{
	char folder[160], *path = NULL;
	struct stat st;

	setenv("XDG_STATE_HOME", state_home, 1);
	snprintf(folder, sizeof(folder), "%s/punctual", state_home);
	if (store_default_path(&path, STORE_READ, NULL) ||
	    !strstr(path, "/a/b/punctual/sessions.db"))
		return 2;
	if (!access(state_home, F_OK)) /* reading makes nothing */
		return 3;
	if (store_default_path(&path, STORE_WRITE, NULL))
		return 4;
	if (stat(folder, &st) || (st.st_mode & 07777) != 0700)
		return 5;
	rmdir(folder);
	rmdir(state_home);
	*strrchr(folder, '/') = '\0';
	*strrchr(folder, '/') = '\0';
	rmdir(folder);
	setenv("XDG_STATE_HOME", "relative", 1);
	setenv("HOME", "/proc", 1);
	if (store_default_path(&path, STORE_READ, NULL) ||
	    strcmp(path, "/proc/.local/state/punctual/sessions.db") != 0)
		return 6;
	if (!store_default_path(&path, STORE_WRITE, NULL))
		return 7;
	unsetenv("HOME");
	return store_default_path(&path, STORE_READ, NULL) == -ENOENT ? 0 : 8;
}

static void default_path(void **state)
{
	struct place *place = *state;
	char state_home[128];
	pid_t pid;

	snprintf(state_home, sizeof(state_home), "%s/a/b", place->folder);
	if (!geteuid())
		assert_false(chown(place->folder, 65534, 65534));
	pid = start_child();
	if (!pid) {
		if (!geteuid() && setresuid(65534, 65534, 65534))
			_exit(1);
		_exit(look_for_places(state_home));
	}
	assert_int_equal(wait_child(pid), 0);
}

static void largest_packed(void **state)
{
	static struct timed_latency left[LARGEST_MAX], right[LARGEST_MAX];
	struct largest *largest = calloc(1, sizeof(*largest)), *back = calloc(1, sizeof(*back));
	unsigned char *data = malloc(pack_largest_bound());
	size_t size = pack_largest_bound(), count;

	(void)state;
	assert_non_null(largest);
	assert_non_null(back);
	assert_non_null(data);
	largest_record(largest, INT64_MAX, INT64_MAX);
	for (int64_t i = 0; i < 3000; i++)
		largest_record(largest, i * 30000000, (int64_t)(scramble((uint64_t)i) >> 40));
	assert_false(pack_largest(largest, data, &size));
	assert_int_equal(unpack_largest(back, data, size), 0);
	count = largest_sorted(largest, left);
	assert_int_equal(largest_sorted(back, right), count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(left[i].time_ns, right[i].time_ns);
		assert_int_equal(left[i].latency_ns, right[i].latency_ns);
	}
	/* any piece of it is no list */
	for (size_t cut = 0; cut < size; cut += 7)
		assert_int_equal(unpack_largest(back, data, cut), -EBADMSG);
	free(largest);
	free(back);
	free(data);
}

/* Deflated lists that are wrong inside: too many, cut, with a tail, with numbers that never end or
 * times that leave the range. */
static void largest_not_unpacked(void **state)
{
	static const struct {
		unsigned char bytes[32];
		size_t size;
	} lists[] = {
		{ { 0 }, 0 },
		{ { 0x80 }, 1 },
		{ { 0x01 }, 1 },                   /* -1 of them */
		{ { 0x82, 0x80, 0x01 }, 3 },       /* 8,193 of them */
		{ { 0x02 }, 1 },                   /* one, which is missing */
		{ { 0x02, 0x02, 0x02, 0x00 }, 4 }, /* one and a tail */
		{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f }, 12 },
		{ { 0x04, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x02, 0x02,
		    0x02 },
		  14 },
	};
	struct largest *largest = calloc(1, sizeof(*largest));

	(void)state;
	assert_non_null(largest);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		unsigned char data[128];
		uLongf size = sizeof(data);

		assert_int_equal(compress(data, &size, lists[i].bytes, lists[i].size), Z_OK);
		assert_int_equal(unpack_largest(largest, data, size), -EBADMSG);
	}
	free(largest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(whole_session_comes_back),
		STORE_TEST(each_batch_can_be_read),
		STORE_TEST(histogram_ahead_of_windows),
		STORE_TEST(session_without_batches),
		STORE_TEST(foreign_files),
		STORE_TEST(newer_layout),
		STORE_TEST(damaged_rows),
		STORE_TEST(truncated_file),
		STORE_TEST(ids),
		STORE_TEST(list_is_newest_first),
		STORE_TEST(odd_names),
		STORE_TEST(default_path),
		cmocka_unit_test(largest_packed),
		cmocka_unit_test(largest_not_unpacked),
	};

	faulty_vfs_install();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

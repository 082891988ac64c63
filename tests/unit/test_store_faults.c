// SPDX-License-Identifier: GPL-2.0-or-later
/* What kill -9, failing writes, full and read-only disks and other writers may do to a store: the
 * batches that were written stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "store_fixture.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

static void killed_between_batches(void **state)
{
	struct place *place = *state;
	pid_t pid = start_child();
	struct session *loaded;

	if (!pid) {
		struct store *store = open_store(place->path, STORE_WRITE);
		struct session *session = new_session(2);

		if (store_begin(store, session, NULL))
			_exit(1);
		for (int i = 0; i < 3; i++) {
			add_windows(session, 5);
			if (store_batch(store, session, NULL))
				_exit(2);
		}
		add_windows(session, 5); /* the last seconds, which are lost */
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(wait_child(pid), -SIGKILL);
	loaded = load(place->path, "last");
	assert_false(loaded->complete);
	assert_int_equal(loaded->cpus[0].windows.count, 15);
	assert_int_equal(loaded->cpus[1].samples, 15 * WINDOW_SAMPLES);
	session_free(loaded);
}

/* Writes four batches of five windows; a note on the pipe after each, so that the parent knows what
 * must be there. */
static void write_noting(const char *path, int pipe)
{
	struct store *store;
	struct session *session = new_session(2);

	if (store_open(&store, path, STORE_WRITE, NULL) || store_begin(store, session, NULL))
		_exit(1);
	for (int i = 0; i < 4; i++) {
		if (i)
			add_windows(session, 5);
		if (store_batch(store, session, NULL) || write(pipe, "x", 1) != 1)
			_exit(1);
	}
	end_session(session);
	if (store_end(store, session, NULL))
		_exit(1);
	store_close(store);
	session_free(session);
	_exit(0);
}

static size_t run_noting(const char *path, int *status)
{
	char notes[16];
	ssize_t count;
	int ends[2];
	pid_t pid;

	assert_false(pipe(ends));
	pid = start_child();
	if (!pid) {
		close(ends[0]);
		write_noting(path, ends[1]);
	}
	close(ends[1]);
	*status = wait_child(pid);
	count = read(ends[0], notes, sizeof(notes));
	close(ends[0]);
	assert_true(count >= 0);
	return (size_t)count;
}

/* Whatever moment it was: the store opens, and holds the noted batches whole; the one that was on
 * its way is there wholly or not at all. */
static void check_left_behind(const char *path, size_t noted)
{
	struct store *store = NULL;
	struct session *session;
	struct fail fail = { "" };
	int err = store_open(&store, path, STORE_READ, &fail);
	size_t windows;

	if (err == -ENODATA && !noted)
		return; /* killed before the tables were made */
	must(err, &fail);
	err = store_load(store, "last", &session, &fail);
	store_close(store);
	if (err == -ENODATA && !noted)
		return; /* … or before the session was */
	must(err, &fail);
	windows = session->cpus[0].windows.count;
	assert_int_equal(windows % 5, 0);
	assert_true(windows >= 5 * (noted ? noted - 1 : 0));
	assert_true(windows <= 5 * noted);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(session->cpus[i].windows.count, windows);
		assert_int_equal(session->cpus[i].samples, windows * WINDOW_SAMPLES);
		assert_int_equal(session->cpus[i].histogram->count, windows * WINDOW_SAMPLES);
	}
	session_free(session);
}

static void kill_at_every_write(struct place *place)
{
	unsigned kills = 0;
	int status;

	do {
		size_t noted;

		empty_folder(place);
		fault_plan(FAULT_KILL, ++kills, 0);
		noted = run_noting(place->path, &status);
		fault_plan(FAULT_NONE, 0, 0);
		assert_true(status == 0 || status == -SIGKILL);
		check_left_behind(place->path, noted);
	} while (status);
	/* one for each write and sync of a whole run: many, or the fault does not reach the code */
	assert_true(kills > 40);
}

static void killed_at_every_write(void **state)
{
	kill_at_every_write(*state);
}

static void killed_where_there_is_no_log(void **state)
{
	faulty_vfs_shared_memory(false);
	kill_at_every_write(*state);
	faulty_vfs_shared_memory(true);
}

/* Fails the n-th change for every n; none may be taken for success, none may cost what was there.
 */
static void fail_every_write(struct place *place, enum fault_kind kind, int rc)
{
	unsigned faults = 0;
	bool hit;

	do {
		struct session *session = new_session(2);
		struct store *store = NULL;
		struct fail fail = { "" };
		size_t noted = 0;
		int err;

		empty_folder(place);
		fault_plan(kind, ++faults, rc);
		err = store_open(&store, place->path, STORE_WRITE, &fail);
		if (!err)
			err = store_begin(store, session, &fail);
		for (; !err && noted < 4; noted++) {
			if (noted)
				add_windows(session, 5);
			err = store_batch(store, session, &fail);
			if (err)
				break;
		}
		if (err) {
			assert_non_null(strstr(fail.text, place->path));
			if (err != (rc == SQLITE_FULL ? -ENOSPC : -EIO))
				fail_msg("%u %d: %s", faults, err, fail.text);
		}
		if (store)
			store_close(store);
		hit = fault.hit;
		fault_plan(FAULT_NONE, 0, 0);
		check_left_behind(place->path, noted);
		session_free(session);
	} while (hit);
	assert_true(faults > 20);
}

static void no_failing_write_costs_a_batch(void **state)
{
	fail_every_write(*state, FAULT_ONCE, SQLITE_IOERR_WRITE);
	fail_every_write(*state, FAULT_FOR_EVER, SQLITE_IOERR_FSYNC);
	fail_every_write(*state, FAULT_ONCE, SQLITE_FULL);
	fail_every_write(*state, FAULT_FOR_EVER, SQLITE_FULL);
}

/* Batches until one fails; exit status 0 when it failed as a full disk must. */
static void fill_up(const char *path)
{
	struct session *session = new_session(2);
	struct store *store = open_store(path, STORE_WRITE);
	struct fail fail = { "" };
	int err = store_begin(store, session, &fail);

	if (err)
		_exit(3);
	for (int i = 0; !err && i < 100000; i++) {
		add_windows(session, 1);
		err = store_batch(store, session, &fail);
	}
	store_close(store);
	if (err != -ENOSPC)
		fprintf(stderr, "# %s\n", fail.text);
	_exit(err == -ENOSPC && strstr(fail.text, path) && strstr(fail.text, "no room") ? 0 : 4);
}

static void too_large_a_file(void **state)
{
	struct place *place = *state;
	struct session *session = new_session(1), *loaded;
	struct store *store = open_store(place->path, STORE_WRITE);
	struct fail fail = { "" };
	pid_t pid;

	must(store_begin(store, session, &fail), &fail);
	end_session(session);
	must(store_end(store, session, &fail), &fail);
	store_close(store);
	pid = start_child();
	if (!pid) {
		struct rlimit limit = { 150000, 150000 };

		signal(SIGXFSZ, SIG_IGN);
		if (setrlimit(RLIMIT_FSIZE, &limit))
			_exit(5);
		fill_up(place->path);
	}
	assert_int_equal(wait_child(pid), 0);
	loaded = load(place->path, session->id);
	assert_same_session(session, loaded);
	session_free(loaded);
	loaded = load(place->path, "last");
	assert_string_not_equal(loaded->id, session->id);
	assert_true(loaded->cpus[0].windows.count > 0);
	session_free(loaded);
	session_free(session);
}

/* In a child with mounts of its own: 0, or 77 where that is not permitted. */
static int in_own_mounts(struct place *place, void body(struct place *place))
{
	pid_t pid = start_child();

	if (!pid) {
		if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount("tmpfs", place->folder, "tmpfs", 0, "size=256k"))
			_exit(77);
		body(place);
		_exit(0);
	}
	return wait_child(pid);
}

static void full_disk_body(struct place *place)
{
	pid_t pid = start_child();
	struct session *loaded;

	if (!pid)
		fill_up(place->path);
	if (wait_child(pid))
		_exit(1);
	loaded = load(place->path, "last");
	_exit(loaded->cpus[0].windows.count > 0 && loaded->all.samples ? 0 : 2);
}

static void full_disk(void **state)
{
	int status = in_own_mounts(*state, full_disk_body);

	if (status == 77)
		skip();
	assert_int_equal(status, 0);
}

static void make_read_only(struct place *place)
{
	if (mount(NULL, place->folder, NULL, MS_REMOUNT | MS_RDONLY, NULL))
		_exit(78);
}

static void read_only_body(struct place *place)
{
	struct session *session = new_session(2), *loaded;
	struct store *store = open_store(place->path, STORE_WRITE);
	struct fail fail = { "" };

	must(store_begin(store, session, &fail), &fail);
	add_windows(session, 4);
	must(store_batch(store, session, &fail), &fail);
	store_close(store);
	make_read_only(place);
	loaded = load(place->path, "last");
	if (loaded->cpus[0].windows.count != 4)
		_exit(1);
	if (store_open(&store, place->path, STORE_WRITE, &fail) != -EACCES ||
	    !strstr(fail.text, place->path))
		_exit(2);
}

static void read_only_file_system(void **state)
{
	int status = in_own_mounts(*state, read_only_body);

	if (status == 77)
		skip();
	assert_int_equal(status, 0);
}

/* Cut off, then put where nothing can be written: the batches that lie in the log beside the file
 * are read too, or it is said that they can't be; never is an older state shown for the last. */
static void read_only_cut_off_body(struct place *place)
{
	char log[128];
	pid_t pid = start_child();
	struct store *store = NULL;
	struct session *loaded;
	struct fail fail = { "" };
	int err;

	if (!pid) {
		struct session *session = new_session(1);

		store = open_store(place->path, STORE_WRITE);
		if (store_begin(store, session, NULL))
			_exit(1);
		add_windows(session, 4);
		if (store_batch(store, session, NULL))
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	if (wait_child(pid) != -SIGKILL)
		_exit(1);
	snprintf(log, sizeof(log), "%s-shm", place->path);
	if (unlink(log)) /* as when only the other two files were copied */
		_exit(2);
	make_read_only(place);
	err = store_open(&store, place->path, STORE_READ, &fail);
	if (err)
		_exit(err == -EACCES && strstr(fail.text, "-wal") ? 0 : 3);
	if (store_load(store, "last", &loaded, &fail))
		_exit(4);
	_exit(loaded->cpus[0].windows.count == 4 ? 0 : 5);
}

static void read_only_cut_off(void **state)
{
	int status = in_own_mounts(*state, read_only_cut_off_body);

	if (status == 77)
		skip();
	assert_int_equal(status, 0);
}

static void write_along(const char *path, int go)
{
	struct session *session = new_session(2);
	struct store *store;
	struct fail fail = { "" };
	char byte;
	int err;

	if (read(go, &byte, 1) < 0)
		_exit(2);
	err = store_open(&store, path, STORE_WRITE, &fail);
	if (!err)
		err = store_begin(store, session, &fail);
	for (int i = 0; !err && i < 30; i++) {
		add_windows(session, 2);
		err = store_batch(store, session, &fail);
	}
	if (!err) {
		end_session(session);
		err = store_end(store, session, &fail);
		store_close(store);
	}
	if (err)
		fprintf(stderr, "# writer: %s\n", fail.text);
	_exit(err != 0);
}

#define WRITERS 4

static void writers_share_a_new_store(void **state)
{
	struct place *place = *state;
	struct session_entry *entries;
	struct store *store;
	struct fail fail = { "" };
	pid_t pids[WRITERS];
	size_t count;
	int go[2];

	assert_false(pipe(go));
	for (int i = 0; i < WRITERS; i++) {
		pids[i] = start_child();
		if (!pids[i]) {
			close(go[1]);
			write_along(place->path, go[0]);
		}
	}
	close(go[1]); /* all start at once */
	close(go[0]);
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(wait_child(pids[i]), 0);
	store = open_store(place->path, STORE_READ);
	must(store_list(store, 0, &entries, &count, &fail), &fail);
	assert_int_equal(count, WRITERS);
	for (size_t i = 0; i < count; i++) {
		struct session *loaded;

		assert_true(entries[i].ended);
		must(store_load(store, entries[i].id, &loaded, &fail), &fail);
		assert_int_equal(loaded->cpus[0].windows.count, 60);
		assert_int_equal(loaded->cpus[1].samples, 60 * WINDOW_SAMPLES);
		session_free(loaded);
	}
	free(entries);
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(killed_between_batches),
		STORE_TEST(killed_at_every_write),
		STORE_TEST(killed_where_there_is_no_log),
		STORE_TEST(no_failing_write_costs_a_batch),
		STORE_TEST(too_large_a_file),
		STORE_TEST(full_disk),
		STORE_TEST(read_only_file_system),
		STORE_TEST(read_only_cut_off),
		STORE_TEST(writers_share_a_new_store),
	};

	faulty_vfs_install();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* The store: what is written comes back, and what kill -9, a full disk, failing writes, other
 * writers and foreign files may do to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "base/fail.h"
#include "base/sink.h"
#include "faulty_vfs.h"
#include "result/session.h"
#include "store/internal.h"
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a test works in: a folder of its own with a store in it. */
struct place {
	char folder[64];
	char path[96];
};

static int make_place(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	assert_non_null(place);
	strcpy(place->folder, "/tmp/punctual-store-XXXXXX");
	assert_non_null(mkdtemp(place->folder));
	snprintf(place->path, sizeof(place->path), "%s/sessions.db", place->folder);
	fault_plan(FAULT_NONE, 0, 0);
	*state = place;
	return 0;
}

static void empty_folder(const struct place *place)
{
	DIR *folder = opendir(place->folder);
	struct dirent *entry;

	assert_non_null(folder);
	while ((entry = readdir(folder))) {
		if (entry->d_name[0] != '.')
			assert_false(unlinkat(dirfd(folder), entry->d_name, 0));
	}
	closedir(folder);
}

static unsigned count_files(const struct place *place)
{
	DIR *folder = opendir(place->folder);
	struct dirent *entry;
	unsigned count = 0;

	assert_non_null(folder);
	while ((entry = readdir(folder)))
		count += entry->d_name[0] != '.';
	closedir(folder);
	return count;
}

static int remove_place(void **state)
{
	struct place *place = *state;

	fault_plan(FAULT_NONE, 0, 0);
	empty_folder(place);
	assert_false(rmdir(place->folder));
	free(place);
	return 0;
}

static struct store *open_store(const char *path, enum store_mode mode)
{
	struct fail fail = { "" };
	struct store *store = NULL;
	int err = store_open(&store, path, mode, &fail);

	if (err)
		fail_msg("store_open: %s", fail.text);
	return store;
}

static struct session *load(const char *path, const char *id)
{
	struct store *store = open_store(path, STORE_READ);
	struct session *session = NULL;
	struct fail fail = { "" };

	if (store_load(store, id, &session, &fail))
		fail_msg("store_load: %s", fail.text);
	store_close(store);
	return session;
}

/* A number that looks random and is the same at every run (splitmix64). */
static uint64_t scramble(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

#define WINDOW_SAMPLES 20
#define WINDOW_NS      INT64_C(1000000000)

static struct session *new_session(size_t cpus)
{
	struct session *session = session_new();
	struct fail fail = { "" };

	assert_non_null(session);
	assert_false(session_set_cpus(session, cpus));
	session->started_wall_ns = INT64_C(1764560000123456789);
	strcpy(session->settings.source, "timer");
	strcpy(session->settings.policy, "fifo");
	session->settings.priority = 95;
	session->settings.interval_ns = 1000000;
	session->settings.duration_ns = 60 * WINDOW_NS;
	session->settings.window_ns = WINDOW_NS;
	session->settings.pinned = true;
	for (size_t i = 0; i < cpus; i++) {
		session->cpus[i].cpu = (int)(2 * i + 1);
		cpuset_add(&session->settings.cpus, (int)(2 * i + 1));
	}
	assert_false(environment_text(&session->environment, "kernel_release", "6.1.0-rt \"x\" µ"));
	assert_false(
		environment_number(&session->environment, "temperature_before_mdeg.cpu", -40250));
	assert_false(environment_unknown(&session->environment, "governor", "no cpufreq"));
	assert_false(goals_parse(&session->goals, "industrial", &fail));
	return session;
}

static void add_sample(struct cpu_result *cpu, struct window *window, int64_t time, int64_t latency)
{
	if (!window->count || latency < window->min_ns)
		window->min_ns = latency;
	if (!window->count || latency > window->max_ns) {
		window->max_ns = latency;
		window->max_at_ns = time;
	}
	window->count++;
	window->sum_ns += (double)latency;
	window->sum_squares += (double)latency * (double)latency;
	histogram_record(cpu->histogram, latency, 1);
	if (cpu->largest)
		largest_record(cpu->largest, time, latency);
}

static void add_to_cpu(struct cpu_result *cpu, const struct window *window)
{
	if (!cpu->samples || window->min_ns < cpu->min_ns)
		cpu->min_ns = window->min_ns;
	if (!cpu->samples || window->max_ns > cpu->max_ns) {
		cpu->max_ns = window->max_ns;
		cpu->max_at_ns = window->max_at_ns;
	}
	cpu->samples += window->count;
	cpu->missed += window->missed;
	moments_add_sums(&cpu->moments, window->count, window->sum_ns, window->sum_squares);
}

/* COUNT more windows for each CPU, as a run would add them. */
static void add_windows(struct session *session, unsigned count)
{
	for (unsigned n = 0; n < count; n++) {
		for (size_t i = 0; i < session->cpu_count; i++) {
			struct cpu_result *cpu = &session->cpus[i];
			struct window window = {
				.start_ns = session->duration_ns,
				.length_ns = WINDOW_NS,
				.missed = n % 7 == 3,
				.moves = -1,
				.faults = n % 5,
				.switches = 2,
				.steal_ns = -1,
			};

			for (int64_t j = 0; j < WINDOW_SAMPLES; j++) {
				int64_t time = window.start_ns + j * (WINDOW_NS / WINDOW_SAMPLES);

				add_sample(cpu, &window, time,
					   1500 + (int64_t)(scramble((uint64_t)time + i) % 90000));
			}
			add_to_cpu(cpu, &window);
			assert_false(windows_add(&cpu->windows, &window));
		}
		session->duration_ns += WINDOW_NS;
	}
}

static void end_session(struct session *session)
{
	session->complete = true;
	for (size_t i = 0; i < session->cpu_count; i++) {
		session->cpus[i].end = i ? CPU_END_OFFLINE : CPU_END_DONE;
		session->cpus[i].early = i;
		if (session->cpus[i].largest)
			largest_compact(session->cpus[i].largest);
		assert_false(windows_finish(&session->cpus[i].windows));
	}
	session->gaps[session->gap_count++] = (struct gap){ 5 * WINDOW_NS, 17, "suspended" };
	assert_false(session_distortion(session, "kind-of-a-later-version", "100 %% \"new\""));
	assert_false(
		environment_number(&session->environment, "temperature_after_mdeg.cpu", 51000));
	assert_false(session_conclude(session));
}

static void keep_largest(struct session *session)
{
	for (size_t i = 0; i < session->cpu_count; i++) {
		session->cpus[i].largest = calloc(1, sizeof(struct largest));
		assert_non_null(session->cpus[i].largest);
	}
}

static char *as_json(const struct session *session)
{
	struct strbuf buf = STRBUF_INIT;

	session_json(session, &buf.sink);
	assert_false(buf.sink.error);
	return buf.text;
}

static void assert_same_session(const struct session *a, const struct session *b)
{
	char *left = as_json(a), *right = as_json(b);

	assert_string_equal(left, right);
	free(left);
	free(right);
	for (size_t i = 0; i < a->cpu_count; i++) {
		const struct windows *x = &a->cpus[i].windows, *y = &b->cpus[i].windows;

		assert_int_equal(x->merged, y->merged);
		assert_int_equal(x->count, y->count);
		for (size_t j = 0; j < x->count; j++) {
			/* JSON has rounded means; the sums must be the very same */
			assert_true(x->items[j].sum_ns == y->items[j].sum_ns);
			assert_true(x->items[j].sum_squares == y->items[j].sum_squares);
		}
		assert_true(a->cpus[i].moments.m2 == b->cpus[i].moments.m2);
		assert_int_equal(a->cpus[i].histogram->count, b->cpus[i].histogram->count);
		assert_int_equal(a->cpus[i].histogram->min, b->cpus[i].histogram->min);
		assert_int_equal(a->cpus[i].histogram->max, b->cpus[i].histogram->max);
	}
}

static void must(int err, const struct fail *fail)
{
	if (err)
		fail_msg("%d: %s", err, fail->text);
}

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

static pid_t start_child(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	return pid;
}

/* How the child ended: its exit status, or minus the signal. */
static int wait_child(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

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

static void killed_at_every_write(void **state)
{
	struct place *place = *state;
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

		strcpy(session->id, names[i]);
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
	if (store_default_path(&path, STORE_READ, NULL) || !strstr(path, "/a/b/punctual/sessions.db"))
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
	struct largest *largest = calloc(1, sizeof(*largest)), *back = calloc(1, sizeof(*back));
	static struct timed_latency left[LARGEST_MAX], right[LARGEST_MAX];
	static unsigned char data[PACK_LARGEST_MAX];
	size_t size, count;

	(void)state;
	assert_non_null(largest);
	assert_non_null(back);
	largest_record(largest, INT64_MAX, INT64_MAX);
	largest_record(largest, 0, 0);
	largest_record(largest, 5, -1);
	for (int64_t i = 0; i < 3000; i++)
		largest_record(largest, i * 30000000, (int64_t)(scramble((uint64_t)i) >> 40));
	largest_compact(largest);
	size = pack_largest(largest, data);
	assert_true(size <= sizeof(data));
	assert_int_equal(unpack_largest(back, data, size), 0);
	assert_int_equal(back->count, largest->count);
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
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(whole_session_comes_back),
		STORE_TEST(each_batch_can_be_read),
		STORE_TEST(histogram_ahead_of_windows),
		STORE_TEST(session_without_batches),
		STORE_TEST(killed_between_batches),
		STORE_TEST(killed_at_every_write),
		STORE_TEST(no_failing_write_costs_a_batch),
		STORE_TEST(too_large_a_file),
		STORE_TEST(full_disk),
		STORE_TEST(read_only_file_system),
		STORE_TEST(read_only_cut_off),
		STORE_TEST(writers_share_a_new_store),
		STORE_TEST(foreign_files),
		STORE_TEST(newer_layout),
		STORE_TEST(damaged_rows),
		STORE_TEST(truncated_file),
		STORE_TEST(ids),
		STORE_TEST(list_is_newest_first),
		STORE_TEST(odd_names),
		STORE_TEST(default_path),
		cmocka_unit_test(largest_packed),
	};

	faulty_vfs_install();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

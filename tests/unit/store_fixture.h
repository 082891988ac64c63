/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of the store share: a folder of their own, sessions that look like measured ones,
 * and children that may die. Included after cmocka.h. */
#pragma once

#include "base/fail.h"
#include "base/sink.h"
#include "faulty_vfs.h"
#include "result/session.h"
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define HELPER static __attribute__((unused))

/* What a test works in: a folder of its own with a store in it. */
struct place {
	char folder[64];
	char path[96];
};

HELPER int make_place(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	assert_non_null(place);
	/* in memory where that can be had: thousands of syncs to a busy disk take their time */
	snprintf(place->folder, sizeof(place->folder), "/dev/shm/punctual-store-XXXXXX");
	if (!mkdtemp(place->folder)) {
		snprintf(place->folder, sizeof(place->folder), "/tmp/punctual-store-XXXXXX");
		assert_non_null(mkdtemp(place->folder));
	}
	snprintf(place->path, sizeof(place->path), "%s/sessions.db", place->folder);
	fault_plan(FAULT_NONE, 0, 0);
	*state = place;
	return 0;
}

HELPER void empty_folder(const struct place *place)
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

HELPER unsigned count_files(const struct place *place)
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

HELPER int remove_place(void **state)
{
	struct place *place = *state;

	fault_plan(FAULT_NONE, 0, 0);
	empty_folder(place);
	assert_false(rmdir(place->folder));
	free(place);
	return 0;
}

HELPER struct store *open_store(const char *path, enum store_mode mode)
{
	struct fail fail = { "" };
	struct store *store = NULL;
	int err = store_open(&store, path, mode, &fail);

	if (err)
		fail_msg("store_open: %s", fail.text);
	return store;
}

HELPER struct session *load(const char *path, const char *id)
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
HELPER uint64_t scramble(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

#define WINDOW_SAMPLES 20

#define WINDOW_NS INT64_C(1000000000)

HELPER struct session *new_session(size_t cpus)
{
	struct session *session = session_new();
	struct fail fail = { "" };

	assert_non_null(session);
	assert_false(session_set_cpus(session, cpus));
	session->started_wall_ns = INT64_C(1764560000123456789);
	memcpy(session->settings.source, "timer", sizeof("timer"));
	memcpy(session->settings.policy, "fifo", sizeof("fifo"));
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

HELPER void add_sample(struct cpu_result *cpu, struct window *window, int64_t time, int64_t latency)
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

HELPER void add_to_cpu(struct cpu_result *cpu, const struct window *window)
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
HELPER void add_windows(struct session *session, unsigned count)
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

HELPER void end_session(struct session *session)
{
	session->complete = true;
	for (size_t i = 0; i < session->cpu_count; i++) {
		session->cpus[i].end = i ? CPU_END_OFFLINE : CPU_END_DONE;
		session->cpus[i].early = i;
		assert_false(windows_finish(&session->cpus[i].windows));
	}
	session->gaps[session->gap_count++] = (struct gap){ 5 * WINDOW_NS, 17, "suspended" };
	assert_false(session_distortion(session, "kind-of-a-later-version", "100 %% \"new\""));
	assert_false(
		environment_number(&session->environment, "temperature_after_mdeg.cpu", 51000));
	assert_false(session_conclude(session));
}

HELPER void keep_largest(struct session *session)
{
	for (size_t i = 0; i < session->cpu_count; i++) {
		session->cpus[i].largest = calloc(1, sizeof(struct largest));
		assert_non_null(session->cpus[i].largest);
	}
}

HELPER char *as_json(const struct session *session)
{
	struct strbuf buf = STRBUF_INIT;

	session_json(session, &buf.sink);
	assert_false(buf.sink.error);
	return buf.text;
}

HELPER void assert_same_session(const struct session *a, const struct session *b)
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

HELPER void must(int err, const struct fail *fail)
{
	if (err)
		fail_msg("%d: %s", err, fail->text);
}

HELPER pid_t start_child(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	return pid;
}

/* How the child ended: its exit status, or minus the signal. */
HELPER int wait_child(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)

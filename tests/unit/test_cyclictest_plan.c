// SPDX-License-Identifier: GPL-2.0-or-later
/* cyclictest's options and the threads that follow from them, on a board with holes: CPUs 0-7
 * present, 2 and 3 off line, 9 after a gap; two NUMA nodes. */
#include "base/fail.h"
#include "cmd/command.h"
#include "cmd/cyclictest_options.h"
#include "sys/root.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define WORDS_MAX 16

/* The program's table; remarks need a name alone. */
const struct command *const commands[] = { NULL };

struct board {
	char path[64];
	struct root *root;
};

static void make_file(const char *top, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", top, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void make_folder(const char *top, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		assert_true(!mkdir(path, 0755) || errno == EEXIST);
		*slash = '/';
	}
	assert_int_equal(mkdir(path, 0755), 0);
}

static int make_board(void **state)
{
	struct board *board = calloc(1, sizeof(*board));
	struct fail fail = { "" };

	assert_non_null(board);
	snprintf(board->path, sizeof(board->path), "/tmp/test-plan-XXXXXX");
	assert_non_null(mkdtemp(board->path));
	make_folder(board->path, "sys/devices/system/cpu/cpu4/node0");
	make_folder(board->path, "sys/devices/system/cpu/cpu9/node1");
	make_file(board->path, "sys/devices/system/cpu/present", "0-7,9\n");
	make_file(board->path, "sys/devices/system/cpu/possible", "0-15\n");
	make_file(board->path, "sys/devices/system/cpu/online", "0-1,4-7,9\n");
	assert_int_equal(root_open(&board->root, board->path, &fail), 0);
	*state = board;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	return remove(path);
}

static int remove_board(void **state)
{
	struct board *board = *state;

	root_close(board->root);
	nftw(board->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(board);
	return 0;
}

/* Parses LINE, words between blanks, as the command would. */
static int parse(const char *line, struct cyclictest_options *options, struct fail *fail)
{
	static char words[512];
	char *argv[WORDS_MAX], *save;
	int argc = 0, positionals = 0, err;

	*options = cyclictest_defaults;
	snprintf(words, sizeof(words), "%s", line);
	for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		assert_true(argc < WORDS_MAX);
		argv[argc++] = word;
	}
	err = options_parse(cyclictest_options_table, OPTIONS_ABBREVIATE, argc, argv, options,
			    &positionals, fail);
	return err ? err : positionals ? -E2BIG : 0;
}

static void plan_line(const struct board *board, const char *line, struct cyclictest_plan *plan)
{
	struct cyclictest_options options;
	struct fail fail = { "" };

	if (parse(line, &options, &fail) || cyclictest_plan(plan, &options, board->root, &fail))
		fail_msg("%s: %s", line, fail.text);
}

static void threads_go_round_the_chosen_cpus(void **state)
{
	static const struct {
		const char *line;
		size_t count;
		int cpus[8];
	} cases[] = {
		{ "-a 0-1,4 -t5", 5, { 0, 1, 4, 0, 1 } },
		{ "-a 4-6,9 -t 4", 4, { 4, 5, 6, 9 } },
		{ "--affinity=9 --threads=2", 2, { 9, 9 } },
		{ "-a!0-1 -t", 5, { 4, 5, 6, 7, 9 } },
		{ "-t -a 1,9", 2, { 1, 9 } },
		{ "-a 6 -i 500", 1, { 6 } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cyclictest_plan plan;

		plan_line(*state, cases[i].line, &plan);
		assert_int_equal(plan.run.threads, cases[i].count);
		for (size_t j = 0; j < cases[i].count; j++) {
			assert_int_equal(plan.cpus[j], cases[i].cpus[j]);
			assert_false(cpuset_has(&plan.main, plan.cpus[j]));
		}
		cyclictest_plan_free(&plan);
	}
}

static void nodes_are_read(void **state)
{
	struct cyclictest_plan plan;

	plan_line(*state, "-a 4,5,9 -t3", &plan);
	assert_int_equal(plan.nodes[0], 0);
	assert_int_equal(plan.nodes[1], -1);
	assert_int_equal(plan.nodes[2], 1);
	cyclictest_plan_free(&plan);
}

static void wrong_cpus_are_named(void **state)
{
	static const struct {
		const char *line, *says;
	} cases[] = {
		{ "-a 2", "CPU 2 is off line" },
		{ "-a 0-4", "CPU 2 is off line" },
		{ "-a 8", "there is no CPU 8" },
		{ "-a 12", "there is no CPU 12" },
		{ "-a !0-9", "names no CPU" },
		{ "--affinity=x", "x" },
		{ "-a 4 --mainaffinity 3", "CPU 3 is off line" },
	};
	const struct board *board = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cyclictest_options options;
		struct cyclictest_plan plan = { 0 };
		struct fail fail = { "" };
		char line[64];
		int err;

		/* "!" begins no number, so it must be attached */
		snprintf(line, sizeof(line), "%s", cases[i].line);
		if (!strncmp(line, "-a !", 4))
			memmove(line + 2, line + 3, strlen(line + 3) + 1);
		assert_int_equal(parse(line, &options, &fail), 0);
		err = cyclictest_plan(&plan, &options, board->root, &fail);
		if (err != -EINVAL || !strstr(fail.text, cases[i].says))
			fail_msg("%s gives %d, \"%s\"", line, err, fail.text);
		cyclictest_plan_free(&plan);
	}
}

static void intervals_and_offsets(void **state)
{
	struct cyclictest_plan plan;

	plan_line(*state, "-a 0 -t3 -i 200 -d 10", &plan);
	assert_int_equal(plan.intervals_ns[2], 220000);
	assert_null(plan.run.offsets_ns);
	assert_int_equal(plan.run.align_ns, -1);
	cyclictest_plan_free(&plan);
	plan_line(*state, "-a 0 -t3 -h 100", &plan);
	assert_int_equal(plan.intervals_ns[2], 1000000);
	assert_int_equal(plan.run.buckets, 100);
	cyclictest_plan_free(&plan);
	plan_line(*state, "-a 0 -t3 -A 30", &plan);
	assert_int_equal(plan.run.offsets_ns[2], 60000);
	assert_int_equal(plan.run.align_ns, -1);
	cyclictest_plan_free(&plan);
	plan_line(*state, "-a 0 -t3 --secaligned=30 -h 2000000", &plan);
	assert_int_equal(plan.run.offsets_ns[2], 0);
	assert_int_equal(plan.run.align_ns, 30000);
	assert_int_equal(plan.run.buckets, 1000000);
	cyclictest_plan_free(&plan);
}

static void priorities_and_policies(void **state)
{
	static const struct {
		const char *line, *shown, *runs;
		int first, last;
		bool fell_back;
	} cases[] = {
		{ "-a 0 -t3", "other", "other", 0, 0, true },
		{ "-a 0 -t3 -p 80", "fifo", "fifo", 80, 80, false },
		{ "-a 0 -t3 -p 80 --priospread", "fifo", "fifo", 80, 78, false },
		{ "-a 0 -t3 --priospread", "fifo", "fifo", 4, 2, false },
		{ "-a 0 -t3 --policy rr", "rr", "rr", 4, 4, false },
		{ "-a 0 -t3 --policy rr -p 9", "rr", "rr", 9, 9, false },
		{ "-a 0 -t3 --policy batch", "batch", "other", 0, 0, true },
		{ "-a 0 -t3 --policy normal", "other", "other", 0, 0, true },
		{ "-a 0 -t3 --policy idle -p 7", "fifo", "fifo", 7, 7, false },
		{ "-a 0 -t3 -p 99", "fifo", "fifo", 99, 99, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cyclictest_plan plan;

		plan_line(*state, cases[i].line, &plan);
		assert_string_equal(plan.policy_shown, cases[i].shown);
		assert_string_equal(plan.run.policy, cases[i].runs);
		assert_int_equal(plan.priorities[0], cases[i].first);
		assert_int_equal(plan.priorities[2], cases[i].last);
		assert_int_equal(plan.fell_back, cases[i].fell_back);
		cyclictest_plan_free(&plan);
	}
}

static void times_are_as_in_the_original(void **state)
{
	static const struct {
		const char *line;
		int64_t seconds; /* -1: refused */
	} cases[] = {
		{ "-D 10", 10 },
		{ "-D10s", 10 },
		{ "-D 5m", 300 },
		{ "-D2H", 7200 },
		{ "--duration=1d", 86400 },
		{ "-D 0", 0 },
		{ "-D 500ms", -1 },
		{ "-D 1m30s", -1 },
		{ "-D m", -1 },
		{ "-D -1", -1 },
		{ "-D 1.5h", -1 },
		{ "-D 1001d", -1 },
		{ "-D 9223372036d", -1 },
		{ "-D 10x", -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cyclictest_options options;
		struct fail fail = { "" };
		int err = parse(cases[i].line, &options, &fail);

		if (cases[i].seconds < 0)
			assert_int_equal(err, -EINVAL);
		else
			assert_int_equal(err, 0);
		if (!err)
			assert_int_equal(options.duration_ns, cases[i].seconds * 1000000000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_go_round_the_chosen_cpus),
		cmocka_unit_test(nodes_are_read),
		cmocka_unit_test(wrong_cpus_are_named),
		cmocka_unit_test(intervals_and_offsets),
		cmocka_unit_test(priorities_and_policies),
		cmocka_unit_test(times_are_as_in_the_original),
	};

	return cmocka_run_group_tests(tests, make_board, remove_board);
}

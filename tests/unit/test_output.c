// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/output.h"

#include "base/fail.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct place {
	char dir[64], path[96];
};

static int setup(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	assert_non_null(place);
	snprintf(place->dir, sizeof(place->dir), "/tmp/test_output.XXXXXX");
	assert_non_null(mkdtemp(place->dir));
	snprintf(place->path, sizeof(place->path), "%s/result", place->dir);
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct place *place = *state;

	unlink(place->path);
	assert_int_equal(rmdir(place->dir), 0); /* nothing temporary may be left */
	free(place);
	return 0;
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void expect_file(const char *path, const char *text, size_t size)
{
	char *buf = malloc(size + 2);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_non_null(buf);
	assert_int_equal(read(fd, buf, size + 2), size);
	assert_memory_equal(buf, text, size);
	close(fd);
	free(buf);
}

static void test_replaces_whole(void **state)
{
	struct place *place = *state;
	struct output out;
	struct fail fail;
	struct stat st;
	mode_t mask = umask(027);

	write_file(place->path, "old");
	assert_int_equal(output_open(&out, place->path, &fail), 0);
	sink_text(&out.sink, "new text");
	output_flush(&out);
	expect_file(place->path, "old", 3);
	assert_int_equal(output_close(&out, &fail), 0);
	expect_file(place->path, "new text", 8);
	assert_int_equal(stat(place->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600); /* what stood there was private */
	assert_int_equal(unlink(place->path), 0);
	assert_int_equal(output_open(&out, place->path, &fail), 0);
	assert_int_equal(output_close(&out, &fail), 0);
	assert_int_equal(stat(place->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640); /* a new one goes by the umask */
	umask(mask);
}

static void test_abandon_keeps_old(void **state)
{
	struct place *place = *state;
	struct output out;
	struct fail fail;

	write_file(place->path, "old");
	assert_int_equal(output_open(&out, place->path, &fail), 0);
	sink_text(&out.sink, "new");
	output_abandon(&out);
	expect_file(place->path, "old", 3);
}

/* Texts around the buffer's size, in pieces of many sizes. */
static void test_sizes(void **state)
{
	static const size_t pieces[] = { 1, 7, 512, 8191, 8192, 8193, 30000 };
	struct place *place = *state;
	char *text = malloc(100000);

	assert_non_null(text);
	for (size_t i = 0; i < 100000; i++)
		text[i] = (char)('a' + i % 26);
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct output out;
		struct fail fail;

		assert_int_equal(output_open(&out, place->path, &fail), 0);
		for (size_t at = 0; at < 100000; at += pieces[i])
			sink_write(&out.sink, text + at,
				   at + pieces[i] > 100000 ? 100000 - at : pieces[i]);
		assert_int_equal(output_close(&out, &fail), 0);
		expect_file(place->path, text, 100000);
	}
	free(text);
}

static void test_special_file(void **state)
{
	struct output out;
	struct fail fail = { "" };

	(void)state;
	assert_int_equal(output_open(&out, "/dev/null", &fail), 0);
	sink_text(&out.sink, "x");
	assert_int_equal(output_close(&out, &fail), 0);
	assert_int_equal(access("/dev/null", W_OK), 0);
	assert_int_equal(output_open(&out, "/dev/full", &fail), 0);
	sink_text(&out.sink, "x");
	assert_int_equal(output_close(&out, &fail), -ENOSPC);
	assert_non_null(strstr(fail.text, "/dev/full"));
}

static void test_cannot_open(void **state)
{
	struct place *place = *state;
	struct fail fail = { "" };
	struct output out;
	char path[128];

	snprintf(path, sizeof(path), "%s/missing/result", place->dir);
	assert_int_equal(output_open(&out, path, &fail), -ENOENT);
	assert_non_null(strstr(fail.text, path));
	assert_true(output_open(&out, place->dir, &fail) < 0);
}

/* A full disk, played by the limit on a file's size: the former contents stay. */
static void test_no_space_keeps_old(void **state)
{
	struct place *place = *state;
	struct rlimit limit, narrow;
	struct fail fail = { "" };
	struct output out;

	write_file(place->path, "old");
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	narrow = limit;
	narrow.rlim_cur = 10000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &narrow), 0);
	assert_int_equal(output_open(&out, place->path, &fail), 0);
	sink_fill(&out.sink, 'x', 50000);
	assert_int_equal(output_close(&out, &fail), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_non_null(strstr(fail.text, place->path));
	expect_file(place->path, "old", 3);
}

/* Standard output is borrowed for a while: cmocka writes there too. */
static int stdout_status(int replacement)
{
	struct fail fail = { "" };
	struct output out;
	int saved, err;

	fflush(stdout);
	saved = dup(STDOUT_FILENO);
	assert_true(saved >= 0);
	assert_int_equal(dup2(replacement, STDOUT_FILENO), STDOUT_FILENO);
	err = output_open(&out, NULL, &fail);
	sink_text(&out.sink, "x");
	if (!err)
		err = output_close(&out, &fail);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	return err;
}

static void test_reader_gone(void **state)
{
	int ends[2];

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(stdout_status(ends[1]), 0);
	close(ends[0]);
	assert_int_equal(stdout_status(ends[1]), -EPIPE);
	close(ends[1]);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_PLACE(test_replaces_whole),
		IN_PLACE(test_abandon_keeps_old),
		IN_PLACE(test_sizes),
		cmocka_unit_test(test_special_file),
		IN_PLACE(test_cannot_open),
		IN_PLACE(test_no_space_keeps_old),
		cmocka_unit_test(test_reader_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

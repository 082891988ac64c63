// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/sink.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Takes ROOM bytes, then fails; counts calls. */
struct narrow {
	struct sink sink;
	size_t room;
	int calls;
};

static int narrow_write(struct sink *sink, const char *data, size_t size)
{
	struct narrow *narrow = (struct narrow *)(void *)sink;

	(void)data;
	narrow->calls++;
	if (size > narrow->room)
		return -ENOSPC;
	narrow->room -= size;
	return 0;
}

static void test_first_error_sticks(void **state)
{
	struct narrow narrow = { .sink = { .write = narrow_write }, .room = 4 };

	(void)state;
	sink_text(&narrow.sink, "abcd");
	assert_int_equal(narrow.sink.error, 0);
	sink_text(&narrow.sink, "e");
	assert_int_equal(narrow.sink.error, -ENOSPC);
	narrow.room = 100;
	sink_printf(&narrow.sink, "%d", 1);
	sink_fill(&narrow.sink, 'x', 200);
	assert_int_equal(narrow.sink.error, -ENOSPC);
	assert_int_equal(narrow.calls, 2);
}

static void test_empty_writes_nothing(void **state)
{
	struct narrow narrow = { .sink = { .write = narrow_write } };

	(void)state;
	sink_text(&narrow.sink, "");
	sink_printf(&narrow.sink, "%s", "");
	sink_fill(&narrow.sink, ' ', 0);
	sink_write(&narrow.sink, "x", 0);
	assert_int_equal(narrow.calls, 0);
}

static void test_strbuf(void **state)
{
	struct strbuf buf = STRBUF_INIT;

	(void)state;
	assert_null(buf.text);
	sink_text(&buf.sink, "one");
	sink_printf(&buf.sink, " %d", 2);
	sink_fill(&buf.sink, '-', 3);
	sink_write(&buf.sink, "\0z", 2);
	assert_int_equal(buf.length, 10);
	assert_memory_equal(buf.text, "one 2---\0z", 11);
	strbuf_free(&buf);
	assert_null(buf.text);
	sink_text(&buf.sink, "again");
	assert_string_equal(buf.text, "again");
	strbuf_free(&buf);
	strbuf_free(NULL);
}

/* Texts around sink_printf's own buffer, and far beyond. */
static void test_long_printf(void **state)
{
	static const size_t sizes[] = { 510, 511, 512, 513, 100000 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct strbuf buf = STRBUF_INIT;
		char *text = malloc(sizes[i] + 1);

		assert_non_null(text);
		memset(text, 'a', sizes[i]);
		text[sizes[i]] = '\0';
		sink_printf(&buf.sink, "%s", text);
		assert_int_equal(buf.sink.error, 0);
		assert_int_equal(buf.length, sizes[i]);
		assert_string_equal(buf.text, text);
		strbuf_free(&buf);
		free(text);
	}
}

static void test_fill(void **state)
{
	struct strbuf buf = STRBUF_INIT;

	(void)state;
	sink_fill(&buf.sink, 'z', 1000);
	assert_int_equal(buf.length, 1000);
	assert_int_equal(strspn(buf.text, "z"), 1000);
	strbuf_free(&buf);
}

static void test_absurd_size(void **state)
{
	struct strbuf buf = STRBUF_INIT;

	(void)state;
	sink_text(&buf.sink, "kept");
	assert_int_equal(strbuf_write(&buf.sink, "x", SIZE_MAX - 2), -ENOMEM);
	assert_string_equal(buf.text, "kept");
	strbuf_free(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_error_sticks),
		cmocka_unit_test(test_empty_writes_nothing),
		cmocka_unit_test(test_strbuf),
		cmocka_unit_test(test_long_printf),
		cmocka_unit_test(test_fill),
		cmocka_unit_test(test_absurd_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

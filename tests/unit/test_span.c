// SPDX-License-Identifier: GPL-2.0-or-later
/* Spans over text that does not end in NUL: it is copied to the very end of a heap block, so that
 * the address sanitizer sees a look beyond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "base/span.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

/* A copy of TEXT with nothing behind it; free .at. */
static struct span bare(const char *text)
{
	size_t length = strlen(text);
	char *copy = malloc(length ? length : 1);

	assert_non_null(copy);
	memcpy(copy, text, length);
	return (struct span){ copy, length };
}

static void release(struct span span)
{
	free((void *)(uintptr_t)span.at);
}

typedef bool taker(struct span *rest, struct span *piece);

static bool until_colon(struct span *rest, struct span *piece)
{
	return span_until(rest, ':', piece);
}

/* All that TAKE takes off TEXT is PIECES, a list that ends in NULL; then nothing is left, twice. */
static void assert_pieces(taker *take, const char *text, const char *const *pieces)
{
	struct span whole = bare(text), rest = whole, piece;

	for (; *pieces; pieces++) {
		assert_true(take(&rest, &piece));
		if (!span_equal(piece, *pieces))
			fail_msg("'%s' gave '%.*s', not '%s'", text, (int)piece.length, piece.at,
				 *pieces);
		assert_true(piece.at >= whole.at);
		assert_true(piece.at + piece.length <= rest.at);
		assert_ptr_equal(rest.at + rest.length, whole.at + whole.length);
	}
	assert_false(take(&rest, &piece));
	assert_false(take(&rest, &piece));
	assert_int_equal(rest.length, 0);
	release(whole);
}

static void lines(void **state)
{
	(void)state;
	assert_pieces(span_line, "", (const char *[]){ NULL });
	assert_pieces(span_line, "\n", (const char *[]){ "", NULL });
	assert_pieces(span_line, "one", (const char *[]){ "one", NULL });
	assert_pieces(span_line, "one\n", (const char *[]){ "one", NULL });
	assert_pieces(span_line, "one\n\n two \r\n",
		      (const char *[]){ "one", "", " two \r", NULL });
}

static void pieces_between_separators(void **state)
{
	(void)state;
	assert_pieces(until_colon, "", (const char *[]){ NULL });
	assert_pieces(until_colon, "a:b", (const char *[]){ "a", "b", NULL });
	assert_pieces(until_colon, "::a\n", (const char *[]){ "", "", "a\n", NULL });
	/* as with lines, the last separator ends a piece and begins none */
	assert_pieces(until_colon, "a:", (const char *[]){ "a", NULL });
}

static void words(void **state)
{
	(void)state;
	assert_pieces(span_word, "", (const char *[]){ NULL });
	assert_pieces(span_word, " \t\n\v\f\r ", (const char *[]){ NULL });
	assert_pieces(span_word, "one", (const char *[]){ "one", NULL });
	assert_pieces(span_word, " one\ttwo\n3  ", (const char *[]){ "one", "two", "3", NULL });
	assert_pieces(span_word, "\x01 \xff\x80", (const char *[]){ "\x01", "\xff\x80", NULL });
}

static void nul_is_a_byte_like_any_other(void **state)
{
	struct span rest = { "a\0b \0\nc", 7 }, piece;

	(void)state;
	assert_true(span_line(&rest, &piece));
	assert_int_equal(piece.length, 5);
	assert_false(span_equal(piece, "a"));
	assert_true(span_has(piece, "b"));
	assert_true(span_word(&piece, &rest));
	assert_int_equal(rest.length, 3);
	assert_memory_equal(rest.at, "a\0b", 3);
}

static void trim(void **state)
{
	static const struct {
		const char *text, *trimmed;
	} rows[] = {
		{ "", "" },   { " ", "" },         { "\t\n\v\f\r ", "" },
		{ "a", "a" }, { " a b\n", "a b" }, { "\xa0 a", "\xa0 a" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct span span = bare(rows[i].text);

		assert_true(span_equal(span_trim(span), rows[i].trimmed));
		release(span);
	}
}

static void comparisons(void **state)
{
	struct span span = bare("cpu12"), empty = bare("");

	(void)state;
	assert_true(span_equal(span, "cpu12"));
	assert_false(span_equal(span, "cpu1"));
	assert_false(span_equal(span, "cpu123"));
	assert_false(span_equal(span, "Cpu12"));
	assert_false(span_equal(span, ""));
	assert_true(span_equal(empty, ""));

	assert_true(span_starts(span, ""));
	assert_true(span_starts(span, "cpu"));
	assert_true(span_starts(span, "cpu12"));
	assert_false(span_starts(span, "cpu123"));
	assert_false(span_starts(span, "pu"));
	assert_true(span_starts(empty, ""));
	assert_false(span_starts(empty, "c"));
	release(span);
	release(empty);
}

static void searches(void **state)
{
	struct span span = bare("aab-aab"), empty = bare(""), none = { NULL, 0 };

	(void)state;
	assert_ptr_equal(span_find(span, "aab"), span.at);
	assert_ptr_equal(span_find(span, "ab-"), span.at + 1);
	assert_ptr_equal(span_find(span, "b-aab"), span.at + 2);
	assert_null(span_find(span, "aab-aabb"));
	assert_null(span_find(span, "aaa"));
	assert_null(span_find(empty, "a"));
	assert_null(span_find(none, "a"));
	assert_true(span_has(span, "-"));
	assert_false(span_has(span, "+"));
	span.length = 3; /* what lies behind is not looked at */
	assert_false(span_has(span, "-"));
	release(span);
	release(empty);
}

static void unsigned_numbers(void **state)
{
	static const struct {
		const char *text;
		bool good;
		uint64_t value;
	} rows[] = {
		{ "0", true, 0 },
		{ "007", true, 7 },
		{ "18446744073709551615", true, UINT64_MAX },
		{ "018446744073709551615", true, UINT64_MAX },
		{ "18446744073709551616", false, 0 },
		{ "18446744073709551620", false, 0 },
		{ "99999999999999999999", false, 0 },
		{ "", false, 0 },
		{ " 1", false, 0 },
		{ "1\n", false, 0 },
		{ "+1", false, 0 },
		{ "-1", false, 0 },
		{ "0x1", false, 0 },
		{ "1a", false, 0 },
		{ "\xb1", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct span span = bare(rows[i].text);
		uint64_t value = 4711;

		if (span_u64(span, &value) != rows[i].good)
			fail_msg("'%s'", rows[i].text);
		assert_true(value == (rows[i].good ? rows[i].value : 4711));
		release(span);
	}
}

static void signed_numbers(void **state)
{
	static const struct {
		const char *text;
		bool good;
		int64_t value;
	} rows[] = {
		{ "0", true, 0 },
		{ "-0", true, 0 },
		{ "12", true, 12 },
		{ "-12", true, -12 },
		{ "9223372036854775807", true, INT64_MAX },
		{ "9223372036854775808", false, 0 },
		{ "-9223372036854775807", true, -INT64_MAX },
		{ "-9223372036854775808", true, INT64_MIN },
		{ "-9223372036854775809", false, 0 },
		{ "-18446744073709551616", false, 0 },
		{ "", false, 0 },
		{ "-", false, 0 },
		{ "--1", false, 0 },
		{ "+1", false, 0 },
		{ "- 1", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct span span = bare(rows[i].text);
		int64_t value = 4711;

		if (span_i64(span, &value) != rows[i].good)
			fail_msg("'%s'", rows[i].text);
		assert_true(value == (rows[i].good ? rows[i].value : 4711));
		release(span);
	}
}

static void hexadecimal_numbers(void **state)
{
	static const struct {
		const char *text;
		bool good;
		uint64_t value;
	} rows[] = {
		{ "0", true, 0 },
		{ "0x0", true, 0 },
		{ "1f", true, 31 },
		{ "0xDeadBeef", true, 0xdeadbeef },
		{ "ffffffffffffffff", true, UINT64_MAX },
		{ "0x0ffffffffffffffff", true, UINT64_MAX },
		{ "10000000000000000", false, 0 },
		{ "", false, 0 },
		{ "0x", false, 0 },
		{ "0x0x1", false, 0 },
		{ "0X1", false, 0 },
		{ "x1", false, 0 },
		{ "1g", false, 0 },
		{ "-1", false, 0 },
		{ "1,2", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct span span = bare(rows[i].text);
		uint64_t value = 4711;

		if (span_hex(span, &value) != rows[i].good)
			fail_msg("'%s'", rows[i].text);
		assert_true(value == (rows[i].good ? rows[i].value : 4711));
		release(span);
	}
}

static void copies_are_cut_and_end_in_nul(void **state)
{
	struct span span = bare("12345"), empty = bare("");
	char buf[7];

	(void)state;
	for (size_t size = 1; size <= sizeof(buf); size++) {
		memset(buf, '#', sizeof(buf));
		assert_ptr_equal(span_copy(span, buf, size), buf);
		assert_int_equal(strlen(buf), size > 5 ? 5 : size - 1);
		assert_memory_equal(buf, "12345", strlen(buf));
		for (size_t i = size; i < sizeof(buf); i++)
			assert_int_equal(buf[i], '#');
	}
	assert_string_equal(span_copy(empty, buf, sizeof(buf)), "");
	assert_string_equal(span_copy(span_of("whole"), buf, sizeof(buf)), "whole");
	release(span);
	release(empty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(pieces_between_separators),
		cmocka_unit_test(words),
		cmocka_unit_test(nul_is_a_byte_like_any_other),
		cmocka_unit_test(trim),
		cmocka_unit_test(comparisons),
		cmocka_unit_test(searches),
		cmocka_unit_test(unsigned_numbers),
		cmocka_unit_test(signed_numbers),
		cmocka_unit_test(hexadecimal_numbers),
		cmocka_unit_test(copies_are_cut_and_end_in_nul),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* The pool: what it gives is apart, zeroed and aligned, what is interned is there once, and running
 * out of memory sticks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "base/cpuset.h"
#include "base/pool.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 65536 /* as pool.c takes at once: tests go below, to and beyond it */

static const size_t sizes[] = { 0,   1,     15,        16,        17,        100,   4000,
				128, BLOCK, BLOCK / 4, BLOCK + 1, 3 * BLOCK, 16384, 16385 };

static bool all_are(const unsigned char *data, size_t size, unsigned char value)
{
	for (size_t i = 0; i < size; i++) {
		if (data[i] != value)
			return false;
	}
	return true;
}

/* Each piece is filled with its own number; none may have changed another, at the end. */
static void pieces_are_zeroed_aligned_and_apart(void **state)
{
	enum { PIECES = 500 };
	unsigned char *pieces[PIECES];
	struct pool pool = { 0 };

	(void)state;
	for (size_t i = 0; i < PIECES; i++) {
		size_t size = sizes[i % (sizeof(sizes) / sizeof(sizes[0]))];

		pieces[i] = pool_alloc(&pool, size);
		assert_non_null(pieces[i]);
		assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
		assert_true(all_are(pieces[i], size, 0));
		memset(pieces[i], (int)(i % 255 + 1), size);
	}
	for (size_t i = 0; i < PIECES; i++)
		assert_true(all_are(pieces[i], sizes[i % (sizeof(sizes) / sizeof(sizes[0]))],
				    (unsigned char)(i % 255 + 1)));
	assert_int_equal(pool.error, 0);
	pool_free(&pool);
}

/* Nothing, too, is a piece of its own. */
static void pieces_of_nothing_differ(void **state)
{
	struct pool pool = { 0 };

	(void)state;
	assert_ptr_not_equal(pool_alloc(&pool, 0), pool_alloc(&pool, 0));
	pool_free(&pool);
}

/* A large piece does not end the use of the block under way. */
static void large_piece_leaves_the_rest_in_use(void **state)
{
	struct pool pool = { 0 };
	char *before = pool_alloc(&pool, 16);

	(void)state;
	assert_non_null(pool_alloc(&pool, 2 * BLOCK));
	assert_ptr_equal(pool_alloc(&pool, 16), before + 16);
	pool_free(&pool);
}

static void arrays_grow_and_keep_their_elements(void **state)
{
	struct element {
		uint64_t number;
		char pad[33];
	} *array = NULL;
	struct pool pool = { 0 };
	size_t moves = 0;

	(void)state;
	for (size_t count = 0; count < 5000; count++) {
		struct element *grown = pool_grow(&pool, array, count, sizeof(*array));

		assert_non_null(grown);
		moves += grown != array;
		array = grown;
		assert_true(all_are((unsigned char *)&array[count], sizeof(*array), 0));
		memset(&array[count], 0xff, sizeof(*array));
		array[count].number = count;
	}
	for (size_t i = 0; i < 5000; i++)
		assert_int_equal(array[i].number, i);
	assert_int_equal(moves, 14); /* 1, 2, 4, … 8192 */
	pool_free(&pool);
}

static void same_bytes_are_the_same_pointer(void **state)
{
	enum { NUMBERS = 5000 }; /* the table is enlarged on the way */
	const void *first[NUMBERS];
	struct pool pool = { 0 };

	(void)state;
	for (uint32_t i = 0; i < NUMBERS; i++) {
		first[i] = pool_intern(&pool, &i, sizeof(i));
		assert_memory_equal(first[i], &i, sizeof(i));
		assert_ptr_not_equal(first[i], &i);
	}
	for (uint32_t i = 0; i < NUMBERS; i++) {
		uint32_t again = i;

		assert_ptr_equal(pool_intern(&pool, &again, sizeof(again)), first[i]);
		assert_int_equal(*(const uint32_t *)first[i], i);
	}
	pool_free(&pool);
}

/* Of each length, as hashing takes eight bytes at a step; only the last byte differs. */
static void other_bytes_are_another_pointer(void **state)
{
	unsigned char data[40] = { 0 };
	struct pool pool = { 0 };

	(void)state;
	for (size_t size = 1; size <= sizeof(data); size++) {
		const void *zero = pool_intern(&pool, data, size), *one;

		data[size - 1] = 1;
		one = pool_intern(&pool, data, size);
		data[size - 1] = 0;
		assert_ptr_not_equal(one, zero);
		/* the same beginning, one byte less */
		assert_ptr_not_equal(pool_intern(&pool, data, size - 1), zero);
		assert_ptr_equal(pool_intern(&pool, data, size), zero);
	}
	pool_free(&pool);
}

static void sets_are_there_once(void **state)
{
	struct cpuset a = { 0 }, b = { 0 };
	struct pool pool = { 0 };
	const struct cpuset *kept;

	(void)state;
	cpuset_add(&a, 0);
	cpuset_add(&a, CPUSET_MAX - 1);
	cpuset_add(&b, 0);
	kept = pool_set(&pool, &a);
	assert_true(cpuset_equal(kept, &a));
	assert_ptr_not_equal(pool_set(&pool, &b), kept);
	cpuset_add(&b, CPUSET_MAX - 1);
	assert_ptr_equal(pool_set(&pool, &b), kept);
	pool_free(&pool);
}

static void texts_become_one_clean_line(void **state)
{
	static const struct {
		const char *text, *clean;
	} rows[] = {
		{ "", NULL },
		{ " \t\r\n\v\f", NULL },
		{ "plain", "plain" },
		{ "  two \t\n words\n", "two words" },
		{ "\x1b[31mred\x7f", "?[31mred?" },
		{ "K\xc3\xbchler", "K??hler" },
		{ "a\x01\x02 \xff", "a?? ?" },
		{ "?", "?" },
	};
	struct pool pool = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *text = pool_text(&pool, rows[i].text, strlen(rows[i].text));

		if (rows[i].clean)
			assert_string_equal(text, rows[i].clean);
		else
			assert_null(text);
	}
	assert_ptr_equal(pool_text(&pool, "two words", 9), pool_text(&pool, " two\twords ", 11));
	/* NUL is a control character, and what lies behind LENGTH is none of ours */
	assert_string_equal(pool_text(&pool, "a\0b", 3), "a?b");
	assert_string_equal(pool_text(&pool, "abcdef", 2), "ab");
	assert_int_equal(pool.error, 0);
	pool_free(&pool);
}

/* Lengths around those that still fit on the stack. */
static void long_texts_stay_whole(void **state)
{
	struct pool pool = { 0 };
	char text[3000];

	(void)state;
	memset(text, 'x', sizeof(text));
	for (size_t length = 250; length < sizeof(text); length += length < 520 ? 1 : 500) {
		const char *kept = pool_text(&pool, text, length), *formatted;

		assert_int_equal(strlen(kept), length);
		assert_int_equal(strspn(kept, "x"), length);
		formatted = pool_format(&pool, "%.*s%c", (int)length - 1, text, 'x');
		assert_ptr_equal(formatted, kept);
	}
	pool_free(&pool);
}

static void formats_are_interned(void **state)
{
	struct pool pool = { 0 };
	const char *text = pool_format(&pool, "cpu%d: %s", 3, "idle");

	(void)state;
	assert_string_equal(text, "cpu3: idle");
	assert_ptr_equal(pool_format(&pool, "%s%d%s", "cpu", 3, ": idle"), text);
	assert_string_equal(pool_format(&pool, "%s", ""), "");
	pool_free(&pool);
}

/* Sizes that no memory has; the address sanitizer would otherwise make calloc fail by an abort. */
static void running_out_of_memory_sticks(void **state)
{
	char some[] = "some", *array = some;
	struct pool pool = { 0 };
	const void *kept = pool_intern(&pool, "kept", 5);

	(void)state;
	assert_null(pool_alloc(&pool, SIZE_MAX));
	assert_int_equal(pool.error, -ENOMEM);
	/* what is there stays, what still fits is given, and the error is not forgotten over it */
	assert_string_equal(kept, "kept");
	assert_ptr_equal(pool_intern(&pool, "kept", 5), kept);
	assert_non_null(pool_alloc(&pool, 1));
	assert_int_equal(pool.error, -ENOMEM);
	pool_free(&pool);
	assert_int_equal(pool.error, 0);

	assert_null(pool_grow(&pool, array, SIZE_MAX / 2 + 1, 16));
	assert_int_equal(pool.error, -ENOMEM);
	assert_string_equal(array, "some");
	pool_free(&pool);
	/* twice as many would overflow where as many do not */
	assert_null(pool_grow(&pool, array, SIZE_MAX / 4 + 1, 4));
	assert_int_equal(pool.error, -ENOMEM);
	pool_free(&pool);
}

static void freed_pool_can_be_used_again(void **state)
{
	struct pool pool = { 0 };

	(void)state;
	pool_free(&pool); /* an empty one, too */
	for (int i = 0; i < 3; i++) {
		assert_non_null(pool_alloc(&pool, 3 * BLOCK));
		assert_string_equal(pool_format(&pool, "round %d", 1), "round 1");
		pool_free(&pool);
		assert_null(pool.blocks);
		assert_int_equal(pool.entry_count, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_are_zeroed_aligned_and_apart),
		cmocka_unit_test(pieces_of_nothing_differ),
		cmocka_unit_test(large_piece_leaves_the_rest_in_use),
		cmocka_unit_test(arrays_grow_and_keep_their_elements),
		cmocka_unit_test(same_bytes_are_the_same_pointer),
		cmocka_unit_test(other_bytes_are_another_pointer),
		cmocka_unit_test(sets_are_there_once),
		cmocka_unit_test(texts_become_one_clean_line),
		cmocka_unit_test(long_texts_stay_whole),
		cmocka_unit_test(formats_are_interned),
		cmocka_unit_test(running_out_of_memory_sticks),
		cmocka_unit_test(freed_pool_can_be_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

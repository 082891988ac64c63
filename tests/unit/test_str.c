// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/str.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_u64(void **state)
{
	static const struct {
		const char *text;
		int err;
		uint64_t value;
	} rows[] = {
		{ "0", 0, 0 },
		{ "007", 0, 7 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "99999999999999999999999", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ " 1", -EINVAL, 0 },
		{ "1 ", -EINVAL, 0 },
		{ "+1", -EINVAL, 0 },
		{ "-1", -EINVAL, 0 },
		{ "0x10", -EINVAL, 0 },
		{ "1e3", -EINVAL, 0 },
		{ "1.0", -EINVAL, 0 },
		{ "\xb2", -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t value = 4711;

		assert_int_equal(str_u64(rows[i].text, &value), rows[i].err);
		assert_int_equal(value, rows[i].err ? 4711 : rows[i].value);
	}
}

static void test_i64(void **state)
{
	static const struct {
		const char *text;
		int err;
		int64_t value;
	} rows[] = {
		{ "-1", 0, -1 },
		{ "-0", 0, 0 },
		{ "9223372036854775807", 0, INT64_MAX },
		{ "-9223372036854775808", 0, INT64_MIN },
		{ "9223372036854775808", -ERANGE, 0 },
		{ "-9223372036854775809", -ERANGE, 0 },
		{ "-", -EINVAL, 0 },
		{ "--1", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t value = 4711;

		assert_int_equal(str_i64(rows[i].text, &value), rows[i].err);
		assert_true(value == (rows[i].err ? 4711 : rows[i].value));
	}
}

static void test_duration(void **state)
{
	static const struct {
		const char *text;
		int64_t bare;
		int err;
		int64_t ns;
	} rows[] = {
		{ "0", 0, 0, 0 },
		{ "1ns", 0, 0, 1 },
		{ "80us", 0, 0, 80000 },
		{ "80µs", 0, 0, 80000 },
		{ "1.5ms", 0, 0, 1500000 },
		{ "10s", 0, 0, 10000000000 },
		{ "5m", 0, 0, 300000000000 },
		{ "12h", 0, 0, 43200000000000 },
		{ "3d", 0, 0, 259200000000000 },
		{ "7", 1000, 0, 7000 },
		{ "2.5", 1000, 0, 2500 },
		{ "7", 0, -EINVAL, 0 },
		{ "0s", 0, 0, 0 },
		/* fractions of days stay exact; what is finer than a nanosecond is cut */
		{ "0.5d", 0, 0, 43200000000000 },
		{ "0.00000001d", 0, 0, 864000 },
		{ "1.9ns", 0, 0, 1 },
		{ "0.123456789s", 0, 0, 123456780 },
		{ "106751d", 0, 0, 9223286400000000000 },
		{ "106752d", 0, -ERANGE, 0 },
		{ "9223372036854775807ns", 0, 0, INT64_MAX },
		{ "9223372036854775808ns", 0, -ERANGE, 0 },
		{ "9223372036.99s", 0, -ERANGE, 0 },
		{ "", 0, -EINVAL, 0 },
		{ "s", 0, -EINVAL, 0 },
		{ ".5s", 0, -EINVAL, 0 },
		{ "1.s", 0, -EINVAL, 0 },
		{ "-1s", 0, -EINVAL, 0 },
		{ "+1s", 0, -EINVAL, 0 },
		{ " 1s", 0, -EINVAL, 0 },
		{ "1 s", 0, -EINVAL, 0 },
		{ "1S", 0, -EINVAL, 0 },
		{ "1sec", 0, -EINVAL, 0 },
		{ "1s1ms", 0, -EINVAL, 0 },
		{ "1e3s", 0, -EINVAL, 0 },
		{ "0x1s", 0, -EINVAL, 0 },
		{ "nan", 0, -EINVAL, 0 },
		{ "1.5.5s", 0, -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t ns = 4711;
		int err = str_duration(rows[i].text, rows[i].bare, &ns);

		if (err != rows[i].err || (!err && ns != rows[i].ns))
			fail_msg("'%s' gave %d and %" PRId64, rows[i].text, err, ns);
	}
}

static void test_from_duration(void **state)
{
	static const struct {
		int64_t ns;
		const char *text;
	} rows[] = {
		{ 0, "0" },
		{ 1, "1ns" },
		{ 999, "999ns" },
		{ 1000, "1us" },
		{ 1500, "1.5us" },
		{ 1001, "1.001us" },
		{ 90000, "90us" },
		{ 1000000, "1ms" },
		{ 1050000, "1.05ms" },
		{ 2500000000, "2.5s" },
		{ 60000000000, "1m" },
		{ 90000000000, "90s" },
		{ 600000000000, "10m" },
		{ 3600000000000, "1h" },
		{ 5400000000000, "90m" },
		{ 259200000000000, "3d" },
		{ -1500, "-1.5us" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char buf[32];

		assert_string_equal(str_from_duration(buf, sizeof(buf), rows[i].ns), rows[i].text);
	}
}

/* Whatever is written reads back as the same value, and fits the 32 bytes the header promises. */
static void test_duration_round_trip(void **state)
{
	static const int64_t bases[] = { 1,       10,          1000,          999999,
					 1000000, 60000000000, 3600000000000, 86400000000000 };
	char buf[64];
	int64_t back;

	(void)state;
	srandom(1);
	for (int i = 0; i < 20000; i++) {
		int64_t ns = bases[random() % 8] * (random() % 100000 + 1) + random() % 3;

		str_from_duration(buf, sizeof(buf), ns);
		assert_true(strlen(buf) < 32);
		if (str_duration(buf, 0, &back) || back != ns)
			fail_msg("%" PRId64 " was written as %s", ns, buf);
	}
	assert_true(strlen(str_from_duration(buf, sizeof(buf), INT64_MIN)) < 32);
	assert_true(strlen(str_from_duration(buf, sizeof(buf), INT64_MAX)) < 32);
}

/* The textbook recursion, to hold the table form against. */
static unsigned reference_distance(const char *a, size_t la, const char *b, size_t lb)
{
	unsigned best, other;

	if (!la || !lb)
		return (unsigned)(la + lb);
	best = reference_distance(a, la - 1, b, lb - 1) + (a[la - 1] != b[lb - 1]);
	other = reference_distance(a, la - 1, b, lb) + 1;
	best = other < best ? other : best;
	other = reference_distance(a, la, b, lb - 1) + 1;
	best = other < best ? other : best;
	if (la > 1 && lb > 1 && a[la - 1] == b[lb - 2] && a[la - 2] == b[lb - 1]) {
		other = reference_distance(a, la - 2, b, lb - 2) + 1;
		best = other < best ? other : best;
	}
	return best;
}

static void random_word(char *word, size_t size)
{
	size_t length = (size_t)random() % size;

	for (size_t i = 0; i < length; i++)
		word[i] = (char)('a' + random() % 3);
	word[length] = '\0';
}

static void test_distance(void **state)
{
	char a[7], b[7], far[200];

	(void)state;
	assert_int_equal(str_distance("", ""), 0);
	assert_int_equal(str_distance("", "abc"), 3);
	assert_int_equal(str_distance("measure", "meausre"), 1);
	assert_int_equal(str_distance("kitten", "sitting"), 3);
	srandom(2);
	for (int i = 0; i < 2000; i++) {
		random_word(a, sizeof(a));
		random_word(b, sizeof(b));
		assert_int_equal(str_distance(a, b),
				 reference_distance(a, strlen(a), b, strlen(b)));
	}
	memset(far, 'x', sizeof(far) - 1);
	far[sizeof(far) - 1] = '\0';
	assert_int_equal(str_distance(far, ""), 64);
}

static void test_nearest(void **state)
{
	static const char *const words[] = { "measure", "topology", "compare", "completion", NULL };

	(void)state;
	assert_string_equal(str_nearest("mesure", words), "measure");
	assert_string_equal(str_nearest("meausre", words), "measure");
	assert_string_equal(str_nearest("topo", words), "topology");
	assert_string_equal(str_nearest("comparee", words), "compare");
	assert_null(str_nearest("xyzzy", words));
	assert_null(str_nearest("", words));
	assert_null(str_nearest("measure", words + 4));
}

static void test_trim(void **state)
{
	char text[] = " \t a b \r\n", blank[] = " \n ", empty[] = "";

	(void)state;
	assert_string_equal(str_trim(text), "a b");
	assert_string_equal(str_trim(blank), "");
	assert_string_equal(str_trim(empty), "");
}

static void test_starts(void **state)
{
	(void)state;
	assert_true(str_starts("measure", "mea"));
	assert_true(str_starts("measure", ""));
	assert_true(str_starts("", ""));
	assert_false(str_starts("mea", "measure"));
	assert_false(str_starts("", "a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_u64),
		cmocka_unit_test(test_i64),
		cmocka_unit_test(test_duration),
		cmocka_unit_test(test_from_duration),
		cmocka_unit_test(test_duration_round_trip),
		cmocka_unit_test(test_distance),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_trim),
		cmocka_unit_test(test_starts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

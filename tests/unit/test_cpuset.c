// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/cpuset.h"

#include "base/fail.h"
#include "base/sink.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *written(const struct cpuset *set, char *buf, size_t size)
{
	return cpuset_text(set, buf, size);
}

/* Lists as Documentation/admin-guide/kernel-parameters.rst has them; LAST as "N" means it. */
static void test_parse(void **state)
{
	static const struct {
		const char *text;
		int last;
		const char *list; /* NULL: refused */
	} rows[] = {
		{ "", -1, "" },
		{ "0", -1, "0" },
		{ "0-3", -1, "0-3" },
		{ "3,1,2", -1, "1-3" },
		{ "1,1,1-1", -1, "1" },
		{ "0-1,3", -1, "0-1,3" },
		{ "0-9:2/5", -1, "0-1,5-6" },
		{ "100-200:3/25", -1, "100-102,125-127,150-152,175-177,200" },
		{ "0-7:1/1", -1, "0-7" },
		{ "8191", -1, "8191" },
		{ "all", 3, "0-3" },
		{ "N", 5, "5" },
		{ "0-N", 5, "0-5" },
		{ "2-N:1/2", 7, "2,4,6" },
		{ "all", 0, "0" },
		{ "all", -1, NULL },
		{ "N", -1, NULL },
		{ "3-1", -1, NULL },
		{ "8192", -1, NULL },
		{ "0-8192", -1, NULL },
		{ "99999999999999999999", -1, NULL },
		{ "-1", -1, NULL },
		{ "1-", -1, NULL },
		{ "1,", -1, "1" }, /* as the kernel takes them */
		{ ",1", -1, "1" },
		{ "1,,2", -1, "1-2" },
		{ ",", -1, "" },
		{ " 1", -1, NULL },
		{ "1 ", -1, NULL },
		{ "1;2", -1, NULL },
		{ "0x1", -1, NULL },
		{ "a", -1, NULL },
		{ "0-7:0/2", -1, "" },
		{ "0-7:3/2", -1, NULL },
		{ "0-7:1/0", -1, NULL },
		{ "0-7:1", -1, NULL },
		{ "0-7:/2", -1, NULL },
		{ "0:1/2", -1, NULL },
		{ "all,1", 3, NULL },
		{ "n", 3, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cpuset set = { { 4711 } };
		struct fail fail = { "" };
		char buf[256];
		int err = cpuset_parse(rows[i].text, rows[i].last, &set, &fail);

		if (rows[i].list) {
			if (err || strcmp(written(&set, buf, sizeof(buf)), rows[i].list) != 0)
				fail_msg("'%s' gave %d, %s", rows[i].text, err, buf);
		} else {
			if (err != -EINVAL || set.words[0] != 4711 || !fail.text[0])
				fail_msg("'%s' gave %d '%s'", rows[i].text, err, fail.text);
		}
	}
}

static void test_message_names_the_piece(void **state)
{
	struct cpuset set;
	struct fail fail;

	(void)state;
	assert_int_equal(cpuset_parse("0-3,7-5,9", -1, &set, &fail), -EINVAL);
	assert_non_null(strstr(fail.text, "'7-5'"));
	assert_int_equal(cpuset_parse("0,9999", -1, &set, &fail), -EINVAL);
	assert_non_null(strstr(fail.text, "'9999'"));
	assert_non_null(strstr(fail.text, "8191"));
}

static void test_parse_mask(void **state)
{
	static const struct {
		const char *text;
		int err;
		const char *list;
	} rows[] = {
		{ "0", 0, "" },
		{ "f", 0, "0-3" },
		{ "F", 0, "0-3" },
		{ "00000000,0000000c", 0, "2-3" },
		{ "1,00000000", 0, "32" },
		{ "80000001,00000000,00000000", 0, "64,95" },
		{ "", -EINVAL, "" },
		{ "0x1", -EINVAL, "" },
		{ "g", -EINVAL, "" },
		{ "1 ", -EINVAL, "" },
	};
	char wide[2050], buf[64];
	struct cpuset set;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		set = (struct cpuset){ 0 };
		assert_int_equal(cpuset_parse_mask(rows[i].text, &set), rows[i].err);
		assert_string_equal(written(&set, buf, sizeof(buf)), rows[i].list);
	}
	memset(wide, '0', sizeof(wide));
	wide[2048] = '\0';
	wide[0] = '8';
	assert_int_equal(cpuset_parse_mask(wide, &set), 0);
	assert_string_equal(written(&set, buf, sizeof(buf)), "8191");
	wide[2048] = '0';
	wide[2049] = '\0';
	assert_int_equal(cpuset_parse_mask(wide, &set), -ERANGE);
}

static void test_next_and_last(void **state)
{
	static const int members[] = { 0, 1, 63, 64, 127, 128, 4095, 8191 };
	struct cpuset set = { 0 };
	int cpu = -1, count = 0;

	(void)state;
	assert_int_equal(cpuset_next(&set, -1), -1);
	assert_int_equal(cpuset_last(&set), -1);
	for (size_t i = 0; i < 8; i++) {
		cpuset_add(&set, members[i]);
		assert_int_equal(cpuset_last(&set), members[i]);
	}
	for (size_t i = 0; i < 8; i++) {
		cpu = cpuset_next(&set, cpu);
		assert_int_equal(cpu, members[i]);
	}
	assert_int_equal(cpuset_next(&set, 8191), -1);
	cpuset_for_each (c, &set) {
		assert_true(cpuset_has(&set, c));
		count++;
	}
	assert_int_equal(count, 8);
	assert_int_equal(cpuset_count(&set), 8);
	cpuset_remove(&set, 8191);
	assert_int_equal(cpuset_last(&set), 4095);
	assert_false(cpuset_has(&set, 8191));
	assert_false(cpuset_has(&set, 8192));
	assert_false(cpuset_has(&set, -1));
}

/* The set operations against the same on plain flags, for random sets. */
static void test_operations(void **state)
{
	(void)state;
	srandom(3);
	for (int round = 0; round < 200; round++) {
		struct cpuset a = { 0 }, b = { 0 }, x;
		bool in_a[200] = { 0 }, in_b[200] = { 0 }, meets = false, inside = true;

		for (int i = 0; i < 200; i++) {
			in_a[i] = random() % (1 + round % 7) == 0;
			in_b[i] = random() % (1 + round % 5) == 0;
			if (in_a[i])
				cpuset_add(&a, i);
			if (in_b[i])
				cpuset_add(&b, i);
			meets |= in_a[i] && in_b[i];
			inside &= !in_a[i] || in_b[i];
		}
		assert_int_equal(cpuset_intersects(&a, &b), meets);
		assert_int_equal(cpuset_subset(&a, &b), inside);
		x = a;
		cpuset_and(&x, &b);
		for (int i = 0; i < 200; i++)
			assert_int_equal(cpuset_has(&x, i), in_a[i] && in_b[i]);
		x = a;
		cpuset_or(&x, &b);
		for (int i = 0; i < 200; i++)
			assert_int_equal(cpuset_has(&x, i), in_a[i] || in_b[i]);
		x = a;
		cpuset_without(&x, &b);
		for (int i = 0; i < 200; i++)
			assert_int_equal(cpuset_has(&x, i), in_a[i] && !in_b[i]);
		assert_int_equal(cpuset_equal(&x, &a), !meets);
		assert_int_equal(cpuset_empty(&x), !cpuset_count(&x));
	}
}

static void test_round_trip(void **state)
{
	(void)state;
	srandom(4);
	for (int round = 0; round < 200; round++) {
		struct cpuset set = { 0 }, back = { 0 };
		struct strbuf list = STRBUF_INIT;
		int count = (int)(random() % 300);

		while (count--)
			cpuset_add(&set, (int)(random() % (round % 2 ? 64 : CPUSET_MAX)));
		cpuset_write(&set, &list.sink);
		assert_int_equal(cpuset_parse(list.text ? list.text : "", -1, &back, NULL), 0);
		assert_true(cpuset_equal(&set, &back));
		strbuf_free(&list);
	}
}

static void test_text_is_cut(void **state)
{
	struct cpuset set = { 0 };
	char buf[16];

	(void)state;
	for (int i = 0; i < 100; i += 2)
		cpuset_add(&set, i);
	cpuset_text(&set, buf, sizeof(buf));
	assert_int_equal(strlen(buf), sizeof(buf) - 1);
	assert_string_equal(buf + strlen(buf) - strlen("…"), "…");
	assert_int_equal(strncmp(buf, "0,2,4,6,", 8), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),       cmocka_unit_test(test_message_names_the_piece),
		cmocka_unit_test(test_parse_mask),  cmocka_unit_test(test_next_and_last),
		cmocka_unit_test(test_operations),  cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_text_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

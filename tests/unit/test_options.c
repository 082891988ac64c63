// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/options.h"

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

struct target {
	bool flag, other;
	int64_t number, duration, threads;
	const char *text;
	int choice;
	int custom_calls;
	char custom[32];
};

static const char *const colours[] = { "red", "green", "blue", NULL };
static const char *const colour_help[] = { "warm", NULL, "cold", NULL };

static int parse_custom(void *target, const char *text, struct fail *fail)
{
	struct target *t = target;

	t->custom_calls++;
	if (text && !strcmp(text, "bad"))
		return fail_set(fail, EINVAL, "custom: bad");
	snprintf(t->custom, sizeof(t->custom), "%s", text ? text : "(none)");
	return 0;
}

static const struct option table[] = {
	{ .name = "flag",
	  .letter = 'f',
	  .kind = OPTION_FLAG,
	  .group = "First",
	  .help = "a flag",
	  .offset = offsetof(struct target, flag) },
	{ .letter = 'o',
	  .kind = OPTION_FLAG,
	  .group = "First",
	  .help = "only a letter",
	  .offset = offsetof(struct target, other) },
	{ .name = "number",
	  .letter = 'n',
	  .kind = OPTION_NUMBER,
	  .argument = "N",
	  .group = "Second",
	  .help = "a number",
	  .preset = "7",
	  .low = -5,
	  .high = 100,
	  .offset = offsetof(struct target, number) },
	{ .name = "duration",
	  .letter = 'd',
	  .kind = OPTION_DURATION,
	  .argument = "TIME",
	  .group = "Second",
	  .help = "a time",
	  .low = 1000,
	  .high = 60000000000,
	  .offset = offsetof(struct target, duration) },
	{ .name = "interval",
	  .letter = 'i',
	  .kind = OPTION_DURATION,
	  .argument = "US",
	  .group = "Second",
	  .help = "bare microseconds",
	  .low = 1000,
	  .high = 60000000000,
	  .bare_ns = 1000,
	  .offset = offsetof(struct target, duration) },
	{ .name = "text",
	  .letter = 't',
	  .kind = OPTION_TEXT,
	  .argument = "FILE",
	  .group = "Second",
	  .help = "a file whose explanation is so long that it has to be broken into several lines "
		  "of "
		  "the help text",
	  .offset = offsetof(struct target, text) },
	{ .name = "colour",
	  .kind = OPTION_CHOICE,
	  .argument = "NAME",
	  .group = "Third",
	  .help = "a choice",
	  .choices = colours,
	  .choice_help = colour_help,
	  .offset = offsetof(struct target, choice) },
	{ .name = "custom",
	  .letter = 'c',
	  .kind = OPTION_CUSTOM,
	  .argument = "X",
	  .optional_argument = true,
	  .group = "Third",
	  .help = "parsed by the command",
	  .parse = parse_custom },
	{ .name = "secret",
	  .kind = OPTION_FLAG,
	  .help = "not shown",
	  .hidden = true,
	  .offset = offsetof(struct target, other) },
	OPTIONS_END,
};

/* Parses WORDS, separated by blanks. The words live until the next call. */
static int parse(enum options_style style, const char *words, struct target *target, char **argv,
		 int *positionals, struct fail *fail)
{
	static char buf[512];
	int argc = 0;

	snprintf(buf, sizeof(buf), "%s", words);
	for (char *word = strtok(buf, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	*target = (struct target){ .number = 4711, .duration = 4711, .choice = -1 };
	*fail = (struct fail){ "" };
	return options_parse(table, style, argc, argv, target, positionals, fail);
}

static void good(const char *words, struct target *target)
{
	struct fail fail;
	char *argv[32];
	int count;

	if (parse(OPTIONS_PLAIN, words, target, argv, &count, &fail))
		fail_msg("'%s' was refused: %s", words, fail.text);
}

static void test_forms(void **state)
{
	struct target t;

	(void)state;
	good("", &t);
	assert_int_equal(t.number, 4711);
	good("--flag -o --number 12 --duration=1.5ms --text a=b --colour blue", &t);
	assert_true(t.flag && t.other);
	assert_int_equal(t.number, 12);
	assert_int_equal(t.duration, 1500000);
	assert_string_equal(t.text, "a=b");
	assert_int_equal(t.choice, 2);
	good("-fon12 -t-", &t);
	assert_true(t.flag && t.other);
	assert_int_equal(t.number, 12);
	assert_string_equal(t.text, "-");
	good("-n -5", &t);
	assert_int_equal(t.number, -5);
	good("--text=", &t);
	assert_string_equal(t.text, "");
	good("-i 200", &t);
	assert_int_equal(t.duration, 200000);
	good("-i 2ms", &t);
	assert_int_equal(t.duration, 2000000);
	good("-n1 -n2", &t);
	assert_int_equal(t.number, 2);
}

static void test_optional_argument(void **state)
{
	struct target t;

	(void)state;
	good("-c", &t);
	assert_string_equal(t.custom, "(none)");
	good("-c -f", &t);
	assert_string_equal(t.custom, "(none)");
	assert_true(t.flag);
	good("-c 12", &t);
	assert_string_equal(t.custom, "12");
	good("-cword", &t);
	assert_string_equal(t.custom, "word");
	good("--custom=word", &t);
	assert_string_equal(t.custom, "word");
}

static void test_positionals(void **state)
{
	struct target t;
	struct fail fail;
	char *argv[32];
	int count = -1;

	(void)state;
	assert_int_equal(
		parse(OPTIONS_PLAIN, "one -f two - -n 3 -- -x --flag", &t, argv, &count, &fail), 0);
	assert_int_equal(count, 5);
	assert_string_equal(argv[0], "one");
	assert_string_equal(argv[1], "two");
	assert_string_equal(argv[2], "-");
	assert_string_equal(argv[3], "-x");
	assert_string_equal(argv[4], "--flag");
	assert_true(t.flag);
	assert_int_equal(t.number, 3);
}

/* Each message quotes what was wrong and says what would be right. */
static void test_refusals(void **state)
{
	static const struct {
		const char *words, *says[2];
	} rows[] = {
		{ "--flg", { "--flg", "--flag" } },
		{ "--durration 1s", { "--durration", "--duration" } },
		{ "--zzzzzzzz", { "--zzzzzzzz", "--help" } },
		{ "--secre", { "--secre", "" } },
		{ "--fla", { "--fla", "--flag" } },
		{ "-z", { "-z", "--help" } },
		{ "-fz", { "-z", "" } },
		{ "--flag=yes", { "--flag takes no value", "yes" } },
		{ "--number", { "--number", "N" } },
		{ "-n", { "--number", "N" } },
		{ "--number x", { "'x'", "whole number" } },
		{ "--number 1.5", { "'1.5'", "whole number" } },
		{ "--number=", { "''", "whole number" } },
		{ "--number 101", { "101", "-5 to 100" } },
		{ "--number -6", { "-6", "-5 to 100" } },
		{ "--number 99999999999999999999", { "99999999999999999999", "-5 to 100" } },
		{ "--duration 10", { "'10'", "unit" } },
		{ "--duration soon", { "'soon'", "10s" } },
		{ "--duration 0", { "0", "1us to 1m" } },
		{ "--duration 2m", { "2m", "1us to 1m" } },
		{ "--duration 999999999d", { "999999999d", "1us to 1m" } },
		{ "--interval x", { "'x'", "no time" } },
		{ "--colour pink", { "'pink'", "red, green, blue" } },
		{ "--colour re", { "'re'", "red, green, blue" } },
		{ "--custom=bad", { "custom: bad", "" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct target t;
		struct fail fail;
		char *argv[32];
		int count, err = parse(OPTIONS_PLAIN, rows[i].words, &t, argv, &count, &fail);

		if (err != -EINVAL || !strstr(fail.text, rows[i].says[0]) ||
		    !strstr(fail.text, rows[i].says[1]) || strchr(fail.text, '\n'))
			fail_msg("'%s' gave %d: %s", rows[i].words, err, fail.text);
		assert_int_equal(t.number, 4711);
		assert_int_equal(t.duration, 4711);
		assert_int_equal(t.choice, -1);
	}
}

static void test_abbreviation(void **state)
{
	struct target t;
	struct fail fail;
	char *argv[32];
	int count;

	(void)state;
	assert_int_equal(parse(OPTIONS_ABBREVIATE, "--dur=1s --num 3", &t, argv, &count, &fail), 0);
	assert_int_equal(t.duration, 1000000000);
	assert_int_equal(t.number, 3);
	/* colour or custom */
	assert_int_equal(parse(OPTIONS_ABBREVIATE, "--c=1", &t, argv, &count, &fail), -EINVAL);
	assert_int_equal(parse(OPTIONS_ABBREVIATE, "--=1", &t, argv, &count, &fail), -EINVAL);
	assert_int_equal(parse(OPTIONS_PLAIN, "--dur=1s", &t, argv, &count, &fail), -EINVAL);
}

static size_t longest_line(const char *text)
{
	size_t longest = 0;

	while (*text) {
		size_t length = strcspn(text, "\n");

		longest = length > longest ? length : longest;
		text += length + (text[length] == '\n');
	}
	return longest;
}

static void test_help(void **state)
{
	static const char *const parts[] = {
		"\nFirst:\n",
		"  -f, --flag          a flag\n",
		"  -o                  only a letter\n",
		"\nSecond:\n",
		"  -n, --number N      a number (-5 to 100); default 7\n",
		"(1us to 1m)",
		"  --colour NAME       a choice: red (warm), green, blue (cold)\n",
		"  -c, --custom[=X]    parsed by the command\n",
	};
	struct strbuf buf = STRBUF_INIT;

	(void)state;
	options_help(table, &buf.sink);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!strstr(buf.text, parts[i]))
			fail_msg("no '%s' in:\n%s", parts[i], buf.text);
	}
	assert_null(strstr(buf.text, "secret"));
	assert_true(longest_line(buf.text) < 80);
	strbuf_free(&buf);
}

static void test_scdoc(void **state)
{
	static const struct option marked[] = {
		{ .name = "file",
		  .kind = OPTION_TEXT,
		  .argument = "FILE",
		  .group = "Only",
		  .help = "a_b *c* \\d" },
		OPTIONS_END,
	};
	struct strbuf buf = STRBUF_INIT;

	(void)state;
	options_scdoc(marked, &buf.sink);
	assert_string_equal(buf.text, "## Only\n\n*--file* _FILE_\n\ta\\_b \\*c\\* \\\\d.\n\n");
	strbuf_free(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),        cmocka_unit_test(test_optional_argument),
		cmocka_unit_test(test_positionals),  cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_abbreviation), cmocka_unit_test(test_help),
		cmocka_unit_test(test_scdoc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

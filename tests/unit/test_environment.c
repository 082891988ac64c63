// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/environment.h"
#include "base/fail.h"
#include "base/json_writer.h"
#include "base/sink.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void items_are_added_and_replaced(void **state)
{
	struct environment environment = { 0 };
	const struct environment_item *item;

	(void)state;
	assert_null(environment_find(&environment, "load"));
	assert_int_equal(environment_text(&environment, "kernel_release", "6.1"), 0);
	assert_int_equal(environment_number(&environment, "load", -3), 0);
	assert_int_equal(environment_unknown(&environment, "boost", "no such file"), 0);
	assert_int_equal(environment_number(&environment, "kernel_release", 7), 0);
	assert_int_equal(environment.count, 3);
	item = environment_find(&environment, "kernel_release");
	assert_int_equal(item->kind, ENVIRONMENT_NUMBER);
	assert_int_equal(item->number, 7);
	assert_null(item->text);
	assert_int_equal(environment_text(&environment, "boost", "on"), 0);
	item = environment_find(&environment, "boost");
	assert_int_equal(item->kind, ENVIRONMENT_TEXT);
	assert_string_equal(item->text, "on");
	environment_free(&environment);
	assert_int_equal(environment.count, 0);
	assert_null(environment.items);
}

static void many_items_stay_in_order(void **state)
{
	struct environment environment = { 0 };
	char key[32];

	(void)state;
	for (int i = 0; i < 1000; i++) {
		snprintf(key, sizeof(key), "governor.policy%d", i);
		assert_int_equal(environment_number(&environment, key, i), 0);
	}
	assert_int_equal(environment.count, 1000);
	assert_string_equal(environment.items[999].key, "governor.policy999");
	assert_int_equal(environment_find(&environment, "governor.policy500")->number, 500);
	environment_free(&environment);
}

/* The environment's object alone, as environment_json writes it. */
static char *written(const struct environment *environment, struct strbuf *buf)
{
	struct json_writer json;

	json_init(&json, &buf->sink);
	environment_json(environment, &json, NULL);
	assert_int_equal(buf->sink.error, 0);
	return buf->text;
}

static void a_document_reads_back_the_same(void **state)
{
	struct environment environment = { 0 }, back = { 0 };
	struct strbuf first = STRBUF_INIT, second = STRBUF_INIT;

	(void)state;
	environment_text(&environment, "command_line", "quiet \"x\\y\" ü");
	environment_text(&environment, "empty", "");
	environment_number(&environment, "most", INT64_MAX);
	environment_number(&environment, "least", INT64_MIN);
	environment_unknown(&environment, "boost", "permission denied");
	environment_number(&back, "what was here before", 1);
	assert_int_equal(environment_parse(&back, written(&environment, &first), NULL), 0);
	assert_int_equal(back.count, 5);
	assert_int_equal(environment_find(&back, "most")->number, INT64_MAX);
	assert_int_equal(environment_find(&back, "least")->number, INT64_MIN);
	assert_int_equal(environment_find(&back, "boost")->kind, ENVIRONMENT_UNKNOWN);
	assert_string_equal(environment_find(&back, "boost")->text, "permission denied");
	assert_string_equal(written(&back, &second), first.text);
	strbuf_free(&first);
	strbuf_free(&second);
	environment_free(&environment);
	environment_free(&back);
}

static void nonsense_is_refused_and_changes_nothing(void **state)
{
	static const char *const rows[] = {
		"",
		"[]",
		"7",
		"{",
		"{\"a\": 1.5}",
		"{\"a\": true}",
		"{\"a\": [1]}",
		"{\"a\": {}}",
		"{\"a\": 1, \"a\": 2}",
		"{\"a\": 99999999999999999999}",
		"{\"a\": \"\xff\"}",
	};
	struct environment environment = { 0 };

	(void)state;
	environment_number(&environment, "kept", 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fail fail = { "" };

		assert_int_equal(environment_parse(&environment, rows[i], &fail), -EBADMSG);
		assert_true(strlen(fail.text) > 10);
		assert_int_equal(environment.count, 1);
		assert_int_equal(environment_find(&environment, "kept")->number, 1);
	}
	environment_free(&environment);
}

static void a_null_without_reason_is_still_unknown(void **state)
{
	struct environment environment = { 0 };

	(void)state;
	assert_int_equal(environment_parse(&environment, "{\"a\": null}", NULL), 0);
	assert_int_equal(environment_find(&environment, "a")->kind, ENVIRONMENT_UNKNOWN);
	assert_string_equal(environment_find(&environment, "a")->text, "no reason recorded");
	environment_free(&environment);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_are_added_and_replaced),
		cmocka_unit_test(many_items_stay_in_order),
		cmocka_unit_test(a_document_reads_back_the_same),
		cmocka_unit_test(nonsense_is_refused_and_changes_nothing),
		cmocka_unit_test(a_null_without_reason_is_still_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/json_writer.h"

#include "base/cpuset.h"
#include "base/sink.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct document {
	struct strbuf buf;
	struct json_writer json;
};

static void begin(struct document *doc)
{
	*doc = (struct document){ .buf = STRBUF_INIT };
	json_init(&doc->json, &doc->buf.sink);
}

static void expect(struct document *doc, const char *text)
{
	assert_int_equal(doc->buf.sink.error, 0);
	assert_string_equal(doc->buf.text, text);
	strbuf_free(&doc->buf);
}

static void test_layout(void **state)
{
	struct document doc;

	(void)state;
	begin(&doc);
	json_begin_object(&doc.json, NULL);
	json_text(&doc.json, "schema", "punctual/test/1");
	json_begin_array(&doc.json, "rows");
	json_begin_array_inline(&doc.json, NULL);
	json_i64(&doc.json, NULL, 1);
	json_i64(&doc.json, NULL, -2);
	json_end(&doc.json);
	json_begin_object_inline(&doc.json, NULL);
	json_bool(&doc.json, "a", true);
	json_begin_array(&doc.json, "inner");
	json_null_value(&doc.json, NULL);
	json_end(&doc.json);
	json_end(&doc.json);
	json_end(&doc.json);
	json_begin_object(&doc.json, "empty");
	json_end(&doc.json);
	json_end(&doc.json);
	expect(&doc, "{\n"
		     "  \"schema\": \"punctual/test/1\",\n"
		     "  \"rows\": [\n"
		     "    [1, -2],\n"
		     "    {\"a\": true, \"inner\": [null]}\n"
		     "  ],\n"
		     "  \"empty\": {}\n"
		     "}\n");
}

static void test_integers(void **state)
{
	struct document doc;

	(void)state;
	begin(&doc);
	json_begin_array_inline(&doc.json, NULL);
	json_i64(&doc.json, NULL, INT64_MIN);
	json_i64(&doc.json, NULL, INT64_MAX);
	json_u64(&doc.json, NULL, UINT64_MAX);
	json_bool(&doc.json, NULL, false);
	json_end(&doc.json);
	expect(&doc, "[-9223372036854775808, 9223372036854775807, 18446744073709551615, false]\n");
}

static void test_text(void **state)
{
	static const struct {
		const char *value, *json;
	} rows[] = {
		{ "", "[\"\"]\n" },
		{ "a\"b\\c/", "[\"a\\\"b\\\\c/\"]\n" },
		{ "\n\t\x1f\x7f", "[\"\\u000a\\u0009\\u001f\\u007f\"]\n" },
		{ "µs – 😀", "[\"µs – 😀\"]\n" },
		{ "\xff", "[\"\\u00ff\"]\n" },
		{ "a\xc3", "[\"a\\u00c3\"]\n" },                     /* cut short */
		{ "\x80", "[\"\\u0080\"]\n" },                       /* starts in the middle */
		{ "\xc0\xaf", "[\"\\u00c0\\u00af\"]\n" },            /* overlong */
		{ "\xe0\x80\xaf", "[\"\\u00e0\\u0080\\u00af\"]\n" }, /* overlong */
		{ "\xed\xa0\x80", "[\"\\u00ed\\u00a0\\u0080\"]\n" }, /* surrogate */
		{ "\xf4\x90\x80\x80", "[\"\\u00f4\\u0090\\u0080\\u0080\"]\n" }, /* > U+10FFFF */
		{ "\xf0\x9f\x98", "[\"\\u00f0\\u009f\\u0098\"]\n" },
		{ NULL, "[null]\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct document doc;

		begin(&doc);
		json_begin_array_inline(&doc.json, NULL);
		json_text(&doc.json, NULL, rows[i].value);
		json_end(&doc.json);
		expect(&doc, rows[i].json);
	}
}

static void test_double(void **state)
{
	struct document doc;

	(void)state;
	begin(&doc);
	json_begin_array_inline(&doc.json, NULL);
	json_double(&doc.json, NULL, 0.1);
	json_double(&doc.json, NULL, 3);
	json_double(&doc.json, NULL, -2.5e-9);
	json_double(&doc.json, NULL, 1e300);
	json_double(&doc.json, NULL, (double)NAN);
	json_double(&doc.json, NULL, (double)INFINITY);
	json_end(&doc.json);
	expect(&doc, "[0.1, 3, -2.5e-09, 1e+300, null, null]\n");
}

static void test_double_reads_back(void **state)
{
	(void)state;
	srandom(5);
	for (int i = 0; i < 5000; i++) {
		double value = (double)random() / (double)(random() + 1) *
			       pow(10, (double)(random() % 40 - 20));
		struct document doc;

		begin(&doc);
		json_double(&doc.json, NULL, value);
		assert_true(strtod(doc.buf.text, NULL) == value);
		strbuf_free(&doc.buf);
	}
}

static void test_instant_and_cpuset(void **state)
{
	struct cpuset set = { 0 };
	struct document doc;

	(void)state;
	cpuset_add(&set, 0);
	cpuset_add(&set, 1);
	cpuset_add(&set, 3);
	begin(&doc);
	json_begin_object_inline(&doc.json, NULL);
	json_cpuset(&doc.json, "cpus", &set);
	json_instant(&doc.json, "epoch", 0);
	json_instant(&doc.json, "leap", 1709210096123456789);
	json_end(&doc.json);
	expect(&doc, "{\"cpus\": \"0-1,3\", \"epoch\": \"1970-01-01T00:00:00.000000000Z\", "
		     "\"leap\": \"2024-02-29T12:34:56.123456789Z\"}\n");
}

/* Deeper than JSON_DEPTH_MAX is our own mistake: told by the sink, and nothing else happens. */
static void test_too_deep(void **state)
{
	struct document doc;

	(void)state;
	begin(&doc);
	for (int i = 0; i < JSON_DEPTH_MAX; i++)
		json_begin_array_inline(&doc.json, NULL);
	assert_int_equal(doc.buf.sink.error, 0);
	for (int i = 0; i < 3; i++)
		json_begin_array_inline(&doc.json, NULL);
	json_i64(&doc.json, "x", 1);
	for (int i = 0; i < JSON_DEPTH_MAX + 3; i++)
		json_end(&doc.json);
	assert_int_equal(doc.json.depth, 0);
	assert_int_equal(doc.buf.sink.error, -EOVERFLOW);
	strbuf_free(&doc.buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_double),
		cmocka_unit_test(test_double_reads_back),
		cmocka_unit_test(test_instant_and_cpuset),
		cmocka_unit_test(test_too_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/json_writer.h"

#include "base/cpuset.h"
#include "base/sink.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void json_init(struct json_writer *json, struct sink *sink)
{
	*json = (struct json_writer){ .sink = sink };
}

static bool on_one_line(const struct json_writer *json)
{
	return json->depth && json->depth <= JSON_DEPTH_MAX && json->inline_[json->depth - 1];
}

static void newline(struct json_writer *json)
{
	sink_text(json->sink, "\n");
	sink_fill(json->sink, ' ', 2 * (size_t)json->depth);
}

/* The length of the valid UTF-8 sequence at TEXT, or 0 (RFC 3629: no overlong forms or surrogates).
 */
static size_t utf8_length(const unsigned char *text)
{
	static const struct {
		unsigned char low, high, second_low, second_high, length;
	} forms[] = {
		{ 0x01, 0x7f, 0, 0xff, 1 },    { 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (text[0] < forms[i].low || text[0] > forms[i].high)
			continue;
		if (text[1] < forms[i].second_low || text[1] > forms[i].second_high)
			return 0;
		for (size_t j = 2; j < forms[i].length; j++) {
			if ((text[j] & 0xc0) != 0x80)
				return 0;
		}
		return forms[i].length;
	}
	return 0;
}

static void quoted(struct sink *sink, const char *value)
{
	const unsigned char *at = (const unsigned char *)value;

	sink_text(sink, "\"");
	while (*at) {
		size_t length = utf8_length(at);

		if (*at == '"' || *at == '\\') {
			char pair[2] = { '\\', (char)*at };

			sink_write(sink, pair, 2);
		} else if (!length || *at < ' ' || *at == 0x7f) {
			sink_printf(sink, "\\u%04x", *at);
		} else {
			sink_write(sink, (const char *)at, length);
		}
		at += length ? length : 1;
	}
	sink_text(sink, "\"");
}

/* What stands before every value: comma, line break, key. */
static void lead(struct json_writer *json, const char *key)
{
	if (json->depth && json->depth <= JSON_DEPTH_MAX) {
		bool *begun = &json->begun[json->depth - 1];

		if (*begun)
			sink_text(json->sink, on_one_line(json) ? ", " : ",");
		*begun = true;
		if (!on_one_line(json))
			newline(json);
	}
	if (key) {
		quoted(json->sink, key);
		sink_text(json->sink, ": ");
	}
}

static void open_level(struct json_writer *json, const char *key, bool array, bool one_line)
{
	bool inner = one_line || on_one_line(json);

	lead(json, key);
	sink_text(json->sink, array ? "[" : "{");
	if (json->depth++ >= JSON_DEPTH_MAX) {
		if (!json->sink->error)
			json->sink->error = -EOVERFLOW;
		return;
	}
	json->begun[json->depth - 1] = false;
	json->array[json->depth - 1] = array;
	json->inline_[json->depth - 1] = inner;
}

void json_begin_object(struct json_writer *json, const char *key)
{
	open_level(json, key, false, false);
}

void json_begin_array(struct json_writer *json, const char *key)
{
	open_level(json, key, true, false);
}

void json_begin_object_inline(struct json_writer *json, const char *key)
{
	open_level(json, key, false, true);
}

void json_begin_array_inline(struct json_writer *json, const char *key)
{
	open_level(json, key, true, true);
}

void json_end(struct json_writer *json)
{
	unsigned level = --json->depth;

	if (level >= JSON_DEPTH_MAX)
		return;
	if (json->begun[level] && !json->inline_[level])
		newline(json);
	sink_text(json->sink, json->array[level] ? "]" : "}");
	if (!level)
		sink_text(json->sink, "\n");
}

void json_null_value(struct json_writer *json, const char *key)
{
	lead(json, key);
	sink_text(json->sink, "null");
}

void json_bool(struct json_writer *json, const char *key, bool value)
{
	lead(json, key);
	sink_text(json->sink, value ? "true" : "false");
}

void json_i64(struct json_writer *json, const char *key, int64_t value)
{
	lead(json, key);
	sink_printf(json->sink, "%" PRId64, value);
}

void json_u64(struct json_writer *json, const char *key, uint64_t value)
{
	lead(json, key);
	sink_printf(json->sink, "%" PRIu64, value);
}

void json_double(struct json_writer *json, const char *key, double value)
{
	char text[32];

	if (!isfinite(value)) {
		json_null_value(json, key);
		return;
	}
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	lead(json, key);
	sink_text(json->sink, text);
}

void json_text(struct json_writer *json, const char *key, const char *value)
{
	if (!value) {
		json_null_value(json, key);
		return;
	}
	lead(json, key);
	quoted(json->sink, value);
}

void json_cpuset(struct json_writer *json, const char *key, const struct cpuset *set)
{
	lead(json, key);
	sink_text(json->sink, "\"");
	cpuset_write(set, json->sink);
	sink_text(json->sink, "\"");
}

void json_instant(struct json_writer *json, const char *key, int64_t realtime_ns)
{
	time_t seconds = (time_t)(realtime_ns / 1000000000);
	struct tm tm;
	char text[64];
	size_t length;

	if (!gmtime_r(&seconds, &tm)) {
		json_null_value(json, key);
		return;
	}
	length = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + length, sizeof(text) - length, ".%09dZ", (int)(realtime_ns % 1000000000));
	json_text(json, key, text);
}

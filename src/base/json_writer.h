/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one streaming JSON writer: nothing is kept but the nesting, so a document of any length needs
 * the same few bytes. KEY is the member's name inside an object and NULL inside an array or at the
 * top. Text that is not UTF-8 has each bad byte written as \u00XX (a byte 0x80–0xff as that code
 * point). Pure; errors stick in the sink.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpuset;
struct sink;

#define JSON_DEPTH_MAX 16

struct json_writer {
	struct sink *sink;
	unsigned depth;
	bool begun[JSON_DEPTH_MAX];   /* this level has a member already */
	bool array[JSON_DEPTH_MAX];   /* how it is closed */
	bool inline_[JSON_DEPTH_MAX]; /* it stands on one line */
};

void json_init(struct json_writer *json, struct sink *sink);
void json_begin_object(struct json_writer *json, const char *key);
void json_begin_array(struct json_writer *json, const char *key);
/* The same, with all that is inside on one line. */
void json_begin_object_inline(struct json_writer *json, const char *key);
void json_begin_array_inline(struct json_writer *json, const char *key);
/* Ends the innermost object or array; ends the document with a newline at the top. */
void json_end(struct json_writer *json);

void json_null_value(struct json_writer *json, const char *key);
void json_bool(struct json_writer *json, const char *key, bool value);
void json_i64(struct json_writer *json, const char *key, int64_t value);
void json_u64(struct json_writer *json, const char *key, uint64_t value);
/* The shortest form that reads back as the same double; null where it is not finite. */
void json_double(struct json_writer *json, const char *key, double value);
/* NULL gives null. */
void json_text(struct json_writer *json, const char *key, const char *value);
/* The kernel's list string. */
void json_cpuset(struct json_writer *json, const char *key, const struct cpuset *set);
/* An instant, nanoseconds since 1970, as RFC 3339 in UTC with nine decimals. */
void json_instant(struct json_writer *json, const char *key, int64_t realtime_ns);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flat list of named values, such as the surroundings of a session, so that two of them can be
 * laid side by side. An item without a value is unknown, and its text says why. Pure; owns its
 * strings.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;
struct json_writer;

enum environment_kind { ENVIRONMENT_TEXT, ENVIRONMENT_NUMBER, ENVIRONMENT_UNKNOWN };

struct environment_item {
	char *key; /* snake_case, a unit in it where a number has one: "temperature_before_mdeg.cpu"
		    */
	char *text; /* ENVIRONMENT_TEXT: the value; ENVIRONMENT_UNKNOWN: the reason */
	int64_t number;
	enum environment_kind kind;
};

struct environment {
	size_t count, capacity;
	struct environment_item *items;
};

/* Each adds an item, or replaces the one of that key. 0 or -ENOMEM. */
int environment_text(struct environment *environment, const char *key, const char *value);
int environment_number(struct environment *environment, const char *key, int64_t value);
int environment_unknown(struct environment *environment, const char *key, const char *reason);
/* NULL where there is none of that key. */
const struct environment_item *environment_find(const struct environment *environment,
						const char *key);
void environment_free(struct environment *environment);
/* As a member KEY: an object of texts, numbers and nulls; the reasons of the nulls in "unknown". */
void environment_json(const struct environment *environment, struct json_writer *json,
		      const char *key);
/* Reads what environment_json wrote (a whole JSON object as text) in place of what was there, which
 * stays on failure. -EBADMSG or -ENOMEM. Only where the store is built (it needs jansson). */
int environment_parse(struct environment *environment, const char *json, struct fail *fail);

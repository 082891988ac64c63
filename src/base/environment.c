// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/environment.h"

#include "base/json_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct environment_item *find(const struct environment *environment, const char *key)
{
	for (size_t i = 0; i < environment->count; i++) {
		if (!strcmp(environment->items[i].key, key))
			return &environment->items[i];
	}
	return NULL;
}

const struct environment_item *environment_find(const struct environment *environment,
						const char *key)
{
	return find(environment, key);
}

/* An empty item of that key: the one that is there, without its value, or a new one at the end. */
static struct environment_item *place(struct environment *environment, const char *key)
{
	struct environment_item *item = find(environment, key);

	if (item) {
		free(item->text);
		item->text = NULL;
		return item;
	}
	if (environment->count == environment->capacity) {
		size_t capacity = environment->capacity ? 2 * environment->capacity : 32;

		item = reallocarray(environment->items, capacity, sizeof(*item));
		if (!item)
			return NULL;
		environment->items = item;
		environment->capacity = capacity;
	}
	item = &environment->items[environment->count];
	*item = (struct environment_item){ .key = strdup(key) };
	if (!item->key)
		return NULL;
	environment->count++;
	return item;
}

static int set(struct environment *environment, const char *key, enum environment_kind kind,
	       const char *text, int64_t number)
{
	char *copy = text ? strdup(text) : NULL;
	struct environment_item *item;

	if (text && !copy)
		return -ENOMEM;
	item = place(environment, key);
	if (!item) {
		free(copy);
		return -ENOMEM;
	}
	item->kind = kind;
	item->text = copy;
	item->number = number;
	return 0;
}

int environment_text(struct environment *environment, const char *key, const char *value)
{
	return set(environment, key, ENVIRONMENT_TEXT, value, 0);
}

int environment_number(struct environment *environment, const char *key, int64_t value)
{
	return set(environment, key, ENVIRONMENT_NUMBER, NULL, value);
}

int environment_unknown(struct environment *environment, const char *key, const char *reason)
{
	return set(environment, key, ENVIRONMENT_UNKNOWN, reason, 0);
}

void environment_free(struct environment *environment)
{
	for (size_t i = 0; i < environment->count; i++) {
		free(environment->items[i].key);
		free(environment->items[i].text);
	}
	free(environment->items);
	*environment = (struct environment){ 0 };
}

static void item_json(const struct environment_item *item, struct json_writer *json)
{
	switch (item->kind) {
	case ENVIRONMENT_TEXT:
		json_text(json, item->key, item->text);
		break;
	case ENVIRONMENT_NUMBER:
		json_i64(json, item->key, item->number);
		break;
	case ENVIRONMENT_UNKNOWN:
		json_null_value(json, item->key);
		break;
	}
}

void environment_json(const struct environment *environment, struct json_writer *json,
		      const char *key)
{
	json_begin_object(json, key);
	for (size_t i = 0; i < environment->count; i++)
		item_json(&environment->items[i], json);
	json_begin_object(json, "unknown");
	for (size_t i = 0; i < environment->count; i++) {
		if (environment->items[i].kind == ENVIRONMENT_UNKNOWN)
			json_text(json, environment->items[i].key, environment->items[i].text);
	}
	json_end(json);
	json_end(json);
}

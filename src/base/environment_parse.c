// SPDX-License-Identifier: GPL-2.0-or-later
/* Apart from environment.c because jansson.h and base/json_writer.h share names of functions. */
#include "base/environment.h"
#include "base/fail.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

static int parse_item(struct environment *environment, const char *key, const json_t *value,
		      const json_t *reasons, struct fail *fail)
{
	int err;

	if (json_is_string(value)) {
		err = environment_text(environment, key, json_string_value(value));
	} else if (json_is_integer(value)) {
		err = environment_number(environment, key, json_integer_value(value));
	} else if (json_is_null(value)) {
		const char *reason = json_string_value(json_object_get(reasons, key));

		err = environment_unknown(environment, key, reason ? reason : "no reason recorded");
	} else {
		return fail_set(fail, EBADMSG,
				"surroundings: '%.80s' is neither text, whole number nor null",
				key);
	}
	return err ? fail_set(fail, -err, "out of memory") : 0;
}

int environment_parse(struct environment *environment, const char *json, struct fail *fail)
{
	struct environment parsed = { 0 };
	const json_t *reasons;
	json_error_t error;
	json_t *document, *value;
	const char *key;
	int err = 0;

	document = json_loads(json, JSON_REJECT_DUPLICATES, &error);
	if (!document)
		return fail_set(fail, EBADMSG, "surroundings: line %d: %s", error.line, error.text);
	if (!json_is_object(document))
		err = fail_set(fail, EBADMSG, "surroundings: no JSON object");
	reasons = json_object_get(document, "unknown");
	/* jansson keeps an object's members in the order of the text (2.14; documented since 2.8)
	 */
	json_object_foreach(document, key, value)
	{
		if (err)
			break;
		if (value == reasons && json_is_object(value))
			continue;
		err = parse_item(&parsed, key, value, reasons, fail);
	}
	json_decref(document);
	if (err) {
		environment_free(&parsed);
		return err;
	}
	environment_free(environment);
	*environment = parsed;
	return 0;
}

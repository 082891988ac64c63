// SPDX-License-Identifier: GPL-2.0-or-later
/* Which board it is, without telling whose: a hash for identity, the maker's name for the model. */
#include "base/sha256.h"
#include "base/str.h"
#include "board/surroundings_parts.h"
#include "sys/root.h"

#include <stdio.h>
#include <string.h>

#define DMI       "sys/class/dmi/id/"
#define ID_DIGITS 16

/* What boards hold where nobody wrote a number: zeroes, all ones, or a word. */
static bool means_nothing(const char *text)
{
	return !*text || strspn(text, "0-: ") == strlen(text) ||
	       strspn(text, "fF-") == strlen(text) || !strcmp(text, "uninitialized");
}

/* In order of trust: a board's own number, then the installation's (two boards flashed from one
 * image may share it), then what only root can read, so that the id is the same for all users. */
static const struct {
	const char *path, *name;
} identities[] = {
	{ "proc/device-tree/serial-number", "device-tree serial number" },
	{ "sys/firmware/devicetree/base/serial-number", "device-tree serial number" },
	{ "etc/machine-id", "machine-id" },
	{ DMI "product_uuid", "DMI product UUID" },
};

static void read_id(struct reading *reading)
{
	for (size_t i = 0; i < sizeof(identities) / sizeof(identities[0]); i++) {
		char text[256], salted[512], digest[SHA256_TEXT];

		if (root_text(reading->root, text, sizeof(text), "%s", identities[i].path) <= 0 ||
		    means_nothing(text))
			continue;
		/* machine-id(5): "should be hashed with an application-specific key" */
		snprintf(salted, sizeof(salted), "punctual board %s %s", identities[i].name, text);
		sha256_text(salted, strlen(salted), digest);
		digest[ID_DIGITS] = '\0';
		reading_text(reading, "board_id", digest);
		reading_text(reading, "board_id_from", identities[i].name);
		return;
	}
	reading_unknown(reading, "board_id",
			"no device-tree serial number, machine-id or DMI UUID can be read");
}

/* What makers leave in DMI when they fill in nothing. */
static bool is_filler(const char *text)
{
	static const char *const fillers[] = {
		"To be filled",        "To Be Filled",  "Default string", "System Product",
		"System manufacturer", "Not Specified", "None",           NULL
	};

	for (size_t i = 0; fillers[i]; i++) {
		if (str_starts(text, fillers[i]))
			return true;
	}
	return !*text;
}

static void read_model(struct reading *reading)
{
	char text[256], vendor[128] = "", product[128] = "";

	if (root_text(reading->root, text, sizeof(text), "proc/device-tree/model") > 0 ||
	    root_text(reading->root, text, sizeof(text), "sys/firmware/devicetree/base/model") >
		    0) {
		reading_text(reading, "board_model", text);
		return;
	}
	if (root_text(reading->root, vendor, sizeof(vendor), DMI "sys_vendor") < 0 ||
	    is_filler(vendor))
		*vendor = '\0';
	if (root_text(reading->root, product, sizeof(product), DMI "product_name") < 0 ||
	    is_filler(product))
		*product = '\0';
	if (!*vendor && !*product) {
		reading_unknown(reading, "board_model", "neither a device tree nor DMI names it");
		return;
	}
	if (str_starts(product, vendor))
		*vendor = '\0';
	snprintf(text, sizeof(text), "%s%s%s", vendor, *vendor && *product ? " " : "", product);
	reading_text(reading, "board_model", text);
}

void surroundings_identity(struct reading *reading)
{
	read_id(reading);
	read_model(reading);
}

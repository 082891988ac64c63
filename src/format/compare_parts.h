/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the two views of a comparison share: pairs of figures, what forbids to compare them, and the
 * items that differ. Internal to compare*.c. Pure. */
#pragma once

#include "result/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sink;

/* What must be kept in mind with differences; NULL-terminated. */
struct remarks {
	const char *text[3];
};

/* One thing of both sessions. */
struct pair {
	bool known_a, known_b;
	int64_t a, b;
};

/* Why the figures are not comparable: the settings that forbid it. */
struct reasons {
	size_t count;
	char text[3][80];
};

struct remarks compare_remarks(const struct session *a, const struct session *b);
struct reasons compare_reasons(const struct session *a, const struct session *b);
struct pair compare_pair(const struct figure *figure, const struct cpu_result *a,
			 const struct cpu_result *b);
/* How much larger B is, in percent of A. NaN where there is no percentage. */
double compare_percent(const struct pair *pair, bool comparable);
/* The CPU's result in SESSION, where its threads are pinned; NULL where it was not measured. */
const struct cpu_result *compare_cpu(const struct session *session, int cpu);

/* Told each item that differs; A or B is NULL where that session does not have it. */
typedef void item_teller(void *context, const struct environment_item *a,
			 const struct environment_item *b);

/* Both return how many they told. */
size_t compare_environments(const struct environment *a, const struct environment *b,
			    item_teller *tell, void *context);
/* Want of memory sticks in SINK. */
size_t compare_settings(const struct session *a, const struct session *b, item_teller *tell,
			void *context, struct sink *sink);

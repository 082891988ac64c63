// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int str_u64(const char *text, uint64_t *value)
{
	uint64_t sum = 0;

	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		unsigned digit = (unsigned)(unsigned char)*text - '0';

		if (digit > 9)
			return -EINVAL;
		if (__builtin_mul_overflow(sum, 10U, &sum) ||
		    __builtin_add_overflow(sum, digit, &sum))
			return -ERANGE;
	}
	*value = sum;
	return 0;
}

int str_i64(const char *text, int64_t *value)
{
	bool negative = *text == '-';
	uint64_t magnitude;
	int err = str_u64(text + negative, &magnitude);

	if (err)
		return err;
	if (magnitude > (uint64_t)INT64_MAX + negative)
		return -ERANGE;
	*value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
	return 0;
}

static const struct unit {
	const char *name;
	int64_t ns;
} duration_units[] = {
	{ "d", 86400000000000 }, { "h", 3600000000000 }, { "m", 60000000000 }, { "s", 1000000000 },
	{ "ms", 1000000 },       { "us", 1000 },         { "µs", 1000 },       { "ns", 1 },
};
#define DURATION_UNITS (sizeof(duration_units) / sizeof(duration_units[0]))

static int64_t duration_unit(const char *name, int64_t bare_ns)
{
	if (!*name)
		return bare_ns;
	for (size_t i = 0; i < DURATION_UNITS; i++) {
		if (!strcmp(name, duration_units[i].name))
			return duration_units[i].ns;
	}
	return 0;
}

int str_duration(const char *text, int64_t bare_ns, int64_t *ns)
{
	const char *end = text;
	int64_t whole = 0, part = 0, scale = 1, unit;

	if (!strcmp(text, "0")) {
		*ns = 0;
		return 0;
	}
	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	for (; isdigit((unsigned char)*end); end++) {
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, *end - '0', &whole))
			return -ERANGE;
	}
	if (*end == '.') {
		if (!isdigit((unsigned char)*++end))
			return -EINVAL;
		for (; isdigit((unsigned char)*end); end++) {
			if (scale < 100000000) {
				part = part * 10 + (*end - '0');
				scale *= 10;
			}
		}
	}
	unit = duration_unit(end, bare_ns);
	if (!unit)
		return -EINVAL;
	/* scale ≤ 10^8 and unit ≤ 8.64·10^13 ns: split so that part · unit stays below 2^63 */
	if (__builtin_mul_overflow(whole, unit, &whole))
		return -ERANGE;
	part = unit / scale * part + unit % scale * part / scale;
	if (__builtin_add_overflow(whole, part, &whole))
		return -ERANGE;
	/* less than a nanosecond is not nothing, and nothing may mean "without end" */
	if (!whole && text[strspn(text, "0.")] >= '1' && text[strspn(text, "0.")] <= '9')
		return -ERANGE;
	*ns = whole;
	return 0;
}

const char *str_from_duration(char *buf, size_t size, int64_t ns)
{
	const char *sign = ns < 0 ? "-" : "";
	uint64_t rest = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;

	if (!rest) {
		snprintf(buf, size, "0");
		return buf;
	}
	for (size_t i = 0; i < DURATION_UNITS; i++) {
		uint64_t unit = (uint64_t)duration_units[i].ns, whole = rest / unit,
			 part = rest % unit;

		if (!whole)
			continue;
		if (!part) {
			snprintf(buf, size, "%s%" PRIu64 "%s", sign, whole, duration_units[i].name);
			return buf;
		}
		/* decimals read well from seconds down; minutes and more go to the next unit */
		if (unit <= 1000000000 && whole < 1000 &&
		    part % (unit / 1000 ? unit / 1000 : 1) == 0) {
			char digits[8];
			int length = snprintf(digits, sizeof(digits), "%03" PRIu64,
					      part / (unit / 1000));

			while (length > 1 && digits[length - 1] == '0')
				digits[--length] = '\0';
			snprintf(buf, size, "%s%" PRIu64 ".%s%s", sign, whole, digits,
				 duration_units[i].name);
			return buf;
		}
	}
	snprintf(buf, size, "%s%" PRIu64 "ns", sign, rest);
	return buf;
}

#define DISTANCE_MAX 64

unsigned str_distance(const char *a, const char *b)
{
	size_t la = strnlen(a, DISTANCE_MAX), lb = strnlen(b, DISTANCE_MAX);
	unsigned rows[3][DISTANCE_MAX + 1];

	for (size_t j = 0; j <= lb; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned *now = rows[i % 3], *before = rows[(i + 2) % 3],
			 *second = rows[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= lb; j++) {
			unsigned best = before[j - 1] + (a[i - 1] != b[j - 1]);

			if (before[j] + 1 < best)
				best = before[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    second[j - 2] + 1 < best)
				best = second[j - 2] + 1;
			now[j] = best;
		}
	}
	return rows[la % 3][lb];
}

const char *str_nearest(const char *text, const char *const *words)
{
	const char *best = NULL;
	unsigned best_distance = (unsigned)strlen(text) / 3 + 1;

	if (!*text)
		return NULL;
	for (; *words; words++) {
		unsigned distance = str_starts(*words, text) ? 1 : str_distance(text, *words);

		if (distance <= best_distance && (!best || distance < best_distance)) {
			best = *words;
			best_distance = distance;
		}
	}
	return best;
}

char *str_trim(char *text)
{
	size_t length;

	while (isspace((unsigned char)*text))
		text++;
	length = strlen(text);
	while (length && isspace((unsigned char)text[length - 1]))
		text[--length] = '\0';
	return text;
}

bool str_starts(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

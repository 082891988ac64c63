// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/span.h"

#include <string.h>

struct span span_of(const char *text)
{
	return (struct span){ text, strlen(text) };
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Takes COUNT bytes off REST. */
static struct span take(struct span *rest, size_t count)
{
	struct span taken = { rest->at, count };

	rest->at += count;
	rest->length -= count;
	return taken;
}

bool span_until(struct span *rest, char separator, struct span *piece)
{
	const char *end;

	if (!rest->length)
		return false;
	end = memchr(rest->at, separator, rest->length);
	*piece = take(rest, end ? (size_t)(end - rest->at) : rest->length);
	if (end)
		take(rest, 1);
	return true;
}

bool span_line(struct span *rest, struct span *line)
{
	return span_until(rest, '\n', line);
}

bool span_word(struct span *rest, struct span *word)
{
	size_t length = 0;

	while (rest->length && is_blank(*rest->at))
		take(rest, 1);
	while (length < rest->length && !is_blank(rest->at[length]))
		length++;
	*word = take(rest, length);
	return length > 0;
}

struct span span_trim(struct span span)
{
	while (span.length && is_blank(*span.at))
		take(&span, 1);
	while (span.length && is_blank(span.at[span.length - 1]))
		span.length--;
	return span;
}

bool span_equal(struct span span, const char *text)
{
	return span.length == strlen(text) && (!span.length || !memcmp(span.at, text, span.length));
}

bool span_starts(struct span span, const char *start)
{
	size_t length = strlen(start);

	return span.length >= length && (!length || !memcmp(span.at, start, length));
}

const char *span_find(struct span span, const char *needle)
{
	return span.length ? memmem(span.at, span.length, needle, strlen(needle)) : NULL;
}

bool span_has(struct span span, const char *needle)
{
	return span_find(span, needle) != NULL;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

static bool number_of(struct span span, unsigned base, uint64_t *value)
{
	uint64_t number = 0;

	for (size_t i = 0; i < span.length; i++) {
		unsigned digit = (unsigned)digit_of(span.at[i]);

		if (digit >= base || number > (UINT64_MAX - digit) / base)
			return false;
		number = number * base + digit;
	}
	if (!span.length)
		return false;
	*value = number;
	return true;
}

bool span_u64(struct span span, uint64_t *value)
{
	return number_of(span, 10, value);
}

bool span_hex(struct span span, uint64_t *value)
{
	if (span_starts(span, "0x"))
		take(&span, 2);
	return number_of(span, 16, value);
}

bool span_i64(struct span span, int64_t *value)
{
	bool negative = span.length && *span.at == '-';
	uint64_t number;

	if (negative)
		take(&span, 1);
	if (!number_of(span, 10, &number) || number > (uint64_t)INT64_MAX + negative)
		return false;
	*value = !negative ? (int64_t)number : number ? -(int64_t)(number - 1) - 1 : 0;
	return true;
}

const char *span_copy(struct span span, char *buf, size_t size)
{
	size_t length = span.length < size ? span.length : size - 1;

	if (length)
		memcpy(buf, span.at, length);
	buf[length] = '\0';
	return buf;
}

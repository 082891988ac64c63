// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/layout.h"

#include "base/sink.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Columns of UTF-8 text, all of whose characters are one column wide. */
static size_t columns(const char *text, size_t length)
{
	size_t count = 0;

	for (size_t i = 0; i < length; i++)
		count += ((unsigned char)text[i] & 0xc0) != 0x80;
	return count;
}

const char *layout_number(char *buf, size_t size, unsigned width, double value)
{
	static const char *const suffixes[] = { "", "k", "M", "G", "T", "P", "E" };

	if (!isfinite(value) || value < 0) {
		snprintf(buf, size, LAYOUT_UNKNOWN);
		return buf;
	}
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++, value /= 1000) {
		/* four digits before a suffix are one suffix too few */
		if (i && value >= 999.5)
			continue;
		/* three significant digits: what is behind them is noise */
		for (int decimals = value < 9.995   ? 2
				    : value < 99.95 ? 1
						    : 0;
		     decimals >= 0; decimals--) {
			snprintf(buf, size, "%.*f%s", decimals, value, suffixes[i]);
			if (strlen(buf) <= width)
				return buf;
		}
	}
	return buf;
}

const char *layout_count(char *buf, size_t size, unsigned width, uint64_t count)
{
	snprintf(buf, size, "%" PRIu64, count);
	return strlen(buf) <= width ? buf : layout_number(buf, size, width, (double)count);
}

/* "2 h 3 min 4 s" without the parts that are zero. */
static void write_long_time(char *buf, size_t size, int64_t seconds)
{
	const struct {
		int64_t count;
		const char *unit;
	} parts[] = { { seconds / 3600, "h" },
		      { seconds / 60 % 60, "min" },
		      { seconds % 60, "s" } };
	size_t used = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (parts[i].count && used < size)
			used += (size_t)snprintf(buf + used, size - used, "%s%" PRId64 " %s",
						 used ? " " : "", parts[i].count, parts[i].unit);
	}
}

const char *layout_time(char *buf, size_t size, int64_t ns)
{
	if (!ns)
		snprintf(buf, size, "0 s");
	else if (ns < 1000000)
		snprintf(buf, size, "%.4g µs", (double)ns / 1e3);
	else if (ns < 1000000000)
		snprintf(buf, size, "%.4g ms", (double)ns / 1e6);
	else if (ns < INT64_C(60000000000))
		snprintf(buf, size, "%.4g s", (double)ns / 1e9);
	else
		write_long_time(buf, size, ns / 1000000000);
	return buf;
}

static void blanks_up_to(struct sink *sink, unsigned width, const char *text)
{
	size_t used = columns(text, strlen(text));

	if (used < width)
		sink_fill(sink, ' ', width - used);
}

void layout_right(struct sink *sink, unsigned width, const char *text)
{
	blanks_up_to(sink, width, text);
	sink_text(sink, text);
}

void layout_left(struct sink *sink, unsigned width, const char *text)
{
	sink_text(sink, text);
	blanks_up_to(sink, width, text);
}

/* The bytes of TEXT up to a blank; of a longer word than ROOM columns those up to the last comma
 * that fits, so that long lists break too. */
static size_t word_length(const char *text, size_t room)
{
	size_t length = strcspn(text, " "), comma = 0;

	if (columns(text, length) <= room)
		return length;
	for (size_t i = 0; i < length && columns(text, i + 1) <= room; i++)
		comma = text[i] == ',' ? i + 1 : comma;
	return comma ? comma : length;
}

void layout_paragraph(struct sink *sink, const char *first, const char *text)
{
	size_t indent = columns(first, strlen(first)), used = indent;
	bool blank = false;

	sink_text(sink, first);
	while (*text) {
		size_t length = word_length(text, LAYOUT_COLUMNS - indent);
		size_t width = columns(text, length);

		if (used > indent && used + blank + width > LAYOUT_COLUMNS) {
			sink_text(sink, "\n");
			sink_fill(sink, ' ', indent);
			used = indent;
		} else if (blank) {
			sink_text(sink, " ");
			used++;
		}
		sink_write(sink, text, length);
		used += width;
		text += length;
		blank = *text == ' ';
		text += blank;
	}
	sink_text(sink, "\n");
}

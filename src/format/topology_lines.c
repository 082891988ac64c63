// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/topology_lines.h"

#include "board/topology.h"
#include "format/layout.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LIST_SIZE  1024 /* bytes of sets that are kept to be shown */
#define LIST_SHOWN 100  /* and that a line takes */

/* Columns that TEXT takes: bytes that don't continue a UTF-8 character. */
static size_t columns(const char *text, size_t length)
{
	size_t count = 0;

	for (size_t i = 0; i < length; i++)
		count += ((unsigned char)text[i] & 0xc0) != 0x80;
	return count;
}

/* The bytes up to the next place to break a line, with the blanks before: a blank, or behind a
 * comma; not between a number and its unit. */
static size_t piece(const char *text)
{
	size_t end = strspn(text, " ");

	for (;;) {
		end += strcspn(text + end, " ,");
		if (text[end] == ',')
			return end + 1;
		if (!text[end] || !end || !isdigit((unsigned char)text[end - 1]) ||
		    !isalpha((unsigned char)text[end + 1]))
			return end;
		end++;
	}
}

/* Writes TEXT as a line, broken where it is too long; further lines start at column HANG. */
static void wrap(struct sink *sink, const char *text, size_t hang)
{
	size_t at = 0;

	while (*text) {
		size_t blanks = strspn(text, " "), end = piece(text), width = columns(text, end);

		if (at > hang && at + width > LAYOUT_COLUMNS) {
			sink_text(sink, "\n");
			sink_fill(sink, ' ', hang);
			at = hang;
			text += blanks;
			continue;
		}
		sink_write(sink, text, end);
		at += width;
		text += end;
	}
	sink_text(sink, "\n");
}

/* The same for what was put together in LINE, which is empty afterwards. */
void topology_line(struct sink *sink, struct strbuf *line, size_t hang)
{
	size_t length = line->length;

	while (length && line->text[length - 1] == ' ')
		line->text[--length] = '\0';
	if (line->sink.error && !sink->error)
		sink->error = line->sink.error;
	if (length)
		wrap(sink, line->text, hang);
	strbuf_free(line);
}

const char *topology_plural(int64_t count, const char *one, const char *many)
{
	return count == 1 ? one : many;
}

/* "1.8 GHz", "800 MHz"; the driver's own digits, at most four. */
const char *topology_frequency(char *buf, size_t size, int64_t khz)
{
	if (khz == TOPOLOGY_UNKNOWN)
		snprintf(buf, size, "unknown");
	else if (khz >= 1000000)
		snprintf(buf, size, "%.4g GHz", (double)khz / 1e6);
	else
		snprintf(buf, size, "%.4g MHz", (double)khz / 1e3);
	return buf;
}

const char *topology_bytes(char *buf, size_t size, int64_t count)
{
	if (count == TOPOLOGY_UNKNOWN)
		snprintf(buf, size, "?");
	else if (count >= 1 << 20 && count % (1 << 18) == 0)
		snprintf(buf, size, "%.4g MiB", (double)count / (1 << 20));
	else
		snprintf(buf, size, "%.4g KiB", (double)count / 1024);
	return buf;
}

const char *topology_microseconds(char *buf, size_t size, int64_t ns)
{
	if (ns == TOPOLOGY_UNKNOWN)
		snprintf(buf, size, "?");
	else
		snprintf(buf, size, "%" PRId64, ns / 1000);
	return buf;
}

void sharing_add(struct sharing *sharing, const struct topology *t, const struct cpuset *set)
{
	int size = set ? cpuset_count(set) : 0;

	if (!sharing->count)
		*sharing = (struct sharing){ .alone = true,
					     .cores = true,
					     .equal = true,
					     .size = size,
					     .list = STRBUF_INIT };
	sharing->count++;
	if (!set) {
		sharing->unknown = true;
		return;
	}
	cpuset_or(&sharing->all, set);
	sharing->equal &= size == sharing->size;
	sharing->alone &= size == 1;
	sharing->cores &= topology_find(t, cpuset_next(set, -1))->smt_siblings == set;
	if (sharing->list.length > LIST_SIZE)
		return;
	sink_text(&sharing->list.sink, sharing->list.length ? " | " : "");
	cpuset_write(set, &sharing->list.sink);
}

void sharing_write(struct sharing *sharing, const struct topology *t, struct sink *sink)
{
	bool everyone = cpuset_subset(&t->cpus.online, &sharing->all);

	if (sharing->unknown)
		sink_text(sink, "who shares it is unknown");
	else if (sharing->count == 1 && everyone)
		sink_text(sink, t->cpu_count > 1 ? "all CPUs" : "the CPU");
	else if (sharing->count > 1 && (sharing->alone || sharing->cores)) {
		sink_text(sink, sharing->alone ? "each CPU" : "each core");
		if (!everyone)
			sink_text(sink, " of ");
		if (!everyone)
			cpuset_write(&sharing->all, sink);
	} else if (sharing->list.length <= LIST_SHOWN) {
		sink_text(sink, sharing->list.text ? sharing->list.text : "");
	} else if (sharing->equal) {
		sink_printf(sink, "%d of them, %d CPUs each", sharing->count, sharing->size);
	} else {
		sink_printf(sink, "%d of them", sharing->count);
	}
	if (sharing->list.sink.error && !sink->error)
		sink->error = sharing->list.sink.error;
	strbuf_free(&sharing->list);
	sharing->count = 0;
}

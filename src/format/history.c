// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/history.h"

#include "base/json_writer.h"
#include "base/sink.h"
#include "format/layout.h"
#include "result/entry.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SECOND INT64_C(1000000000)

const char *history_when(char *buf, size_t size, int64_t wall_ns)
{
	time_t seconds = (time_t)(wall_ns / SECOND);
	struct tm tm;

	if (!localtime_r(&seconds, &tm) || !strftime(buf, size, "%Y-%m-%d %H:%M", &tm))
		snprintf(buf, size, LAYOUT_UNKNOWN);
	return buf;
}

/* In four characters: "2.5s", "60s", "90m", "12h", "30d". */
static const char *short_length(char *buf, size_t size, int64_t ns)
{
	double seconds = (double)ns / 1e9;

	if (seconds < 9.95)
		snprintf(buf, size, "%.1fs", seconds);
	else if (seconds < 99.5)
		snprintf(buf, size, "%.0fs", seconds);
	else if (seconds < 99.5 * 60)
		snprintf(buf, size, "%.0fm", seconds / 60);
	else if (seconds < 99.5 * 3600)
		snprintf(buf, size, "%.0fh", seconds / 3600);
	else
		snprintf(buf, size, "%.0fd", seconds / 86400);
	return buf;
}

static void latency(struct sink *sink, int64_t ns)
{
	char text[32];

	sink_text(sink, " ");
	layout_right(sink, 5, layout_number(text, sizeof(text), 5, ns < 0 ? -1 : (double)ns / 1e3));
}

static void count(struct sink *sink, unsigned width, uint64_t value)
{
	char text[32];

	sink_text(sink, " ");
	layout_right(sink, width, layout_count(text, sizeof(text), width, value));
}

/* A list that does not fit is cut: the document has it whole. */
static void list(struct sink *sink, unsigned width, const char *text)
{
	char cut[CPUSET_TEXT_MAX];

	if (strlen(text) > width) {
		snprintf(cut, sizeof(cut), "%.*s…", (int)width - 1, text);
		text = cut;
	}
	sink_text(sink, " ");
	layout_left(sink, width, text);
}

static const char *verdict_word(const struct session_entry *entry)
{
	if (!entry->ended)
		return "open";
	return !*entry->verdict || !strcmp(entry->verdict, "none") ? LAYOUT_UNKNOWN
								   : entry->verdict;
}

static void entry_text(const struct session_entry *entry, struct sink *sink)
{
	char text[32];

	sink_printf(sink, "%.8s ", entry->id);
	layout_left(sink, 16, history_when(text, sizeof(text), entry->started_wall_ns));
	sink_text(sink, " ");
	layout_right(sink, 4, short_length(text, sizeof(text), entry->duration_ns));
	list(sink, 5, entry->cpus);
	list(sink, 7, entry->source);
	count(sink, 7, entry->samples);
	count(sink, 6, entry->missed);
	latency(sink, entry->p99_ns);
	latency(sink, entry->max_ns);
	sink_printf(sink, " %s\n", verdict_word(entry));
}

static bool same_heading(const struct session_entry *a, const struct session_entry *b)
{
	return !strcmp(a->kernel, b->kernel) && !strcmp(a->policy, b->policy) &&
	       !strcmp(a->goal, b->goal);
}

static void heading(const struct session_entry *entry, struct sink *sink)
{
	struct strbuf line = STRBUF_INIT;

	sink_printf(&line.sink, "kernel %s, policy %s%s, %s%s",
		    *entry->kernel ? entry->kernel : "unknown", entry->policy,
		    strcmp(entry->policy, "other") != 0
			    ? ""
			    : " (normal priority: no real-time figures)",
		    *entry->goal ? "goal " : "no goal", entry->goal);
	if (line.sink.error)
		sink->error = sink->error ? sink->error : line.sink.error;
	else
		layout_paragraph(sink, "", line.text);
	strbuf_free(&line);
}

void history_text(const struct session_entry *entries, size_t entry_count, struct sink *sink)
{
	bool open = false;

	sink_text(sink, "session  started           ran CPUs  source  samples missed   p99   max "
			"verdict\n");
	for (size_t i = 0; i < entry_count; i++) {
		if (!i || !same_heading(&entries[i - 1], &entries[i])) {
			sink_text(sink, "\n");
			heading(&entries[i], sink);
		}
		entry_text(&entries[i], sink);
		open |= !entries[i].ended;
	}
	sink_text(sink, "\nLatencies in µs, all CPUs together; times are local.\n");
	if (open)
		sink_text(sink, "open: still running, or cut off before its end; what was written "
				"is there.\n");
}

static void known(struct json_writer *json, const char *key, int64_t value)
{
	if (value < 0)
		json_null_value(json, key);
	else
		json_i64(json, key, value);
}

static void entry_json(const struct session_entry *entry, struct json_writer *json)
{
	json_begin_object(json, NULL);
	json_text(json, "id", entry->id);
	json_instant(json, "started", entry->started_wall_ns);
	json_i64(json, "duration_ns", entry->duration_ns);
	json_bool(json, "ended", entry->ended);
	json_bool(json, "complete", entry->complete);
	json_bool(json, "interrupted", entry->interrupted);
	json_text(json, "cpus", entry->cpus);
	json_text(json, "source", entry->source);
	json_text(json, "policy", entry->policy);
	json_text(json, "kernel", *entry->kernel ? entry->kernel : NULL);
	json_u64(json, "samples", entry->samples);
	json_u64(json, "missed", entry->missed);
	known(json, "p99_ns", entry->p99_ns);
	known(json, "max_ns", entry->max_ns);
	json_text(json, "goal", *entry->goal ? entry->goal : NULL);
	json_text(json, "verdict", *entry->verdict ? entry->verdict : "unknown");
	json_end(json);
}

void history_json(const char *store, const struct session_entry *entries, size_t entry_count,
		  struct sink *sink)
{
	struct json_writer json;

	json_init(&json, sink);
	json_begin_object(&json, NULL);
	json_text(&json, "schema", "punctual/history/1");
	json_text(&json, "store", store);
	json_begin_array(&json, "sessions");
	for (size_t i = 0; i < entry_count; i++)
		entry_json(&entries[i], &json);
	json_end(&json);
	json_end(&json);
}

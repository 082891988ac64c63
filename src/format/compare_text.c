// SPDX-License-Identifier: GPL-2.0-or-later
/* Latencies in µs with two decimals, counts whole. */
#include "base/sink.h"
#include "base/str.h"
#include "format/compare.h"
#include "format/compare_parts.h"
#include "format/history.h"
#include "format/layout.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void value_text(char *buf, size_t size, enum figure_unit unit, bool known, int64_t value)
{
	if (!known)
		snprintf(buf, size, LAYOUT_UNKNOWN);
	else if (unit == FIGURE_COUNT)
		snprintf(buf, size, "%" PRId64, value);
	else
		snprintf(buf, size, "%.2f", (double)value / 1e3);
}

static void difference_text(char *buf, size_t size, enum figure_unit unit, const struct pair *pair,
			    bool comparable)
{
	int64_t difference = pair->b - pair->a;

	if (!comparable || !pair->known_a || !pair->known_b)
		snprintf(buf, size, LAYOUT_UNKNOWN);
	else if (unit == FIGURE_COUNT)
		snprintf(buf, size, "%+" PRId64, difference);
	else
		snprintf(buf, size, "%+.2f", (double)difference / 1e3);
}

static void right(struct sink *sink, unsigned width, const char *text)
{
	sink_text(sink, " ");
	layout_right(sink, width, text);
}

static void figure_line(const struct figure *figure, const struct pair *pair, bool comparable,
			struct sink *sink)
{
	double percent = compare_percent(pair, comparable);
	char text[48];

	sink_text(sink, "  ");
	layout_left(sink, 9, figure->name);
	value_text(text, sizeof(text), figure->unit, pair->known_a, pair->a);
	right(sink, 14, text);
	value_text(text, sizeof(text), figure->unit, pair->known_b, pair->b);
	right(sink, 14, text);
	difference_text(text, sizeof(text), figure->unit, pair, comparable);
	right(sink, 14, text);
	if (isnan(percent))
		snprintf(text, sizeof(text), LAYOUT_UNKNOWN);
	else
		snprintf(text, sizeof(text), "%+.1f %%", percent);
	right(sink, 12, text);
	sink_text(sink, "\n");
}

static void figures_text(const struct session *a, const struct session *b, bool comparable,
			 struct sink *sink)
{
	sink_text(sink, "\nAll CPUs together, latencies in µs\n"
			"                          A              B          B − A        of A\n");
	for (const struct figure *figure = figures; figure->name; figure++) {
		struct pair pair = compare_pair(figure, &a->all, &b->all);

		figure_line(figure, &pair, comparable, sink);
	}
}

static void cpu_line(const struct cpu_result *a, const struct cpu_result *b, bool comparable,
		     struct sink *sink)
{
	static const char *const names[] = { "p99", "max" };
	char text[48];

	sink_printf(sink, "  %-5d", a->cpu);
	for (size_t i = 0; i < 2; i++) {
		struct pair pair = compare_pair(figure_find(names[i]), a, b);

		sink_text(sink, i ? "   " : "");
		value_text(text, sizeof(text), FIGURE_NS, pair.known_a, pair.a);
		right(sink, 10, text);
		value_text(text, sizeof(text), FIGURE_NS, pair.known_b, pair.b);
		right(sink, 10, text);
		difference_text(text, sizeof(text), FIGURE_NS, &pair, comparable);
		right(sink, 10, text);
	}
	sink_text(sink, "\n");
}

static void cpus_text(const struct session *a, const struct session *b, bool comparable,
		      struct sink *sink)
{
	bool any = false;

	for (size_t i = 0; i < a->cpu_count; i++) {
		const struct cpu_result *left = compare_cpu(a, a->cpus[i].cpu);
		const struct cpu_result *other = compare_cpu(b, a->cpus[i].cpu);

		if (left != &a->cpus[i] || !other) /* where two threads share a CPU, its first */
			continue;
		if (!any)
			sink_text(sink, "\n  CPU        p99 A      p99 B      B − A        max A"
					"      max B      B − A\n");
		any = true;
		cpu_line(left, other, comparable, sink);
	}
}

/* A value as people read it: durations with their unit, what is unknown with the reason. */
static void item_value(const struct environment_item *item, char *buf, size_t size)
{
	char text[32];
	size_t length;

	if (!item) {
		snprintf(buf, size, LAYOUT_UNKNOWN);
	} else if (item->kind == ENVIRONMENT_TEXT) {
		snprintf(buf, size, "%s", *item->text ? item->text : "(empty)");
	} else if (item->kind == ENVIRONMENT_UNKNOWN) {
		snprintf(buf, size, "unknown (%s)", item->text);
	} else {
		length = strlen(item->key);
		if (length > 3 && !strcmp(item->key + length - 3, "_ns"))
			snprintf(buf, size, "%s",
				 str_from_duration(text, sizeof(text), item->number));
		else
			snprintf(buf, size, "%" PRId64, item->number);
	}
}

#define KEY_WIDTH   28
#define VALUE_WIDTH 23

struct list_text {
	struct sink *sink;
	const char *heading; /* NULL once it is written */
	bool settings;       /* what has no value is not unknown, but not asked for */
};

static void item_text(void *context, const struct environment_item *a,
		      const struct environment_item *b)
{
	struct list_text *list = context;
	char left[1024], other[1024];
	const char *key = a ? a->key : b->key;

	if (list->heading)
		sink_printf(list->sink, "\n%s\n", list->heading);
	list->heading = NULL;
	item_value(a, left, sizeof(left));
	item_value(b, other, sizeof(other));
	if (list->settings && a && a->kind == ENVIRONMENT_UNKNOWN)
		snprintf(left, sizeof(left), "%s", a->text);
	if (list->settings && b && b->kind == ENVIRONMENT_UNKNOWN)
		snprintf(other, sizeof(other), "%s", b->text);
	sink_text(list->sink, "  ");
	if (strlen(key) <= KEY_WIDTH && strlen(left) <= VALUE_WIDTH &&
	    strlen(other) <= VALUE_WIDTH) {
		layout_left(list->sink, KEY_WIDTH, key);
		sink_text(list->sink, " ");
		layout_left(list->sink, VALUE_WIDTH, left);
		sink_printf(list->sink, " %s\n", other);
		return;
	}
	sink_printf(list->sink, "%s\n", key);
	layout_paragraph(list->sink, "    A  ", left);
	layout_paragraph(list->sink, "    B  ", other);
}

static void session_line(const char *name, const struct session *session, struct sink *sink)
{
	char when[32], ran[32], cpus[48];

	sink_printf(sink, "%s  %.8s  %s  ran %s, CPU%s %s, %" PRIu64 " samples%s\n", name,
		    session->id, history_when(when, sizeof(when), session->started_wall_ns),
		    layout_time(ran, sizeof(ran), session->duration_ns),
		    session->cpu_count == 1 ? "" : "s",
		    cpuset_text(&session->settings.cpus, cpus, 14), session->all.samples,
		    session->complete ? "" : ", cut off");
}

static void reasons_text(const struct reasons *reasons, struct sink *sink)
{
	struct strbuf text = STRBUF_INIT;

	if (!reasons->count)
		return;
	for (size_t i = 0; i < reasons->count; i++)
		sink_printf(&text.sink, "%s%s", i ? "; " : "", reasons->text[i]);
	sink_text(&text.sink, ". They stand side by side, but no differences are formed.");
	sink_text(sink, "\n");
	if (text.sink.error)
		sink->error = sink->error ? sink->error : text.sink.error;
	else
		layout_paragraph(sink, "Not comparable: ", text.text);
	strbuf_free(&text);
}

void compare_text(const struct session *a, const struct session *b, struct sink *sink)
{
	struct list_text settings = { .sink = sink,
				      .heading = "Settings that differ",
				      .settings = true };
	struct list_text surroundings = { .sink = sink, .heading = "Surroundings that differ" };
	struct reasons reasons = compare_reasons(a, b);
	struct remarks remarks = compare_remarks(a, b);

	session_line("A", a, sink);
	session_line("B", b, sink);
	reasons_text(&reasons, sink);
	figures_text(a, b, !reasons.count, sink);
	cpus_text(a, b, !reasons.count, sink);
	if (!compare_settings(a, b, item_text, &settings, sink))
		sink_text(sink, "\nThe settings are the same.\n");
	if (!compare_environments(&a->environment, &b->environment, item_text, &surroundings))
		sink_text(sink, "\nThe recorded surroundings are the same.\n");
	sink_text(sink, "\n");
	/* the first one is about differences */
	for (size_t i = reasons.count ? 1 : 0; i < 3 && remarks.text[i]; i++)
		layout_paragraph(sink, "", remarks.text[i]);
}

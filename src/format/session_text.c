// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/session_text.h"

#include "base/sink.h"
#include "base/str.h"
#include "format/histogram_text.h"
#include "format/layout.h"
#include "result/session.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NOT_KNOWN (-1.0)
#define SUFFIXES  "kMGT" /* of shortened numbers */

static double micro(int64_t ns)
{
	return (double)ns / 1e3;
}

enum instant { INSTANT_TIME, INSTANT_DATE };

static void write_instant(struct sink *sink, enum instant what, int64_t wall_ns)
{
	time_t seconds = (time_t)(wall_ns / 1000000000);
	struct tm tm;

	if (!gmtime_r(&seconds, &tm))
		return;
	if (what == INSTANT_DATE)
		sink_printf(sink, "%d-%02d-%02d ", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
	sink_printf(sink, "%02d:%02d:%02d UTC", tm.tm_hour, tm.tm_min, tm.tm_sec);
}

static const char *environment_word(const struct session *session, const char *key)
{
	const struct environment_item *item = environment_find(&session->environment, key);

	return item && item->kind == ENVIRONMENT_TEXT && *item->text ? item->text : NULL;
}

/* "timer, fifo:95, every 1ms" and whatever of the settings is not as usual. */
static void write_settings(const struct session *session, struct sink *sink)
{
	const struct settings *settings = &session->settings;
	char text[CPUSET_TEXT_MAX];

	sink_printf(sink, "%s, %s", settings->source, settings->policy);
	if (settings->priority > 0)
		sink_printf(sink, ":%" PRId64, settings->priority);
	sink_printf(sink, ", every %s",
		    str_from_duration(text, sizeof(text), settings->interval_ns));
	if (!cpuset_empty(&settings->wakers))
		sink_printf(sink, ", woken from CPU%s %s",
			    cpuset_count(&settings->wakers) == 1 ? "" : "s",
			    cpuset_text(&settings->wakers, text, sizeof(text)));
	if (!settings->pinned)
		sink_text(sink, ", threads not pinned");
	if (settings->aligned)
		sink_text(sink, ", all at once");
	if (settings->dma_latency_us >= 0)
		sink_printf(sink, ", DMA latency held at %" PRId64 " µs", settings->dma_latency_us);
}

static void write_run(const struct session *session, struct sink *sink)
{
	char ran[64], asked[64];

	sink_printf(sink, "for %s", layout_time(ran, sizeof(ran), session->duration_ns));
	if (session->interrupted && session->settings.duration_ns)
		sink_printf(sink, " of %s (interrupted)",
			    layout_time(asked, sizeof(asked), session->settings.duration_ns));
	else if (session->interrupted)
		sink_text(sink, " (interrupted)");
	else if (!session->complete)
		sink_text(sink, " (cut off)");
	sink_text(sink, ", started ");
	write_instant(sink, INSTANT_DATE, session->started_wall_ns);
}

static void write_board(const struct session *session, struct sink *sink)
{
	const char *kernel = environment_word(session, "kernel_release");
	const char *realtime = environment_word(session, "preempt_rt");
	const char *model = environment_word(session, "board_model");

	sink_printf(sink, "kernel %s", kernel ? kernel : "not known");
	if (realtime)
		sink_text(sink, strcmp(realtime, "yes") ? ", not PREEMPT_RT" : ", PREEMPT_RT");
	if (model)
		sink_printf(sink, "; %s", model);
	if (*session->id)
		sink_printf(sink, "; session %.8s", session->id);
}

typedef void line_writer(const struct session *session, struct sink *sink);

/* What WRITER writes, as a paragraph. */
static void paragraph(const struct session *session, struct sink *sink, const char *first,
		      line_writer *writer)
{
	struct strbuf line = STRBUF_INIT;

	writer(session, &line.sink);
	if (line.sink.error)
		sink->error = sink->error ? sink->error : line.sink.error;
	else if (line.length)
		layout_paragraph(sink, first, line.text);
	strbuf_free(&line);
}

/* The table's columns. Widths are chosen so that all fit in 80 columns with the longest numbers. */
struct column {
	const char *name;
	unsigned width;
	double (*value)(const struct cpu_result *result, double percent); /* µs; NOT_KNOWN */
	double percent;
};

static double column_min(const struct cpu_result *result, double percent)
{
	(void)percent;
	return result->samples ? micro(result->min_ns) : NOT_KNOWN;
}

static double column_mean(const struct cpu_result *result, double percent)
{
	(void)percent;
	return result->samples ? result->moments.mean / 1e3 : NOT_KNOWN;
}

static double column_stddev(const struct cpu_result *result, double percent)
{
	(void)percent;
	return result->samples ? moments_stddev(&result->moments) / 1e3 : NOT_KNOWN;
}

static double column_percentile(const struct cpu_result *result, double percent)
{
	int64_t value = result->histogram ? histogram_supported(result->histogram, percent) : -1;

	return value < 0 ? NOT_KNOWN : micro(value);
}

static double column_max(const struct cpu_result *result, double percent)
{
	(void)percent;
	return result->samples ? micro(result->max_ns) : NOT_KNOWN;
}

static const struct column table[] = {
	{ "min", 5, column_min, 0 },
	{ "mean", 5, column_mean, 0 },
	{ "stddev", 7, column_stddev, 0 },
	{ "p50", 5, column_percentile, 50 },
	{ "p90", 5, column_percentile, 90 },
	{ "p99", 6, column_percentile, 99 },
	{ "p99.9", 6, column_percentile, 99.9 },
	{ "p99.99", 7, column_percentile, 99.99 },
	{ "p99.999", 8, column_percentile, 99.999 },
	{ "max", 6, column_max, 0 },
};
#define TABLE_COLUMNS (sizeof(table) / sizeof(table[0]))

static bool write_row(struct sink *sink, const char *name, const struct cpu_result *result)
{
	bool shortened = false;
	char buf[32];

	layout_right(sink, 4, name);
	layout_right(sink, 8, layout_count(buf, sizeof(buf), 7, result->samples));
	shortened |= strpbrk(buf, SUFFIXES) != NULL;
	layout_right(sink, 7, layout_count(buf, sizeof(buf), 6, result->missed));
	shortened |= strpbrk(buf, SUFFIXES) != NULL;
	for (size_t i = 0; i < TABLE_COLUMNS; i++) {
		unsigned width = table[i].width - 1 < 5 ? table[i].width - 1 : 5;
		double value = table[i].value(result, table[i].percent);

		layout_number(buf, sizeof(buf), width, value);
		shortened |= strpbrk(buf, SUFFIXES) != NULL;
		layout_right(sink, table[i].width, buf);
	}
	sink_text(sink, "\n");
	return shortened;
}

static void write_table(const struct session *session, struct sink *sink)
{
	bool shortened = false;
	char name[16];

	layout_right(sink, 4, session->settings.pinned ? "cpu" : "thr");
	sink_text(sink, " samples missed");
	for (size_t i = 0; i < TABLE_COLUMNS; i++)
		layout_right(sink, table[i].width, table[i].name);
	sink_text(sink, "\n");
	for (size_t i = 0; i < session->cpu_count; i++) {
		snprintf(name, sizeof(name), "%d", session->cpus[i].cpu);
		shortened |= write_row(sink, name, &session->cpus[i]);
	}
	shortened |= write_row(sink, "all", &session->all);
	if (shortened)
		sink_text(sink, "     k, M, G: thousand, million, billion\n");
	sink_text(sink, "\n");
}

/* "CPU 3", or "thread 3" where it might have been on any. */
static void write_thread(const struct session *session, const struct cpu_result *cpu,
			 struct sink *sink)
{
	sink_printf(sink, "%s %d", session->settings.pinned ? "CPU" : "thread", cpu->cpu);
}

static void write_worst(const struct session *session, struct sink *sink)
{
	const struct cpu_result *worst = session_worst(session);
	bool same_day;
	int64_t at;
	char after[64];

	if (!worst) {
		sink_text(sink, "no sample was taken");
		return;
	}
	at = session->started_wall_ns + worst->max_at_ns;
	same_day = at / 1000000000 / 86400 == session->started_wall_ns / 1000000000 / 86400;
	sink_printf(sink, "worst: %.3f µs on ", micro(worst->max_ns));
	write_thread(session, worst, sink);
	sink_printf(sink, ", %s after the start (",
		    layout_time(after, sizeof(after), worst->max_at_ns));
	write_instant(sink, same_day ? INSTANT_TIME : INSTANT_DATE, at);
	sink_text(sink, ")");
}

/* The percentiles as they might be had no period been missed. */
static void write_corrected(const struct session *session, struct sink *sink)
{
	const struct cpu_result *all = &session->all;
	struct histogram *corrected;
	char buf[32];

	if (!all->missed || !all->histogram || session->settings.interval_ns <= 0)
		return;
	corrected = histogram_new();
	if (!corrected) {
		sink->error = -ENOMEM;
		return;
	}
	histogram_correct(corrected, all->histogram, session->settings.interval_ns);
	sink_text(sink, "with the missed periods counted in (coordinated omission):");
	for (size_t i = 0; i < sizeof(shown_percents) / sizeof(shown_percents[0]); i++) {
		int64_t value = histogram_supported(corrected, shown_percents[i]);

		sink_printf(
			sink, "%s p%s %s", i ? "," : "", shown_percent_names[i],
			layout_number(buf, sizeof(buf), 6, value < 0 ? NOT_KNOWN : micro(value)));
	}
	histogram_free(corrected);
}

static int64_t environment_count(const struct session *session, const char *key)
{
	const struct environment_item *item = environment_find(&session->environment, key);

	return item && item->kind == ENVIRONMENT_NUMBER ? item->number : -1;
}

/* The best this board did, and what the means of measuring cost by themselves. */
static void write_floor(const struct session *session, struct sink *sink)
{
	int64_t read = environment_count(session, "clock_read_ns");
	int64_t sleep = environment_count(session, "sleep_call_ns");

	if (!session->all.samples || read < 0 || sleep < 0)
		return;
	sink_printf(sink,
		    "floor: no wake-up was faster than %.3f µs; a sleep whose time has come takes "
		    "%.3f µs "
		    "at best, reading the clock %.3f µs",
		    micro(session->all.min_ns), micro(sleep), micro(read));
}

static void write_peaks(const struct shape *shape, struct sink *sink)
{
	char buf[32];

	for (unsigned i = 0; i < shape->peaks && i < SHAPE_PEAKS_MAX; i++) {
		sink_text(sink, !i ? "" : i + 1 == shape->peaks ? " and " : ", ");
		sink_printf(sink, "%s µs",
			    layout_number(buf, sizeof(buf), 6, micro(shape->peaks_ns[i])));
		if (shape->peaks > 1)
			sink_printf(sink, " (%.3g %%%s)", 100 * shape->peak_share[i],
				    i ? "" : " of the samples");
	}
}

static void write_kind(const struct shape *shape, struct sink *sink)
{
	if (shape->kind == SHAPE_UNKNOWN) {
		sink_text(sink, "too few samples to tell");
		return;
	}
	if (!shape->peaks)
		sink_text(sink, "no clear peak");
	else if (shape->peaks == 1)
		sink_text(sink, "one peak at ");
	else
		sink_printf(sink, "%u peaks at ", shape->peaks);
	write_peaks(shape, sink);
	if (shape->kind == SHAPE_LONG_TAIL)
		sink_text(sink, " with a long tail");
	else if (shape->kind == SHAPE_ONE_PEAK)
		sink_text(sink, " with a short tail");
}

static void write_shape(const struct session *session, struct sink *sink)
{
	const struct shape *shape = &session->shape;
	char buf[64];

	if (!session->all.samples)
		return;
	sink_text(sink, "shape");
	if (session->cpu_count > 1 && session->shape_of >= 0 &&
	    (size_t)session->shape_of < session->cpu_count) {
		sink_text(sink, " of ");
		write_thread(session, &session->cpus[session->shape_of], sink);
	}
	sink_text(sink, ": ");
	write_kind(shape, sink);
	if (shape->period_ns > 0) {
		sink_printf(sink, "; something recurs every %s",
			    layout_time(buf, sizeof(buf), shape->period_ns));
		if (shape->period_p < 0.001)
			sink_text(sink, " (by chance: p < 0.001)");
		else
			sink_printf(sink, " (by chance: p = %.3f)", shape->period_p);
	}
	if (shape->drifts)
		sink_printf(sink, "; it drifts by %+.3g µs an hour",
			    shape->drift_ns_per_hour / 1e3);
}

static void write_goal(const struct goal *goal, struct sink *sink)
{
	static const char *const words[] = {
		[GOAL_UNKNOWN] = "not known: too few samples",
		[GOAL_MET] = "met",
		[GOAL_MISSED] = "missed",
	};
	bool count = goal->figure && goal->figure->unit == FIGURE_COUNT;
	bool known = goal->state != GOAL_UNKNOWN;
	char limit[48], value[48] = LAYOUT_UNKNOWN;

	if (count) {
		snprintf(limit, sizeof(limit), "≤ %" PRId64, goal->limit);
		if (known)
			snprintf(value, sizeof(value), "%" PRId64, goal->value);
	} else {
		if (goal->limit < 1000000000)
			snprintf(limit, sizeof(limit), "< %.10g µs", micro(goal->limit));
		else
			snprintf(limit, sizeof(limit), "< %s",
				 layout_time(value, sizeof(value), goal->limit));
		snprintf(value, sizeof(value), LAYOUT_UNKNOWN);
		if (known)
			snprintf(value, sizeof(value), "%.3f µs", micro(goal->value));
	}
	sink_text(sink, "  ");
	layout_left(sink, 13, goal->name);
	layout_left(sink, 13, limit);
	layout_right(sink, 16, value);
	sink_printf(sink, "  %s\n",
		    goal->figure ? words[goal->state] : "not measured here, does not count");
}

static void write_goals(const struct session *session, struct sink *sink)
{
	const struct goals *goals = &session->goals;

	if (!goals->count)
		return;
	sink_printf(sink, "\ngoal %s: %s\n", goals->text,
		    goals->verdict == VERDICT_UNKNOWN ? "not known" : verdict_name(goals->verdict));
	for (size_t i = 0; i < goals->count; i++)
		write_goal(&goals->goals[i], sink);
}

static void write_distortions(const struct session *session, struct sink *sink)
{
	if (!session->distortion_count) {
		sink_text(sink, "\nnothing known distorts this result\n");
		return;
	}
	sink_text(sink, "\nwhat may distort this result:\n");
	for (size_t i = 0; i < session->distortion_count; i++)
		layout_paragraph(sink, "  - ", session->distortions[i].text);
}

void session_text(const struct session *session, struct sink *sink)
{
	paragraph(session, sink, "wake-up latency in µs: ", write_settings);
	paragraph(session, sink, "", write_run);
	paragraph(session, sink, "", write_board);
	sink_text(sink, "\n");
	write_table(session, sink);
	paragraph(session, sink, "", write_worst);
	paragraph(session, sink, "", write_corrected);
	paragraph(session, sink, "", write_floor);
	if (session->all.samples) {
		sink_text(sink, "\n");
		histogram_text(session->all.histogram, sink);
		sink_text(sink, "\n");
	}
	paragraph(session, sink, "", write_shape);
	write_goals(session, sink);
	write_distortions(session, sink);
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/cyclictest.h"

#include "base/json_writer.h"
#include "base/sink.h"

#include <inttypes.h>
#include <time.h>

static int64_t mean(const struct cyclictest_thread *thread)
{
	return thread->cycles ? (int64_t)(thread->sum / thread->cycles) : 0;
}

static bool has_sum_column(const struct cyclictest_report *report)
{
	return report->sum_column && report->count > 1;
}

void cyclictest_write_policy(const char *policy, bool fell_back, const char *loadavg,
			     struct sink *sink)
{
	/* the blanks wipe what a longer line left on the terminal */
	sink_printf(sink, "policy: %s%s: loadavg: %s          \n\n", policy,
		    fell_back ? "/other" : "", loadavg);
}

void cyclictest_write_status(const struct cyclictest_report *report, size_t index,
			     struct sink *sink)
{
	const struct cyclictest_thread *t = &report->threads[index];
	int width = report->nanoseconds ? 8 : 5;

	sink_printf(sink, "T:%2zu (%5d) P:%2d I:%" PRId64 " C:%7" PRIu64 " Min:%7" PRId64, index,
		    t->tid, t->priority, t->interval_us, t->cycles, t->min);
	sink_printf(sink, " Act:%*" PRId64 " Avg:%*" PRId64 " Max:%8" PRId64 "\n", width, t->last,
		    width, mean(t), t->max);
}

void cyclictest_write_value(size_t index, uint64_t cycle, int64_t value, struct sink *sink)
{
	sink_printf(sink, "%8zu:%8" PRIu64 ":%8" PRId64 "\n", index, cycle, value);
}

void cyclictest_write_spikes(const struct cyclictest_report *report, struct sink *sink)
{
	if (!report->spike_count)
		return;
	sink_text(sink, "\n");
	for (size_t i = 0; i < report->spike_count; i++) {
		const struct cyclictest_spike *spike = &report->spike[i];

		sink_printf(sink, "T:%2d Spike:%8" PRId64 ": TS: %12" PRId64 "\n", spike->thread,
			    spike->value, spike->time_us);
	}
	sink_printf(sink, "spikes = %" PRIu64 "\n\n", report->spikes);
}

void cyclictest_write_break(const struct cyclictest_report *report, struct sink *sink)
{
	if (!report->break_asked)
		return;
	sink_text(sink, "# Thread Ids:");
	for (size_t i = 0; i < report->count; i++)
		sink_printf(sink, " %05d", report->threads[i].tid);
	sink_text(sink, "\n");
	if (report->broken < 0)
		return;
	sink_printf(sink, "# Break thread: %d\n", report->threads[report->broken].tid);
	sink_printf(sink, "# Break value: %" PRId64 "\n", report->break_value);
}

static void write_row(const struct cyclictest_report *report, int64_t bucket, struct sink *sink)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < report->count; i++)
		sum += report->threads[i].buckets[bucket];
	if (!sum && report->dialect == CYCLICTEST_2_7)
		return;
	sink_printf(sink, "%06" PRId64 " ", bucket);
	for (size_t i = 0; i < report->count; i++)
		sink_printf(sink, "%s%06" PRIu64, i ? "\t" : "",
			    report->threads[i].buckets[bucket]);
	if (has_sum_column(report))
		sink_printf(sink, "\t%06" PRIu64, sum);
	sink_text(sink, "\n");
}

static void write_totals(const struct cyclictest_report *report, struct sink *sink)
{
	uint64_t all = 0;

	sink_text(sink, "# Total:");
	for (size_t i = 0; i < report->count; i++) {
		uint64_t total = 0;

		for (int64_t b = 0; b < report->buckets; b++)
			total += report->threads[i].buckets[b];
		sink_printf(sink, " %09" PRIu64, total);
		all += total;
	}
	if (has_sum_column(report))
		sink_printf(sink, " %09" PRIu64, all);
	sink_text(sink, "\n");
}

/* Of these only the maxima and the overflows have a value for the sum column. */
static void write_summary(const struct cyclictest_report *report, struct sink *sink)
{
	uint64_t overflows = 0;
	int64_t max = 0;

	sink_text(sink, "# Min Latencies:");
	for (size_t i = 0; i < report->count; i++)
		sink_printf(sink, " %05" PRId64, report->threads[i].min);
	sink_text(sink, "\n# Avg Latencies:");
	for (size_t i = 0; i < report->count; i++)
		sink_printf(sink, " %05" PRId64, mean(&report->threads[i]));
	sink_text(sink, "\n# Max Latencies:");
	for (size_t i = 0; i < report->count; i++) {
		sink_printf(sink, " %05" PRId64, report->threads[i].max);
		if (report->threads[i].max > max)
			max = report->threads[i].max;
	}
	if (has_sum_column(report))
		sink_printf(sink, " %05" PRId64, max);
	sink_text(sink, "\n# Histogram Overflows:");
	for (size_t i = 0; i < report->count; i++) {
		sink_printf(sink, " %05" PRIu64, report->threads[i].overflows);
		overflows += report->threads[i].overflows;
	}
	if (has_sum_column(report))
		sink_printf(sink, " %05" PRIu64, overflows);
	sink_text(sink, "\n");
}

static void write_overflow_cycles(const struct cyclictest_report *report, struct sink *sink)
{
	sink_text(sink, "# Histogram Overflow at cycle number:\n");
	for (size_t i = 0; i < report->count; i++) {
		const struct cyclictest_thread *t = &report->threads[i];

		sink_printf(sink, "# Thread %zu:", i);
		for (size_t j = 0; j < t->overflow_cycle_count; j++)
			sink_printf(sink, " %05" PRIu64, t->overflow_cycles[j]);
		if (t->overflow_cycle_count < t->overflows)
			sink_printf(sink, " # %05" PRIu64 " others",
				    t->overflows - t->overflow_cycle_count);
		sink_text(sink, "\n");
	}
}

void cyclictest_write_histogram(const struct cyclictest_report *report, struct sink *sink)
{
	sink_text(sink, "# Histogram\n");
	for (int64_t b = 0; b < report->buckets; b++)
		write_row(report, b, sink);
	if (report->dialect == CYCLICTEST_2_4)
		write_totals(report, sink);
	write_summary(report, sink);
	write_overflow_cycles(report, sink);
	sink_text(sink, "\n");
}

/* The original escapes nothing; we must, or a quote in a path makes no JSON. */
static void write_string(const char *text, struct sink *sink)
{
	struct json_writer json;

	json_init(&json, sink);
	json_text(&json, NULL, text);
}

static void write_member(const char *key, const char *value, const char *end, struct sink *sink)
{
	sink_printf(sink, "\"%s\": ", key);
	write_string(value, sink);
	sink_text(sink, end);
}

static void write_time(const char *key, int64_t seconds, struct sink *sink)
{
	time_t time = (time_t)seconds;
	struct tm local;
	char text[64] = "";

	if (localtime_r(&time, &local) &&
	    !strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S %z", &local))
		text[0] = 0;
	sink_text(sink, "  ");
	write_member(key, text, ",\n", sink);
}

static void write_json_thread(const struct cyclictest_report *report, size_t index,
			      struct sink *sink)
{
	const struct cyclictest_thread *t = &report->threads[index];
	bool begun = false;

	sink_printf(sink, "    \"%zu\": {\n      \"histogram\": {", index);
	for (int64_t b = 0; b < report->buckets; b++) {
		if (!t->buckets[b])
			continue;
		sink_printf(sink, "%s\n        \"%" PRId64 "\": %" PRIu64, begun ? "," : "", b,
			    t->buckets[b]);
		begun = true;
	}
	sink_printf(sink, "%s      },\n      \"cycles\": %" PRIu64 ",\n", begun ? "\n" : "",
		    t->cycles);
	if (report->buckets)
		sink_printf(sink, "      \"overflows\": %" PRIu64 ",\n", t->overflows);
	else
		sink_text(sink, "      \"overflows\": null,\n");
	sink_printf(sink, "      \"missed\": %" PRIu64 ",\n", t->missed);
	sink_printf(sink, "      \"min\": %" PRId64 ",\n      \"max\": %" PRId64 ",\n", t->min,
		    t->max);
	if (t->cycles)
		sink_printf(sink, "      \"avg\": %.2f,\n", (double)t->sum / (double)t->cycles);
	else
		sink_text(sink, "      \"avg\": null,\n"); /* the original writes -nan */
	sink_printf(sink, "      \"cpu\": %d,\n      \"node\": %d\n    }%s\n", t->cpu, t->node,
		    index + 1 < report->count ? "," : "");
}

void cyclictest_write_json(const struct cyclictest_report *report, const struct cyclictest_run *run,
			   struct sink *sink)
{
	sink_text(sink, "{\n  \"file_version\": 1,\n  ");
	write_member("cmdline:", run->command_line, ",\n  ", sink);
	write_member("rt_test_version:", report->dialect == CYCLICTEST_2_7 ? "2.70" : "2.40",
		     ",\n  ", sink);
	write_member("punctual_version", run->version, ",\n", sink);
	write_time("start_time", run->started_s, sink);
	write_time("end_time", run->ended_s, sink);
	sink_printf(sink, "  \"return_code\": %d,\n  \"sysinfo\": {\n    ", run->status);
	write_member("sysname", run->sysname, ",\n    ", sink);
	write_member("nodename", run->nodename, ",\n    ", sink);
	write_member("release", run->release, ",\n    ", sink);
	write_member("version", run->kernel_version, ",\n    ", sink);
	write_member("machine", run->machine, ",\n", sink);
	sink_printf(sink, "    \"realtime\": %d\n  },\n", run->realtime);
	sink_printf(sink, "  \"num_threads\": %zu,\n  \"resolution_in_ns\": %d,\n  \"thread\": {\n",
		    report->count, report->nanoseconds);
	for (size_t i = 0; i < report->count; i++)
		write_json_thread(report, i, sink);
	sink_text(sink, "  }\n}\n");
}

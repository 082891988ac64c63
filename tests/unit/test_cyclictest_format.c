// SPDX-License-Identifier: GPL-2.0-or-later
/* cyclictest's formats against texts of rt-tests 2.4 whose numbers are these structs', and the
 * reader against what the writer makes and against what is met in the field. UPDATE_GOLDEN=1 writes
 * the golden files anew, for review. */
#include "base/fail.h"
#include "base/sink.h"
#include "format/cyclictest.h"
#include "stat/histogram.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 6

static const uint64_t buckets_a[BUCKETS] = { 0, 0, 3, 2790777, 0, 1 };
static const uint64_t buckets_b[BUCKETS] = { 0, 0, 0, 12, 0, 7 };
static const uint64_t cycles_a[] = { 0, 17 };

static const struct cyclictest_thread threads[] = {
	{ .tid = 2440,
	  .priority = 95,
	  .interval_us = 1000,
	  .cpu = 4,
	  .node = 0,
	  .cycles = 2790786,
	  .missed = 3,
	  .min = 2,
	  .last = 3,
	  .max = 3021,
	  .sum = 8381346,
	  .buckets = buckets_a,
	  .overflows = 5,
	  .overflow_cycles = cycles_a,
	  .overflow_cycle_count = 2 },
	{ .tid = 12345,
	  .priority = 5,
	  .interval_us = 1500,
	  .cpu = 54,
	  .node = -1,
	  .cycles = 19,
	  .min = 3,
	  .last = 5,
	  .max = 5,
	  .sum = 71,
	  .buckets = buckets_b },
};
static const struct cyclictest_spike spikes[] = { { 0, 3021, 1731007355 },
						  { 1, 99, 1234567890123 } };

static struct cyclictest_report report(size_t count)
{
	return (struct cyclictest_report){
		.buckets = BUCKETS,
		.count = count,
		.threads = threads,
		.spikes = 9,
		.spike_count = 2,
		.spike = spikes,
		.broken = -1,
	};
}

static const struct cyclictest_run run = {
	.command_line = "cyclictest -S --json=\"a\\b\"\n",
	.version = "0.0.0",
	.status = 1,
	.sysname = "Linux",
	.nodename = "board",
	.release = "6.1.0-rt",
	.kernel_version = "#1 SMP PREEMPT_RT",
	.machine = "aarch64",
	.realtime = true,
};

static char *file_text(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = calloc(1, 65536);

	if (!file)
		fail_msg("%s is missing", path);
	assert_non_null(text);
	assert_true(fread(text, 1, 65535, file) > 0);
	fclose(file);
	return text;
}

static void check_golden(const char *name, const struct strbuf *text)
{
	const char *source = getenv("PUNCTUAL_SOURCE");
	char path[512], *golden;
	FILE *file;

	snprintf(path, sizeof(path), "%s/tests/golden/cyclictest-%s", source ? source : ".", name);
	assert_int_equal(text->sink.error, 0);
	if (getenv("UPDATE_GOLDEN")) {
		file = fopen(path, "w");
		assert_non_null(file);
		fputs(text->text, file);
		assert_int_equal(fclose(file), 0);
	}
	golden = file_text(path);
	assert_string_equal(text->text, golden);
	free(golden);
}

static void writes_both_dialects(void **state)
{
	struct cyclictest_report r = report(2);
	struct strbuf old = STRBUF_INIT, new = STRBUF_INIT;

	(void)state;
	cyclictest_write_histogram(&r, &old.sink);
	check_golden("2.4.txt", &old);
	r.dialect = CYCLICTEST_2_7;
	cyclictest_write_histogram(&r, &new.sink);
	check_golden("2.7.txt", &new);
	strbuf_free(&old);
	strbuf_free(&new);
}

static void writes_the_sum_column(void **state)
{
	struct cyclictest_report r = report(2);
	struct strbuf two = STRBUF_INIT, one = STRBUF_INIT, plain = STRBUF_INIT;

	(void)state;
	r.sum_column = true;
	cyclictest_write_histogram(&r, &two.sink);
	check_golden("sum.txt", &two);
	r.count = 1;
	cyclictest_write_histogram(&r, &one.sink);
	r.sum_column = false;
	cyclictest_write_histogram(&r, &plain.sink);
	assert_string_equal(one.text, plain.text);
	strbuf_free(&two);
	strbuf_free(&one);
	strbuf_free(&plain);
}

static void writes_status_and_values(void **state)
{
	static const struct cyclictest_thread idle = { .interval_us = 200,
						       .min = CYCLICTEST_NO_MIN };
	struct cyclictest_report r = report(2), none = report(1);
	struct strbuf text = STRBUF_INIT;

	(void)state;
	none.threads = &idle;
	cyclictest_write_policy("fifo", false, "0.00 0.01 0.01 1/152 2441", &text.sink);
	cyclictest_write_policy("batch", true, "0.00 0.01 0.01 1/152 2441", &text.sink);
	cyclictest_write_status(&none, 0, &text.sink);
	cyclictest_write_status(&r, 0, &text.sink);
	cyclictest_write_status(&r, 1, &text.sink);
	r.nanoseconds = true;
	cyclictest_write_status(&r, 1, &text.sink);
	cyclictest_write_value(1, 17, 3021, &text.sink);
	cyclictest_write_spikes(&r, &text.sink);
	r.spike_count = 0;
	cyclictest_write_spikes(&r, &text.sink);
	cyclictest_write_break(&r, &text.sink);
	r.break_asked = true;
	cyclictest_write_break(&r, &text.sink);
	r.broken = 1;
	r.break_value = 3021;
	cyclictest_write_break(&r, &text.sink);
	check_golden("status.txt", &text);
	strbuf_free(&text);
}

static void writes_json(void **state)
{
	static const struct cyclictest_thread idle = { .min = CYCLICTEST_NO_MIN, .cpu = -1 };
	struct cyclictest_report r = report(2), none = report(1);
	struct strbuf text = STRBUF_INIT;

	(void)state;
	setenv("TZ", "UTC", 1);
	cyclictest_write_json(&r, &run, &text.sink);
	none.threads = &idle;
	none.buckets = 0;
	none.nanoseconds = true;
	none.dialect = CYCLICTEST_2_7;
	cyclictest_write_json(&none, &run, &text.sink);
	check_golden("json.txt", &text);
	strbuf_free(&text);
}

static int read_text(const char *text, int64_t unit, struct cyclictest_columns *columns,
		     struct fail *fail)
{
	/* a copy of exactly its size: reading beyond it is seen by sanitizers */
	size_t size = strlen(text);
	char *copy = malloc(size + !size);
	int err;

	assert_non_null(copy);
	memcpy(copy, text, size);
	err = cyclictest_read_histogram(copy, size, unit, columns, fail);
	free(copy);
	return err;
}

static void check_columns(const struct cyclictest_report *r, int64_t unit)
{
	struct cyclictest_columns columns;
	struct strbuf text = STRBUF_INIT;
	struct fail fail = { "" };

	cyclictest_write_histogram(r, &text.sink);
	assert_int_equal(read_text(text.text, unit, &columns, &fail), 0);
	assert_int_equal(columns.count, r->count);
	for (size_t i = 0; i < r->count; i++) {
		const struct cyclictest_thread *t = &r->threads[i];
		const struct cyclictest_column *c = &columns.columns[i];

		for (int64_t b = 0; b < r->buckets; b++)
			assert_int_equal(c->histogram->counts[histogram_bucket(b * unit)],
					 t->buckets[b]);
		assert_int_equal(c->histogram->count, t->cycles - t->overflows);
		assert_true(c->summary && c->overflows_known);
		assert_int_equal(c->min_ns, t->min * unit);
		assert_int_equal(c->max_ns, t->max * unit);
		assert_int_equal(c->overflows, t->overflows);
	}
	cyclictest_columns_free(&columns);
	strbuf_free(&text);
}

static void reads_what_it_writes(void **state)
{
	(void)state;
	for (size_t count = 1; count <= 2; count++) {
		for (int dialect = CYCLICTEST_2_4; dialect <= CYCLICTEST_2_7; dialect++) {
			for (int sum = 0; sum <= 1; sum++) {
				struct cyclictest_report r = report(count);

				r.dialect = (enum cyclictest_dialect)dialect;
				r.sum_column = sum;
				check_columns(&r, 1000);
				check_columns(&r, 1);
			}
		}
	}
}

/* A captured stdout: status lines before the heading, other output behind the last line. */
static void reads_a_captured_run(void **state)
{
	static const char text[] =
		"# /dev/cpu_dma_latency set to 0us\r\n"
		"policy: fifo: loadavg: 0.00 0.01 0.01 1/152 2441          \n\n"
		"T: 0 ( 2440) P:95 I:200 C:2999967 Min:      6 Act:    7 Avg:    7 Max:      12\n"
		"# Histogram\r\n000006 068170\n000008\t2790777\n\n# Total: 003000000\n"
		"# Min Latencies: 00006\n# Avg Latencies: 00007\n# Max Latencies: 00012\n"
		"# Histogram Overflows: 00002\n# Histogram Overflow at cycle number:\n"
		"# Thread 0: 00001 00007\n\nall done 12 s\n";
	struct cyclictest_columns columns;
	struct fail fail = { "" };

	(void)state;
	assert_int_equal(read_text(text, 1000, &columns, &fail), 0);
	assert_int_equal(columns.count, 1);
	assert_int_equal(columns.columns[0].histogram->count, 68170 + 2790777);
	assert_int_equal(columns.columns[0].max_ns, 12000);
	assert_int_equal(columns.columns[0].overflows, 2);
	cyclictest_columns_free(&columns);
}

/* Rows alone, as OSADL publishes them: four CPUs, whose last happens to be no sum. */
static void reads_bare_rows(void **state)
{
	struct cyclictest_columns columns;
	struct fail fail = { "" };

	(void)state;
	assert_int_equal(read_text("000001 1\t2\t3\t6\n000009 0\t0\t0\t5", 1000, &columns, &fail),
			 0);
	assert_int_equal(columns.count, 4);
	assert_int_equal(columns.columns[3].histogram->count, 11);
	assert_int_equal(columns.columns[3].histogram->max, 9000);
	assert_false(columns.columns[3].summary);
	assert_false(columns.columns[3].overflows_known);
	cyclictest_columns_free(&columns);
}

/* A thread that never ran: the original's first values are no figures. */
static void reads_no_figures_of_an_idle_thread(void **state)
{
	struct cyclictest_columns columns;
	struct fail fail = { "" };

	(void)state;
	assert_int_equal(read_text("# Histogram\n000000 000000\n# Min Latencies: 1000000\n"
				   "# Max Latencies: 00000\n",
				   1000, &columns, &fail),
			 0);
	assert_int_equal(columns.columns[0].histogram->count, 0);
	assert_false(columns.columns[0].summary);
	cyclictest_columns_free(&columns);
}

static void refuses_what_is_no_histogram(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "", "no histogram" },
		{ "# Histogram\n", "no histogram" },
		{ "T: 0 ( 1) P:95\n", "line 1: begins with no latency" },
		{ "000001\n", "line 1: has no count" },
		{ "000001 1\n000001 1\n", "line 2: latencies must ascend" },
		{ "000002 1\n000001 1\n", "line 2: latencies must ascend" },
		{ "000001 1\n000002 1\t2\n", "line 2: has more columns" },
		{ "000001 1\t2\n000002 1\n", "line 2: has fewer columns" },
		{ "000001 1\n000002 -1\n", "line 2: holds something else than counts" },
		{ "000001 1\n000002 1x\n", "line 2: holds something else than counts" },
		{ "-1 1\n", "line 1: begins with no latency" },
		{ "99999999999999999999 1\n", "line 1: begins with no latency" },
		{ "4398046512 1\n", "line 1: begins with no latency" },
		{ "000001 9223372036854775808\n", "line 1: holds something else than counts" },
		{ "1 9223372036854775807\n2 9223372036854775807\n", "line 2: counts too many" },
		{ "1 9223372036854775807 1 1 1\n", "line 1: counts too many" },
		{ "1 1\n# Min Latencies: 1 2\n", "line 2: has more columns than the rows" },
		{ "1 1\n# Max Latencies: nan\n", "line 2: holds something else" },
		{ "1 1\n# Max Latencies: 9223372036854775807\n", "line 2: names an impossible" },
		{ "1 1 2 4\n# Min Latencies: 1 1\n", "rows have 3 columns and the summary 2" },
		{ "1 1 2 3 4\n# Min Latencies: 1 1\n", "rows have 4 columns and the summary 2" },
		{ "# Histogram\n1 1\n# Thread 0:\n# Histogram\n1 1\n",
		  "line 4: a second histogram" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct cyclictest_columns columns;
		struct fail fail = { "" };
		int err = read_text(bad[i].text, 1000, &columns, &fail);

		if (err != -EBADMSG || !strstr(fail.text, bad[i].says))
			fail_msg("'%s' gives %d, \"%s\"", bad[i].text, err, fail.text);
	}
}

/* Each prefix of a whole text is read or refused, and nothing beyond its end is looked at. */
static void survives_cut_text(void **state)
{
	struct cyclictest_report r = report(2);
	struct strbuf text = STRBUF_INIT;
	size_t taken = 0;

	(void)state;
	r.sum_column = true;
	cyclictest_write_histogram(&r, &text.sink);
	for (size_t cut = text.length; cut-- > 0;) {
		struct cyclictest_columns columns;
		struct fail fail = { "" };
		int err;

		text.text[cut] = 0;
		err = read_text(text.text, 1000, &columns, &fail);
		assert_true(!err || err == -EBADMSG);
		if (err)
			continue;
		taken++;
		cyclictest_columns_free(&columns);
	}
	assert_true(taken > 0);
	strbuf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_both_dialects),
		cmocka_unit_test(writes_the_sum_column),
		cmocka_unit_test(writes_status_and_values),
		cmocka_unit_test(writes_json),
		cmocka_unit_test(reads_what_it_writes),
		cmocka_unit_test(reads_a_captured_run),
		cmocka_unit_test(reads_bare_rows),
		cmocka_unit_test(reads_no_figures_of_an_idle_thread),
		cmocka_unit_test(refuses_what_is_no_histogram),
		cmocka_unit_test(survives_cut_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

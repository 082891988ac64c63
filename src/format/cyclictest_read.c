// SPDX-License-Identifier: GPL-2.0-or-later
/* The reading half of format/cyclictest.h. */
#include "format/cyclictest.h"

#include "base/fail.h"
#include "stat/histogram.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The original takes no more threads than its kernel has CPUs for. */
#define COLUMNS_MAX 8192

struct reader {
	const char *at, *end; /* what is left of the text */
	size_t line;          /* the number of the line under way */
	bool headed;          /* "# Histogram" was seen */
	int64_t unit_ns;
	int64_t last_bucket;
	size_t columns;   /* of the rows, a sum column included; 0: no row yet */
	size_t threads;   /* by the summary; 0: not told */
	bool last_is_sum; /* so far each row's last number was the sum of the others */
	struct cyclictest_column *column;
	struct fail *fail;
};

/* A stretch of the text between blanks. */
struct word {
	const char *text;
	size_t length;
};

static int bad(const struct reader *r, const char *what)
{
	return fail_set(r->fail, EBADMSG, "line %zu: %s", r->line, what);
}

static bool next_line(struct reader *r, struct word *line)
{
	const char *newline;

	if (r->at == r->end)
		return false;
	newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
	line->text = r->at;
	line->length = (size_t)((newline ? newline : r->end) - r->at);
	r->at = newline ? newline + 1 : r->end;
	if (line->length && line->text[line->length - 1] == '\r')
		line->length--;
	r->line++;
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Takes the next word off LINE. */
static bool next_word(struct word *line, struct word *word)
{
	while (line->length && is_blank(*line->text)) {
		line->text++;
		line->length--;
	}
	word->text = line->text;
	while (line->length && !is_blank(*line->text)) {
		line->text++;
		line->length--;
	}
	word->length = (size_t)(line->text - word->text);
	return word->length > 0;
}

/* Digits only; false for anything else or beyond int64. */
static bool number(const struct word *word, int64_t *value)
{
	int64_t result = 0;

	for (size_t i = 0; i < word->length; i++) {
		int digit = word->text[i] - '0';

		if (digit < 0 || digit > 9 || __builtin_mul_overflow(result, 10, &result) ||
		    __builtin_add_overflow(result, digit, &result))
			return false;
	}
	*value = result;
	return word->length > 0;
}

static bool begins(const struct word *line, const char *with, struct word *rest)
{
	size_t length = strlen(with);

	if (line->length < length || memcmp(line->text, with, length) != 0)
		return false;
	*rest = (struct word){ line->text + length, line->length - length };
	return true;
}

static int add_column(struct reader *r)
{
	size_t size = (r->columns + 1) * sizeof(*r->column);
	struct cyclictest_column *grown;

	if (r->columns == COLUMNS_MAX)
		return bad(r, "has too many columns");
	/* doubling steps: a power of two means that the array is full */
	if (!(r->columns & (r->columns - 1))) {
		grown = realloc(r->column, r->columns ? 2 * size : size);
		if (!grown)
			return fail_set(r->fail, ENOMEM, "out of memory");
		r->column = grown;
	}
	r->column[r->columns] = (struct cyclictest_column){ .histogram = histogram_new() };
	if (!r->column[r->columns].histogram)
		return fail_set(r->fail, ENOMEM, "out of memory");
	r->columns++;
	return 0;
}

static int take_count(struct reader *r, size_t column, int64_t bucket, int64_t count)
{
	struct histogram *histogram = r->column[column].histogram;

	if ((uint64_t)count > UINT64_MAX / 2 - histogram->count)
		return bad(r, "counts too many samples");
	if (count)
		histogram_record(histogram, bucket * r->unit_ns, (uint64_t)count);
	return 0;
}

static int read_row(struct reader *r, struct word line)
{
	bool first = !r->columns;
	int64_t bucket, count, sum = 0, last = 0;
	struct word word;
	size_t columns = 0;
	int err;

	if (!next_word(&line, &word) || !number(&word, &bucket) ||
	    bucket > HISTOGRAM_HIGHEST / r->unit_ns)
		return bad(r, "begins with no latency");
	if (bucket <= r->last_bucket)
		return bad(r, "latencies must ascend");
	r->last_bucket = bucket;
	for (; next_word(&line, &word); columns++) {
		if (!number(&word, &count))
			return bad(r, "holds something else than counts");
		if (!first && columns == r->columns)
			return bad(r, "has more columns than the rows before it");
		err = first ? add_column(r) : 0;
		if (!err)
			err = take_count(r, columns, bucket, count);
		if (err)
			return err;
		if (__builtin_add_overflow(sum, last, &sum))
			return bad(r, "counts too many samples");
		last = count;
	}
	if (!columns || columns != r->columns)
		return bad(r,
			   columns ? "has fewer columns than the rows before it" : "has no count");
	r->last_is_sum = r->last_is_sum && sum == last;
	return 0;
}

enum summary { SUMMARY_MIN, SUMMARY_MAX, SUMMARY_OVERFLOWS };

static int read_summary(struct reader *r, enum summary what, struct word line)
{
	struct word word;
	size_t count = 0;
	int64_t value;

	for (; next_word(&line, &word); count++) {
		if (!number(&word, &value))
			return bad(r, "holds something else than numbers");
		if (count >= r->columns)
			return bad(r, "has more columns than the rows");
		if (what == SUMMARY_OVERFLOWS) {
			r->column[count].overflows_known = true;
			r->column[count].overflows = (uint64_t)value;
		} else if (value > HISTOGRAM_HIGHEST / r->unit_ns) {
			return bad(r, "names an impossible latency");
		} else if (what == SUMMARY_MIN) {
			r->column[count].min_ns = value * r->unit_ns;
		} else {
			r->column[count].max_ns = value * r->unit_ns;
		}
		if (what == SUMMARY_MAX)
			r->column[count].summary = count < r->threads;
	}
	if (what == SUMMARY_MIN)
		r->threads = count;
	return 0;
}

/* Lines that begin with '#'. Totals, averages and cycle numbers can be had from the rest. */
static int read_remark(struct reader *r, const struct word *line)
{
	struct word rest;

	if (begins(line, "# Histogram Overflows:", &rest))
		return read_summary(r, SUMMARY_OVERFLOWS, rest);
	if (begins(line, "# Min Latencies:", &rest))
		return read_summary(r, SUMMARY_MIN, rest);
	if (begins(line, "# Max Latencies:", &rest))
		return read_summary(r, SUMMARY_MAX, rest);
	if (!begins(line, "# Histogram", &rest) || rest.length)
		return 0;
	if (r->headed)
		return bad(r, "a second histogram begins");
	r->headed = true;
	return 0;
}

static bool is_empty(struct word line)
{
	struct word word;

	return !next_word(&line, &word);
}

/* Where the text has a heading, all before it is other output of the run. */
static void skip_to_heading(struct reader *r)
{
	struct reader look = *r;
	struct word line, rest;

	while (next_line(&look, &line)) {
		if (!begins(&line, "# Histogram", &rest) || rest.length)
			continue;
		r->at = line.text;
		r->line = look.line - 1;
		return;
	}
}

static int read_lines(struct reader *r)
{
	bool over = false;
	struct word line, rest;

	skip_to_heading(r);
	while (next_line(r, &line)) {
		int err = 0;

		if (is_empty(line))
			continue;
		if (*line.text == '#') {
			err = read_remark(r, &line);
			/* behind the last of these may follow anything, as a script prints it */
			over = over || begins(&line, "# Thread ", &rest);
		} else if (!over) {
			err = read_row(r, line);
		}
		if (err)
			return err;
	}
	return r->columns ? 0 : fail_set(r->fail, EBADMSG, "there is no histogram in it");
}

static int drop_sum_column(struct reader *r)
{
	if (!r->threads || r->threads == r->columns)
		return 0;
	if (r->threads + 1 != r->columns || !r->last_is_sum)
		return fail_set(r->fail, EBADMSG, "rows have %zu columns and the summary %zu",
				r->columns, r->threads);
	histogram_free(r->column[--r->columns].histogram);
	return 0;
}

/* A thread without a sample has the original's first values there, a minimum above the maximum. */
static void drop_void_summaries(struct reader *r)
{
	for (size_t i = 0; i < r->columns; i++) {
		if (r->column[i].min_ns > r->column[i].max_ns)
			r->column[i].summary = false;
	}
}

int cyclictest_read_histogram(const char *text, size_t size, int64_t unit_ns,
			      struct cyclictest_columns *columns, struct fail *fail)
{
	struct reader r = {
		.at = text,
		.end = text + size,
		.unit_ns = unit_ns,
		.last_bucket = -1,
		.last_is_sum = true,
		.fail = fail,
	};
	int err = read_lines(&r);

	if (!err)
		err = drop_sum_column(&r);
	drop_void_summaries(&r);
	*columns = (struct cyclictest_columns){ r.columns, r.column };
	if (err)
		cyclictest_columns_free(columns);
	return err;
}

void cyclictest_columns_free(struct cyclictest_columns *columns)
{
	for (size_t i = 0; i < columns->count; i++)
		histogram_free(columns->columns[i].histogram);
	free(columns->columns);
	*columns = (struct cyclictest_columns){ 0 };
}

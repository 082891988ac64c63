// SPDX-License-Identifier: GPL-2.0-or-later
/* Sessions and lists of them out of the store. */
#include "base/fail.h"
#include "result/session.h"
#include "store/columns.h"
#include "store/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct loading {
	struct session *session;
	int64_t number;
	bool ended;
	char *goals, *shape,
		*distortions; /* what was said at the end, of a session that was ended */
};

static int keep(char **into, const char *text, struct fail *fail)
{
	*into = *text ? strdup(text) : NULL;
	return *text && !*into ? store_no_memory(fail) : 0;
}

static int take_session(struct loading *loading, struct row *row, struct fail *fail)
{
	struct session *session = loading->session;
	const char *text;
	int err;

	snprintf(session->id, sizeof(session->id), "%s", row_take_text(row));
	session->started_wall_ns = row_take_i64(row);
	session->duration_ns = row_take_i64(row);
	loading->ended = row_take_i64(row);
	session->complete = row_take_i64(row);
	session->interrupted = row_take_i64(row);
	err = column_read_settings(session, row_take_text(row), fail);
	if (!err)
		err = environment_parse(&session->environment, row_take_text(row), fail);
	if (!err)
		err = keep(&loading->goals, row_take_text(row), fail);
	if (!err)
		err = keep(&loading->shape, row_take_text(row), fail);
	if (err)
		return err;
	text = row_take_text(row);
	err = *text ? column_read_gaps(session, text, fail) : 0;
	return err ? err : keep(&loading->distortions, row_take_text(row), fail);
}

/* Puts the store's name before what is wrong with a part of it. */
static int part_failed(const struct store *store, int err, struct fail *fail)
{
	char what[sizeof(fail->text)];

	if (err != -EBADMSG || !fail)
		return err;
	memcpy(what, fail->text, sizeof(what));
	return store_damaged(store, what, fail);
}

static int load_session(struct store *store, struct loading *loading, struct fail *fail)
{
	struct row row = row_start(store, STATEMENT_GET_SESSION);
	int got, err;

	row_put_i64(&row, loading->number);
	got = row_step(store, &row, fail);
	if (got <= 0)
		return got ? got
			   : store_damaged(store, "a session went away while it was read", fail);
	err = take_session(loading, &row, fail);
	if (err)
		err = part_failed(store, err, fail);
	else
		err = row_end(store, &row, fail);
	sqlite3_reset(row.statement);
	return err;
}

/* CPU_END_RUNNING for names of later versions too: nothing is claimed. */
static enum cpu_end end_of(const char *name)
{
	for (int i = CPU_END_DONE; i <= CPU_END_FAILED; i++) {
		if (!strcmp(cpu_end_name((enum cpu_end)i), name))
			return (enum cpu_end)i;
	}
	return CPU_END_RUNNING;
}

static int take_packed(struct store *store, struct cpu_result *cpu, struct row *row,
		       struct fail *fail)
{
	size_t size;
	const unsigned char *data = row_take_blob(row, &size);

	if (data) {
		if (histogram_decode(cpu->histogram, data, size))
			return store_damaged(store, "a histogram of it can't be read", fail);
		/* it keeps counts only; these are exact */
		cpu->histogram->min = cpu->min_ns;
		cpu->histogram->max = cpu->max_ns;
	}
	data = row_take_blob(row, &size);
	if (!data)
		return 0;
	cpu->largest = calloc(1, sizeof(*cpu->largest));
	if (!cpu->largest)
		return store_no_memory(fail);
	switch (unpack_largest(cpu->largest, data, size)) {
	case 0:
		return 0;
	case -ENOMEM:
		return store_no_memory(fail);
	default:
		return store_damaged(store, "its largest samples can't be read", fail);
	}
}

static int take_cpu(struct store *store, struct cpu_result *cpu, struct row *row, struct fail *fail)
{
	int64_t number = row_take_i64(row), merged;
	int err;

	if (number < -1 || number > INT_MAX)
		row->rc = SQLITE_CORRUPT;
	cpu->cpu = (int)number;
	cpu->end = end_of(row_take_text(row));
	cpu->samples = row_take_u64(row);
	cpu->missed = row_take_u64(row);
	cpu->early = row_take_u64(row);
	cpu->moments.count = row_take_u64(row);
	cpu->moments.mean = row_take_double(row);
	cpu->moments.m2 = row_take_double(row);
	cpu->min_ns = row_take_i64(row);
	cpu->max_ns = row_take_i64(row);
	cpu->max_at_ns = row_take_i64(row);
	merged = row_take_i64(row);
	if (merged < 0 || merged > 62)
		row->rc = SQLITE_CORRUPT;
	cpu->windows.merged = (unsigned)merged;
	err = take_packed(store, cpu, row, fail);
	return err ? err : row_end(store, row, fail);
}

static int load_cpus(struct store *store, struct loading *loading, struct fail *fail)
{
	struct row row = row_start(store, STATEMENT_COUNT_CPUS);
	uint64_t count, next = 0;
	int64_t last;
	int got;

	row_put_i64(&row, loading->number);
	got = row_step(store, &row, fail);
	if (got < 0)
		return got;
	count = row_take_u64(&row);
	last = row_take_known(&row);
	sqlite3_reset(row.statement);
	if (count > CPUSET_MAX || last != (int64_t)count - 1)
		return store_damaged(store, "CPUs of a session are missing", fail);
	if (session_set_cpus(loading->session, (size_t)count))
		return store_no_memory(fail);
	row = row_start(store, STATEMENT_GET_CPUS);
	row_put_i64(&row, loading->number);
	while ((got = row_step(store, &row, fail)) == 1) {
		got = next == count ? store_damaged(store, "it has too many CPUs", fail)
				    : take_cpu(store, &loading->session->cpus[next++], &row, fail);
		if (got)
			break;
	}
	sqlite3_reset(row.statement);
	return got;
}

static void take_window(struct window *window, struct row *row)
{
	window->start_ns = row_take_i64(row);
	window->length_ns = row_take_i64(row);
	window->count = row_take_u64(row);
	window->missed = row_take_u64(row);
	window->min_ns = row_take_i64(row);
	window->max_ns = row_take_i64(row);
	window->max_at_ns = row_take_i64(row);
	window->sum_ns = row_take_double(row);
	window->sum_squares = row_take_double(row);
	window->moves = row_take_known(row);
	window->faults = row_take_known(row);
	window->switches = row_take_known(row);
	window->steal_ns = row_take_known(row);
}

static int reserve_window(struct windows *windows, struct fail *fail)
{
	size_t capacity = windows->capacity ? 2 * windows->capacity : 64;
	struct window *grown;

	if (windows->count < windows->capacity)
		return 0;
	grown = reallocarray(windows->items, capacity, sizeof(*grown));
	if (!grown)
		return store_no_memory(fail);
	windows->items = grown;
	windows->capacity = capacity;
	return 0;
}

static int load_windows(struct store *store, struct loading *loading, size_t position,
			struct fail *fail)
{
	struct windows *windows = &loading->session->cpus[position].windows;
	struct row row = row_start(store, STATEMENT_GET_WINDOWS);
	int got;

	row_put_i64(&row, loading->number);
	row_put_u64(&row, position);
	while ((got = row_step(store, &row, fail)) == 1) {
		got = reserve_window(windows, fail);
		if (got)
			break;
		take_window(&windows->items[windows->count++], &row);
		got = row_end(store, &row, fail);
		if (got)
			break;
	}
	sqlite3_reset(row.statement);
	return got;
}

/* The next best of what a run that was cut off could not write: each window's largest sample. */
static int derive_largest(struct cpu_result *cpu, struct fail *fail)
{
	if (cpu->largest)
		return 0;
	cpu->largest = calloc(1, sizeof(*cpu->largest));
	if (!cpu->largest)
		return store_no_memory(fail);
	for (size_t i = 0; i < cpu->windows.count; i++) {
		const struct window *window = &cpu->windows.items[i];

		if (window->count)
			largest_record(cpu->largest, window->max_at_ns, window->max_ns);
	}
	return 0;
}

/* The histogram of a batch may be ahead of the windows by a part of one. Where it holds a sample
 * beyond min or max, its bucket's end stands for it, and its time for that of the last window's
 * end. */
static void reconcile(struct cpu_result *cpu)
{
	const struct windows *windows = &cpu->windows;
	struct histogram *histogram = cpu->histogram;
	size_t first = 0, last = HISTOGRAM_BUCKETS - 1;

	if (histogram->count <= cpu->samples)
		return;
	while (!histogram->counts[first])
		first++;
	while (!histogram->counts[last])
		last--;
	if (!cpu->samples || first < histogram_bucket(cpu->min_ns))
		cpu->min_ns = histogram_low(first);
	if (!cpu->samples || last > histogram_bucket(cpu->max_ns)) {
		cpu->max_ns = histogram_low(last);
		cpu->max_at_ns = windows->count
					 ? windows->items[windows->count - 1].start_ns +
						   windows->items[windows->count - 1].length_ns
					 : 0;
	}
	cpu->samples = histogram->count;
	histogram->min = cpu->min_ns;
	histogram->max = cpu->max_ns;
}

/* A session that was ended keeps what was said of it then; of another all is derived now. */
static int conclude(struct store *store, struct loading *loading, struct fail *fail)
{
	struct session *session = loading->session;
	int err = 0;

	if (!loading->ended) {
		session->complete = false;
		for (size_t i = 0; !err && i < session->cpu_count; i++) {
			session->cpus[i].end = CPU_END_RUNNING;
			reconcile(&session->cpus[i]);
			err = derive_largest(&session->cpus[i], fail);
		}
		if (!err && loading->distortions)
			err = column_read_distortions(session, loading->distortions, fail);
	}
	if (!err && loading->goals)
		err = column_read_goals(session, loading->goals, fail);
	if (!err && session_conclude(session))
		err = store_no_memory(fail);
	if (err || !loading->ended)
		return part_failed(store, err, fail);
	if (loading->goals)
		err = column_read_goals(session, loading->goals, fail);
	if (!err && loading->shape)
		err = column_read_shape(session, loading->shape, fail);
	if (!err && loading->distortions)
		err = column_read_distortions(session, loading->distortions, fail);
	return part_failed(store, err, fail);
}

static int load_parts(struct store *store, struct loading *loading, struct fail *fail)
{
	int err = load_session(store, loading, fail);

	if (!err)
		err = load_cpus(store, loading, fail);
	for (size_t i = 0; !err && i < loading->session->cpu_count; i++)
		err = load_windows(store, loading, i, fail);
	return err ? err : conclude(store, loading, fail);
}

/* All reads see the same state, whatever a running measurement writes in between. */
static int begin_reading(struct store *store, struct fail *fail)
{
	int rc = sqlite3_exec(store->db, "BEGIN", NULL, NULL, NULL);

	return rc ? store_fail(store, rc, "read", fail) : 0;
}

static void end_reading(struct store *store)
{
	sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL);
}

static int load(struct store *store, const char *id, struct session **session, struct fail *fail)
{
	struct loading loading = { .session = session_new() };
	int err = loading.session ? store_find(store, id, &loading.number, fail)
				  : store_no_memory(fail);

	if (!err)
		err = load_parts(store, &loading, fail);
	free(loading.goals);
	free(loading.shape);
	free(loading.distortions);
	if (err)
		session_free(loading.session);
	else
		*session = loading.session;
	return err;
}

int store_load(struct store *store, const char *id, struct session **session, struct fail *fail)
{
	int err = begin_reading(store, fail);

	if (err)
		return err;
	err = load(store, id, session, fail);
	end_reading(store);
	return err;
}

static void take_entry(struct session_entry *entry, struct row *row)
{
	snprintf(entry->id, sizeof(entry->id), "%s", row_take_text(row));
	entry->started_wall_ns = row_take_i64(row);
	entry->duration_ns = row_take_i64(row);
	entry->ended = row_take_i64(row);
	entry->complete = row_take_i64(row);
	entry->interrupted = row_take_i64(row);
	snprintf(entry->cpus, sizeof(entry->cpus), "%s", row_take_text(row));
	snprintf(entry->source, sizeof(entry->source), "%s", row_take_text(row));
	snprintf(entry->policy, sizeof(entry->policy), "%s", row_take_text(row));
	snprintf(entry->kernel, sizeof(entry->kernel), "%s", row_take_text(row));
	snprintf(entry->goal, sizeof(entry->goal), "%s", row_take_text(row));
	snprintf(entry->verdict, sizeof(entry->verdict), "%s", row_take_text(row));
	entry->samples = row_take_u64(row);
	entry->missed = row_take_u64(row);
	entry->p99_ns = row_take_known(row);
	entry->max_ns = row_take_known(row);
}

static int take_entries(struct store *store, size_t limit, struct session_entry **entries,
			size_t *count, struct fail *fail)
{
	struct row row = row_start(store, STATEMENT_LIST);
	size_t capacity = 0;
	int got;

	row_put_i64(&row, limit && limit < INT64_MAX ? (int64_t)limit : -1);
	while ((got = row_step(store, &row, fail)) == 1) {
		if (*count == capacity) {
			size_t more = capacity ? 2 * capacity : 32;
			struct session_entry *grown = reallocarray(*entries, more, sizeof(*grown));

			if (!grown) {
				got = store_no_memory(fail);
				break;
			}
			*entries = grown;
			capacity = more;
		}
		take_entry(&(*entries)[(*count)++], &row);
		got = row_end(store, &row, fail);
		if (got)
			break;
	}
	sqlite3_reset(row.statement);
	return got;
}

/* Of a session that was not ended, p99 and verdict stand nowhere yet. A damaged one stays in the
 * list: its figures are not known. */
static int derive_entry(struct store *store, struct session_entry *entry, struct fail *fail)
{
	struct session *session;
	int err = load(store, entry->id, &session, fail);

	snprintf(entry->verdict, sizeof(entry->verdict), "%s", verdict_name(VERDICT_UNKNOWN));
	if (err)
		return err == -EBADMSG ? 0 : err;
	entry->duration_ns = session->duration_ns;
	entry->samples = session->all.samples;
	entry->missed = session->all.missed;
	entry->max_ns = session->all.samples ? session->all.max_ns : -1;
	entry->p99_ns = histogram_supported(session->all.histogram, 99);
	snprintf(entry->verdict, sizeof(entry->verdict), "%s",
		 verdict_name(session->goals.verdict));
	session_free(session);
	return 0;
}

int store_list(struct store *store, size_t limit, struct session_entry **entries, size_t *count,
	       struct fail *fail)
{
	struct session_entry *list = NULL;
	size_t found = 0;
	int err = begin_reading(store, fail);

	if (err)
		return err;
	err = take_entries(store, limit, &list, &found, fail);
	for (size_t i = 0; !err && i < found; i++) {
		if (!list[i].ended)
			err = derive_entry(store, &list[i], fail);
	}
	end_reading(store);
	if (err) {
		free(list);
		return err;
	}
	*entries = list;
	*count = found;
	return 0;
}

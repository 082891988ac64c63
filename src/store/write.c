// SPDX-License-Identifier: GPL-2.0-or-later
/* A run on its way into the store. */
#include "base/fail.h"
#include "base/sink.h"
#include "result/session.h"
#include "store/columns.h"
#include "store/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

typedef void column_writer(const struct session *session, struct sink *sink);

/* A column's text in *BUF. */
static int column(struct strbuf *buf, column_writer *writer, const struct session *session,
		  struct fail *fail)
{
	writer(session, &buf->sink);
	return buf->sink.error ? store_no_memory(fail) : 0;
}

static int begin(struct store *store, struct fail *fail)
{
	struct row row = row_start(store, STATEMENT_BEGIN);

	return row_run(store, &row, fail);
}

/* Ends the transaction: keeps it where ERR is 0, else undoes it and passes ERR on. */
static int end(struct store *store, int err, struct fail *fail)
{
	struct row row;

	if (!err) {
		row = row_start(store, STATEMENT_COMMIT);
		err = row_run(store, &row, fail);
	}
	/* some errors have undone it already */
	if (err && !sqlite3_get_autocommit(store->db)) {
		row = row_start(store, STATEMENT_ROLLBACK);
		row_run(store, &row, NULL);
	}
	return err;
}

static int make_id(char *id, struct fail *fail)
{
	unsigned char bytes[SESSION_ID_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return fail_set(fail, EIO, "cannot get random bytes for the session's id: %s",
				strerror(errno));
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(id + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static const char *kernel_of(const struct session *session)
{
	const struct environment_item *item =
		environment_find(&session->environment, "kernel_release");

	return item && item->kind == ENVIRONMENT_TEXT ? item->text : NULL;
}

static int add_session(struct store *store, const struct session *session, struct fail *fail)
{
	struct strbuf settings = STRBUF_INIT, environment = STRBUF_INIT, goals = STRBUF_INIT,
		      cpus = STRBUF_INIT;
	struct row row = row_start(store, STATEMENT_ADD_SESSION);
	int err = column(&settings, column_write_settings, session, fail);

	cpuset_write(&session->settings.cpus, &cpus.sink);
	if (!err)
		err = column(&environment, column_write_environment, session, fail);
	if (!err)
		err = column(&goals, column_write_goals, session, fail);
	if (!err) {
		row_put_text(&row, session->id);
		row_put_i64(&row, session->started_wall_ns);
		row_put_text(&row, session->settings.source);
		row_put_text(&row, session->settings.policy);
		row_put_text(&row, cpus.text);
		row_put_text(&row, kernel_of(session));
		row_put_text(&row, session->goals.text);
		row_put_text(&row, settings.text);
		row_put_text(&row, environment.text);
		row_put_text(&row, goals.text);
		err = row_run(store, &row, fail);
	}
	strbuf_free(&settings);
	strbuf_free(&environment);
	strbuf_free(&goals);
	strbuf_free(&cpus);
	return err;
}

static int add_cpus(struct store *store, const struct session *session, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && i < session->cpu_count; i++) {
		struct row row = row_start(store, STATEMENT_ADD_CPU);

		row_put_i64(&row, store->session);
		row_put_u64(&row, i);
		row_put_i64(&row, session->cpus[i].cpu);
		err = row_run(store, &row, fail);
	}
	return err;
}

int store_begin(struct store *store, struct session *session, struct fail *fail)
{
	struct store_written *written;
	bool fresh = !*session->id;
	int err = fresh ? make_id(session->id, fail) : 0;

	if (err)
		return err;
	store->session = 0;
	written = calloc(session->cpu_count ? session->cpu_count : 1, sizeof(*written));
	err = written ? begin(store, fail) : store_no_memory(fail);
	if (!err) {
		err = add_session(store, session, fail);
		store->session = sqlite3_last_insert_rowid(store->db);
		if (!err)
			err = add_cpus(store, session, fail);
		err = end(store, err, fail);
	}
	if (err) {
		store->session = 0;
		free(written);
		if (fresh)
			*session->id = '\0';
		return err;
	}
	free(store->written);
	store->written = written;
	store->cpu_count = session->cpu_count;
	return 0;
}

static int reserve(struct store *store, size_t size, struct fail *fail)
{
	unsigned char *grown;

	if (size <= store->packed_size)
		return 0;
	grown = realloc(store->packed, size);
	if (!grown)
		return store_no_memory(fail);
	store->packed = grown;
	store->packed_size = size;
	return 0;
}

static int set_cpu(struct store *store, const struct session *session, size_t position,
		   struct fail *fail)
{
	const struct cpu_result *cpu = &session->cpus[position];
	bool any = cpu->samples > 0;
	size_t size = histogram_encode(cpu->histogram, NULL, 0);
	int err = reserve(store, size, fail);
	struct row row;

	if (err)
		return err;
	histogram_encode(cpu->histogram, store->packed, size);
	row = row_start(store, STATEMENT_SET_CPU);
	row_put_text(&row, cpu_end_name(cpu->end));
	row_put_u64(&row, cpu->samples);
	row_put_u64(&row, cpu->missed);
	row_put_u64(&row, cpu->early);
	row_put_u64(&row, cpu->moments.count);
	row_put_double(&row, cpu->moments.mean);
	row_put_double(&row, cpu->moments.m2);
	row_put_known(&row, any ? cpu->min_ns : -1);
	row_put_known(&row, any ? cpu->max_ns : -1);
	row_put_known(&row, any ? cpu->max_at_ns : -1);
	row_put_i64(&row, cpu->windows.merged);
	row_put_blob(&row, store->packed, size);
	row_put_i64(&row, store->session);
	row_put_u64(&row, position);
	return row_run(store, &row, fail);
}

static int put_window(struct store *store, size_t position, size_t sequence,
		      const struct window *window, struct fail *fail)
{
	struct row row = row_start(store, STATEMENT_PUT_WINDOW);
	bool any = window->count > 0;

	row_put_i64(&row, store->session);
	row_put_u64(&row, position);
	row_put_u64(&row, sequence);
	row_put_i64(&row, window->start_ns);
	row_put_i64(&row, window->length_ns);
	row_put_u64(&row, window->count);
	row_put_u64(&row, window->missed);
	row_put_known(&row, any ? window->min_ns : -1);
	row_put_known(&row, any ? window->max_ns : -1);
	row_put_known(&row, any ? window->max_at_ns : -1);
	row_put_double(&row, window->sum_ns);
	row_put_double(&row, window->sum_squares);
	row_put_known(&row, window->moves);
	row_put_known(&row, window->faults);
	row_put_known(&row, window->switches);
	row_put_known(&row, window->steal_ns);
	return row_run(store, &row, fail);
}

static int drop_windows(struct store *store, size_t position, size_t from, struct fail *fail)
{
	struct row row = row_start(store, STATEMENT_DROP_WINDOWS);

	row_put_i64(&row, store->session);
	row_put_u64(&row, position);
	row_put_u64(&row, from);
	return row_run(store, &row, fail);
}

/* What the file lacks of a CPU's windows. There are never more rows than WINDOWS_MAX and a pending
 * one: when neighbours were merged, which happens as seldom as the run doubles, all are written
 * anew. */
static int put_windows(struct store *store, const struct windows *windows, size_t position,
		       struct store_written *written, struct fail *fail)
{
	bool anew = windows->merged != written->merged || windows->count < written->count;
	size_t next = anew ? 0 : written->count;
	int err = anew ? drop_windows(store, position, 0, fail) : 0;

	for (; !err && next < windows->count; next++)
		err = put_window(store, position, next, &windows->items[next], fail);
	if (!err && windows->pending_parts)
		err = put_window(store, position, next, &windows->pending, fail);
	*written = (struct store_written){ windows->count, windows->merged };
	return err;
}

static int put_cpus(struct store *store, const struct session *session,
		    struct store_written *written, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && i < store->cpu_count; i++) {
		written[i] = store->written[i];
		err = set_cpu(store, session, i, fail);
		if (!err)
			err = put_windows(store, &session->cpus[i].windows, i, &written[i], fail);
	}
	return err;
}

/* How long the run has lasted, by its windows where the session does not say it yet. */
static int64_t duration_of(const struct session *session)
{
	int64_t last = session->duration_ns;

	for (size_t i = 0; i < session->cpu_count; i++) {
		const struct windows *windows = &session->cpus[i].windows;
		const struct window *window = windows->pending_parts ? &windows->pending
					      : windows->count ? &windows->items[windows->count - 1]
							       : NULL;

		if (window && window->start_ns + window->length_ns > last)
			last = window->start_ns + window->length_ns;
	}
	return last;
}

static int put_progress(struct store *store, const struct session *session, struct fail *fail)
{
	struct strbuf gaps = STRBUF_INIT, distortions = STRBUF_INIT;
	struct row row = row_start(store, STATEMENT_PROGRESS);
	uint64_t samples = 0, missed = 0;
	int64_t max_ns = -1;
	int err = column(&gaps, column_write_gaps, session, fail);

	for (size_t i = 0; i < session->cpu_count; i++) {
		const struct cpu_result *cpu = &session->cpus[i];

		samples += cpu->samples;
		missed += cpu->missed;
		if (cpu->samples && cpu->max_ns > max_ns)
			max_ns = cpu->max_ns;
	}
	if (!err)
		err = column(&distortions, column_write_distortions, session, fail);
	if (!err) {
		row_put_i64(&row, duration_of(session));
		row_put_u64(&row, samples);
		row_put_u64(&row, missed);
		row_put_known(&row, max_ns);
		row_put_text(&row, gaps.text);
		row_put_text(&row, distortions.text);
		row_put_i64(&row, store->session);
		err = row_run(store, &row, fail);
	}
	strbuf_free(&gaps);
	strbuf_free(&distortions);
	return err;
}

static int put_largest(struct store *store, const struct session *session, struct fail *fail)
{
	int err = reserve(store, pack_largest_bound(), fail);

	for (size_t i = 0; !err && i < store->cpu_count; i++) {
		size_t size = store->packed_size;
		struct row row;

		if (!session->cpus[i].largest)
			continue;
		if (pack_largest(session->cpus[i].largest, store->packed, &size))
			return store_no_memory(fail);
		row = row_start(store, STATEMENT_SET_LARGEST);
		row_put_blob(&row, store->packed, size);
		row_put_i64(&row, store->session);
		row_put_u64(&row, i);
		err = row_run(store, &row, fail);
	}
	return err;
}

static int put_end(struct store *store, const struct session *session, struct fail *fail)
{
	struct strbuf environment = STRBUF_INIT, goals = STRBUF_INIT, shape = STRBUF_INIT;
	const struct histogram *all = session->all.histogram;
	struct row row = row_start(store, STATEMENT_END);
	int err = column(&environment, column_write_environment, session, fail);

	if (!err)
		err = column(&goals, column_write_goals, session, fail);
	if (!err)
		err = column(&shape, column_write_shape, session, fail);
	if (!err) {
		row_put_i64(&row, session->complete);
		row_put_i64(&row, session->interrupted);
		row_put_text(&row, kernel_of(session));
		row_put_text(&row, verdict_name(session->goals.verdict));
		row_put_known(&row, all ? histogram_supported(all, 99) : -1);
		row_put_text(&row, environment.text);
		row_put_text(&row, goals.text);
		row_put_text(&row, shape.text);
		row_put_i64(&row, store->session);
		err = row_run(store, &row, fail);
	}
	strbuf_free(&environment);
	strbuf_free(&goals);
	strbuf_free(&shape);
	return err;
}

enum extent { EXTENT_BATCH, EXTENT_END };

static int put_all(struct store *store, const struct session *session, enum extent extent,
		   struct store_written *written, struct fail *fail)
{
	int err = begin(store, fail);

	if (err)
		return err;
	err = put_progress(store, session, fail);
	if (!err)
		err = put_cpus(store, session, written, fail);
	if (!err && extent == EXTENT_END)
		err = put_largest(store, session, fail);
	if (!err && extent == EXTENT_END)
		err = put_end(store, session, fail);
	return end(store, err, fail);
}

static int put(struct store *store, const struct session *session, enum extent extent,
	       struct fail *fail)
{
	struct store_written *written;
	int err;

	if (!store->session || session->cpu_count != store->cpu_count)
		return fail_set(fail, EIO, "the session was not begun in the store %s",
				store->path);
	written = calloc(store->cpu_count ? store->cpu_count : 1, sizeof(*written));
	if (!written)
		return store_no_memory(fail);
	err = put_all(store, session, extent, written, fail);
	/* what an undone batch wrote is not in the file */
	if (!err)
		memcpy(store->written, written, store->cpu_count * sizeof(*written));
	free(written);
	return err;
}

int store_batch(struct store *store, const struct session *session, struct fail *fail)
{
	return put(store, session, EXTENT_BATCH, fail);
}

int store_end(struct store *store, const struct session *session, struct fail *fail)
{
	int err = put(store, session, EXTENT_END, fail);

	if (!err)
		store->session = 0;
	return err;
}

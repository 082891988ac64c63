// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/compare_parts.h"

#include "base/sink.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct remarks compare_remarks(const struct session *a, const struct session *b)
{
	struct remarks remarks = {
		{ "One run each says little: a difference may be chance. Measure both in turn "
		  "a few times (A B A B) before you believe it." }
	};
	double ratio = (double)a->duration_ns / (double)b->duration_ns;

	if (!(ratio > 0.9 && ratio < 1.1))
		remarks.text[1] = "They ran for different times: max, missed and the highest "
				  "percentiles grow "
				  "with the length of a run.";
	return remarks;
}

struct pair compare_pair(const struct figure *figure, const struct cpu_result *a,
			 const struct cpu_result *b)
{
	struct pair pair = { 0 };

	pair.known_a = figure->value(figure, a, &pair.a);
	pair.known_b = figure->value(figure, b, &pair.b);
	return pair;
}

struct reasons compare_reasons(const struct session *a, const struct session *b)
{
	const struct settings *left = &a->settings, *right = &b->settings;
	struct reasons reasons = { 0 };
	char from[32], to[32];

	if (strcmp(left->source, right->source) != 0)
		snprintf(reasons.text[reasons.count++], sizeof(reasons.text[0]),
			 "source %s against %s", left->source, right->source);
	if (left->interval_ns != right->interval_ns)
		snprintf(reasons.text[reasons.count++], sizeof(reasons.text[0]),
			 "interval %s against %s",
			 str_from_duration(from, sizeof(from), left->interval_ns),
			 str_from_duration(to, sizeof(to), right->interval_ns));
	if (strcmp(left->policy, right->policy) != 0)
		snprintf(reasons.text[reasons.count++], sizeof(reasons.text[0]),
			 "policy %s against %s", left->policy, right->policy);
	return reasons;
}

/* Settings as a flat list, so that they are compared as surroundings are. */
static int add_cpus(struct environment *list, const char *key, const struct cpuset *cpus)
{
	struct strbuf text = STRBUF_INIT;
	int err;

	cpuset_write(cpus, &text.sink);
	err = text.sink.error ? text.sink.error
			      : environment_text(list, key, text.text ? text.text : "");
	strbuf_free(&text);
	return err;
}

static int add_number(struct environment *list, const char *key, int64_t value, int64_t none,
		      const char *reason)
{
	return value == none ? environment_unknown(list, key, reason)
			     : environment_number(list, key, value);
}

static int list_settings(const struct settings *settings, struct environment *list)
{
	int err = environment_text(list, "source", settings->source);

	err = err ? err : environment_text(list, "policy", settings->policy);
	err = err ? err : add_number(list, "priority", settings->priority, 0, "none");
	err = err ? err : environment_number(list, "interval_ns", settings->interval_ns);
	err = err ? err : add_number(list, "duration_ns", settings->duration_ns, 0, "not limited");
	err = err ? err : add_number(list, "samples", (int64_t)settings->samples, 0, "not limited");
	err = err ? err : environment_number(list, "window_ns", settings->window_ns);
	err = err ? err
		  : add_number(list, "dma_latency_us", settings->dma_latency_us, -1, "not held");
	err = err ? err : add_cpus(list, "cpus", &settings->cpus);
	err = err ? err : add_cpus(list, "wakers", &settings->wakers);
	err = err ? err : environment_text(list, "aligned", settings->aligned ? "yes" : "no");
	err = err ? err : environment_text(list, "pinned", settings->pinned ? "yes" : "no");
	return err ? err
		   : environment_text(list, "phase", settings->fixed_phase ? "fixed" : "random");
}

static bool same_item(const struct environment_item *a, const struct environment_item *b)
{
	if (!a || !b || a->kind != b->kind)
		return false;
	switch (a->kind) {
	case ENVIRONMENT_TEXT:
		return !strcmp(a->text, b->text);
	case ENVIRONMENT_NUMBER:
		return a->number == b->number;
	case ENVIRONMENT_UNKNOWN:
		return true;
	}
	return false;
}

size_t compare_environments(const struct environment *a, const struct environment *b,
			    item_teller *tell, void *context)
{
	size_t told = 0;

	for (size_t i = 0; i < a->count; i++) {
		const struct environment_item *other = environment_find(b, a->items[i].key);

		if (same_item(&a->items[i], other))
			continue;
		tell(context, &a->items[i], other);
		told++;
	}
	for (size_t i = 0; i < b->count; i++) {
		if (environment_find(a, b->items[i].key))
			continue;
		tell(context, NULL, &b->items[i]);
		told++;
	}
	return told;
}

size_t compare_settings(const struct session *a, const struct session *b, item_teller *tell,
			void *context, struct sink *sink)
{
	struct environment left = { 0 }, right = { 0 };
	size_t told = 0;
	int err = list_settings(&a->settings, &left);

	if (!err)
		err = list_settings(&b->settings, &right);
	if (err)
		sink->error = sink->error ? sink->error : err;
	else
		told = compare_environments(&left, &right, tell, context);
	environment_free(&left);
	environment_free(&right);
	return told;
}

const struct cpu_result *compare_cpu(const struct session *session, int cpu)
{
	for (size_t i = 0; session->settings.pinned && i < session->cpu_count; i++) {
		if (session->cpus[i].cpu == cpu)
			return &session->cpus[i];
	}
	return NULL;
}

double compare_percent(const struct pair *pair, bool comparable)
{
	if (!comparable || !pair->known_a || !pair->known_b || !pair->a)
		return NAN;
	return 100 * (double)(pair->b - pair->a) / (double)pair->a;
}

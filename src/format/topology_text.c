// SPDX-License-Identifier: GPL-2.0-or-later
/* The picture of a board: blocks of equal CPUs, then what they share, then what is odd. */
#include "base/sink.h"
#include "board/devicetree.h"
#include "board/topology.h"
#include "format/topology.h"
#include "format/topology_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL 16 /* up to here every CPU has its own line */

static void heading(struct sink *sink, const char *text)
{
	sink_printf(sink, "\n%s\n", text);
}

static void write_set(struct sink *sink, const char *name, const struct cpuset *set, bool known)
{
	sink_printf(sink, "%s ", name);
	if (!known)
		sink_text(sink, "unknown");
	else if (cpuset_empty(set))
		sink_text(sink, "none");
	else
		cpuset_write(set, sink);
}

static void count_word(struct sink *sink, int count, const char *one, const char *many)
{
	if (count != TOPOLOGY_UNKNOWN)
		sink_printf(sink, ", %d %s", count, topology_plural(count, one, many));
}

static void write_summary(const struct topology *t, struct sink *sink)
{
	struct strbuf line = STRBUF_INIT;
	int online = cpuset_count(&t->cpus.online);

	sink_printf(&line.sink, "%s, Linux %s, %s", t->model ? t->model : "board of unknown make",
		    t->kernel ? t->kernel : "of unknown release",
		    t->arch ? t->arch : "unknown architecture");
	topology_line(sink, &line, 4);
	if (!t->cpus.online_known)
		sink_printf(&line.sink, "%zu %s present", t->cpu_count,
			    topology_plural((int64_t)t->cpu_count, "CPU", "CPUs"));
	else if ((size_t)online == t->cpu_count)
		sink_printf(&line.sink, "%d %s", online, topology_plural(online, "CPU", "CPUs"));
	else
		sink_printf(&line.sink, "%d CPUs online of %zu", online, t->cpu_count);
	count_word(&line.sink, t->package_count, "package", "packages");
	if (t->die_count > t->package_count)
		count_word(&line.sink, t->die_count, "die", "dies");
	count_word(&line.sink, t->core_count, "core", "cores");
	if (t->package_count == TOPOLOGY_UNKNOWN && t->core_count == TOPOLOGY_UNKNOWN)
		sink_text(&line.sink, ", cores and packages unknown");
	topology_line(sink, &line, 4);
	write_set(&line.sink, "isolated", &t->cpus.isolated, t->cpus.isolated_known);
	write_set(&line.sink, ", nohz_full", &t->cpus.nohz_full, t->cpus.nohz_full_known);
	topology_line(sink, &line, 4);
}

static bool same_cache(const struct topology_cache *a, const struct topology_cache *b)
{
	return a->level == b->level && a->type == b->type && a->size_bytes == b->size_bytes;
}

static void write_caches(const struct topology *t, struct sink *sink)
{
	bool *done = calloc(t->cache_count + 1, sizeof(*done));

	if (!done) {
		sink->error = sink->error ? sink->error : -ENOMEM;
		return;
	}
	if (t->cache_count)
		heading(sink, "caches");
	for (size_t i = 0; i < t->cache_count; i++) {
		const struct topology_cache *cache = &t->cache[i];
		struct sharing sharing = { 0 };
		struct strbuf line = STRBUF_INIT;
		char size[32];

		for (size_t j = i;
		     !done[i] && j < t->cache_count && t->cache[j].level == cache->level; j++) {
			if (done[j] || !same_cache(cache, &t->cache[j]))
				continue;
			done[j] = j != i;
			sharing_add(&sharing, t, t->cache[j].cpus);
		}
		if (!sharing.count)
			continue;
		sink_printf(&line.sink, "    L%d%-2s %9s  ", cache->level,
			    *cache->type == 'u'   ? ""
			    : *cache->type == 'd' ? "d"
						  : "i",
			    topology_bytes(size, sizeof(size), cache->size_bytes));
		sharing_write(&sharing, t, &line.sink);
		topology_line(sink, &line, 20);
	}
	free(done);
}

static bool same_freq(const struct topology_freq *a, const struct topology_freq *b)
{
	return a->min_khz == b->min_khz && a->max_khz == b->max_khz &&
	       a->limit_min_khz == b->limit_min_khz && a->limit_max_khz == b->limit_max_khz &&
	       a->governor == b->governor && a->driver == b->driver;
}

static void write_freq_row(const struct topology *t, const struct topology_freq *freq,
			   struct sharing *sharing, struct sink *sink)
{
	bool limited =
		(freq->limit_min_khz != TOPOLOGY_UNKNOWN && freq->limit_min_khz != freq->min_khz) ||
		(freq->limit_max_khz != TOPOLOGY_UNKNOWN && freq->limit_max_khz != freq->max_khz);
	struct strbuf line = STRBUF_INIT;
	char low[32], high[32], range[80];

	snprintf(range, sizeof(range), "%s - %s",
		 topology_frequency(low, sizeof(low), freq->min_khz),
		 topology_frequency(high, sizeof(high), freq->max_khz));
	if (freq->min_khz == TOPOLOGY_UNKNOWN && freq->max_khz == TOPOLOGY_UNKNOWN)
		snprintf(range, sizeof(range), "unknown");
	sink_printf(&line.sink, "    %-21s  %-12s  ", range,
		    freq->governor ? freq->governor : "no governor");
	sharing_write(sharing, t, &line.sink);
	topology_line(sink, &line, 41);
	if (!limited)
		return;
	sink_printf(&line.sink, "        allowed now: %s - %s",
		    topology_frequency(low, sizeof(low), freq->limit_min_khz),
		    topology_frequency(high, sizeof(high), freq->limit_max_khz));
	topology_line(sink, &line, 12);
}

static void write_freq(const struct topology *t, struct sink *sink)
{
	if (!t->freq_count)
		return;
	sink_printf(sink, "\nfrequency domains%s%s%s\n", t->freq[0].driver ? " (driver " : "",
		    t->freq[0].driver ? t->freq[0].driver : "", t->freq[0].driver ? ")" : "");
	for (size_t i = 0; i < t->freq_count; i++) {
		struct sharing sharing = { 0 };
		size_t before = 0;

		while (before < i && !same_freq(&t->freq[before], &t->freq[i]))
			before++;
		if (before < i)
			continue;
		for (size_t j = i; j < t->freq_count; j++) {
			if (same_freq(&t->freq[i], &t->freq[j]))
				sharing_add(&sharing, t, t->freq[j].cpus);
		}
		write_freq_row(t, &t->freq[i], &sharing, sink);
	}
}

static void write_idle(const struct topology *t, struct sink *sink)
{
	size_t width = 5;

	if (!t->idle_count)
		return;
	if (t->idle_driver && t->idle_governor)
		sink_printf(sink, "\nidle states (driver %s, governor %s)\n", t->idle_driver,
			    t->idle_governor);
	else
		heading(sink, "idle states");
	for (size_t i = 0; i < t->idle_count; i++) {
		if (t->idle[i].name && strlen(t->idle[i].name) > width)
			width = strlen(t->idle[i].name);
	}
	width = width > 20 ? 20 : width;
	sink_printf(sink, "    %-*s    exit µs    stay µs  on\n", (int)width, "state");
	for (size_t i = 0; i < t->idle_count; i++) {
		const struct topology_idle *state = &t->idle[i];
		struct strbuf line = STRBUF_INIT;
		char leave[32], stay[32];

		sink_printf(&line.sink, "    %-*s  %9s  %9s  ", (int)width,
			    state->name ? state->name : "?",
			    topology_microseconds(leave, sizeof(leave), state->exit_latency_ns),
			    topology_microseconds(stay, sizeof(stay), state->residency_ns));
		if (cpuset_subset(&t->cpus.online, &state->cpus) && t->cpu_count > 1)
			sink_text(&line.sink, "all CPUs");
		else
			cpuset_write(&state->cpus, &line.sink);
		if (!cpuset_empty(&state->disabled)) {
			sink_text(&line.sink, "; switched off on ");
			cpuset_write(&state->disabled, &line.sink);
		}
		topology_line(sink, &line, width + 28);
	}
}

static void write_numa(const struct topology *t, struct sink *sink)
{
	if (t->numa_count < 2)
		return;
	heading(sink, "NUMA nodes");
	for (size_t i = 0; i < t->numa_count; i++) {
		struct strbuf line = STRBUF_INIT;

		sink_printf(&line.sink, "    node %-3d  ", t->numa[i].node);
		if (!t->numa[i].cpus)
			sink_text(&line.sink, "CPUs unknown");
		else if (cpuset_empty(t->numa[i].cpus))
			sink_text(&line.sink, "no CPUs");
		else
			cpuset_write(t->numa[i].cpus, &line.sink);
		topology_line(sink, &line, 14);
	}
}

static void write_names(const char *what, char *const *names, struct sink *sink)
{
	for (size_t i = 0; i < DEVICETREE_LIST && names[i]; i++)
		sink_printf(sink, "%s%s", i ? ", " : what, names[i]);
}

static void write_tree_cpu(const struct devicetree_cpu *cpu, struct sink *sink)
{
	struct strbuf line = STRBUF_INIT;

	sink_printf(&line.sink, "    %-9s ", cpu->node);
	if (cpu->cpu >= 0)
		sink_printf(&line.sink, " CPU %-3d ", cpu->cpu);
	sink_printf(&line.sink, " %s", cpu->compatible ? cpu->compatible : "no compatible");
	if (cpu->place)
		sink_printf(&line.sink, ", %s", cpu->place);
	if (cpu->enable_method)
		sink_printf(&line.sink, ", by %s", cpu->enable_method);
	if (cpu->status)
		sink_printf(&line.sink, ", status %s", cpu->status);
	if (cpu->capacity_dmips_mhz >= 0)
		sink_printf(&line.sink, ", %" PRId64 " DMIPS/MHz", cpu->capacity_dmips_mhz);
	write_names(", idle ", cpu->idle_states, &line.sink);
	write_names(", power ", cpu->power_domains, &line.sink);
	topology_line(sink, &line, 14);
}

static void write_tree(const struct topology *t, bool whole, struct sink *sink)
{
	const struct devicetree *tree = t->tree;
	size_t width = 9;

	if (!tree || !(tree->cpu_count + tree->idle_count))
		return;
	for (size_t i = 0; i < tree->idle_count; i++)
		width = strlen(tree->idle[i].node) > width ? strlen(tree->idle[i].node) : width;
	heading(sink, "device tree");
	for (size_t i = 0; whole && i < tree->cpu_count; i++)
		write_tree_cpu(&tree->cpu[i], sink);
	if (!whole && tree->cpu_count)
		sink_printf(sink, "    %zu CPU nodes\n", tree->cpu_count);
	for (size_t i = 0; i < tree->idle_count; i++) {
		const struct devicetree_idle *state = &tree->idle[i];
		struct strbuf line = STRBUF_INIT;
		char entry[32], leave[32], stay[32];

		sink_printf(&line.sink, "    %-*s  entry %s, exit %s, stay %s µs%s",
			    (int)(width > 24 ? 24 : width), state->node,
			    topology_microseconds(entry, sizeof(entry), state->entry_latency_ns),
			    topology_microseconds(leave, sizeof(leave), state->exit_latency_ns),
			    topology_microseconds(stay, sizeof(stay), state->residency_ns),
			    state->local_timer_stop ? ", stops the local timer" : "");
		topology_line(sink, &line, 14);
	}
}

static void write_odd(const struct topology *t, struct sink *sink)
{
	if (!t->odd_count)
		return;
	heading(sink, "odd");
	for (size_t i = 0; i < t->odd_count; i++) {
		struct strbuf line = STRBUF_INIT;

		sink_printf(&line.sink, "  - %s", t->odd[i]);
		topology_line(sink, &line, 4);
	}
}

void topology_write_text(const struct topology *t, enum topology_detail detail, struct sink *sink)
{
	bool whole = detail == TOPOLOGY_WHOLE || t->cpu_count <= SMALL;

	write_summary(t, sink);
	topology_write_blocks(t, whole, sink);
	write_caches(t, sink);
	write_freq(t, sink);
	write_idle(t, sink);
	write_numa(t, sink);
	write_tree(t, whole, sink);
	write_odd(t, sink);
}

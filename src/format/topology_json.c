// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/json_writer.h"
#include "board/devicetree.h"
#include "board/topology.h"
#include "format/topology.h"

#include <string.h>

/* An absent fact is null, never 0. */
static void number(struct json_writer *json, const char *key, int64_t value)
{
	if (value == TOPOLOGY_UNKNOWN)
		json_null_value(json, key);
	else
		json_i64(json, key, value);
}

static void set(struct json_writer *json, const char *key, const struct cpuset *cpus)
{
	if (cpus)
		json_cpuset(json, key, cpus);
	else
		json_null_value(json, key);
}

static void known_set(struct json_writer *json, const char *key, const struct cpuset *cpus,
		      bool known)
{
	set(json, key, known ? cpus : NULL);
}

/* Whether CPU is in a set that may be unknown. */
static void member(struct json_writer *json, const char *key, const struct cpuset *cpus, bool known,
		   int cpu)
{
	if (known)
		json_bool(json, key, cpuset_has(cpus, cpu));
	else
		json_null_value(json, key);
}

static void write_board(const struct topology *t, struct json_writer *json)
{
	json_begin_object_inline(json, "board");
	json_text(json, "model", t->model);
	json_text(json, "kernel", t->kernel);
	json_text(json, "arch", t->arch);
	json_end(json);
	set(json, "present", &t->cpus.present);
	known_set(json, "online", &t->cpus.online, t->cpus.online_known);
	known_set(json, "possible", &t->cpus.possible, t->cpus.possible_known);
	known_set(json, "isolated", &t->cpus.isolated, t->cpus.isolated_known);
	known_set(json, "nohz_full", &t->cpus.nohz_full, t->cpus.nohz_full_known);
	json_begin_object_inline(json, "counts");
	json_i64(json, "present", (int64_t)t->cpu_count);
	number(json, "online",
	       t->cpus.online_known ? cpuset_count(&t->cpus.online) : TOPOLOGY_UNKNOWN);
	number(json, "packages", t->package_count);
	number(json, "dies", t->die_count);
	number(json, "clusters", t->cluster_count);
	number(json, "cores", t->core_count);
	json_end(json);
}

static void write_cpu(const struct topology *t, const struct topology_cpu *cpu,
		      struct json_writer *json)
{
	const struct board_cpus *sets = &t->cpus;

	json_begin_object_inline(json, NULL);
	json_i64(json, "cpu", cpu->cpu);
	member(json, "online", &sets->online, sets->online_known, cpu->cpu);
	json_bool(json, "present", true);
	number(json, "package", cpu->package);
	number(json, "die", cpu->die);
	number(json, "cluster", cpu->cluster);
	number(json, "core", cpu->core);
	set(json, "smt_siblings", cpu->smt_siblings);
	number(json, "capacity", cpu->capacity);
	json_text(json, "model", cpu->model);
	json_text(json, "revision", cpu->revision);
	json_text(json, "kind", cpu->kind);
	number(json, "max_freq_khz", cpu->max_freq_khz);
	number(json, "freq_domain", cpu->freq_domain);
	member(json, "isolated", &sets->isolated, sets->isolated_known, cpu->cpu);
	member(json, "nohz_full", &sets->nohz_full, sets->nohz_full_known, cpu->cpu);
	number(json, "numa", cpu->numa);
	json_end(json);
}

static void write_caches(const struct topology *t, struct json_writer *json)
{
	json_begin_array(json, "caches");
	for (size_t i = 0; i < t->cache_count; i++) {
		const struct topology_cache *cache = &t->cache[i];

		json_begin_object_inline(json, NULL);
		json_i64(json, "level", cache->level);
		json_text(json, "type", cache->type);
		number(json, "size_bytes", cache->size_bytes);
		number(json, "ways", cache->ways);
		number(json, "line_bytes", cache->line_bytes);
		json_i64(json, "found_at", cache->owner);
		set(json, "cpus", cache->cpus);
		json_end(json);
	}
	json_end(json);
}

static void write_idle(const struct topology *t, struct json_writer *json)
{
	json_text(json, "idle_driver", t->idle_driver);
	json_text(json, "idle_governor", t->idle_governor);
	json_begin_array(json, "idle_states");
	for (size_t i = 0; i < t->idle_count; i++) {
		const struct topology_idle *state = &t->idle[i];

		json_begin_object_inline(json, NULL);
		json_text(json, "name", state->name);
		json_i64(json, "index", state->index);
		json_text(json, "description", state->description);
		json_cpuset(json, "cpus", &state->cpus);
		number(json, "exit_latency_ns", state->exit_latency_ns);
		number(json, "residency_ns", state->residency_ns);
		known_set(json, "disabled", &state->disabled, state->disabled_known);
		json_end(json);
	}
	json_end(json);
}

static void write_freq(const struct topology *t, struct json_writer *json)
{
	json_begin_array(json, "freq_domains");
	for (size_t i = 0; i < t->freq_count; i++) {
		const struct topology_freq *freq = &t->freq[i];

		json_begin_object_inline(json, NULL);
		json_i64(json, "domain", freq->domain);
		set(json, "cpus", freq->cpus);
		number(json, "min_khz", freq->min_khz);
		number(json, "max_khz", freq->max_khz);
		number(json, "limit_min_khz", freq->limit_min_khz);
		number(json, "limit_max_khz", freq->limit_max_khz);
		number(json, "transition_latency_ns", freq->transition_latency_ns);
		json_text(json, "governor", freq->governor);
		json_text(json, "driver", freq->driver);
		json_end(json);
	}
	json_end(json);
	json_begin_array(json, "numa");
	for (size_t i = 0; i < t->numa_count; i++) {
		json_begin_object_inline(json, NULL);
		json_i64(json, "node", t->numa[i].node);
		set(json, "cpus", t->numa[i].cpus);
		json_end(json);
	}
	json_end(json);
}

static void write_names(struct json_writer *json, const char *key, char *const *names)
{
	json_begin_array_inline(json, key);
	for (size_t i = 0; i < DEVICETREE_LIST && names[i]; i++)
		json_text(json, NULL, names[i]);
	json_end(json);
}

static void write_tree_cpus(const struct devicetree *tree, struct json_writer *json)
{
	json_begin_array(json, "cpus");
	for (size_t i = 0; i < tree->cpu_count; i++) {
		const struct devicetree_cpu *cpu = &tree->cpu[i];

		json_begin_object_inline(json, NULL);
		json_text(json, "node", cpu->node);
		number(json, "cpu", cpu->cpu);
		number(json, "reg", cpu->reg);
		json_text(json, "compatible", cpu->compatible);
		json_text(json, "enable_method", cpu->enable_method);
		json_text(json, "status", cpu->status);
		json_text(json, "cpu_map", cpu->place);
		number(json, "capacity_dmips_mhz", cpu->capacity_dmips_mhz);
		number(json, "clock_hz", cpu->clock_hz);
		write_names(json, "idle_states", cpu->idle_states);
		write_names(json, "power_domains", cpu->power_domains);
		json_end(json);
	}
	json_end(json);
}

static void write_tree(const struct devicetree *tree, struct json_writer *json)
{
	if (!tree) {
		json_null_value(json, "devicetree");
		return;
	}
	json_begin_object(json, "devicetree");
	json_text(json, "model", tree->model);
	json_text(json, "compatible", tree->compatible);
	write_tree_cpus(tree, json);
	json_begin_array(json, "idle_states");
	for (size_t i = 0; i < tree->idle_count; i++) {
		const struct devicetree_idle *state = &tree->idle[i];

		json_begin_object_inline(json, NULL);
		json_text(json, "node", state->node);
		json_text(json, "compatible", state->compatible);
		number(json, "entry_latency_ns", state->entry_latency_ns);
		number(json, "exit_latency_ns", state->exit_latency_ns);
		number(json, "residency_ns", state->residency_ns);
		json_bool(json, "local_timer_stop", state->local_timer_stop);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

void topology_write_json(const struct topology *t, struct sink *sink)
{
	struct json_writer json;

	json_init(&json, sink);
	json_begin_object(&json, NULL);
	json_text(&json, "schema", "punctual/topology/1");
	write_board(t, &json);
	json_begin_array(&json, "cpus");
	for (size_t i = 0; i < t->cpu_count; i++)
		write_cpu(t, &t->cpu[i], &json);
	json_end(&json);
	write_caches(t, &json);
	write_idle(t, &json);
	write_freq(t, &json);
	write_tree(t->tree, &json);
	json_begin_array(&json, "odd");
	for (size_t i = 0; i < t->odd_count; i++)
		json_text(&json, NULL, t->odd[i]);
	json_end(&json);
	json_end(&json);
}

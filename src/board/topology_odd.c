// SPDX-License-Identifier: GPL-2.0-or-later
/* What is odd about a board: one small check a thing, each from the facts already read. */
#include "base/sink.h"
#include "board/devicetree.h"
#include "board/topology_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX   64 /* bytes of a CPU list inside a sentence */
#define VALUES_MAX 8  /* different values that a sentence names */

__attribute__((format(printf, 2, 3))) static void odd(struct topology *t, const char *format, ...)
{
	const char **grown = topology_grow(t, t->odd, t->odd_count, sizeof(*grown));
	char text[600];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!grown)
		return;
	t->odd = grown;
	grown[t->odd_count] = topology_intern(t, text, strlen(text) + 1);
	t->odd_count += grown[t->odd_count] != NULL;
}

/* A set as it stands in a sentence: "CPU 3", "CPUs 0-1,4". */
struct list_text {
	char text[LIST_MAX + 8];
};

static struct list_text cpus_text(const struct cpuset *set)
{
	char list[LIST_MAX];
	struct list_text result;

	cpuset_text(set, list, sizeof(list));
	snprintf(result.text, sizeof(result.text), "CPU%s %s", cpuset_count(set) == 1 ? "" : "s",
		 list);
	return result;
}

static const char *verb(const struct cpuset *set, const char *one, const char *many)
{
	return cpuset_count(set) == 1 ? one : many;
}

static void check_numbers(struct topology *t)
{
	struct cpuset offline = t->cpus.present;

	if ((size_t)t->cpus.last + 1 != t->cpu_count)
		odd(t, "CPU numbers have holes: present are %s", cpus_text(&t->cpus.present).text);
	if (!t->cpus.online_known)
		return;
	cpuset_without(&offline, &t->cpus.online);
	if (cpuset_empty(&offline))
		return;
	odd(t, "%s %s off line%s", cpus_text(&offline).text, verb(&offline, "is", "are"),
	    !cpuset_has(&offline, 0)      ? ""
	    : cpuset_count(&offline) == 1 ? ", the one that boards start on"
					  : ", with CPU 0, the one that boards start on");
}

static void check_names_absent(struct topology *t, const struct cpuset *set, const char *what)
{
	struct cpuset absent = *set;

	cpuset_without(&absent, &t->cpus.present);
	if (!cpuset_empty(&absent))
		odd(t, "%s names %s, which %s not present", what, cpus_text(&absent).text,
		    verb(&absent, "is", "are"));
}

static void check_isolation(struct topology *t)
{
	struct cpuset isolated = t->cpus.isolated, tickless = t->cpus.nohz_full, housekeeping, rest;

	check_names_absent(t, &t->cpus.isolated, "the list of isolated CPUs");
	check_names_absent(t, &t->cpus.nohz_full, "nohz_full");
	cpuset_and(&isolated, &t->cpus.present);
	cpuset_and(&tickless, &t->cpus.present);
	housekeeping = t->cpus.online;
	cpuset_without(&housekeeping, &isolated);
	if (!cpuset_empty(&isolated) && t->cpus.online_known && cpuset_empty(&housekeeping))
		odd(t, "every online CPU is isolated: none is left for housekeeping");
	if (!t->cpus.isolated_known || !t->cpus.nohz_full_known)
		return;
	rest = isolated;
	cpuset_without(&rest, &tickless);
	if (!cpuset_empty(&rest))
		odd(t, "%s %s isolated but not in nohz_full: the periodic tick stays there",
		    cpus_text(&rest).text, verb(&rest, "is", "are"));
	rest = tickless;
	cpuset_without(&rest, &isolated);
	if (!cpuset_empty(&rest))
		odd(t, "%s %s in nohz_full but not isolated: other tasks may still be placed there",
		    cpus_text(&rest).text, verb(&rest, "is", "are"));
}

/* Isolated CPUs that share what OF yields with housekeeping ones. */
static void split_sets(struct topology *t,
		       const struct cpuset *(*of)(const struct topology *t, size_t i),
		       struct cpuset *isolated, struct cpuset *others)
{
	for (size_t i = 0; i < t->cpu_count; i++) {
		const struct cpuset *set = of(t, i);
		struct cpuset inside, outside;

		if (!set || !cpuset_has(&t->cpus.isolated, t->cpu[i].cpu))
			continue;
		inside = *set;
		outside = *set;
		cpuset_and(&inside, &t->cpus.isolated);
		cpuset_without(&outside, &t->cpus.isolated);
		cpuset_and(&outside, &t->cpus.online);
		if (cpuset_empty(&outside))
			continue;
		cpuset_or(isolated, &inside);
		cpuset_or(others, &outside);
	}
}

static const struct cpuset *siblings_of(const struct topology *t, size_t i)
{
	return t->cpu[i].smt_siblings;
}

static const struct cpuset *domain_of(const struct topology *t, size_t i)
{
	for (size_t d = 0; d < t->freq_count; d++) {
		if (t->freq[d].domain == t->cpu[i].freq_domain)
			return t->freq[d].cpus;
	}
	return NULL;
}

static void check_splits(struct topology *t)
{
	struct cpuset isolated = { 0 }, others = { 0 };

	split_sets(t, siblings_of, &isolated, &others);
	if (!cpuset_empty(&isolated))
		odd(t,
		    "isolated %s share%s cores with housekeeping %s: siblings disturb each other",
		    cpus_text(&isolated).text, verb(&isolated, "s", ""), cpus_text(&others).text);
	isolated = (struct cpuset){ 0 };
	others = (struct cpuset){ 0 };
	split_sets(t, domain_of, &isolated, &others);
	if (!cpuset_empty(&isolated))
		odd(t, "isolated %s share%s a frequency domain with housekeeping %s",
		    cpus_text(&isolated).text, verb(&isolated, "s", ""), cpus_text(&others).text);
}

/* The different values that online CPUs have of one thing, and who has which. */
struct values {
	size_t count;
	bool more;
	struct {
		int64_t value;
		struct cpuset cpus;
	} of[VALUES_MAX];
};

static void collect(const struct topology *t, int64_t (*value)(const struct topology_cpu *cpu),
		    struct values *values)
{
	memset(values, 0, sizeof(*values));
	for (size_t i = 0; i < t->cpu_count; i++) {
		int64_t now = value(&t->cpu[i]);
		size_t at = 0;

		if (now == TOPOLOGY_UNKNOWN || !t->cpu[i].online)
			continue;
		while (at < values->count && values->of[at].value != now)
			at++;
		if (at == VALUES_MAX) {
			values->more = true;
			continue;
		}
		values->of[at].value = now;
		values->count += at == values->count;
		cpuset_add(&values->of[at].cpus, t->cpu[i].cpu);
	}
}

static int64_t capacity_of(const struct topology_cpu *cpu)
{
	return cpu->capacity;
}

static int64_t max_freq_of(const struct topology_cpu *cpu)
{
	return cpu->max_freq_khz;
}

static int64_t threads_of(const struct topology_cpu *cpu)
{
	return cpu->smt_siblings ? cpuset_count(cpu->smt_siblings) : TOPOLOGY_UNKNOWN;
}

static bool check_values(struct topology *t, const char *what, double scale, const char *unit,
			 int64_t (*value)(const struct topology_cpu *cpu))
{
	struct strbuf line = STRBUF_INIT;
	struct values values;

	collect(t, value, &values);
	if (values.count < 2)
		return false;
	sink_text(&line.sink, what);
	for (size_t i = 0; i < values.count; i++)
		sink_printf(&line.sink, "%s %.4g%s (%s)", i ? "," : ":",
			    (double)values.of[i].value / scale, unit,
			    cpus_text(&values.of[i].cpus).text);
	if (values.more)
		sink_text(&line.sink, ", …");
	if (line.sink.error)
		topology_out_of_memory(t);
	else
		odd(t, "%s", line.text);
	strbuf_free(&line);
	return true;
}

static void check_strength(struct topology *t)
{
	/* different capacities explain different frequencies */
	if (!check_values(t, "CPUs of different capacity", 1, "", capacity_of))
		check_values(t, "CPUs of different top frequency", 1e6, " GHz", max_freq_of);
	check_values(t, "cores of different numbers of threads", 1, "", threads_of);
}

static void check_untold(struct topology *t)
{
	struct cpuset no_core = { 0 }, no_package = { 0 }, no_node = { 0 };

	for (size_t i = 0; i < t->cpu_count; i++) {
		const struct topology_cpu *cpu = &t->cpu[i];

		if (!cpu->online)
			continue;
		if (cpu->core == TOPOLOGY_UNKNOWN && !cpu->smt_siblings)
			cpuset_add(&no_core, cpu->cpu);
		else if (cpu->package == TOPOLOGY_UNKNOWN)
			cpuset_add(&no_package, cpu->cpu);
		if (cpu->numa == TOPOLOGY_UNKNOWN)
			cpuset_add(&no_node, cpu->cpu);
	}
	/* a board of one CPU has one core, told or not */
	if (!cpuset_empty(&no_core) && t->cpu_count > 1)
		odd(t, "the kernel tells no core of %s", cpus_text(&no_core).text);
	if (!cpuset_empty(&no_package) && t->cpu_count > 1)
		odd(t, "the kernel tells no package of %s", cpus_text(&no_package).text);
	if (!cpuset_empty(&no_node) && t->numa_count && !cpuset_equal(&no_node, &t->cpus.online))
		odd(t, "%s %s in no NUMA node", cpus_text(&no_node).text,
		    verb(&no_node, "is", "are"));
}

/* Before 5.19 arm64 and arm with a device tree wrote the cluster's number as the package's; a cache
 * that all share shows it (commit "arch_topology: Don't set cluster identifier as physical package
 * identifier"). */
static void check_clusters_as_packages(struct topology *t)
{
	for (size_t i = 0; i < t->cache_count && t->package_count > 1; i++) {
		const struct cpuset *shared = t->cache[i].cpus;
		const struct topology_cpu *owner = topology_find(t, t->cache[i].owner);

		if (!shared || owner->package == TOPOLOGY_UNKNOWN || !owner->package_cpus ||
		    cpuset_subset(shared, owner->package_cpus))
			continue;
		cpuset_for_each (cpu, shared) {
			int package = topology_find(t, cpu)->package;

			if (package == TOPOLOGY_UNKNOWN || package == owner->package)
				continue;
			odd(t,
			    "packages share a level %d cache: they are clusters of one chip, as "
			    "kernels before 5.19 number them",
			    t->cache[i].level);
			return;
		}
	}
}

static void check_caches(struct topology *t)
{
	for (int type = 0; type < 2; type++) {
		const char *name = type ? "instruction" : "data";
		struct cpuset with = { 0 }, without = t->cpus.online;

		for (size_t i = 0; i < t->cache_count; i++) {
			if (t->cache[i].level != 1 || strcmp(t->cache[i].type, name) != 0)
				continue;
			if (t->cache[i].cpus)
				cpuset_or(&with, t->cache[i].cpus);
			cpuset_add(&with, t->cache[i].owner);
		}
		cpuset_without(&without, &with);
		if (!cpuset_empty(&with) && !cpuset_empty(&without))
			odd(t, "no level 1 %s cache is told of %s, but of others", name,
			    cpus_text(&without).text);
	}
}

static void check_frequency(struct topology *t)
{
	struct cpuset limited = { 0 };
	const char *governor = NULL;
	bool differ = false;

	for (size_t i = 0; i < t->freq_count; i++) {
		const struct topology_freq *freq = &t->freq[i];

		if (freq->limit_max_khz != TOPOLOGY_UNKNOWN && freq->limit_max_khz < freq->max_khz)
			cpuset_or(&limited, freq->cpus);
		differ |= governor && freq->governor && governor != freq->governor;
		governor = freq->governor ? freq->governor : governor;
	}
	if (!cpuset_empty(&limited))
		odd(t, "%s may not run as fast as the hardware can", cpus_text(&limited).text);
	if (differ)
		odd(t, "frequency domains have different governors");
}

static void check_idle(struct topology *t)
{
	for (size_t i = 0; i < t->idle_count; i++) {
		const struct topology_idle *state = &t->idle[i];
		struct cpuset off = state->disabled;

		if (state->name && !cpuset_empty(&off))
			odd(t, "idle state %s is switched off on %s", state->name,
			    cpus_text(&off).text);
	}
}

static void check_numa(struct topology *t)
{
	for (size_t i = 0; i < t->numa_count; i++) {
		if (t->numa[i].cpus && cpuset_empty(t->numa[i].cpus))
			odd(t, "NUMA node %d has no CPUs", t->numa[i].node);
	}
}

static void check_tree(struct topology *t)
{
	size_t usable = 0;

	for (size_t i = 0; t->tree && i < t->tree->cpu_count; i++) {
		const char *status = t->tree->cpu[i].status;

		usable += !status || !strcmp(status, "okay") || !strcmp(status, "ok");
	}
	if (usable && usable != t->cpu_count)
		odd(t, "the device tree has %zu usable CPU node%s, the kernel %zu CPU%s", usable,
		    usable == 1 ? "" : "s", t->cpu_count, t->cpu_count == 1 ? "" : "s");
}

void topology_find_odd(struct topology *t)
{
	check_numbers(t);
	check_isolation(t);
	check_splits(t);
	check_strength(t);
	check_untold(t);
	check_clusters_as_packages(t);
	check_caches(t);
	check_frequency(t);
	check_idle(t);
	check_numa(t);
	check_tree(t);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packages, dies, clusters, cores and siblings, from cpuN/topology (Documentation/ABI/stable/
 * sysfs-devices-system-cpu). A group's set and id are read in its first CPU's directory only.
 */
#include "board/topology_parts.h"
#include "sys/root.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct group {
	const char *id;
	const char *mask, *list;         /* since 5.3 */
	const char *old_mask, *old_list; /* before, and since under both names */
	size_t id_offset, set_offset;    /* in struct topology_cpu */
};

static const struct group groups[] = {
	{ NULL, "core_cpus", "core_cpus_list", "thread_siblings", "thread_siblings_list", 0,
	  offsetof(struct topology_cpu, smt_siblings) },
	{ "physical_package_id", "package_cpus", "package_cpus_list", "core_siblings",
	  "core_siblings_list", offsetof(struct topology_cpu, package),
	  offsetof(struct topology_cpu, package_cpus) },
	{ "die_id", "die_cpus", "die_cpus_list", NULL, NULL, offsetof(struct topology_cpu, die),
	  offsetof(struct topology_cpu, die_cpus) },
	{ "cluster_id", "cluster_cpus", "cluster_cpus_list", NULL, NULL,
	  offsetof(struct topology_cpu, cluster), offsetof(struct topology_cpu, cluster_cpus) },
};
#define GROUPS (sizeof(groups) / sizeof(groups[0]))

static int *id_in(struct topology_cpu *cpu, const struct group *group)
{
	return (int *)(void *)((char *)cpu + group->id_offset);
}

static const struct cpuset **set_in(struct topology_cpu *cpu, const struct group *group)
{
	return (const struct cpuset **)(void *)((char *)cpu + group->set_offset);
}

/* An id as an int; -1, which kernels write for "don't know", and nonsense are unknown. */
static int id_of(int64_t value)
{
	return value >= 0 && value <= INT32_MAX ? (int)value : TOPOLOGY_UNKNOWN;
}

static bool read_set(const struct root *root, int dir, const struct group *group,
		     struct cpuset *set)
{
	return !topology_cpu_list(root, dir, group->mask, group->list, set) ||
	       !topology_cpu_list(root, dir, group->old_mask, group->old_list, set);
}

/* Gives a group's id and set to all its CPUs that have none yet. */
static void share(struct topology *t, const struct group *group, int id, const struct cpuset *set)
{
	cpuset_for_each (member, set) {
		struct topology_cpu *cpu = topology_find(t, member);

		if (*set_in(cpu, group))
			continue;
		*set_in(cpu, group) = set;
		if (group->id)
			*id_in(cpu, group) = id;
	}
}

/* Large boards: where the kernel can switch SMT and says that no core runs two threads, every CPU
 * is its only sibling (Documentation/ABI/testing/sysfs-devices-system-cpu, "smt/active"). Other
 * kernels have "notimplemented", or nothing, and each CPU is asked. */
static void assume_single_threads(struct topology *t, const struct root *root)
{
	char control[32];
	int64_t active;

	if (t->cpu_count <= TOPOLOGY_READ_WHOLE ||
	    root_number(root, &active, CPU_DIR "/smt/active") || active ||
	    root_text(root, control, sizeof(control), CPU_DIR "/smt/control") <= 0 ||
	    !strcmp(control, "notimplemented"))
		return;
	for (size_t i = 0; i < t->cpu_count; i++) {
		struct cpuset alone = { 0 };

		if (!t->cpu[i].online)
			continue;
		cpuset_add(&alone, t->cpu[i].cpu);
		t->cpu[i].smt_siblings = topology_set(t, &alone);
	}
}

static void read_group(struct topology *t, const struct root *root, int dir,
		       const struct group *group, struct topology_cpu *cpu, struct lookout *lookout)
{
	struct cpuset text_set = { 0 };
	const struct cpuset *set = NULL;
	int id = TOPOLOGY_UNKNOWN;

	if (*set_in(cpu, group) || !lookout_open(lookout))
		return;
	if (group->id)
		id = id_of(topology_number(root, dir, group->id));
	/* a list that leaves out the CPU it is about is not believed */
	if (read_set(root, dir, group, &text_set) && cpuset_has(&text_set, cpu->cpu))
		set = topology_set(t, &text_set);
	lookout_saw(lookout, set || id != TOPOLOGY_UNKNOWN);
	if (set)
		share(t, group, id, set);
	else if (group->id)
		*id_in(cpu, group) = id;
}

/* cluster_id 65535, and die and cluster sets without an id, are what kernels write where firmware
 * doesn't tell; each CPU then seems to be alone. */
static void drop_unknown(struct topology_cpu *cpu)
{
	if (cpu->cluster == 65535)
		cpu->cluster = TOPOLOGY_UNKNOWN;
	if (cpu->cluster == TOPOLOGY_UNKNOWN)
		cpu->cluster_cpus = NULL;
	if (cpu->die == TOPOLOGY_UNKNOWN)
		cpu->die_cpus = NULL;
}

void topology_read_siblings(struct topology *t, const struct root *root)
{
	struct lookout topology_seen = { 0 }, capacity_seen = { 0 }, seen[GROUPS] = { 0 };

	assume_single_threads(t, root);
	for (size_t i = 0; i < t->cpu_count; i++) {
		struct topology_cpu *cpu = &t->cpu[i];
		int64_t capacity;
		int dir;

		if (lookout_open(&capacity_seen)) {
			bool found = !root_number(root, &capacity, CPU_DIR "/cpu%d/cpu_capacity",
						  cpu->cpu) &&
				     capacity > 0;

			cpu->capacity = found ? id_of(capacity) : TOPOLOGY_UNKNOWN;
			lookout_saw(&capacity_seen, found);
		}
		if (!lookout_open(&topology_seen))
			continue;
		dir = root_dir(root, CPU_DIR "/cpu%d/topology", cpu->cpu);
		if (cpu->online)
			lookout_saw(&topology_seen, dir >= 0);
		if (dir < 0)
			continue;
		cpu->core = id_of(topology_number(root, dir, "core_id"));
		for (size_t g = 0; g < GROUPS; g++)
			read_group(t, root, dir, &groups[g], cpu, &seen[g]);
		close(dir);
	}
	for (size_t i = 0; i < t->cpu_count; i++)
		drop_unknown(&t->cpu[i]);
}

static void set_kind(struct topology *t, const struct cpuset *cpus, const char *kind)
{
	cpuset_for_each (number, cpus) {
		struct topology_cpu *cpu = topology_find(t, number);

		if (cpu)
			cpu->kind = kind;
	}
}

/* Hybrid x86: one performance-monitoring unit a kind of core, each with the list of its CPUs
 * (Documentation/admin-guide/perf/..., intel_pmu's "cpus"). */
void topology_read_kinds(struct topology *t, const struct root *root)
{
	static const char *const kinds[] = { "core", "atom", "lowpower" };
	struct root_names names;
	struct cpuset cpus;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		cpus = (struct cpuset){ 0 };
		if (!root_cpus(root, &cpus, "sys/devices/cpu_%s/cpus", kinds[i]))
			set_kind(t, &cpus, topology_text(t, kinds[i]));
	}
	if (root_list(root, &names, CPU_DIR "/types"))
		return;
	for (size_t i = 0; i < names.count; i++) {
		int dir = root_dir(root, CPU_DIR "/types/%s", names.names[i]);

		cpus = (struct cpuset){ 0 };
		if (dir < 0)
			continue;
		if (!topology_cpu_list(root, dir, "cpumap", "cpulist", &cpus))
			set_kind(t, &cpus, topology_text(t, names.names[i]));
		close(dir);
	}
	root_names_free(&names);
}

/* One group as one comparable value: its set, or its ids where there is no set. */
struct group_key {
	const struct cpuset *set;
	int64_t package, die, id;
};

static int compare_keys(const void *a, const void *b)
{
	const struct group_key *x = a, *y = b;

	if (x->set != y->set)
		return x->set < y->set ? -1 : 1;
	if (x->package != y->package)
		return x->package < y->package ? -1 : 1;
	if (x->die != y->die)
		return x->die < y->die ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static struct group_key key_of(struct topology_cpu *cpu, size_t which)
{
	const struct group *group = &groups[which];
	struct group_key key = { .set = *set_in(cpu, group), .id = TOPOLOGY_UNKNOWN };

	if (!key.set) {
		key.id = group->id ? *id_in(cpu, group) : cpu->core;
		/* ids below a package's are unique within it only */
		key.package = which == 1 ? 0 : cpu->package;
		key.die = which == 0 ? cpu->die : 0;
	}
	return key;
}

/* How many groups the online CPUs form; unknown where one of them doesn't tell its own. */
static int count_group(struct topology *t, struct group_key *keys, size_t which)
{
	size_t count = 0;
	int different = 0;

	for (size_t i = 0; i < t->cpu_count; i++) {
		if (!t->cpu[i].online)
			continue;
		keys[count] = key_of(&t->cpu[i], which);
		if (!keys[count].set && keys[count].id == TOPOLOGY_UNKNOWN)
			return TOPOLOGY_UNKNOWN;
		count++;
	}
	if (!count)
		return TOPOLOGY_UNKNOWN;
	qsort(keys, count, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < count; i++)
		different += !i || compare_keys(&keys[i - 1], &keys[i]);
	return different;
}

void topology_count_groups(struct topology *t)
{
	struct group_key *keys = calloc(t->cpu_count, sizeof(*keys));

	if (!keys) {
		topology_out_of_memory(t);
		return;
	}
	t->core_count = count_group(t, keys, 0);
	t->package_count = count_group(t, keys, 1);
	t->die_count = count_group(t, keys, 2);
	t->cluster_count = count_group(t, keys, 3);
	free(keys);
}

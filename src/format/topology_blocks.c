// SPDX-License-Identifier: GPL-2.0-or-later
/* The CPUs: one block for those that are equal but for their numbers and roles. */
#include "board/topology.h"
#include "format/topology_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* CPUs that are shown together: what they have in common is in the heading. */
struct block {
	const struct topology_cpu *first;
	struct cpuset cpus;
};

struct picture {
	const struct topology *t;
	struct sink *sink;
	bool whole; /* one line a CPU */
	size_t block_count;
	struct block *blocks;
};

static int threads_of(const struct topology_cpu *cpu)
{
	return cpu->smt_siblings ? cpuset_count(cpu->smt_siblings) : TOPOLOGY_UNKNOWN;
}

/* Clusters are worth showing where they are more than a core and less than a package. */
static bool has_cluster(const struct topology_cpu *cpu)
{
	return cpu->cluster != TOPOLOGY_UNKNOWN &&
	       (!cpu->cluster_cpus || cpu->cluster_cpus != cpu->smt_siblings);
}

static bool same_block(const struct picture *picture, const struct topology_cpu *a,
		       const struct topology_cpu *b)
{
	if (picture->whole && has_cluster(a) != has_cluster(b))
		return false;
	if (picture->whole && has_cluster(a) && a->cluster != b->cluster)
		return false;
	return a->online == b->online && a->package == b->package && a->die == b->die &&
	       a->model == b->model && a->revision == b->revision && a->kind == b->kind &&
	       a->capacity == b->capacity && threads_of(a) == threads_of(b);
}

static bool find_blocks(struct picture *picture)
{
	const struct topology *t = picture->t;

	picture->blocks = calloc(t->cpu_count, sizeof(*picture->blocks));
	if (!picture->blocks)
		return false;
	for (size_t i = 0; i < t->cpu_count; i++) {
		size_t at = picture->block_count;

		/* neighbours mostly belong together: look from the last one backwards */
		while (at && !same_block(picture, picture->blocks[at - 1].first, &t->cpu[i]))
			at--;
		if (!at) {
			at = ++picture->block_count;
			picture->blocks[at - 1].first = &t->cpu[i];
		}
		cpuset_add(&picture->blocks[at - 1].cpus, t->cpu[i].cpu);
	}
	return true;
}

/* What differs between the CPUs of a block, and so gets a column. */
struct block_columns {
	bool freq, numa, core, siblings, role;
};

static struct block_columns columns_of(const struct picture *picture, const struct block *block)
{
	const struct topology *t = picture->t;
	struct block_columns show = { .siblings = threads_of(block->first) > 1 };

	show.role = !cpuset_empty(&t->cpus.isolated) || !cpuset_empty(&t->cpus.nohz_full);
	cpuset_for_each (number, &block->cpus) {
		const struct topology_cpu *cpu = topology_find(t, number);

		show.freq |= cpu->max_freq_khz != block->first->max_freq_khz;
		show.numa |= cpu->numa != block->first->numa;
		show.core |= cpu->core != TOPOLOGY_UNKNOWN;
	}
	return show;
}

static const char *role_of(const struct topology *t, int cpu)
{
	bool isolated = cpuset_has(&t->cpus.isolated, cpu),
	     tickless = cpuset_has(&t->cpus.nohz_full, cpu);

	if (isolated)
		return tickless ? "isolated, nohz_full" : "isolated";
	return tickless ? "housekeeping, nohz_full" : "housekeeping";
}

/* "16 clusters of 4 cores", for blocks that are not split by cluster. */
static void write_cluster_count(const struct picture *picture, const struct block *block,
				struct sink *sink)
{
	struct cpuset left = block->cpus;
	int count = 0, size = 0;
	bool equal = true;

	cpuset_for_each (number, &block->cpus) {
		const struct topology_cpu *cpu = topology_find(picture->t, number);

		if (!cpuset_has(&left, number))
			continue;
		if (!has_cluster(cpu) || !cpu->cluster_cpus)
			return;
		equal &= !count || size == cpuset_count(cpu->cluster_cpus);
		size = cpuset_count(cpu->cluster_cpus);
		cpuset_without(&left, cpu->cluster_cpus);
		count++;
	}
	if (count > 1 && equal)
		sink_printf(sink, ", %d clusters of %d CPUs", count, size);
	else if (count > 1)
		sink_printf(sink, ", %d clusters", count);
}

static void write_block_place(const struct picture *picture, const struct block *block,
			      struct sink *sink)
{
	const struct topology_cpu *first = block->first;
	const char *comma = "";

	if (!first->online) {
		sink_text(sink, "off line");
		comma = ", ";
	} else if (first->package == TOPOLOGY_UNKNOWN && !has_cluster(first)) {
		sink_text(sink, "CPUs");
	}
	if (first->package != TOPOLOGY_UNKNOWN) {
		sink_printf(sink, "%spackage %d", comma, first->package);
		comma = ", ";
	}
	if (picture->t->die_count > picture->t->package_count && first->die != TOPOLOGY_UNKNOWN) {
		sink_printf(sink, "%sdie %d", comma, first->die);
		comma = ", ";
	}
	if (picture->whole && has_cluster(first))
		sink_printf(sink, "%scluster %d", comma, first->cluster);
}

static void write_block_heading(const struct picture *picture, const struct block *block,
				const struct block_columns *show)
{
	const struct topology_cpu *first = block->first;
	int count = cpuset_count(&block->cpus), threads = threads_of(first);
	struct strbuf line = STRBUF_INIT;
	char text[32];

	sink_text(picture->sink, "\n");
	write_block_place(picture, block, &line.sink);
	sink_printf(&line.sink, ": %d x %s", count,
		    first->model    ? first->model
		    : first->online ? "CPU of unknown make"
				    : "CPU");
	if (first->revision)
		sink_printf(&line.sink, " %s", first->revision);
	if (first->kind)
		sink_printf(&line.sink, " (%s)", first->kind);
	if (threads > 1 && count % threads == 0)
		sink_printf(&line.sink, ", %d %s of %d threads", count / threads,
			    topology_plural(count / threads, "core", "cores"), threads);
	if (first->capacity != TOPOLOGY_UNKNOWN)
		sink_printf(&line.sink, ", capacity %d", first->capacity);
	if (!show->freq && first->max_freq_khz != TOPOLOGY_UNKNOWN)
		sink_printf(&line.sink, ", to %s",
			    topology_frequency(text, sizeof(text), first->max_freq_khz));
	if (!show->numa && first->numa != TOPOLOGY_UNKNOWN && picture->t->numa_count > 1)
		sink_printf(&line.sink, ", node %d", first->numa);
	if (!picture->whole)
		write_cluster_count(picture, block, &line.sink);
	topology_line(picture->sink, &line, 4);
}

/* The columns behind the CPU's number that both kinds of rows have. */
static void write_facts(const struct picture *picture, const struct topology_cpu *cpu,
			const struct block_columns *show, struct sink *sink)
{
	char text[32];

	if (show->freq)
		sink_printf(sink, "  %-9s",
			    topology_frequency(text, sizeof(text), cpu->max_freq_khz));
	if (show->numa && cpu->numa != TOPOLOGY_UNKNOWN)
		sink_printf(sink, "  node %-3d", cpu->numa);
	else if (show->numa)
		sink_text(sink, "  no node ");
	if (show->role && cpu->online)
		sink_printf(sink, "  %s", role_of(picture->t, cpu->cpu));
}

static void write_cpu_rows(const struct picture *picture, const struct block *block,
			   const struct block_columns *show)
{
	cpuset_for_each (number, &block->cpus) {
		const struct topology_cpu *cpu = topology_find(picture->t, number);
		struct strbuf line = STRBUF_INIT;
		char list[64];

		sink_printf(&line.sink, "    CPU %-4d", number);
		if (show->core && cpu->core != TOPOLOGY_UNKNOWN)
			sink_printf(&line.sink, "  core %-3d", cpu->core);
		else if (show->core)
			sink_text(&line.sink, "  core ?  ");
		if (show->siblings) {
			struct cpuset others = *cpu->smt_siblings;

			cpuset_remove(&others, number);
			sink_printf(&line.sink, "  with %-4s",
				    cpuset_text(&others, list, sizeof(list)));
		}
		write_facts(picture, cpu, show, &line.sink);
		topology_line(picture->sink, &line, 12);
	}
}

static bool same_row(const struct picture *picture, const struct block_columns *show,
		     const struct topology_cpu *a, const struct topology_cpu *b)
{
	return (!show->freq || a->max_freq_khz == b->max_freq_khz) &&
	       (!show->numa || a->numa == b->numa) &&
	       (!show->role || role_of(picture->t, a->cpu) == role_of(picture->t, b->cpu));
}

/* One row for all CPUs of a block that differ in their number only. */
static void write_group_rows(const struct picture *picture, const struct block *block,
			     const struct block_columns *show)
{
	struct cpuset left = block->cpus;

	cpuset_for_each (number, &block->cpus) {
		const struct topology_cpu *cpu = topology_find(picture->t, number);
		struct strbuf line = STRBUF_INIT;
		struct cpuset equal = { 0 };

		if (!cpuset_has(&left, number))
			continue;
		cpuset_for_each (other, &left) {
			if (same_row(picture, show, cpu, topology_find(picture->t, other)))
				cpuset_add(&equal, other);
		}
		cpuset_without(&left, &equal);
		sink_printf(&line.sink, "    %4d %-4s", cpuset_count(&equal),
			    topology_plural(cpuset_count(&equal), "CPU", "CPUs"));
		write_facts(picture, cpu, show, &line.sink);
		sink_text(&line.sink, "  ");
		cpuset_write(&equal, &line.sink);
		topology_line(picture->sink, &line, 15);
	}
}

static void write_all(struct picture *picture)
{
	for (size_t i = 0; i < picture->block_count; i++) {
		const struct block *block = &picture->blocks[i];
		struct block_columns show = columns_of(picture, block);

		write_block_heading(picture, block, &show);
		if (picture->whole)
			write_cpu_rows(picture, block, &show);
		else
			write_group_rows(picture, block, &show);
	}
}

void topology_write_blocks(const struct topology *t, bool whole, struct sink *sink)
{
	struct picture picture = { .t = t, .sink = sink, .whole = whole };

	if (find_blocks(&picture))
		write_all(&picture);
	else if (!sink->error)
		sink->error = -ENOMEM;
	free(picture.blocks);
}

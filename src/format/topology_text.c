// SPDX-License-Identifier: GPL-2.0-or-later
/* The picture of a board: blocks of equal CPUs, then what they share, then what is odd. */
#include "base/sink.h"
#include "board/devicetree.h"
#include "board/topology.h"
#include "format/topology.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH     80
#define SMALL     16 /* up to here every CPU has its own line */
#define LIST_SIZE 1024

/* Columns that TEXT takes: bytes that don't continue a UTF-8 character. */
static size_t columns(const char *text, size_t length)
{
	size_t count = 0;

	for (size_t i = 0; i < length; i++)
		count += ((unsigned char)text[i] & 0xc0) != 0x80;
	return count;
}

/* The bytes up to the next place to break a line, with the blanks before: a blank, or behind a
 * comma; not between a number and its unit. */
static size_t piece(const char *text)
{
	size_t end = strspn(text, " ");

	for (;;) {
		end += strcspn(text + end, " ,");
		if (text[end] == ',')
			return end + 1;
		if (!text[end] || !end || !isdigit((unsigned char)text[end - 1]) ||
		    !isalpha((unsigned char)text[end + 1]))
			return end;
		end++;
	}
}

/* Writes TEXT as a line, broken where it is too long; further lines start at column HANG. */
static void wrap(struct sink *sink, const char *text, size_t hang)
{
	size_t at = 0;

	while (*text) {
		size_t blanks = strspn(text, " "), end = piece(text), width = columns(text, end);

		if (at > hang && at + width > WIDTH) {
			sink_text(sink, "\n");
			sink_fill(sink, ' ', hang);
			at = hang;
			text += blanks;
			continue;
		}
		sink_write(sink, text, end);
		at += width;
		text += end;
	}
	sink_text(sink, "\n");
}

/* The same for what was put together in LINE, which is empty afterwards. */
static void wrap_line(struct sink *sink, struct strbuf *line, size_t hang)
{
	size_t length = line->length;

	while (length && line->text[length - 1] == ' ')
		line->text[--length] = '\0';
	if (line->sink.error && !sink->error)
		sink->error = line->sink.error;
	if (length)
		wrap(sink, line->text, hang);
	strbuf_free(line);
}

static void heading(struct sink *sink, const char *text)
{
	sink_printf(sink, "\n%s\n", text);
}

static const char *plural(int64_t count, const char *one, const char *many)
{
	return count == 1 ? one : many;
}

/* "1.8 GHz", "800 MHz"; the driver's own digits, at most four. */
static const char *frequency(char *buf, size_t size, int64_t khz)
{
	if (khz == TOPOLOGY_UNKNOWN)
		snprintf(buf, size, "unknown");
	else if (khz >= 1000000)
		snprintf(buf, size, "%.4g GHz", (double)khz / 1e6);
	else
		snprintf(buf, size, "%.4g MHz", (double)khz / 1e3);
	return buf;
}

static const char *bytes(char *buf, size_t size, int64_t count)
{
	if (count == TOPOLOGY_UNKNOWN)
		snprintf(buf, size, "?");
	else if (count >= 1 << 20 && count % (1 << 18) == 0)
		snprintf(buf, size, "%.4g MiB", (double)count / (1 << 20));
	else
		snprintf(buf, size, "%.4g KiB", (double)count / 1024);
	return buf;
}

static const char *microseconds(char *buf, size_t size, int64_t ns)
{
	if (ns == TOPOLOGY_UNKNOWN)
		snprintf(buf, size, "?");
	else
		snprintf(buf, size, "%" PRId64, ns / 1000);
	return buf;
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
		sink_printf(sink, ", %d %s", count, plural(count, one, many));
}

static void write_summary(const struct topology *t, struct sink *sink)
{
	struct strbuf line = STRBUF_INIT;
	int online = cpuset_count(&t->cpus.online);

	sink_printf(&line.sink, "%s, Linux %s, %s", t->model ? t->model : "board of unknown make",
		    t->kernel ? t->kernel : "of unknown release",
		    t->arch ? t->arch : "unknown architecture");
	wrap_line(sink, &line, 4);
	if (!t->cpus.online_known)
		sink_printf(&line.sink, "%zu %s present", t->cpu_count,
			    plural((int64_t)t->cpu_count, "CPU", "CPUs"));
	else if ((size_t)online == t->cpu_count)
		sink_printf(&line.sink, "%d %s", online, plural(online, "CPU", "CPUs"));
	else
		sink_printf(&line.sink, "%d CPUs online of %zu", online, t->cpu_count);
	count_word(&line.sink, t->package_count, "package", "packages");
	if (t->die_count > t->package_count)
		count_word(&line.sink, t->die_count, "die", "dies");
	count_word(&line.sink, t->core_count, "core", "cores");
	if (t->package_count == TOPOLOGY_UNKNOWN && t->core_count == TOPOLOGY_UNKNOWN)
		sink_text(&line.sink, ", cores and packages unknown");
	wrap_line(sink, &line, 4);
	write_set(&line.sink, "isolated", &t->cpus.isolated, t->cpus.isolated_known);
	write_set(&line.sink, ", nohz_full", &t->cpus.nohz_full, t->cpus.nohz_full_known);
	wrap_line(sink, &line, 4);
}

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
			    plural(count / threads, "core", "cores"), threads);
	if (first->capacity != TOPOLOGY_UNKNOWN)
		sink_printf(&line.sink, ", capacity %d", first->capacity);
	if (!show->freq && first->max_freq_khz != TOPOLOGY_UNKNOWN)
		sink_printf(&line.sink, ", to %s",
			    frequency(text, sizeof(text), first->max_freq_khz));
	if (!show->numa && first->numa != TOPOLOGY_UNKNOWN && picture->t->numa_count > 1)
		sink_printf(&line.sink, ", node %d", first->numa);
	if (!picture->whole)
		write_cluster_count(picture, block, &line.sink);
	wrap_line(picture->sink, &line, 4);
}

/* The columns behind the CPU's number that both kinds of rows have. */
static void write_facts(const struct picture *picture, const struct topology_cpu *cpu,
			const struct block_columns *show, struct sink *sink)
{
	char text[32];

	if (show->freq)
		sink_printf(sink, "  %-9s", frequency(text, sizeof(text), cpu->max_freq_khz));
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
		wrap_line(picture->sink, &line, 12);
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
			    plural(cpuset_count(&equal), "CPU", "CPUs"));
		write_facts(picture, cpu, show, &line.sink);
		sink_text(&line.sink, "  ");
		cpuset_write(&equal, &line.sink);
		wrap_line(picture->sink, &line, 15);
	}
}

static void write_blocks(struct picture *picture)
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

/* How sets of one kind lie over the CPUs: collected one by one, told in a few words. */
struct sharing {
	struct cpuset all;
	int count, size;
	bool alone, cores, equal, unknown;
	struct strbuf list;
};

static void sharing_add(struct sharing *sharing, const struct topology *t, const struct cpuset *set)
{
	int size = set ? cpuset_count(set) : 0;

	if (!sharing->count)
		*sharing = (struct sharing){ .alone = true,
					     .cores = true,
					     .equal = true,
					     .size = size,
					     .list = STRBUF_INIT };
	sharing->count++;
	if (!set) {
		sharing->unknown = true;
		return;
	}
	cpuset_or(&sharing->all, set);
	sharing->equal &= size == sharing->size;
	sharing->alone &= size == 1;
	sharing->cores &= topology_find(t, cpuset_next(set, -1))->smt_siblings == set;
	if (sharing->list.length > LIST_SIZE)
		return;
	sink_text(&sharing->list.sink, sharing->list.length ? " | " : "");
	cpuset_write(set, &sharing->list.sink);
}

static void sharing_write(struct sharing *sharing, const struct topology *t, struct sink *sink)
{
	bool everyone = cpuset_subset(&t->cpus.online, &sharing->all);

	if (sharing->unknown)
		sink_text(sink, "who shares it is unknown");
	else if (sharing->count == 1 && everyone)
		sink_text(sink, t->cpu_count > 1 ? "all CPUs" : "the CPU");
	else if (sharing->count > 1 && (sharing->alone || sharing->cores)) {
		sink_text(sink, sharing->alone ? "each CPU" : "each core");
		if (!everyone)
			sink_text(sink, " of ");
		if (!everyone)
			cpuset_write(&sharing->all, sink);
	} else if (sharing->list.length <= 100) {
		sink_text(sink, sharing->list.text ? sharing->list.text : "");
	} else if (sharing->equal) {
		sink_printf(sink, "%d of them, %d CPUs each", sharing->count, sharing->size);
	} else {
		sink_printf(sink, "%d of them", sharing->count);
	}
	if (sharing->list.sink.error && !sink->error)
		sink->error = sharing->list.sink.error;
	strbuf_free(&sharing->list);
	sharing->count = 0;
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
			    bytes(size, sizeof(size), cache->size_bytes));
		sharing_write(&sharing, t, &line.sink);
		wrap_line(sink, &line, 20);
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

	snprintf(range, sizeof(range), "%s - %s", frequency(low, sizeof(low), freq->min_khz),
		 frequency(high, sizeof(high), freq->max_khz));
	if (freq->min_khz == TOPOLOGY_UNKNOWN && freq->max_khz == TOPOLOGY_UNKNOWN)
		snprintf(range, sizeof(range), "unknown");
	sink_printf(&line.sink, "    %-21s  %-12s  ", range,
		    freq->governor ? freq->governor : "no governor");
	sharing_write(sharing, t, &line.sink);
	wrap_line(sink, &line, 41);
	if (!limited)
		return;
	sink_printf(&line.sink, "        allowed now: %s - %s",
		    frequency(low, sizeof(low), freq->limit_min_khz),
		    frequency(high, sizeof(high), freq->limit_max_khz));
	wrap_line(sink, &line, 12);
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
	sink_printf(sink, "\nidle states (driver %s, governor %s)\n",
		    t->idle_driver ? t->idle_driver : "unknown",
		    t->idle_governor ? t->idle_governor : "unknown");
	for (size_t i = 0; i < t->idle_count; i++) {
		if (t->idle[i].name && strlen(t->idle[i].name) > width)
			width = strlen(t->idle[i].name);
	}
	width = width > 20 ? 20 : width;
	sink_printf(sink, "    %-*s  %9s  %9s  on\n", (int)width, "state", "exit us", "stay us");
	for (size_t i = 0; i < t->idle_count; i++) {
		const struct topology_idle *state = &t->idle[i];
		struct strbuf line = STRBUF_INIT;
		char exit[32], stay[32];

		sink_printf(&line.sink, "    %-*s  %9s  %9s  ", (int)width,
			    state->name ? state->name : "?",
			    microseconds(exit, sizeof(exit), state->exit_latency_ns),
			    microseconds(stay, sizeof(stay), state->residency_ns));
		if (cpuset_subset(&t->cpus.online, &state->cpus) && t->cpu_count > 1)
			sink_text(&line.sink, "all CPUs");
		else
			cpuset_write(&state->cpus, &line.sink);
		if (!cpuset_empty(&state->disabled)) {
			sink_text(&line.sink, "; switched off on ");
			cpuset_write(&state->disabled, &line.sink);
		}
		wrap_line(sink, &line, width + 28);
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
		wrap_line(sink, &line, 14);
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
	wrap_line(sink, &line, 14);
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
		char entry[32], exit[32], stay[32];

		sink_printf(&line.sink, "    %-*s  entry %s us, exit %s us, stay %s us%s",
			    (int)(width > 24 ? 24 : width), state->node,
			    microseconds(entry, sizeof(entry), state->entry_latency_ns),
			    microseconds(exit, sizeof(exit), state->exit_latency_ns),
			    microseconds(stay, sizeof(stay), state->residency_ns),
			    state->local_timer_stop ? ", stops the local timer" : "");
		wrap_line(sink, &line, 14);
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
		wrap_line(sink, &line, 4);
	}
}

void topology_write_text(const struct topology *t, enum topology_detail detail, struct sink *sink)
{
	struct picture picture = { .t = t, .sink = sink };

	picture.whole = detail == TOPOLOGY_WHOLE || t->cpu_count <= SMALL;
	write_summary(t, sink);
	if (find_blocks(&picture))
		write_blocks(&picture);
	else
		sink->error = sink->error ? sink->error : -ENOMEM;
	free(picture.blocks);
	write_caches(t, sink);
	write_freq(t, sink);
	write_idle(t, sink);
	write_numa(t, sink);
	write_tree(t, picture.whole, sink);
	write_odd(t, sink);
}

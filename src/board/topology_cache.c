// SPDX-License-Identifier: GPL-2.0-or-later
/* Caches, from cpuN/cache/indexM. A cache is read in the directory of the first CPU that shares it.
 */
#include "base/str.h"
#include "board/topology_parts.h"
#include "sys/root.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INDEXES 8  /* the most seen is 5: L1d, L1i, L2, L3, L4 */
#define KINDS   30 /* levels 1 to 9, times three types */

/* What the caches of a class of CPUs (topology_class) are, by index. */
struct shape {
	const void *class;
	bool known[INDEXES], private[INDEXES];
	struct topology_cache cache[INDEXES];
};

struct cache_reader {
	struct topology *t;
	const struct root *root;
	struct cpuset covered[KINDS]; /* CPUs whose cache of that level and type was read */
	struct shape *shapes;
	size_t shape_count;
	struct lookout seen;
};

/* "32K", "12M", "1024": bytes. Zero is what kernels write for "don't know". */
static int64_t size_of(const char *text)
{
	static const char units[] = "KMG";
	const char *unit;
	char *end;
	long long size;

	errno = 0;
	size = strtoll(text, &end, 10);
	if (!isdigit((unsigned char)*text) || errno || !size || size > INT32_MAX)
		return TOPOLOGY_UNKNOWN;
	if (!*end)
		return size;
	unit = strchr(units, *end);
	if (!unit || end[1])
		return TOPOLOGY_UNKNOWN;
	return size << (10 * (unit - units + 1));
}

static const char *type_of(const char *text)
{
	static const char *const types[] = { "data", "instruction", "unified" };

	for (size_t i = 0; i < 3; i++) {
		if (!strcasecmp(text, types[i]))
			return types[i];
	}
	return NULL;
}

static int small_number(const struct root *root, int dir, const char *name)
{
	int64_t value = topology_number(root, dir, name);

	return value > 0 && value <= INT32_MAX ? (int)value : TOPOLOGY_UNKNOWN;
}

/* A cache without a level or type is none. */
static bool read_shape(const struct root *root, int dir, struct topology_cache *cache)
{
	char text[32];

	cache->level = small_number(root, dir, "level");
	cache->type =
		root_at_text(root, dir, "type", text, sizeof(text)) > 0 ? type_of(text) : NULL;
	if (cache->level < 1 || cache->level > 9 || !cache->type)
		return false;
	cache->size_bytes = TOPOLOGY_UNKNOWN;
	if (root_at_text(root, dir, "size", text, sizeof(text)) > 0)
		cache->size_bytes = size_of(text);
	cache->ways = small_number(root, dir, "ways_of_associativity");
	cache->line_bytes = small_number(root, dir, "coherency_line_size");
	return true;
}

static struct cpuset *covered(struct cache_reader *reader, const struct topology_cache *cache)
{
	int type = *cache->type == 'd' ? 0 : *cache->type == 'i' ? 1 : 2;

	return &reader->covered[cache->level * 3 + type];
}

/* What leaves out the CPU it is about is not believed. */
static const struct cpuset *read_sharers(struct cache_reader *reader, int dir, int cpu)
{
	struct cpuset cpus = { 0 };

	if (!topology_cpu_list(reader->root, dir, "shared_cpu_map", NULL, &cpus) &&
	    cpuset_has(&cpus, cpu))
		return topology_set(reader->t, &cpus);
	if (!topology_cpu_list(reader->root, dir, NULL, "shared_cpu_list", &cpus) &&
	    cpuset_has(&cpus, cpu))
		return topology_set(reader->t, &cpus);
	return NULL;
}

static void add_cache(struct cache_reader *reader, struct topology_cache cache, int cpu,
		      const struct cpuset *cpus)
{
	struct topology *t = reader->t;
	struct topology_cache *grown;

	cache.owner = cpu;
	cache.cpus = cpus;
	if (cpus)
		cpuset_or(covered(reader, &cache), cpus);
	grown = topology_grow(t, t->cache, t->cache_count, sizeof(*grown));
	if (!grown)
		return;
	t->cache = grown;
	t->cache[t->cache_count++] = cache;
}

/* The same without opening the folder, which on large boards costs more than the file. */
static bool read_sharers_at(struct cache_reader *reader, int cpu, int index, struct cpuset *cpus)
{
	char mask[CPUSET_MAX / 4 * 9 / 8 + 64];

	if (root_text(reader->root, mask, sizeof(mask),
		      CPU_DIR "/cpu%d/cache/index%d/shared_cpu_map", cpu, index) > 0 &&
	    !cpuset_parse_mask(str_trim(mask), cpus))
		return true;
	return !root_cpus(reader->root, cpus, CPU_DIR "/cpu%d/cache/index%d/shared_cpu_list", cpu,
			  index);
}

/* A CPU whose class is known: all that remains is who shares its caches. A level 1 cache belongs to
 * a core: where the first core of a class has it alone, so have the rest. */
static void read_known(struct cache_reader *reader, const struct shape *shape,
		       const struct topology_cpu *cpu)
{
	for (int i = 0; i < INDEXES; i++) {
		const struct topology_cache *cache = &shape->cache[i];
		struct cpuset cpus = { 0 };

		if (!shape->known[i] || cpuset_has(covered(reader, cache), cpu->cpu))
			continue;
		if (shape->private[i] && cpu->online && cpu->smt_siblings)
			add_cache(reader, *cache, cpu->cpu, cpu->smt_siblings);
		else if (read_sharers_at(reader, cpu->cpu, i, &cpus))
			add_cache(reader, *cache, cpu->cpu,
				  cpuset_has(&cpus, cpu->cpu) ? topology_set(reader->t, &cpus)
							      : NULL);
	}
}

static void read_whole(struct cache_reader *reader, struct shape *shape,
		       const struct topology_cpu *cpu)
{
	bool any = false;

	for (int i = 0; i < INDEXES; i++) {
		struct topology_cache *cache = &shape->cache[i];
		int dir = root_dir(reader->root, CPU_DIR "/cpu%d/cache/index%d", cpu->cpu, i);

		if (dir < 0)
			continue;
		any = true;
		shape->known[i] = read_shape(reader->root, dir, cache);
		if (shape->known[i] && !cpuset_has(covered(reader, cache), cpu->cpu)) {
			const struct cpuset *cpus = read_sharers(reader, dir, cpu->cpu);

			shape->private[i] = cache->level == 1 && cpus && cpus == cpu->smt_siblings;
			add_cache(reader, *cache, cpu->cpu, cpus);
		}
		close(dir);
	}
	if (cpu->online)
		lookout_saw(&reader->seen, any);
}

static void read_cpu(struct cache_reader *reader, const struct topology_cpu *cpu)
{
	const void *class = topology_class(reader->t, cpu);
	struct shape *grown;

	for (size_t i = reader->shape_count;
	     reader->t->cpu_count > TOPOLOGY_READ_WHOLE && i-- > 0;) {
		if (reader->shapes[i].class != class)
			continue;
		read_known(reader, &reader->shapes[i], cpu);
		return;
	}
	grown = topology_grow(reader->t, reader->shapes, reader->shape_count, sizeof(*grown));
	if (!grown)
		return;
	reader->shapes = grown;
	grown += reader->shape_count++;
	*grown = (struct shape){ .class = class };
	read_whole(reader, grown, cpu);
}

static int compare_caches(const void *a, const void *b)
{
	const struct topology_cache *x = a, *y = b;

	if (x->level != y->level)
		return x->level - y->level;
	if (x->type != y->type)
		return strcmp(x->type, y->type);
	return x->owner - y->owner;
}

void topology_read_caches(struct topology *t, const struct root *root)
{
	struct cache_reader *reader = calloc(1, sizeof(*reader));

	if (!reader) {
		topology_out_of_memory(t);
		return;
	}
	reader->t = t;
	reader->root = root;
	for (size_t i = 0; i < t->cpu_count && lookout_open(&reader->seen); i++)
		read_cpu(reader, &t->cpu[i]);
	if (t->cache_count)
		qsort(t->cache, t->cache_count, sizeof(*t->cache), compare_caches);
	free(reader->shapes);
	free(reader);
}

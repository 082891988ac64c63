// SPDX-License-Identifier: GPL-2.0-or-later
#include "board/topology.h"

#include "base/fail.h"
#include "base/str.h"
#include "board/devicetree.h"
#include "board/topology_parts.h"
#include "sys/root.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 255 /* of what is told of a board, longer is no name */

void topology_out_of_memory(struct topology *t)
{
	t->error = -ENOMEM;
}

const void *topology_intern(struct topology *t, const void *data, size_t size)
{
	const void *copy = pool_intern(&t->pool, data, size);

	if (!copy)
		topology_out_of_memory(t);
	return copy;
}

const char *topology_text(struct topology *t, const char *text)
{
	const char *copy = text ? pool_text(&t->pool, text, strnlen(text, TEXT_MAX)) : NULL;

	if (t->pool.error)
		topology_out_of_memory(t);
	return copy;
}

const struct cpuset *topology_set(struct topology *t, const struct cpuset *set)
{
	struct cpuset present = *set;

	cpuset_and(&present, &t->cpus.present);
	return cpuset_empty(&present) ? NULL : topology_intern(t, &present, sizeof(present));
}

void *topology_grow(struct topology *t, void *array, size_t count, size_t size)
{
	void *grown;

	if (count && (count & (count - 1)))
		return array; /* room is doubled at powers of two */
	grown = reallocarray(array, count ? count * 2 : 1, size);
	if (!grown)
		topology_out_of_memory(t);
	return grown;
}

int64_t topology_number(const struct root *root, int dir, const char *name)
{
	char text[32];
	int64_t value;

	/* recorded files may end in NULs, which hide the line's end from the reader of texts */
	if (root_at_text(root, dir, name, text, sizeof(text)) < 0 ||
	    str_i64(str_trim(text), &value))
		return TOPOLOGY_UNKNOWN;
	return value < 0 ? TOPOLOGY_UNKNOWN : value;
}

static int parse_numbers(char *text, struct cpuset *set)
{
	size_t used = 0;

	for (const char *at = text; *at; at++) {
		if (!isspace((unsigned char)*at))
			text[used++] = *at;
		else if (used && text[used - 1] != ',')
			text[used++] = ',';
	}
	while (used && text[used - 1] == ',')
		used--;
	text[used] = '\0';
	return cpuset_parse(text, -1, set, NULL);
}

int topology_cpu_list(const struct root *root, int dir, const char *mask_name,
		      const char *list_name, struct cpuset *set)
{
	char text[16384];
	ssize_t length = -ENOENT;

	if (mask_name)
		length = root_at_text(root, dir, mask_name, text, sizeof(text));
	if (length >= 0 && !cpuset_parse_mask(str_trim(text), set))
		return 0;
	if (list_name)
		length = root_at_text(root, dir, list_name, text, sizeof(text));
	else if (length >= 0)
		return -EBADMSG;
	return length < 0 ? (int)length : parse_numbers(text, set);
}

const char *topology_file_text(struct topology *t, const struct root *root, int dir,
			       const char *name)
{
	char text[256];

	return root_at_text(root, dir, name, text, sizeof(text)) > 0 ? topology_text(t, text)
								     : NULL;
}

const void *topology_class(struct topology *t, const struct topology_cpu *cpu)
{
	struct {
		const char *model, *revision, *kind;
		int64_t capacity, package, cluster;
	} key = {
		.model = cpu->model,
		.revision = cpu->revision,
		.kind = cpu->kind,
		.capacity = cpu->capacity,
		.package = cpu->package,
		.cluster = t->cluster_count <= 16 ? cpu->cluster : TOPOLOGY_UNKNOWN,
	};

	return topology_intern(t, &key, sizeof(key));
}

struct topology_cpu *topology_find(const struct topology *t, int cpu)
{
	if (cpu < 0 || cpu > t->cpus.last || t->position[cpu] < 0)
		return NULL;
	return &t->cpu[t->position[cpu]];
}

static int place_cpus(struct topology *t)
{
	size_t count = (size_t)cpuset_count(&t->cpus.present), last = (size_t)t->cpus.last;

	t->cpu = calloc(count, sizeof(*t->cpu));
	t->position = malloc((last + 1) * sizeof(*t->position));
	if (!t->cpu || !t->position)
		return -ENOMEM;
	memset(t->position, -1, (last + 1) * sizeof(*t->position));
	cpuset_for_each (cpu, &t->cpus.present) {
		t->position[cpu] = (int)t->cpu_count;
		t->cpu[t->cpu_count++] = (struct topology_cpu){
			.cpu = cpu,
			.online = !t->cpus.online_known || cpuset_has(&t->cpus.online, cpu),
			.package = TOPOLOGY_UNKNOWN,
			.die = TOPOLOGY_UNKNOWN,
			.cluster = TOPOLOGY_UNKNOWN,
			.core = TOPOLOGY_UNKNOWN,
			.numa = TOPOLOGY_UNKNOWN,
			.freq_domain = TOPOLOGY_UNKNOWN,
			.capacity = TOPOLOGY_UNKNOWN,
			.max_freq_khz = TOPOLOGY_UNKNOWN,
		};
	}
	return 0;
}

static int read_all(struct topology *t, const struct root *root)
{
	int err = place_cpus(t);

	if (err)
		return err;
	topology_read_board(t, root);
	topology_read_cpuinfo(t, root);
	topology_read_siblings(t, root);
	topology_read_kinds(t, root);
	topology_read_tree(t, root);
	topology_count_groups(t);
	topology_read_caches(t, root);
	topology_read_freq(t, root);
	topology_read_idle(t, root);
	topology_read_numa(t, root);
	topology_find_odd(t);
	return t->error;
}

int topology_read(const struct root *root, struct topology **topology, struct fail *fail)
{
	struct topology *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return fail_set(fail, ENOMEM, "out of memory");
	err = cpus_read(root, &t->cpus);
	if (!err)
		err = read_all(t, root);
	if (!err) {
		*topology = t;
		return 0;
	}
	topology_free(t);
	if (err == -ENOENT)
		return fail_set(fail, EINVAL,
				"no CPU found: there is no sys/devices/system/cpu, and neither "
				"proc/cpuinfo nor proc/stat names one");
	return fail_set(fail, -err, "out of memory");
}

void topology_free(struct topology *t)
{
	if (!t)
		return;
	devicetree_free(t->tree);
	free(t->cpu);
	free(t->cache);
	free(t->idle);
	free(t->freq);
	free(t->numa);
	free(t->odd);
	free(t->position);
	pool_free(&t->pool);
	free(t);
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "board/devicetree.h"

#include "base/str.h"
#include "sys/root.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROPERTY_MAX 4096
#define NODES_MAX    4096 /* of one kind: a damaged tree must not fill the memory */
#define MAP_DEPTH    5    /* socket, cluster, cluster, core, thread */

struct name_of_phandle {
	uint32_t phandle;
	char *name;
};

struct reader {
	const struct root *root;
	const char *base;
	struct devicetree *tree;
	struct name_of_phandle *names;
	size_t name_count;
	int error;
};

/* A property's bytes, with a NUL behind; NULL where there is none. Properties are binary: the text
 * readers of the root would cut bytes off that look like white space. */
static char *property(struct reader *reader, const char *node, const char *name, size_t *length)
{
	char *bytes = NULL;
	int err = root_all(reader->root, PROPERTY_MAX, &bytes, length, "%s/%s/%s", reader->base,
			   node, name);

	if (err == -ENOMEM)
		reader->error = err;
	return err ? NULL : bytes;
}

static uint32_t cell(const char *bytes)
{
	const unsigned char *b = (const unsigned char *)bytes;

	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* A number of one or two big-endian cells; -1. */
static int64_t property_number(struct reader *reader, const char *node, const char *name)
{
	size_t length;
	char *bytes = property(reader, node, name, &length);
	int64_t value = -1;

	if (bytes && length == 4)
		value = cell(bytes);
	else if (bytes && length == 8)
		value = (int64_t)((uint64_t)cell(bytes) << 32 | cell(bytes + 4));
	free(bytes);
	return value < 0 ? -1 : value;
}

/* The first of a property's texts, printable; NULL. */
static char *property_text(struct reader *reader, const char *node, const char *name)
{
	size_t length;
	char *text = property(reader, node, name, &length);

	if (text && !*text) {
		free(text);
		return NULL;
	}
	for (char *c = text; c && *c; c++) {
		/* such texts are ASCII (Devicetree Specification 2.2.4) */
		if (iscntrl((unsigned char)*c) || (unsigned char)*c >= 0x80)
			*c = '?';
	}
	return text;
}

static uint32_t phandle_of(struct reader *reader, const char *node)
{
	int64_t phandle = property_number(reader, node, "phandle");

	if (phandle < 0)
		phandle = property_number(reader, node, "linux,phandle");
	return phandle > 0 && phandle <= UINT32_MAX ? (uint32_t)phandle : 0;
}

static char *copy(struct reader *reader, const char *text)
{
	char *result = strdup(text);

	if (!result)
		reader->error = -ENOMEM;
	return result;
}

static void *grow(struct reader *reader, void *array, size_t count, size_t size)
{
	void *grown;

	if (count >= NODES_MAX || reader->error)
		return NULL;
	grown = reallocarray(array, count + 1, size);
	if (!grown)
		reader->error = -ENOMEM;
	return grown;
}

/* Flags are properties without bytes. */
static bool has_property(struct reader *reader, const char *node, const char *name)
{
	size_t length;
	char *bytes = property(reader, node, name, &length);

	free(bytes);
	return bytes != NULL;
}

static bool is_directory(const struct root *root, const char *base, const char *path)
{
	int dir = root_dir(root, "%s/%s", base, path);

	if (dir < 0)
		return false;
	close(dir);
	return true;
}

/* Calls EACH for every node right below NODE. */
static void each_child(struct reader *reader, const char *node, int depth,
		       void (*each)(struct reader *reader, const char *path, const char *name,
				    int depth))
{
	struct root_names names;
	int err = root_list(reader->root, &names, "%s/%s", reader->base, node);

	if (err == -ENOMEM)
		reader->error = err;
	if (err)
		return;
	for (size_t i = 0; i < names.count; i++) {
		char path[PATH_MAX];

		if (snprintf(path, sizeof(path), "%s/%s", node, names.names[i]) <
			    (int)sizeof(path) &&
		    is_directory(reader->root, reader->base, path))
			each(reader, path, names.names[i], depth);
	}
	root_names_free(&names);
}

static void name_phandle(struct reader *reader, const char *path, const char *name, int depth)
{
	uint32_t phandle = phandle_of(reader, path);
	struct name_of_phandle *grown;

	(void)depth;
	if (!phandle)
		return;
	grown = grow(reader, reader->names, reader->name_count, sizeof(*grown));
	if (!grown)
		return;
	reader->names = grown;
	grown += reader->name_count;
	*grown = (struct name_of_phandle){ .phandle = phandle, .name = copy(reader, name) };
	if (grown->name)
		reader->name_count++;
}

static void read_idle_state(struct reader *reader, const char *path, const char *name, int depth)
{
	static const struct {
		const char *name;
		size_t offset;
	} times[] = {
		{ "entry-latency-us", offsetof(struct devicetree_idle, entry_latency_ns) },
		{ "exit-latency-us", offsetof(struct devicetree_idle, exit_latency_ns) },
		{ "min-residency-us", offsetof(struct devicetree_idle, residency_ns) },
	};
	struct devicetree *tree = reader->tree;
	struct devicetree_idle *state = grow(reader, tree->idle, tree->idle_count, sizeof(*state));

	(void)depth;
	if (!state)
		return;
	tree->idle = state;
	state += tree->idle_count++;
	*state = (struct devicetree_idle){
		.node = copy(reader, name),
		.compatible = property_text(reader, path, "compatible"),
		.local_timer_stop = has_property(reader, path, "local-timer-stop"),
		.phandle = phandle_of(reader, path),
	};
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		int64_t us = property_number(reader, path, times[i].name);

		*(int64_t *)(void *)((char *)state + times[i].offset) =
			us >= 0 && us <= UINT32_MAX ? us * 1000 : -1;
	}
}

static char *phandle_name(struct reader *reader, uint32_t phandle)
{
	char text[32];

	for (size_t i = 0; i < reader->tree->idle_count; i++) {
		if (reader->tree->idle[i].phandle == phandle && reader->tree->idle[i].node)
			return copy(reader, reader->tree->idle[i].node);
	}
	for (size_t i = 0; i < reader->name_count; i++) {
		if (reader->names[i].phandle == phandle)
			return copy(reader, reader->names[i].name);
	}
	snprintf(text, sizeof(text), "phandle 0x%x", phandle);
	return copy(reader, text);
}

/* The names behind a list of phandles that take no arguments. */
static void read_references(struct reader *reader, const char *node, const char *name, char **list)
{
	size_t length, count = 0;
	char *bytes = property(reader, node, name, &length);

	for (size_t at = 0; bytes && at + 4 <= length && count < DEVICETREE_LIST; at += 4)
		list[count++] = phandle_name(reader, cell(bytes + at));
	free(bytes);
}

static void read_cpu(struct reader *reader, const char *path, const char *name, int depth)
{
	struct devicetree *tree = reader->tree;
	struct devicetree_cpu *cpu;

	(void)depth;
	if (strcmp(name, "cpu") != 0 && !str_starts(name, "cpu@") && !str_starts(name, "PowerPC,"))
		return;
	cpu = grow(reader, tree->cpu, tree->cpu_count, sizeof(*cpu));
	if (!cpu)
		return;
	tree->cpu = cpu;
	cpu += tree->cpu_count++;
	*cpu = (struct devicetree_cpu){
		.node = copy(reader, name),
		.reg = property_number(reader, path, "reg"),
		.cpu = -1,
		.compatible = property_text(reader, path, "compatible"),
		.enable_method = property_text(reader, path, "enable-method"),
		.status = property_text(reader, path, "status"),
		.capacity_dmips_mhz = property_number(reader, path, "capacity-dmips-mhz"),
		.clock_hz = property_number(reader, path, "clock-frequency"),
		.cluster = -1,
		.phandle = phandle_of(reader, path),
	};
	read_references(reader, path, "cpu-idle-states", cpu->idle_states);
	read_references(reader, path, "power-domains", cpu->power_domains);
}

/* The number of the first "cluster" in a place such as "socket0/cluster1/core0"; -1. */
static int cluster_in(const char *place)
{
	const char *cluster = strstr(place, "cluster");
	char *end;
	long number;

	if (!cluster || !isdigit((unsigned char)cluster[7]))
		return -1;
	number = strtol(cluster + 7, &end, 10);
	return number <= NODES_MAX ? (int)number : -1;
}

/* One level of cpu-map: a leaf has "cpu", the CPU's phandle; the rest have children. */
static void read_map(struct reader *reader, const char *path, const char *name, int depth)
{
	int64_t phandle = property_number(reader, path, "cpu");

	(void)name;
	for (size_t i = 0; phandle > 0 && i < reader->tree->cpu_count; i++) {
		struct devicetree_cpu *cpu = &reader->tree->cpu[i];

		if (cpu->phandle != phandle || cpu->place)
			continue;
		cpu->place = copy(reader, path + strlen("cpus/cpu-map/"));
		cpu->cluster = cpu->place ? cluster_in(cpu->place) : -1;
	}
	if (phandle < 0 && depth < MAP_DEPTH)
		each_child(reader, path, depth + 1, read_map);
}

static const char *base_of(const struct root *root)
{
	static const char *const bases[] = { "sys/firmware/devicetree/base", "proc/device-tree" };

	for (size_t i = 0; i < 2; i++) {
		if (is_directory(root, bases[i], "."))
			return bases[i];
	}
	return NULL;
}

int devicetree_read(const struct root *root, struct devicetree **tree)
{
	struct reader reader = { .root = root, .base = base_of(root) };

	if (!reader.base)
		return -ENOENT;
	reader.tree = calloc(1, sizeof(*reader.tree));
	if (!reader.tree)
		return -ENOMEM;
	reader.tree->model = property_text(&reader, ".", "model");
	reader.tree->compatible = property_text(&reader, ".", "compatible");
	each_child(&reader, "cpus/idle-states", 0, read_idle_state);
	each_child(&reader, "cpus/domain-idle-states", 0, read_idle_state);
	each_child(&reader, "psci", 0, name_phandle);
	each_child(&reader, "firmware/psci", 0, name_phandle);
	each_child(&reader, "cpus", 0, read_cpu);
	each_child(&reader, "cpus/cpu-map", 0, read_map);
	for (size_t i = 0; i < reader.name_count; i++)
		free(reader.names[i].name);
	free(reader.names);
	if (!reader.error && !reader.tree->model && !reader.tree->cpu_count)
		reader.error = -ENOENT;
	if (reader.error) {
		devicetree_free(reader.tree);
		return reader.error;
	}
	*tree = reader.tree;
	return 0;
}

void devicetree_free(struct devicetree *tree)
{
	for (size_t i = 0; tree && i < tree->cpu_count; i++) {
		struct devicetree_cpu *cpu = &tree->cpu[i];

		free(cpu->node);
		free(cpu->compatible);
		free(cpu->enable_method);
		free(cpu->status);
		free(cpu->place);
		for (size_t j = 0; j < DEVICETREE_LIST; j++) {
			free(cpu->idle_states[j]);
			free(cpu->power_domains[j]);
		}
	}
	for (size_t i = 0; tree && i < tree->idle_count; i++) {
		free(tree->idle[i].node);
		free(tree->idle[i].compatible);
	}
	if (!tree)
		return;
	free(tree->cpu);
	free(tree->idle);
	free(tree->model);
	free(tree->compatible);
	free(tree);
}

struct devicetree_cpu *devicetree_find(const struct devicetree *tree, int64_t reg)
{
	for (size_t i = 0; i < tree->cpu_count; i++) {
		if (tree->cpu[i].reg == reg)
			return &tree->cpu[i];
	}
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* NUMA nodes, from sys/devices/system/node/nodeN. */
#include "base/str.h"
#include "board/topology_parts.h"
#include "sys/root.h"

#include <unistd.h>

static void add_node(struct topology *t, const struct root *root, int node)
{
	int dir = root_dir(root, "sys/devices/system/node/node%d", node);
	struct topology_numa *grown;
	struct cpuset cpus = { 0 };

	if (dir < 0)
		return;
	grown = topology_grow(t, t->numa, t->numa_count, sizeof(*grown));
	if (grown) {
		t->numa = grown;
		grown += t->numa_count++;
		*grown = (struct topology_numa){ .node = node };
		/* a node of memory alone has the empty set, which is a fact */
		if (!topology_cpu_list(root, dir, "cpumap", "cpulist", &cpus)) {
			cpuset_and(&cpus, &t->cpus.present);
			grown->cpus = topology_intern(t, &cpus, sizeof(cpus));
		}
	}
	close(dir);
	cpuset_for_each (number, &cpus) {
		struct topology_cpu *cpu = topology_find(t, number);

		if (cpu && cpu->numa == TOPOLOGY_UNKNOWN)
			cpu->numa = node;
	}
}

void topology_read_numa(struct topology *t, const struct root *root)
{
	struct root_names names;

	if (root_list(root, &names, "sys/devices/system/node"))
		return;
	for (size_t i = 0; i < names.count; i++) {
		uint64_t node;

		if (str_starts(names.names[i], "node") && !str_u64(names.names[i] + 4, &node) &&
		    node < 65536)
			add_node(t, root, (int)node);
	}
	root_names_free(&names);
}

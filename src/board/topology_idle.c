// SPDX-License-Identifier: GPL-2.0-or-later
/* Idle states, from cpuN/cpuidle/stateM (Documentation/admin-guide/pm/cpuidle.rst). Names and times
 * belong to the driver and the kind of core; whether a state is switched off, to each CPU. */
#include "board/topology_parts.h"
#include "sys/root.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATES 16 /* CPUIDLE_STATE_MAX is 10 */

/* The positions in t->idle of a class's states, by index. */
struct menu {
	const void *class;
	int count;
	size_t state[STATES];
};

struct idle_reader {
	struct topology *t;
	const struct root *root;
	struct menu *menus;
	size_t menu_count;
	struct lookout seen;
};

static int64_t read_us(const struct root *root, int dir, const char *name)
{
	int64_t us = topology_number(root, dir, name);

	return us == TOPOLOGY_UNKNOWN || us > INT32_MAX ? TOPOLOGY_UNKNOWN : us * 1000;
}

static bool same_state(const struct topology_idle *a, const struct topology_idle *b)
{
	return a->index == b->index && a->name == b->name && a->description == b->description &&
	       a->exit_latency_ns == b->exit_latency_ns && a->residency_ns == b->residency_ns;
}

/* The position of the state that DIR describes; a new one, or one that another class has too. */
static bool read_state(struct idle_reader *reader, int dir, int index, size_t *position)
{
	struct topology *t = reader->t;
	struct topology_idle *grown, state = {
		.index = index,
		.name = topology_file_text(t, reader->root, dir, "name"),
		.description = topology_file_text(t, reader->root, dir, "desc"),
		.exit_latency_ns = read_us(reader->root, dir, "latency"),
		.residency_ns = read_us(reader->root, dir, "residency"),
	};

	if (!state.name && state.exit_latency_ns == TOPOLOGY_UNKNOWN)
		return false;
	for (*position = 0; *position < t->idle_count; (*position)++) {
		if (same_state(&t->idle[*position], &state))
			return true;
	}
	grown = topology_grow(t, t->idle, t->idle_count, sizeof(*grown));
	if (!grown)
		return false;
	t->idle = grown;
	t->idle[t->idle_count++] = state;
	return true;
}

static void note_disabled(struct topology_idle *state, int cpu, int64_t disabled)
{
	cpuset_add(&state->cpus, cpu);
	if (disabled == TOPOLOGY_UNKNOWN)
		return;
	state->disabled_known = true;
	if (disabled)
		cpuset_add(&state->disabled, cpu);
}

static bool read_menu(struct idle_reader *reader, struct menu *menu, int cpu)
{
	for (menu->count = 0; menu->count < STATES; menu->count++) {
		int dir =
			root_dir(reader->root, CPU_DIR "/cpu%d/cpuidle/state%d", cpu, menu->count);
		bool found =
			dir >= 0 && read_state(reader, dir, menu->count, &menu->state[menu->count]);

		if (found)
			note_disabled(&reader->t->idle[menu->state[menu->count]], cpu,
				      topology_number(reader->root, dir, "disable"));
		if (dir >= 0)
			close(dir);
		if (!found)
			break;
	}
	return menu->count > 0;
}

/* A CPU of a class whose states are known: only what is switched off has to be read. */
static void read_switches(struct idle_reader *reader, const struct menu *menu, int cpu)
{
	for (int i = 0; i < menu->count; i++) {
		struct topology_idle *state = &reader->t->idle[menu->state[i]];
		int64_t disabled = TOPOLOGY_UNKNOWN;

		if (state->disabled_known &&
		    root_number(reader->root, &disabled, CPU_DIR "/cpu%d/cpuidle/state%d/disable",
				cpu, i))
			return; /* not there: an offline CPU, or a kernel that has no such state */
		note_disabled(state, cpu, disabled);
	}
}

static const struct menu *known_menu(const struct idle_reader *reader, const void *class)
{
	for (size_t i = reader->menu_count; i-- > 0;) {
		if (reader->menus[i].class == class)
			return &reader->menus[i];
	}
	return NULL;
}

static void read_cpu(struct idle_reader *reader, const struct topology_cpu *cpu)
{
	const void *class = topology_class(reader->t, cpu);
	const struct menu *known = known_menu(reader, class);
	struct menu *grown, menu = { .class = class };

	if (known && reader->t->cpu_count > TOPOLOGY_READ_WHOLE) {
		read_switches(reader, known, cpu->cpu);
		return;
	}
	if (!lookout_open(&reader->seen))
		return;
	if (cpu->online)
		lookout_saw(&reader->seen, read_menu(reader, &menu, cpu->cpu));
	if (!menu.count)
		return;
	grown = topology_grow(reader->t, reader->menus, reader->menu_count, sizeof(*grown));
	if (!grown)
		return;
	reader->menus = grown;
	reader->menus[reader->menu_count++] = menu;
}

static int compare_states(const void *a, const void *b)
{
	const struct topology_idle *x = a, *y = b;
	int first = cpuset_next(&x->cpus, -1) - cpuset_next(&y->cpus, -1);

	return first ? first : x->index - y->index;
}

void topology_read_idle(struct topology *t, const struct root *root)
{
	struct idle_reader reader = { .t = t, .root = root };
	int dir = root_dir(root, CPU_DIR "/cpuidle");

	if (dir >= 0) {
		t->idle_driver = topology_file_text(t, root, dir, "current_driver");
		t->idle_governor = topology_file_text(t, root, dir, "current_governor");
		if (!t->idle_governor)
			t->idle_governor = topology_file_text(t, root, dir, "current_governor_ro");
		close(dir);
	}
	for (size_t i = 0; i < t->cpu_count; i++)
		read_cpu(&reader, &t->cpu[i]);
	if (t->idle_count)
		qsort(t->idle, t->idle_count, sizeof(*t->idle), compare_states);
	free(reader.menus);
}

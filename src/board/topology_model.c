// SPDX-License-Identifier: GPL-2.0-or-later
/* Names: what the cores are (proc/cpuinfo, MIDR), what the board is (device tree, DMI,
 * proc/cpuinfo), and which kernel runs on it. */
#include "base/str.h"
#include "board/core_names.h"
#include "board/devicetree.h"
#include "board/topology_parts.h"
#include "sys/root.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What one section of proc/cpuinfo says, pointing into its text. Kernels write one section a CPU;
 * ARM's of before 3.8 write what all CPUs share in one at the end. */
struct section {
	int cpu;                                             /* -1: no number */
	const char *implementer, *variant, *part, *revision; /* ARM */
	const char *model_name, *cpu_model, *uarch, *cpu_text, *processor_text, *machine;
	const char *package, *core; /* x86 */
};

/* What the file as a whole tells about the board. */
struct hints {
	const char *features, *isa, *vendor, *hardware, *board_model, *machine, *system_type,
		*timebase;
};

struct field {
	const char *key;
	size_t offset;
};

static const struct field section_fields[] = {
	{ "CPU implementer", offsetof(struct section, implementer) },
	{ "CPU variant", offsetof(struct section, variant) },
	{ "CPU part", offsetof(struct section, part) },
	{ "CPU revision", offsetof(struct section, revision) },
	{ "model name", offsetof(struct section, model_name) },
	{ "Model Name", offsetof(struct section, model_name) },
	{ "cpu model", offsetof(struct section, cpu_model) },
	{ "uarch", offsetof(struct section, uarch) },
	{ "cpu", offsetof(struct section, cpu_text) },
	{ "Processor", offsetof(struct section, processor_text) },
	{ "physical id", offsetof(struct section, package) },
	{ "core id", offsetof(struct section, core) },
};

static const struct field hint_fields[] = {
	{ "Features", offsetof(struct hints, features) },
	{ "features", offsetof(struct hints, features) },
	{ "flags", offsetof(struct hints, features) },
	{ "isa", offsetof(struct hints, isa) },
	{ "vendor_id", offsetof(struct hints, vendor) },
	{ "Hardware", offsetof(struct hints, hardware) },
	{ "Model", offsetof(struct hints, board_model) },
	{ "machine", offsetof(struct hints, machine) },
	{ "system type", offsetof(struct hints, system_type) },
	{ "timebase", offsetof(struct hints, timebase) },
};

static void keep_field(const struct field *fields, size_t count, void *target, const char *key,
		       const char *value)
{
	for (size_t i = 0; i < count; i++) {
		const char **member = (const char **)(void *)((char *)target + fields[i].offset);

		if (!strcmp(fields[i].key, key) && !*member)
			*member = value;
	}
}

static int hex_or_decimal(const char *text)
{
	char *end;
	long value;

	if (!text || !isdigit((unsigned char)*text))
		return -1;
	value = strtol(text, &end, 0);
	return *end || value > 0xfff ? -1 : (int)value;
}

static const char *arm_model(struct topology *t, int implementer, int part)
{
	const char *name = core_name_arm((unsigned)implementer, (unsigned)part);
	const char *vendor = core_vendor_arm((unsigned)implementer);
	char text[64];

	if (name)
		return topology_text(t, name);
	if (vendor)
		snprintf(text, sizeof(text), "%s part 0x%03x", vendor, (unsigned)part);
	else
		snprintf(text, sizeof(text), "implementer 0x%02x part 0x%03x",
			 (unsigned)implementer, (unsigned)part);
	return topology_text(t, text);
}

static const char *arm_revision(struct topology *t, int variant, int revision)
{
	char text[32];

	if (variant < 0 || revision < 0)
		return NULL;
	snprintf(text, sizeof(text), "r%dp%d", variant, revision);
	return topology_text(t, text);
}

/* "POWER9 (architected), altivec supported": the name ends at the comma or bracket. */
static const char *power_model(struct topology *t, const char *text)
{
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, ",("), text);
	return topology_text(t, name);
}

static const char *model_of(struct topology *t, const struct section *s)
{
	int implementer = hex_or_decimal(s->implementer), part = hex_or_decimal(s->part);
	char machine[96];

	if (implementer >= 0 && part >= 0)
		return arm_model(t, implementer, part);
	if (s->machine) {
		const char *name = core_name_s390(s->machine);

		snprintf(machine, sizeof(machine), "IBM %.32s%s%s%s", s->machine, name ? " (" : "",
			 name ? name : "", name ? ")" : "");
		return topology_text(t, machine);
	}
	if (s->uarch)
		return topology_text(t, core_name_riscv(s->uarch) ? core_name_riscv(s->uarch)
								  : s->uarch);
	if (s->model_name && strcmp(s->model_name, "unknown") != 0)
		return topology_text(t, s->model_name);
	if (s->cpu_model)
		return topology_text(t, s->cpu_model);
	if (s->cpu_text)
		return power_model(t, s->cpu_text);
	return topology_text(t, s->processor_text);
}

/* Gives a section's facts to its CPU; of old kernels without sysfs topology, the ids too. */
static void apply_section(struct topology *t, const struct section *s, struct topology_cpu *cpu)
{
	uint64_t id;

	if (!cpu->model)
		cpu->model = model_of(t, s);
	if (!cpu->revision && s->implementer)
		cpu->revision =
			arm_revision(t, hex_or_decimal(s->variant), hex_or_decimal(s->revision));
	if (s->package && !str_u64(s->package, &id) && id < INT32_MAX)
		cpu->package = (int)id;
	if (s->core && !str_u64(s->core, &id) && id < INT32_MAX)
		cpu->core = (int)id;
}

static void end_section(struct topology *t, struct section *s, struct section *shared)
{
	struct topology_cpu *cpu = topology_find(t, s->cpu);

	if (cpu && (s->implementer || !s->processor_text))
		apply_section(t, s, cpu);
	else if (s->cpu < 0 && (s->implementer || !shared->implementer))
		*shared = *s;
	if (s->cpu >= 0 && s->processor_text && !shared->processor_text)
		shared->processor_text = s->processor_text;
	*s = (struct section){ .cpu = -1 };
}

/* "processor 3: version = FF,  identification = 29AA14,  machine = 2817", IBM Z's. */
static void apply_s390(struct topology *t, char *line)
{
	char *end, *machine = strstr(line, "machine = ");
	long number = strtol(line + strlen("processor "), &end, 10);
	struct section s = { .cpu = (int)number };
	struct topology_cpu *cpu = topology_find(t, number <= CPUSET_MAX ? (int)number : -1);

	if (*end != ':' || !machine || !cpu)
		return;
	s.machine = machine + strlen("machine = ");
	apply_section(t, &s, cpu);
}

static void parse_line(struct topology *t, char *line, struct section *s, struct section *shared,
		       struct hints *hints)
{
	char *colon = strchr(line, ':'), *key, *value;
	uint64_t number;

	if (!colon)
		return;
	if (str_starts(line, "processor ") && isdigit((unsigned char)line[10])) {
		apply_s390(t, line);
		return;
	}
	*colon = '\0';
	key = str_trim(line);
	value = str_trim(colon + 1);
	if (!strcmp(key, "processor")) {
		/* a second number in one section: the blank line between was lost */
		if (s->cpu >= 0)
			end_section(t, s, shared);
		s->cpu = !str_u64(value, &number) && number < CPUSET_MAX ? (int)number : -1;
		return;
	}
	keep_field(section_fields, sizeof(section_fields) / sizeof(section_fields[0]), s, key,
		   value);
	keep_field(hint_fields, sizeof(hint_fields) / sizeof(hint_fields[0]), hints, key, value);
}

static bool has_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = text; at && (at = strstr(at, word)); at += length) {
		if ((at == text || at[-1] == ' ') && (!at[length] || at[length] == ' '))
			return true;
	}
	return false;
}

/* Before 6.1 the kernel had no proc/sys/kernel/arch: cpuinfo's own words tell. */
static const char *arch_of(const struct hints *hints)
{
	if (hints->isa && str_starts(hints->isa, "rv"))
		return str_starts(hints->isa, "rv64") ? "riscv64" : "riscv32";
	if (hints->vendor && !strcmp(hints->vendor, "IBM/S390"))
		return has_word(hints->features, "zarch") ? "s390x" : "s390";
	if (has_word(hints->features, "swp") || has_word(hints->features, "half"))
		return "arm";
	if (has_word(hints->features, "asimd") || has_word(hints->features, "fp"))
		return "aarch64";
	if (has_word(hints->features, "lm"))
		return "x86_64";
	if (has_word(hints->features, "fpu"))
		return "i686";
	return hints->timebase ? "ppc" : NULL;
}

/* The device tree's word goes before the firmware's (topology_read_tree). */
static void board_from_hints(struct topology *t, const struct hints *hints)
{
	const char *words[] = { hints->board_model, hints->hardware, hints->machine,
				hints->system_type };

	for (size_t i = 0; i < 4 && !t->model; i++) {
		if (words[i])
			t->model = topology_text(t, words[i]);
	}
}

/* CPUs that cpuinfo doesn't name, off line or on thin trees: their own register. */
static void read_midr(struct topology *t, const struct root *root)
{
	struct lookout seen = { 0 };

	for (size_t i = 0; i < t->cpu_count && lookout_open(&seen); i++) {
		struct topology_cpu *cpu = &t->cpu[i];
		int64_t midr;
		int err;

		if (cpu->model)
			continue;
		err = root_number(root, &midr, CPU_DIR "/cpu%d/regs/identification/midr_el1",
				  cpu->cpu);
		lookout_saw(&seen, !err);
		if (err || midr <= 0)
			continue;
		cpu->model = arm_model(t, (int)MIDR_IMPLEMENTER(midr), (int)MIDR_PART(midr));
		cpu->revision = arm_revision(t, (int)MIDR_VARIANT(midr), (int)MIDR_REVISION(midr));
	}
}

void topology_read_cpuinfo(struct topology *t, const struct root *root)
{
	struct section section = { .cpu = -1 }, shared = { .cpu = -1 };
	struct hints hints = { 0 };
	char *text = NULL, *next;
	size_t length;

	if (!root_all(root, ROOT_FILE_MAX, &text, &length, "proc/cpuinfo")) {
		for (char *line = text; line; line = next) {
			next = strchr(line, '\n');
			if (next)
				*next++ = '\0';
			if (*line)
				parse_line(t, line, &section, &shared, &hints);
			else
				end_section(t, &section, &shared);
		}
		end_section(t, &section, &shared);
		for (size_t i = 0; i < t->cpu_count; i++) {
			if (!t->cpu[i].model && t->cpu[i].online)
				apply_section(t, &shared, &t->cpu[i]);
		}
		if (!t->arch)
			t->arch = topology_text(t, arch_of(&hints));
		board_from_hints(t, &hints);
	}
	read_midr(t, root);
	free(text);
}

/* What makers leave in DMI fields that they were to fill in. */
static bool is_placeholder(const char *text)
{
	static const char *const words[] = { "To Be Filled By O.E.M.",
					     "To be filled by O.E.M.",
					     "System Product Name",
					     "System manufacturer",
					     "Default string",
					     "Not Specified",
					     "Not Applicable",
					     "None",
					     "Unknown",
					     "INVALID" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(text, words[i]))
			return true;
	}
	return false;
}

static const char *dmi_text(struct topology *t, const struct root *root, int dir, const char *name)
{
	const char *text = topology_file_text(t, root, dir, name);

	return text && !is_placeholder(text) ? text : NULL;
}

static const char *model_from_dmi(struct topology *t, const struct root *root)
{
	int dir = root_dir(root, "sys/class/dmi/id");
	const char *vendor, *name;
	char text[256];

	if (dir < 0)
		dir = root_dir(root, "sys/devices/virtual/dmi/id");
	if (dir < 0)
		return NULL;
	vendor = dmi_text(t, root, dir, "sys_vendor");
	name = dmi_text(t, root, dir, "product_name");
	if (!name) {
		vendor = dmi_text(t, root, dir, "board_vendor");
		name = dmi_text(t, root, dir, "board_name");
	}
	close(dir);
	if (!name || !vendor || str_starts(name, vendor))
		return name ? name : vendor;
	snprintf(text, sizeof(text), "%s %s", vendor, name);
	return topology_text(t, text);
}

/* "Linux version 6.1.0-13-amd64 (debian-kernel@...". */
static const char *kernel_from_version(struct topology *t, const struct root *root)
{
	static const char start[] = "Linux version ";
	char text[1024];

	if (root_text(root, text, sizeof(text), "proc/version") < 0 || !str_starts(text, start))
		return NULL;
	text[sizeof(start) - 1 + strcspn(text + sizeof(start) - 1, " ")] = '\0';
	return topology_text(t, text + sizeof(start) - 1);
}

void topology_read_board(struct topology *t, const struct root *root)
{
	char text[256];

	if (root_text(root, text, sizeof(text), "proc/sys/kernel/osrelease") > 0)
		t->kernel = topology_text(t, text);
	if (!t->kernel)
		t->kernel = kernel_from_version(t, root);
	if (root_text(root, text, sizeof(text), "proc/sys/kernel/arch") > 0)
		t->arch = topology_text(t, text);
	t->model = model_from_dmi(t, root);
}

/* The hardware's id in the node that CPU's of_node link leads to; -1. */
static int64_t linked_reg(const struct root *root, int cpu)
{
	unsigned char *bytes;
	size_t length;
	uint64_t reg = 0;
	char *text;

	if (root_all(root, 16, &text, &length, CPU_DIR "/cpu%d/of_node/reg", cpu))
		return -1;
	bytes = (unsigned char *)text;
	for (size_t i = 0; i < length; i++)
		reg = reg << 8 | bytes[i];
	free(text);
	return (length == 4 || length == 8) && reg <= INT64_MAX ? (int64_t)reg : -1;
}

/* Ties the tree's nodes to CPU numbers, and fills in clusters where the kernel names none. */
void topology_read_tree(struct topology *t, const struct root *root)
{
	struct lookout seen = { 0 };
	int err = devicetree_read(root, &t->tree);

	if (err == -ENOMEM)
		topology_out_of_memory(t);
	if (err)
		return;
	if (t->tree->model)
		t->model = topology_text(t, t->tree->model);
	for (size_t i = 0; i < t->cpu_count && lookout_open(&seen); i++) {
		struct topology_cpu *cpu = &t->cpu[i];
		int64_t reg = linked_reg(root, cpu->cpu);
		struct devicetree_cpu *node = reg < 0 ? NULL : devicetree_find(t->tree, reg);

		lookout_saw(&seen, reg >= 0);
		if (!node || node->cpu >= 0)
			continue;
		node->cpu = cpu->cpu;
		if (cpu->cluster == TOPOLOGY_UNKNOWN)
			cpu->cluster = node->cluster;
	}
}

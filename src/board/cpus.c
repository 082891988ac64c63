// SPDX-License-Identifier: GPL-2.0-or-later
#include "board/cpus.h"

#include "base/str.h"
#include "sys/root.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPU_DIR "sys/devices/system/cpu"

/* A CPU number at TEXT that ends at END's character (0: at the text's), or -1. */
static int number_of(const char *text, char end)
{
	size_t digits = strspn(text, "0123456789");
	long cpu;

	if (!digits || digits > 5 || (*text == '0' && digits > 1) || text[digits] != end)
		return -1;
	cpu = strtol(text, NULL, 10);
	return cpu < CPUSET_MAX ? (int)cpu : -1;
}

int cpus_directory(const char *name)
{
	return str_starts(name, "cpu") ? number_of(name + 3, '\0') : -1;
}

/* The cpuN directories; the offline ones of them in *OFFLINE. A CPU that has no file "online" can't
 * be taken off line (Documentation/core-api/cpu_hotplug.rst). */
static int from_directories(const struct root *root, struct cpuset *present, struct cpuset *offline)
{
	struct root_names names;
	int err = root_list(root, &names, CPU_DIR);

	if (err)
		return err == -ENOMEM ? err : 0;
	for (size_t i = 0; i < names.count; i++) {
		int cpu = cpus_directory(names.names[i]);
		int64_t online;
		int dir = cpu < 0 ? -1 : root_dir(root, CPU_DIR "/cpu%d", cpu);

		if (dir < 0)
			continue;
		close(dir);
		cpuset_add(present, cpu);
		if (!root_number(root, &online, CPU_DIR "/cpu%d/online", cpu) && !online)
			cpuset_add(offline, cpu);
	}
	root_names_free(&names);
	return 0;
}

/* "processor : 3"; s390 writes "processor 3: version = ...". ARM before 3.8 had a line "Processor"
 * with the core's name, and no numbers without SMP. */
static int cpuinfo_cpu(const char *line)
{
	int cpu;

	if (!str_starts(line, "processor"))
		return -1;
	line += strlen("processor");
	line += strspn(line, " \t");
	cpu = number_of(line, ':');
	if (cpu >= 0 || *line != ':')
		return cpu;
	line++;
	line += strspn(line, " \t");
	return number_of(line, '\0');
}

static int stat_cpu(const char *line)
{
	return str_starts(line, "cpu") ? number_of(line + 3, ' ') : -1;
}

static bool is_cpuinfo(const char *line)
{
	static const char *const starts[] = { "Processor\t", "Processor ", "model name", "CPU part",
					      "cpu\t",       "cpu model",  "uarch" };

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		if (str_starts(line, starts[i]))
			return true;
	}
	return false;
}

/* The CPUs that a file's lines name, by WHICH. A text that speaks of one CPU without its number (a
 * kernel without SMP) names CPU 0. */
static int from_lines(const struct root *root, const char *path, int (*which)(const char *line),
		      struct cpuset *set)
{
	bool nameless = false;
	char *text, *save;
	size_t length;
	int err = root_all(root, ROOT_FILE_MAX, &text, &length, "%s", path);

	if (err)
		return err == -ENOMEM ? err : 0;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		int cpu = which(line);

		if (cpu >= 0)
			cpuset_add(set, cpu);
		nameless |= which == cpuinfo_cpu && is_cpuinfo(line);
	}
	if (nameless && cpuset_empty(set))
		cpuset_add(set, 0);
	free(text);
	return 0;
}

/* The value of a boot parameter's first occurrence, or NULL; ends it in place. */
static char *parameter(char *line, const char *name)
{
	char *save;

	for (char *word = strtok_r(line, " \t\n", &save); word;
	     word = strtok_r(NULL, " \t\n", &save)) {
		if (str_starts(word, name))
			return word + strlen(name);
	}
	return NULL;
}

/* isolcpus=[flags,]LIST, before there was a file that says it. */
static bool isolated_by_boot_line(const struct root *root, int last, struct cpuset *isolated)
{
	char line[4096], *list;

	if (root_text(root, line, sizeof(line), "proc/cmdline") < 0)
		return false;
	list = parameter(line, "isolcpus=");
	while (list && *list && islower((unsigned char)*list) && strchr(list, ','))
		list = strchr(list, ',') + 1;
	return list && !cpuset_parse(list, last, isolated, NULL);
}

static void read_isolated(const struct root *root, struct board_cpus *cpus)
{
	struct cpuset partitions = { 0 };

	cpus->isolated_known = !root_cpus(root, &cpus->isolated, CPU_DIR "/isolated") ||
			       isolated_by_boot_line(root, cpus->last, &cpus->isolated);
	if (root_cpus(root, &partitions, "sys/fs/cgroup/cpuset.cpus.isolated"))
		return;
	cpuset_or(&cpus->isolated, &partitions);
	cpus->isolated_known = true;
}

/* What stands in for a missing list of present CPUs, and of online ones where FOUND is set. */
static int read_without_lists(const struct root *root, struct board_cpus *cpus)
{
	struct cpuset offline = { 0 };
	int err = from_directories(root, &cpus->present, &offline);

	cpus->source = CPUS_FROM_DIRECTORIES;
	cpus->online = cpus->present;
	cpuset_without(&cpus->online, &offline);
	if (!err && cpuset_empty(&cpus->present)) {
		cpus->source = CPUS_FROM_CPUINFO;
		err = from_lines(root, "proc/cpuinfo", cpuinfo_cpu, &cpus->present);
		cpus->online = cpus->present;
	}
	if (!err && cpuset_empty(&cpus->present)) {
		cpus->source = CPUS_FROM_STAT;
		err = from_lines(root, "proc/stat", stat_cpu, &cpus->present);
		cpus->online = cpus->present;
	}
	return err;
}

int cpus_read(const struct root *root, struct board_cpus *cpus)
{
	struct board_cpus new = { .source = CPUS_FROM_LIST };
	struct cpuset online = { 0 };
	bool listed = !root_cpus(root, &online, CPU_DIR "/online");
	int err = 0;

	if (root_cpus(root, &new.present, CPU_DIR "/present") || cpuset_empty(&new.present))
		err = read_without_lists(root, &new);
	else if (!listed) {
		struct board_cpus other = { 0 };

		err = read_without_lists(root, &other);
		new.online = other.online;
		new.online_known = !cpuset_empty(&other.online);
	}
	if (err)
		return err;
	if (new.source != CPUS_FROM_LIST)
		new.online_known = true;
	if (listed && !cpuset_empty(&online)) {
		new.online = online;
		new.online_known = true;
		cpuset_or(&new.present, &online); /* what runs is there */
	}
	if (cpuset_empty(&new.present))
		return -ENOENT;
	new.last = cpuset_last(&new.present);
	new.possible_known = !root_cpus(root, &new.possible, CPU_DIR "/possible");
	new.nohz_full_known = !root_cpus(root, &new.nohz_full, CPU_DIR "/nohz_full");
	read_isolated(root, &new);
	*cpus = new;
	return 0;
}

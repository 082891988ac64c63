// SPDX-License-Identifier: GPL-2.0-or-later
/* Frequencies, idle states and temperatures, as far as reading them disturbs nobody. */
#include "base/sink.h"
#include "base/str.h"
#include "board/surroundings_parts.h"
#include "sys/root.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPU     "sys/devices/system/cpu/"
#define CPUFREQ CPU "cpufreq/"
#define THERMAL "sys/class/thermal/"

/* Calls VISIT for each frequency policy; before 4.3 there were none, and nothing is known. */
static int each_policy(struct reading *reading,
		       void (*visit)(struct reading *reading, const char *policy))
{
	struct root_names names;
	int count = 0, err = root_list(reading->root, &names, CPUFREQ);

	if (err)
		return err;
	for (size_t i = 0; i < names.count; i++) {
		if (!str_starts(names.names[i], "policy"))
			continue;
		visit(reading, names.names[i]);
		count++;
	}
	root_names_free(&names);
	return count ? 0 : -ENOENT;
}

static void visit_fixed(struct reading *reading, const char *policy)
{
	char key[KEY_MAX], path[KEY_MAX];

	snprintf(key, sizeof(key), "governor.%s", policy);
	snprintf(path, sizeof(path), CPUFREQ "%s/scaling_governor", policy);
	reading_copy_text(reading, key, path);
	snprintf(key, sizeof(key), "frequency_max_khz.%s", policy);
	snprintf(path, sizeof(path), CPUFREQ "%s/scaling_max_freq", policy);
	reading_copy_number(reading, key, path);
}

/* cpufreq/boost, or intel_pstate's switch, which says the opposite. */
static void read_boost(struct reading *reading)
{
	int64_t value;

	if (!root_number(reading->root, &value, CPUFREQ "boost"))
		reading_text(reading, "boost", value ? "on" : "off");
	else if (!root_number(reading->root, &value, CPU "intel_pstate/no_turbo"))
		reading_text(reading, "boost", value ? "off" : "on");
	else
		reading_unknown(reading, "boost", "this board has no switch for it");
}

void surroundings_frequencies_fixed(struct reading *reading)
{
	int err = each_policy(reading, visit_fixed);

	if (err == -ENOENT)
		reading_unknown(reading, "governor", "no frequency scaling in " CPUFREQ);
	else if (err)
		reading_failed(reading, "governor", CPUFREQ, err);
	read_boost(reading);
}

/*
 * scaling_cur_freq only: cpuinfo_cur_freq asks the hardware. On x86 until 5.18, and with CPPC's
 * counters on arm64, the former too asks a CPU by interrupting it
 * (arch/x86/kernel/cpu/aperfmperf.c, arch/arm64/kernel/topology.c), so policies of isolated CPUs
 * are left out on a live board.
 */
static void visit_now(struct reading *reading, const char *policy)
{
	char key[KEY_MAX], path[KEY_MAX], text[4096];
	struct cpuset cpus = { 0 };

	snprintf(key, sizeof(key), "frequency_%s_khz.%s", reading->when, policy);
	if (root_text(reading->root, text, sizeof(text), CPUFREQ "%s/affected_cpus", policy) > 0) {
		for (char *c = text; *c; c++)
			*c = *c == ' ' ? ',' : *c;
		if (cpuset_parse(text, -1, &cpus, NULL))
			cpus = reading->cpus.online;
	}
	if (reading_disturbs(reading, &cpus)) {
		reading_unknown(reading, key, "not read: that may interrupt isolated CPUs");
		return;
	}
	snprintf(path, sizeof(path), CPUFREQ "%s/scaling_cur_freq", policy);
	reading_copy_number(reading, key, path);
}

void surroundings_frequencies_now(struct reading *reading)
{
	/* that there are none is said once, by the governor */
	if (each_policy(reading, visit_now) == -ENOMEM)
		reading->error = -ENOMEM;
}

struct deepest {
	char text[80];
	struct cpuset cpus;
};

/* The deepest idle state of CPU that is not disabled, as "C6 133 µs". */
static int deepest_of(const struct root *root, int cpu, char *text, size_t size)
{
	struct root_names states;
	int err = root_list(root, &states, CPU "cpu%d/cpuidle", cpu);

	if (err)
		return err;
	err = -ENOENT;
	for (size_t i = states.count; i-- > 0 && err;) {
		const char *state = states.names[i];
		int64_t disabled, latency;
		char name[32];

		if (!str_starts(state, "state") ||
		    root_number(root, &disabled, CPU "cpu%d/cpuidle/%s/disable", cpu, state) ||
		    disabled ||
		    root_text(root, name, sizeof(name), CPU "cpu%d/cpuidle/%s/name", cpu, state) <
			    0)
			continue;
		err = 0;
		if (root_number(root, &latency, CPU "cpu%d/cpuidle/%s/latency", cpu, state))
			snprintf(text, size, "%s", name);
		else
			snprintf(text, size, "%s %" PRId64 " µs", name, latency);
	}
	root_names_free(&states);
	return err;
}

#define KINDS_MAX 8

/* Puts CPU with those of the same deepest state. */
static size_t add_deepest(struct deepest *kinds, size_t count, const char *text, int cpu)
{
	size_t i = 0;

	while (i < count && strcmp(kinds[i].text, text) != 0)
		i++;
	if (i == KINDS_MAX)
		return count;
	if (i == count)
		snprintf(kinds[i].text, sizeof(kinds[i].text), "%s", text);
	cpuset_add(&kinds[i].cpus, cpu);
	return i == count ? count + 1 : count;
}

static void read_deepest(struct reading *reading)
{
	struct deepest kinds[KINDS_MAX] = { 0 };
	struct strbuf list = STRBUF_INIT;
	char text[80];
	size_t count = 0;

	cpuset_for_each (cpu, &reading->cpus.online) {
		int err = deepest_of(reading->root, cpu, text, sizeof(text));

		if (!err)
			count = add_deepest(kinds, count, text, cpu);
		else if (err == -ENOMEM)
			reading->error = err;
	}
	for (size_t i = 0; i < count; i++) {
		sink_printf(&list.sink, "%s%s on ", i ? "; " : "", kinds[i].text);
		cpuset_write(&kinds[i].cpus, &list.sink);
	}
	if (list.sink.error)
		reading->error = list.sink.error;
	else if (list.text)
		reading_text(reading, "idle_deepest", list.text);
	else
		reading_unknown(reading, "idle_deepest",
				"no enabled idle state in " CPU "cpuN/cpuidle");
	strbuf_free(&list);
}

void surroundings_idle(struct reading *reading)
{
	reading_copy_text(reading, "idle_driver", CPU "cpuidle/current_driver");
	reading_copy_text(reading, "idle_governor", CPU "cpuidle/current_governor_ro");
	read_deepest(reading);
}

/* Reading the package's sensor on x86 interrupts one of its CPUs (drivers/thermal/intel/
 * x86_pkg_temp_thermal.c: rdmsr_safe_on_cpu); which one it does not tell. */
static bool zone_disturbs(const struct reading *reading, const char *type)
{
	return !strcmp(type, "x86_pkg_temp") && root_is_live(reading->root) &&
	       !cpuset_empty(&reading->kept);
}

/* Whether another zone has the same type: the type alone does not name it then. */
static bool is_ambiguous(const struct root *root, const struct root_names *zones, const char *zone,
			 const char *type)
{
	for (size_t i = 0; i < zones->count; i++) {
		char text[64];

		if (strcmp(zones->names[i], zone) != 0 &&
		    root_text(root, text, sizeof(text), THERMAL "%s/type", zones->names[i]) > 0 &&
		    !strcmp(text, type))
			return true;
	}
	return false;
}

static void read_zone(struct reading *reading, const struct root_names *zones, const char *zone)
{
	char key[KEY_MAX], path[KEY_MAX], type[64];
	bool disturbs;

	if (root_text(reading->root, type, sizeof(type), THERMAL "%s/type", zone) <= 0)
		snprintf(type, sizeof(type), "%.60s", zone);
	disturbs = zone_disturbs(reading, type);
	if (is_ambiguous(reading->root, zones, zone, type))
		snprintf(type + strlen(type), sizeof(type) - strlen(type), "_%s",
			 zone + strlen("thermal_zone"));
	snprintf(key, sizeof(key), "temperature_%s_mdeg.%s", reading->when, type);
	if (disturbs) {
		reading_unknown(reading, key, "not read: that may interrupt isolated CPUs");
		return;
	}
	snprintf(path, sizeof(path), THERMAL "%.60s/temp", zone);
	reading_copy_number(reading, key, path);
}

void surroundings_temperatures(struct reading *reading)
{
	struct root_names zones;
	char key[KEY_MAX];
	size_t count = 0;
	int err = root_list(reading->root, &zones, THERMAL);

	snprintf(key, sizeof(key), "temperature_%s_mdeg", reading->when);
	if (err) {
		reading_failed(reading, key, THERMAL, err);
		return;
	}
	for (size_t i = 0; i < zones.count; i++) {
		if (!str_starts(zones.names[i], "thermal_zone"))
			continue;
		read_zone(reading, &zones, zones.names[i]);
		count++;
	}
	if (!count)
		reading_unknown(reading, key, "no thermal zone in " THERMAL);
	root_names_free(&zones);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Frequency domains: cpufreq's policies (Documentation/admin-guide/pm/cpufreq.rst); before 4.3, the
 * cpuN/cpufreq directories, of which those of one domain show the same. */
#include "base/str.h"
#include "board/topology_parts.h"
#include "sys/root.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct freq_reader {
	struct topology *t;
	const struct root *root;
	bool alone;        /* each CPU has its own policy: sets need no reading */
	const void *class; /* of the CPU read last, and what is the same for its class */
	int64_t class_min_khz, class_transition_ns;
	const char *driver; /* one for all: the kernel registers one cpufreq driver at a time */
};

static int policy_of(const char *name)
{
	uint64_t number;

	if (!str_starts(name, "policy") || str_u64(name + 6, &number) || number >= CPUSET_MAX)
		return -1;
	return (int)number;
}

static void assign(struct topology *t, const struct topology_freq *freq)
{
	cpuset_for_each (number, freq->cpus) {
		struct topology_cpu *cpu = topology_find(t, number);

		if (cpu->freq_domain != TOPOLOGY_UNKNOWN)
			continue;
		cpu->freq_domain = freq->domain;
		cpu->max_freq_khz = freq->max_khz;
	}
}

/* A policy carries the number of one of its CPUs; a list without that one is not believed. */
static const struct cpuset *read_cpus(struct freq_reader *reader, int dir, int domain)
{
	struct cpuset cpus = { 0 };

	if (reader->alone || topology_cpu_list(reader->root, dir, NULL, "related_cpus", &cpus) ||
	    !cpuset_has(&cpus, domain)) {
		cpus = (struct cpuset){ 0 };
		cpuset_add(&cpus, domain);
	}
	return topology_set(reader->t, &cpus);
}

/* Frequencies of 0 are what some drivers write for "don't know". */
static int64_t read_khz(const struct freq_reader *reader, int dir, const char *name)
{
	int64_t khz = topology_number(reader->root, dir, name);

	return khz > 0 ? khz : TOPOLOGY_UNKNOWN;
}

/* CPUFREQ_ETERNAL, the largest unsigned number, says that the driver doesn't know. */
static int64_t read_transition(const struct freq_reader *reader, int dir)
{
	int64_t ns = topology_number(reader->root, dir, "cpuinfo_transition_latency");

	return ns == UINT32_MAX ? TOPOLOGY_UNKNOWN : ns;
}

/* The lowest frequency and the cost of a change belong to the core's design; the highest does not,
 * as makers allow some cores of a chip more. */
static void read_class(struct freq_reader *reader, int dir, struct topology_freq *freq)
{
	const struct topology_cpu *cpu = topology_find(reader->t, freq->domain);
	const void *class = topology_class(reader->t, cpu);

	if (reader->t->cpu_count <= TOPOLOGY_READ_WHOLE || reader->class != class) {
		reader->class = class;
		reader->class_min_khz = read_khz(reader, dir, "cpuinfo_min_freq");
		reader->class_transition_ns = read_transition(reader, dir);
	}
	freq->min_khz = reader->class_min_khz;
	freq->transition_latency_ns = reader->class_transition_ns;
}

/* Reads the domain in DIR and closes it; a directory that tells nothing is no domain. */
static void read_domain(struct freq_reader *reader, int dir, int domain)
{
	struct topology *t = reader->t;
	struct topology_freq *grown, freq = { .domain = domain };

	read_class(reader, dir, &freq);
	freq.max_khz = read_khz(reader, dir, "cpuinfo_max_freq");
	freq.limit_min_khz = read_khz(reader, dir, "scaling_min_freq");
	freq.limit_max_khz = read_khz(reader, dir, "scaling_max_freq");
	freq.governor = topology_file_text(t, reader->root, dir, "scaling_governor");
	if (!reader->driver)
		reader->driver = topology_file_text(t, reader->root, dir, "scaling_driver");
	freq.driver = reader->driver;
	if (freq.max_khz != TOPOLOGY_UNKNOWN || freq.limit_max_khz != TOPOLOGY_UNKNOWN ||
	    freq.governor)
		freq.cpus = read_cpus(reader, dir, domain);
	close(dir);
	grown = freq.cpus ? topology_grow(t, t->freq, t->freq_count, sizeof(*grown)) : NULL;
	if (!grown)
		return;
	t->freq = grown;
	t->freq[t->freq_count++] = freq;
	assign(t, &freq);
}

static void read_policies(struct freq_reader *reader)
{
	struct root_names names;
	size_t policies = 0;

	if (root_list(reader->root, &names, CPU_DIR "/cpufreq"))
		return;
	for (size_t i = 0; i < names.count; i++)
		policies += topology_find(reader->t, policy_of(names.names[i])) != NULL;
	/* policies never overlap and none is empty: as many as CPUs means one each */
	reader->alone = policies == reader->t->cpu_count;
	for (size_t i = 0; i < names.count; i++) {
		int domain = policy_of(names.names[i]), dir;

		if (!topology_find(reader->t, domain))
			continue;
		dir = root_dir(reader->root, CPU_DIR "/cpufreq/policy%d", domain);
		if (dir >= 0)
			read_domain(reader, dir, domain);
	}
	root_names_free(&names);
	reader->alone = false;
}

static int compare_domains(const void *a, const void *b)
{
	return ((const struct topology_freq *)a)->domain -
	       ((const struct topology_freq *)b)->domain;
}

void topology_read_freq(struct topology *t, const struct root *root)
{
	struct freq_reader reader = { .t = t, .root = root };
	struct lookout seen = { 0 };

	read_policies(&reader);
	for (size_t i = 0; i < t->cpu_count && lookout_open(&seen); i++) {
		int dir;

		if (t->cpu[i].freq_domain != TOPOLOGY_UNKNOWN || !t->cpu[i].online)
			continue;
		dir = root_dir(root, CPU_DIR "/cpu%d/cpufreq", t->cpu[i].cpu);
		lookout_saw(&seen, dir >= 0);
		if (dir >= 0)
			read_domain(&reader, dir, t->cpu[i].cpu);
	}
	if (t->freq_count)
		qsort(t->freq, t->freq_count, sizeof(*t->freq), compare_domains);
}

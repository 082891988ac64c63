// SPDX-License-Identifier: GPL-2.0-or-later
/* Topology and the CPU sets, on trees composed here; whole boards are in
 * tests/cli/test_topology.py. */
#include "board/topology.h"

#include "base/fail.h"
#include "base/sink.h"
#include "board/core_names.h"
#include "board/devicetree.h"
#include "format/topology.h"
#include "sys/root.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define CPU "sys/devices/system/cpu/"

struct tree {
	char path[64];
	struct root *root;
};

static void make_folders(char *name)
{
	for (char *slash = strchr(name + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		assert_true(!mkdir(name, 0700) || errno == EEXIST);
		*slash = '/';
	}
}

static void put_bytes(const struct tree *tree, const char *path, const void *bytes, size_t size)
{
	char name[PATH_MAX];
	int fd;

	snprintf(name, sizeof(name), "%s/%s", tree->path, path);
	make_folders(name);
	/* a new file: some file systems wait for the disk when one is truncated and written again
	 */
	unlink(name);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
}

static void put(const struct tree *tree, const char *path, const char *text)
{
	put_bytes(tree, path, text, strlen(text));
}

/* For a CPU's own file: "cpu3/" and NAME below the folder of CPUs. */
static void put_cpu(const struct tree *tree, int cpu, const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), CPU "cpu%d/%s", cpu, name);
	put(tree, path, text);
}

static int setup(void **state)
{
	struct tree *tree = calloc(1, sizeof(*tree));

	assert_non_null(tree);
	snprintf(tree->path, sizeof(tree->path), "/tmp/test_topology.XXXXXX");
	assert_non_null(mkdtemp(tree->path));
	assert_int_equal(root_open(&tree->root, tree->path, NULL), 0);
	*state = tree;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

static int teardown(void **state)
{
	struct tree *tree = *state;

	root_observe(NULL, NULL);
	root_fail_nth(0, 0);
	nftw(tree->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	root_close(tree->root);
	free(tree);
	return 0;
}

static struct topology *read_it(const struct tree *tree)
{
	struct topology *topology = NULL;
	struct fail fail = { "" };
	int err = topology_read(tree->root, &topology, &fail);

	if (err)
		fail_msg("topology_read: %d, %s", err, fail.text);
	return topology;
}

static void assert_set(const struct cpuset *set, const char *text)
{
	char buf[CPUSET_TEXT_MAX];

	assert_non_null(set);
	assert_string_equal(cpuset_text(set, buf, sizeof(buf)), text);
}

static bool is_odd(const struct topology *topology, const char *words)
{
	for (size_t i = 0; i < topology->odd_count; i++) {
		if (strstr(topology->odd[i], words))
			return true;
	}
	return false;
}

static void test_cpus_from_lists(void **state)
{
	const struct tree *tree = *state;
	struct board_cpus cpus;

	put(tree, CPU "present", "0-1,4-5\n");
	put(tree, CPU "online", "1,4-5\n");
	put(tree, CPU "possible", "0-7\n");
	put(tree, CPU "isolated", "\n");
	assert_int_equal(cpus_read(tree->root, &cpus), 0);
	assert_int_equal(cpus.source, CPUS_FROM_LIST);
	assert_set(&cpus.present, "0-1,4-5");
	assert_set(&cpus.online, "1,4-5");
	assert_set(&cpus.possible, "0-7");
	assert_true(cpus.online_known && cpus.possible_known && cpus.isolated_known);
	assert_true(cpuset_empty(&cpus.isolated));
	assert_false(cpus.nohz_full_known); /* not told is not the same as none */
	assert_int_equal(cpus.last, 5);
}

static void test_cpus_from_directories(void **state)
{
	const struct tree *tree = *state;
	static const char *const nonsense[] = { "cpu-1/x", "cpu99999999/x", "cpu8192/x",
						"cpu03/x", "cpufreq/x",     "cpu/x",
						"cpu7",    "cpu4x/x" };
	struct board_cpus cpus;

	for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
		char path[64];

		snprintf(path, sizeof(path), CPU "%s", nonsense[i]);
		put(tree, path, "0\n");
	}
	put_cpu(tree, 0, "crash_notes", "0\n");
	put_cpu(tree, 2, "online", "0\n");
	put_cpu(tree, 10, "online", "1\n");
	put_cpu(tree, 8191, "online", "1\n");
	assert_int_equal(cpus_read(tree->root, &cpus), 0);
	assert_int_equal(cpus.source, CPUS_FROM_DIRECTORIES);
	assert_set(&cpus.present, "0,2,10,8191");
	assert_set(&cpus.online, "0,10,8191");
	assert_true(cpus.online_known);
	assert_int_equal(cpus.last, 8191);
}

static void test_cpus_without_sysfs(void **state)
{
	const struct tree *tree = *state;
	struct board_cpus cpus;

	put(tree, "proc/stat", "cpu  9 9 9 9\ncpu0 1 1 1 1\ncpu3 1 1 1 1\nctxt 5\n");
	assert_int_equal(cpus_read(tree->root, &cpus), 0);
	assert_int_equal(cpus.source, CPUS_FROM_STAT);
	assert_set(&cpus.present, "0,3");
	put(tree, "proc/cpuinfo", "processor\t: 0\nmodel name\t: x\n\nprocessor\t: 2\n");
	assert_int_equal(cpus_read(tree->root, &cpus), 0);
	assert_int_equal(cpus.source, CPUS_FROM_CPUINFO);
	assert_set(&cpus.present, "0,2");
	put(tree, "proc/cpuinfo",
	    "vendor_id       : IBM/S390\n# processors    : 2\n"
	    "processor 0: version = FF\nprocessor 5: version = FF\n");
	assert_int_equal(cpus_read(tree->root, &cpus), 0);
	assert_set(&cpus.present, "0,5");
	put(tree, "proc/cpuinfo", "Processor\t: ARM720T rev 2 (v4l)\nBogoMIPS\t: 43.62\n");
	assert_int_equal(cpus_read(tree->root, &cpus), 0);
	assert_set(&cpus.present, "0");
}

static void test_isolated_before_the_list(void **state)
{
	const struct tree *tree = *state;
	struct board_cpus cpus;

	put(tree, CPU "present", "0-7\n");
	put(tree, "proc/cmdline", "quiet isolcpus=nohz,managed_irq,4-N ro\n");
	assert_int_equal(cpus_read(tree->root, &cpus), 0);
	assert_true(cpus.isolated_known);
	assert_set(&cpus.isolated, "4-7");
	put(tree, "proc/cmdline", "quiet isolcpus=nonsense\n");
	assert_int_equal(cpus_read(tree->root, &cpus), 0);
	assert_false(cpus.isolated_known);
	put(tree, CPU "isolated", "2\n");
	put(tree, "sys/fs/cgroup/cpuset.cpus.isolated", "5\n");
	assert_int_equal(cpus_read(tree->root, &cpus), 0);
	assert_set(&cpus.isolated, "2,5");
}

static void test_no_cpus(void **state)
{
	const struct tree *tree = *state;
	struct topology *topology = (struct topology *)(void *)state;
	struct board_cpus cpus = { .last = 77 };
	struct fail fail = { "" };

	assert_int_equal(cpus_read(tree->root, &cpus), -ENOENT);
	assert_int_equal(cpus.last, 77);
	assert_int_equal(topology_read(tree->root, &topology, &fail), -EINVAL);
	assert_ptr_equal(topology, state);
	assert_non_null(strstr(fail.text, "no CPU found"));
	assert_null(strchr(fail.text, '\n'));
	put(tree, CPU "present", "\n");
	put(tree, "proc/cpuinfo", "");
	assert_int_equal(cpus_read(tree->root, &cpus), -ENOENT);
	topology_free(NULL);
}

/* Two packages of two cores, by old names and masks, and numbers with a hole. */
static void put_packages(const struct tree *tree)
{
	static const struct {
		int cpu;
		const char *core, *package, *siblings;
	} cpus[] = { { 0, "0", "0", "3" },
		     { 1, "1", "0", "3" },
		     { 4, "0", "7", "30" },
		     { 5, "1", "7", "30" } };

	put(tree, CPU "present", "0-1,4-5\n");
	put(tree, CPU "online", "0-1,4-5\n");
	for (size_t i = 0; i < 4; i++) {
		char alone[16];

		snprintf(alone, sizeof(alone), "%x\n", 1U << cpus[i].cpu);
		put_cpu(tree, cpus[i].cpu, "topology/core_id", cpus[i].core);
		put_cpu(tree, cpus[i].cpu, "topology/physical_package_id", cpus[i].package);
		put_cpu(tree, cpus[i].cpu, "topology/core_siblings", cpus[i].siblings);
		put_cpu(tree, cpus[i].cpu, "topology/thread_siblings", alone);
	}
}

static void test_packages(void **state)
{
	const struct tree *tree = *state;
	struct topology *topology;

	put_packages(tree);
	topology = read_it(tree);
	assert_int_equal(topology->cpu_count, 4);
	assert_int_equal(topology->package_count, 2);
	assert_int_equal(topology->core_count, 4);
	assert_int_equal(topology->die_count, TOPOLOGY_UNKNOWN);
	assert_null(topology_find(topology, 2));
	assert_null(topology_find(topology, -1));
	assert_null(topology_find(topology, 6));
	assert_int_equal(topology_find(topology, 5)->package, 7);
	assert_set(topology_find(topology, 5)->package_cpus, "4-5");
	assert_ptr_equal(topology_find(topology, 4)->package_cpus,
			 topology_find(topology, 5)->package_cpus);
	assert_true(is_odd(topology, "holes"));
	topology_free(topology);
}

/* What is not said, or said in nonsense, is unknown, and never 0. */
static void test_nonsense_is_unknown(void **state)
{
	static const char *const garbage[] = { "",
					       "-1",
					       "x",
					       "99999999999999999999",
					       "1 2",
					       "0x10",
					       "\x01\x02\xff",
					       "-9223372036854775808",
					       "0-99999" };
	const struct tree *tree = *state;

	for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
		struct topology *topology;
		const struct topology_cpu *cpu;
		char mask[64];

		snprintf(mask, sizeof(mask), "g%s", garbage[i]); /* some of it is a mask else */
		put_packages(tree);
		put_cpu(tree, 0, "topology/core_id", garbage[i]);
		put_cpu(tree, 0, "topology/thread_siblings_list", garbage[i]);
		put_cpu(tree, 0, "topology/thread_siblings", mask);
		put_cpu(tree, 0, "topology/physical_package_id", garbage[i]);
		put_cpu(tree, 0, "topology/core_siblings", mask);
		put_cpu(tree, 0, "cache/index0/level", garbage[i]);
		put_cpu(tree, 0, "cache/index0/type", garbage[i]);
		put_cpu(tree, 0, "cpufreq/scaling_governor", garbage[i]);
		put_cpu(tree, 0, "cpufreq/cpuinfo_max_freq", garbage[i]);
		put_cpu(tree, 0, "cpuidle/state0/latency", garbage[i]);
		topology = read_it(tree);
		cpu = topology_find(topology, 0);
		assert_int_equal(cpu->core, TOPOLOGY_UNKNOWN);
		assert_null(cpu->smt_siblings);
		assert_int_equal(cpu->max_freq_khz, TOPOLOGY_UNKNOWN);
		assert_int_equal(cpu->capacity, TOPOLOGY_UNKNOWN);
		assert_int_equal(cpu->numa, TOPOLOGY_UNKNOWN);
		assert_null(cpu->model);
		assert_int_equal(topology->cache_count, 0);
		assert_int_equal(topology->idle_count, 0);
		assert_int_equal(topology->core_count, TOPOLOGY_UNKNOWN);
		assert_null(topology->model);
		topology_free(topology);
	}
}

static void put_cache(const struct tree *tree, int cpu, int index, const char *level,
		      const char *type, const char *size, const char *cpus)
{
	static const char *const names[] = { "level", "type", "size", "shared_cpu_list" };
	const char *values[] = { level, type, size, cpus };
	char name[64];

	for (size_t i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "cache/index%d/%s", index, names[i]);
		if (values[i])
			put_cpu(tree, cpu, name, values[i]);
	}
}

static void test_caches(void **state)
{
	const struct tree *tree = *state;
	struct topology *topology;

	put(tree, CPU "present", "0-3\n");
	put_cache(tree, 0, 0, "1", "Data", "32K\n", "0\n");
	put_cache(tree, 1, 0, "1", "Data", "0K\n", "1\n");
	put_cache(tree, 2, 0, "1", "Data", "48K\n", "3\n"); /* not about itself */
	put_cache(tree, 0, 2, "2", "Unified", "1M\n", "0-1,900\n");
	put_cache(tree, 1, 2, "2", "Unified", "1M\n", "0-1,900\n");
	put_cache(tree, 2, 2, "2", "Unified", NULL, NULL);
	topology = read_it(tree);
	assert_int_equal(topology->cache_count, 5);
	assert_int_equal(topology->cache[0].size_bytes, 32768);
	assert_int_equal(topology->cache[1].size_bytes, TOPOLOGY_UNKNOWN);
	assert_int_equal(topology->cache[2].size_bytes, 49152);
	assert_null(topology->cache[2].cpus);
	assert_int_equal(topology->cache[2].owner, 2);
	assert_int_equal(topology->cache[3].size_bytes, 1 << 20);
	assert_set(topology->cache[3].cpus, "0-1"); /* present ones only */
	assert_int_equal(topology->cache[4].size_bytes, TOPOLOGY_UNKNOWN);
	topology_free(topology);
}

static void test_frequency_and_idle(void **state)
{
	const struct tree *tree = *state;
	struct topology *topology;

	put(tree, CPU "present", "0-2\n");
	put(tree, CPU "cpufreq/policy1/related_cpus", "1 2\n");
	put(tree, CPU "cpufreq/policy1/cpuinfo_max_freq", "1800000\n");
	put(tree, CPU "cpufreq/policy1/cpuinfo_transition_latency", "4294967295\n");
	put(tree, CPU "cpufreq/policy1/scaling_governor", "schedutil\n");
	put(tree, CPU "cpufreq/policy9/scaling_governor", "schedutil\n");
	put(tree, CPU "cpufreq/policy0/stats/time_in_state", "\n");
	put_cpu(tree, 1, "cpuidle/state0/name", "WFI\n");
	put_cpu(tree, 1, "cpuidle/state0/latency", "1\n");
	put_cpu(tree, 2, "cpuidle/state0/name", "WFI\n");
	put_cpu(tree, 2, "cpuidle/state0/latency", "1\n");
	put_cpu(tree, 2, "cpuidle/state0/disable", "1\n");
	topology = read_it(tree);
	assert_int_equal(topology->freq_count, 1); /* one tells nothing, one is of no CPU */
	assert_set(topology->freq[0].cpus, "1-2");
	assert_int_equal(topology->freq[0].max_khz, 1800000);
	assert_int_equal(topology->freq[0].min_khz, TOPOLOGY_UNKNOWN);
	assert_int_equal(topology->freq[0].transition_latency_ns, TOPOLOGY_UNKNOWN);
	assert_string_equal(topology->freq[0].governor, "schedutil");
	assert_int_equal(topology_find(topology, 2)->freq_domain, 1);
	assert_int_equal(topology_find(topology, 0)->freq_domain, TOPOLOGY_UNKNOWN);
	assert_int_equal(topology->idle_count, 1);
	assert_set(&topology->idle[0].cpus, "1-2");
	assert_set(&topology->idle[0].disabled, "2");
	assert_int_equal(topology->idle[0].exit_latency_ns, 1000);
	assert_int_equal(topology->idle[0].residency_ns, TOPOLOGY_UNKNOWN);
	assert_true(is_odd(topology, "WFI is switched off on CPU 2"));
	topology_free(topology);
}

static void assert_model(const struct tree *tree, const char *cpuinfo, const char *model,
			 const char *revision, const char *arch)
{
	struct topology *topology;

	put(tree, "proc/cpuinfo", cpuinfo);
	topology = read_it(tree);
	assert_non_null(topology_find(topology, 0)->model);
	assert_string_equal(topology_find(topology, 0)->model, model);
	if (revision)
		assert_string_equal(topology_find(topology, 0)->revision, revision);
	else
		assert_null(topology_find(topology, 0)->revision);
	if (arch)
		assert_string_equal(topology->arch, arch);
	else
		assert_null(topology->arch);
	topology_free(topology);
}

static void test_models(void **state)
{
	const struct tree *tree = *state;

	put(tree, CPU "present", "0\n");
	assert_model(tree,
		     "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n"
		     "CPU variant\t: 0x4\nCPU part\t: 0xd0b\nCPU revision\t: 1\n",
		     "Cortex-A76", "r4p1", "aarch64");
	/* ARM before 3.8: what the CPUs share stands in a section of its own */
	assert_model(
		tree,
		"Processor\t: ARMv7 Processor rev 4 (v7l)\nprocessor\t: 0\nBogoMIPS\t: 1694.10\n\n"
		"Features\t: swp half thumb\nCPU implementer\t: 0x41\nCPU variant\t: 0x0\n"
		"CPU part\t: 0xc0f\nCPU revision\t: 4\n",
		"Cortex-A15", "r0p4", "arm");
	assert_model(tree, "processor\t: 0\nCPU implementer\t: 0x51\nCPU part\t: 0xfff\n",
		     "Qualcomm part 0xfff", NULL, NULL);
	assert_model(tree,
		     "processor\t: 0\nmodel name\t: AMD  Opteron(tm)   6134\nflags\t: fpu lm\n",
		     "AMD Opteron(tm) 6134", NULL, "x86_64");
	assert_model(tree, "processor\t: 0\nisa\t\t: rv64imafdc\nuarch\t\t: sifive,u74-mc\n",
		     "SiFive U74", NULL, "riscv64");
	assert_model(tree, "processor\t: 0\nisa\t\t: rv32imac\nuarch\t\t: some,core\n", "some,core",
		     NULL, "riscv32");
	assert_model(
		tree,
		"processor\t: 0\ncpu\t\t: POWER9 (architected), altivec supported\ntimebase\t: 5\n",
		"POWER9", NULL, "ppc");
	assert_model(tree,
		     "vendor_id       : IBM/S390\nfeatures\t: esan3 zarch \n"
		     "processor 0: version = FF,  identification = 29AA14,  machine = 2817\n",
		     "IBM 2817 (z196)", NULL, "s390x");
	put_cpu(tree, 0, "regs/identification/midr_el1", "0x00000000410fd034\n");
	assert_model(tree, "processor\t: 0\n", "Cortex-A53", "r0p4", NULL);
}

static void test_core_names(void **state)
{
	(void)state;
	assert_string_equal(core_name_arm(0x41, 0xd03), "Cortex-A53");
	assert_string_equal(core_name_arm(0x41, 0xd0c), "Neoverse-N1");
	assert_string_equal(core_name_arm(0x48, 0xd01), "Kunpeng-920");
	assert_null(core_name_arm(0x41, 0xfff));
	assert_null(core_name_arm(0, 0xd03));
	assert_string_equal(core_vendor_arm(0x51), "Qualcomm");
	assert_null(core_vendor_arm(0));
	assert_null(core_name_riscv("nobody,none"));
	assert_string_equal(core_name_s390("2964"), "z13");
	assert_null(core_name_s390(""));
	assert_int_equal(MIDR_IMPLEMENTER(0x413fd0c1U), 0x41);
	assert_int_equal(MIDR_VARIANT(0x413fd0c1U), 3);
	assert_int_equal(MIDR_PART(0x413fd0c1U), 0xd0c);
	assert_int_equal(MIDR_REVISION(0x413fd0c1U), 1);
}

#define TREE "sys/firmware/devicetree/base/"

static void put_cell(const struct tree *tree, const char *path, unsigned value)
{
	unsigned char bytes[4] = { (unsigned char)(value >> 24), (unsigned char)(value >> 16),
				   (unsigned char)(value >> 8), (unsigned char)value };

	put_bytes(tree, path, bytes, sizeof(bytes));
}

static void test_devicetree(void **state)
{
	const struct tree *tree = *state;
	struct devicetree *dt = NULL;
	const struct devicetree_cpu *cpu;

	assert_int_equal(devicetree_read(tree->root, &dt), -ENOENT);
	assert_null(dt);
	put_bytes(tree, TREE "model", "Acme Board\0", 11);
	put_bytes(tree, TREE "cpus/cpu@0/compatible", "arm,cortex-a53\0arm,armv8\0", 25);
	put_cell(tree, TREE "cpus/cpu@0/reg", 0);
	put_cell(tree, TREE "cpus/cpu@0/capacity-dmips-mhz",
		 0x20a); /* ends in what looks like '\n' */
	put_cell(tree, TREE "cpus/cpu@0/phandle", 3);
	put_cell(tree, TREE "cpus/cpu@0/cpu-idle-states", 9);
	put_cell(tree, TREE "cpus/cpu@0/power-domains", 77);
	put_cell(tree, TREE "cpus/idle-states/sleep/phandle", 9);
	put_cell(tree, TREE "cpus/idle-states/sleep/exit-latency-us", 250);
	put_bytes(tree, TREE "cpus/idle-states/sleep/local-timer-stop", "", 0);
	put_cell(tree, TREE "cpus/cpu-map/socket0/cluster1/core2/cpu", 3);
	put_bytes(tree, TREE "cpus/cpu@1/reg", "\1\2\3", 3); /* no number of cells */
	assert_int_equal(devicetree_read(tree->root, &dt), 0);
	assert_string_equal(dt->model, "Acme Board");
	assert_int_equal(dt->cpu_count, 2);
	cpu = devicetree_find(dt, 0);
	assert_non_null(cpu);
	assert_string_equal(cpu->compatible, "arm,cortex-a53");
	assert_int_equal(cpu->capacity_dmips_mhz, 522);
	assert_int_equal(cpu->clock_hz, -1);
	assert_null(cpu->enable_method);
	assert_string_equal(cpu->place, "socket0/cluster1/core2");
	assert_int_equal(cpu->cluster, 1);
	assert_string_equal(cpu->idle_states[0], "sleep");
	assert_null(cpu->idle_states[1]);
	assert_string_equal(cpu->power_domains[0], "phandle 0x4d");
	assert_int_equal(dt->idle[0].exit_latency_ns, 250000);
	assert_int_equal(dt->idle[0].entry_latency_ns, -1);
	assert_true(dt->idle[0].local_timer_stop);
	assert_null(devicetree_find(dt, 1));
	devicetree_free(dt);
	devicetree_free(NULL);
}

static void test_isolation_is_judged(void **state)
{
	const struct tree *tree = *state;
	struct topology *topology;

	put_packages(tree);
	put_cpu(tree, 0, "topology/thread_siblings", "3\n");
	put_cpu(tree, 1, "topology/thread_siblings", "3\n");
	put(tree, CPU "isolated", "1,4,6\n");
	put(tree, CPU "nohz_full", "4-5\n");
	topology = read_it(tree);
	assert_true(is_odd(topology, "isolated CPU 1 shares cores with housekeeping CPU 0"));
	assert_true(is_odd(topology, "isolated CPUs names CPU 6, which is not present"));
	assert_true(is_odd(topology, "CPU 1 is isolated but not in nohz_full"));
	assert_true(is_odd(topology, "CPU 5 is in nohz_full but not isolated"));
	assert_false(is_odd(topology, "every online CPU"));
	topology_free(topology);
	put(tree, CPU "isolated", "0-1,4-5\n");
	topology = read_it(tree);
	assert_true(is_odd(topology, "every online CPU is isolated"));
	assert_false(is_odd(topology, "shares cores"));
	topology_free(topology);
}

static void put_everything(const struct tree *tree)
{
	put_packages(tree);
	put(tree, "proc/cpuinfo",
	    "processor\t: 0\nmodel name\t: One\n\nprocessor\t: 1\nmodel name\t: Two\n");
	put(tree, "proc/sys/kernel/osrelease", "6.6.0\n");
	put(tree, CPU "isolated", "1\n");
	put(tree, CPU "nohz_full", "4\n");
	put_cache(tree, 0, 0, "1", "Data", "32K\n", "0\n");
	put_cache(tree, 1, 0, "1", "Data", "32K\n", "1\n");
	put_cell(tree, TREE "cpus/cpu@0/reg", 0);
	put_cell(tree, TREE "cpus/cpu@0/phandle", 3);
	put_cell(tree, TREE "cpus/cpu-map/cluster0/core0/cpu", 3);
	put(tree, CPU "cpufreq/policy0/related_cpus", "0 1 4 5\n");
	put(tree, CPU "cpufreq/policy0/cpuinfo_max_freq", "1000000\n");
	put(tree, "sys/devices/system/node/node0/cpulist", "0-1,4-5\n");
	put_cpu(tree, 0, "cpuidle/state0/name", "WFI\n");
	put(tree, "sys/class/dmi/id/product_name", "Board\n");
	put(tree, "sys/devices/cpu_core/cpus", "0-1\n");
	put(tree, CPU "types/small/cpulist", "4-5\n");
}

static void write_both(const struct topology *topology)
{
	struct strbuf out = STRBUF_INIT;

	topology_write_json(topology, &out.sink);
	topology_write_text(topology, TOPOLOGY_COMPACT, &out.sink);
	topology_write_text(topology, TOPOLOGY_WHOLE, &out.sink);
	assert_int_equal(out.sink.error, 0);
	strbuf_free(&out);
}

/* Each read fails once, in each way: the result is a topology that knows less, or a clean error. */
static void test_every_read_fails(void **state)
{
	static const int errors[] = { EIO, EACCES, ENOENT, ENOMEM };
	const struct tree *tree = *state;

	put_everything(tree);
	for (size_t e = 0; e < sizeof(errors) / sizeof(errors[0]); e++) {
		for (unsigned n = 1; n < 400; n++) {
			struct topology *topology = NULL;
			struct fail fail = { "" };
			int err;

			root_fail_nth(n, errors[e]);
			err = topology_read(tree->root, &topology, &fail);
			root_fail_nth(0, 0);
			if (err) {
				assert_int_equal(errors[e], ENOMEM);
				assert_int_equal(err, -ENOMEM);
				assert_null(topology);
				continue;
			}
			assert_int_equal(topology->cpu_count, 4);
			write_both(topology);
			topology_free(topology);
		}
	}
}

static const char *const mutated[] = {
	CPU "present",
	CPU "isolated",
	CPU "cpu0/topology/core_siblings",
	CPU "cpu1/cache/index0/shared_cpu_list",
	CPU "cpu1/cache/index0/size",
	CPU "cpufreq/policy0/related_cpus",
	"proc/cpuinfo",
	"sys/devices/system/node/node0/cpulist",
	TREE "cpus/cpu@0/phandle",
	TREE "cpus/cpu-map/cluster0/core0/cpu",
	CPU "cpu0/cpuidle/state0/name",
	"sys/class/dmi/id/product_name",
};

/* Any bytes give a result: random ones, with a fixed seed, in one file after the other. */
static void test_random_bytes(void **state)
{
	static const char alphabet[] = "0123456789,-:/ \n\tKMprocessor\xff\x80:";
	const struct tree *tree = *state;
	unsigned seed = 12345;

	put_everything(tree);
	for (int round = 0; round < 400; round++) {
		const char *path = mutated[(size_t)round % (sizeof(mutated) / sizeof(mutated[0]))];
		char bytes[64];
		size_t size = (size_t)rand_r(&seed) % sizeof(bytes);
		struct topology *topology = NULL;

		for (size_t i = 0; i < size; i++)
			bytes[i] = alphabet[(size_t)rand_r(&seed) % sizeof(alphabet)];
		put_bytes(tree, path, bytes, size);
		if (topology_read(tree->root, &topology, NULL))
			continue;
		for (size_t i = 0; i < topology->cpu_count; i++)
			assert_in_range(topology->cpu[i].cpu, 0, CPUSET_MAX - 1);
		write_both(topology);
		topology_free(topology);
	}
}

static void count_read(const char *path, void *context)
{
	(void)path;
	++*(size_t *)context;
}

/* On large boards what is equal within a class is read once: few reads a CPU, and the same result.
 */
static void test_large_board_is_read_sparingly(void **state)
{
	const struct tree *tree = *state;
	struct topology *topology;
	size_t reads = 0;
	const int count = 200;

	put(tree, CPU "present", "0-199\n");
	put(tree, CPU "online", "0-199\n");
	for (int cpu = 0; cpu < count; cpu++) {
		char text[16];

		snprintf(text, sizeof(text), "%d\n", cpu);
		put_cpu(tree, cpu, "topology/core_id", text);
		put_cpu(tree, cpu, "topology/core_cpus_list", text);
		put_cpu(tree, cpu, "topology/physical_package_id", "0\n");
		put_cpu(tree, cpu, "topology/package_cpus_list", "0-199\n");
		put_cache(tree, cpu, 0, "1", "Data", "32K\n", text);
		put_cache(tree, cpu, 1, "3", "Unified", "32768K\n", "0-199\n");
		put_cpu(tree, cpu, "cpuidle/state0/name", "C1\n");
		put_cpu(tree, cpu, "cpuidle/state0/latency", "2\n");
		put_cpu(tree, cpu, "cpuidle/state0/disable", cpu == 150 ? "1\n" : "0\n");
	}
	root_observe(count_read, &reads);
	topology = read_it(tree);
	root_observe(NULL, NULL);
	assert_in_range(reads, 1, 6 * (size_t)count); /* all there is: 21 */
	assert_int_equal(topology->core_count, count);
	assert_int_equal(topology->cache_count, count + 1);
	assert_set(topology->cache[150].cpus, "150");
	assert_set(topology->cache[200].cpus, "0-199");
	assert_int_equal(topology->idle_count, 1);
	assert_set(&topology->idle[0].cpus, "0-199");
	assert_set(&topology->idle[0].disabled, "150");
	topology_free(topology);
}

static void test_text_is_compact(void **state)
{
	const struct tree *tree = *state;
	struct strbuf compact = STRBUF_INIT, whole = STRBUF_INIT;
	struct topology *topology;

	put(tree, CPU "present", "0-1023\n");
	topology = read_it(tree);
	topology_write_text(topology, TOPOLOGY_COMPACT, &compact.sink);
	topology_write_text(topology, TOPOLOGY_WHOLE, &whole.sink);
	assert_in_range(compact.length, 50, 1000);
	assert_non_null(strstr(compact.text, "0-1023"));
	assert_non_null(strstr(whole.text, "\n    CPU 1023"));
	strbuf_free(&compact);
	strbuf_free(&whole);
	topology_free(topology);
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_TREE(test_cpus_from_lists),
		WITH_TREE(test_cpus_from_directories),
		WITH_TREE(test_cpus_without_sysfs),
		WITH_TREE(test_isolated_before_the_list),
		WITH_TREE(test_no_cpus),
		WITH_TREE(test_packages),
		WITH_TREE(test_nonsense_is_unknown),
		WITH_TREE(test_caches),
		WITH_TREE(test_frequency_and_idle),
		WITH_TREE(test_models),
		cmocka_unit_test(test_core_names),
		WITH_TREE(test_devicetree),
		WITH_TREE(test_isolation_is_judged),
		WITH_TREE(test_every_read_fails),
		WITH_TREE(test_random_bytes),
		WITH_TREE(test_large_board_is_read_sparingly),
		WITH_TREE(test_text_is_compact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

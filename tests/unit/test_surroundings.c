// SPDX-License-Identifier: GPL-2.0-or-later
/* Trees are written file by file under a temporary folder, read, and taken away again. */
#include "base/environment.h"
#include "base/sha256.h"
#include "board/surroundings.h"
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
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

struct tree {
	char path[64];
};

static struct tree tree_make(void)
{
	struct tree tree = { "/tmp/punctual-tree-XXXXXX" };

	assert_non_null(mkdtemp(tree.path));
	return tree;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void tree_remove(struct tree *tree)
{
	assert_int_equal(nftw(tree->path, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static void tree_bytes(const struct tree *tree, const char *name, const void *data, size_t size)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", tree->path, name);
	for (char *slash = path + strlen(tree->path) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		assert_true(!mkdir(path, 0755) || errno == EEXIST);
		*slash = '/';
	}
	file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void tree_file(const struct tree *tree, const char *name, const char *text)
{
	tree_bytes(tree, name, text, strlen(text));
}

static struct environment read_tree(const struct tree *tree)
{
	struct environment environment = { 0 };
	struct root *root;

	assert_int_equal(root_open(&root, tree->path, NULL), 0);
	assert_int_equal(surroundings_read(root, &environment), 0);
	root_close(root);
	return environment;
}

static void check_text(const struct environment *environment, const char *key, const char *value)
{
	const struct environment_item *item = environment_find(environment, key);

	if (!item || item->kind != ENVIRONMENT_TEXT || strcmp(item->text, value) != 0)
		fail_msg("%s is %s, not '%s'", key, !item ? "absent" : item->text, value);
}

static void check_number(const struct environment *environment, const char *key, int64_t value)
{
	const struct environment_item *item = environment_find(environment, key);

	if (!item || item->kind != ENVIRONMENT_NUMBER)
		fail_msg("%s is no number", key);
	assert_int_equal(item->number, value);
}

static void check_unknown(const struct environment *environment, const char *key,
			  const char *reason)
{
	const struct environment_item *item = environment_find(environment, key);

	if (!item || item->kind != ENVIRONMENT_UNKNOWN)
		fail_msg("%s is not unknown", key);
	if (!strstr(item->text, reason))
		fail_msg("%s is unknown because: %s", key, item->text);
}

#define SYS_CPU "sys/devices/system/cpu/"

/* A small arm64 board with all that is read. */
static const char *const board[][2] = {
	{ "proc/sys/kernel/osrelease", "6.1.0-18-rt-arm64\n" },
	{ "proc/sys/kernel/version", "#1 SMP PREEMPT_RT Debian 6.1.76-1 (2024-02-01)\n" },
	{ "proc/sys/kernel/arch", "aarch64\n" },
	{ "proc/sys/kernel/hostname", "SECRETHOST\n" },
	{ "proc/sys/kernel/sched_rt_runtime_us", "-1\n" },
	{ "proc/sys/kernel/sched_rt_period_us", "1000000\n" },
	{ "proc/cmdline", "console=ttyS0 isolcpus=2-3\n" },
	{ "proc/loadavg", "1.06 0.84 0.42 3/96 29964\n" },
	{ "proc/swaps", "Filename Type Size Used Priority\n/dev/a  partition\t1000\t0\t-2\n"
			"/dev/b file 24 0 -3\n" },
	{ "proc/stat", "cpu  1 2 3 4 5 6 7 300 0 0\ncpu0 1 2 3 4 5 6 7 300 0 0\nintr 0\n" },
	{ "proc/irq/default_smp_affinity", "3\n" },
	{ "proc/irq/9/smp_affinity_list", "0-3\n" },
	{ "proc/irq/24/smp_affinity_list", "0-1\n" },
	{ "proc/irq/24/eth0/x", "" },
	{ "proc/irq/25/smp_affinity_list", "2\n" },
	{ "sys/kernel/irq/25/actions", "mmc0\n" },
	{ "proc/irq/100/smp_affinity_list", "3\n" },
	{ "sys/kernel/irq/100/actions", "\n" },
	{ "etc/machine-id", "0123456789abcdef0123456789abcdef\n" },
	{ "etc/hostname", "SECRETHOST\n" },
	{ "sys/firmware/devicetree/base/compatible", "vendor,board" },
	{ "sys/firmware/devicetree/base/model", "Vendor Board Rev 2" },
	{ SYS_CPU "present", "0-3\n" },
	{ SYS_CPU "online", "0-3\n" },
	{ SYS_CPU "possible", "0-7\n" },
	{ SYS_CPU "isolated", "2-3\n" },
	{ SYS_CPU "nohz_full", "3\n" },
	{ SYS_CPU "cpufreq/policy0/scaling_governor", "performance\n" },
	{ SYS_CPU "cpufreq/policy0/scaling_max_freq", "1800000\n" },
	{ SYS_CPU "cpufreq/policy0/scaling_cur_freq", "1500000\n" },
	{ SYS_CPU "cpufreq/policy0/affected_cpus", "0 1 2 3\n" },
	{ SYS_CPU "cpufreq/boost", "0\n" },
	{ SYS_CPU "cpuidle/current_driver", "psci_idle\n" },
	{ SYS_CPU "cpuidle/current_governor_ro", "menu\n" },
	{ SYS_CPU "cpu0/cpuidle/state0/name", "WFI\n" },
	{ SYS_CPU "cpu0/cpuidle/state0/disable", "0\n" },
	{ SYS_CPU "cpu0/cpuidle/state0/latency", "1\n" },
	{ SYS_CPU "cpu0/cpuidle/state1/name", "cpu-sleep\n" },
	{ SYS_CPU "cpu0/cpuidle/state1/disable", "0\n" },
	{ SYS_CPU "cpu0/cpuidle/state1/latency", "120\n" },
	{ SYS_CPU "cpu1/cpuidle/state0/name", "WFI\n" },
	{ SYS_CPU "cpu1/cpuidle/state0/disable", "0\n" },
	{ SYS_CPU "cpu1/cpuidle/state0/latency", "1\n" },
	{ SYS_CPU "cpu1/cpuidle/state1/name", "cpu-sleep\n" },
	{ SYS_CPU "cpu1/cpuidle/state1/disable", "1\n" },
	{ SYS_CPU "cpu1/cpuidle/state1/latency", "120\n" },
	{ "sys/devices/system/clocksource/clocksource0/current_clocksource", "arch_sys_counter\n" },
	{ "sys/devices/system/clockevents/clockevent0/current_device", "arch_sys_timer\n" },
	{ "sys/kernel/tracing/tracing_on", "1\n" },
	{ "sys/kernel/tracing/current_tracer", "nop\n" },
	{ "sys/kernel/tracing/events/enable", "0\n" },
	{ "sys/class/thermal/thermal_zone0/type", "cpu-thermal\n" },
	{ "sys/class/thermal/thermal_zone0/temp", "45000\n" },
	{ "sys/class/thermal/thermal_zone1/type", "gpu\n" },
	{ "sys/class/thermal/thermal_zone1/temp", "-1500\n" },
	{ "sys/class/thermal/thermal_zone2/type", "gpu\n" },
	{ "sys/class/thermal/thermal_zone2/temp", "nonsense\n" },
	{ "sys/class/thermal/cooling_device0/type", "fan\n" },
};

static struct tree make_board(void)
{
	struct tree tree = tree_make();

	for (size_t i = 0; i < sizeof(board) / sizeof(board[0]); i++)
		tree_file(&tree, board[i][0], board[i][1]);
	return tree;
}

static void a_whole_board(void **state)
{
	struct tree tree = make_board();
	struct environment environment = read_tree(&tree);

	(void)state;
	check_text(&environment, "punctual_version", PUNCTUAL_VERSION);
	check_text(&environment, "kernel_release", "6.1.0-18-rt-arm64");
	check_text(&environment, "architecture", "aarch64");
	check_text(&environment, "preempt_rt", "yes");
	check_unknown(&environment, "kernel_config_sha256", "No such file");
	check_text(&environment, "command_line", "console=ttyS0 isolcpus=2-3");
	check_text(&environment, "board_id_from", "machine-id");
	check_text(&environment, "board_model", "Vendor Board Rev 2");
	check_text(&environment, "virtual_machine", "no");
	check_text(&environment, "cpus_online", "0-3");
	check_text(&environment, "cpus_isolated", "2-3");
	check_text(&environment, "cpus_nohz_full", "3");
	check_text(&environment, "governor.policy0", "performance");
	check_number(&environment, "frequency_max_khz.policy0", 1800000);
	/* a recorded tree has no CPU that could be disturbed */
	check_number(&environment, "frequency_before_khz.policy0", 1500000);
	check_text(&environment, "boost", "off");
	check_text(&environment, "idle_driver", "psci_idle");
	check_text(&environment, "idle_governor", "menu");
	check_text(&environment, "idle_deepest", "cpu-sleep 120 µs on 0; WFI 1 µs on 1");
	check_text(&environment, "clock_source", "arch_sys_counter");
	check_text(&environment, "clock_event", "arch_sys_timer");
	check_text(&environment, "irq_affinity_default", "0-1");
	check_text(&environment, "irq_affinities", "24:0-1 25:2");
	check_number(&environment, "rt_runtime_us", -1);
	check_number(&environment, "rt_period_us", 1000000);
	check_number(&environment, "swap_kb", 1024);
	check_text(&environment, "tracing_on", "no");
	check_number(&environment, "temperature_before_mdeg.cpu-thermal", 45000);
	check_number(&environment, "temperature_before_mdeg.gpu_1", -1500);
	check_unknown(&environment, "temperature_before_mdeg.gpu_2", "not in the form");
	check_text(&environment, "load_average_before", "1.06 0.84 0.42");
	check_number(&environment, "steal_before_ms", 3000);
	environment_free(&environment);
	tree_remove(&tree);
}

static void what_changed_while_measuring(void **state)
{
	struct tree tree = make_board();
	struct environment environment = { 0 };
	struct root *root;
	size_t before;

	(void)state;
	assert_int_equal(root_open(&root, tree.path, NULL), 0);
	assert_int_equal(surroundings_read(root, &environment), 0);
	before = environment.count;
	tree_file(&tree, "proc/stat", "cpu  1 2 3 4 5 6 7 307 0 0\n");
	tree_file(&tree, "proc/loadavg", "2.00 0.84 0.42 3/96 29964\n");
	tree_file(&tree, "sys/class/thermal/thermal_zone0/temp", "47000\n");
	tree_file(&tree, SYS_CPU "cpufreq/policy0/scaling_cur_freq", "600000\n");
	assert_int_equal(surroundings_after(root, &environment), 0);
	check_number(&environment, "steal_during_ms", 70);
	check_text(&environment, "load_average_after", "2.00 0.84 0.42");
	check_number(&environment, "temperature_before_mdeg.cpu-thermal", 45000);
	check_number(&environment, "temperature_after_mdeg.cpu-thermal", 47000);
	check_number(&environment, "frequency_after_khz.policy0", 600000);
	check_number(&environment, "frequency_before_khz.policy0", 1500000);
	assert_int_equal(environment.count, before + 6);
	environment_free(&environment);
	/* without what was before, no difference is made up */
	assert_int_equal(surroundings_after(root, &environment), 0);
	check_unknown(&environment, "steal_during_ms", "not known");
	environment_free(&environment);
	root_close(root);
	tree_remove(&tree);
}

static void an_empty_tree_is_all_unknown(void **state)
{
	struct tree tree = tree_make();
	struct environment environment = read_tree(&tree);

	(void)state;
	assert_true(environment.count > 20);
	for (size_t i = 0; i < environment.count; i++) {
		const struct environment_item *item = &environment.items[i];

		if (!strcmp(item->key, "punctual_version"))
			continue;
		if (item->kind != ENVIRONMENT_UNKNOWN)
			fail_msg("%s is known", item->key);
		assert_true(strlen(item->text) > 10);
	}
	environment_free(&environment);
	tree_remove(&tree);
}

static void names_of_people_and_networks_stay_out(void **state)
{
	struct tree tree = make_board();
	struct environment environment = read_tree(&tree);

	(void)state;
	for (size_t i = 0; i < environment.count; i++) {
		const char *text = environment.items[i].text;

		assert_true(!text || !strstr(text, "SECRETHOST"));
		assert_true(!text || !strstr(text, "0123456789abcdef0123456789abcdef"));
	}
	environment_free(&environment);
	tree_remove(&tree);
}

static void board_ids(void **state)
{
	struct tree tree = tree_make();
	struct environment first, second;

	(void)state;
	/* numbers that makers forgot to write are none */
	tree_file(&tree, "proc/device-tree/serial-number", "0000000000000000");
	tree_file(&tree, "etc/machine-id", "uninitialized\n");
	first = read_tree(&tree);
	check_unknown(&first, "board_id", "no device-tree serial number");
	environment_free(&first);
	tree_file(&tree, "proc/device-tree/serial-number", "10000000abcdef01");
	first = read_tree(&tree);
	tree_file(&tree, "etc/machine-id", "0123456789abcdef0123456789abcdef\n");
	second = read_tree(&tree);
	check_text(&first, "board_id_from", "device-tree serial number");
	assert_int_equal(strlen(environment_find(&first, "board_id")->text), 16);
	check_text(&second, "board_id", environment_find(&first, "board_id")->text);
	environment_free(&second);
	tree_file(&tree, "proc/device-tree/serial-number", "10000000abcdef02");
	second = read_tree(&tree);
	assert_string_not_equal(environment_find(&second, "board_id")->text,
				environment_find(&first, "board_id")->text);
	environment_free(&first);
	environment_free(&second);
	tree_remove(&tree);
}

static void virtual_machines(void **state)
{
	static const struct {
		const char *file, *text, *name;
	} rows[] = {
		{ "proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme hypervisor lahf\n",
		  "unnamed hypervisor" },
		{ "proc/cpuinfo", "flags\t\t: fpu hypervisor\n", "unnamed hypervisor" },
		{ "proc/cpuinfo", "flags\t\t: fpu vme hypervisors\n", "no" },
		{ "proc/cpuinfo", "flags\t\t: fpu nohypervisor vme\n", "no" },
		{ "proc/cpuinfo", "model name\t: hypervisor\nflags\t\t: fpu vme\n", "no" },
		{ "proc/cpuinfo", "machine\t\t: CHRP IBM pSeries (emulated by qemu)\n", "qemu" },
		{ "sys/class/dmi/id/sys_vendor", "QEMU\n", "qemu" },
		{ "sys/class/dmi/id/product_name", "VMware Virtual Platform\n", "vmware" },
		{ "sys/class/dmi/id/product_name", "PowerEdge R630\n", "no" },
		{ "sys/firmware/devicetree/base/compatible", "linux,dummy-virt", "qemu" },
		{ "sys/firmware/devicetree/base/compatible", "raspberrypi,4-model-b", "no" },
		{ "proc/device-tree/hypervisor/compatible", "xen,xen-4.17", "xen" },
		{ "sys/hypervisor/type", "xen\n", "xen" },
		{ "proc/sysinfo", "VM00 Name: x\nVM00 Control Program: KVM/Linux\n", "KVM/Linux" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tree tree = tree_make();
		struct environment environment;

		tree_file(&tree, rows[i].file, rows[i].text);
		environment = read_tree(&tree);
		check_text(&environment, "virtual_machine", rows[i].name);
		environment_free(&environment);
		tree_remove(&tree);
	}
}

static void realtime_kernels(void **state)
{
	static const struct {
		const char *file, *text, *answer;
	} rows[] = {
		{ "proc/sys/kernel/version", "#1 SMP PREEMPT_RT Thu\n", "yes" },
		{ "proc/sys/kernel/version", "#1 SMP PREEMPT RT Thu\n", "yes" },
		{ "proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Thu\n", "no" },
		{ "proc/version", "Linux version 4.9.1 (me@here) (gcc #9) #2 SMP PREEMPT RT Thu\n",
		  "yes" },
		{ "sys/kernel/realtime", "1\n", "yes" },
		{ "sys/kernel/realtime", "0\n", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tree tree = tree_make();
		struct environment environment;

		tree_file(&tree, rows[i].file, rows[i].text);
		environment = read_tree(&tree);
		if (rows[i].answer)
			check_text(&environment, "preempt_rt", rows[i].answer);
		else
			check_unknown(&environment, "preempt_rt", "neither");
		environment_free(&environment);
		tree_remove(&tree);
	}
}

/* A gzip file of TEXT. */
static size_t packed(const char *text, unsigned char *out, size_t size)
{
	z_stream stream = { .next_in = (Bytef *)(uintptr_t)text,
			    .avail_in = (uInt)strlen(text),
			    .next_out = out,
			    .avail_out = (uInt)size };

	assert_int_equal(
		deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	size = stream.total_out;
	deflateEnd(&stream);
	return size;
}

static void configurations(void **state)
{
	static const char config[] = "#\n# Linux\nCONFIG_HZ=250\nCONFIG_PREEMPT_RT=y\n";
	unsigned char gzip[1024];
	char digest[SHA256_TEXT];
	struct environment environment;
	struct tree tree = tree_make();
	size_t size = packed(config, gzip, sizeof(gzip));

	(void)state;
	sha256_text(config, strlen(config), digest);
	tree_file(&tree, "proc/sys/kernel/osrelease", "6.1.0\n");
	tree_file(&tree, "boot/config-6.1.0", config);
	environment = read_tree(&tree);
	check_text(&environment, "kernel_config_sha256", digest);
	check_text(&environment, "preempt_rt", "yes");
	environment_free(&environment);
	/* the same text, packed by the kernel, is the same configuration */
	tree_bytes(&tree, "proc/config.gz", gzip, size);
	tree_file(&tree, "boot/config-6.1.0", "something else\n");
	environment = read_tree(&tree);
	check_text(&environment, "kernel_config_sha256", digest);
	environment_free(&environment);
	tree_bytes(&tree, "proc/config.gz", gzip, size - 5);
	environment = read_tree(&tree);
	check_unknown(&environment, "kernel_config_sha256", "not in the form");
	environment_free(&environment);
	tree_remove(&tree);
}

static void tracing(void **state)
{
	static const struct {
		const char *on, *tracer, *events, *answer;
	} rows[] = {
		{ "1", "nop", "0", "no" },
		{ "0", "function", "1", "no" },
		{ "1", "function", "0", "tracer function" },
		{ "1", "nop", "X", "events enabled" },
		{ "1", "nop", "1", "events enabled" },
	};
	struct tree tree = tree_make();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct environment environment;

		tree_file(&tree, "sys/kernel/tracing/tracing_on", rows[i].on);
		tree_file(&tree, "sys/kernel/tracing/current_tracer", rows[i].tracer);
		tree_file(&tree, "sys/kernel/tracing/events/enable", rows[i].events);
		environment = read_tree(&tree);
		check_text(&environment, "tracing_on", rows[i].answer);
		environment_free(&environment);
	}
	tree_remove(&tree);
}

static void long_interrupt_lists_are_cut(void **state)
{
	struct tree tree = tree_make();
	struct environment environment;
	const char *text;

	(void)state;
	for (int i = 1; i <= 600; i++) {
		char path[64];

		snprintf(path, sizeof(path), "proc/irq/%d/smp_affinity_list", i);
		tree_file(&tree, path, "0-127\n");
		snprintf(path, sizeof(path), "sys/kernel/irq/%d/actions", i);
		tree_file(&tree, path, "nvme\n");
	}
	environment = read_tree(&tree);
	text = environment_find(&environment, "irq_affinities")->text;
	assert_in_range(strlen(text), 1900, 2100);
	assert_string_equal(text + strlen(text) - strlen(" …"), " …");
	environment_free(&environment);
	tree_remove(&tree);
}

static void count_read(const char *path, void *context)
{
	(void)path;
	++*(unsigned *)context;
}

static size_t known_items(const struct environment *environment)
{
	size_t known = 0;

	for (size_t i = 0; i < environment->count; i++) {
		if (environment->items[i].kind == ENVIRONMENT_UNKNOWN)
			assert_true(strlen(environment->items[i].text) > 0);
		known += environment->items[i].kind != ENVIRONMENT_UNKNOWN;
	}
	return known;
}

/* Whichever read fails: nothing breaks, and nothing more is known than without the failure. */
static void each_read_may_fail(void **state)
{
	struct tree tree = make_board();
	struct environment environment;
	unsigned reads = 0;
	size_t known, lost = 0;

	(void)state;
	root_observe(count_read, &reads);
	environment = read_tree(&tree);
	root_observe(NULL, NULL);
	known = known_items(&environment);
	environment_free(&environment);
	assert_true(reads > 50);
	for (unsigned n = 1; n <= reads; n++) {
		root_fail_nth(n, EIO);
		environment = read_tree(&tree);
		/* a failed list of names may leave out or rename an item, never add knowledge */
		assert_true(known_items(&environment) <= known + 1);
		lost += known_items(&environment) < known;
		environment_free(&environment);
	}
	root_fail_nth(0, 0);
	assert_true(lost > 20);
	tree_remove(&tree);
}

static void this_machine(void **state)
{
	struct environment environment = { 0 };
	struct utsname name;
	struct root *root;

	(void)state;
	assert_int_equal(uname(&name), 0);
	assert_int_equal(root_open(&root, NULL, NULL), 0);
	assert_int_equal(surroundings_read(root, &environment), 0);
	assert_int_equal(surroundings_after(root, &environment), 0);
	check_text(&environment, "kernel_release", name.release);
	check_text(&environment, "kernel_version", name.version);
	assert_int_equal(environment_find(&environment, "cpus_online")->kind, ENVIRONMENT_TEXT);
	known_items(&environment);
	environment_free(&environment);
	root_close(root);
}

#if defined(__x86_64__) || defined(__i386__)
static void watch_for_cpuinfo(const char *path, void *context)
{
	*(bool *)context |= strstr(path, "proc/cpuinfo") != NULL;
}

/* Reading it interrupts other CPUs on x86 before 5.19: the processor is asked directly instead. */
static void cpuinfo_is_left_alone_on_x86(void **state)
{
	struct environment environment = { 0 };
	bool read_cpuinfo = false;
	struct root *root;

	(void)state;
	assert_int_equal(root_open(&root, NULL, NULL), 0);
	root_observe(watch_for_cpuinfo, &read_cpuinfo);
	assert_int_equal(surroundings_read(root, &environment), 0);
	root_observe(NULL, NULL);
	assert_false(read_cpuinfo);
	environment_free(&environment);
	root_close(root);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_board),
		cmocka_unit_test(what_changed_while_measuring),
		cmocka_unit_test(an_empty_tree_is_all_unknown),
		cmocka_unit_test(names_of_people_and_networks_stay_out),
		cmocka_unit_test(board_ids),
		cmocka_unit_test(virtual_machines),
		cmocka_unit_test(realtime_kernels),
		cmocka_unit_test(configurations),
		cmocka_unit_test(tracing),
		cmocka_unit_test(long_interrupt_lists_are_cut),
		cmocka_unit_test(each_read_may_fail),
		cmocka_unit_test(this_machine),
#if defined(__x86_64__) || defined(__i386__)
		cmocka_unit_test(cpuinfo_is_left_alone_on_x86),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

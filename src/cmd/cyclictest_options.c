// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/cyclictest_options.h"

#include "base/fail.h"
#include "base/str.h"
#include "board/cpus.h"
#include "cmd/command.h"
#include "sys/dma_latency.h"
#include "sys/root.h"
#include "sys/sched.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

extern const struct command command_cyclictest;

/* As the original: larger ones are cut to this. */
#define HISTOGRAM_MAX 1000000
#define THREADS_MAX   CPUSET_MAX

enum policy { POLICY_OTHER, POLICY_NORMAL, POLICY_BATCH, POLICY_IDLE, POLICY_FIFO, POLICY_RR };
static const char *const policies[] = { "other", "normal", "batch", "idle", "fifo", "rr", NULL };
static const char *const dialects[] = { "2.4", "2.7", NULL };
static const char *const dialect_help[] = { "and before", "and later: no empty rows, no total" };

const struct cyclictest_options cyclictest_defaults = {
	.interval_us = 1000,
	.distance_us = -1,
	.clock = CLOCK_MONOTONIC,
	.oscope = 1,
	.spike_nodes = 1024,
};

static int parse_affinity(void *target, const char *text, struct fail *fail)
{
	struct cyclictest_options *options = target;

	(void)fail;
	options->affinity_given = true;
	options->affinity = text;
	return 0;
}

static int parse_threads(void *target, const char *text, struct fail *fail)
{
	struct cyclictest_options *options = target;
	int64_t threads = -1;

	if (text && (str_i64(text, &threads) || threads < 1 || threads > THREADS_MAX))
		return fail_set(fail, EINVAL,
				"--threads: '%.80s' is no number of threads (1 to %d; none for one "
				"a CPU)",
				text, THREADS_MAX);
	options->threads = threads;
	return 0;
}

static int parse_offset(const char *name, const char *text, int64_t *us, struct fail *fail)
{
	*us = 0;
	if (text && (str_i64(text, us) || *us < 0 || *us > 1000000))
		return fail_set(fail, EINVAL, "--%s: '%.80s' is no offset in us (0 to 1000000)",
				name, text);
	return 0;
}

static int parse_aligned(void *target, const char *text, struct fail *fail)
{
	struct cyclictest_options *options = target;

	options->aligned = true;
	return parse_offset("aligned", text, &options->aligned_us, fail);
}

static int parse_secaligned(void *target, const char *text, struct fail *fail)
{
	struct cyclictest_options *options = target;

	options->secaligned = true;
	return parse_offset("secaligned", text, &options->aligned_us, fail);
}

static int parse_clock(void *target, const char *text, struct fail *fail)
{
	struct cyclictest_options *options = target;

	if (!strcmp(text, "0") || !strcmp(text, "monotonic"))
		options->clock = CLOCK_MONOTONIC;
	else if (!strcmp(text, "1") || !strcmp(text, "realtime"))
		options->clock = CLOCK_REALTIME;
	else
		return fail_set(fail, EINVAL,
				"--clock: '%.80s' is none of 0 (monotonic), 1 (realtime)", text);
	return 0;
}

/* Seconds, or with m, h, d. The original ignores what stands behind: "500ms" are 500 minutes to it,
 * so anything else is refused here. */
static int parse_time(void *target, const char *text, struct fail *fail)
{
	struct cyclictest_options *options = target;
	size_t digits = strspn(text, "0123456789");
	int64_t seconds = 0, factor = 0;
	char number[20];

	if (digits && digits < sizeof(number)) {
		memcpy(number, text, digits);
		number[digits] = 0;
		if (!text[digits])
			factor = 1;
		else if (!text[digits + 1])
			switch (tolower((unsigned char)text[digits])) {
			case 's':
				factor = 1;
				break;
			case 'm':
				factor = 60;
				break;
			case 'h':
				factor = 3600;
				break;
			case 'd':
				factor = 86400;
				break;
			}
	}
	if (!factor || str_i64(number, &seconds) || seconds > 1000 * 86400LL / factor)
		return fail_set(fail, EINVAL,
				"--duration: '%.80s' is no time: seconds, or with m, h, d (at most "
				"1000d)",
				text);
	options->duration_ns = seconds * factor * 1000000000;
	return 0;
}

static int parse_sum_histogram(void *target, const char *text, struct fail *fail)
{
	struct cyclictest_options *options = target;

	if (str_i64(text, &options->histogram) || options->histogram < 1)
		return fail_set(fail, EINVAL, "--histofall: '%.80s' is no number of buckets", text);
	options->sum_column = true;
	return 0;
}

static int refuse_idle_state(void *target, const char *text, struct fail *fail)
{
	(void)target;
	return fail_set(fail, EINVAL,
			"--deepest-idle-state=%.20s is not supported; --latency US keeps out the "
			"idle states that wake up slower than that",
			text);
}

static int refuse_smi(void *target, const char *text, struct fail *fail)
{
	(void)target;
	(void)text;
	return fail_set(fail, EINVAL,
			"--smi is not supported: it would read an MSR in every cycle");
}

static int refuse_debug(void *target, const char *text, struct fail *fail)
{
	(void)target;
	(void)text;
	return fail_set(fail, EINVAL, "--dbg_cyclictest is not supported");
}

#define AT(member) .offset = offsetof(struct cyclictest_options, member)
#define INT_LIMIT  2147483647

const struct option cyclictest_options_table[] = {
	{ .name = "affinity",
	  .letter = 'a',
	  .kind = OPTION_CUSTOM,
	  .optional_argument = true,
	  .argument = "CPUSET",
	  .group = "Threads",
	  .help = "CPUs that threads are pinned to in turn, as 0-3,5 or !0 for all but that; "
		  "without CPUSET and by default those that this process may use",
	  .parse = parse_affinity,
	  .completes = "cpus" },
	{ .name = "threads",
	  .letter = 't',
	  .kind = OPTION_CUSTOM,
	  .optional_argument = true,
	  .argument = "NUM",
	  .group = "Threads",
	  .help = "number of threads; without NUM one a CPU",
	  .preset = "1",
	  .parse = parse_threads },
	{ .name = "smp",
	  .letter = 'S',
	  .kind = OPTION_FLAG,
	  .group = "Threads",
	  .help = "one thread on each CPU, all of the same priority",
	  AT(smp) },
	{ .name = "priority",
	  .letter = 'p',
	  .kind = OPTION_NUMBER,
	  .argument = "PRIO",
	  .group = "Threads",
	  .help = "real-time priority, with SCHED_FIFO unless --policy says rr; 0: normal "
		  "priority, "
		  "no real-time figure",
	  .preset = "0",
	  .low = 0,
	  .high = 99,
	  AT(priority) },
	{ .name = "policy",
	  .kind = OPTION_CHOICE,
	  .argument = "NAME",
	  .group = "Threads",
	  .help = "scheduling policy; fifo and rr without -p get the number of threads plus 1",
	  .choices = policies,
	  AT(policy) },
	{ .name = "priospread",
	  .kind = OPTION_FLAG,
	  .group = "Threads",
	  .help = "each thread one priority below the one before it",
	  AT(priospread) },
	{ .name = "mainaffinity",
	  .kind = OPTION_TEXT,
	  .argument = "CPUSET",
	  .group = "Threads",
	  .help = "CPUs of the main thread",
	  .preset = "those not measured, where there are any",
	  AT(main_affinity),
	  .completes = "cpus" },
	{ .name = "mlockall",
	  .letter = 'm',
	  .kind = OPTION_FLAG,
	  .group = "Threads",
	  .help = "end with an error if memory cannot be locked (it is locked in any case)",
	  AT(lock) },
	{ .name = "interval",
	  .letter = 'i',
	  .kind = OPTION_NUMBER,
	  .argument = "US",
	  .group = "Timing",
	  .help = "interval of the first thread",
	  .preset = "1000",
	  .low = 1,
	  .high = INT_LIMIT,
	  AT(interval_us) },
	{ .name = "distance",
	  .letter = 'd',
	  .kind = OPTION_NUMBER,
	  .argument = "US",
	  .group = "Timing",
	  .help = "by how much each thread's interval is longer than that of the one before it",
	  .preset = "500, with a histogram 0",
	  .low = 0,
	  .high = INT_LIMIT,
	  AT(distance_us) },
	{ .name = "duration",
	  .letter = 'D',
	  .kind = OPTION_CUSTOM,
	  .argument = "TIME",
	  .group = "Timing",
	  .help = "seconds, or with m, h, d; 0: until Ctrl-C",
	  .parse = parse_time },
	{ .name = "loops",
	  .letter = 'l',
	  .kind = OPTION_NUMBER,
	  .argument = "NUM",
	  .group = "Timing",
	  .help = "end when a thread has made so many cycles; 0: until Ctrl-C",
	  .low = 0,
	  .high = INT64_MAX,
	  AT(loops) },
	{ .name = "clock",
	  .letter = 'c',
	  .kind = OPTION_CUSTOM,
	  .argument = "CLOCK",
	  .group = "Timing",
	  .help = "0 or monotonic, 1 or realtime",
	  .preset = "0",
	  .parse = parse_clock },
	{ .name = "aligned",
	  .letter = 'A',
	  .kind = OPTION_CUSTOM,
	  .optional_argument = true,
	  .argument = "US",
	  .group = "Timing",
	  .help = "threads wake up together, or each US after the one before it",
	  .parse = parse_aligned },
	{ .name = "secaligned",
	  .kind = OPTION_CUSTOM,
	  .optional_argument = true,
	  .argument = "US",
	  .group = "Timing",
	  .help = "threads start together at a full second, or US later",
	  .parse = parse_secaligned },
	{ .name = "relative",
	  .letter = 'r',
	  .kind = OPTION_FLAG,
	  .group = "Timing",
	  .help = "sleep for the interval instead of until an instant",
	  AT(relative) },
	{ .name = "system",
	  .letter = 's',
	  .kind = OPTION_FLAG,
	  .group = "Timing",
	  .help = "the same: nanosleep is what the kernel runs for both",
	  AT(system) },
	{ .name = "posix_timers",
	  .letter = 'x',
	  .kind = OPTION_FLAG,
	  .group = "Timing",
	  .help = "be woken by a POSIX timer's signal",
	  AT(posix_timers) },
	{ .name = "nanosleep",
	  .letter = 'n',
	  .kind = OPTION_FLAG,
	  .group = "Timing",
	  .help = "use clock_nanosleep: the default, still found in scripts",
	  AT(nanosleep),
	  .hidden = true },
	{ .name = "resolution",
	  .letter = 'R',
	  .kind = OPTION_FLAG,
	  .group = "Timing",
	  .help = "tell the clock's resolution, said and measured, on stderr",
	  AT(resolution) },
	{ .name = "latency",
	  .kind = OPTION_NUMBER,
	  .argument = "US",
	  .group = "Board",
	  .help = "hold /dev/cpu_dma_latency there during the run: idle states that wake up slower "
		  "stay out, and the board is faster than it will be without us",
	  .preset = "0",
	  .low = 0,
	  .high = DMA_LATENCY_NONE,
	  AT(latency_us) },
	{ .name = "laptop",
	  .kind = OPTION_FLAG,
	  .group = "Board",
	  .help = "do not hold /dev/cpu_dma_latency, to spare the battery",
	  AT(laptop) },
	{ .name = "default-system",
	  .kind = OPTION_FLAG,
	  .group = "Board",
	  .help = "do not hold /dev/cpu_dma_latency: measure the board as it is",
	  AT(default_system) },
	{ .name = "histogram",
	  .letter = 'h',
	  .kind = OPTION_NUMBER,
	  .argument = "US",
	  .group = "Output",
	  .help = "print a histogram of latencies below US (with -N: below as many ns)",
	  .low = 1,
	  .high = INT_LIMIT,
	  AT(histogram) },
	{ .name = "histofall",
	  .letter = 'H',
	  .kind = OPTION_CUSTOM,
	  .argument = "US",
	  .group = "Output",
	  .help = "the same, with the sum of all threads as last column",
	  .parse = parse_sum_histogram },
	{ .name = "histfile",
	  .kind = OPTION_TEXT,
	  .argument = "FILE",
	  .group = "Output",
	  .help = "write the histogram there instead of to stdout",
	  AT(histfile),
	  .completes = "file" },
	{ .name = "dialect",
	  .kind = OPTION_CHOICE,
	  .argument = "VERSION",
	  .group = "Output",
	  .help = "write the histogram as this version of rt-tests",
	  .preset = "2.4",
	  .choices = dialects,
	  .choice_help = dialect_help,
	  AT(dialect) },
	{ .name = "json",
	  .kind = OPTION_TEXT,
	  .argument = "FILE",
	  .group = "Output",
	  .help = "write the results there as cyclictest's JSON, with missed periods and overflows",
	  AT(json),
	  .completes = "file" },
	{ .name = "quiet",
	  .letter = 'q',
	  .kind = OPTION_FLAG,
	  .group = "Output",
	  .help = "print a summary at the end only",
	  AT(quiet) },
	{ .name = "verbose",
	  .letter = 'v',
	  .kind = OPTION_FLAG,
	  .group = "Output",
	  .help = "print every value, as thread:cycle:value",
	  AT(verbose) },
	{ .name = "oscope",
	  .letter = 'o',
	  .kind = OPTION_NUMBER,
	  .argument = "RED",
	  .group = "Output",
	  .help = "with -v, only the largest of every RED values",
	  .low = 1,
	  .high = INT_LIMIT,
	  AT(oscope) },
	{ .name = "nsecs",
	  .letter = 'N',
	  .kind = OPTION_FLAG,
	  .group = "Output",
	  .help = "print ns instead of us; -h, -b and --spike then count ns too",
	  AT(nanoseconds) },
	{ .name = "refresh_on_max",
	  .letter = 'M',
	  .kind = OPTION_FLAG,
	  .group = "Output",
	  .help = "redraw only when there is a new maximum",
	  AT(refresh_on_max) },
	{ .name = "unbuffered",
	  .letter = 'u',
	  .kind = OPTION_FLAG,
	  .group = "Output",
	  .help = "write everything at once (it always is)",
	  AT(unbuffered) },
	{ .name = "fifo",
	  .letter = 'F',
	  .kind = OPTION_TEXT,
	  .argument = "PATH",
	  .group = "Output",
	  .help = "make a named pipe there; who reads it gets the status lines",
	  AT(fifo),
	  .completes = "file" },
	{ .name = "breaktrace",
	  .letter = 'b',
	  .kind = OPTION_NUMBER,
	  .argument = "US",
	  .group = "Spikes",
	  .help = "end at the first latency over US, with exit status 1",
	  .low = 0,
	  .high = INT_LIMIT,
	  AT(break_above) },
	{ .name = "tracemark",
	  .kind = OPTION_FLAG,
	  .group = "Spikes",
	  .help = "mark and stop the kernel's trace then",
	  AT(tracemark) },
	{ .name = "spike",
	  .kind = OPTION_NUMBER,
	  .argument = "US",
	  .group = "Spikes",
	  .help = "list the latencies over US with their times",
	  .low = 0,
	  .high = INT_LIMIT,
	  AT(spike) },
	{ .name = "spike-nodes",
	  .kind = OPTION_NUMBER,
	  .argument = "NUM",
	  .group = "Spikes",
	  .help = "list at most so many; all are counted",
	  .preset = "1024",
	  .low = 1,
	  .high = 10000000,
	  AT(spike_nodes) },
	{ .name = "deepest-idle-state",
	  .kind = OPTION_CUSTOM,
	  .argument = "N",
	  .parse = refuse_idle_state,
	  .hidden = true },
	{ .name = "smi", .kind = OPTION_CUSTOM, .parse = refuse_smi, .hidden = true },
	{ .name = "dbg_cyclictest", .kind = OPTION_CUSTOM, .parse = refuse_debug, .hidden = true },
	OPTION_HELP_ROW(struct cyclictest_options),
	OPTIONS_END,
};

/* A list, or "!LIST" for all other CPUs that are on line. */
static int parse_set(const char *name, const char *text, const struct board_cpus *board,
		     struct cpuset *set, struct fail *fail)
{
	bool but = *text == '!';
	struct cpuset missing;
	int err = cpuset_parse(text + but, board->last, set, fail), cpu;

	if (err)
		return err;
	if (but) {
		struct cpuset others = board->online;

		cpuset_without(&others, set);
		*set = others;
	}
	if (cpuset_empty(set))
		return fail_set(fail, EINVAL, "%s: '%.80s' names no CPU", name, text);
	missing = *set;
	cpuset_without(&missing, &board->online);
	cpu = cpuset_next(&missing, -1);
	if (cpu >= 0)
		return fail_set(fail, EINVAL, "%s %.80s: %s CPU %d%s", name, text,
				cpuset_has(&board->present, cpu) ? "" : "there is no", cpu,
				cpuset_has(&board->present, cpu) ? " is off line" : "");
	return 0;
}

static int choose_cpus(struct cyclictest_plan *plan, const struct cyclictest_options *options,
		       const struct board_cpus *board, struct fail *fail)
{
	int err;

	if (options->affinity && !options->smp)
		return parse_set("--affinity", options->affinity, board, &plan->chosen, fail);
	err = sched_get_cpus(&plan->chosen);
	if (err)
		return fail_set(fail, -err, "cannot read the CPU affinity: %s", strerror(-err));
	cpuset_and(&plan->chosen, &board->online);
	return 0;
}

/* Off the measured CPUs, so that showing does not disturb measuring. */
static int choose_main(struct cyclictest_plan *plan, const struct cyclictest_options *options,
		       const struct board_cpus *board, struct fail *fail)
{
	if (options->main_affinity)
		return parse_set("--mainaffinity", options->main_affinity, board, &plan->main,
				 fail);
	if (sched_get_cpus(&plan->main))
		return 0;
	for (size_t i = 0; i < plan->run.threads; i++)
		cpuset_remove(&plan->main, plan->cpus[i]);
	cpuset_and(&plan->main, &board->online);
	return 0;
}

/* The NUMA node of CPU, by the link in its directory; -1 where the kernel has no NUMA. */
static int node_of(const struct root *root, int cpu)
{
	struct root_names names;
	int64_t node = -1;

	if (root_list(root, &names, "sys/devices/system/cpu/cpu%d", cpu))
		return -1;
	for (size_t i = 0; i < names.count && node < 0; i++) {
		if (str_starts(names.names[i], "node") && str_i64(names.names[i] + 4, &node))
			node = -1;
	}
	root_names_free(&names);
	return (int)node;
}

static int allocate(struct cyclictest_plan *plan, size_t threads, struct fail *fail)
{
	plan->cpus = calloc(threads, sizeof(*plan->cpus));
	plan->nodes = calloc(threads, sizeof(*plan->nodes));
	plan->priorities = calloc(threads, sizeof(*plan->priorities));
	plan->intervals_ns = calloc(threads, sizeof(*plan->intervals_ns));
	plan->offsets_ns = calloc(threads, sizeof(*plan->offsets_ns));
	if (!plan->cpus || !plan->nodes || !plan->priorities || !plan->intervals_ns ||
	    !plan->offsets_ns)
		return fail_set(fail, ENOMEM, "out of memory");
	plan->run.threads = threads;
	return 0;
}

static void lay_out(struct cyclictest_plan *plan, const struct cyclictest_options *options,
		    int priority, const struct root *root)
{
	int cpu = -1;

	/* a histogram's threads all have the same interval */
	if (!options->histogram)
		plan->distance_us = options->distance_us < 0 ? 500 : options->distance_us;
	for (size_t i = 0; i < plan->run.threads; i++) {
		cpu = cpuset_next(&plan->chosen, cpu);
		if (cpu < 0)
			cpu = cpuset_next(&plan->chosen, -1);
		plan->cpus[i] = cpu;
		plan->nodes[i] = options->smp ? -1 : node_of(root, cpu);
		plan->priorities[i] = options->priospread ? priority - (int)i : priority;
		plan->intervals_ns[i] =
			(options->interval_us + (int64_t)i * plan->distance_us) * 1000;
		plan->offsets_ns[i] =
			options->aligned ? (int64_t)i * options->aligned_us * 1000 : 0;
	}
}

static int check(const struct cyclictest_options *options, struct fail *fail)
{
	if (options->oscope > 1 && !options->verbose)
		return fail_set(fail, EINVAL,
				"--oscope reduces what --verbose prints: give -v too");
	if (options->aligned && options->secaligned)
		return fail_set(fail, EINVAL, "--aligned and --secaligned exclude each other");
	if (options->posix_timers && options->relative && !options->system)
		return fail_set(fail, EINVAL,
				"--relative with --posix_timers is not supported: a periodic timer "
				"has no relative wake-ups");
	if (options->smp && options->threads)
		command_note(&command_cyclictest, "-t means nothing beside -S");
	if (options->smp && options->affinity_given)
		command_note(&command_cyclictest, "-a means nothing beside -S");
	if (options->histogram && options->distance_us >= 0)
		command_note(&command_cyclictest,
			     "-d means nothing beside a histogram: all intervals are the same");
	if (options->histfile && !options->histogram)
		command_note(&command_cyclictest, "--histfile means nothing without -h or -H");
	if (options->tracemark && !options->break_above)
		command_note(&command_cyclictest, "--tracemark means nothing without -b");
	if (options->posix_timers && options->system)
		command_note(&command_cyclictest, "-x means nothing beside -s");
	return 0;
}

/* Priority and policy as the original combines them: a priority makes it FIFO, FIFO and RR have
 * one. */
static int choose_priority(struct cyclictest_plan *plan, const struct cyclictest_options *options,
			   int *priority, struct fail *fail)
{
	enum policy policy = (enum policy)options->policy;
	bool rt = policy == POLICY_FIFO || policy == POLICY_RR;
	size_t threads = plan->run.threads;

	*priority = (int)options->priority;
	if (!*priority && (rt || options->priospread)) {
		*priority = threads < 98 ? (int)threads + 1 : 99;
		command_note(&command_cyclictest, "no -p given: real-time priority %d", *priority);
	}
	if (*priority && !rt) {
		if (policy != POLICY_OTHER)
			command_note(&command_cyclictest,
				     "--policy %s has no priority: SCHED_FIFO because of -p",
				     policies[policy]);
		policy = POLICY_FIFO;
	}
	if (options->priospread && threads > (size_t)*priority)
		return fail_set(fail, EINVAL,
				"--priospread: priority %d is too low for %zu threads, one below "
				"the other",
				*priority, threads);
	if (!*priority)
		command_note(&command_cyclictest,
			     "measures at normal priority: no real-time figure (-p 95 gives one)");
	plan->policy_shown = policy == POLICY_NORMAL ? "other" : policies[policy];
	/* what has no priority runs as SCHED_OTHER, whatever was named */
	plan->fell_back = !*priority;
	plan->run.policy = *priority ? policies[policy] : "other";
	return 0;
}

static void choose_run(struct cyclictest_plan *plan, const struct cyclictest_options *options)
{
	struct cyclic_options *run = &plan->run;

	run->cpus = plan->cpus;
	run->nodes = plan->nodes;
	run->priorities = plan->priorities;
	run->intervals_ns = plan->intervals_ns;
	run->offsets_ns = options->aligned || options->secaligned ? plan->offsets_ns : NULL;
	run->source = options->posix_timers && !options->system ? "signal" : "timer";
	run->relative = options->relative || options->system;
	run->clock = options->clock;
	run->align_ns = options->secaligned ? options->aligned_us * 1000 : -1;
	run->loops = options->loops;
	run->duration_ns = options->duration_ns;
	run->nanoseconds = options->nanoseconds;
	run->buckets = options->histogram < HISTOGRAM_MAX ? options->histogram : HISTOGRAM_MAX;
	run->break_above = options->break_above;
	run->spikes_above = options->spike;
	run->spikes_kept = options->spike ? (size_t)options->spike_nodes : 0;
	run->values = options->verbose;
	if (options->histogram > HISTOGRAM_MAX)
		command_note(&command_cyclictest, "the histogram is cut to %d buckets",
			     HISTOGRAM_MAX);
}

int cyclictest_plan(struct cyclictest_plan *plan, const struct cyclictest_options *options,
		    const struct root *root, struct fail *fail)
{
	struct board_cpus board;
	int64_t threads = options->threads ? options->threads : 1;
	int priority = 0, err;

	*plan = (struct cyclictest_plan){ 0 };
	err = cpus_read(root, &board);
	if (err)
		return fail_set(fail, EIO,
				"cannot tell the CPUs of this machine: /sys and /proc are not "
				"mounted (%s)",
				strerror(-err));
	err = check(options, fail);
	if (!err)
		err = choose_cpus(plan, options, &board, fail);
	if (!err && (options->smp || threads < 0))
		threads = cpuset_count(&plan->chosen);
	if (!err)
		err = allocate(plan, (size_t)threads, fail);
	if (!err)
		err = choose_priority(plan, options, &priority, fail);
	if (err)
		return err;
	lay_out(plan, options, priority, root);
	choose_run(plan, options);
	return choose_main(plan, options, &board, fail);
}

void cyclictest_plan_free(struct cyclictest_plan *plan)
{
	free(plan->cpus);
	free(plan->nodes);
	free(plan->priorities);
	free(plan->intervals_ns);
	free(plan->offsets_ns);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* From cyclictest's options to threads on CPUs. */
#include "base/fail.h"
#include "base/str.h"
#include "board/cpus.h"
#include "cmd/command.h"
#include "cmd/cyclictest_options.h"
#include "sys/root.h"
#include "sys/sched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

extern const struct command command_cyclictest;

/* As the original: larger histograms are cut to this. */
#define HISTOGRAM_MAX 1000000

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
	enum cyclictest_policy policy = (enum cyclictest_policy)options->policy;
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
				     cyclictest_policies[policy]);
		policy = POLICY_FIFO;
	}
	if (options->priospread && threads > (size_t)*priority)
		return fail_set(fail, EINVAL,
				"--priospread: priority %d is too low for %zu threads, one below "
				"the other",
				*priority, threads);
	plan->policy_shown = policy == POLICY_NORMAL ? "other" : cyclictest_policies[policy];
	/* what has no priority runs as SCHED_OTHER, whatever was named */
	plan->fell_back = !*priority;
	plan->run.policy = *priority ? cyclictest_policies[policy] : "other";
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

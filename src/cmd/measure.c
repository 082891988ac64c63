// SPDX-License-Identifier: GPL-2.0-or-later
/* punctual measure: wake-up latency of every CPU. */
#include "base/cpuset.h"
#include "base/sink.h"
#include "base/str.h"
#include "board/cpus.h"
#include "cmd/command.h"
#include "cmd/session_output.h"
#include "format/progress.h"
#include "probe/wakeup.h"
#include "result/session.h"
#include "store/store.h"
#include "sys/dma_latency.h"
#include "sys/root.h"
#include "sys/sched.h"
#include "sys/signals.h"
#include "sys/terminal.h"
#include "trial/run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern const struct command command_measure;

struct measure_options {
	const char *cpus, *wake_from;
	int source, policy;
	int64_t priority, interval_ns, duration_ns, samples, window_ns, dma_latency_us;
	bool aligned;
	struct goals goals;
	const char *output, *hdr, *store;
	bool json, quiet, no_store, help;
};

static const char *const policies[] = { "fifo", "rr", "deadline", "other", NULL };
static const char *const policy_help[] = {
	"SCHED_FIFO",
	"SCHED_RR",
	"SCHED_DEADLINE, on all CPUs or an isolated partition",
	"normal priority: no real-time figure",
};
#define SECOND 1000000000LL
#define DAY    (86400 * SECOND)

static int parse_goal(void *target, const char *text, struct fail *fail)
{
	struct measure_options *options = target;

	return goals_parse(&options->goals, text, fail);
}

static int parse_priority(void *target, const char *text, struct fail *fail)
{
	struct measure_options *options = target;
	int err = str_i64(text, &options->priority);

	if (!err && options->priority == 99)
		return fail_set(
			fail, EINVAL,
			"--priority 99 is left to the watchdog, which must be able to stop a "
			"sampler that never sleeps; the highest is 98");
	if (err || options->priority < 1 || options->priority > 98)
		return fail_set(fail, EINVAL, "--priority: '%.80s' is no whole number from 1 to 98",
				text);
	return 0;
}

#define AT(member) .offset = offsetof(struct measure_options, member)

static const struct option options_table[] = {
	{ .name = "cpus",
	  .kind = OPTION_TEXT,
	  .argument = "LIST",
	  .group = "What is measured",
	  .help = "CPUs to measure, as the kernel writes lists (0-3, 1,5, 0-31:2/4, N for the "
		  "last, "
		  "all), or isolated, or housekeeping",
	  .preset = "all this process may use",
	  AT(cpus),
	  .completes = "cpus" },
	{ .name = "source",
	  .kind = OPTION_CHOICE,
	  .argument = "WHAT",
	  .group = "What is measured",
	  .help = "what wakes the measuring thread",
	  .preset = "timer",
	  .choices = wakeup_source_names,
	  .choice_help = wakeup_source_help,
	  AT(source) },
	{ .name = "wake-from",
	  .kind = OPTION_TEXT,
	  .argument = "LIST",
	  .group = "What is measured",
	  .help = "CPUs of the waking threads with futex, eventfd and pipe",
	  .preset = "the woken one's own",
	  AT(wake_from),
	  .completes = "cpus" },
	{ .name = "policy",
	  .kind = OPTION_CHOICE,
	  .argument = "NAME",
	  .group = "What is measured",
	  .help = "scheduling policy",
	  .preset = "fifo",
	  .choices = policies,
	  .choice_help = policy_help,
	  AT(policy) },
	{ .name = "priority",
	  .kind = OPTION_CUSTOM,
	  .argument = "N",
	  .group = "What is measured",
	  .help = "with fifo and rr, 1 to 98; 99 is left to the watchdog",
	  .preset = "95",
	  .parse = parse_priority },
	{ .name = "interval",
	  .kind = OPTION_DURATION,
	  .argument = "TIME",
	  .group = "What is measured",
	  .help = "from wake-up to wake-up",
	  .preset = "1ms",
	  .low = 10000,
	  .high = 3600 * SECOND,
	  AT(interval_ns) },
	{ .name = "align",
	  .kind = OPTION_FLAG,
	  .group = "What is measured",
	  .help = "let all threads wake up together instead of one after the other",
	  AT(aligned) },
	{ .name = "dma-latency",
	  .kind = OPTION_NUMBER,
	  .argument = "US",
	  .group = "What is measured",
	  .help = "hold /dev/cpu_dma_latency there: keeps idle states out that wake up slower",
	  .preset = "idle states stay as the board has them",
	  .low = 0,
	  .high = DMA_LATENCY_NONE,
	  AT(dma_latency_us) },
	{ .name = "duration",
	  .kind = OPTION_DURATION,
	  .argument = "TIME",
	  .group = "How long",
	  .help = "10s, 5m, 12h, 3d; 0: until Ctrl-C",
	  .preset = "60s",
	  .low = 0,
	  .high = 1000 * DAY,
	  AT(duration_ns) },
	{ .name = "samples",
	  .kind = OPTION_NUMBER,
	  .argument = "N",
	  .group = "How long",
	  .help = "as many a CPU, instead of --duration",
	  .low = 1,
	  .high = 1000000000000,
	  AT(samples) },
	{ .name = "window",
	  .kind = OPTION_DURATION,
	  .argument = "TIME",
	  .group = "How long",
	  .help = "length of the stretches with figures of their own",
	  .preset = "1s",
	  .low = 10000000,
	  .high = DAY,
	  AT(window_ns) },
	{ .name = "goal",
	  .kind = OPTION_CUSTOM,
	  .argument = "GOAL",
	  .group = "Verdict",
	  .help = "industrial (p99 < 80us, stddev < 15us), video (p99 < 400us, stddev < 80us), "
		  "control "
		  "(max < 50us), or limits like p99=80us,stddev=15us,max=200us; exit 1 if missed",
	  .parse = parse_goal },
	OPTION_JSON_ROW(struct measure_options, "punctual/session/1"),
	OPTION_OUTPUT_ROW(struct measure_options),
	{ .name = "hdr",
	  .kind = OPTION_TEXT,
	  .argument = "FILE",
	  .group = "Output",
	  .help = "also write an HdrHistogram interval log there",
	  AT(hdr),
	  .completes = "file" },
	OPTION_QUIET_ROW(struct measure_options),
	OPTION_STORE_ROW(struct measure_options),
	{ .name = "no-store",
	  .kind = OPTION_FLAG,
	  .group = "Store",
	  .help = "do not keep the session",
	  AT(no_store) },
	OPTION_HELP_ROW(struct measure_options),
	OPTIONS_END,
};

static const char *const examples[] = {
	"punctual measure",
	"every CPU this process may use, for a minute",
	"punctual measure --cpus isolated --duration 12h --goal industrial",
	"the isolated CPUs over night; exit status 1 if p99 or stddev miss the goal",
	"punctual measure --source timerfd --duration 20s --json --output run.json",
	"what an event loop on timerfd would see, for a script",
	"punctual measure --source futex --wake-from 0 --cpus 2-3",
	"how long CPUs 2 and 3 take to run a thread that CPU 0 wakes",
	NULL,
};

/* A kernel list, with the option's name before what is wrong with it. */
static int parse_list(const char *option, const char *text, int last, struct cpuset *cpus,
		      struct fail *fail)
{
	struct fail why = { "" };
	int err = cpuset_parse(text, last, cpus, &why);

	if (err)
		return fail_set(fail, -err, "%s: %s", option, why.text);
	if (cpuset_empty(cpus))
		return fail_set(fail, EINVAL, "%s '%s' names no CPU", option, text);
	return 0;
}

/* All CPUs of the list TEXT must be on line. */
static int check_online(const char *option, const char *text, const struct board_cpus *board,
			const struct cpuset *cpus, struct fail *fail)
{
	struct cpuset missing = *cpus;
	char list[CPUSET_TEXT_MAX];
	int cpu;

	cpuset_without(&missing, &board->online);
	cpu = cpuset_next(&missing, -1);
	if (cpu < 0)
		return 0;
	if (cpuset_has(&board->present, cpu))
		return fail_set(fail, EINVAL, "%s %.80s: CPU %d is off line", option, text, cpu);
	return fail_set(fail, EINVAL, "%s %.80s: there is no CPU %d (on line are %s)", option, text,
			cpu, cpuset_text(&board->online, list, sizeof(list)));
}

static int parse_wakers(const struct measure_options *options, const struct board_cpus *board,
			struct settings *settings, struct fail *fail)
{
	static const char option[] = "--wake-from";
	int err;

	if (!options->wake_from)
		return 0;
	if (!wakeup_is_handoff(settings->source))
		return fail_set(
			fail, EINVAL,
			"%s: --source %s has no waking thread (futex, eventfd and pipe have)",
			option, settings->source);
	err = parse_list(option, options->wake_from, board->last, &settings->wakers, fail);
	return err ? err : check_online(option, options->wake_from, board, &settings->wakers, fail);
}

/* Names of CPU sets that only the board knows, else a list. */
static int named_cpus(const char *text, const struct board_cpus *board, struct cpuset *cpus,
		      struct fail *fail)
{
	bool housekeeping = !strcmp(text, "housekeeping");

	if (!strcmp(text, "all")) {
		*cpus = board->online;
		return 0;
	}
	if (strcmp(text, "isolated") != 0 && !housekeeping)
		return parse_list("--cpus", text, board->last, cpus, fail);
	if (!board->isolated_known)
		return fail_set(fail, EOPNOTSUPP,
				"--cpus %s: this kernel does not tell which CPUs are "
				"isolated; name them",
				text);
	*cpus = housekeeping ? board->online : board->isolated;
	if (housekeeping)
		cpuset_without(cpus, &board->isolated);
	else
		cpuset_and(cpus, &board->online);
	if (cpuset_empty(cpus))
		return fail_set(fail, EINVAL, "--cpus %s: this board has no such CPU%s", text,
				housekeeping ? ""
					     : " (no isolcpus= and no isolated cpuset partition)");
	return 0;
}

static int parse_cpus(const char *text, const struct board_cpus *board, struct cpuset *cpus,
		      struct fail *fail)
{
	int err;

	if (!text) {
		err = sched_get_cpus(cpus);
		if (err)
			return fail_set(fail, -err, "cannot read the CPU affinity: %s",
					strerror(-err));
		cpuset_and(cpus, &board->online);
		return 0;
	}
	err = named_cpus(text, board, cpus, fail);
	return err ? err : check_online("--cpus", text, board, cpus, fail);
}

/* A deadline thread may not be pinned unless its CPU is a scheduling domain of its own. */
static bool may_pin(const struct measure_options *options)
{
	return strcmp(policies[options->policy], "deadline") != 0;
}

static int check(const struct measure_options *options, struct fail *fail)
{
	if (options->window_ns < options->interval_ns)
		return fail_set(fail, EINVAL,
				"--window is shorter than --interval: a window needs a sample");
	if (options->store && options->no_store)
		return fail_set(fail, EINVAL, "--store and --no-store exclude each other");
	if (options->samples && options->duration_ns >= 0)
		return fail_set(fail, EINVAL, "--samples and --duration exclude each other");
	return 0;
}

static int make_settings(const struct measure_options *options, const struct root *root,
			 struct settings *settings, struct fail *fail)
{
	struct board_cpus board;
	bool rt = options->policy < 2;
	int err = check(options, fail);

	if (err)
		return err;
	err = cpus_read(root, &board);
	if (root_error(root, fail))
		return root_error(root, fail);
	if (err)
		return fail_set(fail, EIO,
				"cannot tell the CPUs of this machine: /sys and /proc are not "
				"mounted (%s)",
				strerror(-err));
	*settings = (struct settings){
		.priority = rt ? options->priority : 0,
		.interval_ns = options->interval_ns,
		.duration_ns = options->samples           ? 0
			       : options->duration_ns < 0 ? 60 * SECOND
							  : options->duration_ns,
		.samples = (uint64_t)options->samples,
		.window_ns = options->window_ns,
		.dma_latency_us = options->dma_latency_us,
		.aligned = options->aligned,
		.pinned = may_pin(options),
	};
	snprintf(settings->source, sizeof(settings->source), "%s",
		 wakeup_source_names[options->source]);
	snprintf(settings->policy, sizeof(settings->policy), "%s", policies[options->policy]);
	err = parse_cpus(options->cpus, &board, &settings->cpus, fail);
	return err ? err : parse_wakers(options, &board, settings, fail);
}

static int write_stderr(struct sink *sink, const char *data, size_t size)
{
	(void)sink;
	return write(STDERR_FILENO, data, size) < 0 ? -errno : 0;
}

static void draw(void *context, const struct run_progress *progress)
{
	struct strbuf line = STRBUF_INIT;
	struct sink terminal = { .write = write_stderr };

	(void)context;
	progress_draw(&(struct progress_line){ progress->elapsed_ns, progress->duration_ns,
					       progress->samples, progress->missed,
					       progress->max_ns, progress->max_cpu },
		      terminal_columns(), &line.sink);
	sink_write(&terminal, line.text ? line.text : "", line.length);
	strbuf_free(&line);
}

static void clear_progress(void)
{
	struct sink terminal = { .write = write_stderr };

	progress_clear(&terminal);
}

static enum exit_status status_of(const struct session *session)
{
	if (session->interrupted && (session->settings.duration_ns || session->settings.samples))
		return STATUS_INTERRUPTED;
	if (!session->all.samples)
		return STATUS_NO_ANSWER;
	switch (session->goals.verdict) {
	case VERDICT_MISSED:
		return STATUS_MISSED;
	case VERDICT_UNKNOWN:
		return STATUS_NO_ANSWER;
	default:
		return STATUS_OK;
	}
}

/* A store that can't be had does not stop a measurement: it is said, and the run goes on. */
static struct store *open_store(const struct measure_options *options)
{
	struct fail fail = { "" };
	struct store *store = NULL;

	if (options->no_store)
		return NULL;
	if (store_open(&store, options->store, STORE_WRITE, &fail)) {
		command_note(&command_measure, "the session will not be kept: %s", fail.text);
		return NULL;
	}
	return store;
}

/* Writes the result where it was asked for. Where that fails although it could be written before
 * the run (a full disk), stdout gets it: a long run's result is not thrown away. */
static int write_result(const struct measure_options *options, const struct session *session,
			struct fail *fail)
{
	struct session_output where = { options->json, options->output, options->hdr };
	int err = session_output_write(&where, session, fail);

	if (!err || !options->output)
		return err;
	where = (struct session_output){ .json = options->json };
	session_output_write(&where, session, NULL);
	return err;
}

/* The run is over: what there is to say, where it went, and the exit status. */
static int finish(const struct measure_options *options, const struct run_options *run,
		  const struct session *session, const struct run_remarks *remarks)
{
	bool kept = run->store && !remarks->store.text[0];
	struct fail fail = { "" };
	int err;

	if (remarks->store.text[0])
		command_note(&command_measure, "the session is not kept to its end: %s",
			     remarks->store.text);
	err = write_result(options, session, &fail);
	if (kept && !options->quiet)
		command_note(&command_measure, "kept as %.8s in %s", session->id,
			     store_path(run->store));
	return err ? command_fail(&command_measure, err, &fail) : (int)status_of(session);
}

static int measure(const struct measure_options *options, struct run_options *run)
{
	struct run_remarks remarks = { 0 };
	struct fail fail = { "" };
	struct session *session;
	int status, err;

	err = session_output_check(
		&(struct session_output){ options->json, options->output, options->hdr }, &fail);
	if (err)
		return command_fail(&command_measure, err, &fail);
	run->store = open_store(options);
	err = run_measure(run, &session, &remarks, &fail);
	if (run->progress)
		clear_progress();
	if (err) {
		status = command_fail(&command_measure, err, &fail);
	} else {
		status = finish(options, run, session, &remarks);
		session_free(session);
	}
	store_close(run->store);
	return status;
}

static int run_command(int argc, char **argv)
{
	struct measure_options options = {
		.priority = 95,
		.interval_ns = 1000000,
		.duration_ns = -1,
		.window_ns = SECOND,
		.dma_latency_us = -1,
	};
	struct run_options run = { 0 };
	struct fail fail = { "" };
	struct root *root;
	int arguments, status, err;

	status = command_options(&command_measure, argc, argv, &options, &options.help, &arguments);
	if (status >= 0)
		return status;
	signals_install();
	err = root_open(&root, NULL, &fail);
	if (err)
		return command_fail(&command_measure, err, &fail);
	err = make_settings(&options, root, &run.settings, &fail);
	if (err) {
		status = command_fail(&command_measure, err, &fail);
	} else {
		run.goals = options.goals;
		run.root = root;
		run.progress = !options.quiet && terminal_progress() ? draw : NULL;
		status = measure(&options, &run);
	}
	root_close(root);
	return status;
}

const struct command command_measure = {
	.name = "measure",
	.summary = "measure wake-up latency, CPU by CPU",
	.about = "One thread a CPU sleeps until an absolute time and notes how late it ran. Every\n"
		 "sample counts in a histogram that never overflows; the result says what may\n"
		 "distort it. Times need a unit: 80us, 1ms, 10s, 5m, 12h, 3d.\n\n"
		 "Exit status: 0 goals met or none given, 1 goals missed, 2 wrong usage, 3 not\n"
		 "permitted or not in this kernel, 4 input/output error, 5 not enough data for a\n"
		 "verdict, 130 cut short by Ctrl-C (the results so far are printed).",
	.examples = examples,
	.options = options_table,
	.run = run_command,
};

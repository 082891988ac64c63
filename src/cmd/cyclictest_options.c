// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/cyclictest_options.h"

#include "base/fail.h"
#include "base/str.h"
#include "cmd/command.h"
#include "sys/dma_latency.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define THREADS_MAX CPUSET_MAX

const char *const cyclictest_policies[] = {
	"other", "normal", "batch", "idle", "fifo", "rr", NULL
};
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
	  .choices = cyclictest_policies,
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

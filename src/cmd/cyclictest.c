// SPDX-License-Identifier: GPL-2.0-or-later
/* punctual cyclictest: for scripts that call rt-tests' cyclictest, and for people used to it. */
#include "format/cyclictest.h"
#include "base/sink.h"
#include "cmd/command.h"
#include "cmd/cyclictest_options.h"
#include "sys/clock.h"
#include "sys/dma_latency.h"
#include "sys/fifo.h"
#include "sys/output.h"
#include "sys/root.h"
#include "sys/sched.h"
#include "sys/signals.h"
#include "sys/tracemark.h"
#include "trial/cyclic.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

extern const struct command command_cyclictest;

/* From frame to frame, as in the original. With -q there is nothing to show, and the control thread
 * disturbs less by sleeping longer. */
#define FRAME_NS     10000000
#define QUIET_MAX_NS 200000000

/* -v's way to show only the largest of so many values. */
struct reduction {
	int64_t count, max;
	uint64_t cycle_of_max;
};

struct show {
	const struct cyclictest_options *options;
	const struct cyclictest_plan *plan;
	const struct root *root;
	struct cyclic *cyclic;
	struct cyclictest_report report;
	struct output out;
	struct reduction *reductions; /* of each thread */
	int64_t max_shown;
	bool live; /* status lines are redrawn */
};

static void print_values(struct show *show, size_t index)
{
	struct reduction *r = &show->reductions[index];
	uint64_t cycle;
	int64_t value;

	while (cyclic_value(show->cyclic, index, &cycle, &value)) {
		if (value > r->max) {
			r->max = value;
			r->cycle_of_max = cycle;
		}
		if (++r->count < show->options->oscope)
			continue;
		cyclictest_write_value(index, r->cycle_of_max, r->max, &show->out.sink);
		r->count = 0;
		r->max = 0;
	}
}

static void serve_fifo(struct show *show)
{
	int fd = fifo_reader(show->options->fifo);
	struct strbuf text = STRBUF_INIT;

	if (fd < 0)
		return;
	cyclic_look(show->cyclic, &show->report);
	for (size_t i = 0; i < show->report.count; i++)
		cyclictest_write_status(&show->report, i, &text.sink);
	fifo_give(fd, text.text, text.length);
	strbuf_free(&text);
}

static void print_frame(struct show *show)
{
	char loadavg[128] = "";

	cyclic_look(show->cyclic, &show->report);
	if (show->live) {
		root_text(show->root, loadavg, sizeof(loadavg), "proc/loadavg");
		cyclictest_write_policy(show->plan->policy_shown, show->plan->fell_back, loadavg,
					&show->out.sink);
	}
	for (size_t i = 0; i < show->report.count; i++) {
		if (show->report.threads[i].max > show->max_shown)
			show->max_shown = show->report.threads[i].max;
		if (show->live)
			cyclictest_write_status(&show->report, i, &show->out.sink);
		if (show->options->verbose)
			print_values(show, i);
	}
	output_flush(&show->out);
}

/* Lines that a frame has, for the cursor's way back. */
static size_t frame_lines(const struct show *show)
{
	return show->report.count + 2;
}

static bool is_over(const struct show *show)
{
	return cyclic_over(show->cyclic) || signals_stop() || show->out.sink.error;
}

/* What SIGUSR1 asks for, on stderr beside whatever else is shown. */
static void print_status(struct show *show)
{
	struct strbuf text = STRBUF_INIT;

	cyclic_look(show->cyclic, &show->report);
	sink_text(&text.sink, "#---------------------------\n# cyclictest current status:\n");
	for (size_t i = 0; i < show->report.count; i++) {
		sink_text(&text.sink, "# ");
		cyclictest_write_status(&show->report, i, &text.sink);
	}
	sink_text(&text.sink, "#---------------------------\n");
	fputs(text.text ? text.text : "", stderr);
	strbuf_free(&text);
}

static void pause_frame(struct show *show)
{
	int64_t pause = FRAME_NS, left;

	if (!show->live && !show->options->verbose) {
		left = cyclic_left(show->cyclic) / 2;
		pause = left < 1000000 ? 1000000 : left > QUIET_MAX_NS ? QUIET_MAX_NS : left;
	}
	clock_sleep_until(clock_now() + pause);
	if (signals_take_status())
		print_status(show);
	if (show->options->fifo)
		serve_fifo(show);
}

static bool has_new_max(struct show *show)
{
	cyclic_look(show->cyclic, &show->report);
	for (size_t i = 0; i < show->report.count; i++) {
		if (show->report.threads[i].max > show->max_shown)
			return true;
	}
	return false;
}

/* Shows the run until it is over, and stops it. */
static void watch(struct show *show)
{
	bool waits = show->options->refresh_on_max, over = false;

	while (!over) {
		over = is_over(show);
		if (over)
			cyclic_stop(show->cyclic); /* the last frame is of the final figures */
		print_frame(show);
		if (over)
			break;
		pause_frame(show);
		if (show->live)
			sink_printf(&show->out.sink, "\033[%zuA", frame_lines(show));
		while (waits && !(over = is_over(show)) && !has_new_max(show))
			pause_frame(show);
	}
	cyclic_stop(show->cyclic);
	if (show->live && waits)
		sink_printf(&show->out.sink, "\033[%zuB", frame_lines(show));
	cyclic_look(show->cyclic, &show->report);
}

static int write_histogram(struct show *show, struct fail *fail)
{
	struct output file;
	int err;

	if (!show->options->histfile) {
		cyclictest_write_histogram(&show->report, &show->out.sink);
		return 0;
	}
	err = output_open(&file, show->options->histfile, fail);
	if (err)
		return err;
	cyclictest_write_histogram(&show->report, &file.sink);
	return output_close(&file, fail);
}

static int print_summary(struct show *show, struct fail *fail)
{
	int err = 0, closed;

	if (show->options->quiet && !show->report.buckets) {
		for (size_t i = 0; i < show->report.count; i++)
			cyclictest_write_status(&show->report, i, &show->out.sink);
	}
	cyclictest_write_spikes(&show->report, &show->out.sink);
	if (show->report.buckets)
		err = write_histogram(show, fail);
	cyclictest_write_break(&show->report, &show->out.sink);
	closed = output_close(&show->out, err ? NULL : fail);
	return err ? err : closed;
}

static int write_json(const struct show *show, const char *command_line, int64_t started_ns,
		      int status, struct fail *fail)
{
	struct cyclictest_run run = { .command_line = command_line,
				      .version = PUNCTUAL_VERSION,
				      .started_s = started_ns / 1000000000,
				      .ended_s = clock_wall() / 1000000000,
				      .status = status };
	struct utsname names;
	struct output file;
	int64_t realtime;
	int err = uname(&names) ? -errno : output_open(&file, show->options->json, fail);

	if (err)
		return err;
	run.sysname = names.sysname;
	run.nodename = names.nodename;
	run.release = names.release;
	run.kernel_version = names.version;
	run.machine = names.machine;
	run.realtime = !root_number(show->root, &realtime, "sys/kernel/realtime") && realtime == 1;
	cyclictest_write_json(&show->report, &run, &file.sink);
	return output_close(&file, fail);
}

/* What the original does not tell. */
static void print_remarks(const struct show *show)
{
	uint64_t missed = 0, lost = cyclic_values_lost(show->cyclic);

	for (size_t i = 0; i < show->report.count; i++) {
		const char *failure = cyclic_failure(show->cyclic, i);

		missed += show->report.threads[i].missed;
		if (failure)
			command_note(&command_cyclictest, "thread %zu (CPU %d) %s", i,
				     show->report.threads[i].cpu, failure);
	}
	if (missed)
		command_note(&command_cyclictest,
			     "%" PRIu64 " periods were missed: a stall counts as one cycle here, "
			     "however long it is",
			     missed);
	if (lost)
		command_note(&command_cyclictest,
			     "%" PRIu64
			     " values are not shown: they came faster than they could be "
			     "written",
			     lost);
}

static enum exit_status status_of(const struct show *show)
{
	uint64_t cycles = 0;

	for (size_t i = 0; i < show->report.count; i++)
		cycles += show->report.threads[i].cycles;
	if (show->report.broken >= 0)
		return STATUS_MISSED;
	if (signals_stop() && (show->options->loops || show->options->duration_ns))
		return STATUS_INTERRUPTED;
	return cycles ? STATUS_OK : STATUS_NO_ANSWER;
}

/* "# /dev/cpu_dma_latency set to 0us" and the descriptor that holds it, or -1. */
static int hold_dma_latency(struct show *show)
{
	int32_t us = (int32_t)show->options->latency_us;
	int fd, err;

	if (show->options->laptop || show->options->default_system) {
		command_note(&command_cyclictest, "/dev/cpu_dma_latency is left as it is");
		return -1;
	}
	err = dma_latency_hold(us, &fd);
	if (err) {
		command_note(&command_cyclictest,
			     "cannot hold /dev/cpu_dma_latency: %s; idle states stay as they are",
			     strerror(-err));
		return -1;
	}
	sink_printf(&show->out.sink, "# /dev/cpu_dma_latency set to %dus\n", us);
	return fd;
}

/* The lines before the run with -v. The interval shown is that of the thread to come: so prints the
 * original, and scripts read by position. */
static void print_board(struct show *show)
{
	if (!show->options->verbose)
		return;
	sink_printf(&show->out.sink, "Max CPUs = %ld\nOnline CPUs = %ld\n",
		    sysconf(_SC_NPROCESSORS_CONF), sysconf(_SC_NPROCESSORS_ONLN));
	if (show->options->affinity && !show->options->smp)
		sink_printf(&show->out.sink, "Using %d cpus.\n", cpuset_count(&show->plan->chosen));
}

static void print_threads(struct show *show)
{
	const struct cyclictest_options *options = show->options;

	for (size_t i = 0; options->verbose && i < show->plan->run.threads; i++) {
		if (options->affinity && !options->smp)
			sink_printf(&show->out.sink, "Thread %zu using cpu %d.\n", i,
				    show->plan->cpus[i]);
		sink_printf(&show->out.sink, "Thread %zu Interval: %" PRId64 "\n", i,
			    show->plan->intervals_ns[i] / 1000 + show->plan->distance_us);
	}
}

/* What clock_getres says, and the smallest step seen between readings. */
static void tell_resolution(clockid_t clock)
{
	struct timespec resolution = { 0 };
	int64_t least = INT64_MAX, last = clock_read(clock);

	for (int i = 0; i < 100000; i++) {
		int64_t now = clock_read(clock);

		if (now > last && now - last < least)
			least = now - last;
		last = now;
	}
	clock_getres(clock, &resolution);
	command_note(&command_cyclictest,
		     "clock resolution: %" PRId64 " ns by its own word, %" PRId64
		     " ns the smallest step seen",
		     clock_from(&resolution), least);
}

static void check_timers(void)
{
	struct timespec resolution = { 0 };

	if (clock_getres(CLOCK_MONOTONIC, &resolution) || clock_from(&resolution) != 1)
		command_note(&command_cyclictest,
			     "high resolution timers are not available: latencies are those of the "
			     "tick");
}

/* As the original, even a run without priority needs the right to one. */
static int check_rights(struct fail *fail)
{
	int err = sched_set(0, SCHED_KIND_FIFO, 1);

	if (!err)
		return sched_set(0, SCHED_KIND_OTHER, 0);
	if (!geteuid())
		return fail_set(fail, EPERM,
				"Unable to change scheduling policy! Even root may not: the "
				"container has no CAP_SYS_NICE, or the kernel has "
				"CONFIG_RT_GROUP_SCHED and this cgroup no real-time budget");
	return fail_set(fail, EPERM,
			"Unable to change scheduling policy! Run as root, or 'setcap "
			"cap_sys_nice+ep' on the program, or raise 'ulimit -r'; 'punctual measure "
			"--policy other' measures without");
}

/* That a file can't be written is better known before the run than after it. A pipe or device is
 * not tried: its reader would see the end. */
static int check_writable(const char *path, struct fail *fail)
{
	struct output file;
	struct stat st;
	int err;

	if (!path || (!stat(path, &st) && !S_ISREG(st.st_mode)))
		return 0;
	err = output_open(&file, path, fail);
	if (!err)
		output_abandon(&file);
	return err;
}

static int check_before(const struct cyclictest_options *options, struct fail *fail)
{
	int err = check_rights(fail);

	if (!err)
		err = check_writable(options->json, fail);
	if (!err && options->histogram)
		err = check_writable(options->histfile, fail);
	return err;
}

/* Starts, shows and ends the run; the report is complete afterwards. */
static int run_shown(struct show *show, struct fail *fail)
{
	int err = cyclic_start(&show->cyclic, &show->plan->run, fail);

	if (err)
		return err;
	if (show->options->lock && !cyclic_memory_locked(show->cyclic)) {
		cyclic_stop(show->cyclic);
		return fail_set(fail, EPERM,
				"memory cannot be locked: run as root, or raise 'ulimit -l'");
	}
	if (!cpuset_empty(&show->plan->main))
		sched_set_cpus(&show->plan->main); /* where that fails, we stay */
	print_threads(show);
	watch(show);
	return 0;
}

static int run_all(struct show *show, const char *command_line)
{
	int64_t started_ns = clock_wall();
	struct fail fail = { "" };
	enum exit_status status;
	int held, err;

	print_board(show);
	held = hold_dma_latency(show);
	output_flush(&show->out);
	check_timers();
	if (show->options->resolution)
		tell_resolution(show->options->clock);
	err = run_shown(show, &fail);
	if (held >= 0)
		close(held);
	if (!err) {
		status = status_of(show);
		err = print_summary(show, &fail);
		if (show->options->json) {
			int written = write_json(show, command_line, started_ns, (int)status,
						 err ? NULL : &fail);

			err = err ? err : written;
		}
		print_remarks(show);
	}
	cyclic_free(show->cyclic);
	return err ? command_fail(&command_cyclictest, err, &fail) : (int)status;
}

/* What is open during the run: the trace to be marked, the named pipe. */
static int with_surroundings(struct show *show, struct cyclictest_plan *plan,
			     const char *command_line, struct fail *fail, int *status)
{
	const struct cyclictest_options *options = show->options;
	struct tracemark mark = { -1, -1 };
	int err = 0;

	if (options->tracemark && options->break_above)
		err = tracemark_open(&mark, fail);
	if (!err && options->fifo)
		err = fifo_make(options->fifo, fail);
	if (err) {
		tracemark_close(&mark);
		return err;
	}
	plan->run.mark = mark.marker >= 0 ? &mark : NULL;
	*status = run_all(show, command_line);
	plan->run.mark = NULL;
	if (options->fifo)
		fifo_remove(options->fifo);
	tracemark_close(&mark);
	return 0;
}

static int run_planned(const struct cyclictest_options *options, const struct root *root,
		       const char *command_line, struct fail *fail, int *status)
{
	struct cyclictest_plan plan;
	struct show show = {
		.options = options,
		.plan = &plan,
		.root = root,
		.report = { .dialect = (enum cyclictest_dialect)options->dialect,
			    .sum_column = options->sum_column },
		.live = !options->quiet && !options->verbose,
	};
	int err = cyclictest_plan(&plan, options, root, fail);

	if (!err)
		err = check_before(options, fail);
	if (!err && !plan.priorities[0])
		command_note(&command_cyclictest,
			     "measures at normal priority: no real-time figure (-p 95 gives one)");
	if (!err)
		err = output_open(&show.out, NULL, fail);
	if (!err) {
		show.reductions = calloc(plan.run.threads, sizeof(*show.reductions));
		if (!show.reductions)
			err = fail_set(fail, ENOMEM, "out of memory");
	}
	if (!err)
		err = with_surroundings(&show, &plan, command_line, fail, status);
	free(show.reductions);
	cyclictest_plan_free(&plan);
	return err;
}

/* As the original notes it: the words as they were given, with blanks between them. */
static char *join(int argc, char **argv)
{
	const char *name = strrchr(program_invocation_name, '/');
	struct strbuf line = STRBUF_INIT;

	name = name ? name + 1 : program_invocation_name;
	sink_text(&line.sink, program_invocation_name);
	if (strcmp(name, command_cyclictest.name) != 0)
		sink_printf(&line.sink, " %s", command_cyclictest.name);
	for (int i = 0; i < argc; i++)
		sink_printf(&line.sink, " %s", argv[i]);
	if (line.sink.error)
		strbuf_free(&line);
	return line.text;
}

static int run_command(int argc, char **argv)
{
	struct cyclictest_options options = cyclictest_defaults;
	struct fail fail = { "" };
	struct root *root = NULL;
	int arguments, status, err;
	char *command_line = join(argc, argv);

	status = command_options(&command_cyclictest, argc, argv, &options, &options.help,
				 &arguments);
	if (status < 0) {
		signals_install();
		signals_watch_status();
		err = command_line ? root_open(&root, NULL, &fail)
				   : fail_set(&fail, ENOMEM, "out of memory");
		if (!err)
			err = run_planned(&options, root, command_line, &fail, &status);
		if (err)
			status = command_fail(&command_cyclictest, err, &fail);
		root_close(root);
	}
	free(command_line);
	return status;
}

static const char *const examples[] = {
	"punctual cyclictest -m -S -p 95 -i 1000 -D 10m -h 100 -q",
	"a thread on every CPU for ten minutes, histogram up to 100 us",
	"punctual cyclictest -a 2-3 -t 2 -p 95 -b 150 --tracemark",
	"CPUs 2 and 3; ends at the first latency over 150 us and stops the trace",
	"punctual cyclictest -S -p 95 -l 100000 -q --json=out.json",
	"for a lab that reads cyclictest's JSON",
	NULL,
};

const struct command command_cyclictest = {
	.name = "cyclictest",
	.summary = "measure as rt-tests' cyclictest does, for scripts",
	.about = "Takes the options that scripts give to cyclictest, and prints what they read. A\n"
		 "link named cyclictest to this program does the same. What is not supported is\n"
		 "refused, never ignored. Exit status: 1 when -b ended the run, 130 when Ctrl-C\n"
		 "cut it short of -l or -D. Missed periods and overflows are in the JSON; no\n"
		 "session is stored.",
	.examples = examples,
	.options = cyclictest_options_table,
	.style = OPTIONS_ABBREVIATE,
	.run = run_command,
};

// SPDX-License-Identifier: GPL-2.0-or-later
#include "board/surroundings.h"

#include "base/environment.h"
#include "base/str.h"
#include "board/surroundings_parts.h"
#include "sys/root.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

static void keep_error(struct reading *reading, int err)
{
	if (!reading->error)
		reading->error = err;
}

void reading_text(struct reading *reading, const char *key, const char *value)
{
	char text[4096];

	snprintf(text, sizeof(text), "%s", value);
	for (char *c = text; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
	}
	keep_error(reading, environment_text(reading->environment, key, text));
}

void reading_number(struct reading *reading, const char *key, int64_t value)
{
	keep_error(reading, environment_number(reading->environment, key, value));
}

void reading_unknown(struct reading *reading, const char *key, const char *reason, ...)
{
	char text[256];
	va_list args;

	va_start(args, reason);
	vsnprintf(text, sizeof(text), reason, args);
	va_end(args);
	keep_error(reading, environment_unknown(reading->environment, key, text));
}

void reading_failed(struct reading *reading, const char *key, const char *path, int err)
{
	if (err == -ENOMEM)
		keep_error(reading, err);
	reading_unknown(reading, key, "%s: %s", path,
			err == -EBADMSG ? "not in the form that is known" : strerror(-err));
}

void reading_copy_text(struct reading *reading, const char *key, const char *path)
{
	char text[4096];
	ssize_t length = root_text(reading->root, text, sizeof(text), "%s", path);

	if (length < 0) {
		reading_failed(reading, key, path, (int)length);
		return;
	}
	reading_text(reading, key, text);
}

void reading_copy_number(struct reading *reading, const char *key, const char *path)
{
	int64_t value;
	int err = root_number(reading->root, &value, "%s", path);

	if (err)
		reading_failed(reading, key, path, err);
	else
		reading_number(reading, key, value);
}

bool reading_disturbs(const struct reading *reading, const struct cpuset *set)
{
	return root_is_live(reading->root) && cpuset_intersects(&reading->kept, set);
}

#define BANNER "Linux version "

void surroundings_release(const struct root *root, char *buf, size_t size)
{
	char text[1024];

	if (root_text(root, buf, size, "proc/sys/kernel/osrelease") > 0)
		return;
	*buf = '\0';
	if (root_text(root, text, sizeof(text), "proc/version") > 0 && str_starts(text, BANNER))
		snprintf(buf, size, "%.*s", (int)strcspn(text + strlen(BANNER), " "),
			 text + strlen(BANNER));
}

static void read_version(struct reading *reading)
{
	char release[256], text[1024], *build;

	surroundings_release(reading->root, release, sizeof(release));
	if (*release)
		reading_text(reading, "kernel_release", release);
	else
		reading_unknown(reading, "kernel_release",
				"neither proc/sys/kernel/osrelease nor proc/version can be read");
	if (root_text(reading->root, text, sizeof(text), "proc/sys/kernel/version") > 0) {
		reading_text(reading, "kernel_version", text);
		return;
	}
	/* "Linux version R (builder) (compiler) #1 SMP …" */
	build = root_text(reading->root, text, sizeof(text), "proc/version") > 0
			? strstr(text, " #")
			: NULL;
	if (build)
		reading_text(reading, "kernel_version", build + 1);
	else
		reading_unknown(reading, "kernel_version",
				"neither proc/sys/kernel/version nor proc/version can be read");
}

/* proc/sys/kernel/arch is there since 6.1. */
static void read_architecture(struct reading *reading)
{
	struct utsname name;

	reading_copy_text(reading, "architecture", "proc/sys/kernel/arch");
	if (reading->error ||
	    environment_find(reading->environment, "architecture")->kind == ENVIRONMENT_TEXT)
		return;
	if (root_is_live(reading->root) && !uname(&name))
		reading_text(reading, "architecture", name.machine);
}

static void write_cpus(struct reading *reading, const char *key, const struct cpuset *set,
		       bool known)
{
	char text[CPUSET_TEXT_MAX];

	if (known)
		reading_text(reading, key, cpuset_text(set, text, sizeof(text)));
	else
		reading_unknown(reading, key,
				"this kernel does not tell in sys/devices/system/cpu");
}

static void read_cpus(struct reading *reading)
{
	struct board_cpus *cpus = &reading->cpus;

	write_cpus(reading, "cpus_online", &cpus->online,
		   reading->cpus_known && cpus->online_known);
	write_cpus(reading, "cpus_isolated", &cpus->isolated,
		   reading->cpus_known && cpus->isolated_known);
	write_cpus(reading, "cpus_nohz_full", &cpus->nohz_full,
		   reading->cpus_known && cpus->nohz_full_known);
}

static void read_clock(struct reading *reading)
{
	reading_copy_text(reading, "clock_source",
			  "sys/devices/system/clocksource/clocksource0/current_clocksource");
	reading_copy_text(reading, "clock_event",
			  "sys/devices/system/clockevents/clockevent0/current_device");
}

/* The sum of the sizes in proc/swaps, in KiB: name, type, size, used, priority. */
static int64_t swap_total(char *text)
{
	int64_t total = 0, size;
	char *line, *rest = text;

	strsep(&rest, "\n");
	while ((line = strsep(&rest, "\n"))) {
		char *field = NULL;

		for (int i = 0; i < 3; i++) {
			while ((field = strsep(&line, " \t")) && !*field)
				;
		}
		if (field && !str_i64(field, &size) && size > 0)
			total += size;
	}
	return total;
}

static void read_memory(struct reading *reading)
{
	char text[8192];
	ssize_t length = root_text(reading->root, text, sizeof(text), "proc/swaps");

	if (length < 0)
		reading_failed(reading, "swap_kb", "proc/swaps", (int)length);
	else
		reading_number(reading, "swap_kb", swap_total(text));
}

#define TRACING "sys/kernel/tracing/"

/* Only where tracefs is mounted already: sys/kernel/debug/tracing would mount it by being looked
 * at. */
static void read_tracing(struct reading *reading)
{
	char tracer[64], events[16], text[128];
	ssize_t length;
	int64_t on;
	int err = root_number(reading->root, &on, TRACING "tracing_on");

	if (err == -ENOENT) {
		reading_unknown(reading, "tracing_on", "sys/kernel/tracing is empty: not mounted");
		return;
	}
	if (err) {
		reading_failed(reading, "tracing_on", TRACING "tracing_on", err);
		return;
	}
	length = root_text(reading->root, tracer, sizeof(tracer), TRACING "current_tracer");
	if (length < 0) {
		reading_failed(reading, "tracing_on", TRACING "current_tracer", (int)length);
		return;
	}
	/* "0", "1", or "X" where some are enabled */
	length = root_text(reading->root, events, sizeof(events), TRACING "events/enable");
	if (length < 0 && strcmp(tracer, "nop") == 0) {
		reading_failed(reading, "tracing_on", TRACING "events/enable", (int)length);
		return;
	}
	if (!on || (!strcmp(tracer, "nop") && !strcmp(events, "0"))) {
		reading_text(reading, "tracing_on", "no");
		return;
	}
	if (!strcmp(tracer, "nop"))
		snprintf(text, sizeof(text), "events enabled");
	else
		snprintf(text, sizeof(text), "tracer %s", tracer);
	reading_text(reading, "tracing_on", text);
}

static void read_load(struct reading *reading)
{
	char key[KEY_MAX], text[128], *end = text;
	ssize_t length = root_text(reading->root, text, sizeof(text), "proc/loadavg");

	snprintf(key, sizeof(key), "load_average_%s", reading->when);
	if (length < 0) {
		reading_failed(reading, key, "proc/loadavg", (int)length);
		return;
	}
	/* the first three of its five fields */
	for (int i = 0; i < 3 && end; i++)
		end = strchr(i ? end + 1 : end, ' ');
	if (end)
		*end = '\0';
	reading_text(reading, key, text);
}

/* The eighth figure of the "cpu" line, in USER_HZ (100 on every architecture that Linux has today,
 * include/uapi/asm-generic/param.h; alpha's and ia64's 1024 are not supported here). */
static int read_steal(const struct root *root, int64_t *ms)
{
	char *text, *line, *field = NULL;
	int64_t ticks;
	size_t length;
	int err = root_all(root, ROOT_FILE_MAX, &text, &length, "proc/stat");

	if (err)
		return err;
	line = text;
	line[strcspn(line, "\n")] = '\0';
	err = str_starts(line, "cpu ") ? 0 : -EBADMSG;
	for (int i = 0; i < 9 && !err; i++) {
		while ((field = strsep(&line, " ")) && !*field)
			;
	}
	if (!err)
		err = field && !str_i64(field, &ticks) ? 0 : -EBADMSG;
	if (!err)
		*ms = ticks * 10;
	free(text);
	return err;
}

static void read_steal_before(struct reading *reading)
{
	int64_t ms;
	int err = read_steal(reading->root, &ms);

	if (err)
		reading_failed(reading, "steal_before_ms", "proc/stat", err);
	else
		reading_number(reading, "steal_before_ms", ms);
}

static void read_steal_after(struct reading *reading)
{
	const struct environment_item *before =
		environment_find(reading->environment, "steal_before_ms");
	int64_t ms;
	int err = read_steal(reading->root, &ms);

	if (err)
		reading_failed(reading, "steal_during_ms", "proc/stat", err);
	else if (!before || before->kind != ENVIRONMENT_NUMBER)
		reading_unknown(reading, "steal_during_ms", "what it was before is not known");
	else
		reading_number(reading, "steal_during_ms", ms - before->number);
}

static struct reading begin(const struct root *root, struct environment *environment,
			    const char *when)
{
	struct reading reading = { .root = root, .environment = environment, .when = when };
	int err = cpus_read(root, &reading.cpus);

	reading.cpus_known = !err;
	if (err == -ENOMEM)
		reading.error = err;
	if (!err) {
		cpuset_or(&reading.kept, &reading.cpus.isolated);
		cpuset_or(&reading.kept, &reading.cpus.nohz_full);
	}
	return reading;
}

static void read_kernel(struct reading *reading)
{
	reading_text(reading, "punctual_version", PUNCTUAL_VERSION);
	read_version(reading);
	read_architecture(reading);
	surroundings_config(reading);
	reading_copy_text(reading, "command_line", "proc/cmdline");
}

static void read_scheduling(struct reading *reading)
{
	reading_copy_number(reading, "rt_runtime_us", "proc/sys/kernel/sched_rt_runtime_us");
	reading_copy_number(reading, "rt_period_us", "proc/sys/kernel/sched_rt_period_us");
}

static int run(struct reading *reading, void (*const *parts)(struct reading *))
{
	for (; *parts && !reading->error; parts++)
		(*parts)(reading);
	return reading->error;
}

int surroundings_read(const struct root *root, struct environment *environment)
{
	static void (*const parts[])(struct reading *) = {
		read_kernel,
		surroundings_identity,
		surroundings_virtual,
		read_cpus,
		surroundings_frequencies_fixed,
		surroundings_frequencies_now,
		surroundings_idle,
		read_clock,
		surroundings_irqs,
		read_scheduling,
		read_memory,
		read_tracing,
		surroundings_temperatures,
		read_load,
		read_steal_before,
		NULL,
	};
	struct reading reading = begin(root, environment, "before");

	return run(&reading, parts);
}

int surroundings_after(const struct root *root, struct environment *environment)
{
	static void (*const parts[])(struct reading *) = {
		surroundings_frequencies_now,
		surroundings_temperatures,
		read_load,
		read_steal_after,
		NULL,
	};
	struct reading reading = begin(root, environment, "after");

	return run(&reading, parts);
}

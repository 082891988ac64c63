// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of commands, and the way to one of them. */
#include "base/sink.h"
#include "base/str.h"
#include "cmd/command.h"
#include "sys/output.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "commands.inc" /* written by Meson from cmd/commands.list */

static void overview(struct sink *sink)
{
	sink_text(
		sink,
		"punctual makes Linux boards keep time: it measures scheduling latency and shows\n"
		"what board it ran on.\n\n"
		"Usage: punctual COMMAND [options]\n\n");
	for (int i = 0; commands[i]; i++)
		sink_printf(sink, "  %-12s %s\n", commands[i]->name, commands[i]->summary);
	sink_text(sink, "\nStart with: punctual topology; punctual measure --duration 20s\n"
			"Examples and options of a command: punctual help COMMAND\n");
}

static void version(struct sink *sink)
{
	sink_text(sink, "punctual " PUNCTUAL_VERSION "\n");
}

/* What TEXT writes, on stdout. */
static int print(void (*text)(struct sink *sink))
{
	struct fail fail = { "" };
	struct output out;
	int err = output_open(&out, NULL, &fail);

	if (!err) {
		text(&out.sink);
		err = output_close(&out, &fail);
	}
	if (err && err != -EPIPE)
		fprintf(stderr, "punctual: %s\n", fail.text);
	return (int)fail_status(err);
}

static int unknown_command(const char *name)
{
	const char *names[64];
	struct fail fail = { "" };
	const char *nearest;
	int count = 0;

	for (; commands[count] && count < 63; count++)
		names[count] = commands[count]->name;
	names[count] = NULL;
	nearest = str_nearest(name, names);
	if (nearest)
		fail_set(&fail, EINVAL, "unknown command '%.80s'; did you mean '%s'?", name,
			 nearest);
	else
		fail_set(&fail, EINVAL, "unknown command '%.80s'; 'punctual help' lists them",
			 name);
	fprintf(stderr, "punctual: %s\n", fail.text);
	return STATUS_USAGE;
}

int main(int argc, char **argv)
{
	const char *called = argc ? strrchr(argv[0], '/') : NULL;
	const struct command *command;

	output_occupy_standard_streams();
	/* a reader that goes away, and a file that may not grow, are errors of write, not our death
	 */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	called = called ? called + 1 : argc ? argv[0] : "punctual";
	if (!strcmp(called, "cyclictest"))
		return command_find("cyclictest")->run(argc - 1, argv + 1);
	if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return print(overview);
	if (!strcmp(argv[1], "--version"))
		return print(version);
	if (!strcmp(argv[1], "help") && argc == 2)
		return print(overview);
	command = command_find(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	return command->run(argc - 2, argv + 2);
}

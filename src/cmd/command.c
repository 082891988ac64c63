// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/command.h"

#include "base/sink.h"
#include "sys/output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct command *command_find(const char *name)
{
	for (int i = 0; commands[i]; i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	}
	return NULL;
}

void command_describe(const struct command *command, struct sink *sink)
{
	sink_printf(sink, "punctual %s: %s\n\n", command->name, command->summary);
	for (const char *const *e = command->examples; e && *e; e += 2)
		sink_printf(sink, "  %s\n      %s\n", e[0], e[1]);
	sink_printf(sink, "\nUsage: punctual %s [options]%s%s\n", command->name,
		    command->arguments ? " " : "", command->arguments ? command->arguments : "");
	if (command->about)
		sink_printf(sink, "\n%s\n", command->about);
	options_help(command->options, sink);
}

int command_fail(const struct command *command, int error, const struct fail *fail)
{
	if (error == -EPIPE) /* the reader went away, as in "| head": nothing to say to nobody */
		return STATUS_IO;
	fprintf(stderr, "punctual %s: %s\n", command->name, fail->text);
	return (int)fail_status(error);
}

void command_note(const struct command *command, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "punctual %s: ", command->name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

static int print_help(const struct command *command)
{
	struct fail fail = { "" };
	struct output out;
	int err = output_open(&out, NULL, &fail);

	if (!err) {
		command_describe(command, &out.sink);
		err = output_close(&out, &fail);
	}
	return err ? command_fail(command, err, &fail) : STATUS_OK;
}

int command_options(const struct command *command, int argc, char **argv, void *target,
		    const bool *help, int *arguments)
{
	struct fail fail = { "" };
	int err = options_parse(command->options, command->style, argc, argv, target, arguments,
				&fail);

	if (err)
		return command_fail(command, err, &fail);
	if (*help)
		return print_help(command);
	if (*arguments > command->arguments_max)
		err = fail_set(
			&fail, EINVAL, "'%.80s' is too much; usage: punctual %s [options]%s%s",
			argv[command->arguments_max], command->name, command->arguments ? " " : "",
			command->arguments ? command->arguments : "");
	else if (*arguments < command->arguments_min)
		err = fail_set(&fail, EINVAL, "needs %s; --help shows examples",
			       command->arguments);
	return err ? command_fail(command, err, &fail) : -1;
}

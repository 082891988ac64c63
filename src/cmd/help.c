// SPDX-License-Identifier: GPL-2.0-or-later
/* Help for one command, and what the manual pages take from the same tables. */
#include "base/sink.h"
#include "base/str.h"
#include "cmd/command.h"
#include "sys/output.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

extern const struct command command_help;

enum scdoc_part { PART_NONE, PART_SYNOPSIS, PART_EXAMPLES, PART_OPTIONS, PART_COMMANDS };

static const char *const scdoc_parts[] = { "none",    "synopsis", "examples",
					   "options", "commands", NULL };

struct help_options {
	bool help;
	int scdoc;
};

static const struct option help_table[] = {
	{
		.name = "scdoc",
		.kind = OPTION_CHOICE,
		.argument = "PART",
		.help = "a part of the manual page, in scdoc's markup",
		.choices = scdoc_parts,
		.offset = offsetof(struct help_options, scdoc),
		.hidden = true,
	},
	OPTION_HELP_ROW(struct help_options),
	OPTIONS_END,
};

static const char *const help_examples[] = {
	"punctual help",
	"list the commands",
	"punctual help measure",
	"examples and options of measure; the same as punctual measure --help",
	NULL,
};

static void scdoc_text(const char *text, struct sink *sink)
{
	for (; *text; text++) {
		if (strchr("_*\\#`<>|~[]", *text))
			sink_text(sink, "\\");
		sink_write(sink, text, 1);
	}
}

static void scdoc_synopsis(const struct command *command, struct sink *sink)
{
	sink_printf(sink, "*punctual %s* [options]%s", command->name,
		    command->arguments ? " " : "");
	if (command->arguments)
		scdoc_text(command->arguments, sink);
	sink_text(sink, "\n");
}

static void scdoc_examples(const struct command *command, struct sink *sink)
{
	for (const char *const *e = command->examples; e && *e; e += 2) {
		sink_text(sink, "*");
		scdoc_text(e[0], sink);
		sink_text(sink, "*\n\t");
		scdoc_text(e[1], sink);
		sink_text(sink, "\n\n");
	}
}

static void scdoc_commands(struct sink *sink)
{
	for (int i = 0; commands[i]; i++) {
		sink_printf(sink, "*punctual-%s*(1)\n\t", commands[i]->name);
		scdoc_text(commands[i]->summary, sink);
		sink_text(sink, "\n\n");
	}
}

static void plain_commands(struct sink *sink)
{
	for (int i = 0; commands[i]; i++)
		sink_printf(sink, "  %-12s %s\n", commands[i]->name, commands[i]->summary);
}

static void print_part(enum scdoc_part part, const struct command *command, struct sink *sink)
{
	switch (part) {
	case PART_SYNOPSIS:
		scdoc_synopsis(command, sink);
		break;
	case PART_EXAMPLES:
		scdoc_examples(command, sink);
		break;
	case PART_OPTIONS:
		options_scdoc(command->options, sink);
		break;
	case PART_COMMANDS:
		scdoc_commands(sink);
		break;
	case PART_NONE:
		command_describe(command, sink);
		break;
	}
}

static int find_command(const char *name, const struct command **found, struct fail *fail)
{
	const char *names[64];
	const char *nearest;
	int count = 0;

	*found = command_find(name);
	if (*found)
		return 0;
	for (; count < 63 && commands[count]; count++)
		names[count] = commands[count]->name;
	names[count] = NULL;
	nearest = str_nearest(name, names);
	if (nearest)
		return fail_set(fail, EINVAL, "unknown command '%.80s'; did you mean '%s'?", name,
				nearest);
	return fail_set(fail, EINVAL, "unknown command '%.80s'; 'punctual help' lists them", name);
}

static int help_run(int argc, char **argv)
{
	struct help_options options = { 0 };
	const struct command *command = NULL;
	struct fail fail = { "" };
	struct output out;
	int count, status, err;

	status = command_options(&command_help, argc, argv, &options, &options.help, &count);
	if (status >= 0)
		return status;
	err = count ? find_command(argv[0], &command, &fail) : 0;
	if (!err)
		err = output_open(&out, NULL, &fail);
	if (err)
		return command_fail(&command_help, err, &fail);
	if (command || options.scdoc == PART_COMMANDS)
		print_part((enum scdoc_part)options.scdoc, command, &out.sink);
	else
		plain_commands(&out.sink);
	err = output_close(&out, &fail);
	return err ? command_fail(&command_help, err, &fail) : STATUS_OK;
}

const struct command command_help = {
	.name = "help",
	.summary = "examples and options of a command",
	.arguments = "[COMMAND]",
	.examples = help_examples,
	.options = help_table,
	.arguments_max = 1,
	.completes = "command",
	.run = help_run,
};

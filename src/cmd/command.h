/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A command is one descriptor in one file, named in commands.list; Meson writes the table from the
 * list. Help, completion and the manual's option lists come from the descriptor.
 */
#pragma once

#include "base/fail.h"
#include "base/options.h"

struct sink;

struct command {
	const char *name;
	const char *summary;          /* one line, for the list of commands */
	const char *arguments;        /* what may stand behind the options: "[ID]"; NULL: nothing */
	const char *about;            /* a few sentences for help and the manual, lines ≤ 79 */
	const char *const *examples;  /* pairs: command line, what it does; NULL-terminated */
	const struct option *options; /* ends with OPTIONS_END */
	enum options_style style;
	int arguments_min, arguments_max;
	const char *completes; /* what its arguments are, for completion: "file", "session", … */
	int (*run)(int argc,
		   char **argv); /* ARGV without the command's name; returns an exit status */
};

/* All commands in the order of commands.list, NULL-terminated. */
extern const struct command *const commands[];
const struct command *command_find(const char *name);

/* Every command's first step. Parses ARGV into TARGET (*HELP is its --help flag); afterwards
 * ARGV[0..*ARGUMENTS) are the positional ones, their number checked. Returns -1 to go on, or the
 * exit status to end with: help was printed, or an error was reported. */
int command_options(const struct command *command, int argc, char **argv, void *target,
		    const bool *help, int *arguments);

/* Prints "punctual COMMAND: what went wrong" on stderr and returns the exit status of ERROR. */
int command_fail(const struct command *command, int error, const struct fail *fail);
/* A remark on stderr, "punctual COMMAND: …"; for what is worth knowing but stops nothing. */
__attribute__((format(printf, 2, 3))) void command_note(const struct command *command,
							const char *format, ...);
void command_describe(const struct command *command, struct sink *sink);

/* Rows that many commands share, for a struct with members of these names. */
#define OPTION_HELP_ROW(type)                                                                      \
	{                                                                                          \
		.name = "help", .kind = OPTION_FLAG, .group = "General", .help = "show this help", \
		.offset = offsetof(type, help)                                                     \
	}
#define OPTION_JSON_ROW(type, schema)                                        \
	{                                                                    \
		.name = "json", .kind = OPTION_FLAG, .group = "Output",      \
		.help = "one JSON document instead of text, schema " schema, \
		.offset = offsetof(type, json)                               \
	}
#define OPTION_OUTPUT_ROW(type)                                                               \
	{                                                                                     \
		.name = "output", .kind = OPTION_TEXT, .argument = "FILE", .group = "Output", \
		.help = "write the result there, whole or not at all, instead of to stdout",  \
		.offset = offsetof(type, output), .completes = "file"                         \
	}
#define OPTION_QUIET_ROW(type)                                               \
	{                                                                    \
		.name = "quiet", .kind = OPTION_FLAG, .group = "Output",     \
		.help = "no progress and no remarks on stderr; errors stay", \
		.offset = offsetof(type, quiet)                              \
	}
#define OPTION_SYSROOT_ROW(type)                                                              \
	{                                                                                     \
		.name = "sysroot", .kind = OPTION_TEXT, .argument = "DIR", .group = "Source", \
		.help = "read a recorded tree of another board instead of this machine",      \
		.offset = offsetof(type, sysroot), .completes = "dir"                         \
	}
#define OPTION_STORE_ROW(type)                                                              \
	{                                                                                   \
		.name = "store", .kind = OPTION_TEXT, .argument = "FILE", .group = "Store", \
		.help = "the file that holds the sessions",                                 \
		.preset = "/var/lib/punctual/sessions.db for root, else "                   \
			  "$XDG_STATE_HOME/punctual/sessions.db",                           \
		.offset = offsetof(type, store), .completes = "file"                        \
	}

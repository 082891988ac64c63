/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command-line options declared once, as rows: parsing, bounds, help, completion and the manual's
 * option lists all come from the same table. Pure: knows nothing of the field; values go into a
 * plain struct of the command at .offset.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;
struct sink;

enum option_kind {
	OPTION_FLAG,     /* bool: set to true */
	OPTION_NUMBER,   /* int64_t between .low and .high */
	OPTION_DURATION, /* int64_t nanoseconds between .low and .high; a bare number counts
			    .bare_ns */
	OPTION_TEXT,     /* const char *: points into argv */
	OPTION_CHOICE,   /* int: index into .choices */
	OPTION_CUSTOM,   /* .parse gets the whole target struct and the text (NULL: none given) */
};

struct option {
	const char *name; /* long name without dashes; NULL where there is only a letter */
	char letter;      /* 0 where there is none */
	enum option_kind kind;
	bool optional_argument; /* as in -t[NUM]: a following argument that is a number counts too
				 */
	const char *argument;   /* how help names it: "LIST", "TIME"; NULL for flags */
	const char *group;      /* heading in help; rows of one group stand together */
	const char *help;       /* one sentence, lower case, no full stop */
	const char *preset;     /* the default, in words; NULL where "not given" is the default */
	const char *const *choices; /* NULL-terminated */
	const char *const *choice_help;
	int64_t low, high, bare_ns;
	size_t offset;
	int (*parse)(void *target, const char *text, struct fail *fail);
	const char *completes; /* what shells offer: "file", "dir", "cpus"; NULL none */
	bool hidden;           /* accepted, but not shown */
};

#define OPTIONS_END                       \
	{                                 \
		.name = NULL, .letter = 0 \
	}
bool option_is_end(const struct option *option);

enum options_style {
	OPTIONS_PLAIN,     /* long names whole; options may follow positional arguments */
	OPTIONS_ABBREVIATE /* as getopt_long: an unambiguous beginning of a long name counts */
};

/*
 * Parses ARGV[0..ARGC) into TARGET. Positional arguments are moved to the front of ARGV, in order,
 * and counted in *POSITIONALS; "--" ends the options. On failure -EINVAL and one line that quotes
 * the offending text, the accepted range, and for an unknown option the nearest right word.
 */
int options_parse(const struct option *table, enum options_style style, int argc, char **argv,
		  void *target, int *positionals, struct fail *fail);

/* The option lists of help, at 80 columns, with groups, defaults and ranges. */
void options_help(const struct option *table, struct sink *sink);
/* The same in scdoc's markup, for the manual. */
void options_scdoc(const struct option *table, struct sink *sink);

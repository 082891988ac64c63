// SPDX-License-Identifier: GPL-2.0-or-later
/* Completion for bash and zsh, written from the same tables that options are parsed by. */
#include "base/sink.h"
#include "cmd/command.h"
#include "sys/output.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

extern const struct command command_completion;

struct completion_options {
	bool help;
	const char *output;
};

static const struct option completion_table[] = {
	OPTION_OUTPUT_ROW(struct completion_options),
	OPTION_HELP_ROW(struct completion_options),
	OPTIONS_END,
};

static const char *const completion_examples[] = {
	"source <(punctual completion bash)",
	"complete commands, options and their values in this bash",
	"punctual completion zsh >~/.zfunc/_punctual",
	"for zsh, where ~/.zfunc is in fpath",
	NULL,
};

/* What a table's .completes may say, and how the two shells do it; any other text is itself the
 * list of words. Files and folders are the shells' own business. */
static const struct completes {
	const char *name, *bash, *zsh;
} completes[] = {
	{ "file", "@file", "_files" },
	{ "dir", "@dir", "_files -/" },
	{ "cpus", "all isolated housekeeping", "(all isolated housekeeping)" },
	{ "session", "last", "(last)" },
};

static const struct completes *find_completes(const char *name)
{
	for (size_t i = 0; i < sizeof(completes) / sizeof(completes[0]); i++) {
		if (!strcmp(completes[i].name, name))
			return &completes[i];
	}
	return NULL;
}

static void command_words(struct sink *sink)
{
	for (int i = 0; commands[i]; i++)
		sink_printf(sink, "%s%s", i ? " " : "", commands[i]->name);
}

static void choice_words(const char *const *choices, struct sink *sink)
{
	for (int i = 0; choices[i]; i++)
		sink_printf(sink, "%s%s", i ? " " : "", choices[i]);
}

/* The words or the kind that stands for NAME, in bash. NULL: nothing is offered. */
static void bash_values(const char *name, const char *const *choices, struct sink *sink)
{
	const struct completes *known = name ? find_completes(name) : NULL;

	if (choices)
		choice_words(choices, sink);
	else if (name && !strcmp(name, "command"))
		command_words(sink);
	else
		sink_text(sink, known ? known->bash : name ? name : "@none");
}

static void bash_option(const struct command *command, const struct option *option,
			struct sink *sink)
{
	sink_text(sink, "\t");
	if (option->name)
		sink_printf(sink, "'%s --%s'%s", command->name, option->name,
			    option->letter ? " | " : "");
	if (option->letter)
		sink_printf(sink, "'%s -%c'", command->name, option->letter);
	sink_text(sink, ") values='");
	bash_values(option->completes, option->choices, sink);
	sink_text(sink, "' ;;\n");
}

static void bash_command(const struct command *command, struct sink *sink)
{
	sink_printf(sink, "\t%s) values='", command->name);
	bash_values(command->completes, NULL, sink);
	sink_text(sink, "'; options='");
	for (const struct option *o = command->options; !option_is_end(o); o++) {
		if (o->hidden)
			continue;
		if (o->name)
			sink_printf(sink, "--%s ", o->name);
		else
			sink_printf(sink, "-%c ", o->letter);
	}
	sink_text(sink, "' ;;\n");
}

static const char bash_head[] =
	"# bash completion for punctual " PUNCTUAL_VERSION
	"; written by: punctual completion bash\n"
	"_punctual()\n"
	"{\n"
	"\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"\tlocal command=${COMP_WORDS[1]} values= options=\n"
	"\n"
	"\tCOMPREPLY=()\n"
	"\t# --option=value comes as three words\n"
	"\tif [[ $word == = ]]; then\n"
	"\t\tword=\n"
	"\telif [[ $before == = ]]; then\n"
	"\t\tbefore=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"\tfi\n"
	"\tif ((COMP_CWORD == 1)); then\n"
	"\t\tcommand= options='--help --version' values='";

static const char bash_between[] = "'\n"
				   "\tfi\n"
				   "\tcase $command in\n";

static const char bash_values_head[] = "\tesac\n"
				       "\t# the option before takes a value\n"
				       "\tcase \"$command $before\" in\n";

static const char bash_tail[] =
	"\t*) [[ $word != -* ]] || values=$options ;;\n"
	"\tesac\n"
	"\tcase $values in\n"
	"\t@file) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n"
	"\t@dir) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$word\") ;;\n"
	"\t@none) ;;\n"
	"\t*) mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$word\") ;;\n"
	"\tesac\n"
	"}\n"
	"complete -F _punctual punctual\n";

static void bash_script(struct sink *sink)
{
	sink_text(sink, bash_head);
	command_words(sink);
	sink_text(sink, bash_between);
	for (int i = 0; commands[i]; i++)
		bash_command(commands[i], sink);
	sink_text(sink, bash_values_head);
	for (int i = 0; commands[i]; i++) {
		for (const struct option *o = commands[i]->options; !option_is_end(o); o++) {
			/* where the value may be left out, the next word need not be one */
			if (o->argument && !o->optional_argument && !o->hidden)
				bash_option(commands[i], o, sink);
		}
	}
	sink_text(sink, bash_tail);
}

/* TEXT inside a single-quoted zsh specification, where brackets and colons have a meaning. */
static void zsh_text(const char *text, struct sink *sink)
{
	for (; *text; text++) {
		if (*text == '\'')
			sink_text(sink, "'\\''");
		else if (strchr("[]:\\", *text))
			sink_printf(sink, "\\%c", *text);
		else
			sink_write(sink, text, 1);
	}
}

static void zsh_values(const char *name, const char *const *choices, struct sink *sink)
{
	const struct completes *known = name ? find_completes(name) : NULL;

	if (!choices && known) {
		sink_text(sink, known->zsh);
	} else if (!choices && !name) {
		sink_text(sink, " "); /* an empty action: a message, and nothing offered */
	} else {
		sink_text(sink, "(");
		bash_values(name, choices, sink);
		sink_text(sink, ")");
	}
}

/* One specification of _arguments: '(-D --duration)--duration=[help]:TIME: '. */
static void zsh_spec(const struct option *option, bool by_letter, struct sink *sink)
{
	sink_text(sink, "\t\t\t'");
	if (option->letter && option->name)
		sink_printf(sink, "(-%c --%s)", option->letter, option->name);
	if (by_letter)
		sink_printf(sink, "-%c%s", option->letter, option->argument ? "+" : "");
	else
		sink_printf(sink, "--%s%s", option->name, option->argument ? "=" : "");
	if (option->argument && option->optional_argument)
		sink_text(sink, "-");
	sink_text(sink, "[");
	zsh_text(option->help, sink);
	sink_text(sink, "]");
	if (option->argument) {
		sink_text(sink, option->optional_argument ? "::" : ":");
		zsh_text(option->argument, sink);
		sink_text(sink, ":");
		zsh_values(option->completes, option->choices, sink);
	}
	sink_text(sink, "' \\\n");
}

static void zsh_command(const struct command *command, struct sink *sink)
{
	sink_printf(sink, "\t\t%s)\n\t\t\t_arguments -s \\\n", command->name);
	for (const struct option *o = command->options; !option_is_end(o); o++) {
		if (o->hidden)
			continue;
		if (o->letter)
			zsh_spec(o, true, sink);
		if (o->name)
			zsh_spec(o, false, sink);
	}
	if (command->arguments) {
		sink_text(sink, "\t\t\t'*:");
		zsh_text(command->arguments, sink);
		sink_text(sink, ":");
		zsh_values(command->completes, NULL, sink);
		sink_text(sink, "'");
	} else {
		sink_text(sink, "\t\t\t&& return 0");
	}
	sink_text(sink, "\n\t\t\t;;\n");
}

static const char zsh_head[] =
	"#compdef punctual\n"
	"# zsh completion for punctual " PUNCTUAL_VERSION "; written by: punctual completion zsh\n"
	"_punctual()\n"
	"{\n"
	"\tlocal context state state_descr line\n"
	"\tlocal -a names\n"
	"\ttypeset -A opt_args\n"
	"\n"
	"\t_arguments -C '--help[list the commands]' '--version[show the version]' \\\n"
	"\t\t'1:command:->command' '*::argument:->arguments'\n"
	"\tcase $state in\n"
	"\tcommand)\n"
	"\t\tnames=(\n";

static const char zsh_between[] = "\t\t)\n"
				  "\t\t_describe command names\n"
				  "\t\t;;\n"
				  "\targuments)\n"
				  "\t\tcase $line[1] in\n";

static const char zsh_tail[] = "\t\tesac\n"
			       "\t\t;;\n"
			       "\tesac\n"
			       "}\n"
			       "# loaded by compinit, or sourced\n"
			       "if [[ $funcstack[1] == _punctual ]]; then\n"
			       "\t_punctual \"$@\"\n"
			       "else\n"
			       "\tcompdef _punctual punctual\n"
			       "fi\n";

static void zsh_script(struct sink *sink)
{
	sink_text(sink, zsh_head);
	for (int i = 0; commands[i]; i++) {
		sink_printf(sink, "\t\t\t'%s:", commands[i]->name);
		zsh_text(commands[i]->summary, sink);
		sink_text(sink, "'\n");
	}
	sink_text(sink, zsh_between);
	for (int i = 0; commands[i]; i++)
		zsh_command(commands[i], sink);
	sink_text(sink, zsh_tail);
}

static int write_completion(const char *shell, const char *path, struct fail *fail)
{
	struct output out;
	int err;

	if (strcmp(shell, "bash") != 0 && strcmp(shell, "zsh") != 0)
		return fail_set(fail, EINVAL, "no completion for '%.80s': bash or zsh", shell);
	err = output_open(&out, path, fail);
	if (err)
		return err;
	if (!strcmp(shell, "bash"))
		bash_script(&out.sink);
	else
		zsh_script(&out.sink);
	return output_close(&out, fail);
}

static int completion_run(int argc, char **argv)
{
	struct completion_options options = { 0 };
	struct fail fail = { "" };
	int count, status, err;

	status = command_options(&command_completion, argc, argv, &options, &options.help, &count);
	if (status >= 0)
		return status;
	err = write_completion(argv[0], options.output, &fail);
	return err ? command_fail(&command_completion, err, &fail) : STATUS_OK;
}

const struct command command_completion = {
	.name = "completion",
	.summary = "write a completion script for bash or zsh",
	.arguments = "bash|zsh",
	.about = "The script completes commands, options, and the values options take. It comes\n"
		 "from the tables that options are parsed by, so it always fits the program that\n"
		 "wrote it.",
	.examples = completion_examples,
	.options = completion_table,
	.arguments_min = 1,
	.arguments_max = 1,
	.completes = "bash zsh",
	.run = completion_run,
};

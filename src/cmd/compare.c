// SPDX-License-Identifier: GPL-2.0-or-later
/* punctual compare: two stored sessions side by side. */
#include "format/compare.h"
#include "cmd/command.h"
#include "result/session.h"
#include "store/store.h"
#include "sys/output.h"

extern const struct command command_compare;

struct compare_options {
	const char *output, *store;
	bool json, help;
};

static const struct option options_table[] = {
	OPTION_JSON_ROW(struct compare_options, "punctual/compare/1"),
	OPTION_OUTPUT_ROW(struct compare_options),
	OPTION_STORE_ROW(struct compare_options),
	OPTION_HELP_ROW(struct compare_options),
	OPTIONS_END,
};

static const char *const examples[] = {
	"punctual compare last~1 last",
	"what the last session has changed against the one before it",
	"punctual compare 1a2b3c4d 5e6f7a8b --json",
	"two sessions by their ids, for a script",
	NULL,
};

static int load_both(const struct compare_options *options, char **ids, struct session **sessions,
		     struct fail *fail)
{
	struct store *store;
	int err = store_open(&store, options->store, STORE_READ, fail);

	if (err)
		return err;
	for (int i = 0; !err && i < 2; i++)
		err = store_load(store, ids[i], &sessions[i], fail);
	store_close(store);
	return err;
}

static int compare(const struct compare_options *options, char **ids, struct fail *fail)
{
	struct session *sessions[2] = { NULL, NULL };
	struct output out;
	int err = load_both(options, ids, sessions, fail);

	if (!err)
		err = output_open(&out, options->output, fail);
	if (!err) {
		if (options->json)
			compare_json(sessions[0], sessions[1], &out.sink);
		else
			compare_text(sessions[0], sessions[1], &out.sink);
		err = output_close(&out, fail);
	}
	session_free(sessions[0]);
	session_free(sessions[1]);
	return err;
}

static int run(int argc, char **argv)
{
	struct compare_options options = { 0 };
	struct fail fail = { "" };
	int arguments, err;
	int status =
		command_options(&command_compare, argc, argv, &options, &options.help, &arguments);

	if (status >= 0)
		return status;
	err = compare(&options, argv, &fail);
	return err ? command_fail(&command_compare, err, &fail) : STATUS_OK;
}

const struct command command_compare = {
	.name = "compare",
	.summary = "lay two stored sessions side by side",
	.arguments = "A B",
	.about = "Shows the figures of both with their difference (B minus A), then the settings\n"
		 "and the surroundings that differ. A and B are beginnings of ids, last, or\n"
		 "last~N. Where source, interval or policy differ the figures do not answer the\n"
		 "same question: then this is said, and no differences are formed.\n\n"
		 "Exit status: 0 compared, 2 wrong usage, no such session or several of them,\n"
		 "3 not permitted, 4 input/output error, 5 nothing is stored yet.",
	.examples = examples,
	.options = options_table,
	.arguments_min = 2,
	.arguments_max = 2,
	.completes = "session",
	.run = run,
};

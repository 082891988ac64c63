// SPDX-License-Identifier: GPL-2.0-or-later
/* punctual show: a stored session, as measure shows it. */
#include "base/sink.h"
#include "cmd/command.h"
#include "cmd/session_output.h"
#include "result/session.h"
#include "store/store.h"

#include <string.h>

extern const struct command command_show;

struct show_options {
	const char *hdr, *output, *store;
	bool json, help;
};

static const struct option options_table[] = {
	OPTION_JSON_ROW(struct show_options, "punctual/session/1"),
	OPTION_OUTPUT_ROW(struct show_options),
	{ .name = "hdr",
	  .kind = OPTION_TEXT,
	  .argument = "FILE",
	  .group = "Output",
	  .help = "also write an HdrHistogram interval log there",
	  .offset = offsetof(struct show_options, hdr),
	  .completes = "file" },
	OPTION_STORE_ROW(struct show_options),
	OPTION_HELP_ROW(struct show_options),
	OPTIONS_END,
};

static const char *const examples[] = {
	"punctual show",
	"the last session",
	"punctual show last~1 --json",
	"the one before it, as a document",
	"punctual show 1a2b3c4d --hdr run.hlog",
	"the one whose id begins so, and its histograms for HdrHistogram's tools",
	NULL,
};

static int show(const struct show_options *options, const char *id, struct fail *fail)
{
	struct session *session;
	struct store *store;
	int err = store_open(&store, options->store, STORE_READ, fail);

	if (err)
		return err;
	err = store_load(store, id, &session, fail);
	store_close(store);
	if (err)
		return err;
	err = session_output_write(
		&(struct session_output){ options->json, options->output, options->hdr }, session,
		fail);
	session_free(session);
	return err;
}

static int run(int argc, char **argv)
{
	struct show_options options = { 0 };
	struct fail fail = { "" };
	int arguments, err;
	int status =
		command_options(&command_show, argc, argv, &options, &options.help, &arguments);

	if (status >= 0)
		return status;
	err = show(&options, arguments ? argv[0] : "last", &fail);
	return err ? command_fail(&command_show, err, &fail) : STATUS_OK;
}

const struct command command_show = {
	.name = "show",
	.summary = "show a stored session as measure did",
	.arguments = "[ID]",
	.about =
		"ID is the beginning of a session's id (at least 4 digits), or last, or last~N\n"
		"for the Nth before it; without one it is last. A session that was cut off before\n"
		"its end shows what had been written of it.\n\n"
		"Exit status: 0 shown, whatever its verdict; 2 wrong usage, no such session or\n"
		"several of them; 3 not permitted, 4 input/output error, 5 nothing is stored yet.",
	.examples = examples,
	.options = options_table,
	.arguments_max = 1,
	.completes = "session",
	.run = run,
};

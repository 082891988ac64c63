// SPDX-License-Identifier: GPL-2.0-or-later
/* punctual history: the sessions in the store. */
#include "format/history.h"
#include "cmd/command.h"
#include "store/store.h"
#include "sys/output.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

extern const struct command command_history;

struct history_options {
	int64_t limit;
	const char *output, *store;
	bool json, help;
};

static const struct option options_table[] = {
	{ .name = "limit",
	  .kind = OPTION_NUMBER,
	  .argument = "N",
	  .group = "What is shown",
	  .help = "at most as many, the newest; 0: all",
	  .preset = "20",
	  .low = 0,
	  .high = 1000000,
	  .offset = offsetof(struct history_options, limit) },
	OPTION_JSON_ROW(struct history_options, "punctual/history/1"),
	OPTION_OUTPUT_ROW(struct history_options),
	OPTION_STORE_ROW(struct history_options),
	OPTION_HELP_ROW(struct history_options),
	OPTIONS_END,
};

static const char *const examples[] = {
	"punctual history",
	"the last 20 sessions, newest first",
	"punctual history --limit 0 --json",
	"all of them, for a script",
	NULL,
};

static int write_list(const struct history_options *options, const char *path,
		      const struct session_entry *entries, size_t count, struct fail *fail)
{
	struct output out;
	int err = output_open(&out, options->output, fail);

	if (err)
		return err;
	if (options->json)
		history_json(path, entries, count, &out.sink);
	else
		history_text(entries, count, &out.sink);
	return output_close(&out, fail);
}

static int show_list(const struct history_options *options, struct store *store, struct fail *fail)
{
	struct session_entry *entries;
	size_t count;
	int err = store_list(store, (size_t)options->limit, &entries, &count, fail);

	if (err)
		return err;
	if (count)
		err = write_list(options, store_path(store), entries, count, fail);
	else
		err = fail_set(fail, ENODATA, "no sessions yet in %s; run punctual measure first",
			       store_path(store));
	free(entries);
	return err;
}

static int run(int argc, char **argv)
{
	struct history_options options = { .limit = 20 };
	struct fail fail = { "" };
	struct store *store;
	int arguments, err;
	int status =
		command_options(&command_history, argc, argv, &options, &options.help, &arguments);

	if (status >= 0)
		return status;
	err = store_open(&store, options.store, STORE_READ, &fail);
	if (!err) {
		err = show_list(&options, store, &fail);
		store_close(store);
	}
	return err ? command_fail(&command_history, err, &fail) : STATUS_OK;
}

const struct command command_history = {
	.name = "history",
	.summary = "list the stored sessions, newest first",
	.about = "One line a session: its id as show and compare take it, when it started, how\n"
		 "long it ran, what was measured and what came out, the newest first. A session\n"
		 "that is still running or was cut off before its end is marked open.\n\n"
		 "Exit status: 0 listed, 2 wrong usage or no store of sessions, 3 not permitted,\n"
		 "4 input/output error, 5 nothing is stored yet.",
	.examples = examples,
	.options = options_table,
	.run = run,
};

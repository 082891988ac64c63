// SPDX-License-Identifier: GPL-2.0-or-later
#include "board/topology.h"

#include "cmd/command.h"
#include "format/topology.h"
#include "sys/output.h"
#include "sys/root.h"

#include <stddef.h>

extern const struct command command_topology;

struct topology_options {
	const char *sysroot, *output;
	bool json, verbose, help;
};

static const struct option options[] = {
	OPTION_SYSROOT_ROW(struct topology_options),
	OPTION_JSON_ROW(struct topology_options, "punctual/topology/1"),
	OPTION_OUTPUT_ROW(struct topology_options),
	{ .name = "verbose",
	  .kind = OPTION_FLAG,
	  .group = "Output",
	  .help = "one line a CPU also where many are equal",
	  .offset = offsetof(struct topology_options, verbose) },
	OPTION_HELP_ROW(struct topology_options),
	OPTIONS_END,
};

static const char *const examples[] = {
	"punctual topology",
	"the shape of this machine, and what is odd about it",
	"punctual topology --sysroot board1 --json",
	"the same of a recorded tree (board1/proc, board1/sys), for programs",
	"punctual topology --verbose --output board.txt",
	"one line a CPU, into a file",
	NULL,
};

static int print(const struct topology *topology, const struct topology_options *wanted,
		 struct fail *fail)
{
	struct output out;
	int err = output_open(&out, wanted->output, fail);

	if (err)
		return err;
	if (wanted->json)
		topology_write_json(topology, &out.sink);
	else
		topology_write_text(topology, wanted->verbose ? TOPOLOGY_WHOLE : TOPOLOGY_COMPACT,
				    &out.sink);
	return output_close(&out, fail);
}

static int run(int argc, char **argv)
{
	struct topology_options wanted = { 0 };
	struct topology *topology = NULL;
	struct fail fail = { "" };
	struct root *root = NULL;
	int arguments, err, status;

	status = command_options(&command_topology, argc, argv, &wanted, &wanted.help, &arguments);
	if (status >= 0)
		return status;
	err = root_open(&root, wanted.sysroot, &fail);
	if (!err)
		err = topology_read(root, &topology, &fail);
	if (root && root_error(root, NULL)) /* what was read is not to be believed */
		err = root_error(root, &fail);
	if (!err)
		err = print(topology, &wanted, &fail);
	topology_free(topology);
	root_close(root);
	return err ? command_fail(&command_topology, err, &fail) : STATUS_OK;
}

const struct command command_topology = {
	.name = "topology",
	.summary = "show the board: CPUs, caches, frequencies, idle states",
	.about = "Reads the board's files and nothing else; needs no privileges. What the board\n"
		 "does not tell is shown as unknown, and is null in JSON. It ends with what is\n"
		 "odd: things that surprise people who measure or tune latency.",
	.examples = examples,
	.options = options,
	.arguments_max = 0,
	.run = run,
};

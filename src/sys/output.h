/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where results go: stdout, or a file that appears whole or not at all (written under a temporary
 * name beside it, then renamed, with the mode and owner of what was there; what a link or a device
 * leads to is written directly). Buffered; an error sticks in the sink and is told at the end.
 */
#pragma once

#include "base/sink.h"

#include <sys/types.h>

struct fail;

/* First thing in main: takes those of descriptors 0 to 2 that are closed, so that no file we open
 * is mistaken for stdout; in the wrong direction, so that using a closed one is an error as before.
 */
void output_occupy_standard_streams(void);

struct output {
	struct sink sink;
	int fd;
	const char *path; /* NULL: stdout */
	char *temporary;
	mode_t mode; /* of the file in place */
	size_t used;
	char buffer[8192];
};

/* PATH NULL: stdout. PATH must outlive the output. Negative errno with the sentence. */
int output_open(struct output *out, const char *path, struct fail *fail);
/* Whether output_open of PATH would do, without leaving or changing anything. */
int output_check(const char *path, struct fail *fail);
/* Writes what is left and puts the file in place; on any error removes it. -EPIPE where the reader
 * of stdout went away. */
int output_close(struct output *out, struct fail *fail);
/* Gives up: the file's former contents stay. */
void output_abandon(struct output *out);
/* Pushes buffered text out now (for text that somebody watches). */
void output_flush(struct output *out);

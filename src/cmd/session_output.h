/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a session goes once it is there: measure and show write alike. */
#pragma once

#include <stdbool.h>

struct fail;
struct session;

struct session_output {
	bool json;          /* a document instead of text */
	const char *output; /* NULL: stdout */
	const char *hdr;    /* an HdrHistogram log beside it; NULL: none */
};

/* Whether both files could be written, without leaving anything: asked before a long run. */
int session_output_check(const struct session_output *where, struct fail *fail);
int session_output_write(const struct session_output *where, const struct session *session,
			 struct fail *fail);

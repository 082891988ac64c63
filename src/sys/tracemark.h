/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's trace, marked and stopped from user space: what is in its ring buffer then is how it
 * came to this (Documentation/trace/ftrace.rst, trace_marker and tracing_on). */
#pragma once

#include <stddef.h>

struct fail;

struct tracemark {
	int marker, on; /* -1: not open */
};

/* -ENOENT where no tracefs is mounted, -EACCES …, with the sentence. */
int tracemark_open(struct tracemark *mark, struct fail *fail);
/* Writes TEXT into the trace and stops it: two system calls, nothing else. */
void tracemark_stop(const struct tracemark *mark, const char *text, size_t size);
void tracemark_close(struct tracemark *mark);

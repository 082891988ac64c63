/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where text goes: formats write to a sink and never know whether it is a file, a terminal or
 * memory. The first error sticks and later writes do nothing, so callers check once, at the end.
 */
#pragma once

#include <stddef.h>

struct sink {
	/* Takes all SIZE bytes or returns a negative errno. */
	int (*write)(struct sink *sink, const char *data, size_t size);
	int error; /* 0, or the first negative errno */
};

void sink_write(struct sink *sink, const char *data, size_t size);
void sink_text(struct sink *sink, const char *text);
__attribute__((format(printf, 2, 3))) void sink_printf(struct sink *sink, const char *format, ...);
/* COUNT copies of C. */
void sink_fill(struct sink *sink, char c, size_t count);

/* A sink into memory that grows: start from STRBUF_INIT, read .text (always NUL-terminated once
 * written to, else NULL) and .length, end with strbuf_free. */
struct strbuf {
	struct sink sink;
	char *text;
	size_t length, capacity;
};

int strbuf_write(struct sink *sink, const char *data, size_t size);
#define STRBUF_INIT                                \
	{                                          \
		.sink = { .write = strbuf_write }, \
	}
void strbuf_free(struct strbuf *buf);

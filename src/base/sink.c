// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/sink.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sink_write(struct sink *sink, const char *data, size_t size)
{
	if (!sink->error && size)
		sink->error = sink->write(sink, data, size);
}

void sink_text(struct sink *sink, const char *text)
{
	sink_write(sink, text, strlen(text));
}

void sink_printf(struct sink *sink, const char *format, ...)
{
	char line[512], *text = line;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (length >= (int)sizeof(line)) {
		text = malloc((size_t)length + 1);
		if (!text) {
			sink->error = sink->error ? sink->error : -ENOMEM;
			return;
		}
		va_start(args, format);
		vsnprintf(text, (size_t)length + 1, format, args);
		va_end(args);
	}
	if (length > 0)
		sink_write(sink, text, (size_t)length);
	if (text != line)
		free(text);
}

void sink_fill(struct sink *sink, char c, size_t count)
{
	char block[64];

	memset(block, c, sizeof(block));
	while (count) {
		size_t part = count < sizeof(block) ? count : sizeof(block);

		sink_write(sink, block, part);
		count -= part;
	}
}

int strbuf_write(struct sink *sink, const char *data, size_t size)
{
	struct strbuf *buf = (struct strbuf *)(void *)sink;

	if (size >= SIZE_MAX / 2 - buf->length)
		return -ENOMEM;
	if (buf->length + size + 1 > buf->capacity) {
		size_t capacity = (buf->length + size + 1) * 2;
		char *text = realloc(buf->text, capacity);

		if (!text)
			return -ENOMEM;
		buf->text = text;
		buf->capacity = capacity;
	}
	memcpy(buf->text + buf->length, data, size);
	buf->length += size;
	buf->text[buf->length] = '\0';
	return 0;
}

void strbuf_free(struct strbuf *buf)
{
	if (!buf)
		return;
	free(buf->text);
	*buf = (struct strbuf)STRBUF_INIT;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/progress.h"

#include "base/sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char erase[] = "\r\033[K";

void progress_draw(const struct progress_line *line, unsigned columns, struct sink *sink)
{
	char text[160], whole[32] = "", worst[64] = "";

	if (line->duration_ns)
		snprintf(whole, sizeof(whole), " of %.0f", (double)line->duration_ns / 1e9);
	if (line->max_ns >= 0)
		snprintf(worst, sizeof(worst), ", max %.1f us on CPU %d",
			 (double)line->max_ns / 1e3, line->max_cpu);
	snprintf(text, sizeof(text), "%.0f%s s", (double)line->elapsed_ns / 1e9, whole);
	if (line->samples) { /* known once a window is over */
		size_t used = strlen(text);

		snprintf(text + used, sizeof(text) - used,
			 ": %" PRIu64 " samples%s, %" PRIu64 " missed", line->samples, worst,
			 line->missed);
	}
	sink_text(sink, erase);
	/* plain ASCII: bytes are columns */
	sink_printf(sink, "%.*s", columns > 1 ? (int)columns - 1 : 0, text);
}

void progress_clear(struct sink *sink)
{
	sink_text(sink, erase);
}

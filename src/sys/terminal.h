/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the streams are. */
#pragma once

#include <stdbool.h>

/* Whether progress may be drawn on stderr: it is a terminal, and NO_COLOR or TERM=dumb do not say
 * that escape sequences are unwelcome. */
bool terminal_progress(void);
/* Whether stdout is a terminal that takes colour (NO_COLOR unset, TERM not dumb). */
bool terminal_colour(void);
/* Columns of the terminal on stderr, 80 where unknown. */
unsigned terminal_columns(void);

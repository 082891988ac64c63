// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool takes_escapes(int fd)
{
	const char *plain = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fd) && !(plain && *plain) && term && strcmp(term, "dumb") != 0;
}

bool terminal_progress(void)
{
	return takes_escapes(STDERR_FILENO);
}

bool terminal_colour(void)
{
	return takes_escapes(STDOUT_FILENO);
}

unsigned terminal_columns(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return 80;
	return size.ws_col;
}

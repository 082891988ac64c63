/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A named pipe at which whoever opens it gets one text and the end of file. */
#pragma once

#include <stddef.h>

struct fail;

/* Makes the pipe; one that is there already is replaced, anything else is -EEXIST. */
int fifo_make(const char *path, struct fail *fail);
/* A descriptor to write to the reader that waits now, or -ENXIO: there is none. Never blocks; the
 * caller writes and closes. */
int fifo_reader(const char *path);
/* Gives TEXT to the reader behind FD, as much as it takes at once, and closes FD. */
void fifo_give(int fd, const char *text, size_t size);
void fifo_remove(const char *path);

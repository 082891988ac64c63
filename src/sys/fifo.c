// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/fifo.h"

#include "base/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Removes PATH if it is a pipe; -EEXIST where something else stands there. */
static int remove_pipe(const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISFIFO(st.st_mode))
		return -EEXIST;
	return unlink(path) ? -errno : 0;
}

int fifo_make(const char *path, struct fail *fail)
{
	int err = remove_pipe(path);

	if (err == -EEXIST)
		return fail_set(fail, EEXIST, "%s is there already and is no named pipe", path);
	if (!err && mkfifo(path, 0666))
		err = -errno;
	return err ? fail_set(fail, -err, "cannot make the named pipe %s: %s", path, strerror(-err))
		   : 0;
}

int fifo_reader(const char *path)
{
	int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);

	return fd < 0 ? -errno : fd;
}

void fifo_give(int fd, const char *text, size_t size)
{
	while (size) {
		ssize_t done = write(fd, text, size);

		if (done < 0)
			break; /* the reader left, or reads too slowly for a pipe's 64 KiB */
		text += done;
		size -= (size_t)done;
	}
	close(fd);
}

void fifo_remove(const char *path)
{
	(void)remove_pipe(path);
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/output.h"

#include "base/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static mode_t current_umask(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return mask;
}

/* Waits until a descriptor that somebody set to non-blocking takes more. */
static void wait_writable(int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLOUT };

	poll(&ready, 1, -1);
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t done = write(fd, data, size);

		if (done < 0) {
			if (errno == EAGAIN)
				wait_writable(fd);
			else if (errno != EINTR)
				return -errno;
			continue;
		}
		data += done;
		size -= (size_t)done;
	}
	return 0;
}

void output_flush(struct output *out)
{
	if (!out->sink.error)
		out->sink.error = write_all(out->fd, out->buffer, out->used);
	out->used = 0;
}

static int output_write(struct sink *sink, const char *data, size_t size)
{
	struct output *out = (struct output *)(void *)sink;

	if (out->used + size > sizeof(out->buffer))
		output_flush(out);
	if (out->sink.error)
		return out->sink.error;
	if (size > sizeof(out->buffer))
		return write_all(out->fd, data, size);
	memcpy(out->buffer + out->used, data, size);
	out->used += size;
	return 0;
}

/* A device, pipe or socket is written to directly, there being nothing to rename; so is what a link
 * leads to (/dev/stdout, or a file elsewhere), which a rename would replace. */
static bool is_direct(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && !S_ISREG(st.st_mode);
}

/* A file with a name of its own beside PATH, with the mode and owner of what it will replace. */
static int open_temporary(struct output *out, const char *path)
{
	struct stat st;

	if (asprintf(&out->temporary, "%s.XXXXXX", path) < 0) {
		out->temporary = NULL;
		errno = ENOMEM;
		return -1;
	}
	out->fd = mkostemp(out->temporary, O_CLOEXEC);
	if (out->fd < 0)
		return -1;
	out->mode = 0666 & ~current_umask();
	if (!stat(path, &st)) {
		/* without the right to give it away, at least nobody else may read more than before
		 */
		out->mode = fchown(out->fd, st.st_uid, st.st_gid) ? st.st_mode & 0700
								  : st.st_mode & 0777;
	}
	return out->fd;
}

int output_open(struct output *out, const char *path, struct fail *fail)
{
	*out = (struct output){ .sink = { .write = output_write },
				.fd = STDOUT_FILENO,
				.path = path };
	if (!path)
		return 0;
	if (!*path)
		return fail_set(fail, EINVAL, "the name of an output file is empty");
	if (is_direct(path))
		out->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
	else
		open_temporary(out, path);
	if (out->fd < 0) {
		int err = fail_set(fail, errno, "cannot write %s: %s", path, strerror(errno));

		free(out->temporary);
		out->temporary = NULL;
		return err == -EINVAL ? -EIO : err;
	}
	return 0;
}

static int put_in_place(struct output *out)
{
	int err = 0;

	if (fchmod(out->fd, out->mode) || fsync(out->fd))
		err = -errno;
	if (close(out->fd) && !err)
		err = -errno;
	if (!err && rename(out->temporary, out->path))
		err = -errno;
	if (err)
		unlink(out->temporary);
	free(out->temporary);
	out->temporary = NULL;
	return err;
}

int output_close(struct output *out, struct fail *fail)
{
	int err;

	output_flush(out);
	err = out->sink.error;
	if (!out->path) {
		if (err)
			return fail_set(fail, -err, "cannot write to standard output: %s",
					strerror(-err));
		return 0;
	}
	if (err)
		output_abandon(out);
	else if (out->temporary)
		err = put_in_place(out);
	else if (close(out->fd))
		err = -errno;
	if (err)
		return fail_set(fail, -err, "cannot write %s: %s", out->path, strerror(-err));
	return 0;
}

void output_abandon(struct output *out)
{
	if (!out->path)
		return;
	close(out->fd);
	if (out->temporary) {
		unlink(out->temporary);
		free(out->temporary);
		out->temporary = NULL;
	}
}

int output_check(const char *path, struct fail *fail)
{
	struct output out;
	int err;

	if (*path && is_direct(path)) {
		int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

		/* no reader yet, or a link to what is not there yet: the open that counts will tell
		 */
		if (fd < 0 && errno != ENXIO && errno != ENOENT)
			return fail_set(fail, errno, "cannot write %s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return 0;
	}
	err = output_open(&out, path, fail);
	if (!err)
		output_abandon(&out);
	return err;
}

void output_occupy_standard_streams(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
	}
}

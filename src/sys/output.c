// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/output.h"

#include "base/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t done = write(fd, data, size);

		if (done < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
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

/* A device, pipe or socket is written to directly: there is nothing to rename. */
static bool is_special(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

int output_open(struct output *out, const char *path, struct fail *fail)
{
	*out = (struct output){ .sink = { .write = output_write },
				.fd = STDOUT_FILENO,
				.path = path };
	if (!path)
		return 0;
	if (is_special(path)) {
		out->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	} else {
		if (asprintf(&out->temporary, "%s.XXXXXX", path) < 0) {
			out->temporary = NULL;
			return fail_set(fail, ENOMEM, "out of memory");
		}
		out->fd = mkostemp(out->temporary, O_CLOEXEC);
	}
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
	mode_t mask = umask(0);
	int err = 0;

	umask(mask);
	if (fchmod(out->fd, 0666 & ~mask) || fsync(out->fd))
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

// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/tracemark.h"

#include "base/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int open_in(const char *directory, struct tracemark *mark)
{
	int dir = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC), err = 0;

	if (dir < 0)
		return -errno;
	mark->marker = openat(dir, "trace_marker", O_WRONLY | O_CLOEXEC);
	if (mark->marker < 0)
		err = -errno;
	mark->on = err ? -1 : openat(dir, "tracing_on", O_WRONLY | O_CLOEXEC);
	if (!err && mark->on < 0)
		err = -errno;
	close(dir);
	if (err)
		tracemark_close(mark);
	return err;
}

int tracemark_open(struct tracemark *mark, struct fail *fail)
{
	/* tracefs' own place, and where it stood before Linux 4.1 */
	static const char *const directories[] = { "/sys/kernel/tracing",
						   "/sys/kernel/debug/tracing" };
	int err = 0;

	*mark = (struct tracemark){ -1, -1 };
	for (size_t i = 0; i < 2; i++) {
		int failed = open_in(directories[i], mark);

		if (!failed)
			return 0;
		/* a refusal says more than a place that does not exist */
		if (!err || err == -ENOENT)
			err = failed;
	}
	if (err == -ENOENT)
		return fail_set(fail, EOPNOTSUPP,
				"no trace to mark: tracefs is not mounted (mount -t tracefs "
				"tracefs /sys/kernel/tracing) or not in this kernel");
	return fail_set(fail, -err, "cannot write to %s/trace_marker: %s", directories[0],
			strerror(-err));
}

void tracemark_stop(const struct tracemark *mark, const char *text, size_t size)
{
	/* nothing can be done about a failure here, in the middle of a measurement */
	if (mark->marker >= 0 && write(mark->marker, text, size) < 0)
		return;
	if (mark->on >= 0 && write(mark->on, "0\n", 2) < 0)
		return;
}

void tracemark_close(struct tracemark *mark)
{
	if (mark->marker >= 0)
		close(mark->marker);
	if (mark->on >= 0)
		close(mark->on);
	*mark = (struct tracemark){ -1, -1 };
}

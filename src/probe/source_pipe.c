// SPDX-License-Identifier: GPL-2.0-or-later
/* A hand-off by pipe. */
#include "probe/source.h"

#include "base/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int pipe_open(struct link *link, struct fail *fail)
{
	if (pipe2(link->fds, O_CLOEXEC))
		return fail_set(fail, errno, "cannot make a pipe: %s", strerror(errno));
	return 0;
}

static int64_t pipe_wait(struct link *link, int64_t until)
{
	char byte;

	(void)until;
	if (read(link->fds[0], &byte, 1) != 1)
		return errno ? -errno : -EIO;
	return link_sent(link);
}

static void pipe_wake(struct link *link)
{
	/* never more than one byte is under way: the write can't block or fail */
	if (write(link->fds[1], "", 1) < 0)
		return;
}

static void pipe_close(struct link *link)
{
	for (int i = 0; i < 2; i++) {
		if (link->fds[i] >= 0)
			close(link->fds[i]);
		link->fds[i] = -1;
	}
}

const struct wakeup_source wakeup_source_pipe = {
	.name = "pipe",
	.handoff = true,
	.open = pipe_open,
	.wait = pipe_wait,
	.wake = pipe_wake,
	.close = pipe_close,
};

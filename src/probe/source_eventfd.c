// SPDX-License-Identifier: GPL-2.0-or-later
/* A hand-off by eventfd. */
#include "probe/source.h"

#include "base/fail.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int eventfd_open(struct link *link, struct fail *fail)
{
	link->fds[0] = eventfd(0, EFD_CLOEXEC);
	if (link->fds[0] < 0)
		return fail_set(fail, errno, "cannot make an eventfd: %s", strerror(errno));
	return 0;
}

static int64_t eventfd_wait(struct link *link, int64_t until)
{
	uint64_t value;

	(void)until;
	if (read(link->fds[0], &value, sizeof(value)) != sizeof(value))
		return errno ? -errno : -EIO;
	return link_sent(link);
}

static void eventfd_wake(struct link *link)
{
	uint64_t one = 1;

	/* a counter that never exceeds 1: the write can't block or fail */
	if (write(link->fds[0], &one, sizeof(one)) < 0)
		return;
}

static void eventfd_close(struct link *link)
{
	if (link->fds[0] >= 0)
		close(link->fds[0]);
	link->fds[0] = -1;
}

const struct wakeup_source wakeup_source_eventfd = {
	.name = "eventfd",
	.handoff = true,
	.open = eventfd_open,
	.wait = eventfd_wait,
	.wake = eventfd_wake,
	.close = eventfd_close,
};

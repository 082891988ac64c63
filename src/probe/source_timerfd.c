// SPDX-License-Identifier: GPL-2.0-or-later
/* A timer behind a file descriptor, as event loops use it. On PREEMPT_RT it expires in soft context
 * (ktimers, the lowest RT priority), so its figures are not those of clock_nanosleep. */
#include "probe/source.h"

#include "base/fail.h"

#include <errno.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int timerfd_open(struct link *link, struct fail *fail)
{
	link->fds[0] = timerfd_create(link->clock, TFD_CLOEXEC);
	if (link->fds[0] < 0)
		return fail_set(fail, errno, "cannot make a timerfd: %s", strerror(errno));
	return 0;
}

static int64_t timerfd_wait(struct link *link, int64_t until)
{
	struct itimerspec when = { .it_value = *link_until(link, until) };
	uint64_t expired;

	if (timerfd_settime(link->fds[0], TFD_TIMER_ABSTIME, &when, NULL))
		return -errno;
	if (read(link->fds[0], &expired, sizeof(expired)) != sizeof(expired))
		return errno ? -errno : -EIO;
	return until;
}

static void timerfd_close(struct link *link)
{
	if (link->fds[0] >= 0)
		close(link->fds[0]);
	link->fds[0] = -1;
}

const struct wakeup_source wakeup_source_timerfd = {
	.name = "timerfd",
	.open = timerfd_open,
	.wait = timerfd_wait,
	.close = timerfd_close,
};

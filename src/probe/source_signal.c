// SPDX-License-Identifier: GPL-2.0-or-later
/* A POSIX timer that sends this thread a signal it waits for (timer_create with SIGEV_THREAD_ID).
 */
#include "probe/source.h"

#include "base/fail.h"
#include "sys/sched.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define TICK_SIGNAL SIGRTMIN

static int signal_open(struct link *link, struct fail *fail)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = TICK_SIGNAL,
	};

	event.sigev_notify_thread_id = sched_tid();
	if (timer_create(link->clock, &event, &link->timer))
		return fail_set(fail, errno, "cannot make a POSIX timer: %s", strerror(errno));
	link->timer_made = true;
	return 0;
}

static int64_t signal_wait(struct link *link, int64_t until)
{
	struct itimerspec when = { .it_value = *link_until(link, until) };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, TICK_SIGNAL);
	if (timer_settime(link->timer, TIMER_ABSTIME, &when, NULL))
		return -errno;
	if (sigwaitinfo(&set, NULL) < 0)
		return -errno;
	return until;
}

static void signal_close(struct link *link)
{
	if (link->timer_made)
		timer_delete(link->timer);
	link->timer_made = false;
}

const struct wakeup_source wakeup_source_signal = {
	.name = "signal",
	.open = signal_open,
	.wait = signal_wait,
	.close = signal_close,
};

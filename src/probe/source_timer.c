// SPDX-License-Identifier: GPL-2.0-or-later
/* clock_nanosleep: what cyclictest does. On PREEMPT_RT the timer of an RT task's sleep expires in
 * hard interrupt context (kernel/time/hrtimer.c, hrtimer_init_sleeper). */
#include "probe/source.h"

#include "sys/clock.h"

static int64_t timer_wait(struct link *link, int64_t until)
{
	int64_t err = clock_sleep(link->clock, link_until(link, until));

	return err ? err : until;
}

const struct wakeup_source wakeup_source_timer = {
	.name = "timer",
	.wait = timer_wait,
};

static int64_t relative_wait(struct link *link, int64_t until)
{
	int64_t start = clock_read(link->clock);
	struct timespec ts = clock_to(link->interval_ns);
	int err = clock_nanosleep(link->clock, 0, &ts, NULL);

	(void)until;
	return err ? -err : start + link->interval_ns;
}

const struct wakeup_source wakeup_source_relative = {
	.name = "relative",
	.wait = relative_wait,
};

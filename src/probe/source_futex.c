// SPDX-License-Identifier: GPL-2.0-or-later
/* A hand-off by futex: what mutexes, condition variables and semaphores come down to. */
#include "probe/source.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static int64_t futex_wait(struct link *link, int64_t until)
{
	(void)until;
	while (!atomic_exchange_explicit(&link->word, 0, memory_order_acquire)) {
		if (syscall(SYS_futex, &link->word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0) < 0 &&
		    errno != EAGAIN)
			return -errno;
	}
	return link_sent(link);
}

static void futex_wake(struct link *link)
{
	atomic_store_explicit(&link->word, 1, memory_order_release);
	syscall(SYS_futex, &link->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

const struct wakeup_source wakeup_source_futex = {
	.name = "futex",
	.handoff = true,
	.wait = futex_wait,
	.wake = futex_wake,
};

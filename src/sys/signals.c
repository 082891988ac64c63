// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/signals.h"

#include "sys/clock.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

static volatile sig_atomic_t stop, status_wanted;
static _Atomic int64_t continued;

/* A person presses Ctrl-C again when nothing seems to happen: results must survive that, but a
 * program that hangs must not. */
#define STOPS_BEFORE_DEATH 4

static void on_stop(int number)
{
	if (++stop >= STOPS_BEFORE_DEATH) {
		signal(number, SIG_DFL);
		raise(number);
	}
}

static void on_status(int number)
{
	(void)number;
	status_wanted = 1;
}

static void on_continue(int number)
{
	(void)number;
	atomic_store(&continued, clock_now());
}

/* One that the caller ignores (nohup, a shell's background job) stays ignored. */
static void catch_stop(int number)
{
	struct sigaction action = { .sa_handler = on_stop };
	struct sigaction before;

	if (!sigaction(number, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(number, &action, NULL);
}

void signals_install(void)
{
	struct sigaction go_on = { .sa_handler = on_continue, .sa_flags = SA_RESTART };

	catch_stop(SIGINT);
	catch_stop(SIGTERM);
	catch_stop(SIGHUP);
	sigaction(SIGCONT, &go_on, NULL);
}

void signals_block(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
}

bool signals_stop(void)
{
	return stop > 0;
}

int64_t signals_continued(void)
{
	return atomic_load(&continued);
}

void signals_watch_status(void)
{
	struct sigaction action = { .sa_handler = on_status };

	sigaction(SIGUSR1, &action, NULL);
}

bool signals_take_status(void)
{
	bool wanted = status_wanted;

	status_wanted = 0;
	return wanted;
}

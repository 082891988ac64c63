/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ctrl-C and SIGTERM set one flag; SIGCONT leaves the time of its coming. The program's only
 * mutable globals. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Installs the handlers (SIGINT, SIGTERM, SIGHUP, SIGCONT). Threads made later should block them:
 * see signals_block. The fourth one acts as without a handler;
 * what the caller ignores stays ignored. */
void signals_install(void);
/* Blocks all signals in the calling thread, so that the main thread gets them. */
void signals_block(void);
/* True once a signal asked the program to end. */
bool signals_stop(void);
/* CLOCK_MONOTONIC of the last SIGCONT, 0 if none came. */
int64_t signals_continued(void);
/* From now on SIGUSR1 asks for the status; true once for what was asked since the last call. */
void signals_watch_status(void);
bool signals_take_status(void);

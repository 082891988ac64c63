/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a session's own data say about how far it can be trusted. Pure. */
#pragma once

struct session;

/* Replaces the distortions that the data show: missed periods, time taken by the hypervisor, moves,
 * page faults, gaps, CPUs that ended early. Uses session->all. -ENOMEM. */
int distort_by_data(struct session *session);

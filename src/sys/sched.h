/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scheduling of the calling thread, and where it may run. Negative errno on failure. */
#pragma once

#include "base/cpuset.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum sched_kind { SCHED_KIND_FIFO, SCHED_KIND_RR, SCHED_KIND_DEADLINE, SCHED_KIND_OTHER };

/* FIFO and RR with PRIORITY 1 to 99; OTHER. TID 0: the calling thread. */
int sched_set(pid_t tid, enum sched_kind kind, int priority);
/* SCHED_DEADLINE for the calling thread: RUNTIME in every PERIOD, deadline = period. EPERM where
 * its affinity is smaller than its root domain (sched_setattr(2)); EBUSY where bandwidth is used
 * up. */
int sched_set_deadline(int64_t runtime_ns, int64_t period_ns);

/* CPUs the calling thread may run on; as large as the kernel's mask needs. */
int sched_get_cpus(struct cpuset *set);
int sched_set_cpus(const struct cpuset *set);
/* Locks what is mapped now; EPERM or ENOMEM where RLIMIT_MEMLOCK forbids it. */
int sched_lock_memory(void);
pid_t sched_tid(void);

/* Whether the calling thread's CPU number can be read from its rseq area (rseq(2); glibc ≥ 2.35
 * registers it), and where: a word that the kernel keeps current, read without a system call. */
const volatile uint32_t *sched_cpu_word(void);
/* Whether CPU is on line now, by sysfs; true where that does not tell. */
bool sched_cpu_online(int cpu);

// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/sched.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SCHED_DEADLINE
#define SCHED_DEADLINE 6
#endif

/* struct sched_attr of sched_setattr(2), first version: glibc 2.36 has none, and the kernel's
 * header defines struct sched_param once more. */
struct kernel_sched_attr {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

int sched_set(pid_t tid, enum sched_kind kind, int priority)
{
	static const int policies[] = {
		[SCHED_KIND_FIFO] = SCHED_FIFO,
		[SCHED_KIND_RR] = SCHED_RR,
		[SCHED_KIND_OTHER] = SCHED_OTHER,
	};
	struct sched_param param = { .sched_priority = kind == SCHED_KIND_OTHER ? 0 : priority };

	return sched_setscheduler(tid, policies[kind], &param) ? -errno : 0;
}

int sched_set_deadline(int64_t runtime_ns, int64_t period_ns)
{
	struct kernel_sched_attr attr = {
		.size = sizeof(attr),
		.policy = SCHED_DEADLINE,
		.runtime = (uint64_t)runtime_ns,
		.deadline = (uint64_t)period_ns,
		.period = (uint64_t)period_ns,
	};

	return syscall(SYS_sched_setattr, 0, &attr, 0) ? -errno : 0;
}

/* The system calls take any length of mask, where glibc's cpu_set_t ends at 1,024 CPUs. */
int sched_get_cpus(struct cpuset *set)
{
	struct cpuset got = { 0 };

	if (syscall(SYS_sched_getaffinity, 0, sizeof(got), &got) < 0)
		return -errno;
	*set = got;
	return 0;
}

int sched_set_cpus(const struct cpuset *set)
{
	return syscall(SYS_sched_setaffinity, 0, sizeof(*set), set) < 0 ? -errno : 0;
}

int sched_lock_memory(void)
{
	return mlockall(MCL_CURRENT) ? -errno : 0;
}

pid_t sched_tid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

const volatile uint32_t *sched_cpu_word(void)
{
	const struct rseq *area;

	if (!__rseq_size)
		return NULL;
	area = (const void *)((const char *)__builtin_thread_pointer() + __rseq_offset);
	/* not registered: RSEQ_CPU_ID_UNINITIALIZED -1, RSEQ_CPU_ID_REGISTRATION_FAILED -2 */
	return (int32_t)area->cpu_id < 0 ? NULL : &area->cpu_id;
}

bool sched_cpu_online(int cpu)
{
	char path[64], state = '1';
	int fd;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true;
	if (read(fd, &state, 1) != 1)
		state = '1';
	close(fd);
	return state != '0';
}

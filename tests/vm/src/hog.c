// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Disturbs a board in one known way, for a known time:
 *
 * hog spin PRIORITY BUSY_US PERIOD_US SECONDS: busy at SCHED_FIFO (priority 0: SCHED_OTHER)
 *
 * hog faults MEGABYTES SECONDS [locked]: a FIFO 90 loop that touches memory each millisecond, fresh
 * memory each time or locked memory; prints its figures
 *
 * hog memory MEGABYTES SECONDS: takes and writes memory again and again
 *
 * hog read DEVICE SECONDS: direct reads of 4 KiB, one after the other
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_US       1000
#define NS_PER_S        1000000000LL
#define FAULTS_PRIORITY 90
#define READ_SIZE       4096
#define PAGE            4096

static int64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * NS_PER_S + time.tv_nsec;
}

static void sleep_ns(int64_t ns)
{
	struct timespec time = { .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };

	nanosleep(&time, NULL);
}

static int failed(const char *what)
{
	fprintf(stderr, "hog: %s: %s\n", what, strerror(errno));
	return 1;
}

/* The number in TEXT, or the end of the program: a typing error must not look like a quiet board.
 */
static int64_t number(const char *text)
{
	char *end;
	long long value = strtoll(text, &end, 10);

	if (end == text || *end || value < 0) {
		fprintf(stderr, "hog: '%s' is no number\n", text);
		exit(2);
	}
	return value;
}

static int set_fifo(int64_t priority)
{
	struct sched_param param = { .sched_priority = (int)priority };

	return priority ? sched_setscheduler(0, SCHED_FIFO, &param) : 0;
}

static int spin(char **arg)
{
	int64_t busy = number(arg[1]) * NS_PER_US;
	int64_t period = number(arg[2]) * NS_PER_US;
	int64_t end = now_ns() + number(arg[3]) * NS_PER_S;

	if (set_fifo(number(arg[0])))
		return failed("sched_setscheduler");
	while (now_ns() < end) {
		int64_t start = now_ns();

		while (now_ns() - start < busy)
			;
		if (period > busy)
			sleep_ns(period - busy);
	}
	return 0;
}

static void touch(volatile char *memory, size_t size)
{
	for (size_t at = 0; at < size; at += PAGE)
		memory[at]++;
}

static int faults(char **arg, int locked)
{
	size_t size = (size_t)number(arg[0]) << 20;
	int64_t end = now_ns() + number(arg[1]) * NS_PER_S;
	int64_t max = 0, sum = 0, count = 0;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || (locked && mlockall(MCL_CURRENT | MCL_FUTURE)))
		return failed("memory");
	if (set_fifo(FAULTS_PRIORITY))
		return failed("sched_setscheduler");
	while (now_ns() < end) {
		int64_t start = now_ns(), took;

		touch(memory, size);
		took = now_ns() - start;
		max = took > max ? took : max;
		sum += took;
		count++;
		if (!locked)
			madvise(memory, size, MADV_DONTNEED);
		sleep_ns(NS_PER_S / 1000);
	}
	printf("{\"count\": %" PRId64 ", \"mean_ns\": %" PRId64 ", \"max_ns\": %" PRId64 "}\n",
	       count, count ? sum / count : 0, max);
	return 0;
}

static int press(char **arg)
{
	size_t size = (size_t)number(arg[0]) << 20;
	int64_t end = now_ns() + number(arg[1]) * NS_PER_S;

	while (now_ns() < end) {
		char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				    -1, 0);

		if (memory == MAP_FAILED)
			return failed("mmap");
		touch(memory, size);
		munmap(memory, size);
	}
	return 0;
}

static int flood_reads(char **arg)
{
	int64_t end = now_ns() + number(arg[1]) * NS_PER_S;
	int fd = open(arg[0], O_RDONLY | O_DIRECT);
	void *buffer;

	if (fd < 0 || posix_memalign(&buffer, READ_SIZE, READ_SIZE))
		return failed(arg[0]);
	while (now_ns() < end) {
		if (pread(fd, buffer, READ_SIZE, 0) != READ_SIZE)
			return failed(arg[0]);
	}
	return 0;
}

int main(int argc, char **argv)
{
	char **arg = argv + 2;
	const char *mode = argc > 1 ? argv[1] : "";

	if (argc == 6 && strcmp(mode, "spin") == 0)
		return spin(arg);
	if ((argc == 4 || argc == 5) && strcmp(mode, "faults") == 0)
		return faults(arg, argc == 5 && strcmp(arg[2], "locked") == 0);
	if (argc == 4 && strcmp(mode, "memory") == 0)
		return press(arg);
	if (argc == 4 && strcmp(mode, "read") == 0)
		return flood_reads(arg);
	fputs("usage: hog spin|faults|memory|read ...\n", stderr);
	return 2;
}

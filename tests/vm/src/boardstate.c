// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes all that can be set on a board, one "path = value" a line, sorted, so that two records are
 * equal if and only if nothing was left changed:
 *
 *	boardstate >before; ...; boardstate >after; cmp before after
 *
 * That is: every file that its owner may write below the folders in `places`, the demand for a
 * short way out of idle, what is mounted, and policy, priority, niceness and affinity of every
 * kernel thread. Left out is what changes by itself or by being read (`volatile_paths`), and the
 * threads of workqueues, which come and go; the affinity of workqueues is recorded.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define VALUE_MAX 65536
#define KTHREADD  2
/* PF_WQ_WORKER of the kernel's include/linux/sched.h: kworkers and the rescuers of workqueues,
 * which take the affinity of whatever they last worked for. */
#define PF_WQ_WORKER 0x20U

/* Folders to descend into, how deep, and a pattern that a file's path must match. */
static const struct {
	const char *folder;
	int depth;
	const char *pattern;
} places[] = {
	{ "/proc/sys", 16, "*" },
	{ "/proc/irq", 16, "*" },
	{ "/sys/devices/system/cpu", 16, "*" },
	{ "/sys/devices/system/node", 16, "*" },
	{ "/sys/devices/system/clocksource", 16, "*" },
	{ "/sys/devices/system/clockevents", 16, "*" },
	{ "/sys/devices/system/machinecheck", 16, "*" },
	{ "/sys/devices/virtual/workqueue", 16, "*" },
	{ "/sys/devices/virtual/thermal", 16, "*" },
	{ "/sys/devices", 16, "*/power/control" },
	{ "/sys/module", 16, "*/parameters/*" },
	{ "/sys/fs/cgroup", 16, "*" },
	{ "/sys/fs/resctrl", 16, "*" },
	{ "/sys/kernel", 1, "*" },
	{ "/sys/kernel/mm", 16, "*" },
	{ "/sys/kernel/debug/sched", 16, "*" },
	{ "/sys/power", 1, "*" },
	{ "/sys/class/net", 16, "*" },
	{ "/sys/class/devfreq", 16, "*" },
	{ "/sys/class/powercap", 16, "*" },
	{ "/sys/block", 16, "*" },
	/* which events are on is in set_event: a file for each of thousands would say it again */
	{ "/sys/kernel/tracing", 1, "*/tracing_on" },
	{ "/sys/kernel/tracing", 1, "*/tracing_cpumask" },
	{ "/sys/kernel/tracing", 1, "*/tracing_thresh" },
	{ "/sys/kernel/tracing", 1, "*/trace_clock" },
	{ "/sys/kernel/tracing", 1, "*/trace_options" },
	{ "/sys/kernel/tracing", 1, "*/current_tracer" },
	{ "/sys/kernel/tracing", 1, "*/set_*" },
	{ "/sys/kernel/tracing", 1, "*_events" },
	{ "/sys/kernel/tracing", 1, "*/buffer_*" },
	{ "/sys/kernel/tracing/events/sched", 2, "*/trigger" },
	{ "/sys/kernel/tracing/events/sched", 2, "*/filter" },
	{ "/sys/kernel/tracing/instances", 2, "*/set_event" },
	{ "/sys/kernel/tracing/osnoise", 2, "*" },
};

static const char *const volatile_paths[] = {
	"/proc/sys/kernel/ns_last_pid",
	"/proc/sys/fs/binfmt_misc",
	"/proc/sys/vm/stat_refresh",
	"/sys/devices/system/cpu/cpu*/cpuidle/state*/usage",
	"/sys/kernel/debug/sched/domains/*/max_newidle_lb_cost",
	"/sys/fs/cgroup/*/tasks",
	"/sys/fs/cgroup/*usage*",
	"/sys/fs/cgroup/*cgroup.procs",
	"/sys/fs/cgroup/*cgroup.threads",
	"/sys/fs/cgroup/*memory.peak",
	"/sys/fs/cgroup/*memory.reclaim",
	"/sys/fs/cgroup/*.pressure",
	"/sys/fs/cgroup/*failcnt",
	"/sys/power/wakeup_count",
	"*/uevent",
	"/sys/devices/system/cpu/cpu*/hotplug/target",
};

struct list {
	char **line;
	size_t count, room;
};

static void die(const char *what)
{
	fprintf(stderr, "boardstate: %s: %s\n", what, strerror(errno));
	exit(4);
}

__attribute__((format(printf, 2, 3))) static void add(struct list *list, const char *format, ...)
{
	va_list arguments;

	if (list->count == list->room) {
		list->room = list->room ? 2 * list->room : 1024;
		list->line = reallocarray(list->line, list->room, sizeof(*list->line));
		if (!list->line)
			die("memory");
	}
	va_start(arguments, format);
	if (vasprintf(&list->line[list->count++], format, arguments) < 0)
		die("memory");
	va_end(arguments);
}

static int is_volatile(const char *path)
{
	for (size_t i = 0; i < sizeof(volatile_paths) / sizeof(volatile_paths[0]); i++) {
		if (fnmatch(volatile_paths[i], path, 0) == 0)
			return 1;
	}
	return 0;
}

/* What cannot be printed on one line is written as octal, so that a line is a file. */
static void add_value(struct list *list, const char *path, const char *data, size_t size)
{
	char *text = malloc(4 * size + 1), *to = text;

	if (!text)
		die("memory");
	while (size && data[size - 1] == '\n')
		size--;
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)data[i];

		if (c < ' ' || c == '\\' || c > '~')
			to += snprintf(to, 5, "\\%03o", c);
		else
			*to++ = (char)c;
	}
	*to = '\0';
	add(list, "%s = %s", path, text);
	free(text);
}

static void record_file(struct list *list, const char *path)
{
	static char data[VALUE_MAX];
	size_t size = 0;
	ssize_t got = 0;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0) {
		add(list, "%s ! %s", path, strerrorname_np(errno));
		return;
	}
	while (size < sizeof(data) && (got = read(fd, data + size, sizeof(data) - size)) > 0)
		size += (size_t)got;
	if (got < 0)
		add(list, "%s ! %s", path, strerrorname_np(errno));
	else
		add_value(list, path, data, size);
	close(fd);
}

static void record_folder(struct list *list, const char *folder, int depth, const char *pattern)
{
	DIR *dir = depth > 0 ? opendir(folder) : NULL;
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		char path[PATH_MAX];
		struct stat status;

		if (entry->d_name[0] == '.')
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) >= PATH_MAX)
			continue;
		/* links lead to what is recorded in its own place, or round in circles */
		if (lstat(path, &status) || is_volatile(path))
			continue;
		if (S_ISDIR(status.st_mode))
			record_folder(list, path, depth - 1, pattern);
		else if (S_ISREG(status.st_mode) && (status.st_mode & 0222) &&
			 (status.st_mode & 0444) && fnmatch(pattern, path, 0) == 0)
			record_file(list, path);
	}
	closedir(dir);
}

/* The links in a folder of links, such as /sys/class/net: each is followed once. */
static void record_links(struct list *list, const char *folder, int depth, const char *pattern)
{
	DIR *dir = depth > 0 ? opendir(folder) : NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char path[PATH_MAX];
		struct stat status;

		if (entry->d_name[0] == '.' ||
		    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) >= PATH_MAX)
			continue;
		if (lstat(path, &status) == 0 && S_ISLNK(status.st_mode))
			record_folder(list, path, depth - 1, pattern);
	}
	if (dir)
		closedir(dir);
}

/* Name, parent and flags of task PID from /proc/PID/stat; the name may hold anything, so look from
 * its end. */
static int read_task(int pid, char name[64], int *parent, unsigned int *flags)
{
	char path[64], text[512], *open_at, *close_at;
	FILE *file;
	size_t size;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file)
		return -1;
	size = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[size] = '\0';
	open_at = strchr(text, '(');
	close_at = strrchr(text, ')');
	if (!open_at || !close_at ||
	    sscanf(close_at + 1, " %*c %d %*d %*d %*d %*d %u", parent, flags) != 2)
		return -1;
	*close_at = '\0';
	snprintf(name, 64, "%s", open_at + 1);
	return 0;
}

static void format_affinity(int pid, char text[CPU_SETSIZE / 4 + 1])
{
	cpu_set_t set;
	size_t digits = 1;

	CPU_ZERO(&set);
	if (sched_getaffinity(pid, sizeof(set), &set)) {
		snprintf(text, 2, "?");
		return;
	}
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &set))
			digits = cpu / 4 + 1;
	}
	while (digits-- > 0) {
		unsigned int value = 0;

		for (size_t bit = 0; bit < 4; bit++)
			value |= CPU_ISSET(digits * 4 + bit, &set) ? 1U << bit : 0;
		*text++ = "0123456789abcdef"[value];
	}
	*text = '\0';
}

static void record_threads(struct list *list)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char name[64], affinity[CPU_SETSIZE / 4 + 1];
		struct sched_param param = { 0 };
		int parent, pid = atoi(entry->d_name);
		unsigned int flags;

		if (pid <= 0 || read_task(pid, name, &parent, &flags) || parent != KTHREADD ||
		    (flags & PF_WQ_WORKER))
			continue;
		format_affinity(pid, affinity);
		sched_getparam(pid, &param);
		add(list, "kthread %s = policy %d priority %d nice %d affinity %s", name,
		    sched_getscheduler(pid), param.sched_priority,
		    getpriority(PRIO_PROCESS, (id_t)pid), affinity);
	}
	if (dir)
		closedir(dir);
}

static void record_mounts(struct list *list)
{
	FILE *file = fopen("/proc/self/mounts", "r");
	char line[PATH_MAX];

	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		add(list, "mount %s", line);
	}
	if (file)
		fclose(file);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int main(void)
{
	struct list list = { 0 };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		record_folder(&list, places[i].folder, places[i].depth, places[i].pattern);
		record_links(&list, places[i].folder, places[i].depth, places[i].pattern);
	}
	record_file(&list, "/dev/cpu_dma_latency");
	record_mounts(&list);
	record_threads(&list);
	qsort(list.line, list.count, sizeof(*list.line), compare);
	for (size_t i = 0; i < list.count; i++) {
		/* a file that two places hold; threads of one name may well be equal */
		if (i && *list.line[i] == '/' && strcmp(list.line[i], list.line[i - 1]) == 0)
			continue;
		puts(list.line[i]);
	}
	return fflush(stdout) ? 4 : 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/root.h"

#include "base/cpuset.h"
#include "base/fail.h"
#include "base/str.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct root {
	int fd;
	bool live;
	bool stepwise;     /* the kernel has no openat2: links are resolved by hand */
	_Atomic int error; /* see root_error */
};

static unsigned fail_countdown;
static int fail_error;
static void (*observer)(const char *path, void *context);
static void *observer_context;

void root_fail_nth(unsigned n, int err)
{
	fail_countdown = n;
	fail_error = err;
}

void root_observe(void (*seen)(const char *path, void *context), void *context)
{
	observer = seen;
	observer_context = context;
}

static int open_in_root(int dir, const char *path, int flags)
{
	struct open_how how = {
		.flags = (unsigned)flags,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

int root_open(struct root **root, const char *path, struct fail *fail)
{
	struct root *new;
	int probe;

	path = path ? path : "/";
	new = calloc(1, sizeof(*new));
	if (!new)
		return fail_set(fail, ENOMEM, "out of memory");
	new->live = !strcmp(path, "/");
	new->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (new->fd < 0) {
		int err = errno;

		free(new);
		return fail_set(fail, err == EACCES ? EACCES : EINVAL,
				"cannot read the board in %s: %s", path, strerror(err));
	}
	probe = open_in_root(new->fd, ".", O_PATH | O_CLOEXEC);
	/* seccomp filters answer EPERM for calls they do not know */
	new->stepwise = probe < 0 && (errno == ENOSYS || errno == EPERM);
	if (probe >= 0)
		close(probe);
	*root = new;
	return 0;
}

void root_close(struct root *root)
{
	if (!root)
		return;
	close(root->fd);
	free(root);
}

bool root_is_live(const struct root *root)
{
	return root->live;
}

#define LINKS_MAX 40 /* as the kernel's MAXSYMLINKS */

/* Puts TARGET of a link found at depth LENGTH of DONE before what is left of the path. */
static int splice_link(char *rest, size_t size, const char *target)
{
	char joined[PATH_MAX];
	int length = snprintf(joined, sizeof(joined), "%s/%s", target, rest);

	if (length < 0 || (size_t)length >= size)
		return -ENAMETOOLONG;
	memcpy(rest, joined, (size_t)length + 1);
	return 0;
}

/* Opens PATH below ROOT without openat2: each component with O_NOFOLLOW, ".." and links worked out
 * on the text, so that nothing above the root is ever named. DONE is the link-free path so far. */
static int open_stepwise(int root, const char *path, int flags)
{
	char rest[PATH_MAX], done[PATH_MAX] = "", target[PATH_MAX];
	int links = 0;

	if (snprintf(rest, sizeof(rest), "%s", path) >= (int)sizeof(rest))
		return -ENAMETOOLONG;
	while (*rest) {
		size_t skip = strspn(rest, "/"), length = strcspn(rest + skip, "/"),
		       at = strlen(done);
		char name[NAME_MAX + 1];
		ssize_t size;

		if (length > NAME_MAX || at + length + 2 > sizeof(done))
			return -ENAMETOOLONG;
		memcpy(name, rest + skip, length);
		name[length] = '\0';
		memmove(rest, rest + skip + length, strlen(rest + skip + length) + 1);
		if (!length || !strcmp(name, "."))
			continue;
		if (!strcmp(name, "..")) {
			char *slash = strrchr(done, '/');

			*(slash ? slash : done) = '\0';
			continue;
		}
		snprintf(done + at, sizeof(done) - at, "%s%s", at ? "/" : "", name);
		size = readlinkat(root, done, target, sizeof(target) - 1);
		if (size < 0)
			continue; /* no link, or nothing there: the open below tells */
		if (++links > LINKS_MAX)
			return -ELOOP;
		target[size] = '\0';
		done[*target == '/' ? 0 : at] = '\0';
		if (splice_link(rest, sizeof(rest), target))
			return -ENAMETOOLONG;
	}
	return openat(root, *done ? done : ".", flags | O_NOFOLLOW);
}

/* What says nothing about the board, only about us. The root is constant to its readers but for
 * this. */
static void note_error(const struct root *root, int err)
{
	if (err == -EMFILE || err == -ENFILE || err == -ENOMEM)
		atomic_store(&((struct root *)root)->error, err);
}

int root_error(const struct root *root, struct fail *fail)
{
	int err = atomic_load(&root->error);

	return err ? fail_set(fail, -err, "cannot read the board: %s", strerror(-err)) : 0;
}

static int open_path(const struct root *root, const char *path, int flags)
{
	int fd;

	if (observer)
		observer(path, observer_context);
	if (fail_countdown && !--fail_countdown)
		return -fail_error;
	/* openat2 refuses flags that mean nothing beside O_PATH */
	flags |= flags & O_PATH ? O_CLOEXEC : O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	if (root->live)
		fd = openat(root->fd, path, flags);
	else if (root->stepwise)
		fd = open_stepwise(root->fd, path, flags);
	else
		fd = open_in_root(root->fd, path, flags);
	if (fd >= 0)
		return fd;
	fd = fd == -1 ? -errno : fd;
	note_error(root, fd);
	return fd;
}

static int format_path(char *path, const char *format, va_list args)
{
	int length = vsnprintf(path, PATH_MAX, format, args);

	return length < 0 || length >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/* Reads up to SIZE bytes of a regular file and closes it. */
static ssize_t read_regular(int fd, char *buf, size_t size)
{
	size_t length = 0;
	struct stat st;
	ssize_t got = 0;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	while (length < size) {
		got = read(fd, buf + length, size - length);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		length += (size_t)got;
	}
	got = got < 0 ? -errno : (ssize_t)length;
	close(fd);
	return got;
}

/* Ends what was read into BUF of SIZE as a line of text. */
static ssize_t finish_text(char *buf, size_t size, ssize_t length)
{
	if (length < 0)
		return length;
	if ((size_t)length == size)
		return -EFBIG;
	while (length && isspace((unsigned char)buf[length - 1]))
		length--;
	buf[length] = '\0';
	return length;
}

static ssize_t text_of(const struct root *root, char *buf, size_t size, const char *format,
		       va_list args)
{
	char path[PATH_MAX];
	int fd = format_path(path, format, args);

	if (!fd)
		fd = open_path(root, path, O_RDONLY);
	if (fd < 0)
		return fd;
	return finish_text(buf, size, read_regular(fd, buf, size));
}

ssize_t root_text(const struct root *root, char *buf, size_t size, const char *format, ...)
{
	va_list args;
	ssize_t length;

	va_start(args, format);
	length = text_of(root, buf, size, format, args);
	va_end(args);
	return length;
}

int root_dir(const struct root *root, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	int fd;

	va_start(args, format);
	fd = format_path(path, format, args);
	va_end(args);
	return fd ? fd : open_path(root, path, O_RDONLY | O_DIRECTORY);
}

ssize_t root_at_text(const struct root *root, int dir, const char *name, char *buf, size_t size)
{
	int fd;

	if (observer)
		observer(name, observer_context);
	if (fail_countdown && !--fail_countdown)
		return -fail_error;
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0) {
		int err = -errno;

		note_error(root, err);
		return err;
	}
	return finish_text(buf, size, read_regular(fd, buf, size));
}

int root_all(const struct root *root, size_t limit, char **text, size_t *length, const char *format,
	     ...)
{
	size_t capacity = 16384, used = 0;
	char path[PATH_MAX], *buf = NULL;
	struct stat st;
	va_list args;
	int fd, err;

	va_start(args, format);
	err = format_path(path, format, args);
	va_end(args);
	fd = err ? err : open_path(root, path, O_RDONLY);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		err = -EINVAL;
	while (!err) {
		char *grown = realloc(buf, capacity + 1);
		ssize_t got;

		if (!grown) {
			err = -ENOMEM;
			break;
		}
		buf = grown;
		got = read(fd, buf + used, capacity - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			err = -errno;
		if (got <= 0)
			break;
		used += (size_t)got;
		if (used > limit)
			err = -EFBIG;
		else if (used == capacity)
			capacity *= 2;
	}
	close(fd);
	if (err) {
		free(buf);
		return err;
	}
	buf[used] = '\0';
	*text = buf;
	*length = used;
	return 0;
}

int root_number(const struct root *root, int64_t *value, const char *format, ...)
{
	char text[64], *end;
	va_list args;
	ssize_t length;
	long long number;

	va_start(args, format);
	length = text_of(root, text, sizeof(text), format, args);
	va_end(args);
	if (length < 0)
		return (int)length;
	errno = 0;
	number = strtoll(text, &end, str_starts(text, "0x") ? 16 : 10);
	if (end == text || *end || errno)
		return -EBADMSG;
	*value = number;
	return 0;
}

int root_cpus(const struct root *root, struct cpuset *set, const char *format, ...)
{
	char text[4096 * 4];
	va_list args;
	ssize_t length;

	va_start(args, format);
	length = text_of(root, text, sizeof(text), format, args);
	va_end(args);
	if (length < 0)
		return (int)length;
	/* "(null)" and " (null)" were printed for an empty mask by nohz_full before 5.x */
	if (strstr(text, "(null)"))
		text[0] = '\0';
	return cpuset_parse(text, -1, set, NULL) ? -EBADMSG : 0;
}

bool root_exists(const struct root *root, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	int fd;

	va_start(args, format);
	fd = format_path(path, format, args);
	va_end(args);
	if (!fd)
		fd = open_path(root, path, O_PATH);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

ssize_t root_link(const struct root *root, char *buf, size_t size, const char *format, ...)
{
	char path[PATH_MAX], *slash;
	va_list args;
	ssize_t length;
	int dir;

	va_start(args, format);
	dir = format_path(path, format, args);
	va_end(args);
	if (dir)
		return dir;
	slash = strrchr(path, '/');
	if (slash)
		*slash = '\0';
	dir = open_path(root, slash ? path : ".", O_PATH | O_DIRECTORY);
	if (dir < 0)
		return dir;
	length = readlinkat(dir, slash ? slash + 1 : path, buf, size);
	if (length < 0)
		length = -errno;
	close(dir);
	return finish_text(buf, size, length);
}

static int natural_order(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

int root_list(const struct root *root, struct root_names *names, const char *format, ...)
{
	char path[PATH_MAX];
	struct dirent *entry;
	va_list args;
	DIR *dir;
	int fd;

	*names = (struct root_names){ 0 };
	va_start(args, format);
	fd = format_path(path, format, args);
	va_end(args);
	if (!fd)
		fd = open_path(root, path, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	while ((entry = readdir(dir))) {
		char **grown, *name;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		grown = reallocarray(names->names, names->count + 1, sizeof(*grown));
		name = grown ? strdup(entry->d_name) : NULL;
		if (grown)
			names->names = grown;
		if (!name) {
			root_names_free(names);
			closedir(dir);
			return -ENOMEM;
		}
		names->names[names->count++] = name;
	}
	closedir(dir);
	if (names->count)
		qsort(names->names, names->count, sizeof(*names->names), natural_order);
	return 0;
}

void root_names_free(struct root_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->names[i]);
	free(names->names);
	*names = (struct root_names){ 0 };
}

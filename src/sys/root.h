/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The root through which a board is read: "/" live, or a recorded tree. The only way to files of
 * the board; it never writes. Paths are relative to the root, without a leading slash, and are
 * formatted in place: root_text(root, buf, size, "sys/devices/system/cpu/cpu%d/online", cpu).
 *
 * In a recorded tree nothing escapes: links are resolved inside it (openat2 RESOLVE_IN_ROOT, or
 * step by step where the kernel lacks it), only regular files are read, sizes are bounded. Threads
 * may share a root for reading. All buffers belong to the caller.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cpuset;
struct fail;
struct root;

/* No file of a board that we read is longer (the largest seen: /proc/interrupts of big machines).
 */
#define ROOT_FILE_MAX ((size_t)16 << 20)

/* PATH NULL or "/": this machine. The root is freed with root_close (NULL is allowed). */
int root_open(struct root **root, const char *path, struct fail *fail);
void root_close(struct root *root);
/* True for this machine: only then may live sources beside files (sysconf, cpuid) be asked. */
bool root_is_live(const struct root *root);

/* Readers take a file that can't be opened for a fact that is not there. Where it was for want of
 * descriptors or memory they were wrong: then this is a negative errno with the sentence, else 0.
 */
int root_error(const struct root *root, struct fail *fail);

/* A descriptor for a directory, for reading many of its plain files by short names; -errno. The
 * caller closes it. Names given to root_at_text hold no slash or link that leaves the directory. */
__attribute__((format(printf, 2, 3))) int root_dir(const struct root *root, const char *format,
						   ...);
ssize_t root_at_text(const struct root *root, int dir, const char *name, char *buf, size_t size);

/* The file's text, NUL-terminated, white space at its end cut off; its length, or -errno: ENOENT,
 * EACCES …, EFBIG where it does not fit, EINVAL where it is no regular file. */
__attribute__((format(printf, 4, 5))) ssize_t root_text(const struct root *root, char *buf,
							size_t size, const char *format, ...);
/* The whole file as it is, up to LIMIT bytes, in *TEXT (freed by the caller, NUL added behind). */
__attribute__((format(printf, 5, 6))) int root_all(const struct root *root, size_t limit,
						   char **text, size_t *length, const char *format,
						   ...);
/* The file's one whole number, decimal or with 0x; EBADMSG where it holds something else. */
__attribute__((format(printf, 3, 4))) int root_number(const struct root *root, int64_t *value,
						      const char *format, ...);
/* The file's CPU list. EBADMSG where it holds something else. */
__attribute__((format(printf, 3, 4))) int root_cpus(const struct root *root, struct cpuset *set,
						    const char *format, ...);
__attribute__((format(printf, 2, 3))) bool root_exists(const struct root *root, const char *format,
						       ...);
/* Where a link points, as it is written in it. */
__attribute__((format(printf, 4, 5))) ssize_t root_link(const struct root *root, char *buf,
							size_t size, const char *format, ...);

/* A directory's entries without "." and "..", in natural order (cpu2 before cpu10). */
struct root_names {
	char **names;
	size_t count;
};
__attribute__((format(printf, 3, 4))) int root_list(const struct root *root,
						    struct root_names *names, const char *format,
						    ...);
void root_names_free(struct root_names *names);

/* For tests: makes the N-th read from now on (1 = the next) fail with ERR, once; 0 switches it off.
 */
void root_fail_nth(unsigned n, int err);
/* For recorders and tests: told the path of every file that is read; NULL switches it off. */
void root_observe(void (*seen)(const char *path, void *context), void *context);

// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/fail.h"
#include "store/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int store_errno(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
	case EROFS:
		return EACCES;
	case EDQUOT:
	case EFBIG:
	case ENOSPC:
		return ENOSPC;
	case ENOENT:
	case ENOTDIR:
	case EISDIR:
	case ENOMEM:
		return error;
	default:
		return EIO;
	}
}

/* Makes the folders of PATH that are missing, only for its owner (XDG Base Directory Specification
 * 0.8: "with permission 0700"). */
static int make_folders(char *path, struct fail *fail)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int err;

		*slash = '\0';
		err = mkdir(path, 0700) ? errno : 0;
		/* on a read-only or foreign folder mkdir may say so before it says that it is there
		 */
		if (err && err != EEXIST && access(path, F_OK))
			return fail_set(fail, store_errno(err),
					"cannot make the folder %s for the store: %s", path,
					strerror(err));
		*slash = '/';
	}
	return 0;
}

int store_default_path(char **path, enum store_mode mode, struct fail *fail)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *result = NULL;
	int length, err = 0;

	if (geteuid() == 0)
		length = asprintf(&result, "/var/lib/punctual/sessions.db");
	else if (state &&
		 *state == '/') /* relative ones are to be ignored, says the specification */
		length = asprintf(&result, "%s/punctual/sessions.db", state);
	else if (home && *home == '/')
		length = asprintf(&result, "%s/.local/state/punctual/sessions.db", home);
	else
		return fail_set(
			fail, ENOENT,
			"no place for the sessions: neither XDG_STATE_HOME nor HOME names a "
			"folder; name a file with --store");
	if (length < 0)
		return store_no_memory(fail);
	if (mode == STORE_WRITE)
		err = make_folders(result, fail);
	if (err)
		free(result);
	else
		*path = result;
	return err;
}

static int check_folder(const char *path, struct fail *fail)
{
	const char *slash = strrchr(path, '/');
	int length = slash == path ? 1 : slash ? (int)(slash - path) : 0;
	char *folder = slash ? strndup(path, (size_t)length) : strdup(".");
	struct stat st;
	int err = 0;

	if (!folder)
		return store_no_memory(fail);
	if (stat(folder, &st))
		err = fail_set(fail, store_errno(errno),
			       "cannot write the store %s: the folder %s: %s", path, folder,
			       strerror(errno));
	free(folder);
	return err;
}

int store_check_path(const char *path, enum store_mode mode, bool *empty, struct fail *fail)
{
	struct stat st;

	*empty = true;
	if (!*path)
		return fail_set(fail, EINVAL, "the name of the store is empty");
	if (stat(path, &st)) {
		if (errno != ENOENT)
			return fail_set(fail, store_errno(errno), "cannot %s the store %s: %s",
					mode == STORE_READ ? "read" : "write", path,
					strerror(errno));
		if (mode == STORE_READ)
			return fail_set(fail, ENODATA,
					"no sessions yet in %s; run punctual measure first", path);
		return check_folder(path, fail);
	}
	if (S_ISDIR(st.st_mode))
		return fail_set(fail, EISDIR, "%s is a folder, not a store of sessions", path);
	if (!S_ISREG(st.st_mode))
		return fail_set(fail, EIO, "%s is no regular file and cannot hold sessions", path);
	if (access(path, mode == STORE_READ ? R_OK : R_OK | W_OK))
		return fail_set(fail, store_errno(errno), "cannot %s the store %s: %s",
				mode == STORE_READ ? "read" : "write", path, strerror(errno));
	*empty = !st.st_size;
	return 0;
}

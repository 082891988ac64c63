/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors as the whole program passes them: a function returns 0 or a negative errno, and the place
 * that knows most writes the sentence for the person (what, where, what to do) into a struct fail.
 * The sentence is one line, without a full stop or newline. A NULL fail is allowed: nobody listens.
 *
 * The errno decides the exit status (see fail_status): EINVAL, ERANGE, EBADMSG wrong usage or
 * malformed input; EPERM, EACCES, ENOSYS, EOPNOTSUPP not permitted or not in this kernel; ENODATA
 * no answer possible; EINTR cut short by Ctrl-C; anything else input/output or internal.
 */
#pragma once

enum exit_status {
	STATUS_OK = 0,
	STATUS_MISSED = 1,    /* goals missed, findings at or above the asked severity */
	STATUS_USAGE = 2,     /* wrong usage or malformed input */
	STATUS_REFUSED = 3,   /* not permitted, or this kernel lacks it */
	STATUS_IO = 4,        /* input/output or internal error */
	STATUS_NO_ANSWER = 5, /* void, or not enough data */
	STATUS_INTERRUPTED = 130,
};

struct fail {
	char text[512];
};

/* Writes the sentence and returns -ERR, for `return fail_set(fail, EINVAL, "...")`. ERR is
 * positive. Control characters in the result (from hostile file names or arguments) are replaced by
 * '?'. */
__attribute__((format(printf, 3, 4))) int fail_set(struct fail *fail, int err, const char *format,
						   ...);

/* The exit status that belongs to a negative errno. */
enum exit_status fail_status(int error);

// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int fail_set(struct fail *fail, int err, const char *format, ...)
{
	va_list args;

	if (!fail)
		return -err;
	va_start(args, format);
	vsnprintf(fail->text, sizeof(fail->text), format, args);
	va_end(args);
	for (char *c = fail->text; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	}
	return -err;
}

enum exit_status fail_status(int error)
{
	switch (-error) {
	case 0:
		return STATUS_OK;
	case EINVAL:
	case ERANGE:
	case EBADMSG:
		return STATUS_USAGE;
	case EPERM:
	case EACCES:
	case ENOSYS:
	case EOPNOTSUPP:
		return STATUS_REFUSED;
	case ENODATA:
		return STATUS_NO_ANSWER;
	case EINTR:
		return STATUS_INTERRUPTED;
	default:
		return STATUS_IO;
	}
}

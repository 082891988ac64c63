// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/session_output.h"

#include "base/fail.h"
#include "format/hdr.h"
#include "format/session_text.h"
#include "result/session.h"
#include "sys/output.h"

#include <errno.h>
#include <string.h>

static int check(const char *path, struct fail *fail)
{
	return path ? output_check(path, fail) : 0;
}

int session_output_check(const struct session_output *where, struct fail *fail)
{
	int err;

	if (where->output && where->hdr && !strcmp(where->output, where->hdr))
		return fail_set(fail, EINVAL, "--output and --hdr both name %s", where->hdr);
	err = check(where->output, fail);
	return err ? err : check(where->hdr, fail);
}

static int write_hdr(const struct session *session, const char *path, struct fail *fail)
{
	struct output out;
	int err = output_open(&out, path, fail);

	if (err)
		return err;
	err = hdr_write_log(session, &out.sink);
	if (err) {
		output_abandon(&out);
		return fail_set(fail, -err, "cannot write %s: %s", path, strerror(-err));
	}
	return output_close(&out, fail);
}

int session_output_write(const struct session_output *where, const struct session *session,
			 struct fail *fail)
{
	struct output out;
	int err = output_open(&out, where->output, fail);

	if (err)
		return err;
	if (where->json)
		session_json(session, &out.sink);
	else
		session_text(session, &out.sink);
	err = output_close(&out, fail);
	if (!err && where->hdr)
		err = write_hdr(session, where->hdr, fail);
	return err;
}

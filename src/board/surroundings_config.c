// SPDX-License-Identifier: GPL-2.0-or-later
/* How the kernel was configured: a hash to compare by, and whether it is PREEMPT_RT. */
#include "base/environment.h"
#include "base/sha256.h"
#include "base/str.h"
#include "board/surroundings_parts.h"
#include "sys/root.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Configurations are 100 to 300 KB of text. */
#define CONFIG_MAX ((size_t)4 << 20)

/* Unpacks a gzip file (RFC 1952) of SIZE bytes; *TEXT is the caller's. */
static int unpack(char *packed, size_t size, char **text, size_t *length)
{
	z_stream stream = { .next_in = (Bytef *)packed, .avail_in = (uInt)size };
	char *buf = malloc(CONFIG_MAX + 1);
	int err;

	if (!buf)
		return -ENOMEM;
	/* 16: a gzip header */
	if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) {
		free(buf);
		return -ENOMEM;
	}
	stream.next_out = (Bytef *)buf;
	stream.avail_out = (uInt)CONFIG_MAX;
	err = inflate(&stream, Z_FINISH);
	*length = stream.total_out;
	inflateEnd(&stream);
	if (err != Z_STREAM_END) {
		free(buf);
		return err == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
	}
	buf[*length] = '\0';
	*text = buf;
	return 0;
}

/* The configuration's text; 0, or the error of the place where it ought to be. */
static int read_config(const struct root *root, char **text, size_t *length)
{
	char release[256], *packed;
	size_t size;
	int err = root_all(root, CONFIG_MAX, &packed, &size, "proc/config.gz");

	if (!err) {
		err = unpack(packed, size, text, length);
		free(packed);
		return err;
	}
	surroundings_release(root, release, sizeof(release));
	/* as a file's name it must not lead elsewhere */
	if (err == -ENOMEM || !*release || strchr(release, '/'))
		return err;
	err = root_all(root, CONFIG_MAX, text, length, "boot/config-%s", release);
	if (err)
		err = root_all(root, CONFIG_MAX, text, length, "lib/modules/%s/config", release);
	return err;
}

/*
 * The build's own text names the preemption model (init/Makefile and scripts/mkcompile_h:
 * PREEMPT_RT since 5.3, "PREEMPT RT" in the patches before). sys/kernel/realtime proves it where it
 * is 1; that it is absent proves nothing. A configuration, where there is one, decides over the
 * rest.
 */
static void judge_realtime(struct reading *reading, const char *config)
{
	const struct environment_item *version =
		environment_find(reading->environment, "kernel_version");
	int64_t realtime = 0;

	root_number(reading->root, &realtime, "sys/kernel/realtime");
	if (version && version->kind == ENVIRONMENT_TEXT &&
	    (strstr(version->text, "PREEMPT_RT") || strstr(version->text, "PREEMPT RT")))
		realtime = 1;
	if (config && (strstr(config, "\nCONFIG_PREEMPT_RT=y") ||
		       strstr(config, "\nCONFIG_PREEMPT_RT_FULL=y")))
		realtime = 1;
	if (realtime == 1)
		reading_text(reading, "preempt_rt", "yes");
	else if (config || (version && version->kind == ENVIRONMENT_TEXT))
		reading_text(reading, "preempt_rt", "no");
	else
		reading_unknown(
			reading, "preempt_rt",
			"neither the kernel's version text nor its configuration can be read");
}

void surroundings_config(struct reading *reading)
{
	char digest[SHA256_TEXT], *text = NULL;
	size_t length = 0;
	int err = read_config(reading->root, &text, &length);

	if (err == -ENOMEM) {
		reading->error = err;
		return;
	}
	if (err) {
		reading_failed(reading, "kernel_config_sha256",
			       "proc/config.gz, boot/config-RELEASE", err);
	} else {
		sha256_text(text, length, digest);
		reading_text(reading, "kernel_config_sha256", digest);
	}
	judge_realtime(reading, text);
	free(text);
}

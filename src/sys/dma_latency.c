// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/dma_latency.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static const char path[] = "/dev/cpu_dma_latency";

int dma_latency_hold(int32_t us, int *fd)
{
	int held = open(path, O_WRONLY | O_CLOEXEC), err;

	if (held < 0)
		return -errno;
	if (write(held, &us, sizeof(us)) != sizeof(us)) {
		err = errno ? -errno : -EIO;
		close(held);
		return err;
	}
	*fd = held;
	return 0;
}

int dma_latency_read(int32_t *us)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	/* opening registers a request without a limit of its own: it changes nothing */
	if (read(fd, us, sizeof(*us)) != sizeof(*us))
		err = errno ? -errno : -EIO;
	close(fd);
	return err;
}

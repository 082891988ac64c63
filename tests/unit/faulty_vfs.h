/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SQLite's own way to files with a fault in it, for tests of the store: the n-th change of a file
 * (write, truncate, sync) fails, once or for ever, or kills the process. Registered as the default
 * VFS, so that the code under test need not know of it.
 */
#pragma once

#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum fault_kind { FAULT_NONE, FAULT_ONCE, FAULT_FOR_EVER, FAULT_KILL };

static struct {
	enum fault_kind kind;
	unsigned countdown; /* changes until the fault */
	int rc;             /* what it returns */
	bool hit;
} fault;

static void fault_plan(enum fault_kind kind, unsigned nth, int rc)
{
	fault.kind = kind;
	fault.countdown = nth;
	fault.rc = rc;
	fault.hit = false;
}

/* SQLITE_OK, or what this change fails with. */
static int fault_now(void)
{
	if (fault.kind == FAULT_NONE)
		return SQLITE_OK;
	if (fault.countdown)
		fault.countdown--;
	if (fault.countdown || (fault.hit && fault.kind != FAULT_FOR_EVER))
		return SQLITE_OK;
	if (fault.kind == FAULT_KILL)
		kill(getpid(), SIGKILL);
	fault.hit = true;
	return fault.rc;
}

struct faulty_file {
	sqlite3_file base;
	sqlite3_file *real;
};

static sqlite3_file *real_file(sqlite3_file *file)
{
	return ((struct faulty_file *)(void *)file)->real;
}

static int faulty_close(sqlite3_file *file)
{
	sqlite3_file *real = real_file(file);

	return real->pMethods ? real->pMethods->xClose(real) : SQLITE_OK;
}

static int faulty_read(sqlite3_file *file, void *data, int size, sqlite3_int64 at)
{
	return real_file(file)->pMethods->xRead(real_file(file), data, size, at);
}

static int faulty_write(sqlite3_file *file, const void *data, int size, sqlite3_int64 at)
{
	int rc = fault_now();

	return rc ? rc : real_file(file)->pMethods->xWrite(real_file(file), data, size, at);
}

static int faulty_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	int rc = fault_now();

	return rc ? rc : real_file(file)->pMethods->xTruncate(real_file(file), size);
}

static int faulty_sync(sqlite3_file *file, int flags)
{
	int rc = fault_now();

	return rc ? rc : real_file(file)->pMethods->xSync(real_file(file), flags);
}

static int faulty_size(sqlite3_file *file, sqlite3_int64 *size)
{
	return real_file(file)->pMethods->xFileSize(real_file(file), size);
}

static int faulty_lock(sqlite3_file *file, int level)
{
	return real_file(file)->pMethods->xLock(real_file(file), level);
}

static int faulty_unlock(sqlite3_file *file, int level)
{
	return real_file(file)->pMethods->xUnlock(real_file(file), level);
}

static int faulty_check_lock(sqlite3_file *file, int *out)
{
	return real_file(file)->pMethods->xCheckReservedLock(real_file(file), out);
}

static int faulty_control(sqlite3_file *file, int op, void *argument)
{
	return real_file(file)->pMethods->xFileControl(real_file(file), op, argument);
}

static int faulty_sector(sqlite3_file *file)
{
	return real_file(file)->pMethods->xSectorSize(real_file(file));
}

static int faulty_traits(sqlite3_file *file)
{
	return real_file(file)->pMethods->xDeviceCharacteristics(real_file(file));
}

static int faulty_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **at)
{
	return real_file(file)->pMethods->xShmMap(real_file(file), page, size, extend, at);
}

static int faulty_shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
	return real_file(file)->pMethods->xShmLock(real_file(file), offset, n, flags);
}

static void faulty_shm_barrier(sqlite3_file *file)
{
	real_file(file)->pMethods->xShmBarrier(real_file(file));
}

static int faulty_shm_unmap(sqlite3_file *file, int remove)
{
	return real_file(file)->pMethods->xShmUnmap(real_file(file), remove);
}

static sqlite3_io_methods faulty_methods = {
	.iVersion = 2,
	.xClose = faulty_close,
	.xRead = faulty_read,
	.xWrite = faulty_write,
	.xTruncate = faulty_truncate,
	.xSync = faulty_sync,
	.xFileSize = faulty_size,
	.xLock = faulty_lock,
	.xUnlock = faulty_unlock,
	.xCheckReservedLock = faulty_check_lock,
	.xFileControl = faulty_control,
	.xSectorSize = faulty_sector,
	.xDeviceCharacteristics = faulty_traits,
	.xShmMap = faulty_shm_map,
	.xShmLock = faulty_shm_lock,
	.xShmBarrier = faulty_shm_barrier,
	.xShmUnmap = faulty_shm_unmap,
};

static sqlite3_vfs *real_vfs;

static int faulty_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
	struct faulty_file *faulty = (struct faulty_file *)(void *)file;
	int rc;

	(void)vfs;
	faulty->real = (sqlite3_file *)(void *)(faulty + 1);
	rc = real_vfs->xOpen(real_vfs, name, faulty->real, flags, out);
	faulty->base.pMethods = faulty->real->pMethods ? &faulty_methods : NULL;
	return rc;
}

/* A file system on which SQLite can have no log: no shared memory. */
static __attribute__((unused)) void faulty_vfs_shared_memory(bool has)
{
	faulty_methods.iVersion = has ? 2 : 1;
}

/* Once, before the first store is opened. */
static void faulty_vfs_install(void)
{
	static sqlite3_vfs vfs;

	real_vfs = sqlite3_vfs_find(NULL);
	vfs = *real_vfs;
	vfs.zName = "faulty";
	vfs.szOsFile = (int)sizeof(struct faulty_file) + real_vfs->szOsFile;
	vfs.xOpen = faulty_open;
	sqlite3_vfs_register(&vfs, 1);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Regular files; see regular.h. A descriptor with O_PATH opens nothing: no
 * driver is called and nothing waits for a writer. The file behind it is opened
 * by its place in /proc/self/fd, so that it is the same file even if the path
 * has changed meanwhile.
 */
#include "base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"

struct error *regular_refuse(const char *name)
{
	return error_create(ERROR_FORMAT, "%s: not a regular file", name);
}

struct error *regular_open(const char *path, const char *name, int *ret,
			   struct stat *ret_status)
{
	cleanup_close int place = open(path, O_PATH | O_CLOEXEC);
	struct stat status;
	char again[32];
	int fd;

	if (place < 0 || fstat(place, &status) < 0)
		return error_os(errno, "%s", name);
	if (!S_ISREG(status.st_mode))
		return regular_refuse(name);
	snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
	/* not blocking: a lease on it need not be waited for */
	fd = open(again, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return error_os(errno, "%s", name);
	*ret = fd;
	*ret_status = status;
	return NULL;
}

struct error *regular_stat(const char *path, const char *name,
			   struct stat *ret_status)
{
	if (stat(path, ret_status) < 0)
		return error_os(errno, "%s", name);
	return NULL;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Replacing a file; see replace.h.
 */
#include "base/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"

/* With the mode of the file it replaces, or that of a new one. */
static struct error *set_mode(int fd, const char *path)
{
	struct stat old;
	mode_t mask;

	if (stat(path, &old) == 0)
		return fchmod(fd, old.st_mode & 0777) < 0
			       ? error_os(errno, "%s", path)
			       : NULL;
	mask = umask(0);
	umask(mask);
	return fchmod(fd, 0666 & ~mask) < 0 ? error_os(errno, "%s", path)
					    : NULL;
}

struct replacement {
	const char *target, *temporary;
	replace_write *write;
	const void *context;
};

static struct error *write_beside(const struct replacement *it, int fd)
{
	FILE *file = fdopen(fd, "w");
	struct error *err;

	if (!file) {
		close(fd);
		return error_os(errno, "%s", it->temporary);
	}
	err = set_mode(fd, it->target);
	if (!err)
		err = it->write(it->context, file);
	if (!err && (fflush(file) != 0 || (fsync(fd) < 0 && errno != EINVAL)))
		err = error_os(errno, "%s", it->temporary);
	if (fclose(file) != 0 && !err)
		err = error_os(errno, "%s", it->temporary);
	if (!err && rename(it->temporary, it->target) < 0)
		err = error_os(errno, "%s: rename", it->temporary);
	return err;
}

struct error *replace_file(const char *path, replace_write *write,
			   const void *context)
{
	cleanup_free char *real = realpath(path, NULL);
	cleanup_free char *temporary = NULL;
	struct replacement it = {
		.target = real ? real : path,
		.write = write,
		.context = context,
	};
	struct error *err;
	int fd;

	if (asprintf(&temporary, "%s.XXXXXX", it.target) < 0) {
		temporary = NULL;
		return error_nomem;
	}
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return error_os(errno, "%s", temporary);
	it.temporary = temporary;
	err = write_beside(&it, fd);
	if (err)
		unlink(temporary);
	return err;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files for output; see outputfile.h.
 */
#include "base/outputfile.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"

/* For how long a FIFO without a reader is looked at again, and how often. */
enum { READER_WAIT_MS = 2000, READER_LOOK_MS = 10 };

struct outputfile_folder {
	bool shared; /* others may make files in it */
	uid_t owner;
};

/* What is not known is taken for shared; to open the file says why. */
static struct error *look_at_folder(const char *path,
				    struct outputfile_folder *ret)
{
	cleanup_free char *copy = strdup(path);
	struct stat status;

	if (!copy)
		return error_nomem;
	*ret = (struct outputfile_folder){ .shared = true };
	if (stat(dirname(copy), &status) < 0)
		return NULL;
	ret->owner = status.st_uid;
	ret->shared = (status.st_mode & S_IWOTH) ||
		      (status.st_uid != 0 && status.st_uid != geteuid());
	return NULL;
}

static bool is_fifo(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISFIFO(status.st_mode);
}

/* Its reader may have been started with us: "cat FIFO & racewatch -o FIFO". */
static int open_patiently(const char *path, int flags)
{
	int fd = open(path, flags, 0666);

	for (int ms = 0;
	     fd < 0 && errno == ENXIO && ms < READER_WAIT_MS && is_fifo(path);
	     ms += READER_LOOK_MS) {
		poll(NULL, 0, READER_LOOK_MS);
		fd = open(path, flags, 0666);
	}
	return fd;
}

static struct error *open_failed(const char *path, int code)
{
	struct stat status;

	if (code == ENXIO && is_fifo(path))
		return error_create(ERROR_OTHER, "%s: nobody reads this FIFO",
				    path);
	if (code == ELOOP && lstat(path, &status) == 0 &&
	    S_ISLNK(status.st_mode))
		return error_create(ERROR_OTHER,
				    "%s: a symbolic link in a folder that "
				    "others can write to",
				    path);
	return error_os(code, "%s", path);
}

/* Make what was opened ready to be written to; nothing has changed before. */
static struct error *take_file(int fd, const char *path,
			       enum outputfile_mode mode,
			       const struct outputfile_folder *folder)
{
	struct stat status;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fstat(fd, &status) < 0)
		return error_os(errno, "%s", path);
	if (folder->shared && !S_ISCHR(status.st_mode) &&
	    status.st_uid != geteuid() && status.st_uid != folder->owner)
		return error_create(ERROR_OTHER,
				    "%s: a file of another user in a folder "
				    "that others can write to",
				    path);
	if (fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0 ||
	    (mode == OUTPUTFILE_NEW && S_ISREG(status.st_mode) &&
	     ftruncate(fd, 0) < 0))
		return error_os(errno, "%s", path);
	return NULL;
}

struct error *outputfile_open(const char *path, enum outputfile_mode mode,
			      FILE **ret)
{
	struct outputfile_folder folder;
	struct error *err = look_at_folder(path, &folder);
	bool appends = mode == OUTPUTFILE_APPEND;
	FILE *file = NULL;
	int fd;

	if (err)
		return err;
	fd = open_patiently(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY |
					  O_NONBLOCK |
					  (appends ? O_APPEND : 0) |
					  (folder.shared ? O_NOFOLLOW : 0));
	if (fd < 0)
		return open_failed(path, errno);
	err = take_file(fd, path, mode, &folder);
	if (!err) {
		file = fdopen(fd, appends ? "a" : "w");
		if (!file)
			err = error_os(errno, "%s", path);
	}
	if (err)
		close(fd);
	else
		*ret = file;
	return err;
}

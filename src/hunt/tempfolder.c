/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A child waits until the other end of its pipe is closed. It is of a session of
 * its own, so that what ends a whole group does not end it. Workers, which are
 * forked, have the other end too; programs that are executed do not.
 */
#include "hunt/tempfolder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

/* One level is enough: nobody makes folders in it. */
static void remove_folder(const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		if (strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			unlinkat(dirfd(folder), entry->d_name, 0);
	}
	if (folder)
		closedir(folder);
	rmdir(path);
}

/* What a reader of our output waits for is not kept open. */
static void await_end(const char *path, int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	char byte;

	setsid();
	for (int i = 0; null >= 0 && i < 3; i++)
		dup2(null, i);
	while (read(fd, &byte, 1) < 0 && errno == EINTR)
		;
	remove_folder(path);
	_exit(0); /* exit-allowed: the forked child ends here */
}

static struct error *start_remover(struct tempfolder *tempfolder)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_os(errno, "make a pipe");
	tempfolder->remover = fork();
	if (tempfolder->remover == 0) {
		close(ends[1]);
		await_end(tempfolder->path, ends[0]);
	}
	close(ends[0]);
	tempfolder->fd = ends[1];
	return tempfolder->remover > 0 ? NULL
				       : error_os(errno, "start a process");
}

struct error *tempfolder_make(const char *name, struct tempfolder *ret)
{
	struct tempfolder tempfolder = { .fd = -1, .remover = -1 };
	const char *where = getenv("TMPDIR");
	struct error *err = NULL;

	if (!where || !*where)
		where = "/tmp";
	if (asprintf(&tempfolder.path, "%s/racewatch-%s.XXXXXX", where, name) <
	    0)
		return error_nomem;
	if (!mkdtemp(tempfolder.path)) {
		err = error_os(errno, "make the directory %s", tempfolder.path);
		free(tempfolder.path);
		return err;
	}
	err = start_remover(&tempfolder);
	if (err)
		tempfolder_remove(&tempfolder);
	else
		*ret = tempfolder;
	return err;
}

void tempfolder_remove(struct tempfolder *tempfolder)
{
	if (!tempfolder->path)
		return;
	remove_folder(tempfolder->path);
	if (tempfolder->fd >= 0)
		close(tempfolder->fd);
	/* who was forked may have that end, and last longer */
	if (tempfolder->remover > 0)
		kill(tempfolder->remover, SIGKILL);
	while (tempfolder->remover > 0 &&
	       waitpid(tempfolder->remover, NULL, 0) < 0 && errno == EINTR)
		;
	free(tempfolder->path);
	*tempfolder = (struct tempfolder){ 0 };
}

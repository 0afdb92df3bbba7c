/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which files a recording has; see traces.h.
 */
#include "hunt/traces.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "base/vec.h"

/* For processes that run on, and for what ends the traces of killed ones. */
static const uint64_t AWAIT_NS = 2 * CLOCK_NS_PER_S;
static const uint64_t AWAIT_HEIR_NS = 60 * CLOCK_NS_PER_S;

enum { AWAIT_PAUSE_NS = 20000000 };

static struct error *add_path(struct vec *paths, const char *path)
{
	char *copy = strdup(path);

	if (copy && vec_push(paths, &copy))
		return NULL;
	free(copy);
	return error_nomem;
}

/* What the folder's name has that glob(3) would take for a pattern. */
static void add_escaped(struct strbuf *pattern, const char *text)
{
	for (; *text; text++) {
		if (strchr("*?[]\\", *text))
			strbuf_add(pattern, "\\");
		strbuf_add_bytes(pattern, text, 1);
	}
}

/* The folder's traces; end with globfree() if it is 0. */
static int find_files(const char *folder, glob_t *ret)
{
	struct strbuf pattern = { 0 };
	int failed;

	add_escaped(&pattern, folder);
	strbuf_add(&pattern, "/trace.*");
	failed = pattern.failed ? GLOB_NOSPACE
				: glob(strbuf_text(&pattern), 0, NULL, ret);
	strbuf_deinit(&pattern);
	return failed;
}

static bool is_empty(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && status.st_size == 0;
}

static struct error *add_folder(struct vec *paths, const char *path)
{
	struct error *err = NULL;
	size_t empty = 0;
	glob_t files;
	int failed = find_files(path, &files);

	if (failed == GLOB_NOMATCH)
		return error_create(ERROR_USAGE, "%s has no file trace.*",
				    path);
	if (failed)
		return error_nomem;
	for (size_t i = 0; !err && i < files.gl_pathc; i++) {
		if (is_empty(files.gl_pathv[i])) {
			log_warn("%s is empty: its process was killed, or runs "
				 "on after the command",
				 files.gl_pathv[i]);
			empty++;
			continue;
		}
		err = add_path(paths, files.gl_pathv[i]);
	}
	if (!err && empty == files.gl_pathc)
		err = error_create(ERROR_FORMAT,
				   "%s is empty, as are all traces of the "
				   "folder",
				   files.gl_pathv[0]);
	globfree(&files);
	return err;
}

/* Somebody still has the lock of the file (recorder/heir.h). */
static bool is_locked(const char *path)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 &&
	       errno == EWOULDBLOCK;
}

/* Is its process there, by the id in its name? */
static bool is_alive(const char *path)
{
	const char *name = strrchr(path, '/');
	long pid = strtol(name + strlen("/trace."), NULL, 10);

	return pid > 0 && (kill((pid_t)pid, 0) == 0 || errno != ESRCH);
}

/* Whether it is worth while to wait for one of them any more. */
static bool are_awaited(const glob_t *files, uint64_t waited_ns)
{
	bool soon = waited_ns < AWAIT_NS;

	for (size_t i = 0; i < files->gl_pathc; i++) {
		const char *path = files->gl_pathv[i];

		if (soon && is_empty(path))
			return true;
		if (is_locked(path) &&
		    (soon || (waited_ns < AWAIT_HEIR_NS && !is_alive(path))))
			return true;
	}
	return false;
}

void traces_await(const char *folder)
{
	const struct timespec pause = { .tv_nsec = AWAIT_PAUSE_NS };
	uint64_t begun = clock_now_ns();
	bool awaited = true;

	while (awaited) {
		glob_t files;

		if (find_files(folder, &files) != 0)
			return;
		awaited = are_awaited(&files, clock_now_ns() - begun);
		globfree(&files);
		if (awaited)
			nanosleep(&pause, NULL);
	}
}

struct error *traces_find(const char *path, struct vec *paths)
{
	struct stat status;
	struct error *err;

	if (stat(path, &status) < 0) {
		err = error_os(errno, "%s", path);
		if (err != error_nomem && err != error_gone)
			err->kind = ERROR_USAGE;
		return err;
	}
	if (S_ISDIR(status.st_mode))
		return add_folder(paths, path);
	return add_path(paths, path);
}

void traces_free(struct vec *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		free(*(char **)vec_at(paths, i));
	vec_deinit(paths);
}

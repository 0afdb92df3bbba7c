/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What runs have taught, in a file: racewatch-state(5). It is a database; JSON
 * lines of an earlier version are read, and replaced when something is added.
 */
#include "report/learned.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/log.h"
#include "report/learned-lines.h"
#include "report/learned-rows.h"
#include "store/store.h"

/* Where a file of JSON lines is kept, and whether it is there already. */
struct aside {
	char *path;
	bool done;
};

/* The caller frees ret->path. A file of another content is not replaced. */
static struct error *find_aside(const char *path, struct aside *ret)
{
	struct stat here, there;
	struct aside aside = { .path = NULL };

	if (asprintf(&aside.path, "%s.jsonl", path) < 0)
		return error_nomem;
	if (lstat(aside.path, &there) == 0) {
		struct error *err = NULL;

		aside.done = stat(path, &here) == 0 &&
			     here.st_dev == there.st_dev &&
			     here.st_ino == there.st_ino;
		if (!aside.done)
			err = error_create(
				ERROR_FORMAT,
				"%s: this state of an earlier version would be "
				"kept as %s, which exists: move one of the two",
				path, aside.path);
		if (err) {
			free(aside.path);
			return err;
		}
	}
	*ret = aside;
	return NULL;
}

static struct error *read_lines(struct learned *learned, const char *path)
{
	struct aside aside = { .path = NULL };
	struct error *err = learned_read_lines(learned, path);

	/* said before anything is run, not at its end */
	if (!err)
		err = find_aside(path, &aside);
	free(aside.path);
	return err;
}

struct error *learned_read(struct learned *learned, const char *path)
{
	enum store_content content = STORE_NOTHING;
	struct store *store = NULL;
	struct error *err = store_look(path, &content);

	if (!err && content == STORE_OTHER)
		return read_lines(learned, path);
	if (!err)
		err = store_open_existing(path, &learned_kind, &store);
	if (err || !store)
		return err;
	err = store_begin_read(store);
	if (!err)
		err = store_end(store, learned_read_rows(learned, store));
	store_close(store);
	return err;
}

static struct error *save_rows(const struct learned *learned, const char *path)
{
	struct store *store = NULL;
	struct error *err = store_open(path, &learned_kind, &store);

	if (err)
		return err;
	err = store_begin_write(store);
	if (!err)
		err = store_end(store, learned_add_rows(learned, store));
	store_close(store);
	return err;
}

/* Others that import the same file wait for the lock, and find it done. */
static struct error *lock_file(const char *path, int *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return error_os(errno, "%s", path);
	while (flock(fd, LOCK_EX) < 0) {
		struct error *err;

		if (errno == EINTR)
			continue;
		err = error_os(errno, "%s: flock", path);
		close(fd);
		return err;
	}
	*ret = fd;
	return NULL;
}

/* Write a database with the mode of the file that it will replace. */
static struct error *write_beside(const struct learned *learned,
				  const char *path, char *temporary)
{
	struct stat status;
	struct error *err = NULL;
	int fd = mkostemp(temporary, O_CLOEXEC);

	if (fd < 0)
		return error_os(errno, "%s", temporary);
	if (stat(path, &status) < 0 || fchmod(fd, status.st_mode & 0777) < 0)
		err = error_os(errno, "%s", temporary);
	/* before it is a database: see store.h */
	close(fd);
	if (!err)
		err = save_rows(learned, temporary);
	if (err)
		unlink(temporary);
	return err;
}

/* The name is never without a complete file. */
static struct error *put_in_place(const char *path, const char *temporary)
{
	struct aside aside = { .path = NULL };
	struct error *err = find_aside(path, &aside);

	if (!err && !aside.done && link(path, aside.path) < 0)
		err = error_os(errno, "%s", aside.path);
	if (!err && rename(temporary, path) < 0)
		err = error_os(errno, "%s: rename", temporary);
	if (err)
		unlink(temporary);
	else
		log_note("%s: this state of an earlier version was imported "
			 "into a database; the old file is kept as %s",
			 path, aside.path);
	free(aside.path);
	return err;
}

/* path is no symbolic link. Under the lock; another may have been faster. */
static struct error *import(const char *path)
{
	cleanup_free char *temporary = NULL;
	enum store_content content = STORE_NOTHING;
	struct learned old;
	struct error *err = store_look(path, &content);

	if (err || content != STORE_OTHER)
		return err;
	if (asprintf(&temporary, "%s.XXXXXX", path) < 0) {
		temporary = NULL;
		return error_nomem;
	}
	learned_init(&old);
	err = learned_read_lines(&old, path);
	if (!err)
		err = write_beside(&old, path, temporary);
	learned_deinit(&old);
	return err ? err : put_in_place(path, temporary);
}

static struct error *import_lines(const char *path)
{
	cleanup_free char *real = realpath(path, NULL);
	struct error *err;
	int fd;

	if (!real)
		return error_os(errno, "%s", path);
	err = lock_file(real, &fd);
	if (err)
		return err;
	err = import(real);
	close(fd);
	return err;
}

struct error *learned_save(const struct learned *learned, const char *path)
{
	enum store_content content = STORE_NOTHING;
	struct error *err = store_look(path, &content);

	if (!err && content == STORE_OTHER)
		err = import_lines(path);
	return err ? err : save_rows(learned, path);
}

static struct error *copy_bytes(const char *from, const char *to)
{
	cleanup_close int in = open(from, O_RDONLY | O_CLOEXEC);
	cleanup_close int out = -1;
	ssize_t n;

	if (in < 0)
		return error_os(errno, "%s", from);
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (out < 0)
		return error_os(errno, "%s", to);
	do {
		n = sendfile(out, in, NULL, 1 << 20);
	} while (n > 0);
	return n < 0 ? error_os(errno, "%s", to) : NULL;
}

struct error *learned_copy(const char *from, const char *to)
{
	enum store_content content = STORE_NOTHING;
	struct store *store = NULL;
	struct error *err = store_look(from, &content);

	if (!err && unlink(to) < 0 && errno != ENOENT)
		err = error_os(errno, "%s", to);
	if (!err && content == STORE_OTHER)
		return copy_bytes(from, to);
	if (!err)
		err = store_open_existing(from, &learned_kind, &store);
	if (err || !store)
		return err;
	err = store_copy(store, to);
	store_close(store);
	return err;
}

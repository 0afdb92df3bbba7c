/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which files a recording has; see traces.h.
 */
#include "hunt/traces.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"

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

static struct error *add_folder(struct vec *paths, const char *path)
{
	struct strbuf pattern = { 0 };
	struct error *err = NULL;
	glob_t files;
	int failed;

	add_escaped(&pattern, path);
	strbuf_add(&pattern, "/trace.*");
	failed = pattern.failed ? GLOB_NOSPACE
				: glob(strbuf_text(&pattern), 0, NULL, &files);
	strbuf_deinit(&pattern);
	if (failed == GLOB_NOMATCH)
		return error_create(ERROR_USAGE, "%s has no file trace.*",
				    path);
	if (failed)
		return error_nomem;
	for (size_t i = 0; !err && i < files.gl_pathc; i++)
		err = add_path(paths, files.gl_pathv[i]);
	globfree(&files);
	return err;
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

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Source lines; see source.h.
 */
#include "report/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "report/race.h"

enum {
	SOURCE_FRAMES = 3, /* of each side */
	SOURCE_FILE_MAX = 16 << 20, /* bytes; amalgamations have 9 million */
	SOURCE_BYTES_MAX = 64 << 20, /* of all files that are kept */
	SOURCE_LINE_MAX = 500,
};

/* As recorded, and its text. */
struct source_file {
	char *path;
	char *text; /* NULL: there is none */
	size_t size;
};

void sources_init(struct sources *sources, const struct vec *directories)
{
	*sources = (struct sources){
		.directories = directories,
		.files = VEC_INIT(struct source_file),
		.newer = VEC_INIT(char *),
	};
}

void sources_deinit(struct sources *sources)
{
	for (size_t i = 0; i < sources->files.count; i++) {
		struct source_file *file = vec_at(&sources->files, i);

		free(file->path);
		free(file->text);
	}
	for (size_t i = 0; i < sources->newer.count; i++)
		free(*(char **)vec_at(&sources->newer, i));
	vec_deinit(&sources->files);
	vec_deinit(&sources->newer);
}

/* All of it; false where it is shorter than it said, or no text. */
static bool read_text(int fd, char *text, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = read(fd, text + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return memchr(text, '\0', size) == NULL;
}

/* A FIFO or a terminal must neither be waited for nor become ours. */
static bool read_file(const char *path, size_t room, struct source_file *file,
		      struct stat *status)
{
	cleanup_close int fd =
		open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	size_t size;
	char *text;

	if (fd < 0 || fstat(fd, status) < 0 || !S_ISREG(status->st_mode) ||
	    status->st_size <= 0 || status->st_size > SOURCE_FILE_MAX)
		return false;
	size = (size_t)status->st_size;
	text = size <= room ? malloc(size) : NULL;
	if (!text || !read_text(fd, text, size)) {
		free(text);
		return false;
	}
	file->text = text;
	file->size = size;
	return true;
}

/* DIRECTORY/src/cache.c, DIRECTORY/cache.c, ... of /home/src/cache.c */
static bool find_below(const char *directory, size_t room,
		       struct source_file *file, struct stat *status)
{
	const char *rest = file->path;

	while (rest && *rest) {
		struct strbuf path = { 0 };
		bool found;

		rest += strspn(rest, "/");
		strbuf_addf(&path, "%s/%s", directory, rest);
		found = !path.failed && strncmp(rest, "../", 3) != 0 &&
			read_file(strbuf_text(&path), room, file, status);
		strbuf_deinit(&path);
		if (found)
			return true;
		rest = strchr(rest, '/');
	}
	return false;
}

static void remember_newer(struct sources *sources,
			   const struct race_frame *frame,
			   const struct stat *source)
{
	struct stat module;
	char *path;

	if (!frame->module || stat(frame->module, &module) < 0 ||
	    source->st_mtime <= module.st_mtime)
		return;
	path = strdup(frame->file);
	if (!path || !vec_push(&sources->newer, &path))
		free(path);
}

static void load_file(struct sources *sources, const struct race_frame *frame,
		      struct source_file *file)
{
	size_t room = SOURCE_BYTES_MAX - sources->bytes;
	const struct vec *directories = sources->directories;
	struct stat status;
	bool found = false;

	for (size_t i = 0; !found && i < directories->count; i++)
		found = find_below(*(const char **)vec_at(directories, i), room,
				   file, &status);
	if (!found)
		found = read_file(file->path, room, file, &status);
	sources->bytes += file->size;
	if (found)
		remember_newer(sources, frame, &status);
}

/* Also one that is not there is looked for only once. NULL: no memory. */
static const struct source_file *source_file(struct sources *sources,
					     const struct race_frame *frame)
{
	struct source_file file = { .path = NULL };

	for (size_t i = 0; i < sources->files.count; i++) {
		const struct source_file *known = vec_at(&sources->files, i);

		if (strcmp(known->path, frame->file) == 0)
			return known;
	}
	file.path = strdup(frame->file);
	if (!file.path ||
	    !vec_reserve(&sources->files, sources->files.count + 1)) {
		free(file.path);
		return NULL;
	}
	load_file(sources, frame, &file);
	vec_push(&sources->files, &file);
	return vec_at(&sources->files, sources->files.count - 1);
}

/* The line of this number, from 1; NULL when there is none, or it is long. */
static char *source_line(const struct source_file *file, int number)
{
	const char *at = file->text, *end = file->text + file->size;
	const char *newline;

	for (; at && number > 1; number--) {
		at = memchr(at, '\n', (size_t)(end - at));
		at = at ? at + 1 : NULL;
	}
	if (!at || at == end)
		return NULL;
	newline = memchr(at, '\n', (size_t)(end - at));
	end = newline ? newline : end;
	while (end > at && end[-1] == '\r')
		end--;
	if (end - at > SOURCE_LINE_MAX)
		return NULL;
	return strndup(at, (size_t)(end - at));
}

void sources_describe(struct sources *sources, struct race *race)
{
	for (int side = 0; side < 2; side++) {
		struct vec *frames = &race->sides[side].frames;

		for (size_t i = 0; i < frames->count && i < SOURCE_FRAMES;
		     i++) {
			struct race_frame *frame = vec_at(frames, i);
			const struct source_file *file;

			if (!frame->file || frame->line <= 0 || frame->source)
				continue;
			file = source_file(sources, frame);
			if (file && file->text)
				frame->source = source_line(file, frame->line);
		}
	}
}

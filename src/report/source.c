/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Source lines; see source.h.
 */
#include "report/source.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/opener.h"
#include "base/rights.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "report/race.h"

enum {
	SOURCE_FRAMES = 3, /* of each side */
	SOURCE_FILE_MAX = 16 << 20, /* bytes; amalgamations have 9 million */
	SOURCE_BYTES_MAX = 64 << 20, /* of all files that are kept */
	SOURCE_LINE_MAX = 500,
};

/* As recorded, and its text. */
struct source_file {
	char *path, *folder; /* see struct race_frame */
	bool foreign; /* read with the rights of user uid, or with our own */
	uid_t uid;
	struct textfile text; /* without bytes: there is none */
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
		free(file->folder);
		textfile_deinit(&file->text);
	}
	for (size_t i = 0; i < sources->newer.count; i++)
		free(*(char **)vec_at(&sources->newer, i));
	vec_deinit(&sources->files);
	vec_deinit(&sources->newer);
}

/* A frame whose source is wanted, and with whose rights. */
struct wanted {
	struct sources *sources;
	const struct race_frame *frame;
	const struct rights *rights;
};

static bool read_source(const struct wanted *wanted, const char *path,
			size_t most, struct source_file *file)
{
	return textfile_read(&file->text, wanted->sources->opener,
			     wanted->rights, path, most);
}

/* DIRECTORY/src/cache.c, DIRECTORY/cache.c, ... of /home/src/cache.c */
static bool find_below(const struct wanted *wanted, const char *directory,
		       size_t most, struct source_file *file)
{
	const char *rest = file->path;

	while (rest && *rest) {
		struct strbuf path = { 0 };
		bool found;

		rest += strspn(rest, "/");
		strbuf_addf(&path, "%s/%s", directory, rest);
		found = !path.failed && strncmp(rest, "../", 3) != 0 &&
			read_source(wanted, strbuf_text(&path), most, file);
		strbuf_deinit(&path);
		if (found)
			return true;
		rest = strchr(rest, '/');
	}
	return false;
}

/* As it is recorded: where it was compiled, or below our own directory. */
static bool find_recorded(const struct wanted *wanted, size_t most,
			  struct source_file *file)
{
	struct strbuf path = { 0 };
	bool found = false;

	if (file->folder && file->path[0] != '/') {
		strbuf_addf(&path, "%s/%s", file->folder, file->path);
		found = !path.failed &&
			read_source(wanted, strbuf_text(&path), most, file);
		strbuf_deinit(&path);
	}
	return found || read_source(wanted, file->path, most, file);
}

static bool stat_module(const struct wanted *wanted, struct stat *ret)
{
	const struct open_request request = {
		.path = wanted->frame->module,
		.rights = wanted->rights,
	};
	struct error *err;

	if (!request.path)
		return false;
	err = opener_stat(wanted->sources->opener, &request, ret);
	error_free(err);
	return !err;
}

static void remember_newer(const struct wanted *wanted,
			   const struct textfile *source)
{
	struct sources *sources = wanted->sources;
	const struct race_frame *frame = wanted->frame;
	struct stat module;
	char *path;

	if (!stat_module(wanted, &module) ||
	    source->modified.tv_sec <= module.st_mtim.tv_sec)
		return;
	path = strdup(frame->file);
	if (!path || !vec_push(&sources->newer, &path))
		free(path);
}

static void load_file(const struct wanted *wanted, struct source_file *file)
{
	struct sources *sources = wanted->sources;
	size_t room = SOURCE_BYTES_MAX - sources->bytes;
	size_t most = room < SOURCE_FILE_MAX ? room : SOURCE_FILE_MAX;
	const struct vec *directories = sources->directories;
	bool found = false;

	for (size_t i = 0; !found && i < directories->count; i++)
		found = find_below(wanted,
				   *(const char **)vec_at(directories, i), most,
				   file);
	if (!found)
		found = find_recorded(wanted, most, file);
	sources->bytes += file->text.size;
	if (found)
		remember_newer(wanted, &file->text);
}

/* What one user may read is not shown for another. */
static bool is_known_as(const struct source_file *file,
			const struct source_file *known)
{
	const char *folders[] = { known->folder, file->folder };

	return strcmp(known->path, file->path) == 0 &&
	       strcmp(folders[0] ? folders[0] : "",
		      folders[1] ? folders[1] : "") == 0 &&
	       known->foreign == file->foreign && known->uid == file->uid;
}

/* Also one that is not there is looked for only once. NULL: no memory. */
static const struct source_file *source_file(const struct wanted *wanted)
{
	struct sources *sources = wanted->sources;
	const struct race_frame *frame = wanted->frame;
	struct source_file file = { .path = frame->file,
				    .folder = frame->folder };

	file.foreign = wanted->rights && wanted->rights->foreign;
	file.uid = file.foreign ? wanted->rights->uid : 0;
	for (size_t i = 0; i < sources->files.count; i++) {
		const struct source_file *known = vec_at(&sources->files, i);

		if (is_known_as(&file, known))
			return known;
	}
	file.path = strdup(file.path);
	file.folder = frame->folder ? strdup(frame->folder) : NULL;
	if (!file.path || (frame->folder && !file.folder) ||
	    !vec_reserve(&sources->files, sources->files.count + 1)) {
		free(file.path);
		free(file.folder);
		return NULL;
	}
	load_file(wanted, &file);
	vec_push(&sources->files, &file);
	return vec_at(&sources->files, sources->files.count - 1);
}

/* NULL when there is no such line, or it is long. */
static char *source_line(const struct textfile *text, int number)
{
	const char *line;
	size_t size;

	if (!text->bytes || !textfile_line(text, number, &line, &size) ||
	    size > SOURCE_LINE_MAX)
		return NULL;
	return strndup(line, size);
}

void sources_describe(struct sources *sources, struct race *race,
		      const struct rights *const rights[2])
{
	for (int side = 0; side < 2; side++) {
		struct vec *frames = &race->sides[side].frames;

		for (size_t i = 0; i < frames->count && i < SOURCE_FRAMES;
		     i++) {
			struct race_frame *frame = vec_at(frames, i);
			const struct wanted wanted = { sources, frame,
						       rights[side] };
			const struct source_file *file;

			if (!frame->file || frame->line <= 0 || frame->source)
				continue;
			file = source_file(&wanted);
			if (file)
				frame->source =
					source_line(&file->text, frame->line);
		}
	}
}

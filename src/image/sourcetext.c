/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Source files by line; see sourcetext.h.
 */
#include "image/sourcetext.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/textfile.h"
#include "image/fileaccess.h"

enum {
	FILE_MAX = 4 << 20,
	TOTAL_MAX = 64 << 20, /* then no more files are read */
};

struct source_texts {
	struct file_access *access;
	struct map files; /* hash of the path -> struct textfile *, or 0 */
	size_t total;
	struct timespec made; /* the module's modification time */
};

struct source_texts *source_texts_create(struct file_access *access,
					 const char *module_path)
{
	struct source_texts *texts = calloc(1, sizeof(*texts));
	struct error *err;
	struct stat st;

	if (!texts)
		return NULL;
	texts->access = access;
	err = file_access_stat_own(access, module_path, &st);
	if (!err)
		texts->made = st.st_mtim;
	error_free(err);
	return texts;
}

static void text_destroy(struct textfile *text)
{
	if (text)
		textfile_deinit(text);
	free(text);
}

void source_texts_destroy(struct source_texts *texts)
{
	uint64_t key, value;
	size_t at = 0;

	if (!texts)
		return;
	while (map_next(&texts->files, &at, &key, &value))
		text_destroy((struct textfile *)(uintptr_t)value);
	map_deinit(&texts->files);
	free(texts);
}

static bool is_older(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec < b->tv_sec ||
	       (a->tv_sec == b->tv_sec && a->tv_nsec <= b->tv_nsec);
}

/* NULL unless the file looks like what the module was made from. */
static struct textfile *text_open(struct source_texts *texts, const char *path)
{
	size_t room = TOTAL_MAX - texts->total;
	struct textfile *text = calloc(1, sizeof(*text));
	struct opener *opener = texts->access ? texts->access->opener : NULL;

	if (text &&
	    textfile_read(text, opener, file_access_rights(texts->access), path,
			  room < FILE_MAX ? room : FILE_MAX) &&
	    is_older(&text->modified, &texts->made)) {
		texts->total += text->size;
		return text;
	}
	text_destroy(text);
	return NULL;
}

static const struct textfile *text_of(struct source_texts *texts,
				      const char *path)
{
	uint64_t hash = hash_text(path);
	uint64_t *known = map_get(&texts->files, hash);
	struct textfile *text;

	if (known)
		return (const struct textfile *)(uintptr_t)*known;
	text = text_open(texts, path);
	if (!map_set(&texts->files, hash, (uint64_t)(uintptr_t)text)) {
		text_destroy(text);
		return NULL;
	}
	return text;
}

bool source_texts_line(struct source_texts *texts, const char *path, int line,
		       const char **ret, size_t *ret_size)
{
	const struct textfile *text;

	if (path[0] != '/')
		return false;
	text = text_of(texts, path);
	return text && textfile_line(text, line, ret, ret_size);
}

bool source_texts_all(struct source_texts *texts, const char *path,
		      const char **ret, size_t *ret_size)
{
	const struct textfile *text;

	/* half of the room is for those that are asked for by line */
	if (path[0] != '/' || (texts->total > TOTAL_MAX / 2 &&
			       !map_get(&texts->files, hash_text(path))))
		return false;
	text = text_of(texts, path);
	if (!text)
		return false;
	*ret = text->bytes;
	*ret_size = text->size;
	return true;
}

bool source_texts_rest(struct source_texts *texts, const char *path,
		       const char *at, size_t *ret_size)
{
	const struct textfile *text = text_of(texts, path);

	if (!text || at < text->bytes || at > text->bytes + text->size)
		return false;
	*ret_size = (size_t)(text->bytes + text->size - at);
	return true;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Source files by line; see sourcetext.h.
 */
#include "image/sourcetext.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "base/vec.h"

enum {
	FILE_MAX = 4 << 20,
	TOTAL_MAX = 64 << 20, /* then no more files are read */
};

struct source_text {
	char *bytes;
	size_t size;
	struct vec lines; /* of uint32_t: where each begins */
};

struct source_texts {
	struct map files; /* hash of the path -> struct source_text *, or 0 */
	size_t total;
	struct timespec made; /* the module's modification time */
};

struct source_texts *source_texts_create(const char *module_path)
{
	struct source_texts *texts = calloc(1, sizeof(*texts));
	struct stat st;

	if (texts && stat(module_path, &st) == 0)
		texts->made = st.st_mtim;
	return texts;
}

static void source_text_destroy(struct source_text *text)
{
	if (!text)
		return;
	vec_deinit(&text->lines);
	free(text->bytes);
	free(text);
}

void source_texts_destroy(struct source_texts *texts)
{
	uint64_t key, value;
	size_t at = 0;

	if (!texts)
		return;
	while (map_next(&texts->files, &at, &key, &value))
		source_text_destroy((struct source_text *)(uintptr_t)value);
	map_deinit(&texts->files);
	free(texts);
}

/* FNV-1a. */
static uint64_t path_hash(const char *path)
{
	uint64_t hash = 0xcbf29ce484222325u;

	while (*path)
		hash = (hash ^ (uint8_t)*path++) * 0x100000001b3u;
	return hash;
}

static bool is_older(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec < b->tv_sec ||
	       (a->tv_sec == b->tv_sec && a->tv_nsec <= b->tv_nsec);
}

/* Does the file look like what the module was made from? */
static bool is_usable(const struct source_texts *texts, int fd,
		      size_t *ret_size)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 ||
	    st.st_size > FILE_MAX || !is_older(&st.st_mtim, &texts->made) ||
	    texts->total + (size_t)st.st_size > TOTAL_MAX)
		return false;
	*ret_size = (size_t)st.st_size;
	return true;
}

static bool text_read(struct source_text *text, int fd, size_t size)
{
	ssize_t n;

	text->bytes = malloc(size);
	if (!text->bytes)
		return false;
	while (text->size < size) {
		n = read(fd, text->bytes + text->size, size - text->size);
		if (n <= 0)
			break;
		text->size += (size_t)n;
	}
	return text->size > 0;
}

static bool text_index(struct source_text *text)
{
	uint32_t at = 0;
	char *end;

	while (at < text->size) {
		if (!vec_push(&text->lines, &at))
			return false;
		end = memchr(text->bytes + at, '\n', text->size - at);
		at = end ? (uint32_t)(end - text->bytes) + 1
			 : (uint32_t)text->size;
	}
	return true;
}

static struct source_text *source_text_open(struct source_texts *texts,
					    const char *path)
{
	/* not to wait for a writer of a pipe */
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct source_text *text;
	size_t size;

	if (fd < 0 || !is_usable(texts, fd, &size))
		return NULL;
	text = calloc(1, sizeof(*text));
	if (!text)
		return NULL;
	text->lines = (struct vec)VEC_INIT(uint32_t);
	if (!text_read(text, fd, size) || !text_index(text)) {
		source_text_destroy(text);
		return NULL;
	}
	texts->total += text->size;
	return text;
}

static const struct source_text *source_text_of(struct source_texts *texts,
						const char *path)
{
	uint64_t hash = path_hash(path);
	uint64_t *known = map_get(&texts->files, hash);
	struct source_text *text;

	if (known)
		return (const struct source_text *)(uintptr_t)*known;
	text = source_text_open(texts, path);
	if (!map_set(&texts->files, hash, (uint64_t)(uintptr_t)text)) {
		source_text_destroy(text);
		return NULL;
	}
	return text;
}

bool source_texts_line(struct source_texts *texts, const char *path, int line,
		       const char **ret, size_t *ret_size)
{
	const struct source_text *text;
	size_t start, end;

	if (path[0] != '/' || line < 1)
		return false;
	text = source_text_of(texts, path);
	if (!text || (size_t)line > text->lines.count)
		return false;
	start = *(uint32_t *)vec_at(&text->lines, (size_t)line - 1);
	end = (size_t)line < text->lines.count
		      ? *(uint32_t *)vec_at(&text->lines, (size_t)line) - 1
		      : text->size;
	*ret = text->bytes + start;
	*ret_size = end - start;
	return true;
}

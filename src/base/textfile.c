/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text by line; see textfile.h.
 */
#include "base/textfile.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/opener.h"

/* All of it; false where the file is shorter than it said, or no text. */
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

static bool index_lines(struct textfile *file)
{
	uint32_t at = 0;

	while (at < file->size) {
		const char *start = file->bytes + at;
		const char *end = memchr(start, '\n', file->size - at);

		if (!vec_push(&file->lines, &at))
			return false;
		at = end ? (uint32_t)(end - file->bytes) + 1
			 : (uint32_t)file->size;
	}
	return true;
}

bool textfile_read(struct textfile *ret, struct opener *opener,
		   const struct rights *rights, const char *path, size_t most)
{
	const struct open_request request = { .path = path, .rights = rights };
	struct textfile file = { .lines = VEC_INIT(uint32_t) };
	cleanup_close int fd = -1;
	struct stat status;
	struct error *err = opener_open(opener, &request, &fd, &status);

	if (err) {
		error_free(err);
		return false;
	}
	if (most > TEXTFILE_SIZE_MAX)
		most = TEXTFILE_SIZE_MAX;
	if (status.st_size <= 0 || (uint64_t)status.st_size > most)
		return false;
	file.size = (size_t)status.st_size;
	file.modified = status.st_mtim;
	file.bytes = malloc(file.size);
	if (!file.bytes || !read_text(fd, file.bytes, file.size) ||
	    !index_lines(&file)) {
		textfile_deinit(&file);
		return false;
	}
	*ret = file;
	return true;
}

void textfile_deinit(struct textfile *file)
{
	free(file->bytes);
	vec_deinit(&file->lines);
	*file = (struct textfile){ .bytes = NULL };
}

bool textfile_line(const struct textfile *file, int line, const char **ret,
		   size_t *ret_size)
{
	size_t start, end = file->size;

	if (line < 1 || (size_t)line > file->lines.count)
		return false;
	start = *(const uint32_t *)vec_at(&file->lines, (size_t)line - 1);
	if ((size_t)line < file->lines.count)
		end = *(const uint32_t *)vec_at(&file->lines, (size_t)line);
	if (end > start && file->bytes[end - 1] == '\n')
		end--;
	while (end > start && file->bytes[end - 1] == '\r')
		end--;
	*ret = file->bytes + start;
	*ret_size = end - start;
	return true;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A text file that others name, read into memory, by line. A file that is not
 * regular, is large or is not text is treated as missing, and nothing is waited
 * for.
 */
#ifndef BASE_TEXTFILE_H
#define BASE_TEXTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "base/vec.h"

struct opener;
struct rights;

struct textfile {
	char *bytes; /* not terminated */
	size_t size;
	struct vec lines; /* of uint32_t: where each begins */
	struct timespec modified;
};

enum { TEXTFILE_SIZE_MAX = 1 << 30 };

/*
 * Read a file of 1 to `most' bytes (TEXTFILE_SIZE_MAX at most), none of them
 * NUL. False: there is none, or no memory; *ret is then as it was. It is opened
 * by opener, which may be NULL, with the rights (NULL: our own); base/opener.h.
 */
bool textfile_read(struct textfile *ret, struct opener *opener,
		   const struct rights *rights, const char *path, size_t most);
/* One that is all zero is fine. */
void textfile_deinit(struct textfile *file);

/*
 * The text of a line, counted from 1, without its end (LF, or CR LF); false
 * when there are fewer. *ret is not terminated and valid until deinit.
 */
bool textfile_line(const struct textfile *file, int line, const char **ret,
		   size_t *ret_size);

#endif

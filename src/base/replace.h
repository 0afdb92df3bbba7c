/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Replacing a file atomically: the new content is written to a file beside it,
 * which is renamed when it is complete. A reader sees the old or the new file.
 */
#ifndef BASE_REPLACE_H
#define BASE_REPLACE_H

#include <stdio.h>

struct error;

/* Writes the new content; buffered output is flushed afterwards. */
typedef struct error *replace_write(const void *context, FILE *file);

/*
 * The file a symbolic link leads to, not the link, is replaced; its mode stays.
 * On failure the old file is as it was.
 */
struct error *replace_file(const char *path, replace_write *write,
			   const void *context);

#endif

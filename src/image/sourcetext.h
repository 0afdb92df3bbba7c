/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lines of source files that are at hand, for evidence that only the source
 * has. Private to src/image. A file is read when it is first needed, and kept.
 * A file that is not regular, is too large for a source file, or was changed
 * after the module was built is treated as missing.
 */
#ifndef IMAGE_SOURCETEXT_H
#define IMAGE_SOURCETEXT_H

#include <stdbool.h>
#include <stddef.h>

struct file_access;
struct source_texts;

/*
 * The sources of the module at module_path; or NULL. They are opened by access,
 * which must outlive them; NULL is fine.
 */
struct source_texts *source_texts_create(struct file_access *access,
					 const char *module_path);
/* NULL is fine. */
void source_texts_destroy(struct source_texts *texts);

/*
 * The text of a line, counted from 1, without its end; false when it is not
 * at hand. *ret is not terminated and valid until the end of texts.
 */
bool source_texts_line(struct source_texts *texts, const char *path, int line,
		       const char **ret, size_t *ret_size);

/*
 * All of a file. False also if it was not read before and the kept files
 * already have half of their maximum size.
 */
bool source_texts_all(struct source_texts *texts, const char *path,
		      const char **ret, size_t *ret_size);

/* How many bytes of that file there are from a place in its text on. */
bool source_texts_rest(struct source_texts *texts, const char *path,
		       const char *at, size_t *ret_size);

#endif

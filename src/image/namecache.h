/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names of code of a library, kept from run to run (base/cachefile.h), by its
 * build id: reading the debug information of the C library for three frames
 * takes several times as long as the rest of a short run. Private to src/image.
 *
 * What is kept holds for the very files that it was read from: the library and
 * its debug file, by device, inode, size and times. A build id alone may be
 * claimed by any file.
 */
#ifndef IMAGE_NAMECACHE_H
#define IMAGE_NAMECACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elffile;
struct error;
struct name_cache;

/* As struct code_frame, within a module. */
struct name_frame {
	char *function;
	char *file; /* or NULL */
	int line, column;
	bool inlined;
};

/*
 * What is known of these files; debug may be NULL. *ret is NULL when nothing can
 * be kept of them: there is no build id, or a file is not one of the disk. Only
 * ERROR_NOMEM.
 */
struct error *name_cache_open(const char *build_id, const struct elffile *file,
			      const struct elffile *debug,
			      struct name_cache **ret);

/* Save what was added. NULL is fine. */
void name_cache_close(struct name_cache *cache);

/*
 * The frames of the code at that address of the file, innermost first; NULL if
 * it is not known. Valid until the next name_cache_add().
 */
const struct name_frame *name_cache_find(const struct name_cache *cache,
					 uint64_t address, size_t *ret_count);

/* Copied. All have a function. Beyond a limit it is not kept. */
struct error *name_cache_add(struct name_cache *cache, uint64_t address,
			     const struct name_frame *frames, size_t count);

#endif

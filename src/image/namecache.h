/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A cache of names of code in a library, from run to run (base/cachefile.h), by
 * its build id: reading the debug information of the C library for three frames
 * takes several times as long as the rest of a short run. Private to src/image.
 *
 * An entry is valid only for the files that it was read from: the library and
 * its debug file, by device, inode, size and times. The build id is not enough,
 * since any file may have it.
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
 * The cache of these files; debug may be NULL. *ret is NULL if they cannot be
 * cached: there is no build id, or a file is not on a disk. Only ERROR_NOMEM.
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

/*
 * Add frames, which are copied. All have a function. Ignored when the cache is
 * full.
 */
struct error *name_cache_add(struct name_cache *cache, uint64_t address,
			     const struct name_frame *frames, size_t count);

#endif

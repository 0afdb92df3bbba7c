/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cache: files that save work in later runs. They are in
 * $XDG_CACHE_HOME/racewatch, else ~/.cache/racewatch; there is no cache when
 * RACEWATCH_CACHE is "off". The files may be deleted at any time. Runs share
 * them: a file is complete or does not exist. A file that cannot be read or
 * written is treated as missing, without a message.
 *
 * A file is read only if the user owns it and its folder, if nobody else may
 * write to them, and if it is complete: it contains its length and checksum,
 * and the version of racewatch that wrote it. The caller must still check the
 * contents: that they describe the file they are wanted for, and that offsets
 * are in its bounds.
 */
#ifndef BASE_CACHEFILE_H
#define BASE_CACHEFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CACHEFILE_MAX = 16 << 20, /* bytes of one file */
	CACHEFILE_ALL_MAX = 64 << 20, /* of all: the oldest go first */
};

/*
 * The contents that cachefile_write() wrote with the same format; false if
 * there are none. A caller increases format when it changes what it writes. The
 * caller frees *ret.
 */
bool cachefile_read(const char *name, uint32_t format, void **ret,
		    size_t *ret_size);

/* The contents in memory, as far as they are read: nothing is copied. */
struct cachefile_map {
	const void *bytes; /* aligned to 8 bytes */
	size_t size;
	void *mapping; /* for cachefile_unmap() */
};

/*
 * The same, mapped, which takes less time where there are megabytes. What is
 * truncated later reads as zeros (truncated.h): the caller checks what it uses.
 */
bool cachefile_map(const char *name, uint32_t format,
		   struct cachefile_map *ret);
void cachefile_unmap(struct cachefile_map *map);

/* Replace the file. name is no path, and does not begin with a dot. */
void cachefile_write(const char *name, uint32_t format, const void *bytes,
		     size_t size);

/* Only exposed for tests: delete the oldest files of an open folder. */
void cachefile_prune(int folder, uint64_t most);

#endif

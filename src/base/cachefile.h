/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files of our own that save work in later runs: in
 * $XDG_CACHE_HOME/racewatch, else ~/.cache/racewatch; nowhere when
 * RACEWATCH_CACHE is "off". They may be deleted at any time, and runs share them:
 * a file is complete or not there. What cannot be read or written is as good as
 * not there, silently.
 *
 * A file is read only if it and its folder are ours and nobody else may write
 * to them, and if it is whole: its length and checksum are in it, with the
 * version of racewatch that wrote it. Still, the caller checks what it says: that
 * it is of the very file that it is wanted for, and in its bounds.
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
 * The contents, as cachefile_write() had them, of format, which a caller raises
 * when it writes something else; false if there is none. *ret is the caller's
 * (free()).
 */
bool cachefile_read(const char *name, uint32_t format, void **ret,
		    size_t *ret_size);

/* Replace the file. name is no path, and does not begin with a dot. */
void cachefile_write(const char *name, uint32_t format, const void *bytes,
		     size_t size);

/* Only exposed for tests: delete the oldest files of an open folder. */
void cachefile_prune(int folder, uint64_t most);

#endif

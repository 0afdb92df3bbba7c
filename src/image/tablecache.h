/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A cache of the tables of text of an ELF file (elftables.h), from run to run
 * (base/cachefile.h), by its build id: in a file of a hundred megabytes,
 * reading symbols and .eh_frame takes several times as long as all else before
 * the first breakpoint. Private to src/image.
 *
 * An entry is valid only for the files that it was read from: the file and its
 * debug file, by device, inode, size and times, and the file's headers. The
 * build id is not enough, since any file may have it. It says where functions
 * begin, so that a breakpoint depends on it: each function is checked against
 * the file's segments as one that was just read is.
 */
#ifndef IMAGE_TABLECACHE_H
#define IMAGE_TABLECACHE_H

#include <stdbool.h>

struct elffile;
struct vec;

struct table_source {
	const char *build_id; /* NULL: nothing is kept */
	/* their contents have been read; debug may be NULL */
	const struct elffile *file, *debug;
	struct vec *functions; /* of struct elf_function, by start */
	struct vec *plt, *rseq; /* of struct code_range, united */
};

/*
 * Fill the empty tables with what an earlier run kept of these files. False: the
 * tables are empty; there is none, or it is damaged, or of other files, or there
 * is no memory.
 */
bool table_cache_load(const struct table_source *source);

/*
 * Keep tables that were read from these files. Not those of small files, which
 * are read as fast; nor of a file that has just been written, whose next contents
 * might have the same times.
 */
void table_cache_save(const struct table_source *source);

#endif

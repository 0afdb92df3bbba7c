/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * /proc/PID/maps as data (proc(5)). A malformed line is an error that quotes
 * it.
 */
#ifndef IMAGE_MAPS_H
#define IMAGE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct error;

struct map_entry {
	uint64_t start, end; /* [start, end) */
	uint64_t offset; /* in the file */
	uint32_t dev_major, dev_minor;
	uint64_t inode; /* 0: anonymous */
	bool read, write, exec, shared;
	bool deleted; /* the path ended in " (deleted)", cut off */
	char *path; /* "" when anonymous; "[heap]", "[stack]", "[vdso]" */
};

struct maps {
	struct vec entries; /* of struct map_entry, by address */
	/*
	 * the thread whose files in /proc are read: the first one, or another
	 * when that has exited; 0 for a text
	 */
	int tid;
};

void maps_init(struct maps *maps);
void maps_deinit(struct maps *maps);

/*
 * Read the maps of pid into *ret, replacing what it held; untouched on
 * failure. error_gone when the process has no memory any more (exited).
 */
struct error *maps_read(int pid, struct maps *ret);

/* Parse a text of that form into *ret, likewise; name is for messages. */
struct error *maps_parse(const char *name, const char *text, size_t size,
			 struct maps *ret);

/* The entry that holds address, or NULL. */
const struct map_entry *maps_find(const struct maps *maps, uint64_t address);

#endif

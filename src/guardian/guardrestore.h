/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes the original text back from the guardian's table, in a process other
 * than the tracer. No thread needs to be stopped. After guardrestore_create()
 * it cannot run out of memory: pages with an int3 are in memory, and reading
 * them needs no allocation (sys/memory.h).
 */
#ifndef GUARDIAN_GUARDRESTORE_H
#define GUARDIAN_GUARDRESTORE_H

#include <stdint.h>

#include "guardian/guardtable.h"
#include "sys/memory.h"

enum {
	/* for entries by page; a power of two */
	GUARDRESTORE_BUCKETS = 16384,
};

struct guardrestore {
	struct guardtable *table;
	struct memory memories[GUARDTABLE_SPACES]; /* as of opened[] */
	uint32_t opened[GUARDTABLE_SPACES]; /* use of the space; 0: none */
	/* entries by page: the first of each bucket, then the next; plus 1 */
	uint32_t first[GUARDRESTORE_BUCKETS];
	uint32_t next[GUARDTABLE_ENTRIES];
};

struct error *guardrestore_create(struct guardtable *table,
				  struct guardrestore **ret);
void guardrestore_destroy(struct guardrestore *restore);

/* Open the memory of spaces that came, close that of those that went. */
void guardrestore_open(struct guardrestore *restore);

/*
 * Write all text back, the breakpoints armed last first: those armed long ago
 * are seldom reached. Entries that are done are freed (the tracer must be dead,
 * since its list is not updated). Returns how many are left because their text
 * could not be written, or could not be read though it may have them.
 */
uint32_t guardrestore_text(struct guardrestore *restore);

/*
 * The same for the entries that are left in one space, through a stopped thread
 * of it.
 */
void guardrestore_through(struct guardrestore *restore, uint32_t space,
			  pid_t stopped_tid);

#endif

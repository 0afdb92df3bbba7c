/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writing the original text back from the guardian's table, by whoever is not
 * the tracer. Nothing needs to be stopped for it. After guardrestore_create() it
 * does not fail for want of memory: pages with an int3 are in memory, and how
 * such pages are read needs no allocation (sys/memory.h).
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
 * Write all text back, the breakpoints armed last first: of those armed for
 * long it is known that they are seldom met. Entries dealt with are freed (the
 * tracer's list does not know: it must be dead). Returns how many are left
 * because the text could be read, but not written.
 */
uint32_t guardrestore_text(struct guardrestore *restore);

/*
 * The same for what is left of one space, through a stopped thread of it.
 */
void guardrestore_through(struct guardrestore *restore, uint32_t space,
			  pid_t stopped_tid);

#endif

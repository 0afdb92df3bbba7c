/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fold without limits, beside that of shadow.h and of the same execution: it
 * tells which pairs of instructions the limits lose. For measuring: it takes as
 * much memory as there are different accesses.
 *
 * A cell is a granule, a site, a thread and the bytes of an access. The stacks of
 * a site are one.
 */
#ifndef RECORDER_WHOLE_H
#define RECORDER_WHOLE_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/shadow.h"
#include "recorder/table.h"

struct locksets;
struct uses;

struct whole_cell {
	struct slot slot; /* its use is the first one */
	uint32_t next; /* of the granule, or that is unused */
	uint32_t reserved;
};

struct whole_granule {
	uint32_t cells; /* a list, of which the last used one is first */
	uint16_t owner; /* the first thread's number, cut off */
	bool shared, written;
};

struct whole_chunk {
	uint64_t number; /* address >> SHADOW_SHIFT */
	struct whole_granule granules[SHADOW_GRANULES];
};

struct whole {
	struct table by_number;
	struct records chunks; /* of struct whole_chunk * */
	struct records cells; /* of struct whole_cell */
	uint32_t unused; /* cells: a list */
	uint64_t dropped; /* accesses: ids are all given out */
};

void whole_init(struct whole *whole);
/* Forget all: of a child process. */
void whole_reset(struct whole *whole);

/* Fold an access to bytes of one granule, as shadow_touch() does. */
void whole_touch(struct whole *whole, const struct touch *touch,
		 const struct uses *uses, struct locksets *locksets);

/* The granule of an address; NULL: no access was recorded in its chunk. */
struct whole_granule *whole_find(struct whole *whole, uint64_t address);
/* What is there now is another variable. */
void whole_clear(struct whole *whole, struct whole_granule *granule);

static inline struct whole_cell *whole_cell_at(const struct whole *whole,
					       uint32_t id)
{
	return records_at(&whole->cells, id);
}

static inline struct whole_chunk *whole_chunk_at(const struct whole *whole,
						 uint32_t id)
{
	return *(struct whole_chunk **)records_at(&whole->chunks, id);
}

#endif

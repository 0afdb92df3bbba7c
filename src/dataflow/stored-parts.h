/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a plain store follows a read on a path without a locked instruction:
 * "if (count > LIMIT) count = 0;" loses what other threads add in between,
 * while "if (lock == 0 && cmpxchg(&lock, 0, 1)) ... lock = 0;" takes the lock
 * first. Only for src/dataflow/nearby.c.
 */
#ifndef DATAFLOW_STORED_PARTS_H
#define DATAFLOW_STORED_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "dataflow/pattern-parts.h"

enum { STORED_PLACES = 16 };

/* Addresses of instructions for the memory that is read. */
struct stored_places {
	uint64_t at[STORED_PLACES];
	unsigned int count;
	bool overflow; /* there are more */
};

struct stored {
	struct stored_places stores; /* plain ones */
	struct stored_places locked;
};

void stored_add(struct stored_places *places, uint64_t address);

/*
 * Is there a path from the read to a store without a locked instruction? A
 * store that a path reaches from a locked instruction without passing the read
 * may be a release, and does not count. A call continues at the next
 * instruction.
 */
bool stored_plainly(const struct follow *follow, const struct stored *stored,
		    uint64_t read);

#endif

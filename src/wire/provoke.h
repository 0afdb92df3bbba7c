/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One race to be brought about: what the tracer learns of it at its start, and
 * WIRE_PROVOKED (wire/message.h), what has come of it.
 */
#ifndef WIRE_PROVOKE_H
#define WIRE_PROVOKE_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/conflict.h"

enum { WIRE_PROVOKE_SIDES = 2 };

/* Whose access goes first. */
enum wire_order { WIRE_ORDER_AB, WIRE_ORDER_BA, WIRE_ORDERS };

/* wire_site.provoke: a bit for each side whose instruction it is. */
static inline uint8_t wire_side_bit(int side)
{
	return (uint8_t)(1u << side);
}

/*
 * The thread that made the access when the race was reported (wire_side.path). It
 * tells the sides apart where both are the same instruction.
 */
struct wire_provoke_side {
	uint32_t path[WIRE_PATH_MAX];
	uint32_t path_length; /* 0: not known */
};

struct wire_provoke {
	uint32_t order; /* enum wire_order */
	uint64_t hold_ns; /* a thread waits so long for the other at most */
	/* that another instruction has touched the held bytes is a meeting too */
	bool by_watch;
	struct wire_provoke_side sides[WIRE_PROVOKE_SIDES];
};

/* Cumulative: each message takes the place of the one before. */
struct wire_provoked {
	uint64_t
		reached[WIRE_PROVOKE_SIDES]; /* threads that came to the side */
	uint64_t holds; /* threads that waited for the other */
	bool met; /* in the order that was asked for */
	/* the other access was made by another instruction than the reported */
	bool by_watch;
	bool done; /* both threads go on: nothing more will come */
};

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks of code that were seen to run, and what the front end knows of them:
 * WIRE_RUNNING (wire/message.h). A new block is reported at once, and again
 * once a second while it is seen. It is deleted when it was not seen for half a
 * minute, or earlier to make room for others.
 */
#ifndef TRACER_RUNNING_H
#define TRACER_RUNNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

struct channel;

enum { RUNNING_BLOCKS_MAX = 8192 };

struct running {
	struct vec blocks; /* those from `known' on are new */
	struct map index; /* a block's key to its place */
	size_t known;
	uint64_t swept_ns; /* when all blocks were last looked at */
};

void running_init(struct running *running);
void running_deinit(struct running *running);

/*
 * A thread of the program was seen at the address. Returns when the block there
 * was first seen; 0: there is no memory or no room to note it.
 */
uint64_t running_note(struct running *running, uint32_t program,
		      uint64_t address, uint64_t now);

/* Send what is due. What the channel does not accept is sent later. */
void running_tell(struct running *running, struct channel *channel,
		  uint64_t now);

#endif

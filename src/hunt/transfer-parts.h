/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of transfer-track.h share: steps by their numbers, with what
 * their instructions do.
 */
#ifndef HUNT_TRANSFER_PARTS_H
#define HUNT_TRANSFER_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "dataflow/origins.h"
#include "hunt/executed.h"
#include "hunt/translated.h"

struct decoder;

/* The instructions of a superblock. */
struct transfer_code {
	const struct translated *translated;
	uint64_t written; /* by any of them */
	struct origins *origins; /* one each */
};

enum { TRANSFER_CURSORS = 32 };

struct transfer_cursor {
	struct executed_cursor cursor;
	bool valid;
	uint64_t used;
};

struct transfer_steps {
	struct executed *executed;
	struct decoder *decoder;
	struct vec codes; /* of struct transfer_code */
	struct map code_ids; /* of the superblocks, to places there */
	struct transfer_cursor cursors[TRANSFER_CURSORS];
	uint64_t uses;
};

void transfer_steps_init(struct transfer_steps *steps,
			 struct executed *executed, struct decoder *decoder);
void transfer_steps_deinit(struct transfer_steps *steps);

/*
 * At the thread's step of that number, or the last one before it. *ret NULL: it
 * has none in the trace. It stays until others take its place: TRANSFER_CURSORS
 * of them are kept.
 */
struct error *transfer_steps_seek(struct transfer_steps *steps, uint32_t thread,
				  uint64_t number,
				  struct executed_cursor **ret);

/* What a superblock does; valid until the next one is asked for. */
struct error *transfer_steps_code(struct transfer_steps *steps, uint32_t id,
				  const struct transfer_code **ret);

/* A step's accesses. */
struct transfer_accesses {
	struct translated_access *all;
	size_t count, room;
};

/* Of the step that the cursor is at; what it had is gone. False: no memory. */
bool transfer_accesses_read(struct transfer_accesses *accesses,
			    const struct executed_cursor *cursor);
void transfer_accesses_deinit(struct transfer_accesses *accesses);

#endif

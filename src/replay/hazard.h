/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions in a page of text of which two runs do not do the same: random
 * numbers, the number of the processor, protection keys. The code runs natively,
 * and to step through it would cost 20 us an instruction; so they are looked for
 * in each page before it is run, and a breakpoint of ours is put on each. Reading
 * the time stamp counter needs none (prctl(2), PR_SET_TSC). Pure code.
 *
 * The bytes of such an instruction may be those of a number in another one, where
 * a breakpoint would do harm. Decoding from most places before it leads to one
 * that begins there, or it is none.
 */
#ifndef REPLAY_HAZARD_H
#define REPLAY_HAZARD_H

#include <stddef.h>
#include <stdint.h>

#include "replay/region.h"

struct decoder;

enum { HAZARDS_MAX = 16 };

struct hazard {
	uint64_t address; /* where the instruction begins, with its prefixes */
	enum replay_stop_kind kind;
};

/* Returns how many there are in the bytes, which lie at `start'; the first ones. */
size_t hazard_find(struct decoder *decoder, const uint8_t *bytes, size_t size,
		   uint64_t start, struct hazard ret[HAZARDS_MAX]);

#endif

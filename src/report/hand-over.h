/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How the address of bytes was handed over from one thread to another, as recorded
 * (ATDetector, MICRO 2011): what the sender did with them before comes before what
 * the receiver does (racewatch-json(5)).
 */
#ifndef REPORT_HAND_OVER_H
#define REPORT_HAND_OVER_H

#include <stdint.h>

#include "base/vec.h"
#include "report/place.h"

struct fields;

enum hunt_hand_over_by {
	HAND_OVER_BY_MEMORY,
	HAND_OVER_BY_ALLOCATOR, /* the sender freed the block; no instructions */
	HAND_OVER_BY_CALL, /* a system call */
};

struct hunt_hand_over {
	unsigned int by; /* enum hunt_hand_over_by */
	char *sender, *receiver; /* thread paths */
	/*
	 * The instructions that stored it and loaded it; the one that made the
	 * system call, and the one that loaded what that received.
	 */
	struct hunt_place sent, received;
	char *sent_function, *received_function; /* NULL: unknown */
	/*
	 * Of struct race_frame, innermost first: the stacks of these, as far as
	 * they are recorded. Without names, until they are looked up.
	 */
	struct vec sent_frames, received_frames;
	/* of the memory it was loaded from, or of the block */
	uint64_t address;
	char *variable; /* name of that memory; NULL: unknown */
	/* gone back from the access, or from where it was handed on */
	uint64_t instructions;
	uint32_t hops; /* that moved it there */
};

extern const struct fields hunt_hand_over_fields;

/* All zero and empty. */
void hunt_hand_over_init(struct hunt_hand_over *hand_over);

#endif

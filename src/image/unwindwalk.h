/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A stack while it is being unwound, whichever library does that: the frames so
 * far and the memory that may be read. Private to src/image.
 */
#ifndef IMAGE_UNWINDWALK_H
#define IMAGE_UNWINDWALK_H

#include "image/unwind.h"

/* Why there are no more frames. */
enum unwind_end {
	UNWIND_LOST, /* the library does not know what called the last one */
	UNWIND_OUTERMOST, /* nothing called it */
	UNWIND_FULL, /* there is no room for more */
	UNWIND_NO_BYTES, /* the snapshot has no more of the stack */
	UNWIND_REFUSED, /* the file's instructions are harmful */
};

struct unwind_walk {
	struct image *image;
	const struct unwind_input *input;
	struct unwind_frame *frames; /* room for max, which is at least 1 */
	size_t max, count;
	enum unwind_end end;
};

/* The registers of DWARF (System V ABI x86-64, figure 3.36): enum x86_reg. */
unsigned int unwind_register(unsigned int dwarf);

/* Begin with the innermost frame. */
void unwind_walk_start(struct unwind_walk *walk);

/*
 * Add a caller. False when the walk is over: with frame it is full, or frame
 * makes no sense and is not added. `end' is set then.
 */
bool unwind_walk_add(struct unwind_walk *walk,
		     const struct unwind_frame *frame);

/* A word of the snapshot's stack. */
bool unwind_walk_stack(const struct unwind_walk *walk, uint64_t address,
		       uint64_t *ret);
/* Is the address in the part of the stack that the snapshot was too short for? */
bool unwind_walk_beyond(const struct unwind_walk *walk, uint64_t address);

#endif

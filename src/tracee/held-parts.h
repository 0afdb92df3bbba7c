/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a thread's locks may be, and the heap block of the raced bytes: the memory
 * that a look at it reads (held.h). Private to held*.c.
 */
#ifndef TRACEE_HELD_PARTS_H
#define TRACEE_HELD_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/memory.h"
#include "wire/conflict.h"

enum {
	HELD_PAGE = 4096,
	HELD_PAGES = 48,
	HELD_ENDS = 16, /* more pages: where heap blocks may end */
	HELD_POINTERS = 512,
	HELD_SLOTS = 64, /* pointers in memory that text names */
};

/* Kept from one look to the next: it is large. */
struct held_room {
	/* no two are the same; those that could not be read are there too */
	struct memory_page pages[HELD_PAGES + HELD_ENDS];
	size_t page_count, pages_read;
	uint64_t pointers[HELD_POINTERS];
	size_t pointer_count;
	uint64_t slots[HELD_SLOTS];
	size_t slot_count;
	uint8_t bytes[HELD_PAGES + HELD_ENDS][HELD_PAGE];
};

/* One look at one thread. */
struct held_scan {
	struct held_room *room;
	const struct thread *thread;
	const struct memory *memory;
	struct wire_side *side;
	const uint8_t *stack; /* the side's */
	pid_t own; /* the thread's number as it knows it itself */
	unsigned int judged; /* words with this number so far */
};

/*
 * Fill the room, in rounds: the text that may name locks, the pages that pointers
 * lead to, and those that pointers lead to in memory that text names. Only pages
 * that are in memory are read: a lock that is held is there.
 */
void held_gather(struct held_scan *scan, uint64_t address,
		 const uint8_t *machine);

/* The bytes of the stack from its pointer on, at most `max' of them. */
const uint8_t *held_stack(const struct held_scan *scan, size_t max,
			  size_t *ret_size);

/* Read the pages of these addresses too, HELD_ENDS of them. */
void held_gather_ends(struct held_scan *scan, const uint64_t *addresses,
		      size_t count);

/*
 * Fill in side->chunks: what may have the bytes at the address. The room has more
 * pages then.
 */
void held_find_chunks(struct held_scan *scan, uint64_t address);

/* Copy what was read there; false if not all of it was. */
bool held_copy(const struct held_room *room, uint64_t address, uint8_t *bytes,
	       size_t size);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tracking the address of an access back to the threads that handed it over
 * (ATDetector, MICRO 2011, sections 3.2 to 3.4).
 *
 * From the registers of the access's address we go back through what its thread
 * executed: moves, sums, and loads of what the thread itself has stored. A load of
 * an address that another thread has stored receives it; that store sends it. What
 * was stored is tracked in the sending thread in turn, as the address may have
 * come through several; so is the address of the memory that it was received in.
 *
 * A number is taken for an address only if it lies near to the one that was made
 * from it: otherwise an index that counts up would order what it does not.
 */
#ifndef HUNT_TRANSFER_TRACK_H
#define HUNT_TRANSFER_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct decoder;
struct error;
struct executed;
struct transfer_tracker;

/* An instruction, or an event, that a thread has executed. */
struct transfer_point {
	uint32_t thread;
	uint32_t superblock; /* 0: an event */
	uint32_t instruction; /* of the superblock, from 0 */
	uint64_t number; /* of the step; of an event, of the step before */
	/* which of the step's accesses, from 0; of a system call, SIZE_MAX */
	size_t access;
	uint64_t sequence; /* accesses counted before the step */
};

enum transfer_kind {
	TRANSFER_MEMORY, /* a store, and a load of what it stored */
	TRANSFER_HEAP, /* a block was freed, and allocated again */
	TRANSFER_CALL, /* system calls, and a load of what was received */
};

/* A hand-over: whatever the sender did before it comes before the access. */
struct transfer {
	enum transfer_kind kind;
	struct transfer_point sent, received;
	uint64_t address; /* of the memory that had it, or of the block */
	uint64_t value;
	/* place + 1 of the one by which it was handed on; 0: the last one */
	size_t next;
	/*
	 * Gone back for it from the access, or from where it was handed on. What
	 * lies between a load and the store of the same thread is skipped.
	 */
	uint64_t instructions;
	uint32_t hops; /* instructions that moved it, and stores */
};

enum {
	/* how far a received value may be from the address made of it, bytes */
	TRANSFER_NEAR = 4096,
	/* values that are tracked for one access, at most */
	TRANSFER_VALUES = 256,
	/*
	 * Stores of the sender to the same memory that are looked at, at most:
	 * the first one that can have sent the value counts.
	 */
	TRANSFER_STORES = 16,
	/* what a search for the last write counts for, in instructions */
	TRANSFER_SEARCH = 256,
};

struct transfer_question {
	struct transfer_point access;
	uint64_t address; /* its first byte */
	/* hand-overs sent in steps before this number are not of interest */
	uint64_t since;
	/* nor is anything known of these, as if the trace lacked them */
	uint64_t kept_since;
	/*
	 * Bytes of what each thread has executed before the access in which registers
	 * are tracked (hunt/transfer-window.h); what was stored is known of all. 0: all
	 */
	uint64_t registers;
	/* the heap block of the bytes; a size of 0: it is not known */
	uint64_t block, block_size;
	uint64_t block_number; /* of the last step before it was allocated */
	uint64_t instructions; /* that are gone back at most, of all values */
	/* are the hand-overs that were found enough? NULL: never */
	bool (*is_enough)(void *context, const struct vec *transfers);
	void *context;
};

/* Both stay in use. A trace that lacks steps has fewer hand-overs. */
struct error *transfer_tracker_create(struct executed *executed,
				      struct decoder *decoder,
				      struct transfer_tracker **ret);
/* NULL is fine. */
void transfer_tracker_destroy(struct transfer_tracker *tracker);

/*
 * Append the hand-overs (struct transfer) of the access's address. Not all are
 * found where a limit is met or the trace does not tell; those found are right.
 * *ret_instructions: how many instructions it went back, searches included.
 */
struct error *transfer_track(struct transfer_tracker *tracker,
			     const struct transfer_question *question,
			     struct vec *ret, uint64_t *ret_instructions);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes the record of a race from a snapshot of two threads. First
 * conflict_read() works with addresses only: it unwinds both stacks, finds the
 * instructions, and decides whether there is a conflict at all. A conflict seen
 * before has the same key, so that conflict_describe(), which looks up names in
 * debug information, is called once for each distinct one.
 */
#ifndef CONFLICT_CONFLICT_H
#define CONFLICT_CONFLICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/unwind.h"
#include "sampling/rules.h"
#include "wire/message.h"
#include "x86/access.h"

struct error;
struct image;
struct module;
struct race;
struct scanner;
struct vec;

enum { CONFLICT_FRAMES = 64, CONFLICT_CREATION_FRAMES = 16 };

/* What one side's process runs. */
struct conflict_home {
	struct image *image;
	struct scanner *scanner;
	uint32_t program; /* the same in all executions of the program */
};

struct conflict_context {
	struct conflict_home
		homes[2]; /* of the sides; often one and the same */
	const struct rules *rules;
	const char *backend;
	const char *program; /* short name of the process */
	bool provoked; /* the thread was held for this conflict (hunt) */
};

struct conflict_side {
	const struct wire_side *wire; /* in the message */
	const uint8_t *birth_stack; /* wire->birth.stack_size bytes there */
	const uint8_t *machine; /* vectors and windows of wire->machine */
	const struct conflict_home *home;
	struct module *module; /* of the instruction; NULL: not known */
	uint64_t insn_address; /* run-time; 0: not known */
	struct insn_access insn;
	/* what it accessed; kind ACCESS_NONE: not known; size 0: not known */
	struct mem_access access;
	bool guessed; /* the address of it */
	/* of a masked move: the bytes of the access that the mask selects */
	bool masked;
	uint64_t selected; /* bit 0: the first byte */
	enum rule rule; /* how the instruction is judged */
	/* why it counts as synchronization, see evidence.h; or NULL */
	const char *sync;
	bool kernel; /* the access was made in a system call */
	const uint8_t *stack; /* in the message; wire->stack_size bytes */
	/* of the access: the value of its base register; 0: not known */
	uint64_t base;
	struct unwind_frame frames[CONFLICT_FRAMES];
	size_t frame_count;
};

struct conflict {
	struct wire_conflict wire; /* a copy */
	struct conflict_side sides[2];
	/* the bytes both accessed, as far as known; at side 0's address */
	struct mem_access overlap;
	bool race; /* false: two reads, after all, or nothing shown */
	/* no race, since the reading side makes no use of the bytes */
	bool unused;
	/* equal for conflicts with the same description */
	uint64_t key;
};

/*
 * Read a WIRE_CONFLICT's payload, which must not change while *ret is used.
 * ERROR_FORMAT when the message is cut short.
 */
struct error *conflict_read(const struct conflict_context *context,
			    const void *payload, size_t size,
			    struct conflict *ret);

/*
 * A key of one side's instruction and the variable: equal for conflicts of the
 * same race as seen from this side. 0: not known.
 */
uint64_t conflict_place(const struct conflict_context *context,
			const struct conflict *conflict, int side);

/* Count it as one more sighting of the race. False when out of memory. */
bool conflict_count(const struct conflict *conflict, struct race *race);

/* Make the record, fingerprints and verdict set; the caller owns it. */
struct error *conflict_describe(const struct conflict_context *context,
				const struct conflict *conflict,
				struct race **ret);

/* The names of a stack's frames, appended to *ret (of struct race_frame). */
struct error *conflict_describe_stack(struct image *image,
				      const struct unwind_frame *stack,
				      size_t count, struct vec *ret);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What tells an access of a recording apart from the other ones of its
 * instruction: RaceHunter's algorithm 2. First the thread, then the shortest top
 * of the stack, then an ordinal.
 *
 * The thread is not asked for if all threads that executed the instruction were
 * created at the same place: which worker of a pool gets the work differs from
 * run to run. (The paper leaves the thread out only if there is one.)
 */
#ifndef HUNT_DESCRIPTOR_H
#define HUNT_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

struct code;
struct error;
struct recording;
struct trace_cell;

/* Who executed each instruction of a recording, and with which stacks. */
struct descriptors {
	const struct recording *recording;
	struct vec users; /* of struct descriptor_user, by instruction */
	struct map first; /* code_number() to its first user */
};

struct descriptor_user {
	uint32_t place; /* code_number() */
	uint32_t thread, descriptor; /* ids */
};

struct descriptor_found {
	bool any_thread;
	uint32_t depth; /* of the stack that is needed */
};

struct error *descriptors_create(struct descriptors *descriptors,
				 const struct recording *recording,
				 struct code *code);
void descriptors_deinit(struct descriptors *descriptors);

/* What the cell's first access needs. */
struct error *descriptors_find(const struct descriptors *descriptors,
			       const struct trace_cell *cell, struct code *code,
			       struct descriptor_found *ret);

#endif

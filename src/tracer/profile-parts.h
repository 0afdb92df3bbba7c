/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the two ways of finding out which code runs have in common. Only for
 * src/tracer/profile.c and profile-stops.c.
 */
#ifndef TRACER_PROFILE_PARTS_H
#define TRACER_PROFILE_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/profile.h"

/* Threads that are to be looked at, that which has waited longest first. */
struct profile_queue {
	struct thread *threads[PROFILE_CLOCKS];
	unsigned int count;
};

/* Is it little time that the program may lose? */
bool profile_is_low(const struct profile *profile);

/* A thread of the program was seen at the address. */
void profile_note(struct profile *profile, uint32_t program, uint64_t address,
		  uint64_t now);

/* Is it time to look for threads? If so, it is not again for a while. */
bool profile_fill_is_due(struct profile *profile, uint64_t now);

/* Those whose profile_due_ns has come, of processes that are sampled. */
void profile_queue_fill(const struct profile *profile,
			struct profile_queue *queue, uint64_t now);

#endif

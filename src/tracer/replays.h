/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Capturing instances of races while both threads are held, for the front end to
 * replay (PLDI'07, section 4.2), as often as schedule/pace.h says. Whatever goes
 * wrong is no instance: the conflict is told all the same.
 */
#ifndef TRACER_REPLAYS_H
#define TRACER_REPLAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "replay/livein.h"
#include "schedule/pace.h"

struct addrspace;
struct core;
struct load;
struct replay_capture;
struct stall;
struct thread;
struct wire_conflict;
struct wire_params;

struct replays {
	struct core *core;
	struct load *load; /* replays are paid from its budget */
	const struct wire_params *params;
	struct map index; /* pair to its place in `pairs' */
	struct vec pairs; /* of struct replays_pair; bounded */
	struct replay_capture *capture; /* NULL: none was needed yet */
	struct replay_hints common; /* pages that pairs have missed */
	/*
	 * seeds.h's pages, of the program that was the last to create a second thread
	 * if we have started it (seeding): what its first instances miss, they may
	 * miss for ever. One that was attached to runs on, and its threads are to be
	 * held for as short as can be.
	 */
	bool seeding;
	struct replay_hints seeds;
	uint64_t seeded; /* that program's number and 1; 0: none */
	uint64_t pair; /* of the capture */
	bool two; /* its threads are of two processes */
	uint64_t held_ns; /* that it took */
	struct pace pace;
};

/* All must outlive it. */
void replays_init(struct replays *replays, struct core *core, struct load *load,
		  const struct wire_params *params);
void replays_deinit(struct replays *replays);

/* A process with this space has created its second thread, and none is held. */
void replays_begun(struct replays *replays, struct addrspace *space);

/*
 * The stall is about to end in this conflict, whose sides are filled in; `other' is
 * stopped: capture both, if it is time for that. wire->instance is set if so.
 */
void replays_capture(struct replays *replays, const struct stall *stall,
		     const struct thread *other, struct wire_conflict *wire);

/* Its conflict was sent just now: send what was captured. */
void replays_send(struct replays *replays);

/* WIRE_REPLAY. */
void replays_answered(struct replays *replays, const void *payload,
		      size_t size);

#endif

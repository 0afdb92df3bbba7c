/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who comes to a side while a thread is held at it: a hold that is to go on until
 * all partners have come (wire_hunt.until_all) does not end with the first.
 */
#ifndef TRACER_HUNT_MEET_H
#define TRACER_HUNT_MEET_H

#include <stdint.h>

#include "tracer/stall.h"

struct engine;
struct hunt_target;

/*
 * Another thread conflicts with the side, by the instruction before `after'. Each
 * instruction counts once in a hold. STALL_ENDS: it was the last one that was waited
 * for; where no partners are known, none is.
 */
enum stall_meeting hunt_meet(struct hunt_target *target, uint64_t after);

/* As above, of the focus; as stall_terms has them. */
enum stall_meeting hunt_meet_focus(struct engine *engine, uint64_t after);
/* Its conflict was sent just now: send that it is of the focus. */
void hunt_tell_meeting(struct engine *engine);

#endif

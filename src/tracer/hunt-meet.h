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
struct thread;
struct x86_registers;

enum { HUNT_CALLERS = 8 };

/* An instruction that has come to a held side. */
struct hunt_met {
	uint64_t after; /* its end */
	uint64_t caller; /* hunt_caller() */
};

/*
 * Another thread conflicts with the side, by the instruction before `after'. Each
 * instruction counts once in a hold for each of its callers (hunt_caller()), of
 * which it has at most HUNT_CALLERS. STALL_ENDS: it was the last one that was
 * waited for. There is none where no partners are known, where not all are listed,
 * or where one is in code that many call: it may be another caller's access.
 */
enum stall_meeting hunt_meet(struct hunt_target *target, uint64_t after,
			     uint64_t caller);

/*
 * Who has called the instruction: where the stack is, and the words that are return
 * addresses in a function that has saved nothing and in one with a frame pointer.
 */
uint64_t hunt_caller(const struct thread *thread,
		     const struct x86_registers *regs);

/* As hunt_meet(), of the focus; as stall_terms has them. */
enum stall_meeting hunt_meet_focus(struct engine *engine,
				   const struct thread *thread,
				   const struct x86_registers *regs,
				   uint64_t after);
/* Its conflict was sent just now: send that it is of the focus. */
void hunt_tell_meeting(struct engine *engine);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sets and lifts the breakpoints of the pool in the processes, as
 * schedule/fill.h decides.
 */
#ifndef TRACER_ARM_H
#define TRACER_ARM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schedule/pool-hit.h"
#include "wire/message.h"
#include "wire/site.h"

struct engine;
struct thread;
struct process;

/* Queue sites; those that do not fit are returned as lifted. */
void arm_queue(struct engine *engine, const struct wire_site *sites,
	       size_t count);

/* Arm from the queue as far as size, tokens and stalls allow. */
void arm_refill(struct engine *engine, uint64_t now);
/* When arm_refill() may have more to do; UINT64_MAX: not by time alone. */
uint64_t arm_next_ns(struct engine *engine);

/*
 * Arm the queued site with this id, if there is one, although a stall runs: the
 * second half of a pair, whose first half is stalled now.
 */
void arm_pair(struct engine *engine, uint64_t id);

/*
 * Set a breakpoint that stays, beside the pool, at the site, which has none, as
 * soon as the pool could set its own; where it is to be recorded, also if nothing
 * can race there. WIRE_FIRED: it is set; WIRE_REFUSED: it
 * cannot be; WIRE_IDLE: nothing can race there; else it may be set later.
 */
enum wire_returned_why arm_standing(struct engine *engine,
				    const struct wire_site *site);

/* A thread was created while its program begins: arm again what ran before. */
void arm_spent(struct engine *engine, uint32_t program);

/* A breakpoint was hit: its place in the pool is free. */
void arm_fired(struct engine *engine, const struct wire_site *site);
/*
 * The hit has been handled: return its site. A site that a resting thread has
 * hit is kept, as long as there is room, and armed again: it is known to be
 * reached.
 */
void arm_return_fired(struct engine *engine, const struct wire_site *site,
		      enum pool_hit hit);

/* Lift at once what is armed beyond twice the size that the governor wants. */
void arm_shrink(struct engine *engine);

/* Drop from the queue, and lift, what is in that range of the program. */
void arm_forget(struct engine *engine, const struct wire_range *range);

/* Drop the queue; lift every breakpoint of every watched process. */
void arm_lift_all(struct engine *engine);

/* Is a breakpoint or watchpoint set, or to be set? */
bool arm_may_trap(const struct engine *engine);

/*
 * The handler of SIGTRAP in the stopped thread's process has become known: lift
 * the breakpoints in it. Their sites are refused from now on.
 */
void arm_leave_handler(struct engine *engine, const struct thread *thread);

#endif

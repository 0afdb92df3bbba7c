/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the threads of a side's partners did while a thread was held at the side, and
 * none of them could run: which put the two in order.
 */
#ifndef TRACER_HUNT_WAITS_H
#define TRACER_HUNT_WAITS_H

#include <stdbool.h>

struct engine;
struct hunt_target;
struct process;
struct thread_place;

/* Has the process created a thread at that place, which may have ended? */
bool hunt_has_created(const struct process *process,
		      const struct thread_place *place);

/* Look at them, and keep it in the target. No thread of the process is stopped. */
void hunt_waits_take(struct hunt_target *target, const struct process *process);

/* Send what is kept; false: the channel is full, try again. */
bool hunt_waits_tell(struct engine *engine, struct hunt_target *target);

#endif

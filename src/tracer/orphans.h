/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Letting stopped threads go of which there is no record: newborns that nobody
 * has announced, mostly.
 */
#ifndef TRACER_ORPHANS_H
#define TRACER_ORPHANS_H

struct addrspace;
struct engine;
struct stop_reason;

/*
 * Detach a stopped thread of which there is no record; a signal that it stopped
 * for goes with it. Where that is refused, the thread runs on, and all is to be
 * let go (engine->tracees.stuck): our exit does it, and until then each of its stops is
 * a try more.
 */
void orphans_detach(struct engine *engine, const struct stop_reason *stop);

/*
 * The same for a newborn, without what it has of the breakpoints: at its first
 * stop, or at a later one if it could not be detached then.
 */
void orphans_let_go(struct engine *engine, struct addrspace *space,
		    const struct stop_reason *stop);

/*
 * Everything is being let go: so are all newborns whose creator did not announce
 * them, without the breakpoints of whatever memory is known.
 */
void orphans_leave_all(struct engine *engine);

#endif

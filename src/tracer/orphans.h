/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Detaches stopped threads of which there is no record: mostly new threads
 * whose creator did not announce them.
 */
#ifndef TRACER_ORPHANS_H
#define TRACER_ORPHANS_H

struct addrspace;
struct engine;
struct stop_reason;

/*
 * Detach a stopped thread of which there is no record; a signal that it stopped
 * for goes with it. If that is refused, the thread runs on, and everything must
 * be detached (engine->core.tracees.stuck): our exit detaches it, and until then
 * each of its stops is another try.
 */
void orphans_detach(struct engine *engine, const struct stop_reason *stop);

/*
 * The same for a new thread, after its breakpoints are removed: at its first
 * stop, or at a later one if it could not be detached then.
 */
void orphans_let_go(struct engine *engine, struct addrspace *space,
		    const struct stop_reason *stop);

/*
 * Everything is being detached: detach all new threads whose creator did not
 * announce them, after the breakpoints are removed from memory that is known.
 */
void orphans_leave_all(struct engine *engine);

#endif

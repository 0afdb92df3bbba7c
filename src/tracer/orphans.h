/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Detaches stopped threads of which there is no record: mostly new threads
 * whose creator did not announce them.
 */
#ifndef TRACER_ORPHANS_H
#define TRACER_ORPHANS_H

#include <stdbool.h>

#include "base/vec.h"

struct addrspace;
struct core;
struct stop_reason;

struct orphans {
	struct core *core;
	/* first stops of new threads whose creator's event has not come yet */
	struct vec stops; /* of struct stop_reason */
	/* new threads whose announcement could not be read, not stopped yet */
	unsigned int unannounced;
	bool left; /* some were let go: may yet be announced */
	struct addrspace
		*last_space; /* of the last watched process; one user */
};

/* There are none; core must outlive it. */
void orphans_init(struct orphans *orphans, struct core *core);
void orphans_deinit(struct orphans *orphans);

/*
 * Detach a stopped thread of which there is no record; a signal that it stopped
 * for goes with it. If that is refused, the thread runs on, and everything must
 * be detached (tracees.stuck): our exit detaches it, and until then
 * each of its stops is another try.
 */
void orphans_detach(struct orphans *orphans, const struct stop_reason *stop);

/*
 * The same for a new thread, after its breakpoints are removed: at its first
 * stop, or at a later one if it could not be detached then.
 */
void orphans_let_go(struct orphans *orphans, struct addrspace *space,
		    const struct stop_reason *stop);

/*
 * Everything is being detached: detach all new threads whose creator did not
 * announce them, after the breakpoints are removed from memory that is known.
 */
void orphans_leave_all(struct orphans *orphans);

#endif

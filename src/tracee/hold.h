/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeps a stopped thread stopped until its owner releases it: a stall, a
 * provoker that wants an order, a user. A thread has at most one hold. The
 * owner embeds the structure.
 */
#ifndef TRACEE_HOLD_H
#define TRACEE_HOLD_H

#include <stdbool.h>

struct thread;
struct tracees;

struct hold {
	struct thread *thread; /* NULL: holds nobody */
	/*
	 * set by the owner: it holds threads in the middle of pthread_create(3),
	 * which have the library's signal mask there
	 */
	bool in_creation;
};

/*
 * The thread must be stopped and not held. It gets no watch while it is held;
 * it gets the current ones when it continues.
 */
void hold_begin(struct tracees *tracees, struct hold *hold,
		struct thread *thread);

/* End the hold without resuming the thread: the caller does that. */
void hold_drop(struct hold *hold);

/*
 * The thread has died or was taken away. Returns its hold, so that the owner
 * can be informed; NULL: it had none.
 */
struct hold *hold_lose(struct thread *thread);

/* Resume it, after its watch registers are updated. */
void hold_release(struct tracees *tracees, struct hold *hold);

#endif

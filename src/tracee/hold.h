/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeping a stopped thread stopped until somebody lets it go, whoever asks:
 * a stall, a provoker that wants an order, a person. A thread has one hold at
 * most. The owner embeds the structure.
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
 * The thread must be stopped and not held. It needs no watch while it is; those
 * that there are then, it gets when it goes on.
 */
void hold_begin(struct tracees *tracees, struct hold *hold,
		struct thread *thread);

/* It is held no more, and stays stopped: for whoever lets it go instead. */
void hold_drop(struct hold *hold);

/*
 * The thread has died or was taken away. Returns what held it, to tell the owner;
 * NULL: nothing did.
 */
struct hold *hold_lose(struct thread *thread);

/* Let it go on, with the watch registers as they are to be. */
void hold_release(struct tracees *tracees, struct hold *hold);

#endif

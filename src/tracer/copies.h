/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fork children that are not watched hold copies of our breakpoints, which are
 * taken out before they are detached. A child in which that fails (the tracer has
 * no memory, or no more files) would die of the first that it meets: it stays
 * traced, and it is tried again.
 */
#ifndef TRACER_COPIES_H
#define TRACER_COPIES_H

#include <stdbool.h>

struct copy;
struct core;
struct thread;

/*
 * At its first stop, its memory being open: take them out; where that fails,
 * process.unclean is set and the user is told.
 */
void copies_clean(struct core *core, struct thread *thread,
		  const struct copy *copy);

/*
 * May the thread be made to execute system calls? Not in the middle of one, nor
 * with a signal to deliver: after a call, the kernel would queue that anew, and it
 * would stop for it again, without end.
 */
bool copies_may_call(const struct thread *thread);

/*
 * Try again in a process that is unclean, and put back what it did with SIGTRAP if
 * it has met one (process.trapped). The thread executes system calls for that if it
 * may; where it may not, the latter is left to be done. False: it still is unclean.
 */
bool copies_clean_again(struct core *core, struct thread *thread);

/*
 * Does a stopped thread of an unclean process stand where a breakpoint may be? It
 * would meet it at once.
 */
bool copies_stands_on_one(struct thread *thread);

#endif

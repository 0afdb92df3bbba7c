/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads and processes that watched processes make, and the programs they
 * become by exec. A child with a copy of the memory is cleaned of breakpoints
 * before it runs, and then watched or let go (engine->follow); one that shares
 * the memory (vfork, posix_spawn) is kept until it execs.
 */
#ifndef TRACER_BIRTH_H
#define TRACER_BIRTH_H

#include <stdbool.h>
#include <sys/types.h>

struct engine;
struct process;
struct stop_reason;
struct thread;

/*
 * The thread stopped in a clone, fork or vfork event. It stays stopped. True: the
 * newborn's first stop came before, and is to be handled now.
 */
bool birth_announced(struct engine *engine, struct thread *creator,
		     const struct stop_reason *stop, struct stop_reason *ret);

/* A newborn's first stop. It is resumed, or cleaned and let go. */
void birth_first_stop(struct engine *engine, struct thread *thread);

/*
 * Has the process a child that is to be watched, and whose first stop is still
 * to come?
 */
bool birth_is_awaited(const struct engine *engine,
		      const struct process *process);

/* Is there a child in another's memory that is to be watched when it execs? */
bool birth_may_exec(const struct engine *engine);

/*
 * The process has ended, or become another program. Children whose creator did
 * not live to announce them are watched, or cleaned and let go if they are not
 * to be followed.
 */
void birth_leave_orphans(struct engine *engine, const struct process *process);

/* An exec event: the thread is the only one left. It stays stopped. */
void birth_exec(struct engine *engine, struct thread *thread);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads and processes that watched processes create, and programs that they
 * exec. The breakpoints are removed from a child with a copy of the memory
 * before it runs; then it is watched or detached (engine->follow). A child that
 * shares the memory (vfork, posix_spawn) is traced until it execs.
 */
#ifndef TRACER_BIRTH_H
#define TRACER_BIRTH_H

#include <stdbool.h>
#include <sys/types.h>

#include "sys/wait.h"

struct engine;
struct error;
struct process;
struct stop_reason;
struct thread;

/*
 * The thread stopped in a clone, fork or vfork event. It stays stopped. True:
 * the first stop of the new thread came before, and must be handled now.
 */
bool birth_announced(struct engine *engine, struct thread *creator,
		     const struct stop_reason *stop, struct stop_reason *ret);

/*
 * Does the child share the creator's memory? Where kcmp(2) is refused, what the
 * kind of birth says must do.
 */
bool birth_shares_memory(pid_t creator, pid_t child, enum stop_kind kind);

/* A record of a process in the memory of that one; none of its threads is known. */
struct error *birth_guest(struct engine *engine, const struct process *parent,
			  pid_t pid, struct process **ret);

/* The first stop of a new thread. It is resumed, or cleaned and detached. */
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
 * The process has ended, or become another program. Children whose creator died
 * before it announced them are watched, or cleaned and detached if they are not
 * to be followed.
 */
void birth_leave_orphans(struct engine *engine, const struct process *process);

/* An exec event: the thread is the only one left. It stays stopped. */
void birth_exec(struct engine *engine, struct thread *thread);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads and processes that watched processes make, and the programs they
 * become by exec. A child with a copy of the memory is cleaned of breakpoints
 * before it runs, and then watched or let go (engine->follow); one that shares
 * the memory (vfork, posix_spawn) is kept until it execs.
 */
#ifndef TARGET_BIRTH_H
#define TARGET_BIRTH_H

#include <sys/types.h>

struct addrspace;
struct engine;
struct process;
struct stop_reason;
struct thread;

/* The thread stopped in a clone, fork or vfork event. It stays stopped. */
void birth_announced(struct engine *engine, struct thread *creator,
		     const struct stop_reason *stop);

/* A newborn's first stop. It is resumed, or cleaned and let go. */
void birth_first_stop(struct engine *engine, struct thread *thread);

/*
 * Detach a stopped thread of which there is no record. Where that is refused,
 * our exit does it, and the thread runs on until then.
 */
void birth_detach(struct engine *engine, pid_t tid);

/*
 * Let a newborn go of which there is no record: at its first stop, and without
 * what it has of the breakpoints.
 */
void birth_let_go(struct engine *engine, struct addrspace *space, pid_t tid);

/*
 * The process has ended, or become another program: newborns whose creator
 * did not live to announce them are cleaned and let go.
 */
void birth_leave_orphans(struct engine *engine, const struct process *process);

/*
 * Everything is being let go: the same for all of them, with the breakpoints of
 * whatever memory is known.
 */
void birth_leave_all_orphans(struct engine *engine);

/* An exec event: the thread is the only one left. It stays stopped. */
void birth_exec(struct engine *engine, struct thread *thread);

#endif

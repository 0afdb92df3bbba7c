/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads and processes that are no longer traced: frees what the tracer has
 * recorded of them, and informs the modules that wait for one of them.
 */
#ifndef TRACER_FORGET_H
#define TRACER_FORGET_H

struct engine;
struct hold;
struct process;
struct thread;

/*
 * The thread is no longer held by this hold (hold_lose()); NULL: it was not
 * held.
 */
void forget_hold(struct engine *engine, const struct hold *hold);

/* The thread has ended, or was detached. */
void forget_thread(struct engine *engine, struct thread *thread);

/* Remove a process without threads. */
void forget_process(struct engine *engine, struct process *process);

#endif

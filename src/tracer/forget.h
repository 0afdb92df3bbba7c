/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads and processes that are traced no more: what the tracer has recorded
 * of them goes, and whoever waits for one of them is told.
 */
#ifndef TRACER_FORGET_H
#define TRACER_FORGET_H

struct engine;
struct hold;
struct process;
struct thread;

/* The thread that was held so is not any more (hold_lose()); NULL: none was. */
void forget_hold(struct engine *engine, const struct hold *hold);

/* The thread has ended, or was detached. */
void forget_thread(struct engine *engine, struct thread *thread);

/* Remove a process without threads. */
void forget_process(struct engine *engine, struct process *process);

#endif

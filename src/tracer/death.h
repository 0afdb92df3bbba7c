/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a watched process dies of. A thread that gets a signal whose default is
 * to kill, and that nobody handles, is copied as it stands, before it is
 * handed the signal. The copy is sent once the process has really ended by that
 * signal; a signal from outside (SIGKILL) is told without one.
 */
#ifndef TRACER_DEATH_H
#define TRACER_DEATH_H

struct engine;
struct process;
struct stop_reason;
struct thread;

/* The stopped thread is about to be handed this signal. */
void death_signal(struct thread *thread, int signal);

/* The last thread of the process has ended so: tell the front end. */
void death_ended(struct engine *engine, const struct process *process,
		 const struct stop_reason *stop);

/* Free the copy, if there is one. */
void death_forget(struct process *process);

#endif

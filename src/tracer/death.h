/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reports the signal that kills a watched process. When a thread gets a signal
 * that kills by default and has no handler, the thread's state is copied before
 * the signal is delivered. The copy is sent when the process has ended by that
 * signal; SIGKILL is reported without one.
 */
#ifndef TRACER_DEATH_H
#define TRACER_DEATH_H

struct core;
struct process;
struct stop_reason;
struct thread;

/* This signal is about to be delivered to the stopped thread. */
void death_signal(struct thread *thread, int signal);

/* The last thread of the process has ended so: report it to the front end. */
void death_ended(struct core *core, const struct process *process,
		 const struct stop_reason *stop);

/* Free the copy, if there is one. */
void death_forget(struct process *process);

#endif

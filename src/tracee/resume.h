/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Letting a stopped thread go on.
 */
#ifndef TRACEE_RESUME_H
#define TRACEE_RESUME_H

#include <stdbool.h>

struct error;
struct thread;
struct tracees;

/*
 * Let a stopped thread go on, with its signal, unless it is held. Its watch
 * registers are brought up to date first.
 */
void thread_resume(struct tracees *tracees, struct thread *thread);

/*
 * Handle a result, as thread_ok() does, of a request without which the thread
 * stands still: its failure is noted, and everything is to be let go
 * (tracees->stuck).
 */
bool thread_must(struct tracees *tracees, struct thread *thread,
		 struct error *err);

#endif

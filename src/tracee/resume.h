/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Resuming a stopped thread. */
#ifndef TRACEE_RESUME_H
#define TRACEE_RESUME_H

#include <stdbool.h>

struct error;
struct thread;
struct tracees;

/*
 * Resume a stopped thread, with its signal, unless it is held. Its watch
 * registers are updated first.
 */
void thread_resume(struct tracees *tracees, struct thread *thread);

/*
 * As thread_ok(), for a request without which the thread stays stopped: a
 * failure is noted, and everything must be detached (tracees->stuck).
 */
bool thread_must(struct tracees *tracees, struct thread *thread,
		 struct error *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which threads go on only when another thread that is traced does something. */
#ifndef TRACER_WAITING_H
#define TRACER_WAITING_H

#include <stdbool.h>

struct thread;
struct tracees;

/*
 * Does the thread sleep in a futex wait without time-out, or for children of its
 * process, all of which are traced, as a shell does while its test runs? A child
 * that is detached soon, or has no thread any more, is none of these. False where
 * the kernel does not tell the children (CONFIG_PROC_CHILDREN), or has anything else
 * to say.
 */
bool waiting_for_traced(const struct tracees *tracees,
			const struct thread *thread);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ends a stuck tracer so that the program survives; called by the guardian. */
#ifndef GUARDIAN_GUARDSTUCK_H
#define GUARDIAN_GUARDSTUCK_H

struct guardrestore;

/*
 * Restore the text, have the deputy wait for stops of threads (deputy.h), send
 * the processes SIGSTOP, so that they stop when they are detached, and kill the
 * tracer, of which tracer is a pidfd. The caller then waits for the tracer's
 * end, tends the threads, and calls guardstuck_continue().
 */
void guardstuck_kill(struct guardrestore *restore, int tracer);

/* The processes go on. */
void guardstuck_continue(const struct guardrestore *restore);

#endif

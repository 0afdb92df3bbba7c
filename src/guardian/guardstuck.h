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

/*
 * The processes go on, but those that a user has stopped. Each thread gets the
 * signal that the deputy waited for, sent by us: who sent it first, and its
 * value (sigqueue(3)), are lost. SIGSEGV, SIGBUS, SIGILL and SIGFPE are not
 * sent: the instruction that faulted does so again.
 */
void guardstuck_continue(const struct guardrestore *restore);

#endif

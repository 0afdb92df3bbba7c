/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the guardian does about a tracer that lives and is stuck: it ends the
 * tracer in such a way that the program lives.
 */
#ifndef GUARDIAN_GUARDSTUCK_H
#define GUARDIAN_GUARDSTUCK_H

struct guardrestore;

/*
 * Restore the text, have the stops of threads waited for (deputy.h), have the
 * processes stop as soon as they are let go, and kill the tracer, of which
 * tracer is a pidfd. The caller then waits for its end, tends the threads, and
 * calls guardstuck_continue().
 */
void guardstuck_kill(struct guardrestore *restore, int tracer);

/* The processes go on. */
void guardstuck_continue(const struct guardrestore *restore);

#endif

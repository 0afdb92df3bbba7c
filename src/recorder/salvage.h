/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The trace of a recorded process that is killed: its heir (recorder/heir.h) writes
 * what the process would have written at its end.
 */
#ifndef RECORDER_SALVAGE_H
#define RECORDER_SALVAGE_H

struct recorder;
struct writer;

/*
 * From here on the process, whose trace has begun, has an heir. It calls before()
 * first; NULL: nothing. The trace says if this system has none.
 */
void salvage_protect(struct recorder *recorder, void (*before)(void));
/* The trace has its end. */
void salvage_unprotect(struct recorder *recorder);

/* A thread is about to replace the program by execve(2): the trace ends. */
void salvage_executes(struct recorder *recorder);
/* It could not: the trace goes on. */
void salvage_goes_on(struct recorder *recorder);

/*
 * Whoever wrote was stopped anywhere, and writes no more: what it has not written to
 * the end of a chunk goes. Only exposed for tests.
 */
void salvage_writer(struct writer *writer);

#endif

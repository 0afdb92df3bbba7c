/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The end of a thread's record, when it has ended or was detached.
 */
#ifndef TRACEE_THREAD_END_H
#define TRACEE_THREAD_END_H

struct hold;
struct thread;
struct tracees;

/*
 * Take the thread out of its process and of the index, and free it. Returns what
 * kept it stopped, which holds nobody now, to tell its owner; NULL: nothing did.
 * A step of it is over, too.
 */
struct hold *thread_destroy(struct tracees *tracees, struct thread *thread);

#endif

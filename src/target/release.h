/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Letting go: text restored, debug registers cleared, pending traps of ours
 * drained, threads detached. A thread can only be detached in a stop, so this
 * goes on with the events until nothing is traced any more.
 */
#ifndef TARGET_RELEASE_H
#define TARGET_RELEASE_H

struct engine;
struct thread;

/*
 * Detach the stopped thread and forget it, or, where a trap of ours is still on
 * its way to it, let it take that trap first; its next stop must come here
 * again.
 */
void release_thread(struct engine *engine, struct thread *thread);

/* Once nothing is traced any more: say so. */
void release_check_done(struct engine *engine);

/*
 * Forget the threads that cannot stop any more: a leader that has ended before
 * the others (pthread_exit(3) in main) is a zombie until they end.
 */
void release_tick(struct engine *engine);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Releases the program: restores the text, clears debug registers, drains our
 * pending traps, detaches threads. A request can detach a thread only in a
 * ptrace-stop, and the program notices stops: epoll_wait(2) and others return
 * EINTR. But when the tracer exits, the kernel detaches its tracees without a
 * stop (kernel/ptrace.c, exit_ptrace). So after an attach, threads that sleep
 * in the kernel are left to the tracer's exit; the others are detached as they
 * stop.
 */
#ifndef TRACER_RELEASE_H
#define TRACER_RELEASE_H

#include <stdint.h>

struct engine;
struct thread;

/*
 * Detach the stopped thread and forget it. If a trap of ours is still pending
 * for it, let it take that trap first; its next stop must be passed to this
 * function again.
 */
void release_thread(struct engine *engine, struct thread *thread);

/*
 * While all others are watched: try again to clean and detach the children that
 * hold copies of breakpoints still (copies.h).
 */
void release_copies(struct engine *engine);

/* When only threads are traced that are left to our exit, report that. */
void release_check_done(struct engine *engine);

/*
 * Check again the threads that have neither stopped nor fallen asleep; called
 * often while releasing. Those that cannot stop any more are forgotten: a
 * leader that has ended before the others (pthread_exit(3) in main) is a zombie
 * until they end.
 */
void release_tick(struct engine *engine, uint64_t now);

#endif

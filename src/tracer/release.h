/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Letting go: text restored, debug registers cleared, pending traps of ours
 * drained, threads detached. A thread can be detached by request only in a
 * stop, and a stop is seen: epoll_wait(2) and others return EINTR. But a tracer
 * that exits lets its tracees go as they are (kernel/ptrace.c, exit_ptrace). So
 * where the program is not ours to wait for (attach), threads that sleep in the
 * kernel are left to that; the others are detached as they stop.
 */
#ifndef TRACER_RELEASE_H
#define TRACER_RELEASE_H

#include <stdint.h>

struct engine;
struct thread;

/*
 * Detach the stopped thread and forget it, or, where a trap of ours is still on
 * its way to it, let it take that trap first; its next stop must come here
 * again.
 */
void release_thread(struct engine *engine, struct thread *thread);

/* Once nothing is traced any more but threads that are left: say so. */
void release_check_done(struct engine *engine);

/*
 * Look again at the threads that have neither stopped nor fallen asleep, often
 * while releasing. Those that cannot stop any more are forgotten: a leader
 * that has ended before the others (pthread_exit(3) in main) is a zombie until
 * they end.
 */
void release_tick(struct engine *engine, uint64_t now);

#endif

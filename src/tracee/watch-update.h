/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Updates the watchpoints of all threads (watch.h), and chooses between the
 * back-ends perf and perf-cpu while the program runs.
 */
#ifndef TRACEE_WATCH_UPDATE_H
#define TRACEE_WATCH_UPDATE_H

#include <stdbool.h>
#include <stdint.h>

#include "tracee/watch.h"

/*
 * With more than WATCH_MANY threads, an event for each thread costs more than
 * an event for each processor. With a small budget, stalls are far apart: the
 * events of threads are closed between two stalls (watch_retire()), and opened
 * again for each. The limit is then WATCH_MANY_PER_CPU_LOW threads for each
 * processor.
 */
enum { WATCH_MANY = 100, WATCH_MANY_PER_CPU_LOW = 4 };

/*
 * More threads than this are too many for an event of each. little: little time
 * may be lost (budget_is_small()).
 */
uint32_t watch_many(struct watch *watch, bool little);

/*
 * While nothing is watched, often: take the back-end that suits the number of
 * threads, if it may change. True: it has changed. While watch_is_changing() there
 * can be no stall.
 */
bool watch_suit(struct tracees *tracees, bool little, uint64_t now);
bool watch_is_changing(const struct watch *watch);

/* The back-end's own is freed; the threads' events have gone. */
void watch_shut(struct tracees *tracees);

/*
 * Can all who have the bytes of the claim be seen to access them? Not by an event
 * of a processor, where another process has them at another address: the values
 * are to be read again and again.
 */
bool watch_sees_all(const struct tracees *tracees,
		    const struct watch_claim *claim);

/* Update all running threads, after claims. */
void watch_publish(struct tracees *tracees);

/*
 * The same after releases. Stale watches may stay in threads for a short time,
 * since the next stall will stop them anyway; watch_tick() removes them.
 */
void watch_retire(struct tracees *tracees);
void watch_tick(struct tracees *tracees, uint64_t now);

/*
 * The next access that was recorded of a thread that runs on; false: there is
 * none now. What is watched may be changed before the next call.
 */
bool watch_next_sample(struct tracees *tracees, struct watch_sample *ret);

/* The back-end for this thread (perf cannot stop one that blocks SIGTRAP). */
const struct watch_ops *watch_ops_of(const struct watch *watch,
				     const struct thread *thread);

/*
 * A thread that is known to block SIGTRAP must not get it from perf: it is
 * watched by debug registers where the others are by perf. Call this when the
 * mask is known, and when perf is chosen.
 */
void watch_choose(struct tracees *tracees, struct thread *thread);

#endif

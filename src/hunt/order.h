/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the creation and the joining of threads order, by vector clocks: an access
 * comes before another one if every execution with the same creations and joins
 * has it so. Nothing else orders here; locks and times do not.
 *
 * A thread's epochs are the times between its creations of threads: what one of
 * them orders, it orders whole.
 */
#ifndef HUNT_ORDER_H
#define HUNT_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct order;
struct recording;

/* With more threads nothing is ordered: the clocks take their square. */
enum { ORDER_THREADS_MAX = 4096 };

/* Of the threads of the recording, which must outlive it. */
struct error *order_create(const struct recording *recording,
			   struct order **ret);
/* NULL is fine. */
void order_destroy(struct order *order);

/* Too many threads: nothing is ordered. */
bool order_is_limited(const struct order *order);

/*
 * Does the access number `sequence' of a thread come before all accesses of the
 * other thread from `from' on? Threads of the recording, by id; two of one
 * thread are ordered by their numbers.
 */
bool order_before(const struct order *order, uint32_t thread, uint64_t sequence,
		  uint32_t other, uint64_t from);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: memory recycled between threads by compare-and-swap. A slot
 * of the pool is owned by whoever turned it from free to taken with acquire,
 * until the store with release that makes it free again.
 */
#include "target.h"
#include <stdatomic.h>

enum { SLOTS = 3 };

static struct slot {
	atomic_int taken;
	long body[5];
} * pool;

NOINLINE static struct slot *pool_take(unsigned from)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		struct slot *slot = &pool[(from + i) % SLOTS];
		int seen = 0;

		if (atomic_compare_exchange_strong_explicit(
			    &slot->taken, &seen, 1, memory_order_acquire,
			    memory_order_relaxed))
			return slot;
	}
	return NULL;
}

NOINLINE static void pool_give(struct slot *slot)
{
	atomic_store_explicit(&slot->taken, 0, memory_order_release);
}

NOINLINE static void slot_use(struct slot *slot, long value)
{
	for (unsigned i = 0; i < 5; i++)
		slot->body[i] = value;
	OPAQUE();
	for (unsigned i = 0; i < 5; i++)
		target_check(slot->body[i] == value, "two owners");
}

static void *pool_loop(void *arg)
{
	target_meet();
	for (unsigned i = 0; target_goes_on(i); i++) {
		struct slot *slot = pool_take(i);

		if (!slot)
			continue;
		slot_use(slot, i);
		pool_give(slot);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	pool = calloc(SLOTS, sizeof(*pool));
	target_race(pool_loop, pool_loop);
	free(pool);
	return target_done("free_pool");
}

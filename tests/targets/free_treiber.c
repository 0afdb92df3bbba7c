/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: a pool of nodes on Treiber's stack, recycled between threads
 * by compare-and-swap. The head carries a count against ABA; a node's next
 * is atomic, for a loser may still read it. A node's body is plain and its
 * owner's.
 */
#include "target.h"
#include <stdatomic.h>

enum { NODES = 6 };

struct {
	_Atomic uint32_t next;
	long body[3];
} nodes[NODES + 1];
static _Atomic uint64_t head; /* count << 32 | number of the top node */

NOINLINE static uint32_t node_pop(void)
{
	uint64_t top = atomic_load_explicit(&head, memory_order_acquire), next;

	do {
		if ((uint32_t)top == 0)
			return 0;
		next = atomic_load_explicit(&nodes[(uint32_t)top].next,
					    memory_order_relaxed);
		next |= ((top >> 32) + 1) << 32;
	} while (!atomic_compare_exchange_weak_explicit(
		&head, &top, next, memory_order_acquire, memory_order_acquire));
	return (uint32_t)top;
}

NOINLINE static void node_push(uint32_t node)
{
	uint64_t top = atomic_load_explicit(&head, memory_order_relaxed), new;

	do {
		atomic_store_explicit(&nodes[node].next, (uint32_t)top,
				      memory_order_relaxed);
		new = ((top >> 32) + 1) << 32 | node;
	} while (!atomic_compare_exchange_weak_explicit(
		&head, &top, new, memory_order_release, memory_order_relaxed));
}

NOINLINE static void node_use(uint32_t node, long value)
{
	for (unsigned i = 0; i < 3; i++)
		nodes[node].body[i] = value;
	OPAQUE();
	for (unsigned i = 0; i < 3; i++)
		target_check(nodes[node].body[i] == value, "two owners");
}

static void *pool_loop(void *arg)
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		uint32_t node = node_pop();

		if (!node)
			continue;
		node_use(node, (long)i * 2 + (arg != NULL));
		node_push(node);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 3);
	for (uint32_t i = 1; i <= NODES; i++)
		node_push(i);
	pthread_t third = target_thread(pool_loop, &head);
	target_race(pool_loop, pool_loop);
	pthread_join(third, NULL);
	return target_done("free_treiber");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the programs of bench/table5/run share: a queue of addresses without locks,
 * for several threads at both ends, and numbers that are the same in each run.
 *
 * In these programs each kind of access is a function of its own; truth.tab says of
 * two functions whether what they do to the same bytes is ordered, and by what.
 */
#ifndef TABLE5_H
#define TABLE5_H

#include "target.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { QUEUE = 16 };

/* A cell is free for the put whose number is its turn, and full for the take. */
struct queue_cell {
	atomic_uint turn;
	void *item;
};

struct queue {
	struct queue_cell cells[QUEUE];
	atomic_uint in, out;
};

UNUSED static void queue_open(struct queue *queue)
{
	for (unsigned int i = 0; i < QUEUE; i++)
		atomic_store(&queue->cells[i].turn, i);
}

UNUSED NOINLINE static bool queue_try_put(struct queue *queue, void *item)
{
	unsigned int at = atomic_load(&queue->in);

	for (;;) {
		struct queue_cell *cell = &queue->cells[at % QUEUE];
		unsigned int turn = atomic_load(&cell->turn);

		if (turn == at &&
		    atomic_compare_exchange_weak(&queue->in, &at, at + 1)) {
			cell->item = item;
			atomic_store_explicit(&cell->turn, at + 1,
					      memory_order_release);
			return true;
		}
		if ((int)(turn - at) < 0)
			return false;
		at = atomic_load(&queue->in);
	}
}

UNUSED NOINLINE static void *queue_try_take(struct queue *queue)
{
	unsigned int at = atomic_load(&queue->out);

	for (;;) {
		struct queue_cell *cell = &queue->cells[at % QUEUE];
		unsigned int turn = atomic_load(&cell->turn);

		if (turn == at + 1 &&
		    atomic_compare_exchange_weak(&queue->out, &at, at + 1)) {
			void *item = cell->item;

			atomic_store_explicit(&cell->turn, at + QUEUE,
					      memory_order_release);
			return item;
		}
		if ((int)(turn - at) <= 0)
			return NULL;
		at = atomic_load(&queue->out);
	}
}

UNUSED static void queue_put(struct queue *queue, void *item)
{
	while (!queue_try_put(queue, item))
		sched_yield();
}

UNUSED static void *queue_take(struct queue *queue)
{
	void *item;

	while (!(item = queue_try_take(queue)))
		sched_yield();
	return item;
}

/* The next of a sequence of numbers. */
UNUSED static unsigned int number_next(unsigned int *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 16;
}

UNUSED static void *memory_new(size_t size)
{
	void *memory = calloc(1, size);

	target_check(memory != NULL, "calloc");
	return memory;
}

#endif

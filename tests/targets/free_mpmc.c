/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: Vyukov's bounded queue of many producers and consumers. A
 * cell's sequence number, stored with release and loaded with acquire, says
 * whose turn the cell is; its plain value is only touched in that turn.
 */
#include "target.h"
#include <stdatomic.h>

enum { CELLS = 8, THREADS = 4 };

static struct {
	_Atomic size_t sequence;
	long value;
} cells[CELLS];
static _Atomic size_t tail, head;
static atomic_long balance;

/* Claims the next cell that has come to its turn; CELLS when there is none. */
NOINLINE static size_t claim(_Atomic size_t *end, size_t turn)
{
	size_t at = atomic_load_explicit(end, memory_order_relaxed), sequence;

	do {
		sequence = atomic_load_explicit(&cells[at % CELLS].sequence,
						memory_order_acquire);
		if (sequence != at + turn)
			return SIZE_MAX;
	} while (!atomic_compare_exchange_weak_explicit(
		end, &at, at + 1, memory_order_relaxed, memory_order_relaxed));
	return at;
}

NOINLINE static void queue_put(long value)
{
	size_t at = claim(&tail, 0);

	if (at == SIZE_MAX)
		return;
	cells[at % CELLS].value = value;
	atomic_store_explicit(&cells[at % CELLS].sequence, at + 1,
			      memory_order_release);
	balance += value;
}

NOINLINE static int queue_get(void)
{
	size_t at = claim(&head, 1);

	if (at == SIZE_MAX)
		return 0;
	balance -= cells[at % CELLS].value;
	atomic_store_explicit(&cells[at % CELLS].sequence, at + CELLS,
			      memory_order_release);
	return 1;
}

static void *queue_loop(void *arg)
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		if (i % 2)
			queue_put((long)i);
		else
			queue_get();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	target_init(argc, argv, THREADS);
	for (size_t i = 0; i < CELLS; i++)
		cells[i].sequence = i;
	for (unsigned i = 0; i < THREADS; i++)
		threads[i] = target_thread(queue_loop, NULL);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	while (queue_get())
		;
	target_check(balance == 0, "lost or doubled");
	return target_done("free_mpmc");
}

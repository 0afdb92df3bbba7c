/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: a ring between one producer and one consumer. Each side
 * writes its own index with release and reads the other's with acquire; a
 * slot belongs to one side at a time.
 */
#include "target.h"
#include <stdatomic.h>

enum { SLOTS = 16 };

static struct ring {
	_Atomic size_t head;
	char apart[56];
	_Atomic size_t tail;
	struct slot {
		long serial, square;
	} slots[SLOTS];
} * ring;

NOINLINE static int ring_put(struct ring *at, long serial)
{
	size_t head = atomic_load_explicit(&at->head, memory_order_relaxed);

	if (head - atomic_load_explicit(&at->tail, memory_order_acquire) ==
	    SLOTS)
		return 0;
	at->slots[head % SLOTS].serial = serial;
	at->slots[head % SLOTS].square = serial * serial;
	atomic_store_explicit(&at->head, head + 1, memory_order_release);
	return 1;
}

NOINLINE static int ring_get(struct ring *at, struct slot *ret)
{
	size_t tail = atomic_load_explicit(&at->tail, memory_order_relaxed);

	if (tail == atomic_load_explicit(&at->head, memory_order_acquire))
		return 0;
	*ret = at->slots[tail % SLOTS];
	atomic_store_explicit(&at->tail, tail + 1, memory_order_release);
	return 1;
}

static void *put_loop(void *arg)
{
	long serial = 0;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		serial += ring_put(ring, serial);
	return arg;
}

static void *get_loop(void *arg)
{
	struct slot slot;
	long serial = 0;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		if (!ring_get(ring, &slot))
			continue;
		target_check(slot.serial == serial &&
				     slot.square == serial * serial,
			     "slot");
		serial++;
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	ring = calloc(1, sizeof(*ring));
	target_race(put_loop, get_loop);
	free(ring);
	return target_done("free_spsc");
}

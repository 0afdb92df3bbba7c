/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: a ring between two threads, by GCC's __atomic built-in
 * functions on the ordinary members of a struct on the heap. No instruction is
 * locked and no type says anything: only the source does.
 */
#include "target.h"

struct ring {
	unsigned long head, tail;
	unsigned long slots[16];
};

NOINLINE static int ring_put(struct ring *ring, unsigned long value)
{
	unsigned long head = ring->head;

	if (head - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) == 16)
		return 0;
	ring->slots[head % 16] = value;
	__atomic_store_n(&ring->head, head + 1, __ATOMIC_RELEASE);
	return 1;
}

NOINLINE static int ring_get(struct ring *ring, unsigned long *value)
{
	unsigned long tail = ring->tail;

	if (__atomic_load_n(&ring->head, __ATOMIC_ACQUIRE) == tail)
		return 0;
	*value = ring->slots[tail % 16];
	__atomic_store_n(&ring->tail, tail + 1, __ATOMIC_RELEASE);
	return 1;
}

static void *put_loop(void *arg)
{
	unsigned long n = 0;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		n += (unsigned long)ring_put(arg, n);
	return NULL;
}

static void *get_loop(void *arg)
{
	unsigned long value, n = 0;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		if (ring_get(arg, &value))
			target_check(value == n++, "order");
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct ring *ring = calloc(1, sizeof(*ring));
	pthread_t threads[2];

	target_init(argc, argv, 2);
	target_check(ring != NULL, "calloc");
	threads[0] = target_thread(put_loop, ring);
	threads[1] = target_thread(get_loop, ring);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	free(ring);
	return target_done("free_builtin_ring");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: a bounded queue, its slots handed over by two counting
 * semaphores, with one producer and one consumer.
 */
#include "target.h"

enum { SLOTS = 8 };

static sem_t empty, full;
struct {
	long serial, square;
} queue[SLOTS];

NOINLINE static void slot_fill(unsigned slot, long serial)
{
	queue[slot].serial = serial;
	queue[slot].square = serial * serial;
}

NOINLINE static int slot_good(unsigned slot, long serial)
{
	return queue[slot].serial == serial &&
	       queue[slot].square == serial * serial;
}

static void down(sem_t *sem)
{
	while (sem_wait(sem))
		target_check(errno == EINTR, "sem_wait");
}

static void *produce_loop(void *arg)
{
	long n = 0;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		down(&empty);
		slot_fill((unsigned)(n % SLOTS), n);
		n++;
		sem_post(&full);
	}
	down(&empty);
	slot_fill((unsigned)(n % SLOTS), -1);
	sem_post(&full);
	return arg;
}

static void *consume_loop(void *arg)
{
	target_meet();
	for (long n = 0;; n++) {
		down(&full);
		if (slot_good((unsigned)(n % SLOTS), -1))
			return arg;
		target_check(slot_good((unsigned)(n % SLOTS), n), "slot");
		sem_post(&empty);
	}
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	sem_init(&empty, 0, SLOTS);
	sem_init(&full, 0, 0);
	target_race(produce_loop, consume_loop);
	return target_done("free_sem");
}

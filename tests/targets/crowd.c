/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Eight threads, all with work of their own in a private slot of the same
 * array; two of them also share one long without a lock.
 */
#include "target.h"

enum { CROWD = 8 };

struct {
	long work, pad[7];
} slots[CROWD];

long total;

NOINLINE static void total_add(long n)
{
	total += n; /* RACE: add */
}

NOINLINE static void total_reset(long value)
{
	total = value; /* RACE: reset */
}

NOINLINE static void slot_add(unsigned slot, long n)
{
	slots[slot].work += n;
}

static void *crowd_loop(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg, x = me + 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		slot_add(me, (long)x);
		x = target_work(x, 40);
		if (me > 1)
			continue;
		ENTER();
		if (me == 0)
			total_add((long)(x & 7) + 1);
		else
			total_reset((long)x);
		LEAVE();
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[CROWD];

	target_init(argc, argv, CROWD);
	for (uintptr_t i = 0; i < CROWD; i++)
		threads[i] = target_thread(crowd_loop, (void *)i);
	for (unsigned i = 0; i < CROWD; i++)
		pthread_join(threads[i], NULL);
	return target_done("crowd");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A race among 256 loads that race with nothing: two threads add to a number
 * without a lock. Of all draws of a location, one in 129 is of the race.
 */
#include "target.h"

enum { THREADS = 2 };

unsigned int thicket_word = 1;
static unsigned long number;

NOINLINE static void add(void)
{
	number++;
	OPAQUE();
}

NOINLINE static void thicket(void)
{
	__asm__ volatile(".rept 256\n\tmovl thicket_word(%%rip), %%eax\n\t.endr"
			 :
			 :
			 : "eax", "memory");
}

static void *loop(void *arg)
{
	(void)arg;
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		add();
		thicket();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	target_init(argc, argv, THREADS);
	for (int i = 0; i < THREADS; i++)
		threads[i] = target_thread(loop, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return target_done("thicket");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For bench/sweep: a race that one input in five leads to. The second
 * argument is the input; with the others both threads take the lock.
 */
#include "target.h"

long entries;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int careless;

NOINLINE static void entries_add(void)
{
	entries++;
}

static void *add_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		if (!careless)
			pthread_mutex_lock(&lock);
		entries_add();
		if (!careless)
			pthread_mutex_unlock(&lock);
		x = target_work(x, 40);
	}
	return arg;
}

int main(int argc, char **argv)
{
	/* before any thread is born */
	careless = argc > 2 && strtoul(argv[2], NULL, 10) % 5 == 3;
	target_init(argc, argv, 2);
	target_race(add_loop, add_loop);
	return target_done("seldom-input");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two threads for about two seconds, and no instruction of its own that can be
 * sampled: a locked one alone accesses memory.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { TURNS = 200, TURN_US = 20000 };

static _Atomic int turns;

static void *take_turns(void *arg)
{
	while (atomic_fetch_add(&turns, 1) < TURNS)
		usleep(TURN_US);
	return arg;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, take_turns, NULL) != 0)
		return 1;
	take_turns(NULL);
	return pthread_join(thread, NULL) == 0 ? 0 : 1;
}

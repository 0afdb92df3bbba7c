/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * SIGTRAP is blocked in two workers and not in a third: each must find its
 * mask as it was, and the disposition still the default. Who blocks SIGTRAP
 * alone, and is hit before racewatch has looked again, loses that
 * (tracee/sigstate.h): they sleep so long that it has looked several times.
 */
#include "special.h"

static void *worker(void *arg)
{
	int blocked = arg != NULL;
	static const struct timespec nap = { .tv_nsec = 300 * 1000 * 1000 };
	sigset_t trap;

	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	if (blocked)
		pthread_sigmask(SIG_BLOCK, &trap, NULL);
	nanosleep(&nap, NULL);
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		special_hot((unsigned)i);
		if (i % 1024 == 0)
			special_check_mask(SIGTRAP, blocked);
	}
	special_check_mask(SIGTRAP, blocked);
	special_check_handler(SIGTRAP, SIG_DFL);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];

	target_init(argc, argv, 3);
	for (int i = 0; i < 3; i++)
		threads[i] = target_thread(worker, i ? &threads : NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	special_check_mask(SIGTRAP, 0);
	return target_done("trap_blocked");
}

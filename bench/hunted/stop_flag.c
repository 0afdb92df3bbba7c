/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A plain flag ends a thread that looks at it every 10 ms. Correct: an atomic
 * flag.
 */
#include "hunted.h"

#ifdef TWIN
static _Atomic int stop;
#else
static volatile int stop;
#endif

static void *worker(void *arg)
{
	while (!stop) /* RACE a */
		pause_ms(10);
	return arg;
}

static void *stopper(void *arg)
{
	pause_ms(35);
	stop = 1; /* RACE a */
	return arg;
}

int main(void)
{
	both(worker, stopper);
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One thread polls a flag that the other sets once. */
#include "short.h"

#include <pthread.h>
#include <unistd.h>

#ifdef TWIN
static _Atomic int done;
#else
volatile int done;
#endif
unsigned result;

static NOINLINE void set_done(void)
{
	done = 1; /* RACE */
}

static NOINLINE int is_done(void)
{
	return done; /* RACE */
}

static void *worker(void *arg)
{
	result = work(7, 5000000);
	set_done();
	return arg;
}

static void *waiter(void *arg)
{
	while (!is_done())
		usleep(100);
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, worker, NULL);
	pthread_create(&threads[1], NULL, waiter, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The first thread takes two results of a thread, one of them on its own stack,
 * 20 ms after it has begun, and joins it later. As a twin, it joins it first.
 */
#include "target.h"

static long total;

NOINLINE static void give(long *local)
{
	total = 1;
	*local = 2;
}

NOINLINE static long take_total(void)
{
	return total;
}

NOINLINE static long take_local(const long *local)
{
	return *local;
}

static void *worker(void *local)
{
	give(local);
	return NULL;
}

int main(void)
{
	long local = 0, sum;
	pthread_t thread = target_thread(worker, &local);

#ifdef TWIN
	pthread_join(thread, NULL);
#endif
	usleep(20000);
	sum = take_total();
	sum += take_local(&local);
#ifndef TWIN
	pthread_join(thread, NULL);
#endif
	target_done("reaped");
	return sum < 0;
}

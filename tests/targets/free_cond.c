/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: two threads take turns over plain data, each waiting on a
 * condition variable until it is its turn.
 */
#include "target.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turn, over;
long parcel, receipts;

NOINLINE static void pack(long value)
{
	parcel = value;
}

NOINLINE static long unpack(void)
{
	return parcel;
}

/* Waits for turn ME; returns whether the other side still plays. */
static int take(int me)
{
	int plays;

	pthread_mutex_lock(&lock);
	while (turn != me && !over)
		pthread_cond_wait(&turned, &lock);
	plays = !over;
	pthread_mutex_unlock(&lock);
	return plays;
}

static void give(int to, int end)
{
	pthread_mutex_lock(&lock);
	turn = to;
	over |= end;
	pthread_cond_broadcast(&turned);
	pthread_mutex_unlock(&lock);
}

static void *pack_loop(void *arg)
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i) && take(0); i++) {
		pack((long)i);
		give(1, 0);
	}
	give(1, 1);
	return arg;
}

static void *unpack_loop(void *arg)
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i) && take(1); i++) {
		receipts += unpack();
		give(0, 0);
	}
	give(0, 1);
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(pack_loop, unpack_loop);
	return target_done("free_cond");
}

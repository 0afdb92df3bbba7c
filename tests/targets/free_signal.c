/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: plain data handed over by signals. One thread writes a
 * parcel and sends a signal to the other, which waits for it with
 * sigwaitinfo(); the answer comes to the first in the same way.
 */
#include "target.h"
#include <signal.h>

static struct parcel {
	long serial, body[6];
} parcel;
static pthread_t threads[2];
static int over;

NOINLINE static void parcel_fill(long serial)
{
	parcel.serial = serial;
	for (int i = 0; i < 6; i++)
		parcel.body[i] = serial * 3;
}

NOINLINE static void parcel_check(void)
{
	for (int i = 0; i < 6; i++)
		target_check(parcel.body[i] == parcel.serial * 3, "parcel");
	parcel.serial = -1;
}

static void turn_give(int to)
{
	target_check(!pthread_kill(threads[to], SIGUSR1), "pthread_kill");
}

static void turn_await(const sigset_t *set)
{
	int got;

	target_check(!sigwait(set, &got) && got == SIGUSR1, "sigwait");
}

static void *fill_loop(void *arg)
{
	target_meet();
	for (unsigned long i = 0; !over; i++) {
		parcel_fill((long)i);
		over = !target_goes_on(i);
		turn_give(1);
		turn_await(arg);
		target_check(parcel.serial == -1, "answer");
	}
	return arg;
}

static void *check_loop(void *arg)
{
	int last;

	target_meet();
	do {
		turn_await(arg);
		parcel_check();
		last = over;
		turn_give(0);
	} while (!last);
	return arg;
}

int main(int argc, char **argv)
{
	sigset_t set;

	target_init(argc, argv, 3);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	threads[0] = target_thread(fill_loop, &set);
	threads[1] = target_thread(check_loop, &set);
	target_meet(); /* both know both */
	pthread_join(threads[1], NULL);
	pthread_join(threads[0], NULL);
	return target_done("free_signal");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * main passes the address of a local to a thread, and accesses it itself by
 * its place in the frame.
 */
#include "target.h"

static void *add_loop(void *arg)
{
	long *counter = arg;
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		*counter += x & 15; /* RACE: add */
		LEAVE();
		x = target_work(x, 40);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long counter = 0, seen = 0;
	unsigned x = 2;
	pthread_t adder;

	target_init(argc, argv, 2);
	target_check(!pthread_create(&adder, NULL, add_loop, &counter),
		     "pthread_create");
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		seen += counter; /* RACE: look */
		LEAVE();
		x = target_work(x, 30);
	}
	pthread_join(adder, NULL);
	target_check(seen >= 0, "seen");
	return target_done("local_counter");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two hot threads and no end: runs until it is killed, for the tests that
 * kill or stop something else. Says "ready" and its process id first.
 */
#include "special.h"

static void *hot_for_ever(void *arg)
{
	for (unsigned i = 0;; i++)
		special_hot(target_work(i, 20));
	return arg;
}

int main(void)
{
	target_thread(hot_for_ever, NULL);
	target_thread(hot_for_ever, NULL);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	/* a guard against being forgotten */
	alarm(120);
	hot_for_ever(NULL);
}

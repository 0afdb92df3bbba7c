/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Dies of the signal given as the second argument (default SIGSEGV, by a
 * wild store) while other threads are hot.
 */
#include "special.h"

static void *hot_for_ever(void *arg)
{
	for (unsigned i = 0;; i++)
		special_hot(target_work(i, 20));
	return arg;
}

NOINLINE static void store_through(long *where)
{
	*where = 1;
}

int main(int argc, char **argv)
{
	long *nowhere = (long *)8;

	target_init(argc, argv, 1);
	target_thread(hot_for_ever, NULL);
	target_thread(hot_for_ever, NULL);
	special_loop(NULL);
	target_done("die");
	fflush(stdout);
	if (argc > 2)
		raise(atoi(argv[2]));
	store_through(nowhere);
	return 0;
}

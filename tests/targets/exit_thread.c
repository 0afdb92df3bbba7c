/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The leader ends with pthread_exit(3) at once; another thread ends the
 * program with exit(3) while a third is still hot. The status is 3.
 */
#include "special.h"

static void *hot_for_ever(void *arg)
{
	for (unsigned i = 0;; i++)
		special_hot(target_work(i, 20));
	return arg;
}

static void *ender(void *arg)
{
	special_loop(arg);
	target_done("exit_thread");
	exit(3);
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 1);
	target_thread(ender, NULL);
	target_thread(hot_for_ever, NULL);
	pthread_exit(NULL);
}

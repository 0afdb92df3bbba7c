/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * exit(3) from main() with status 7 while the other threads are in their hot
 * loops, so perhaps stalled.
 */
#include "special.h"

static void *hot_for_ever(void *arg)
{
	target_meet();
	for (unsigned i = 0;; i++)
		special_hot(target_work(i, 20));
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 4);
	for (int i = 0; i < 3; i++)
		target_thread(hot_for_ever, NULL);
	target_meet();
	special_loop(NULL);
	target_done("exit_hot");
	exit(7);
}

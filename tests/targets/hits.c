/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two threads count in one variable, and nobody looks at it before they have
 * ended. Without optimization it is loaded and stored by two instructions: one
 * that is held between them takes back what the other counted.
 */
#include "target.h"

static unsigned long hits;

static void *hit_loop(void *arg)
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		hits++;
		OPAQUE();
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(hit_loop, hit_loop);
	printf("hits: %lu\n", hits);
	return target_done("hits");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The frame of the programs with known races: a program is a few roles, each
 * a thread that takes turns until the time is over. truth.tab says of every
 * race what it is; the lines that race are marked in the sources, and a
 * function has accesses of one race only.
 *
 * Harm is done, but only to the program's own data: no index, pointer or
 * length is used beyond what is always there.
 */
#ifndef FIGURE7_H
#define FIGURE7_H

#include "target.h"

enum { ROLES = 8 };

struct role {
	void (*turn)(unsigned long i);
	unsigned pace; /* work between two turns */
};

static void *role_loop(void *arg)
{
	const struct role *role = (const struct role *)arg;
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		role->turn(i);
		x = target_work(x, role->pace);
	}
	return NULL;
}

/* Runs the roles, up to one without a turn; what main() returns. */
UNUSED static int roles_run(int argc, char **argv, const char *name,
			    struct role *roles)
{
	pthread_t threads[ROLES];
	unsigned count = 0;

	while (count < ROLES && roles[count].turn)
		count++;
	target_init(argc, argv, count);
	for (unsigned i = 0; i < count; i++)
		threads[i] = target_thread(role_loop, &roles[i]);
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return target_done(name);
}

/*
 * What is done with a value. The compiler cannot know that it is nothing; and it is
 * kept, so that two runs of the code with other values end differently, and so does
 * one that did nothing with it: a text that is NULL is not the same as none.
 */
UNUSED static __thread unsigned long used;

UNUSED NOINLINE static void use(unsigned long value)
{
	used = used * 3 + value + 1;
	__asm__ volatile("" : : "r"(&used) : "memory");
}

UNUSED NOINLINE static void use_text(const char *text)
{
	use((unsigned long)text);
}

#endif

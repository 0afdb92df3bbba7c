/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The race is inside the C library: memset(3) against a read of one of the
 * bytes. The program's own line is in the second frame.
 */
#include "target.h"

unsigned char page[192];

NOINLINE static void page_clear(int value)
{
	size_t n = sizeof(page);

	__asm__ volatile("" : "+r"(n)); /* so that a call is made */
	memset(page, value, n); /* RACE: clear */
	OPAQUE();
}

NOINLINE static unsigned char page_look(void)
{
	return page[100]; /* RACE: look */
}

static void *clear_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		page_clear((int)x);
		LEAVE();
		x = target_work(x, 40);
	}
	return arg;
}

static void *look_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		x += page_look();
		LEAVE();
		x = target_work(x, 30);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(clear_loop, look_loop);
	return target_done("memory_set");
}

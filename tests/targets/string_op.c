/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One rep stosb writes 64 bytes; the other thread reads one in the middle.
 * A watchpoint traps with the string instruction half done.
 */
#include "target.h"

char buffer[64];

NOINLINE static void buffer_fill(int value)
{
	char *to = buffer;
	size_t n = sizeof(buffer);

	__asm__ volatile("rep stosb" /* RACE: fill */
			 : "+D"(to), "+c"(n)
			 : "a"(value)
			 : "memory");
}

NOINLINE static int buffer_look(void)
{
	return buffer[37]; /* RACE: look */
}

static void *fill_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		buffer_fill((int)x);
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
		x += (unsigned)buffer_look();
		LEAVE();
		x = target_work(x, 30);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(fill_loop, look_loop);
	return target_done("string_op");
}

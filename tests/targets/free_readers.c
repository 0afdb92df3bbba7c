/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races, a control for directions: two threads read the same memory
 * all the time, with reads of many kinds, and nobody writes. x86 has no
 * watchpoint for writes and reads apart, so this is told by decoding.
 */
#include "target.h"

typedef long long wide __attribute__((vector_size(16)));

wide pair = { 3, 4 };
long number = 7;
char text[] = "read by all, written by none";
static unsigned step(unsigned x);
unsigned (*hook)(unsigned) = step;

static unsigned step(unsigned x)
{
	return x + 1;
}

NOINLINE static unsigned read_wide(void)
{
	return (unsigned)(pair[0] + pair[1]);
}

NOINLINE static unsigned read_number(long limit)
{
	return number < limit ? 1 : (number & 2) != 0;
}

NOINLINE static unsigned read_string(void)
{
	unsigned n;

	__asm__ volatile("repne scasb\n\tcmpq $7, %1\n\tsetb %b0"
			 : "=&a"(n)
			 : "m"(number), "0"(0), "D"(text), "c"(sizeof(text))
			 : "cc", "memory");
	return n;
}

NOINLINE static unsigned read_hook(unsigned x)
{
	return 1 + hook(x);
}

static void *read_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		x += read_wide() + read_number((long)i);
		x += read_string() + (unsigned)strlen(text);
		x = target_work(read_hook(x), 20);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(read_loop, read_loop);
	return target_done("free_readers");
}

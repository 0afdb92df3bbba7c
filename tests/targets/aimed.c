/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For --at: a race of one line, inlined into two functions, amid 256 functions
 * with accesses to each thread's own memory. With a second argument the line
 * runs once in so many rounds.
 */
#include "target.h"

#define CODE(n)                                     \
	NOINLINE static void work_##n(long *own)    \
	{                                           \
		own[(n) % 64]++;                    \
		OPAQUE();                           \
		own[(n) % 61] ^= own[(n) % 59] + 1; \
	}
/* clang-format off */
#define EACH8(use, n)                                     \
	use(n##0) use(n##1) use(n##2) use(n##3) use(n##4) \
	use(n##5) use(n##6) use(n##7)
#define EACH64(use, n)                                                \
	EACH8(use, n##0) EACH8(use, n##1) EACH8(use, n##2)            \
	EACH8(use, n##3) EACH8(use, n##4) EACH8(use, n##5)            \
	EACH8(use, n##6) EACH8(use, n##7)
#define ALL(use) EACH64(use, 1) EACH64(use, 2) EACH64(use, 3) EACH64(use, 4)
#define NAME(n) work_##n,

ALL(CODE)
static void (*const code[])(long *) = { ALL(NAME) };
/* clang-format on */

enum { CODES = sizeof(code) / sizeof(code[0]) };

long slot;
_Atomic long counted;
static unsigned long rounds_apart = 1;

static inline __attribute__((always_inline)) void slot_put(long value)
{
	slot = value; /* AT: put */
}

NOINLINE static void first_put(long value)
{
	slot_put(value);
}

NOINLINE static void second_put(long value)
{
	OPAQUE();
	slot_put(value);
}

NOINLINE static long slot_get(void)
{
	return slot; /* AT: get */
}

NOINLINE static void count(void)
{
	counted++; /* AT: count */
}

NOINLINE static unsigned nothing(unsigned x)
{
	return x + 1; /* AT: nothing */
}

static void *put_loop(void *arg)
{
	long own[64] = { 0 };

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		code[i % CODES](own);
		if (i % rounds_apart)
			continue;
		if (i / rounds_apart & 1)
			first_put((long)i);
		else
			second_put((long)i);
	}
	return arg;
}

static void *get_loop(void *arg)
{
	long own[64] = { 0 };
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		code[i % CODES](own);
		x = nothing(x + (unsigned)slot_get());
		count();
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	if (argc > 2)
		rounds_apart = strtoul(argv[2], NULL, 10);
	target_race(put_loop, get_loop);
	return target_done("aimed");
}

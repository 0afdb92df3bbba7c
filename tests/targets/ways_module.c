/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The library of ways.c: one store that every exported function comes to, by
 * functions without names once it is stripped. `ways_flag' is the library's
 * own, ways_set_at() does it to memory of the caller.
 */

#define NOINLINE __attribute__((noinline, noclone))

void ways_one(void);
void ways_two(void);
void ways_three(void);
void ways_four(void);
void ways_set_at(int *flag);

static int ways_flag;

NOINLINE static void mark(void)
{
	ways_flag = 1; /* RACE: mark */
	__asm__ volatile("" : : "m"(ways_flag) : "memory");
}

NOINLINE static void inner(void)
{
	mark();
	__asm__ volatile("" : : : "memory");
}

NOINLINE static void mark_at(int *flag)
{
	*flag = 1; /* RACE: mark at */
	__asm__ volatile("" : : : "memory");
}

void ways_one(void)
{
	mark();
	__asm__ volatile("" : : : "memory");
}

void ways_two(void)
{
	inner();
	__asm__ volatile("" : : : "memory");
}

void ways_three(void)
{
	inner();
	__asm__ volatile("nop" : : : "memory");
}

void ways_four(void)
{
	mark();
	__asm__ volatile("nop" : : : "memory");
}

void ways_set_at(int *flag)
{
	mark_at(flag);
	__asm__ volatile("" : : : "memory");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Races for the judge: those that a rule fits, and near misses of them.
 *
 *	verdicts SECONDS KIND
 *
 * statistics   both threads count up              unlikely
 * reader       one counts up, the other prints     suspect
 * references   counted up, and down to zero        harmful
 * ticket       the sum is used                     suspect
 * limit        the reader compares the count       suspect
 * bits         one tests a flag, the other sets
 *              another in the same word            unlikely
 * flag         ... the same flag                   suspect
 * writes       each sets a flag of its own         suspect
 * pointer      one follows it, the other clears it harmful
 */
#include "target.h"

enum { FIRST = 1, SECOND = 2 };

unsigned long count = 1000000;
unsigned long done; /* which nothing here decides by */
unsigned flags;
unsigned long cell, *pointer = &cell;

NOINLINE static void count_up(void)
{
	count++;
}

NOINLINE static void done_up(void)
{
	done++;
}

NOINLINE static void count_print(void (*print)(unsigned long))
{
	print(count);
}

NOINLINE static void print(unsigned long n)
{
	char text[24];

	snprintf(text, sizeof(text), "%lu", n);
}

NOINLINE static void drop(void (*last)(unsigned long))
{
	if (--count == 0)
		last(1);
}

NOINLINE static unsigned long take(void)
{
	return ++count;
}

NOINLINE static void look(void (*over)(unsigned long))
{
	if (count > 1000)
		over(0);
}

NOINLINE static void test_first(void (*set)(unsigned long))
{
	if (flags & FIRST)
		set(1);
}

NOINLINE static void set_first(void)
{
	flags ^= FIRST;
}

NOINLINE static void set_second(void)
{
	flags ^= SECOND;
}

NOINLINE static unsigned long follow(void)
{
	unsigned long *at = pointer;

	return at ? *at : 0;
}

NOINLINE static void move(unsigned long **from, unsigned long *to)
{
	*from = to;
}

static const char *kind;

static int is(const char *name)
{
	return strcmp(kind, name) == 0;
}

static void *one_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		if (is("statistics"))
			done_up();
		else if (is("references"))
			count_up();
		else if (is("reader"))
			count_print(print);
		else if (is("ticket"))
			x ^= (unsigned)take() & 1;
		else if (is("limit"))
			look(print);
		else if (is("bits") || is("flag"))
			test_first(print);
		else if (is("writes"))
			set_first();
		else
			x ^= (unsigned)follow() & 1;
		x = target_work(x, 60);
	}
	return arg;
}

static void *other_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		if (is("statistics"))
			done_up();
		else if (is("references"))
			drop(print);
		else if (is("ticket"))
			x ^= (unsigned)take() & 1;
		else if (is("bits") || is("writes"))
			set_second();
		else if (is("flag"))
			set_first();
		else if (is("pointer"))
			move(&pointer, i & 1 ? &cell : NULL);
		else
			count_up();
		x = target_work(x, 50);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	kind = argc > 2 ? argv[2] : "statistics";
	target_race(one_loop, other_loop);
	return target_done("verdicts");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Races whose outcome in other orders is known.
 *
 *	orders SECONDS KIND
 *
 * lost       both add to a number without a lock     state-change
 * redundant  both store the same                     no-state-change
 * stale      tested, read again and followed, while
 *            it is cleared for a moment              fault
 *
 * The program outlives its faults: a handler goes back to the loop.
 */
#include "target.h"

#include <setjmp.h>
#include <signal.h>

unsigned int ready; /* others may read it, the compiler thinks */
static unsigned long number, one = 1;
static unsigned long *pointer = &one;
static __thread sigjmp_buf again;

NOINLINE static void add(void)
{
	number++;
	OPAQUE();
}

NOINLINE static void set(void)
{
	ready = 1;
	OPAQUE();
}

NOINLINE static unsigned long follow(void)
{
	if (!pointer)
		return 0;
	OPAQUE();
	return *pointer;
}

NOINLINE static void clear(void)
{
	pointer = NULL;
	OPAQUE();
	pointer = &one;
}

static const char *kind;

static int is(const char *name)
{
	return strcmp(kind, name) == 0;
}

static void on_fault(int signal)
{
	(void)signal;
	siglongjmp(again, 1);
}

static void step(int first, unsigned *x)
{
	if (is("lost"))
		add();
	else if (is("redundant"))
		set();
	else if (first)
		*x ^= (unsigned)follow();
	else
		clear();
}

static void *loop(void *arg)
{
	static __thread unsigned long i;
	static __thread unsigned x = 1;

	target_meet();
	sigsetjmp(again, 0);
	for (i++; target_goes_on(i); i++) {
		step(arg == NULL, &x);
		x = target_work(x, 50);
	}
	return arg;
}

static void *other_loop(void *arg)
{
	(void)arg;
	return loop(&one);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_fault,
				    .sa_flags = SA_NODEFER };

	target_init(argc, argv, 2);
	kind = argc > 2 ? argv[2] : "lost";
	sigaction(SIGSEGV, &action, NULL);
	target_race(loop, other_loop);
	return target_done("orders");
}

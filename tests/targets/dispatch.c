/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A pointer to a function that is chosen at the first call, and near misses of
 * it. Both threads make the first call at the same time, again and again; in
 * between one of them puts the pointer back, while the other one waits.
 *
 *	dispatch SECONDS KIND
 *
 * atomic   the pointer is accessed by relaxed atomic operations
 * plain    it is not: a data race, though each call goes to a function that
 *          does what is asked for
 * lazy     it begins with nothing, and whoever sees that sets it
 * setter   it is set by another function than the one it points to at first
 * looked   the readers look at it, besides calling it
 */
#include "target.h"

typedef unsigned long function(unsigned long x);

static const char *kind;
static int fast = 1;

NOINLINE static unsigned long twice(unsigned long x)
{
	return 2 * x;
}

NOINLINE static unsigned long twice_fast(unsigned long x)
{
	return x << 1;
}

static function choose_atomic, choose_plain, choose_set, choose_looked;
static function *by_atomic = choose_atomic, *by_plain = choose_plain, *by_lazy,
		*by_setter = choose_set, *by_looked = choose_looked;

NOINLINE static function *chosen(void)
{
	OPAQUE();
	return fast ? twice_fast : twice;
}

NOINLINE static unsigned long choose_atomic(unsigned long x)
{
	function *best = chosen();

	__atomic_store_n(&by_atomic, best, __ATOMIC_RELAXED);
	return best(x);
}

NOINLINE static unsigned long choose_plain(unsigned long x)
{
	function *best = chosen();

	by_plain = best;
	return best(x);
}

NOINLINE static void set(function *best)
{
	by_setter = best;
	OPAQUE();
}

NOINLINE static unsigned long choose_set(unsigned long x)
{
	function *best = chosen();

	set(best);
	return best(x);
}

NOINLINE static unsigned long choose_looked(unsigned long x)
{
	function *best = chosen();

	by_looked = best;
	return best(x);
}

NOINLINE static unsigned long call(unsigned long x)
{
	function *at;

	switch (kind[0]) {
	case 'a':
		return __atomic_load_n(&by_atomic, __ATOMIC_RELAXED)(x);
	case 'p':
		return by_plain(x);
	case 's':
		return by_setter(x);
	case 'l':
		break;
	}
	if (kind[1] == 'o') {
		at = by_looked;
		return at == twice ? x + x : at(x);
	}
	if (!by_lazy)
		by_lazy = chosen();
	return by_lazy(x);
}

NOINLINE static void put_back(void)
{
	by_atomic = choose_atomic;
	by_plain = choose_plain;
	by_lazy = NULL;
	by_setter = choose_set;
	by_looked = choose_looked;
}

static unsigned long rounds; /* of the one who puts back */
static int more = 1;

/* Whoever puts the pointer back says as well whether there is another round. */
static void *loop(void *arg)
{
	unsigned long sum = 0;

	(void)arg;
	target_meet();
	while (more) {
		sum += call(sum & 7);
		if (pthread_barrier_wait(&target_barrier) ==
		    PTHREAD_BARRIER_SERIAL_THREAD) {
			put_back();
			more = target_goes_on(++rounds);
		}
		target_meet();
	}
	return (void *)sum;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	kind = argc > 2 ? argv[2] : "atomic";
	target_race(loop, loop);
	return target_done("dispatch");
}

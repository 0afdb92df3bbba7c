/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A thread executes one store 100 000 times, in its stack and beside it, and then once
 * at bytes of another thread, which it has woken just before. That one computes for
 * some milliseconds and writes them, too. As a twin, it is woken after that.
 */
#include "target.h"

enum { OWN_STORES = 100000, SOME_WORK = 2000000 };

static long own, both;
static sem_t woken;

NOINLINE static void often_write(long *at, long value)
{
	*at = value;
}

NOINLINE static void late_write(long value)
{
	both = value;
}

static void wake_unless_twin(void)
{
#ifndef TWIN
	sem_post(&woken);
#endif
}

static void *write_often(void *unused)
{
	long in_stack, last = OWN_STORES;

	/* one call for all: the compiler does not know the last */
	__asm__ volatile("" : "+r"(last));
	for (long i = 0; i <= last; i++) {
		long *at = i % 2 ? &own : &in_stack;

		if (i == last) {
			at = &both;
			wake_unless_twin();
		}
		often_write(at, i);
	}
#ifdef TWIN
	sem_post(&woken);
#endif
	return unused;
}

static void *write_late(void *unused)
{
	while (sem_wait(&woken))
		target_check(errno == EINTR, "sem_wait");
	late_write(target_work(1, SOME_WORK) == 0 ? 3 : 2);
	return unused;
}

int main(void)
{
	sem_init(&woken, 0, 0);
	target_race(write_often, write_late);
	target_done("often");
	return both > 0 ? 0 : 1;
}

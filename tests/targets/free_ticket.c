/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: a ticket lock. Who draws a ticket waits with acquire until
 * it is served; who leaves stores the next number with release (a plain
 * increment in machine code, for nobody else writes it).
 */
#include "target.h"
#include <stdatomic.h>

static struct lock {
	atomic_uint next, serving;
} lock;
long ledger[4];

NOINLINE static void lock_take(struct lock *at)
{
	unsigned ticket =
		atomic_fetch_add_explicit(&at->next, 1, memory_order_relaxed);

	while (atomic_load_explicit(&at->serving, memory_order_acquire) !=
	       ticket)
		sched_yield();
}

NOINLINE static void lock_leave(struct lock *at)
{
	unsigned now = atomic_load_explicit(&at->serving, memory_order_relaxed);

	atomic_store_explicit(&at->serving, now + 1, memory_order_release);
}

NOINLINE static void ledger_enter(long n)
{
	target_check(ledger[0] == ledger[3], "ledger");
	for (unsigned i = 0; i < 4; i++)
		ledger[i] += n;
}

static void *ledger_loop(void *arg)
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		lock_take(&lock);
		ledger_enter((long)i);
		lock_leave(&lock);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 3);
	pthread_t third = target_thread(ledger_loop, NULL);
	target_race(ledger_loop, ledger_loop);
	pthread_join(third, NULL);
	return target_done("free_ticket");
}

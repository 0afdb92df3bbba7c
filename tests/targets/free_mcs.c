/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: the queue lock of Mellor-Crummey and Scott. Each thread
 * spins on a word of its own node, that its predecessor clears with release;
 * the nodes are on the threads' stacks.
 */
#include "target.h"
#include <stdatomic.h>

struct node {
	_Atomic(struct node *) next;
	atomic_bool waits;
};
static _Atomic(struct node *) last;
long ledger[4];

NOINLINE static void mcs_lock(struct node *me)
{
	struct node *before;

	atomic_store_explicit(&me->next, NULL, memory_order_relaxed);
	atomic_store_explicit(&me->waits, 1, memory_order_relaxed);
	before = atomic_exchange_explicit(&last, me, memory_order_acq_rel);
	if (!before)
		return;
	atomic_store_explicit(&before->next, me, memory_order_release);
	while (atomic_load_explicit(&me->waits, memory_order_acquire))
		sched_yield();
}

NOINLINE static void mcs_unlock(struct node *me)
{
	struct node *next, *seen = me;

	next = atomic_load_explicit(&me->next, memory_order_acquire);
	if (!next && atomic_compare_exchange_strong_explicit(
			     &last, &seen, NULL, memory_order_release,
			     memory_order_relaxed))
		return;
	while (!next) {
		sched_yield();
		next = atomic_load_explicit(&me->next, memory_order_acquire);
	}
	atomic_store_explicit(&next->waits, 0, memory_order_release);
}

NOINLINE static void ledger_enter(long n)
{
	target_check(ledger[0] == ledger[3], "ledger");
	for (unsigned i = 0; i < 4; i++)
		ledger[i] += n;
}

static void *ledger_loop(void *arg)
{
	struct node node;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		mcs_lock(&node);
		ledger_enter((long)i);
		mcs_unlock(&node);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 3);
	pthread_t third = target_thread(ledger_loop, NULL);
	target_race(ledger_loop, ledger_loop);
	pthread_join(third, NULL);
	return target_done("free_mcs");
}

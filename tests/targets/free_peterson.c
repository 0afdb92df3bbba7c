/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: Peterson's lock for two, of sequentially consistent atomics
 * and no compare-and-swap, around plain data; and a reader who publishes with
 * relaxed stores only that he is there, against a writer who uses
 * membarrier(2) (as urcu and jemalloc do).
 */
#include "target.h"
#include <linux/membarrier.h>
#include <stdatomic.h>
#include <sys/syscall.h>

static atomic_int wants[2], last;
static atomic_int reading, closed;
long ledger[4], table[8];

NOINLINE static void peterson_enter(int me)
{
	atomic_store(&wants[me], 1);
	atomic_store(&last, me);
	while (atomic_load(&wants[!me]) && atomic_load(&last) == me)
		sched_yield();
}

NOINLINE static void peterson_leave(int me)
{
	atomic_store(&wants[me], 0);
}

NOINLINE static void ledger_add(long n)
{
	for (int i = 0; i < 4; i++)
		ledger[i] += n;
	target_check(ledger[0] == ledger[3], "ledger");
}

static void barrier_everywhere(void)
{
	target_check(!syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED,
			      0, 0),
		     "membarrier");
}

NOINLINE static void table_write(long n)
{
	atomic_store_explicit(&closed, 1, memory_order_relaxed);
	barrier_everywhere();
	while (atomic_load_explicit(&reading, memory_order_acquire))
		sched_yield();
	for (int i = 0; i < 8; i++)
		table[i] = n;
	atomic_store_explicit(&closed, 0, memory_order_release);
}

NOINLINE static void table_read(void)
{
	atomic_store_explicit(&reading, 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	if (!atomic_load_explicit(&closed, memory_order_acquire))
		target_check(table[0] == table[7], "table");
	atomic_store_explicit(&reading, 0, memory_order_release);
}

static void *loop(void *arg)
{
	int me = !!arg;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		peterson_enter(me);
		ledger_add((long)i);
		peterson_leave(me);
		if (me)
			table_read();
		else if (i % 4 == 0)
			table_write((long)i);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t a, b;

	target_init(argc, argv, 2);
	target_check(!syscall(SYS_membarrier,
			      MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0),
		     "membarrier");
	a = target_thread(loop, NULL);
	b = target_thread(loop, &a);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return target_done("free_peterson");
}

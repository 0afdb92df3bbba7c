/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: the third mutex of Drepper's "Futexes Are Tricky" (0 free,
 * 1 taken, 2 taken and waited for), made of C11 atomics and futex(2).
 */
#include "target.h"
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>

static atomic_int lock;
long ledger[4];

NOINLINE static void lock_take(void)
{
	int seen = 0;

	if (atomic_compare_exchange_strong(&lock, &seen, 1))
		return;
	if (seen != 2)
		seen = atomic_exchange(&lock, 2);
	while (seen != 0) {
		syscall(SYS_futex, &lock, FUTEX_WAIT_PRIVATE, 2, NULL);
		seen = atomic_exchange(&lock, 2);
	}
}

NOINLINE static void lock_leave(void)
{
	if (atomic_fetch_sub(&lock, 1) == 1)
		return;
	atomic_store_explicit(&lock, 0, memory_order_release);
	syscall(SYS_futex, &lock, FUTEX_WAKE_PRIVATE, 1);
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
		lock_take();
		ledger_enter((long)i);
		lock_leave();
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 3);
	pthread_t third = target_thread(ledger_loop, NULL);
	target_race(ledger_loop, ledger_loop);
	pthread_join(third, NULL);
	return target_done("free_futex");
}

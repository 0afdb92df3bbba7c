/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: one plain counter behind each kind of lock that libc has:
 * recursive, error-checking and robust mutexes, pthread_spinlock_t, mtx_t,
 * and a mutex only ever tried.
 */
#include "target.h"
#include <threads.h>

static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t tried = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t robust;
static pthread_spinlock_t spin;
static mtx_t standard;
long by_recursive, by_checking, by_tried, by_robust, by_spin, by_standard;

NOINLINE static void under_mutexes(void)
{
	pthread_mutex_lock(&recursive);
	pthread_mutex_lock(&recursive);
	by_recursive++;
	pthread_mutex_unlock(&recursive);
	by_recursive++;
	pthread_mutex_unlock(&recursive);
	pthread_mutex_lock(&checking);
	by_checking++;
	pthread_mutex_unlock(&checking);
	pthread_mutex_lock(&robust);
	by_robust++;
	pthread_mutex_unlock(&robust);
}

NOINLINE static void under_others(void)
{
	while (pthread_mutex_trylock(&tried))
		__builtin_ia32_pause();
	by_tried++;
	pthread_mutex_unlock(&tried);
	pthread_spin_lock(&spin);
	by_spin++;
	pthread_spin_unlock(&spin);
	mtx_lock(&standard);
	by_standard++;
	mtx_unlock(&standard);
}

static void *count_loop(void *arg)
{
	long *rounds = arg;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		under_mutexes();
		under_others();
		++*rounds;
	}
	return arg;
}

int main(int argc, char **argv)
{
	long rounds[2] = { 0 }, sum;
	pthread_mutexattr_t attr;
	pthread_t threads[2];

	target_init(argc, argv, 2);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attr);
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	mtx_init(&standard, mtx_plain);
	for (int i = 0; i < 2; i++)
		threads[i] = target_thread(count_loop, &rounds[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	sum = rounds[0] + rounds[1];
	target_check(by_recursive == 2 * sum && by_checking == sum &&
			     by_tried == sum && by_robust == sum &&
			     by_spin == sum && by_standard == sum,
		     "lost updates");
	return target_done("free_locks");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: C11's <threads.h> alone: call_once(), mtx_t, a timed mutex,
 * cnd_t, thread-specific storage and thrd_join().
 */
#include "target.h"
#include <threads.h>

static once_flag once = ONCE_FLAG_INIT;
static mtx_t mutex, timed;
static cnd_t turned;
static tss_t own;
long table[8], by_timed, turn, over, given_back;

static void table_make(void)
{
	for (long i = 0; i < 8; i++)
		table[i] = i * i;
}

/* Run at the end of each thread, one after the other by the mutex. */
static void own_give_back(void *memory)
{
	mtx_lock(&mutex);
	given_back += *(long *)memory;
	mtx_unlock(&mutex);
	free(memory);
}

NOINLINE static void own_count(void)
{
	long *mine = tss_get(own);

	if (!mine) {
		mine = calloc(1, sizeof(*mine));
		tss_set(own, mine);
	}
	++*mine;
}

NOINLINE static void timed_count(void)
{
	struct timespec limit;

	timespec_get(&limit, TIME_UTC);
	limit.tv_sec += 60;
	target_check(mtx_timedlock(&timed, &limit) == thrd_success, "timed");
	by_timed++;
	mtx_unlock(&timed);
}

/* False when it is over. */
NOINLINE static int turn_take(long me, unsigned long i)
{
	int goes_on;

	mtx_lock(&mutex);
	while (turn % 2 != me && !over)
		cnd_wait(&turned, &mutex);
	turn++;
	if (!target_goes_on(i))
		over = 1;
	goes_on = !over;
	cnd_broadcast(&turned);
	mtx_unlock(&mutex);
	return goes_on;
}

static int loop(void *arg)
{
	unsigned long i = 0;

	do {
		call_once(&once, table_make);
		target_check(table[7] == 49, "table");
		own_count();
		timed_count();
	} while (turn_take(*(long *)arg, i++));
	return 0;
}

int main(int argc, char **argv)
{
	long numbers[2] = { 0, 1 };
	thrd_t threads[2];

	target_init(argc, argv, 1);
	mtx_init(&mutex, mtx_plain);
	mtx_init(&timed, mtx_timed);
	cnd_init(&turned);
	tss_create(&own, own_give_back);
	for (int i = 0; i < 2; i++)
		thrd_create(&threads[i], loop, &numbers[i]);
	for (int i = 0; i < 2; i++)
		thrd_join(threads[i], NULL);
	target_check(given_back == by_timed, "lost");
	return target_done("free_c11");
}

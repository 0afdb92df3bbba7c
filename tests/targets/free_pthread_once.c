/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: what pthread_once() and call_once() initialize is written
 * once, before either returns, and then only read. Each round has its own
 * once-controls, made before its second thread is born.
 */
#include "target.h"
#include <threads.h>

static pthread_once_t posix_once;
static once_flag standard_once;
long posix_table[8], standard_table[8], made;

static void posix_make(void)
{
	for (unsigned i = 0; i < 8; i++)
		posix_table[i] = made + i;
}

static void standard_make(void)
{
	for (unsigned i = 0; i < 8; i++)
		standard_table[i] = made - i;
}

NOINLINE static long look(unsigned i)
{
	pthread_once(&posix_once, posix_make);
	call_once(&standard_once, standard_make);
	return posix_table[i % 8] + standard_table[i % 8];
}

static void *look_loop(void *arg)
{
	target_meet();
	for (unsigned i = 0; i < 500; i++)
		target_check(look(i) == 2 * made, "table");
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	for (unsigned long i = 0; target_goes_on(i * 64); i++) {
		posix_once = (pthread_once_t)PTHREAD_ONCE_INIT;
		standard_once = (once_flag)ONCE_FLAG_INIT;
		made = (long)i;
		pthread_t other = target_thread(look_loop, NULL);
		look_loop(NULL);
		pthread_join(other, NULL);
	}
	return target_done("free_pthread_once");
}

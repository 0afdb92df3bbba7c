/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Listing 2 of RaceHunter (Programming and Computer Software 50(6), 2024). The
 * second thread sleeps first: where it has found b, the write of the first thread
 * happens before its own by that. The race is in the run where it comes first. As
 * a twin, it writes only if it has found b.
 */
#include <stdatomic.h>

#include "target.h"

static int a;
static atomic_int b = 0, c = 2;

NOINLINE static void first_write(void)
{
	a = 1;
}

NOINLINE static void second_write(void)
{
	a = 2;
}

static void *t1(void *unused)
{
	first_write();
	b = 1;
	return unused;
}

static void *t2(void *unused)
{
	usleep(20000);
#ifdef TWIN
	if (b == 1)
#else
	if (b != c)
#endif
		second_write();
	return unused;
}

int main(void)
{
	pthread_t threads[] = { target_thread(t1, NULL),
				target_thread(t2, NULL) };

	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	target_done("listing2");
	return a > 0 && c == 2 ? 0 : 1;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Listing 1 of RaceHunter (Programming and Computer Software 50(6), 2024). The
 * second thread sleeps first, so that it finds what the first one has written, and
 * both write under the same lock: the race is with the other branch, which such a
 * run does not take. As a twin, that branch takes the lock too.
 */
#include "target.h"

static int a, b;
static pthread_mutex_t ma = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t mb = PTHREAD_MUTEX_INITIALIZER;

NOINLINE static void first_write(void)
{
	a = 1;
}

NOINLINE static void locked_write(void)
{
	pthread_mutex_lock(&ma);
	a = 2;
	pthread_mutex_unlock(&ma);
}

NOINLINE static void bare_write(void)
{
#ifdef TWIN
	pthread_mutex_lock(&ma);
#endif
	a = 3;
#ifdef TWIN
	pthread_mutex_unlock(&ma);
#endif
}

static void *t1(void *unused)
{
	pthread_mutex_lock(&ma);
	first_write();
	pthread_mutex_unlock(&ma);
	pthread_mutex_lock(&mb);
	b = 1;
	pthread_mutex_unlock(&mb);
	return unused;
}

static void *t2(void *unused)
{
	int found;

	usleep(20000);
	pthread_mutex_lock(&mb);
	found = b;
	pthread_mutex_unlock(&mb);
	if (found == 1)
		locked_write();
	else
		bare_write();
	return unused;
}

int main(void)
{
	pthread_t threads[] = { target_thread(t1, NULL),
				target_thread(t2, NULL) };

	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	target_done("listing1");
	return a > 0 ? 0 : 1;
}

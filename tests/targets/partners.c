/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A thread writes once. 20 ms later another one reads the same bytes, and then
 * writes them: two races with the first one's write, by three functions.
 */
#include "target.h"

static long shared;

NOINLINE static void early_write(void)
{
	shared = 1;
}

NOINLINE static long late_read(void)
{
	return shared;
}

NOINLINE static void late_write(long value)
{
	shared = value;
}

static void *early(void *unused)
{
	early_write();
	return unused;
}

static void *late(void *unused)
{
	usleep(20000);
	late_write(late_read() + 1);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	threads[0] = target_thread(early, NULL);
	threads[1] = target_thread(late, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	puts("done");
	return 0;
}

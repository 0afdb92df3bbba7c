/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two functions with four races in them, two lines for each of two heap blocks,
 * which have no variables' names; 20 ms apart. As the twin, the second thread is
 * created when the first has been joined.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long *first_block, *second_block;

static void __attribute__((noinline)) store(void)
{
	first_block[0] = 1;
	first_block[2] = 2;
	second_block[0] = 3;
	second_block[2] = 4;
}

static void *early(void *unused)
{
	store();
	return unused;
}

static void *late(void *unused)
{
	usleep(20000);
	store();
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	first_block = calloc(4, sizeof(long));
	second_block = calloc(5, sizeof(long));
	pthread_create(&threads[0], NULL, early, NULL);
#ifdef TWIN
	pthread_join(threads[0], NULL);
#endif
	pthread_create(&threads[1], NULL, late, NULL);
#ifndef TWIN
	pthread_join(threads[0], NULL);
#endif
	pthread_join(threads[1], NULL);
	puts("done");
	return 0;
}

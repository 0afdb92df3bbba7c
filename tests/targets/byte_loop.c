/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One instruction accesses all bytes of a word in turn, which two threads share by
 * then; the other thread reads the last but one of them later.
 */
#include "special.h"

enum { BYTES = 8 };

static volatile char flags[BYTES] __attribute__((aligned(BYTES)));
static volatile char seen;
static sem_t peeked, filled;

NOINLINE static void fill(int count)
{
	for (int i = 0; i < count; i++)
		flags[i] = 1;
}

NOINLINE static char look(int i)
{
	return flags[i];
}

static void *filler(void *arg)
{
	sem_wait(&peeked);
	fill(BYTES - 1);
	sem_post(&filled);
	return arg;
}

static void *looker(void *arg)
{
	seen = look(BYTES - 1);
	sem_post(&peeked);
	sem_wait(&filled);
	seen = look(BYTES - 2);
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	flags[BYTES - 1] = 1;
	sem_init(&peeked, 0, 0);
	sem_init(&filled, 0, 0);
	threads[0] = target_thread(filler, NULL);
	threads[1] = target_thread(looker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return target_done("byte_loop");
}

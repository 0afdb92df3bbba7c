/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two phases: each thread writes its cell, then reads its neighbour's. One of them
 * does not wait between the phases; it sleeps. Correct: both wait.
 */
#include "hunted.h"

static pthread_barrier_t barrier;
int cells[2];

static void *patient(void *arg)
{
	cells[0] = 1; /* RACE a */
	pthread_barrier_wait(&barrier);
	printf("%d\n", cells[1]);
	return arg;
}

static void *hasty(void *arg)
{
	cells[1] = 2;
	ONLY_TWIN(pthread_barrier_wait(&barrier));
	ONLY_RACY(pause_ms(20));
	printf("%d\n", cells[0]); /* RACE a */
	ONLY_RACY(pthread_barrier_wait(&barrier));
	return arg;
}

int main(void)
{
	pthread_barrier_init(&barrier, NULL, 2);
	both(patient, hasty);
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each phase reads what the other thread wrote in the one before; there is no barrier between. */
#include "short.h"

#include <pthread.h>

enum { PHASES = 3000 * LONGER };

static pthread_barrier_t barrier;
unsigned cells[2];

static NOINLINE void cell_write(int i, unsigned value)
{
	cells[i] = value; /* RACE */
}

static NOINLINE unsigned cell_read(int i)
{
	return cells[i]; /* RACE */
}

static void *stepper(void *arg)
{
	int me = *(int *)arg;
	unsigned value = 1;

	for (int phase = 0; phase < PHASES; phase++) {
		cell_write(me, work(value, 100));
		ONLY_TWIN(pthread_barrier_wait(&barrier));
		value += cell_read(1 - me);
		ONLY_TWIN(pthread_barrier_wait(&barrier));
	}
	return NULL;
}

int main(void)
{
	static int numbers[2] = { 0, 1 };
	pthread_t threads[2];

	pthread_barrier_init(&barrier, NULL, 2);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, stepper, &numbers[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

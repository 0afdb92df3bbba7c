/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads get the address of the loop's variable, which changes 10 ms later.
 * Correct: they get its value.
 */
#include <stdint.h>

#include "hunted.h"

static void *worker(void *arg)
{
	ONLY_RACY(int number = *(int *)arg); /* RACE a */
	ONLY_TWIN(int number = (int)(intptr_t)arg);
	printf("%d\n", number);
	return NULL;
}

int main(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++) { /* RACE a */
		ONLY_RACY(threads[i] = start(worker, &i));
		ONLY_TWIN(threads[i] = start(worker, (void *)(intptr_t)i));
		pause_ms(10);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

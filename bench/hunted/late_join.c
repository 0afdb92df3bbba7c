/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A result is read after a time in which the thread has always been done.
 * Correct: it is joined first.
 */
#include "hunted.h"

unsigned long result;

static void *worker(void *arg)
{
	result = compute(1, 100000) | 1; /* RACE a */
	return arg;
}

int main(void)
{
	pthread_t thread = start(worker, NULL);

	ONLY_RACY(pause_ms(30));
	ONLY_TWIN(pthread_join(thread, NULL));
	printf("%d\n", result != 0); /* RACE a */
	ONLY_RACY(pthread_join(thread, NULL));
	return 0;
}

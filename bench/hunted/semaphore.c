/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A semaphore lets two in, where one is meant. Correct: one. */
#include <semaphore.h>

#include "hunted.h"

static sem_t semaphore;
long log_length;

static void *logger(void *arg)
{
	pause_ms(arg ? 20 : 1);
	sem_wait(&semaphore);
	log_length += 80; /* RACE a */
	sem_post(&semaphore);
	return NULL;
}

int main(void)
{
	pthread_t one, other;

	ONLY_RACY(sem_init(&semaphore, 0, 2));
	ONLY_TWIN(sem_init(&semaphore, 0, 1));
	one = start(logger, NULL);
	other = start(logger, &semaphore);
	pthread_join(one, NULL);
	pthread_join(other, NULL);
	printf("%ld\n", log_length);
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A buffer is cleared by memset(3) for the next user while the last one may still
 * read it. Correct: a semaphore says that it does not.
 */
#include <semaphore.h>
#include <string.h>

#include "hunted.h"

static sem_t read_out;
char buffer[4096];

static void *user(void *arg)
{
	unsigned long sum = 0;

	for (size_t i = 0; i < sizeof(buffer); i += 64)
		sum += (unsigned char)buffer[i]; /* RACE a */
	printf("%lu\n", sum);
	sem_post(&read_out);
	return arg;
}

static void *cleaner(void *arg)
{
	ONLY_RACY(pause_ms(20));
	ONLY_TWIN(sem_wait(&read_out));
	memset(buffer, 0, sizeof(buffer)); /* RACE a */
	return arg;
}

int main(void)
{
	sem_init(&read_out, 0, 0);
	memset(buffer, 1, sizeof(buffer));
	both(user, cleaner);
	return 0;
}

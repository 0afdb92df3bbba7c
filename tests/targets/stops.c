/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A counter that the first thread, a second and a third one raise 500 times each,
 * one after the other: "joined" by pthread_join(3) each, or "posted" by a
 * semaphore, which orders no accesses for a recording. For tests/run/recorders.sh.
 */
#include <semaphore.h>
#include <stdbool.h>
#include <string.h>

#include "target.h"

enum { TIMES = 500 };

static int counter;
static sem_t done;

NOINLINE static void bump(void)
{
	counter++;
}

static void *work(void *unused)
{
	for (int i = 0; i < TIMES; i++)
		bump();
	sem_post(&done);
	return unused;
}

int main(int argc, char **argv)
{
	bool joined = argc > 1 && strcmp(argv[1], "joined") == 0;
	pthread_t threads[2];

	sem_init(&done, 0, 0);
	work(NULL);
	sem_wait(&done);
	for (int i = 0; i < 2; i++) {
		threads[i] = target_thread(work, NULL);
		if (joined)
			pthread_join(threads[i], NULL);
		else
			sem_wait(&done);
	}
	for (int i = 0; i < 2 && !joined; i++)
		pthread_join(threads[i], NULL);
	target_done("stops");
	return counter == 3 * TIMES ? 0 : 1;
}

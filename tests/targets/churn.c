/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads are born and die all the time, each doing a little work; some are
 * joined, some detached.
 */
#include "special.h"

static void *brief(void *arg)
{
	for (unsigned i = 0; i < 200; i++)
		special_hot(target_work(i, 10));
	return arg;
}

static void *detached(void *arg)
{
	brief(NULL);
	sem_post(arg);
	return NULL;
}

int main(int argc, char **argv)
{
	sem_t gone;
	pthread_t loose, joined[3];
	void *result;

	target_init(argc, argv, 1);
	sem_init(&gone, 0, 0);
	for (unsigned long i = 0; target_goes_on(i * 64); i++) {
		loose = target_thread(detached, &gone);
		pthread_detach(loose);
		for (int t = 0; t < 3; t++)
			joined[t] = target_thread(brief, &joined[t]);
		for (int t = 0; t < 3; t++) {
			pthread_join(joined[t], &result);
			target_check(result == &joined[t], "join");
		}
		while (sem_wait(&gone))
			target_check(errno == EINTR, "sem_wait");
	}
	return target_done("churn");
}

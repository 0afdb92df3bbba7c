/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The first thread exits, the others run on: until they are killed, or for as
 * many seconds as the argument says. "ready" is said when it has exited.
 */
#include "special.h"

static pthread_t first;

static void *worker(void *arg)
{
	unsigned long i = 0;

	if (arg) {
		pthread_join(first, NULL);
		printf("ready %d\n", (int)getpid());
		fflush(stdout);
	}
	while (target_goes_on(i))
		special_hot(target_work((unsigned)i++, 20));
	if (arg)
		exit(0);
	return NULL;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 0);
	first = pthread_self();
	target_thread(worker, NULL);
	target_thread(worker, &first);
	pthread_exit(NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two hundred threads, all running the same hot code. */
#include "special.h"

enum { THREADS = 200 };

static void *member(void *arg)
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i * 64); i++)
		special_hot((unsigned)i);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	target_init(argc, argv, THREADS);
	for (int i = 0; i < THREADS; i++)
		threads[i] = target_thread(member, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return target_done("threads200");
}

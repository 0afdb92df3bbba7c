/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread writes into a variable of the stack of main, which reads it too soon. */
#include "short.h"

#include <pthread.h>

static NOINLINE void add_to(unsigned *sum, unsigned value)
{
	*sum += value; /* RACE */
}

static void *adder(void *arg)
{
	for (int i = 0; i < 20000; i++)
		add_to((unsigned *)arg, work(1, 30));
	return NULL;
}

static NOINLINE unsigned look(const unsigned *sum)
{
	return *sum; /* RACE */
}

int main(void)
{
	unsigned sum = 0, seen = 0;
	pthread_t thread;

	pthread_create(&thread, NULL, adder, &sum);
	for (int i = 0; i < 10000; i++) {
		ONLY_RACY(seen += look(&sum));
		seen += work(1, 30);
	}
	pthread_join(thread, NULL);
	return look(&sum) == seen;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A function that keeps its result in a buffer of its own. */
#include "short.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static NOINLINE unsigned number_text(unsigned number)
{
	static char text[12];
	unsigned sum = 0;
	int i = 0;

	ONLY_TWIN(pthread_mutex_lock(&lock));
	do {
		text[i++] = (char)('0' + number % 10); /* RACE */
		number /= 10;
	} while (number && i < 11);
	while (i-- > 0)
		sum += (unsigned char)text[i]; /* RACE */
	ONLY_TWIN(pthread_mutex_unlock(&lock));
	return sum;
}

static void *printer(void *arg)
{
	(void)lock;
	for (unsigned i = 0; i < 10000; i++)
		work(number_text(i), 20);
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, printer, NULL);
	pthread_create(&threads[1], NULL, printer, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fixed work, free of races: a producer and a consumer with a bounded queue,
 * a mutex and two condition variables. A round is one item.
 */
#include "target.h"

enum { ROOM = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static unsigned items[ROOM], count, first;

NOINLINE static void put(unsigned item)
{
	pthread_mutex_lock(&lock);
	while (count == ROOM)
		pthread_cond_wait(&not_full, &lock);
	items[(first + count++) % ROOM] = item;
	if (count == 1)
		pthread_cond_signal(&not_empty);
	pthread_mutex_unlock(&lock);
}

NOINLINE static unsigned get(void)
{
	unsigned item;

	pthread_mutex_lock(&lock);
	while (count == 0)
		pthread_cond_wait(&not_empty, &lock);
	item = items[first];
	first = (first + 1) % ROOM;
	if (count-- == ROOM)
		pthread_cond_signal(&not_full);
	pthread_mutex_unlock(&lock);
	return item;
}

static void *producer(void *arg)
{
	unsigned x = 1;

	for (unsigned long i = 0; target_goes_on(i); i++)
		put((x = target_work(x, 60)) | 1);
	put(0);
	return arg;
}

static void *consumer(void *arg)
{
	unsigned item, x = 0;

	while ((item = get()))
		x = target_work(x ^ item, 60);
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 1);
	target_race(producer, consumer);
	return target_done("queue");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A producer and a consumer with a bounded queue, a mutex and two condition
 * variables. What is forgotten: the lock where the consumer accounts for bytes
 * that the producer looks at, and where the limit is lowered, once in a run.
 */
#include "peers.h"

enum { ROOM = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static unsigned items[ROOM], count, first;
unsigned long bytes_written;
unsigned block_limit = 2000;

static void put(unsigned item)
{
	pthread_mutex_lock(&lock);
	while (count == ROOM)
		pthread_cond_wait(&not_full, &lock);
	items[(first + count++) % ROOM] = item;
	pthread_cond_signal(&not_empty);
	pthread_mutex_unlock(&lock);
}

static unsigned get(void)
{
	unsigned item;

	pthread_mutex_lock(&lock);
	while (count == 0)
		pthread_cond_wait(&not_empty, &lock);
	item = items[first];
	first = (first + 1) % ROOM;
	count--;
	pthread_cond_signal(&not_full);
	pthread_mutex_unlock(&lock);
	return item;
}

NOINLINE static void written_add(unsigned bytes)
{
	WITH_LOCK(&lock);
	bytes_written += bytes; /* RACE: written */
	WITHOUT_LOCK(&lock);
}

NOINLINE static unsigned long written_get(void)
{
	unsigned long bytes;

	WITH_LOCK(&lock);
	bytes = bytes_written; /* RACE: written */
	WITHOUT_LOCK(&lock);
	return bytes;
}

NOINLINE static void limit_lower(unsigned limit)
{
	WITH_LOCK(&lock);
	block_limit = limit; /* RACE: limit */
	WITHOUT_LOCK(&lock);
}

NOINLINE static unsigned limit_get(void)
{
	unsigned limit;

	WITH_LOCK(&lock);
	limit = block_limit; /* RACE: limit */
	WITHOUT_LOCK(&lock);
	return limit;
}

static void produce(const struct worker *worker, unsigned long i)
{
	unsigned item = target_work((unsigned)i | 1, limit_get());

	put(item | 1);
	if (i % 32 == 0)
		use(written_get() + worker->number);
}

static void consume(const struct worker *worker, unsigned long i)
{
	use(target_work(get() ^ worker->number, 2000));
	if (i % 8 == 0)
		written_add((unsigned)i % 1500);
	if (i == target_rounds / 2)
		limit_lower(1900);
}

int main(int argc, char **argv)
{
	return workers_run(argc, argv, "pipeline", produce, consume);
}

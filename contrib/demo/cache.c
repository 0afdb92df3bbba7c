/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The example of `./bootstrap demo': a cache whose shards are filled by one
 * thread and evicted by another. Both change shard.used; somebody forgot the
 * lock. The program runs for five seconds, then says how many bytes its books
 * are wrong by, which is all that anyone would notice without racewatch.
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

struct shard {
	long capacity;
	long used;
};

enum { SHARDS = 4, RUN_SECONDS = 5 };

static struct shard shards[SHARDS];
static long added, evicted;
static time_t deadline;

static __attribute__((noinline)) void shard_add(struct shard *shard, long bytes)
{
	shard->used += bytes;
}

static __attribute__((noinline)) void shard_evict(struct shard *shard,
						  long bytes)
{
	shard->used -= bytes;
}

static int time_is_up(void)
{
	return time(NULL) >= deadline;
}

static void *filler(void *arg)
{
	while (!time_is_up())
		for (int i = 0; i < SHARDS; i++, added++)
			shard_add(&shards[i], 1);
	return arg;
}

static void *evictor(void *arg)
{
	while (!time_is_up())
		for (int i = 0; i < SHARDS; i++, evicted++)
			shard_evict(&shards[i], 1);
	return arg;
}

static int start(pthread_t *thread, const char *name, void *(*body)(void *))
{
	int err = pthread_create(thread, NULL, body, NULL);

	if (!err)
		pthread_setname_np(*thread, name);
	return err;
}

int main(void)
{
	pthread_t threads[2];
	long used = 0;

	deadline = time(NULL) + RUN_SECONDS;
	if (start(&threads[0], "filler", filler) ||
	    start(&threads[1], "evictor", evictor))
		return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < SHARDS; i++)
		used += shards[i].used;
	printf("cache: %ld bytes used, should be %ld\n", used, added - evicted);
	return 0;
}

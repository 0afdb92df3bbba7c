/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A field of one element of a global array of structures: the reported
 * name is the whole path, shards[3].used.
 */
#include "target.h"

struct shard {
	long lock, used;
};

struct shard shards[4];

NOINLINE static void shard_add(struct shard *shard, long n)
{
	shard->used += n; /* RACE: add */
}

NOINLINE static void shard_evict(struct shard *shard, long value)
{
	shard->used = value; /* RACE: evict */
}

static void *filler_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		shard_add(&shards[3], (long)(x & 15) + 1);
		LEAVE();
		x = target_work(x, 40);
	}
	return arg;
}

static void *evictor_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		shard_evict(&shards[3], (long)x);
		LEAVE();
		x = target_work(x, 30);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(filler_loop, evictor_loop);
	return target_done("struct_field");
}

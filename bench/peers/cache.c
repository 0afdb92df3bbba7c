/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A cache in stripes with a mutex each. A few times in a run a part of the
 * entries is aged. What is forgotten: the lock of the
 * stripe while that is done.
 */
#include "peers.h"

enum { STRIPES = 16, SLOTS = 1024, PROBES = 6 };

struct entry {
	unsigned key;
	unsigned used;
	unsigned long value;
};

static pthread_mutex_t locks[STRIPES];
struct entry entries[STRIPES][SLOTS];

static struct entry *slot_find(struct entry *stripe, unsigned key)
{
	struct entry *coldest = &stripe[key % SLOTS];

	for (unsigned i = 0; i < PROBES; i++) {
		struct entry *entry = &stripe[(key + i) % SLOTS];

		if (entry->key == key)
			return entry;
		if (entry->used < coldest->used) /* RACE: age */
			coldest = entry;
	}
	return coldest;
}

NOINLINE static unsigned long cache_get(unsigned key)
{
	unsigned stripe = key % STRIPES;
	unsigned long value;
	struct entry *entry;

	pthread_mutex_lock(&locks[stripe]);
	entry = slot_find(entries[stripe], key / STRIPES);
	if (entry->key != key / STRIPES)
		*entry = (struct entry){ key / STRIPES, 0, key * 3UL };
	entry->used++; /* RACE: age */
	value = entry->value;
	pthread_mutex_unlock(&locks[stripe]);
	return value;
}

NOINLINE static void cache_age(unsigned stripe)
{
	WITH_LOCK(&locks[stripe]);
	for (unsigned i = 0; i < SLOTS; i++)
		entries[stripe][i].used /= 2; /* RACE: age */
	WITHOUT_LOCK(&locks[stripe]);
}

static void round_of(const struct worker *worker, unsigned long i)
{
	unsigned key = (unsigned)(i * 2 + worker->number) * 2654435761U;

	use(cache_get(target_work(key | 1, 200) % 20000));
	if (is_seldom(i))
		cache_age((unsigned)i % STRIPES);
}

int main(int argc, char **argv)
{
	for (unsigned i = 0; i < STRIPES; i++)
		pthread_mutex_init(&locks[i], NULL);
	return workers_run(argc, argv, "cache", round_of, round_of);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fixed work, free of races: two threads look up and insert in one hash table
 * whose 64 stripes have a mutex each. A round is one operation.
 */
#include "target.h"

enum { STRIPES = 64, BUCKETS = 4096, KEYS = 20000 };

struct entry {
	struct entry *next;
	unsigned key, value;
};

static struct entry *buckets[BUCKETS];
static pthread_mutex_t stripes[STRIPES];

NOINLINE static struct entry *find(unsigned bucket, unsigned key)
{
	struct entry *entry = buckets[bucket];

	while (entry && entry->key != key)
		entry = entry->next;
	return entry;
}

NOINLINE static unsigned touch(unsigned key)
{
	unsigned bucket = key * 2654435761U % BUCKETS, value;
	struct entry *entry;

	pthread_mutex_lock(&stripes[bucket % STRIPES]);
	entry = find(bucket, key);
	if (!entry) {
		entry = malloc(sizeof(*entry));
		target_check(entry != NULL, "malloc");
		*entry = (struct entry){ buckets[bucket], key, 0 };
		buckets[bucket] = entry;
	}
	value = ++entry->value;
	pthread_mutex_unlock(&stripes[bucket % STRIPES]);
	return value;
}

static void *user(void *arg)
{
	unsigned x = arg ? 77 : 5;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		x = target_work(x, 8);
		touch(x % KEYS);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	for (unsigned i = 0; i < STRIPES; i++)
		pthread_mutex_init(&stripes[i], NULL);
	pthread_t other = target_thread(user, &stripes);

	user(NULL);
	pthread_join(other, NULL);
	return target_done("hashtable");
}

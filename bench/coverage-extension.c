/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An extension of an interpreter, for bench/coverage: a table under a lock that
 * the interpreter's threads use by ctypes, and threads of its own.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { BUCKETS = 512, WORKERS_MAX = 8 };

struct entry {
	struct entry *next;
	uint64_t key, value, used;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *buckets[BUCKETS];
static uint64_t entries;

static pthread_t workers[WORKERS_MAX];
static int worker_count;
static int rounds;

void add(uint64_t key, uint64_t value);
uint64_t find(uint64_t key);
void begin(int count, int how_often);
void end(void);

static struct entry *find_locked(uint64_t key)
{
	struct entry *entry = buckets[key % BUCKETS];

	while (entry && entry->key != key)
		entry = entry->next;
	return entry;
}

void add(uint64_t key, uint64_t value)
{
	struct entry *entry;

	key %= (uint64_t)BUCKETS * 4;
	pthread_mutex_lock(&lock);
	entry = find_locked(key);
	if (!entry) {
		entry = calloc(1, sizeof(*entry));
		if (!entry)
			abort();
		entry->key = key;
		entry->next = buckets[key % BUCKETS];
		buckets[key % BUCKETS] = entry;
		entries++;
	}
	entry->value += value;
	entry->used++;
	pthread_mutex_unlock(&lock);
}

uint64_t find(uint64_t key)
{
	const struct entry *entry;
	uint64_t value;

	pthread_mutex_lock(&lock);
	entry = find_locked(key);
	value = entry ? entry->value : 0;
	pthread_mutex_unlock(&lock);
	return value;
}

static void *worker(void *argument)
{
	uint64_t seed = (uint64_t)(uintptr_t)argument;

	for (int i = 0; i < rounds; i++) {
		add(seed, (uint64_t)i);
		seed = seed * 6364136223846793005u + find(seed) + 1;
	}
	return NULL;
}

void begin(int count, int how_often)
{
	rounds = how_often;
	for (int i = 0; i < count && i < WORKERS_MAX; i++) {
		if (pthread_create(&workers[i], NULL, worker,
				   (void *)(uintptr_t)(i + 1)))
			abort();
		worker_count++;
	}
}

void end(void)
{
	for (int i = 0; i < worker_count; i++)
		pthread_join(workers[i], NULL);
}

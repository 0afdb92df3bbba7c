/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Things made when they are first asked for, in four ways. There are many of
 * each, and the threads ask for the same one at about the same time; each is
 * made once, as such things are.
 */
#include "figure7.h"

enum { ENTRIES = 1 << 20, ASKED = 32 };

struct entry {
	unsigned long value;
	int ready;
};

struct connection {
	unsigned long peer;
};

static struct entry entries[ENTRIES], halves[ENTRIES];
static struct connection *connections[ENTRIES];
static unsigned long hashes[ENTRIES];
static pthread_mutex_t entry_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long asked;

NOINLINE static unsigned long compute(unsigned long i)
{
	return target_work((unsigned)i | 1, 20);
}

/* Looked at without the lock, then again with it; told last of all. */
NOINLINE static unsigned long entry_get(unsigned long i)
{
	struct entry *entry = &entries[i];

	if (!entry->ready) { /* RACE: once */
		pthread_mutex_lock(&entry_lock);
		if (!entry->ready) { /* RACE: once */
			entry->value = compute(i);
			OPAQUE();
			entry->ready = 1; /* RACE: once */
		}
		pthread_mutex_unlock(&entry_lock);
	}
	OPAQUE();
	return entry->value;
}

/* The same, but told before it is there. */
NOINLINE static unsigned long half_get(unsigned long i)
{
	struct entry *entry = &halves[i];

	if (!entry->ready) { /* RACE: half_built */
		pthread_mutex_lock(&entry_lock);
		if (!entry->ready) { /* RACE: half_built */
			entry->ready = 1; /* RACE: half_built */
			OPAQUE();
			entry->value = compute(i); /* RACE: half_built */
		}
		pthread_mutex_unlock(&entry_lock);
	}
	OPAQUE();
	return entry->value; /* RACE: half_built */
}

static struct connection *connection_open(unsigned long i)
{
	struct connection *fresh = (struct connection *)malloc(sizeof(*fresh));

	target_check(fresh != NULL, "malloc");
	fresh->peer = compute(i);
	return fresh;
}

/* Two threads open two, and one is lost with all that was sent on it. */
NOINLINE static unsigned long connection_peer(unsigned long i)
{
	if (!connections[i]) /* RACE: opened_twice */
		connections[i] = connection_open(i); /* RACE: opened_twice */
	OPAQUE();
	return connections[i]->peer; /* RACE: opened_twice */
}

/* Whoever computes it, it is the same. */
NOINLINE static unsigned long hash_get(unsigned long i)
{
	unsigned long hash = hashes[i]; /* RACE: hash */

	if (!hash) {
		hash = compute(i) | 1;
		hashes[i] = hash; /* RACE: hash */
	}
	return hash;
}

static void client(unsigned long turn)
{
	unsigned long i = __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED) /
			  ASKED % ENTRIES;

	use(entry_get(i) + turn);
	use(half_get(i));
	use(connection_peer(i));
	use(hash_get(i));
}

int main(int argc, char **argv)
{
	struct role roles[] = { { client, 40 }, { client, 50 }, { NULL, 0 } };

	return roles_run(argc, argv, "lazy", roles);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A tree of words under a lock of the program's own: tickets, by C11 atomics.
 * What is forgotten: to take it where the size of the tree is looked at.
 */
#include "peers.h"

enum { NODES = 2048, NEAR = 60 };

struct node {
	unsigned key, count, child[2];
};

static _Atomic unsigned ticket_next, ticket_now;
static struct node nodes[NODES];
unsigned tree_size = 1; /* the root is always there */

static void ticket_lock(void)
{
	unsigned mine = atomic_fetch_add(&ticket_next, 1);

	while (atomic_load_explicit(&ticket_now, memory_order_acquire) != mine)
		__asm__ volatile("pause");
}

static void ticket_unlock(void)
{
	unsigned next =
		atomic_load_explicit(&ticket_now, memory_order_relaxed) + 1;

	atomic_store_explicit(&ticket_now, next, memory_order_release);
}

/* The index of a new node; none when the tree is full. */
NOINLINE static unsigned size_next(void)
{
	return tree_size < NODES ? tree_size++ : 0; /* RACE: size */
}

NOINLINE static void size_reset(void)
{
	tree_size = 1; /* RACE: size */
}

NOINLINE static void tree_count(unsigned key)
{
	unsigned at = 0;

	while (nodes[at].key != key) {
		unsigned *child = &nodes[at].child[nodes[at].key < key];

		if (!*child) {
			*child = size_next();
			nodes[*child].key = *child ? key : nodes[0].key;
		}
		if (!*child)
			return;
		at = *child;
	}
	nodes[at].count++;
}

/* Cut down to the root, to be grown anew. */
NOINLINE static void tree_clear(void)
{
	memset(nodes, 0, sizeof(nodes));
	size_reset();
}

NOINLINE static unsigned size_get(void)
{
	unsigned size;

	FORGOTTEN(ticket_lock());
	size = tree_size; /* RACE: size */
	FORGOTTEN(ticket_unlock());
	return size;
}

static void round_of(const struct worker *worker, unsigned long i)
{
	unsigned x = target_work((unsigned)i * 2 + worker->number + 1, 1500);

	ticket_lock();
	tree_count(x % (NODES * 4) + 1);
	ticket_unlock();
	if (i % NEAR == 0 && size_get() > NODES * 3 / 4) {
		ticket_lock();
		tree_clear();
		ticket_unlock();
	}
}

int main(int argc, char **argv)
{
	return workers_run(argc, argv, "ticket", round_of, round_of);
}

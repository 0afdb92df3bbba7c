/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The order of a genome's segments, as in STAMP: workers put the segments into a
 * table whose lists are without locks, each once; when all are there, they look for
 * what follows each, and main() puts the genome together. Between the two they wait
 * at a barrier of the program's own.
 *
 * Races: how often a segment came is counted in its node, and the nodes in all, by
 * plain sums.
 */
#include "table5.h"

enum { GENOME = 96, LENGTH = 8, COPIES = 4, BUCKETS = 16, WORKERS = 3 };
enum { SEGMENTS = GENOME * COPIES };

struct node {
	struct node *next, *follower;
	unsigned int copies;
	char text[LENGTH + 1];
};

struct barrier {
	atomic_uint came, round;
};

static char genome[GENOME + LENGTH];
static _Atomic(struct node *) table[BUCKETS];
static atomic_uint next_segment, next_bucket;
static struct barrier barrier;
unsigned int nodes_made;

static _Atomic(struct node *) *bucket_of(const char *text)
{
	unsigned int hash = 1;

	for (int i = 0; i < LENGTH; i++)
		hash = hash * 33 + (unsigned char)text[i];
	return &table[hash / 32 % BUCKETS];
}

NOINLINE static struct node *node_new(const char *text)
{
	struct node *node = memory_new(sizeof(*node));

	memcpy(node->text, text, LENGTH);
	node->copies = 1;
	return node;
}

NOINLINE static void node_set_next(struct node *node, struct node *next)
{
	node->next = next;
}

NOINLINE static struct node *node_next(const struct node *node)
{
	return node->next;
}

NOINLINE static bool node_is(const struct node *node, const char *text)
{
	for (int i = 0; i < LENGTH; i++) {
		if (node->text[i] != text[i])
			return false;
	}
	return true;
}

NOINLINE static void node_count(struct node *node)
{
	node->copies++;
}

NOINLINE static void made_count(void)
{
	nodes_made++;
}

static struct node *node_find(struct node *node, const char *text)
{
	while (node && !node_is(node, text))
		node = node_next(node);
	return node;
}

/* Unless another thread has put the same one there. */
static void segment_add(const char *text)
{
	_Atomic(struct node *) *bucket = bucket_of(text);
	struct node *first = atomic_load(bucket), *made = NULL;

	for (;;) {
		struct node *node = node_find(first, text);

		if (node) {
			node_count(node);
			free(made);
			return;
		}
		if (!made)
			made = node_new(text);
		node_set_next(made, first);
		if (atomic_compare_exchange_strong(bucket, &first, made))
			break;
	}
	made_count();
}

static void barrier_wait(struct barrier *at)
{
	unsigned int round = atomic_load(&at->round);

	if (atomic_fetch_add(&at->came, 1) + 1 == WORKERS) {
		atomic_store(&at->came, 0);
		atomic_fetch_add(&at->round, 1);
	}
	while (atomic_load(&at->round) == round)
		sched_yield();
}

NOINLINE static void node_text(const struct node *node, char *to)
{
	memcpy(to, node->text + 1, LENGTH - 1);
}

NOINLINE static void node_follow(struct node *node, struct node *follower)
{
	node->follower = follower;
}

/* What follows is what goes on by one of the four letters. */
static void node_match(struct node *node)
{
	char text[LENGTH + 1] = "";

	node_text(node, text);
	for (const char *letter = "ACGT"; *letter; letter++) {
		struct node *follower;

		text[LENGTH - 1] = *letter;
		follower = node_find(atomic_load(bucket_of(text)), text);
		if (follower && follower != node)
			node_follow(node, follower);
	}
}

static void *worker(void *unused)
{
	unsigned int i;

	while ((i = atomic_fetch_add(&next_segment, 1)) < SEGMENTS) {
		segment_add(genome + i * 37 % GENOME);
		sched_yield();
	}
	barrier_wait(&barrier);
	while ((i = atomic_fetch_add(&next_bucket, 1)) < BUCKETS) {
		for (struct node *node = atomic_load(&table[i]); node;
		     node = node_next(node))
			node_match(node);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[WORKERS];
	unsigned int state = 5, length = 0;
	struct node *node;

	for (int i = 0; i < GENOME + LENGTH - 1; i++)
		genome[i] = "ACGT"[number_next(&state) % 4];
	for (int i = 0; i < WORKERS; i++)
		threads[i] = target_thread(worker, NULL);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	node = node_find(atomic_load(bucket_of(genome)), genome);
	for (; node && length < GENOME; node = node->follower)
		length++;
	target_check(length == GENOME, "the genome");
	return target_done("genome");
}

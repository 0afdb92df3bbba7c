/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Linked things that need a lock and have none: a free list that two threads
 * push to, a message that is published before it is written, a table that is
 * replaced by a larger one while others look things up.
 */
#include "figure7.h"

enum { SMALL = 64, LARGE = 256 };

struct node {
	struct node *next;
};

struct message {
	unsigned long length, checksum;
};

struct table {
	unsigned long *buckets;
	unsigned long mask;
};

static struct node nodes[2][256];
struct node *free_list;
static struct message messages[4];
struct message *latest = messages;
/* Behind the small one is room, so that a wrong index finds a wrong value. */
static unsigned long small[LARGE], large[LARGE];
struct table table = { small, SMALL - 1 };

static void tables_fill(void)
{
	for (unsigned long i = 0; i < LARGE; i++) {
		large[i] = i;
		small[i] = i < SMALL ? i : ~i;
	}
}

NOINLINE static void list_push(struct node *node)
{
	node->next = free_list; /* RACE: push */
	free_list = node; /* RACE: push */
}

NOINLINE static void message_send(unsigned long i)
{
	struct message *message = &messages[i % 4];

	latest = message; /* RACE: early */
	OPAQUE();
	message->length = i % 100; /* RACE: early */
	message->checksum = ~(i % 100); /* RACE: early */
}

NOINLINE static int message_is_good(void)
{
	const struct message *message = latest; /* RACE: early */

	return message->length == ~message->checksum; /* RACE: early */
}

NOINLINE static void table_resize(int grow)
{
	table.mask = grow ? LARGE - 1 : SMALL - 1; /* RACE: resize */
	OPAQUE();
	table.buckets = grow ? large : small; /* RACE: resize */
}

NOINLINE static unsigned long table_find(unsigned long hash)
{
	unsigned long *buckets = table.buckets; /* RACE: resize */

	return buckets[hash & table.mask]; /* RACE: resize */
}

static void writer(unsigned long i)
{
	list_push(&nodes[0][i % 256]);
	message_send(i);
	table_resize((int)(i & 1));
}

static void reader(unsigned long i)
{
	list_push(&nodes[1][i % 256]);
	use((unsigned long)message_is_good());
	use(table_find(i * 31));
}

int main(int argc, char **argv)
{
	struct role roles[] = { { writer, 40 }, { reader, 30 }, { NULL, 0 } };

	tables_fill();
	return roles_run(argc, argv, "lists", roles);
}

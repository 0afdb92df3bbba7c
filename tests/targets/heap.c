/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A field of a structure on the heap, written and read without a lock.
 */
#define GUARD_RWLOCK
#include "target.h"

struct node {
	struct node *next;
	long key, used;
};

struct node *head;

NOINLINE static void node_fill(struct node *node, long value)
{
	node->used = value; /* RACE: fill */
}

NOINLINE static long node_look(const struct node *node)
{
	return node->used; /* RACE: look */
}

static void *fill_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		node_fill(head, x);
		LEAVE();
		x = target_work(x, 40);
	}
	return arg;
}

static void *look_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER_READ();
		x += (unsigned)node_look(head);
		LEAVE();
		x = target_work(x, 30);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	head = calloc(1, sizeof(*head));
	target_check(head != NULL, "calloc");
	target_race(fill_loop, look_loop);
	free(head);
	return target_done("heap");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two threads push to a list without a lock, one long before the other. Correct:
 * by compare-and-swap.
 */
#include "hunted.h"

struct node {
	struct node *next;
	int value;
};

struct node *head;

static void push(struct node *node)
{
#ifdef TWIN
	node->next = __atomic_load_n(&head, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&head, &node->next, node, 1,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
#else
	node->next = head; /* RACE a */
	head = node; /* RACE a */
#endif
}

static void *early(void *arg)
{
	static struct node node = { .value = 1 };

	push(&node);
	return arg;
}

static void *late(void *arg)
{
	static struct node node = { .value = 2 };

	pause_ms(20);
	push(&node);
	return arg;
}

int main(void)
{
	int sum = 0;

	both(early, late);
	for (struct node *node = head; node; node = node->next)
		sum += node->value;
	printf("%d\n", sum);
	return 0;
}

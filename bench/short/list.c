/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two threads push onto one list. */
#include "short.h"

#include <pthread.h>

enum { NODES = 5000 };

struct node {
	struct node *next;
	int value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct node *head;
struct node nodes[2][NODES];

static NOINLINE void list_push(struct node *node)
{
	ONLY_TWIN(pthread_mutex_lock(&lock));
	node->next = head; /* RACE */
	work(1, 50);
	head = node; /* RACE */
	ONLY_TWIN(pthread_mutex_unlock(&lock));
}

static void *pusher(void *arg)
{
	struct node *own = (struct node *)arg;

	(void)lock;
	for (int i = 0; i < NODES; i++)
		list_push(&own[i]);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, pusher, nodes[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

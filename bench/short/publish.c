/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A message is published by a plain pointer, again and again. */
#include "short.h"

#include <pthread.h>
#include <stddef.h>

struct message {
	int number, square;
};

struct message messages[64];
#ifdef TWIN
static struct message *_Atomic box;
#else
static struct message *volatile box;
#endif
unsigned seen;

static NOINLINE void send(int i)
{
	struct message *message = &messages[i % 64];

	box = message; /* RACE */
}

static NOINLINE struct message *receive(void)
{
	return box; /* RACE */
}

static void *sender(void *arg)
{
	for (int i = 0; i < 10000; i++) {
		send(i);
		work(1, 100);
	}
	return arg;
}

static void *receiver(void *arg)
{
	for (int i = 0; i < 10000; i++) {
		seen += receive() != NULL;
		work(1, 100);
	}
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, sender, NULL);
	pthread_create(&threads[1], NULL, receiver, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}

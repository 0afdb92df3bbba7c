/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A field at the end of a chain of pointers, which begins at a global; no
 * variable holds the last of them.
 */
#include "target.h"

struct queue {
	int limit, length;
};

struct server {
	const char *name;
	struct queue *queue;
};

static struct server *server;

NOINLINE static void push(int n)
{
	server->queue->length = n; /* RACE: push */
}

NOINLINE static int length(void)
{
	return server->queue->length; /* RACE: length */
}

static void *push_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		push((int)x);
		LEAVE();
		x = target_work(x, 40);
	}
	return arg;
}

static void *length_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		x += (unsigned)length();
		LEAVE();
		x = target_work(x, 30);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	server = calloc(1, sizeof(*server));
	target_check(server != NULL, "calloc");
	server->queue = calloc(1, sizeof(*server->queue));
	target_race(push_loop, length_loop);
	return target_done("through_pointers");
}

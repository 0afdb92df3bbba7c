/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A thread writes two variables, and another one reads both in one line. They race on
 * the first one. A flag, which is waited for in that line too, orders the accesses of
 * the second one. Which variables these are, the argument says:
 *
 *   call	of one size; the second one is written by a function, in the line of
 *		whose call the first one is
 *   size	of two sizes
 *   loop	of the heap, in functions of several lines; the second one is an array
 */
#include "target.h"

enum { LENGTH = 1024 };

static int items, head;
static long large;
static int small;
static int *fills, *array;
static int ready;
static volatile long seen;
static const char *which;

static inline void wait_ready(void)
{
	while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
		;
}

NOINLINE static void push(int value)
{
	head = value; /* push */
	__asm__ volatile("" ::: "memory");
}

NOINLINE static void push_item(void)
{
	push(++items); /* push_item */
	__asm__ volatile("" ::: "memory");
}

NOINLINE static void read_item(void)
{
	seen = items, wait_ready(), seen += head; /* read_item */
}

NOINLINE static void write_sizes(void)
{
	large = 1, small = 2; /* write_sizes */
}

NOINLINE static void read_sizes(void)
{
	seen = large, wait_ready(), seen += small; /* read_sizes */
}

NOINLINE static void fill(int *to, int value)
{
	*fills = value; /* fills */
	for (int i = 0; i < LENGTH; i++)
		to[i] = value; /* fill */
}

NOINLINE static int sum(const int *from)
{
	int total = *fills; /* read fills */

	wait_ready();
	for (int i = 0; i < LENGTH; i++)
		total += from[i]; /* sum */
	return total;
}

static void *writer(void *unused)
{
	if (strcmp(which, "call") == 0)
		push_item();
	else if (strcmp(which, "size") == 0)
		write_sizes();
	else
		fill(array, 3);
	__atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
	return unused;
}

static void *reader(void *unused)
{
	if (strcmp(which, "call") == 0)
		read_item();
	else if (strcmp(which, "size") == 0)
		read_sizes();
	else
		seen = sum(array);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	which = argc > 1 ? argv[1] : "";
	fills = calloc(1, sizeof(*fills));
	array = calloc(LENGTH, sizeof(*array));
	if (!fills || !array)
		return 1;
	threads[0] = target_thread(writer, NULL);
	threads[1] = target_thread(reader, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	puts("done");
	return 0;
}

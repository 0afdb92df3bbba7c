/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A thread executes one store 100 000 times, in its stack and beside it, and then once
 * at bytes of another thread, which it has woken just before. That one computes for
 * some milliseconds and writes them, too. As a twin, it is woken after that. With the
 * argument "walk", the store is in a loop, at whose beginning the pointer is made of
 * the stack pointer.
 */
#include "target.h"

enum { OWN_STORES = 100000, SOME_WORK = 2000000 };

struct node {
	struct node *next;
	long value;
};

static struct node own, both;
static sem_t woken;

NOINLINE static void often_write(long *at, long value)
{
	*at = value;
}

NOINLINE static void often_walk(struct node *second, long value)
{
	struct node first = { second, 0 }, *node = &first;

	/* the compiler does not know the first */
	__asm__ volatile("" : "+r"(node) : : "memory");
	do {
		node->value = value;
		node = node->next;
	} while (node);
}

NOINLINE static void late_write(long value)
{
	both.value = value;
}

static void wake_unless_twin(void)
{
#ifndef TWIN
	sem_post(&woken);
#endif
}

static void *write_often(void *unused)
{
	long in_stack, last = OWN_STORES;

	/* one call for all: the compiler does not know the last */
	__asm__ volatile("" : "+r"(last));
	for (long i = 0; i <= last; i++) {
		long *at = i % 2 ? &own.value : &in_stack;

		if (i == last) {
			at = &both.value;
			wake_unless_twin();
		}
		often_write(at, i);
	}
#ifdef TWIN
	sem_post(&woken);
#endif
	return unused;
}

/* Two stores in each walk, the first of which is in the stack. */
static void *walk_often(void *unused)
{
	long last = OWN_STORES / 2;

	__asm__ volatile("" : "+r"(last));
	for (long i = 1; i <= last; i++) {
		struct node *second = &own;

		if (i == last) {
			second = &both;
			wake_unless_twin();
		}
		often_walk(second, i);
	}
#ifdef TWIN
	sem_post(&woken);
#endif
	return unused;
}

static void *write_late(void *unused)
{
	while (sem_wait(&woken))
		target_check(errno == EINTR, "sem_wait");
	/* the poster is not overtaken, in the recording or before it is held */
	usleep(20000);
	late_write(target_work(1, SOME_WORK) == 0 ? 3 : 2);
	return unused;
}

int main(int argc, char **argv)
{
	int walks = argc > 1 && strcmp(argv[1], "walk") == 0;

	sem_init(&woken, 0, 0);
	target_race(walks ? walk_often : write_often, write_late);
	target_done("often");
	return both.value > 0 ? 0 : 1;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An object's address is shown in a variable before the object is filled. A
 * container that has the address goes from one thread to the other and back; the
 * container is not the object. In another run the reader may have the address from
 * the variable, and its read then races with the fill.
 */
#include "special.h"

enum { ROUNDS = 6 };

struct object {
	long number;
};

struct container {
	struct object *object;
};

static struct object *shown;
static struct container *to_filler, *to_reader;
static sem_t filler_goes, reader_goes;
static volatile int seen;

NOINLINE static void contained_fill(struct object *object, int number)
{
	object->number = number;
}

NOINLINE static long contained_read(struct object *object)
{
	return object->number;
}

static void *filler(void *arg)
{
	struct object *object = calloc(1, sizeof(*object));

	for (int i = 0; i < ROUNDS; i++) {
		struct container *container;

		sem_wait(&filler_goes);
		container = to_filler;
		if (i == 0) {
			container->object = object;
			__atomic_store_n(&shown, object, __ATOMIC_SEQ_CST);
		} else {
			contained_fill(container->object, i);
		}
		to_reader = container;
		to_filler = NULL;
		sem_post(&reader_goes);
	}
	return arg;
}

static void *reader(void *arg)
{
	long sum = 0;

	for (int i = 0; i < ROUNDS; i++) {
		struct container *container;
		struct object *object;

		sem_wait(&reader_goes);
		container = to_reader;
		to_reader = NULL;
		object = container->object;
		/* it looks there in each round */
		seen += object == __atomic_load_n(&shown, __ATOMIC_SEQ_CST);
		if (i > 0)
			sum += contained_read(object);
		to_filler = container;
		sem_post(&filler_goes);
	}
	target_check(sum == ROUNDS * (ROUNDS - 1) / 2, "sum");
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	to_filler = calloc(1, sizeof(*to_filler));
	sem_init(&filler_goes, 0, 1);
	sem_init(&reader_goes, 0, 0);
	threads[0] = target_thread(filler, NULL);
	threads[1] = target_thread(reader, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return target_done("contained");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Objects of one heap block that is used again and again: each is handed over by a
 * slot and freed by the receiver. again_before() comes before that, and
 * again_after() after it; the last LATE objects are accessed by again_before()
 * after it too, so these two race. One more object, whose receiver executes much
 * before far_after() uses it: far_before() and far_after() never race.
 *
 *	handed_again ROUNDS LATE
 */
#include "target.h"

#include <semaphore.h>

struct object {
	long value;
};

enum { FAR_ROUNDS = 5000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct object *slot;
static sem_t empty, full, written;
static long rounds, late;
static volatile long far_sum;
static long sum;

#define ACCESS(name)                                     \
	NOINLINE static void name(struct object *object) \
	{                                                \
		object->value++;                         \
	}

ACCESS(again_before)
ACCESS(again_after)
ACCESS(far_before)
ACCESS(far_after)

static void send(struct object *object)
{
	pthread_mutex_lock(&mutex);
	slot = object;
	pthread_mutex_unlock(&mutex);
	sem_post(&full);
}

static struct object *receive(void)
{
	struct object *object;

	sem_wait(&full);
	pthread_mutex_lock(&mutex);
	object = slot;
	pthread_mutex_unlock(&mutex);
	return object;
}

static void *receiver(void *unused)
{
	struct object *object = receive();

	(void)unused;
	for (int i = 0; i < FAR_ROUNDS; i++)
		far_sum += i;
	far_after(object);
	sem_post(&empty);
	for (long i = 0; i < rounds; i++) {
		object = receive();
		if (i >= rounds - late)
			sem_wait(&written);
		again_after(object);
		sum += object->value;
		free(object);
		sem_post(&empty);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct object *far_object = calloc(1, sizeof(*far_object));
	pthread_t thread;

	if (!far_object)
		return 1;
	rounds = argc > 1 ? atol(argv[1]) : 1;
	late = argc > 2 ? atol(argv[2]) : 0;
	sem_init(&empty, 0, 0);
	sem_init(&full, 0, 0);
	sem_init(&written, 0, 0);
	pthread_create(&thread, NULL, receiver, NULL);
	far_before(far_object);
	send(far_object);
	sem_wait(&empty);
	for (long i = 0; i < rounds; i++) {
		struct object *object = malloc(sizeof(*object));

		if (!object)
			return 1;
		object->value = i;
		if (i < rounds - late)
			again_before(object);
		send(object);
		if (i >= rounds - late) {
			again_before(object);
			sem_post(&written);
		}
		sem_wait(&empty);
	}
	pthread_join(thread, NULL);
	printf("handed_again: done %ld\n", sum);
	return 0;
}

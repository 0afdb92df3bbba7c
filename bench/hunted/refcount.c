/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * References are counted without atomic operations; the two owners let go at
 * different times. Correct: atomic ones.
 */
#include "hunted.h"

struct object {
	int references;
	int value;
};

static void object_put(struct object *object)
{
	int left;

	ONLY_RACY(left = --object->references); /* RACE a */
	ONLY_TWIN(left = __atomic_sub_fetch(&object->references, 1,
					    __ATOMIC_ACQ_REL));
	if (left == 0)
		free(object);
}

static void *short_user(void *arg)
{
	struct object *object = arg;

	printf("%d\n", object->value);
	object_put(object);
	return NULL;
}

static void *long_user(void *arg)
{
	struct object *object = arg;

	pause_ms(25);
	printf("%d\n", object->value);
	object_put(object);
	return NULL;
}

int main(void)
{
	struct object *object = malloc(sizeof(*object));
	pthread_t one, other;

	*object = (struct object){ .references = 2, .value = 5 };
	one = start(short_user, object);
	other = start(long_user, object);
	pthread_join(one, NULL);
	pthread_join(other, NULL);
	return 0;
}

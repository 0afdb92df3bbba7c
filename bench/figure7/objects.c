/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Objects with counts of their users, each wrong in another way: not atomic at
 * all, atomic on one path only, set anew while in use.
 */
#include "figure7.h"

struct object {
	long refs;
	long serial;
};

struct buffer {
	long users;
	long size;
};

struct object object = { 1, 0 };
struct buffer buffer = { 1, 4096 };
unsigned long in_flight;

/* As the destructor would. */
NOINLINE static void object_destroy(struct object *dead)
{
	use((unsigned long)dead);
}

NOINLINE static void object_get(struct object *shared)
{
	shared->refs++; /* RACE: refs */
}

NOINLINE static void object_put(struct object *shared)
{
	if (--shared->refs == 0) /* RACE: refs */
		object_destroy(shared);
}

NOINLINE static void request_begin(void)
{
	__atomic_fetch_add(&in_flight, 1,
			   __ATOMIC_RELAXED); /* RACE: in_flight */
}

NOINLINE static void request_end(void)
{
	in_flight--; /* RACE: in_flight */
}

NOINLINE static void buffer_use(struct buffer *shared)
{
	__atomic_fetch_add(&shared->users, 1,
			   __ATOMIC_ACQ_REL); /* RACE: recycle */
}

NOINLINE static int buffer_drop(struct buffer *shared)
{
	/* RACE: recycle */
	return __atomic_sub_fetch(&shared->users, 1, __ATOMIC_ACQ_REL) == 0;
}

/* Takes it for free. */
NOINLINE static void buffer_recycle(struct buffer *shared)
{
	shared->users = 1; /* RACE: recycle */
}

static void first(unsigned long i)
{
	object_get(&object);
	object_put(&object);
	request_begin();
	buffer_use(&buffer);
	use((unsigned long)buffer_drop(&buffer) + i);
}

static void second(unsigned long i)
{
	object_get(&object);
	object_put(&object);
	request_end();
	if (i % 3 == 0)
		buffer_recycle(&buffer);
}

int main(int argc, char **argv)
{
	struct role roles[] = { { first, 50 }, { second, 40 }, { NULL, 0 } };

	return roles_run(argc, argv, "objects", roles);
}

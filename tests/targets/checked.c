/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Values made at their first use, by whoever comes first, which is tested
 * without a lock: the double check, and near misses of it.
 *
 *	checked SECONDS KIND
 *
 * checked   tested, locked, tested again; written last      unlikely
 * early     written before what it points to is made         suspect
 * apart     the two threads have a lock each                 suspect
 * once      locked, but not tested again                     suspect
 * again     made anew when it is there                       suspect
 * look      is there anything? then locked, and looked again unlikely
 * peek      ... else something else is used                  suspect
 */
#include "target.h"
#include <stdbool.h>

enum { COUNT = 64 };

static struct lazy {
	pthread_mutex_t lock[2];
	unsigned long *value, body;
} all[COUNT];

NOINLINE static unsigned long *checked(struct lazy *at)
{
	unsigned long *value = at->value;

	if (!value) {
		pthread_mutex_lock(&at->lock[0]);
		value = at->value;
		if (!value) {
			at->body = 7;
			OPAQUE();
			value = at->value = &at->body;
		}
		pthread_mutex_unlock(&at->lock[0]);
	}
	return value;
}

NOINLINE static unsigned long *early(struct lazy *at)
{
	unsigned long *value = at->value;

	if (!value) {
		pthread_mutex_lock(&at->lock[0]);
		value = at->value;
		if (!value) {
			value = at->value = &at->body;
			OPAQUE();
			at->body = 7;
		}
		pthread_mutex_unlock(&at->lock[0]);
	}
	return value;
}

NOINLINE static unsigned long *apart(struct lazy *at, pthread_mutex_t *lock)
{
	unsigned long *value = at->value;

	if (!value) {
		pthread_mutex_lock(lock);
		value = at->value;
		if (!value) {
			at->body = 7;
			OPAQUE();
			value = at->value = &at->body;
		}
		pthread_mutex_unlock(lock);
	}
	return value;
}

NOINLINE static unsigned long *once(struct lazy *at)
{
	unsigned long *value = at->value;

	if (!value) {
		pthread_mutex_lock(&at->lock[0]);
		at->body = 7;
		OPAQUE();
		value = at->value = &at->body;
		pthread_mutex_unlock(&at->lock[0]);
	}
	return value;
}

NOINLINE static unsigned long *again(struct lazy *at, unsigned long turn)
{
	unsigned long *value = at->value;

	if (!value || *value != turn) {
		pthread_mutex_lock(&at->lock[0]);
		value = at->value;
		if (!value || *value != turn) {
			at->body = turn;
			OPAQUE();
			value = at->value = &at->body;
		}
		pthread_mutex_unlock(&at->lock[0]);
	}
	return value;
}

static pthread_mutex_t waiting_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long waiting, last;

NOINLINE static void put(void)
{
	pthread_mutex_lock(&waiting_lock);
	waiting++;
	last++;
	pthread_mutex_unlock(&waiting_lock);
}

NOINLINE static void look(unsigned long *some)
{
	if (waiting == 0)
		return;
	pthread_mutex_lock(&waiting_lock);
	if (waiting) {
		*some = waiting;
		waiting = 0;
	}
	pthread_mutex_unlock(&waiting_lock);
}

NOINLINE static unsigned long peek(void)
{
	unsigned long some = 0;

	if (waiting == 0)
		return last;
	pthread_mutex_lock(&waiting_lock);
	if (waiting) {
		some = waiting;
		waiting = 0;
	}
	pthread_mutex_unlock(&waiting_lock);
	return some;
}

static const char *kind;
static int goes_on; /* for both; decided while they wait for each other */

static unsigned long *get(struct lazy *at, unsigned long i, int which)
{
	if (strcmp(kind, "early") == 0)
		return early(at);
	if (strcmp(kind, "apart") == 0)
		return apart(at, &at->lock[which]);
	if (strcmp(kind, "once") == 0)
		return once(at);
	if (strcmp(kind, "again") == 0)
		return again(at, i);
	return checked(at);
}

static unsigned step(struct lazy *at, unsigned long i, int which)
{
	bool looks = strcmp(kind, "look") == 0;
	unsigned long some = 0;

	if (!looks && strcmp(kind, "peek") != 0)
		return get(at, i, which) != NULL;
	if (which)
		put();
	else if (looks)
		look(&some);
	else
		some = peek();
	return some & 1;
}

/* All at the same time from the first to the last, then all anew. */
static void walk(int which)
{
	unsigned x = 1;

	for (unsigned long i = 0;; i++) {
		if (which == 0)
			goes_on = target_goes_on(64 * i);
		target_meet();
		if (!goes_on)
			break;
		for (unsigned j = 0; j < COUNT; j++) {
			x ^= step(&all[j], i, which);
			x = target_work(x, 100);
		}
		target_meet();
		if (which == 0 && strcmp(kind, "again") != 0)
			for (unsigned j = 0; j < COUNT; j++)
				all[j].value = NULL;
	}
}

static void *one_loop(void *arg)
{
	walk(0);
	return arg;
}

static void *other_loop(void *arg)
{
	walk(1);
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	kind = argc > 2 ? argv[2] : "checked";
	for (unsigned i = 0; i < COUNT; i++) {
		for (unsigned j = 0; j < 2; j++)
			pthread_mutex_init(&all[i].lock[j], NULL);
		if (strcmp(kind, "again") == 0)
			all[i].value = &all[i].body;
	}
	target_race(one_loop, other_loop);
	return target_done("checked");
}

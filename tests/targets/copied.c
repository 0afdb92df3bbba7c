/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A thread gives bytes and another one takes them 20 ms later, both in string
 * functions of the C library, after such calls for memory of their own. Nothing
 * else orders them, but in the twin, where a semaphore does. Called as
 *
 *	copied copy|large|fill|text|store|load
 */
#include "target.h"

enum { SIZE = 1 << 16 };

static char shared[SIZE + 1], from[SIZE + 1], to[SIZE + 1];
static char first[2][256], second[2][256];
static volatile size_t size;
static volatile size_t letters = 41; /* of a text */
static const char *kind;
static sem_t given;

static int is(const char *name)
{
	return strcmp(kind, name) == 0;
}

/* The same function for memory of the thread alone, some times before. */
NOINLINE static void exercise(int thread)
{
	for (size_t i = 1; i < 200; i += 13) {
		memcpy(first[thread], second[thread], i);
		memset(second[thread], 'b', i);
		second[thread][i] = '\0';
		strcpy(first[thread], second[thread]);
	}
}

NOINLINE static void give(void)
{
	if (is("fill"))
		memset(shared, 'c', size);
	else if (is("text"))
		strcpy(shared, from);
	else if (is("store"))
		shared[5] = 'd';
	else
		memcpy(shared, from, size);
}

NOINLINE static size_t take(void)
{
	if (is("fill"))
		return (size_t)memcmp(to, shared, size);
	if (is("text"))
		return strlen(shared);
	if (is("load"))
		return (size_t)shared[5];
	memcpy(to, shared, size);
	return 0;
}

static void *giver(void *unused)
{
	exercise(0);
	give();
	sem_post(&given);
	return unused;
}

static void *taker(void *unused)
{
	exercise(1);
#ifdef TWIN
	sem_wait(&given);
#endif
	usleep(20000);
	letters = take();
	return unused;
}

int main(int argc, char **argv)
{
	kind = argc > 1 ? argv[1] : "copy";
	size = is("large") ? SIZE : 40;
	memset(from, 'a', letters);
	sem_init(&given, 0, 0);
	target_race(giver, taker);
	target_done("copied");
	return 0;
}

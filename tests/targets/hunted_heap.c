/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One race in a block of the heap, whichever allocator is preloaded or linked.
 *
 *	hunted_heap KIND
 *
 * malloc, calloc, realloc, aligned, posix: what made the block. An older block of
 * its size, which the first racing function wrote, was freed before.
 *
 * Two threads write to the block; one has done so long before the other comes,
 * unless it is held. As a twin, both hold a lock.
 */
#include "target.h"

enum { SIZE = 208, PLACE = 5 };

static long *block;

NOINLINE static void write_first(long *to)
{
	to[PLACE] = 1;
}

NOINLINE static void write_second(long *to)
{
	to[PLACE] = 2;
}

/* None of these jumps to the allocator, which would be called by its caller then. */
NOINLINE static void *make_malloc(void)
{
	void *volatile made = malloc(SIZE);

	return made;
}

NOINLINE static void *make_calloc(void)
{
	void *volatile made = calloc(SIZE / sizeof(long), sizeof(long));

	return made;
}

NOINLINE static void *make_realloc(void)
{
	void *volatile made = malloc(SIZE / 8);

	made = realloc(made, SIZE);
	return made;
}

NOINLINE static void *make_aligned(void)
{
	void *volatile made = aligned_alloc(16, SIZE);

	return made;
}

NOINLINE static void *make_posix(void)
{
	void *made = NULL;

	target_check(!posix_memalign(&made, 64, SIZE), "posix_memalign");
	return made;
}

static const struct {
	const char *name;
	void *(*make)(void);
} kinds[] = {
	{ "malloc", make_malloc },   { "calloc", make_calloc },
	{ "realloc", make_realloc }, { "aligned", make_aligned },
	{ "posix", make_posix },
};

static void *first(void *unused)
{
	ENTER();
	write_first(block);
	LEAVE();
	return unused;
}

static void *second(void *unused)
{
	ENTER();
	write_second(block);
	LEAVE();
	return unused;
}

int main(int argc, char **argv)
{
	unsigned kind = 0;

	target_check(argc == 2, "no kind");
	while (strcmp(kinds[kind].name, argv[1]) != 0)
		target_check(++kind < sizeof(kinds) / sizeof(*kinds),
			     "unknown kind");
	block = kinds[kind].make();
	write_first(block);
	free(block);
	block = kinds[kind].make();
	target_race(first, second);
	free(block);
	return target_done("hunted_heap");
}

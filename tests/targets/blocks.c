/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two threads write to a field of an object that is in memory of some kind. It
 * prints "block ADDRESS ROOM OFFSET" of the block of malloc(3) that has the field,
 * or that there is none.
 *
 *	blocks SECONDS KIND
 */
#include "target.h"

#include <malloc.h>
#include <sys/mman.h>

struct session {
	long id[5];
	long used;
};

/* As another allocator would have it: a header as those of the C library. */
struct part {
	size_t before, size;
	struct session session;
};

static struct session *session;
static char *block, *freed; /* NULL: none */

NOINLINE static void put(struct session *s, long value)
{
	s->used = value; /* RACE: put */
}

NOINLINE static void look(struct session *s, long value)
{
	s->used = value; /* RACE: look */
}

static void *put_loop(void *arg)
{
	free(freed);
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		put(session, (long)i);
	return arg;
}

static void *look_loop(void *arg)
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		look(session, (long)i);
	return arg;
}

static void *room(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	target_check(memory != MAP_FAILED, "mmap");
	return memory;
}

/* Blocks before it and behind it, some of which are freed. */
static char *among_others(size_t size)
{
	char *found, *before[64];

	for (size_t i = 0; i < 64; i++)
		before[i] = calloc(1, 24 + i * 40);
	found = calloc(1, size);
	for (size_t i = 0; i < 64; i++) {
		target_check(found && calloc(1, 24 + i * 8), "calloc");
		if (i % 3)
			free(before[i]);
	}
	return found;
}

static void *in_thread(void *arg)
{
	return arg ? NULL : among_others(sizeof(struct session));
}

static char *of_arena(void)
{
	void *found = NULL;

	pthread_join(target_thread(in_thread, NULL), &found);
	return found;
}

/* Headers that are no more, in a block that was made of theirs. */
static char *over_freed(void)
{
	char *found, *parts[40];

	among_others(24);
	for (size_t i = 0; i < 40; i++)
		parts[i] = malloc(2000);
	target_check(malloc(24) != NULL, "malloc");
	for (size_t i = 0; i < 40; i++)
		free(parts[i]);
	found = malloc(60000);
	session = (void *)(found + (parts[20] - parts[0]));
	return found;
}

/* Parts in a row, as the blocks of a heap are. */
static void fill(char *memory, size_t count)
{
	struct part *parts = (void *)memory;

	for (size_t i = 0; i < count; i++)
		parts[i].size = sizeof(*parts) | 1;
	session = &parts[count / 2].session;
}

static void make(const char *kind)
{
	if (strcmp(kind, "main") == 0) {
		block = among_others(sizeof(struct session));
	} else if (strcmp(kind, "arena") == 0) {
		block = of_arena();
	} else if (strcmp(kind, "mapped") == 0) {
		block = calloc(1, 1 << 20);
	} else if (strncmp(kind, "aligned-", 8) == 0) {
		block = aligned_alloc(strtoul(kind + 8, NULL, 10), 1 << 20);
	} else if (strcmp(kind, "over-freed") == 0) {
		block = over_freed();
	} else if (strcmp(kind, "parts") == 0) {
		block = among_others(40 * sizeof(struct part));
		fill(block, 40);
	} else if (strcmp(kind, "mapping") == 0) {
		fill(room(1 << 20), 400);
	} else if (strcmp(kind, "numbers") == 0) {
		size_t *numbers = room(1 << 20);

		numbers[1] = 8194;
		session = (void *)(numbers + 12);
	} else if (strcmp(kind, "freed") == 0) {
		/* larger than what is kept for the next of its size */
		freed = block = among_others(3000);
		target_check(malloc(24) != NULL, "malloc");
	}
	if (!session)
		session = (void *)block;
	target_check(session != NULL, "no such kind");
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_check(argc > 2, "usage");
	make(argv[2]);
	if (block)
		printf("block %#zx %zu %zu\n", (size_t)block,
		       malloc_usable_size(block),
		       (size_t)((char *)&session->used - block));
	else
		printf("no block\n");
	fflush(stdout);
	target_race(put_loop, look_loop);
	return target_done("blocks");
}

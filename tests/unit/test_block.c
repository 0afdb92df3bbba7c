/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/conflict/block.c: blocks of this process's own malloc(3), and of a heap that is
 * made here as the GNU C library makes that of a second arena.
 */
#include "conflict/block.h"
#include "sanitized.h"

#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "conflict/conflict.h"
#include "report/race.h"
#include "wire/chunk.h"

enum {
	HEAP_ALIGN = 64 << 20,
	HEAP_SIZE = 256 << 10,
	HEAP_INFO = 48,
	ARENA = 0x898, /* sizeof(struct malloc_state) */
	FIRST = HEAP_INFO + ARENA +
		8, /* the first chunk, at a multiple of 16 */
	PAGE = 4096,
	MAPPED = 512 << 10,
	IN_ARENA = CHUNK_NON_MAIN | CHUNK_PREV_IN_USE,
};

struct world {
	struct conflict conflict;
	char *reserved, *heap;
	size_t used; /* of the heap: where the next chunk begins */
	size_t before; /* the size of the chunk before it, if that is free; or 0 */
};

static uint64_t *word(struct world *world, size_t offset)
{
	return (void *)(world->heap + offset);
}

static void make_heap(struct world *world, bool second)
{
	uint64_t heap = (uintptr_t)world->heap;

	memset(world->heap, 0, HEAP_SIZE);
	*word(world, 0) = heap + HEAP_INFO + (second ? HEAP_ALIGN : 0);
	*word(world, 8) = second ? heap + HEAP_ALIGN : 0;
	*word(world, 16) = HEAP_SIZE;
	*word(world, 24) = HEAP_SIZE;
	*word(world, 32) = PAGE;
	world->used = second ? HEAP_INFO : FIRST;
	world->before = 0;
}

/* The offset of a chunk of that size, behind those that were made. */
static size_t add_chunk(struct world *world, size_t size, bool is_free)
{
	size_t chunk = world->used;

	*word(world, chunk) = world->before;
	*word(world, chunk + 8) = size | CHUNK_NON_MAIN |
				  (world->before ? 0 : CHUNK_PREV_IN_USE);
	world->used += size;
	world->before = is_free ? size : 0;
	return chunk;
}

/* What is left. */
static size_t end_heap(struct world *world)
{
	size_t top = add_chunk(world, HEAP_SIZE - world->used, false);

	for (size_t at = top + 16; at < HEAP_SIZE; at += 8)
		*word(world, at) = 0;
	return top;
}

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	uintptr_t start;

	assert_non_null(world);
	world->reserved = mmap(NULL, (size_t)2 * HEAP_ALIGN, PROT_NONE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			       0);
	assert_ptr_not_equal(world->reserved, MAP_FAILED);
	start = (uintptr_t)world->reserved;
	world->heap = world->reserved + (-start & (HEAP_ALIGN - 1));
	assert_int_equal(
		mprotect(world->heap, HEAP_SIZE, PROT_READ | PROT_WRITE), 0);
	world->conflict.wire.sides[0].pid = getpid();
	world->conflict.wire.sides[1].pid = getpid();
	make_heap(world, false);
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	munmap(world->reserved, (size_t)2 * HEAP_ALIGN);
	free(world);
	return 0;
}

/* The header there was seen while the threads were held. */
static void see(struct world *world, const void *chunk)
{
	struct wire_chunks *seen = &world->conflict.wire.sides[1].chunks;
	const uint64_t *header = chunk;
	bool mapped = chunk_is_mapped(header[1]);

	assert_true(seen->count < WIRE_CHUNKS_MAX);
	seen->chunks[seen->count++] = (struct wire_chunk){
		.address = (uintptr_t)chunk,
		.head = header[1],
		.next = mapped ? 0 : header[chunk_size(header[1]) / 8 + 1],
	};
}

static struct race_block find(struct world *world, const void *address,
			      unsigned int size)
{
	struct race_block block = { 0 };

	world->conflict.overlap.address = (uintptr_t)address;
	world->conflict.overlap.size = size;
	assert_null(block_find(&world->conflict, &block));
	return block;
}

static void assert_block(struct world *world, const void *address,
			 const void *start, size_t size, enum block_state state)
{
	struct race_block block = find(world, address, 8);

	assert_int_equal(block.address, (uintptr_t)start);
	assert_int_equal(block.offset,
			 (const char *)address - (const char *)start);
	assert_int_equal(block.size, size);
	assert_int_equal(block.state, state);
}

static void assert_none(struct world *world, const void *address)
{
	struct race_block block = find(world, address, 8);

	assert_int_equal(block.address, 0);
}

static void a_block_of_an_arena_is_found(void **state)
{
	struct world *world = *state;
	char *chunk;

	for (int second = 0; second < 2; second++) {
		make_heap(world, second);
		world->conflict.wire.sides[1].chunks.count = 0;
		add_chunk(world, 0x290, false);
		chunk = world->heap + add_chunk(world, 64, false);
		end_heap(world);
		assert_none(world, chunk + 32);
		see(world, chunk);
		assert_block(world, chunk + 32, chunk + 16, 56, BLOCK_UNKNOWN);
		/* its last word is the first one of the next header */
		assert_block(world, chunk + 64, chunk + 16, 56, BLOCK_UNKNOWN);
		assert_none(world, chunk + 8);
		assert_none(world, chunk + 68);
	}
}

static void what_was_seen_of_another_process_is_not_of_this(void **state)
{
	struct world *world = *state;
	char *chunk = world->heap + add_chunk(world, 64, false);

	end_heap(world);
	see(world, chunk);
	world->conflict.wire.sides[1].pid = getppid();
	assert_none(world, chunk + 32);
}

static void the_state_is_the_one_that_was_seen(void **state)
{
	struct world *world = *state;
	char *released = world->heap + add_chunk(world, 96, true);
	char *large = world->heap + add_chunk(world, 2048, false);

	end_heap(world);
	see(world, released);
	assert_block(world, released + 32, released + 16, 88, BLOCK_FREE);
	see(world, large);
	assert_block(world, large + 16, large + 16, 2040, BLOCK_IN_USE);
}

/* A block that was freed and handed out as part of a larger one. */
static void what_is_left_of_an_earlier_header_is_none(void **state)
{
	struct world *world = *state;
	char *large = world->heap + add_chunk(world, 512, false);
	size_t inner = (size_t)(large - world->heap) + 64;

	end_heap(world);
	*word(world, inner + 8) = 64 | IN_ARENA;
	*word(world, inner + 64 + 8) = (512 - 128) | IN_ARENA;
	see(world, world->heap + inner);
	assert_none(world, world->heap + inner + 16);
	see(world, large);
	assert_block(world, world->heap + inner + 16, large + 16, 504,
		     BLOCK_UNKNOWN);
}

static void a_block_of_another_size_since_is_none(void **state)
{
	struct world *world = *state;
	size_t chunk = add_chunk(world, 64, false);

	add_chunk(world, 64, false);
	end_heap(world);
	see(world, world->heap + chunk);
	*word(world, chunk + 8) = 128 | IN_ARENA;
	assert_none(world, world->heap + chunk + 16);
}

static void headers_behind_must_be_sound(void **state)
{
	static const uint64_t wrong[] = {
		0,	 16 | IN_ARENA, 40 | IN_ARENA, 32, 64 | CHUNK_MAPPED,
		1 << 20, UINT64_MAX
	};
	struct world *world = *state;
	size_t chunk = add_chunk(world, 64, false), last = 0;

	for (int i = 0; i < 3; i++)
		last = add_chunk(world, 64, false);
	add_chunk(world, 64, false);
	end_heap(world);
	see(world, world->heap + chunk);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		/* the end of a heap that another one follows */
		if (wrong[i] == (16 | IN_ARENA))
			continue;
		*word(world, last + 8) = wrong[i];
		assert_none(world, world->heap + chunk + 16);
	}
	*word(world, last + 8) = 64 | IN_ARENA;
	assert_block(world, world->heap + chunk + 16, world->heap + chunk + 16,
		     56, BLOCK_UNKNOWN);
}

static void what_is_left_of_the_heap_is_no_block(void **state)
{
	struct world *world = *state;
	char *top;

	add_chunk(world, 64, false);
	top = world->heap + end_heap(world);
	see(world, top - 64);
	world->conflict.wire.sides[1].chunks.chunks[0] = (struct wire_chunk){
		.address = (uintptr_t)top,
		.head = ((uint64_t *)(void *)top)[1],
	};
	assert_none(world, top + 32);
}

static void a_heap_of_nothing_known_has_none(void **state)
{
	struct world *world = *state;
	size_t chunk = add_chunk(world, 64, false);
	uint64_t *info = word(world, 0);
	const uint64_t wrong[][2] = {
		{ 0, 0 },
		{ 0, (uintptr_t)world->heap + HEAP_INFO + 16 * 1024 },
		{ 1, (uintptr_t)world->heap },
		{ 2, HEAP_SIZE + 8 },
		{ 2, (uint64_t)2 * HEAP_ALIGN },
		{ 3, PAGE },
	};

	end_heap(world);
	see(world, world->heap + chunk);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		uint64_t right = info[wrong[i][0]];

		info[wrong[i][0]] = wrong[i][1];
		assert_none(world, world->heap + chunk + 32);
		info[wrong[i][0]] = right;
	}
	assert_block(world, world->heap + chunk + 32, world->heap + chunk + 16,
		     56, BLOCK_UNKNOWN);
}

/* Pages between others that are not readable. */
static char *map_alone(void)
{
	char *pages = mmap(NULL, MAPPED + (size_t)2 * PAGE, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + PAGE, MAPPED, PROT_READ | PROT_WRITE),
			 0);
	return pages + PAGE;
}

static void unmap_alone(char *pages)
{
	munmap(pages - PAGE, MAPPED + (size_t)2 * PAGE);
}

static void a_chunk_that_is_mapped_alone_is_found(void **state)
{
	struct world *world = *state;
	char *pages = map_alone();
	uint64_t *header = (void *)pages;

	header[1] = MAPPED | CHUNK_MAPPED;
	see(world, header);
	assert_block(world, pages + 3 * PAGE, header + 2, MAPPED - 16,
		     BLOCK_IN_USE);
	assert_none(world, pages + MAPPED - 4);
	assert_none(world, header);
	/* it reaches over the end */
	munmap(pages + MAPPED - PAGE, PAGE);
	assert_none(world, pages + 3 * PAGE);
	/* another one is there */
	header[1] = (MAPPED / 2) | CHUNK_MAPPED;
	assert_none(world, pages + 3 * PAGE);
	unmap_alone(pages);
}

static void one_between_other_memory_is_none(void **state)
{
	struct world *world = *state;
	char *pages = map_alone();
	uint64_t *header = (void *)(pages + MAPPED / 4);
	uint64_t *next = (void *)(pages + MAPPED / 2 + MAPPED / 4);

	header[1] = (MAPPED / 2) | CHUNK_MAPPED;
	see(world, header);
	assert_none(world, header + 512);
	next[1] = (MAPPED / 4) | CHUNK_MAPPED;
	assert_block(world, header + 512, header + 2, MAPPED / 2 - 16,
		     BLOCK_IN_USE);
	unmap_alone(pages);
}

/* Two counters at the start of a mapping. */
static void small_numbers_are_no_chunk_that_is_mapped_alone(void **state)
{
	struct world *world = *state;
	char *pages = map_alone();
	uint64_t *header = (void *)(pages + MAPPED - 2 * PAGE);

	header[1] = (2 * PAGE) | CHUNK_MAPPED;
	see(world, header);
	assert_none(world, header + 11);
	unmap_alone(pages);
}

/* As aligned_alloc(3) makes it: the header before it stays. */
static void an_aligned_chunk_is_the_one_that_was_handed_out(void **state)
{
	struct world *world = *state;
	char *pages = map_alone();
	uint64_t *first = (void *)pages, *aligned = first + 6;

	first[1] = MAPPED | CHUNK_MAPPED;
	aligned[0] = 48;
	aligned[1] = (MAPPED - 48) | CHUNK_MAPPED;
	assert_int_equal((uintptr_t)(aligned + 2) % 64, 0);
	see(world, first);
	assert_none(world, pages + 2 * PAGE);
	see(world, aligned);
	assert_block(world, pages + 2 * PAGE, aligned + 2, MAPPED - 64,
		     BLOCK_IN_USE);
	assert_none(world, pages + 24);
	first[1] = (MAPPED - PAGE) | CHUNK_MAPPED;
	assert_none(world, pages + 2 * PAGE);
	unmap_alone(pages);
}

static void assert_own(struct world *world, char *block, size_t size)
{
	struct race_block found;

	world->conflict.wire.sides[1].chunks.count = 0;
	see(world, block - CHUNK_HEADER);
	found = find(world, block + size / 2, 1);
	assert_int_equal(found.address, (uintptr_t)block);
	assert_int_equal(found.size, malloc_usable_size(block));
	assert_int_equal(found.offset, size / 2);
	assert_int_not_equal(found.state, BLOCK_FREE);
}

static void assert_own_all(struct world *world)
{
	static const size_t sizes[] = { 1,    24,   25,	   48,	   1000,
					2000, 5000, 70000, 400000, 1 << 22 };

	for (int round = 0; round < 3; round++) {
		char *blocks[sizeof(sizes) / sizeof(sizes[0])];
		size_t count = sizeof(sizes) / sizeof(sizes[0]);

		for (size_t i = 0; i < count; i++) {
			blocks[i] = malloc(sizes[i]);
			assert_non_null(blocks[i]);
		}
		for (size_t i = 0; i < count; i++)
			assert_own(world, blocks[i], sizes[i]);
		for (size_t i = 0; i < count; i++)
			free(blocks[i]);
	}
}

static void *in_thread(void *world)
{
	assert_own_all(world);
	return NULL;
}

static void blocks_of_the_library_are_found(void **state)
{
	pthread_t thread;

	if (SANITIZED)
		skip();
	assert_own_all(*state);
	assert_int_equal(pthread_create(&thread, NULL, in_thread, *state), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void a_block_that_the_library_has_merged_is_none(void **state)
{
	char *before, *block, *after;
	uintptr_t inside;

	if (SANITIZED)
		skip();
	before = calloc(1, 3000);
	block = calloc(1, 3000);
	after = calloc(1, 24);
	inside = (uintptr_t)block + 100;
	see(*state, block - CHUNK_HEADER);
	free(after);
	free(before);
	free(block);
	assert_none(*state, (const void *)inside);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_block_of_an_arena_is_found),
		TEST(what_was_seen_of_another_process_is_not_of_this),
		TEST(the_state_is_the_one_that_was_seen),
		TEST(what_is_left_of_an_earlier_header_is_none),
		TEST(a_block_of_another_size_since_is_none),
		TEST(headers_behind_must_be_sound),
		TEST(what_is_left_of_the_heap_is_no_block),
		TEST(a_heap_of_nothing_known_has_none),
		TEST(a_chunk_that_is_mapped_alone_is_found),
		TEST(one_between_other_memory_is_none),
		TEST(small_numbers_are_no_chunk_that_is_mapped_alone),
		TEST(an_aligned_chunk_is_the_one_that_was_handed_out),
		TEST(blocks_of_the_library_are_found),
		TEST(a_block_that_the_library_has_merged_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

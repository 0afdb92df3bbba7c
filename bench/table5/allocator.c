/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An allocator without locks, and threads that allocate objects, pass them to one
 * another, and free them. The free blocks of a size are a list: they are pushed by
 * compare-and-swap, and taken all at once; what a thread does not use of those it
 * keeps to itself.
 *
 * Races: a thread writes to a block when it has freed it already, and counts the
 * blocks in use without a lock.
 */
#include "table5.h"

enum { SIZES = 3, THREADS = 3, ROUNDS = 80, WORDS = 4, FIRST = 4 };

struct block {
	struct block *next;
	unsigned int size, owner;
	unsigned int words[WORDS << (SIZES - 1)];
};

struct heap {
	_Atomic(struct block *) free[SIZES];
};

struct thread {
	unsigned int number, state;
	struct block *kept[SIZES];
};

static struct heap heap;
static _Atomic(struct block *) boxes[THREADS]; /* one for each thread */
long blocks_in_use;

NOINLINE static void link_set(struct block *block, struct block *next)
{
	block->next = next;
}

NOINLINE static struct block *link_get(const struct block *block)
{
	return block->next;
}

/* Of an owner, when it has it and when it has it no more. */
NOINLINE static void owner_enter(struct block *block, unsigned int owner)
{
	block->owner = owner;
}

NOINLINE static void owner_leave(struct block *block)
{
	block->owner = 0;
}

NOINLINE static void use_count(long change)
{
	blocks_in_use += change;
}

static void list_push(_Atomic(struct block *) *list, struct block *block)
{
	struct block *first = atomic_load(list);

	do {
		link_set(block, first);
	} while (!atomic_compare_exchange_weak(list, &first, block));
}

NOINLINE static void block_start(struct block *block, unsigned int size)
{
	block->size = size;
}

static struct block *block_allocate(struct thread *thread, unsigned int size)
{
	struct block *block = thread->kept[size];

	if (!block)
		block = atomic_exchange(&heap.free[size], NULL);
	if (block)
		thread->kept[size] = link_get(block);
	else
		block = memory_new(sizeof(*block));
	block_start(block, size);
	owner_enter(block, thread->number + 1);
	use_count(1);
	return block;
}

NOINLINE static unsigned int size_get(const struct block *block)
{
	return block->size;
}

static void block_free(struct block *block)
{
	list_push(&heap.free[size_get(block)], block);
	owner_leave(block);
	use_count(-1);
}

NOINLINE static void object_fill(struct block *block, unsigned int x)
{
	unsigned int count = WORDS << block->size;

	for (unsigned int i = 1; i < count; i++)
		block->words[i] = x = target_work(x, 5);
	block->words[0] = x;
}

NOINLINE static void object_check(const struct block *block)
{
	unsigned int count = WORDS << block->size;

	target_check(block->words[0] == block->words[count - 1], "an object");
}

NOINLINE static void object_stir(struct block *block, unsigned int x)
{
	unsigned int count = WORDS << block->size;

	for (unsigned int i = 0; i < count; i++)
		block->words[i] ^= x;
}

static void *work(void *arg)
{
	struct thread *thread = arg;
	_Atomic(struct block *) *own = &boxes[thread->number];
	_Atomic(struct block *) *next = &boxes[(thread->number + 1) % THREADS];

	for (int i = 0; i < ROUNDS; i++) {
		unsigned int x = number_next(&thread->state);
		struct block *block = block_allocate(thread, x % SIZES);

		object_fill(block, x + 1);
		block = atomic_exchange(next, block);
		if (block)
			block_free(block);
		block = atomic_exchange(own, NULL);
		if (block) {
			object_check(block);
			object_stir(block, x);
			block_free(block);
		}
		sched_yield();
	}
	return NULL;
}

int main(void)
{
	struct thread state[THREADS];
	pthread_t threads[THREADS];

	for (unsigned int i = 0; i < SIZES * FIRST; i++) {
		struct block *block = memory_new(sizeof(*block));

		list_push(&heap.free[i % SIZES], block);
	}
	for (unsigned int i = 0; i < THREADS; i++) {
		state[i] = (struct thread){ .number = i, .state = i };
		threads[i] = target_thread(work, &state[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return target_done("allocator");
}

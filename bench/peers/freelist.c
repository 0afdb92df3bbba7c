/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A pool of buffers whose free ones are a list without locks: its head is an
 * index and a version, exchanged by compare-and-swap. What is forgotten: that
 * the count of those in use must be atomic too.
 */
#include "peers.h"

enum { BUFFERS = 64, WORDS = 32 };

struct buffer {
	_Atomic unsigned next;
	unsigned words[WORDS];
};

static struct buffer buffers[BUFFERS];
static _Atomic uint64_t head; /* version, then index + 1 */
FORGOTTEN_ATOMIC unsigned long in_use;

static struct buffer *list_pop(void)
{
	uint64_t old = atomic_load(&head);
	unsigned index, next;

	do {
		index = (unsigned)old;
		if (!index)
			return NULL;
		next = atomic_load(&buffers[index - 1].next);
	} while (!atomic_compare_exchange_weak(&head, &old,
					       ((old >> 32) + 1) << 32 | next));
	return &buffers[index - 1];
}

static void list_push(struct buffer *buffer)
{
	unsigned index = (unsigned)(buffer - buffers) + 1;
	uint64_t old = atomic_load(&head);

	do {
		atomic_store(&buffer->next, (unsigned)old);
	} while (!atomic_compare_exchange_weak(
		&head, &old, ((old >> 32) + 1) << 32 | index));
}

NOINLINE static void use_count(unsigned long change)
{
	in_use += change; /* RACE: in_use */
}

NOINLINE static void buffer_fill(struct buffer *buffer, unsigned x)
{
	for (unsigned i = 0; i < WORDS; i++)
		buffer->words[i] = x = target_work(x, 20);
}

static void round_of(const struct worker *worker, unsigned long i)
{
	struct buffer *buffer = list_pop();

	if (!buffer)
		return;
	use_count(1);
	buffer_fill(buffer, (unsigned)i * 2 + worker->number + 1);
	use(buffer->words[WORDS - 1]);
	use_count(-1UL);
	list_push(buffer);
}

int main(int argc, char **argv)
{
	for (unsigned i = 0; i < BUFFERS; i++)
		list_push(&buffers[i]);
	return workers_run(argc, argv, "freelist", round_of, round_of);
}

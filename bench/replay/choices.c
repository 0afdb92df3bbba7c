/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A value decides how something is done, not what comes out of it.
 */
#include "figure7.h"

enum { ITEMS = 64 };

typedef unsigned long (*sum_fn)(const unsigned *, unsigned);

static unsigned items[ITEMS];
sum_fn sum_items;
int vectorized;
unsigned last_found;
unsigned produced;
unsigned batch;
unsigned spins;
unsigned chunk;

NOINLINE static unsigned long sum_up(const unsigned *of, unsigned count)
{
	unsigned long sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum += of[i];
	return sum;
}

NOINLINE static unsigned long sum_down(const unsigned *of, unsigned count)
{
	unsigned long sum = 0;

	while (count-- > 0)
		sum += of[count];
	return sum;
}

NOINLINE static void function_choose(unsigned long i)
{
	sum_items = i & 1 ? sum_up : sum_down; /* RACE: function */
}

NOINLINE static unsigned long function_use(void)
{
	return sum_items(items, ITEMS); /* RACE: function */
}

NOINLINE static void vector_set(int on)
{
	vectorized = on; /* RACE: vector */
}

NOINLINE static unsigned long vector_sum(void)
{
	if (vectorized) /* RACE: vector */
		return sum_down(items, ITEMS);
	return sum_up(items, ITEMS);
}

/* Where it was found last; it is found from anywhere. */
NOINLINE static unsigned found_from(unsigned wanted)
{
	unsigned i = last_found % ITEMS; /* RACE: found */

	while (items[i] != wanted)
		i = (i + 1) % ITEMS;
	return i;
}

NOINLINE static void found_note(unsigned i)
{
	last_found = i; /* RACE: found */
}

/* What is not taken now is taken next time. */
NOINLINE static void produced_add(void)
{
	produced = produced + 1; /* RACE: produced */
}

NOINLINE static unsigned produced_take(unsigned consumed)
{
	unsigned ready = produced - consumed; /* RACE: produced */

	return ready > 8 ? consumed + 8 : consumed + ready;
}

NOINLINE static void batch_set(unsigned size)
{
	batch = 1 + size % 7; /* RACE: batch */
}

/* The number added at a time makes no difference to the sum. */
NOINLINE static unsigned long batch_sum(void)
{
	unsigned step = batch ? batch : 1; /* RACE: batch */
	unsigned long sum = 0;

	for (unsigned i = 0; i < ITEMS; i += step) {
		unsigned left = ITEMS - i;

		sum += sum_up(items + i, left < step ? left : step);
	}
	return sum;
}

NOINLINE static void spins_set(unsigned count)
{
	spins = count % 16; /* RACE: spins */
}

NOINLINE static void spins_wait(void)
{
	for (unsigned i = spins; i > 0; i--) /* RACE: spins */
		__builtin_ia32_pause();
}

NOINLINE static void chunk_set(unsigned size)
{
	chunk = 1 + size % 3; /* RACE: chunk */
}

/* How much is asked for: it is what the caller then works with, and shows. */
NOINLINE static unsigned chunk_get(void)
{
	return chunk; /* RACE: chunk */
}

static void tuner(unsigned long i)
{
	function_choose(i);
	vector_set((int)(i & 1));
	found_note((unsigned)i % ITEMS);
	produced_add();
	batch_set((unsigned)i);
	spins_set((unsigned)i);
	chunk_set((unsigned)i);
}

static void worker(unsigned long i)
{
	static unsigned consumed;

	use(function_use());
	use(vector_sum());
	use(found_from((unsigned)i % ITEMS));
	consumed = produced_take(consumed);
	use(batch_sum());
	spins_wait();
	use(chunk_get());
}

int main(int argc, char **argv)
{
	struct role roles[] = { { tuner, 60 }, { worker, 20 }, { NULL, 0 } };

	for (unsigned i = 0; i < ITEMS; i++)
		items[i] = i;
	sum_items = sum_up;
	return roles_run(argc, argv, "choices", roles);
}

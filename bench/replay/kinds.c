/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One race of each kind that replays must tell apart, for bench/replay/kinds: of
 * each the functions, whose names begin with the kind, and a caller for each
 * thread. kinds_inlined.c has the functions inlined in the callers, kindsxx.cc and
 * kindsxx_inlined.cc are the same in C++, kinds_rs.rs in Rust.
 */
#include "figure7.h"

#ifndef KIND
#define KIND NOINLINE static
#endif

enum { CELLS = 256, ITEMS = 16, AHEAD = 7 };

/* Filled once in each lap of the threads. */
struct cell {
	unsigned long value, lap;
};

typedef unsigned long (*sum_fn)(const unsigned *);

static struct cell spin_cells[CELLS], check_cells[CELLS];
static pthread_mutex_t check_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned items[ITEMS] = { 1, 2, 3, 4, 5, 6, 7, 8 };
unsigned long counter, references = 1;
unsigned freed;
unsigned bits, disjoint = 1, flags;
int redundant;
sum_fn choice;
unsigned long produced;
unsigned batch = 1;
int setting;

/* A lost update. */
KIND void counter_add(void)
{
	counter++;
}

/* Freed too soon, or never. */
KIND void references_get(void)
{
	references++;
}

KIND void references_put(void)
{
	if (--references == 0)
		freed++;
}

/* Each changes a bit of its own. */
KIND void bits_turn(unsigned bit)
{
	bits ^= bit;
}

/* A flag that both find clear, and both set. */
KIND void flags_claim(unsigned who)
{
	if (flags == 0) {
		flags = who;
		OPAQUE();
		freed += who;
		flags = 0;
	}
}

/* Looked at, locked, looked at again. */
KIND unsigned long check_get(struct cell *cell, unsigned long lap)
{
	if (cell->lap != lap) {
		pthread_mutex_lock(&check_lock);
		if (cell->lap != lap) {
			cell->value = lap * 31;
			OPAQUE();
			cell->lap = lap;
		}
		pthread_mutex_unlock(&check_lock);
	}
	OPAQUE();
	return cell->value;
}

KIND void spin_fill(struct cell *cell, unsigned long lap)
{
	cell->value = lap + 1;
	OPAQUE();
	cell->lap = lap;
}

/* It gives up when the other thread has ended. */
KIND unsigned long spin_wait(const struct cell *cell, unsigned long lap)
{
	for (unsigned long spins = 0; cell->lap != lap; spins++) {
		OPAQUE();
		if (spins > 4000000)
			return 0;
	}
	return cell->value;
}

KIND void redundant_set(void)
{
	redundant = 1;
}

/* One bit is looked at that nobody changes. */
KIND unsigned disjoint_test(void)
{
	return disjoint & 1;
}

KIND void disjoint_turn(void)
{
	disjoint ^= 2;
}

NOINLINE static unsigned long sum_up(const unsigned *of)
{
	unsigned long sum = 0;

	for (unsigned i = 0; i < ITEMS; i++)
		sum += of[i];
	return sum;
}

NOINLINE static unsigned long sum_down(const unsigned *of)
{
	unsigned long sum = 0;

	for (unsigned i = ITEMS; i-- > 0;)
		sum += of[i];
	return sum;
}

KIND void choice_set(unsigned long i)
{
	choice = i & 1 ? sum_up : sum_down;
}

KIND unsigned long choice_call(void)
{
	return choice(items);
}

/* What is not seen now is taken next time. */
KIND void produced_add(void)
{
	produced = produced + 1;
}

KIND unsigned produced_some(unsigned long taken)
{
	return produced > taken + AHEAD;
}

/* Any number at a time adds up to the same. */
KIND void batch_set(unsigned long i)
{
	batch = 1 + (unsigned)(i % 3);
}

KIND unsigned long batch_sum(void)
{
	unsigned step = batch;
	unsigned long sum = 0;

	for (unsigned i = 0; i < ITEMS; i += step) {
		for (unsigned j = i; j < i + step && j < ITEMS; j++)
			sum += items[j];
	}
	return sum;
}

/* Either value will do, and it is what the reader goes by. */
KIND void setting_set(int on)
{
	setting = on;
}

KIND int setting_get(void)
{
	return setting;
}

/* The callers of both threads; a value that comes back is used there. */
NOINLINE static void counter_first(void)
{
	counter_add();
}
NOINLINE static void counter_second(void)
{
	counter_add();
}
NOINLINE static void references_first(void)
{
	references_get();
}
NOINLINE static void references_second(void)
{
	references_put();
}
NOINLINE static void bits_first(void)
{
	bits_turn(1);
}
NOINLINE static void bits_second(void)
{
	bits_turn(2);
}
NOINLINE static void flags_first(void)
{
	flags_claim(1);
}
NOINLINE static void flags_second(void)
{
	flags_claim(2);
}
NOINLINE static void check_both(unsigned long i)
{
	use(check_get(&check_cells[i % CELLS], i / CELLS + 1));
}
NOINLINE static void spin_first(unsigned long i)
{
	spin_fill(&spin_cells[i % CELLS], i / CELLS + 1);
}
NOINLINE static void spin_second(unsigned long i)
{
	use(spin_wait(&spin_cells[i % CELLS], i / CELLS + 1));
}
NOINLINE static void redundant_both(void)
{
	redundant_set();
}
NOINLINE static void disjoint_first(void)
{
	use(disjoint_test());
}
NOINLINE static void disjoint_second(void)
{
	disjoint_turn();
}
NOINLINE static void choice_first(unsigned long i)
{
	choice_set(i);
}
NOINLINE static void choice_second(void)
{
	use(choice_call());
}
NOINLINE static void produced_first(void)
{
	produced_add();
}
NOINLINE static void produced_second(void)
{
	use(produced_some(1));
}
NOINLINE static void batch_first(unsigned long i)
{
	batch_set(i);
}
NOINLINE static void batch_second(void)
{
	use(batch_sum());
}
NOINLINE static void setting_first(unsigned long i)
{
	setting_set(i & 1);
}
NOINLINE static void setting_second(void)
{
	use((unsigned long)setting_get());
}

/*
 * A thread that is a lap ahead of the other fills the cell that the other still
 * waits for, or looks at: then the order decides which lap stays. It waits, until
 * the other has ended.
 */
static unsigned long second_at;

NOINLINE static void keep_in_step(unsigned long i)
{
	for (unsigned long spins = 0; spins < 4000000; spins++) {
		if (i <
		    __atomic_load_n(&second_at, __ATOMIC_RELAXED) + CELLS / 2)
			return;
		OPAQUE();
	}
}

static void first(unsigned long i)
{
	keep_in_step(i);
	spin_first(i);
	counter_first();
	references_first();
	bits_first();
	flags_first();
	check_both(i);
	redundant_both();
	disjoint_first();
	choice_first(i);
	produced_first();
	batch_first(i);
	setting_first(i);
}

static void second(unsigned long i)
{
	__atomic_store_n(&second_at, i, __ATOMIC_RELAXED);
	spin_second(i);
	counter_second();
	references_second();
	bits_second();
	flags_second();
	check_both(i);
	redundant_both();
	disjoint_second();
	choice_second();
	produced_second();
	batch_second();
	setting_second();
}

int main(int argc, char **argv)
{
	struct role roles[] = { { first, 60 }, { second, 20 }, { NULL, 0 } };

	choice = sum_up;
	return roles_run(argc, argv, "kinds", roles);
}

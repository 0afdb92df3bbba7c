/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers that two threads change with plain instructions and that have to be
 * right, in several widths and shapes.
 */
#include "figure7.h"

enum { SHELVES = 4 };

long stock;
unsigned char seats = 200;
unsigned short doors;
double money;
float weight;
long shelves[SHELVES];
long lowest;
unsigned long sequence;
unsigned parity;
int balance[2];
unsigned long long total;
long drained;

NOINLINE static void stock_add(long n)
{
	stock += n; /* RACE: stock */
}

NOINLINE static void stock_take(long n)
{
	stock -= n; /* RACE: stock */
}

NOINLINE static void seat_take(void)
{
	seats--; /* RACE: seats */
}

NOINLINE static void seat_give(void)
{
	seats++; /* RACE: seats */
}

NOINLINE static void door_count(void)
{
	doors += 3; /* RACE: doors */
}

NOINLINE static void money_add(double amount)
{
	money += amount; /* RACE: money */
}

NOINLINE static void weight_scale(float by)
{
	weight = weight * by + 1; /* RACE: weight */
}

NOINLINE static void shelf_add(unsigned i)
{
	shelves[i % SHELVES]++; /* RACE: shelves */
}

/* The smallest id given back so far, from where the next is given out. */
NOINLINE static void lowest_note(long id)
{
	if (id < lowest) /* RACE: lowest */
		lowest = id; /* RACE: lowest */
}

NOINLINE static void lowest_reset(void)
{
	lowest = 1000; /* RACE: lowest */
}

/* The old value becomes the number of a message. */
NOINLINE static unsigned long sequence_next(void)
{
	unsigned long old = sequence; /* RACE: sequence */

	sequence = old + 1; /* RACE: sequence */
	return old;
}

NOINLINE static void parity_flip(void)
{
	parity = !parity; /* RACE: parity */
}

/* What one has less the other has more. */
NOINLINE static void balance_move(int amount)
{
	balance[0] -= amount; /* RACE: balance */
	balance[1] += amount; /* RACE: balance */
}

NOINLINE static void total_add(unsigned n)
{
	total = total * 1 + n; /* RACE: total */
}

/* What has been taken is set to 0 and passed on: what comes meanwhile is lost. */
NOINLINE static long drained_take(void)
{
	long all = drained; /* RACE: drained */

	drained = 0; /* RACE: drained */
	return all;
}

NOINLINE static void drained_add(void)
{
	drained += 1; /* RACE: drained */
}

static void first(unsigned long i)
{
	stock_add((long)(i % 3) + 1);
	seat_take();
	door_count();
	money_add(0.25);
	weight_scale(0.5f);
	shelf_add((unsigned)i);
	lowest_note((long)(i % 900));
	use(sequence_next());
	parity_flip();
	balance_move(1);
	total_add((unsigned)i & 7);
	use((unsigned long)drained_take());
}

static void second(unsigned long i)
{
	stock_take((long)(i % 3) + 1);
	seat_give();
	door_count();
	money_add(0.5);
	weight_scale(0.25f);
	shelf_add((unsigned)i);
	if (i % 4 == 0)
		lowest_reset();
	lowest_note((long)(i % 700));
	use(sequence_next());
	parity_flip();
	balance_move(-2);
	total_add((unsigned)i & 15);
	drained_add();
}

int main(int argc, char **argv)
{
	struct role roles[] = { { first, 30 }, { second, 40 }, { NULL, 0 } };

	return roles_run(argc, argv, "updates", roles);
}

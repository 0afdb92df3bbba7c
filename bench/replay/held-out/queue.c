/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rings between threads: one with one thread on each side, which needs no lock on
 * x86, and one with two that put.
 */
#include "figure7.h"

enum { SLOTS = 64 };

struct ring {
	unsigned long head, tail;
	unsigned long slots[SLOTS];
};

static struct ring single, shared;
unsigned depth_limit = 8;
int closed;
unsigned high_water;

/* One thread puts and one takes: the slot is written before the head. */
NOINLINE static int single_put(unsigned long value)
{
	unsigned long head = single.head; /* RACE: single */

	if (head - single.tail == SLOTS) /* RACE: single */
		return 0;
	single.slots[head % SLOTS] = value; /* RACE: single */
	OPAQUE();
	single.head = head + 1; /* RACE: single */
	return 1;
}

NOINLINE static unsigned long single_take(void)
{
	unsigned long tail = single.tail; /* RACE: single */
	unsigned long value;

	if (single.head == tail) /* RACE: single */
		return 0;
	OPAQUE();
	value = single.slots[tail % SLOTS]; /* RACE: single */
	OPAQUE();
	single.tail = tail + 1; /* RACE: single */
	return value;
}

/* Two threads put here: one value is written over the other. */
NOINLINE static void shared_put(unsigned long value)
{
	unsigned long head = shared.head; /* RACE: shared */

	shared.slots[head % SLOTS] = value; /* RACE: shared */
	OPAQUE();
	shared.head = head + 1; /* RACE: shared */
}

/* Whether more is accepted: asked again for each request. */
NOINLINE static void closed_set(int value)
{
	closed = value; /* RACE: closed */
}

NOINLINE static int closed_is(void)
{
	return closed; /* RACE: closed */
}

/* How much a consumer takes at a time; all is taken, sooner or later. */
NOINLINE static void limit_tune(unsigned value)
{
	depth_limit = value % 8 + 1; /* RACE: limit */
}

NOINLINE static unsigned long limit_drain(void)
{
	unsigned most = depth_limit; /* RACE: limit */
	unsigned long sum = 0;

	for (unsigned left = 16; left > 0;) {
		unsigned now = left < most ? left : most;

		sum += now;
		left -= now;
	}
	return sum;
}

/* The most there ever was: what is less replaces what is more. */
NOINLINE static void water_note(unsigned value)
{
	if (value > high_water) /* RACE: water */
		high_water = value; /* RACE: water */
}

NOINLINE static unsigned water_reset(void)
{
	unsigned value = high_water; /* RACE: water */

	high_water = 0; /* RACE: water */
	return value;
}

static void producer(unsigned long i)
{
	use((unsigned long)single_put(i));
	shared_put(i);
	closed_set((int)(i & 1));
	limit_tune((unsigned)i);
	water_note((unsigned)i % 50);
}

static void consumer(unsigned long i)
{
	use(single_take());
	shared_put(i);
	use((unsigned long)closed_is());
	use(limit_drain());
	use(water_reset());
}

int main(int argc, char **argv)
{
	struct role roles[] = { { producer, 40 },
				{ consumer, 30 },
				{ NULL, 0 } };

	return roles_run(argc, argv, "queue", roles);
}

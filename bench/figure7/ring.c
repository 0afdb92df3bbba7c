/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A ring made for one producer, which has got two, and a mailbox that is
 * handed back and forth by a plain flag, as one can on x86.
 */
#include "figure7.h"

enum { RING = 64 };

struct ring {
	unsigned long head;
	unsigned long slots[RING];
};

struct ring ring;
unsigned long letter;
int full;

NOINLINE static void ring_put(unsigned long value)
{
	unsigned long head = ring.head; /* RACE: producers */

	ring.slots[head % RING] = value; /* RACE: producers */
	OPAQUE();
	ring.head = head + 1; /* RACE: producers */
}

/* The flag alone says whose the letter is; the letter is never raced on. */
NOINLINE static void letter_put(unsigned long value)
{
	if (full) /* RACE: mailbox */
		return;
	OPAQUE();
	letter = value;
	OPAQUE();
	full = 1; /* RACE: mailbox */
}

NOINLINE static void letter_take(void)
{
	if (!full) /* RACE: mailbox */
		return;
	OPAQUE();
	use(letter);
	OPAQUE();
	full = 0; /* RACE: mailbox */
}

static void sender(unsigned long i)
{
	ring_put(i);
	letter_put(i);
}

static void receiver(unsigned long i)
{
	ring_put(~i);
	letter_take();
}

int main(int argc, char **argv)
{
	struct role roles[] = { { sender, 40 }, { receiver, 30 }, { NULL, 0 } };

	return roles_run(argc, argv, "ring", roles);
}

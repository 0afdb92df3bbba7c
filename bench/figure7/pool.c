/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A pool of slots: one part of it is counted under two different locks, one
 * is claimed by a flag that is looked at and then set, and where to begin to
 * look is only a hint.
 */
#include "figure7.h"

enum { SLOTS = 4 };

struct slot {
	int busy;
	unsigned long owner;
};

struct slot slots[SLOTS];
unsigned last_slot;
unsigned free_count = 10;
static pthread_mutex_t take_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t give_lock = PTHREAD_MUTEX_INITIALIZER;

/* Looked at again under a lock; that it is not the giver's is the error. */
NOINLINE static int credit_take(void)
{
	int taken = 0;

	if (free_count == 0) /* RACE: credit */
		return 0;
	pthread_mutex_lock(&take_lock);
	if (free_count > 0) { /* RACE: credit */
		free_count--; /* RACE: credit */
		taken = 1;
	}
	pthread_mutex_unlock(&take_lock);
	return taken;
}

NOINLINE static void credit_give(void)
{
	pthread_mutex_lock(&give_lock);
	free_count++; /* RACE: credit */
	pthread_mutex_unlock(&give_lock);
}

/* Both find it free, both set it to 1. */
NOINLINE static int slot_claim(struct slot *slot)
{
	if (slot->busy) /* RACE: claim */
		return 0;
	slot->busy = 1; /* RACE: claim */
	return 1;
}

NOINLINE static void slot_release(struct slot *slot)
{
	slot->busy = 0; /* RACE: claim */
}

/* Where something was free the last time: any slot will do to begin with. */
NOINLINE static unsigned hint_get(void)
{
	return last_slot % SLOTS; /* RACE: hint */
}

NOINLINE static void hint_set(unsigned i)
{
	last_slot = i; /* RACE: hint */
}

static void user(unsigned long turn)
{
	unsigned first = hint_get();

	for (unsigned i = 0; i < SLOTS; i++) {
		unsigned at = (first + i) % SLOTS;

		if (!slot_claim(&slots[at]))
			continue;
		use(turn);
		slot_release(&slots[at]);
		hint_set(at + (unsigned)turn % 2);
		break;
	}
	if (turn % 4 == 0 && credit_take())
		use(turn);
}

static void giver(unsigned long turn)
{
	user(turn | 1);
	if (turn % 4 == 0)
		credit_give();
}

int main(int argc, char **argv)
{
	struct role roles[] = { { user, 40 }, { giver, 50 }, { NULL, 0 } };

	return roles_run(argc, argv, "pool", roles);
}

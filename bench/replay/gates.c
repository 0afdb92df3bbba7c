/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Values that are looked at before a lock is taken, or instead of one, by code
 * that is right whichever value it sees; and one gate that is not.
 */
#include "figure7.h"

enum { NAMES = 1 << 18, ASKED = 16, CELLS = 1 << 18 };

struct name {
	unsigned long hash;
	int known;
};

struct cell {
	unsigned long value;
	int full;
};

static struct name names[NAMES];
static struct cell cells[CELLS];
static pthread_mutex_t name_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t work_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long asked, taken;
unsigned work_waiting;
unsigned detail;
unsigned epoch;
int maintenance;
int gate_open;
unsigned long inside;

/* Looked at, locked, looked at again. */
NOINLINE static unsigned long name_hash(unsigned long i)
{
	struct name *name = &names[i];

	if (!name->known) { /* RACE: name */
		pthread_mutex_lock(&name_lock);
		if (!name->known) { /* RACE: name */
			name->hash = i * 31;
			OPAQUE();
			name->known = 1; /* RACE: name */
		}
		pthread_mutex_unlock(&name_lock);
	}
	OPAQUE();
	return name->hash;
}

/* One thread fills each cell, another waits for it. */
NOINLINE static void cell_fill(unsigned long i)
{
	struct cell *cell = &cells[i];

	cell->value = i + 1;
	OPAQUE();
	cell->full = 1; /* RACE: cell */
}

NOINLINE static unsigned long cell_wait(unsigned long i)
{
	struct cell *cell = &cells[i];

	for (int spins = 0; !cell->full; spins++) { /* RACE: cell */
		OPAQUE();
		if (spins > 1000000)
			return 0; /* the other has ended */
	}
	return cell->value;
}

/* Is there anything? It is asked again under the lock. */
NOINLINE static int work_take(void)
{
	int got = 0;

	if (work_waiting == 0) /* RACE: work */
		return 0;
	pthread_mutex_lock(&work_lock);
	if (work_waiting > 0) { /* RACE: work */
		work_waiting--; /* RACE: work */
		got = 1;
	}
	pthread_mutex_unlock(&work_lock);
	return got;
}

NOINLINE static void work_put(void)
{
	pthread_mutex_lock(&work_lock);
	if (work_waiting < 4) /* RACE: work */
		work_waiting++; /* RACE: work */
	pthread_mutex_unlock(&work_lock);
}

NOINLINE static void detail_set(unsigned level)
{
	detail = level; /* RACE: detail */
}

/* Either level is right for one message. */
NOINLINE static void detail_log(void)
{
	if (detail > 2) /* RACE: detail */
		use_text("a message");
}

NOINLINE static void epoch_advance(void)
{
	epoch = epoch + 1; /* RACE: epoch */
}

/* Something is read again when the number has changed: now, or next time. */
NOINLINE static unsigned epoch_check(unsigned last)
{
	unsigned now = epoch; /* RACE: epoch */

	if (now != last)
		use(now);
	return now;
}

NOINLINE static void maintenance_set(int on)
{
	maintenance = on; /* RACE: maintenance */
}

NOINLINE static void request_serve(unsigned long i)
{
	if (maintenance) /* RACE: maintenance */
		use_text("try again later");
	else
		use(i);
}

/* Both find the gate open, and both go in. */
NOINLINE static void gate_enter(void)
{
	if (gate_open) { /* RACE: gate */
		gate_open = 0; /* RACE: gate */
		__atomic_fetch_add(&inside, 1, __ATOMIC_RELAXED);
	}
}

NOINLINE static void gate_reopen(void)
{
	gate_open = 1; /* RACE: gate */
}

static void producer(unsigned long i)
{
	if (i / 4 < CELLS && i % 4 == 0)
		cell_fill(i / 4);
	work_put();
	detail_set((unsigned)i % 5);
	epoch_advance();
	maintenance_set(i % 8 == 0);
	gate_reopen();
}

static void consumer(unsigned long i)
{
	static unsigned last;

	if (taken < CELLS)
		use(cell_wait(taken++));
	use((unsigned long)work_take());
	detail_log();
	last = epoch_check(last);
	request_serve(i);
	gate_enter();
}

static void asker(unsigned long turn)
{
	unsigned long i =
		__atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED) / ASKED % NAMES;

	use(name_hash(i) + turn);
	gate_enter();
}

int main(int argc, char **argv)
{
	struct role roles[] = { { producer, 30 },
				{ consumer, 90 },
				{ asker, 40 },
				{ asker, 50 },
				{ NULL, 0 } };

	return roles_run(argc, argv, "gates", roles);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: publication in the style of RCU without a library. A reader
 * marks with an odd count, sequentially consistent, that it reads; the writer
 * publishes a new version and writes the old one again only after it has
 * seen every reader outside, or in a later reading.
 */
#include "target.h"
#include <stdatomic.h>

enum { READERS = 2 };

struct version {
	long number, twice;
};

static struct version versions[2];
static _Atomic(struct version *) current = &versions[0];
static atomic_ulong readings[READERS];

NOINLINE static void version_fill(struct version *version, long number)
{
	version->number = number;
	version->twice = 2 * number;
}

NOINLINE static long version_number(const struct version *version)
{
	target_check(version->twice == 2 * version->number, "version");
	return version->number;
}

static void wait_for_readers(void)
{
	for (unsigned i = 0; i < READERS; i++) {
		unsigned long seen = atomic_load(&readings[i]);

		while (seen % 2 && atomic_load(&readings[i]) == seen)
			sched_yield();
	}
}

static void *write_loop(void *arg)
{
	target_meet();
	for (unsigned long i = 1; target_goes_on(i); i++) {
		struct version *next = &versions[i % 2];

		version_fill(next, (long)i);
		atomic_store(&current, next);
		wait_for_readers();
	}
	return arg;
}

static void *read_loop(void *arg)
{
	atomic_ulong *mine = &readings[arg != NULL];
	long last = 0, now;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		atomic_fetch_add(mine, 1);
		now = version_number(
			atomic_load_explicit(&current, memory_order_seq_cst));
		atomic_fetch_add_explicit(mine, 1, memory_order_release);
		target_check(now >= last, "order");
		last = now;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 3);
	pthread_t third = target_thread(read_loop, &current);
	target_race(write_loop, read_loop);
	pthread_join(third, NULL);
	return target_done("free_epoch");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory from mmap(2), shared by two threads without a lock.
 */
#include "target.h"
#include <sys/mman.h>

uint32_t *cells;

NOINLINE static void cell_put(uint32_t *cell, uint32_t value)
{
	*cell = value; /* RACE: put */
}

NOINLINE static uint32_t cell_get(const uint32_t *cell)
{
	return *cell; /* RACE: get */
}

static void *put_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		cell_put(cells + 77, x);
		LEAVE();
		x = target_work(x, 40);
	}
	return arg;
}

static void *get_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		x += cell_get(cells + 77);
		LEAVE();
		x = target_work(x, 30);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	cells = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	target_check(cells != MAP_FAILED, "mmap");
	target_race(put_loop, get_loop);
	return target_done("mapping");
}

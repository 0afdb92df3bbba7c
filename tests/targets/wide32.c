/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A 32-byte vector, one AVX instruction on each side: an exact watch takes
 * all four debug registers.
 */
#define AVX __attribute__((target("avx")))
#include "target.h"

typedef long long wide __attribute__((vector_size(32)));

wide quad;

AVX NOINLINE static void quad_put(const wide *value)
{
	quad = *value; /* RACE: put */
}

AVX NOINLINE static void quad_get(wide *value)
{
	*value = quad; /* RACE: get */
}

static void *put_loop(void *arg)
{
	unsigned x = 1;
	wide mine = { 1, 2, 3, 4 };

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		mine[0] = (long)x;
		quad_put(&mine);
		LEAVE();
		x = target_work(x, 40);
	}
	return arg;
}

static void *get_loop(void *arg)
{
	unsigned x = 2;
	wide mine = { 0 };

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		quad_get(&mine);
		x += (unsigned)mine[0];
		LEAVE();
		x = target_work(x, 30);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(put_loop, get_loop);
	return target_done("wide32");
}

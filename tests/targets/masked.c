/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A masked vector store: one thread writes one number of eight with
 * AVX2's vpmaskmovd, the other reads that number.
 */
#include "target.h"

#define AVX2 __attribute__((target("avx2")))

typedef int vector __attribute__((vector_size(32)));

vector numbers;

AVX2 NOINLINE static void masked_put(const vector *mask, vector value)
{
	__builtin_ia32_maskstored256(&numbers, *mask, value); /* RACE: put */
}

NOINLINE static int masked_get(void)
{
	return numbers[2]; /* RACE: get */
}

AVX2 static void *put_loop(void *arg)
{
	const vector mask = { 0, 0, -1 };
	vector value = { 0 };
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		value[2] = (int)x;
		masked_put(&mask, value);
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
		x += (unsigned)masked_get();
		LEAVE();
		x = target_work(x, 30);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(put_loop, get_loop);
	return target_done("masked");
}

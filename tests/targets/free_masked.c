/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races, a control for masked vector stores: two threads work on
 * different bytes of one 64-byte line, one of them by instructions whose operand
 * is all of the line and whose mask leaves the other's bytes out, as memset in
 * the C library does on processors with AVX-512. A processor may report a
 * watched byte that the mask leaves out as touched.
 */
#include "target.h"

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512bw")))

unsigned char line[64] __attribute__((aligned(64)));
static void (*upper_put)(unsigned char x);

AVX512 NOINLINE static void upper_put_512(unsigned char x)
{
	_mm512_mask_storeu_epi8(line, ~UINT64_C(0) << 32,
				_mm512_set1_epi8((char)x));
}

AVX2 NOINLINE static void upper_put_256(unsigned char x)
{
	const __m256i mask = _mm256_setr_epi32(0, 0, 0, 0, -1, -1, -1, -1);

	_mm256_maskstore_epi32((int *)(line + 16), mask, _mm256_set1_epi32(x));
}

NOINLINE static void upper_put_plain(unsigned char x)
{
	memset(line + 32, x, 32);
}

static void upper_choose(void)
{
	if (__builtin_cpu_supports("avx512bw"))
		upper_put = upper_put_512;
	else if (__builtin_cpu_supports("avx2"))
		upper_put = upper_put_256;
	else
		upper_put = upper_put_plain;
}

NOINLINE static unsigned lower_turn(unsigned x)
{
	unsigned last;

	memcpy(&last, line + 24, sizeof(last));
	memcpy(line + 16, &x, sizeof(x));
	memcpy(line + 24, &x, sizeof(x));
	return last;
}

static void *upper_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		upper_put((unsigned char)(x = target_work(x, 40)));
	return arg;
}

static void *lower_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		x = target_work(x + lower_turn(x), 40);
	return arg;
}

int main(int argc, char **argv)
{
	upper_choose();
	target_init(argc, argv, 2);
	target_race(upper_loop, lower_loop);
	return target_done("free_masked");
}

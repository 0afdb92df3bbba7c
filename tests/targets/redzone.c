/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Leaf functions keep values below the stack pointer, in the red zone: a
 * stalled thread's must be whole afterwards.
 */
#include "special.h"

long redzone_cell[2];

NOINLINE static long redzone_leaf(long value)
{
	long back;

	__asm__ volatile("movq %1, -8(%%rsp)\n\t"
			 "movq %1, -120(%%rsp)\n\t"
			 "movq %1, %2\n\t"
			 "addq $1, %2\n\t"
			 "movq -8(%%rsp), %0\n\t"
			 "addq -120(%%rsp), %0"
			 : "=&r"(back)
			 : "r"(value), "m"(redzone_cell[value & 1])
			 : "memory", "cc");
	return back;
}

static void *leaf_loop(void *arg)
{
	long parity = arg != NULL;

	for (unsigned long i = 0; target_goes_on(i); i++) {
		long value = (long)(i * 2) + parity;

		target_check(redzone_leaf(value) == 2 * value, "red zone");
	}
	return NULL;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 1);
	pthread_t odd = target_thread(leaf_loop, &redzone_cell);

	leaf_loop(NULL);
	pthread_join(odd, NULL);
	return target_done("redzone");
}

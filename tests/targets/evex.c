/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A race of an AVX-512 store, which Valgrind does not run, with a load that comes
 * 20 ms later. For tests/run/recorders.sh, on processors that have it.
 */
#include "target.h"

static long wide[8] __attribute__((aligned(64)));

NOINLINE static void *store(void *unused)
{
	__asm__ volatile("vpxord %%zmm0, %%zmm0, %%zmm0\n\t"
			 "vmovdqu64 %%zmm0, %0"
			 : "=m"(wide)
			 :
			 : "xmm0");
	return unused;
}

NOINLINE static void *load(void *unused)
{
	usleep(20000);
	return wide[7] ? NULL : unused;
}

int main(void)
{
	pthread_t threads[] = { target_thread(store, NULL),
				target_thread(load, NULL) };

	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	target_done("evex");
	return 0;
}

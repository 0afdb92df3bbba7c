/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code is made at run time, in anonymous memory, and run: not one byte of it
 * may be changed by anybody else, so it must be out of bounds for
 * breakpoints.
 */
#include "special.h"
#include <sys/mman.h>

enum { FUNCTIONS = 64 };

/* mov %esi,%eax; add (%rdi),%rax; mov %rax,(%rdi); ret */
static const unsigned char code[] = { 0x48, 0x89, 0xf0, 0x48, 0x03,
				      0x07, 0x48, 0x89, 0x07, 0xc3 };
static unsigned char *region;

static void *jit_loop(void *arg)
{
	long cell = 0, sum = 0;

	for (unsigned long i = 0; target_goes_on(i); i++) {
		unsigned char *at = region + (i % FUNCTIONS) * sizeof(code);
		long (*add)(long *, long) =
			(long (*)(long *, long))(uintptr_t)at;

		sum += (long)i;
		target_check(add(&cell, (long)i) == sum, "its result");
		target_check(!memcmp(at, code, sizeof(code)), "its bytes");
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 1);
	region = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	target_check(region != MAP_FAILED, "mmap");
	for (int i = 0; i < FUNCTIONS; i++)
		memcpy(region + i * sizeof(code), code, sizeof(code));
	pthread_t hot = target_thread(special_loop, NULL);

	target_race(jit_loop, jit_loop);
	pthread_join(hot, NULL);
	return target_done("jit");
}

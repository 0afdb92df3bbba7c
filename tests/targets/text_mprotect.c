/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program makes its own hot text writable and read-only again, all the
 * time, and writes to a byte of it, as programs that patch themselves do.
 */
#include "special.h"
#include <sys/mman.h>

extern unsigned char text_mprotect_byte[];

/* A page of text with a byte to write to, among instructions that run. */
NOINLINE static void patched(void)
{
	__asm__ volatile("jmp 1f\n"
			 ".globl text_mprotect_byte\n"
			 "text_mprotect_byte: .byte 0\n"
			 "1:" ::
				 : "memory");
}

static void protect(int how)
{
	uintptr_t page = (uintptr_t)special_hot & ~(uintptr_t)4095;
	uintptr_t last = (uintptr_t)text_mprotect_byte & ~(uintptr_t)4095;

	if (page > last) {
		uintptr_t other = page;

		page = last;
		last = other;
	}
	target_check(!mprotect((void *)page, last - page + 4096, how),
		     "mprotect");
}

static void *patch_loop(void *arg)
{
	for (unsigned long i = 0; target_goes_on(i * 64); i++) {
		protect(PROT_READ | PROT_WRITE | PROT_EXEC);
		*(volatile unsigned char *)text_mprotect_byte = 0;
		special_hot((unsigned)i);
		protect(PROT_READ | PROT_EXEC);
		patched();
		special_hot((unsigned)i);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 1);
	target_race(patch_loop, special_loop);
	return target_done("text_mprotect");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A 32-bit program for the i386 ABI, without a library: waits to be killed. */

void _start(void);

void _start(void)
{
	/* alarm(120), a guard against being forgotten */
	__asm__ volatile("int $0x80" : : "a"(27), "b"(120));
	for (;;)
		__asm__ volatile("int $0x80" : : "a"(29));
}

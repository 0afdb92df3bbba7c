/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A 32-bit program for the i386 ABI, without a library: exits with 9. */

void _start(void);

void _start(void)
{
	__asm__ volatile("int $0x80" : : "a"(1), "b"(9));
	for (;;)
		;
}

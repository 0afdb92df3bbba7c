/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stores, and behind them, without a jump in between, an instruction that faults: a
 * load, a store, a division by memory, and one by a register. It prints what `cells'
 * are then.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>

uint64_t cells[4];
static uint64_t zero;
static sigjmp_buf back;

static void on_fault(int number)
{
	siglongjmp(back, number);
}

int main(void)
{
	uint64_t *volatile nowhere = NULL;

	signal(SIGSEGV, on_fault);
	signal(SIGFPE, on_fault);
	if (sigsetjmp(back, 1) == 0)
		__asm__ volatile("movq $11, %0\n\tmovq (%1), %%rax"
				 : "=m"(cells[0])
				 : "r"(nowhere)
				 : "rax");
	if (sigsetjmp(back, 1) == 0)
		__asm__ volatile("movq $22, %0\n\tmovq $5, (%1)"
				 : "=m"(cells[1])
				 : "r"(nowhere));
	if (sigsetjmp(back, 1) == 0)
		__asm__ volatile("movq $33, %0\n\txorl %%edx, %%edx\n\t"
				 "divq %1"
				 : "=m"(cells[2])
				 : "m"(zero)
				 : "rax", "rdx");
	if (sigsetjmp(back, 1) == 0)
		__asm__ volatile("movq $44, %0\n\txorl %%edx, %%edx\n\t"
				 "nop\n\tdivq %1"
				 : "=m"(cells[3])
				 : "r"(zero)
				 : "rax", "rdx");
	printf("%lx %lx %lx %lx\n", cells[0], cells[1], cells[2], cells[3]);
	return 0;
}

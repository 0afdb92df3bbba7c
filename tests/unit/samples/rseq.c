/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A function with a restartable sequence between two labels, described as
 * <linux/rseq.h> asks for. Never run.
 */
volatile int rseq_data;

__attribute__((noinline, noclone)) void rseq_user(void)
{
	__asm__ volatile(".pushsection __rseq_cs, \"aw\"\n"
			 ".balign 32\n"
			 ".long 0, 0\n"
			 ".quad rseq_start, rseq_end - rseq_start, rseq_abort\n"
			 ".popsection\n"
			 ".type rseq_start, @object\n"
			 "rseq_start:\n"
			 "movl $1, rseq_data(%rip)\n"
			 ".type rseq_end, @object\n"
			 "rseq_end:\n"
			 "nop\n"
			 "rseq_abort:\n"
			 "nop\n");
}

int main(void)
{
	rseq_user();
	return rseq_data;
}

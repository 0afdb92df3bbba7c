/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Restartable sequences (rseq(2)): counters per CPU, added to without atomic
 * instructions. A breakpoint in such a section would abort it for ever; a
 * stall that the kernel did not notice would lose counts.
 */
#include "special.h"
#include <sys/rseq.h>

enum { CPUS = 1024 };

static struct {
	long count;
	char pad[56];
} counters[CPUS];

/* Adds one to the counter of this CPU; 0 when it was aborted. */
NOINLINE static int add_here(struct rseq *rseq)
{
	int done = 0;
	unsigned cpu = *(volatile unsigned *)&rseq->cpu_id_start;

	__asm__ volatile(
		".pushsection __rseq_cs, \"aw\"\n"
		".balign 32\n"
		"3: .long 0, 0\n"
		".quad 1f, 2f - 1f, 4f\n"
		".popsection\n"
		"leaq 3b(%%rip), %%rax\n"
		"movq %%rax, %[cs]\n"
		"1: cmpl %[cpu], %[id]\n"
		"jnz 5f\n"
		"movq (%[counter]), %%rax\n"
		"addq $1, %%rax\n"
		"movq %%rax, (%[counter])\n"
		"2: movl $1, %[done]\n"
		"jmp 5f\n"
		".byte 0x0f, 0xb9, 0x3d\n" /* ud1: the signature goes with it */
		".long %c[signature]\n"
		"4: nop\n"
		"5:\n"
		: [done] "+r"(done), [cs] "=m"(rseq->rseq_cs)
		: [cpu] "r"(cpu), [id] "m"(rseq->cpu_id),
		  [counter] "r"(&counters[cpu % CPUS].count),
		  [signature] "i"(RSEQ_SIG)
		: "rax", "memory", "cc");
	return done;
}

static void *adding_loop(void *arg)
{
	struct rseq *rseq = (struct rseq *)((char *)__builtin_thread_pointer() +
					    __rseq_offset);
	unsigned long *added = arg;

	while (target_goes_on(++*added))
		while (!add_here(rseq))
			;
	return arg;
}

int main(int argc, char **argv)
{
	unsigned long added[3] = { 0 };
	pthread_t threads[3];
	long sum = 0;

	target_check(__rseq_size > 0, "no rseq");
	target_init(argc, argv, 1);
	for (int i = 0; i < 3; i++)
		threads[i] = target_thread(adding_loop, &added[i]);
	special_loop(NULL);
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], NULL);
		sum -= (long)added[i] - 1;
	}
	for (int i = 0; i < CPUS; i++)
		sum += counters[i].count;
	target_check(sum == 0, "counts were lost");
	return target_done("rseq_section");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Passing a breakpoint of a recording that stays: the thread executes a copy of the
 * instruction, in memory of its own process, and a jump behind it leads back. The
 * breakpoint is not lifted for that, so that it stops every other thread.
 *
 * - The memory is mapped by the program, once in an address space for thousands of
 *   instructions: a system call that a stopped thread is made to execute, unless
 *   it has a filter for those (seccomp(2)), which may kill it. It is near the code,
 *   for operands that are relative to rip, private, never written by the program, and
 *   below any place that a stack (MAP_GROWSDOWN) may still grow to.
 * - A copy is written before the first thread gets there, and compared before each
 *   next one: where the program has mapped something else, no more is written.
 * - At every stop the thread is back at the original, or behind it: the program,
 *   its handlers and whoever looks at the thread never see the copy.
 *
 * What cannot be copied (x86/relocate.h), and a sequence that the kernel begins anew
 * when it is left (rseq(2)), is passed as before: by lifting the breakpoint.
 */
#ifndef TRACEE_DISPLACED_H
#define TRACEE_DISPLACED_H

#include <stdbool.h>

struct breakpoint;
struct stop_reason;
struct thread;
struct tracees;
struct x86_registers;

/*
 * The thread, stopped in no call, is at the breakpoint with these registers: it is to
 * execute a copy of the instruction when it is resumed. False: there is none, nothing
 * was changed.
 */
bool displaced_begin(struct tracees *tracees, struct thread *thread,
		     const struct breakpoint *breakpoint,
		     const struct x86_registers *regs);

/* The stopped thread is about to be resumed, with the signal thread.deliver. */
void displaced_resuming(struct thread *thread);

/* The thread has stopped, or ended. */
void displaced_stopped(struct thread *thread, const struct stop_reason *stop);

/* It has executed a part of the instruction, and is at it again. */
void displaced_end(struct thread *thread);

/*
 * At a breakpoint: did a handler interrupt the thread there with these registers,
 * before it had executed the instruction? Then it meets the breakpoint again for
 * the same execution. True once.
 */
bool displaced_again(struct thread *thread, const struct x86_registers *regs);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which executions of its instruction are those of a side, and how many there
 * were (RaceHunter, definition 11).
 */
#ifndef TRACER_HUNT_COUNT_H
#define TRACER_HUNT_COUNT_H

#include <stdbool.h>

struct hunt_target;
struct thread;
struct x86_registers;

/*
 * The thread is about to execute the instruction: is it one that the side means?
 * The return addresses are looked for on the stack in their order, among the
 * words of its first HUNT_STACK_BYTES: frames are not walked, so that a word that
 * an earlier call has left may be taken for one.
 */
bool hunt_is_meant(const struct hunt_target *target,
		   const struct thread *thread,
		   const struct x86_registers *regs);

/*
 * Count such an execution, or as many as the claim's period. True: the execution
 * that the thread is about to make is the side itself. It becomes near, when the
 * next one is.
 */
bool hunt_counts(struct hunt_target *target, const struct thread *thread);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that are resumed on a lifted location (struct thread_parking): if it
 * were armed again before they have moved, they would trap again, without end.
 */
#ifndef TRACEE_PARKING_H
#define TRACEE_PARKING_H

#include <stdbool.h>
#include <stdint.h>

struct thread;
struct x86_registers;

/* The thread is known to have moved away from where it was parked. */
void thread_unpark(struct thread *thread);

/* Note that it will be resumed standing on this location. */
void thread_park(struct thread *thread, uint64_t address,
		 const struct x86_registers *regs);

/*
 * If its parking blocks this location: has it run since? Then it is unparked.
 */
bool thread_has_left(struct thread *thread, uint64_t address);

#endif

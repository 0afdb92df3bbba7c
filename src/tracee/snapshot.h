/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Copies the state of the threads of a conflict, so that they can continue at
 * once and the copies be read afterwards.
 */
#ifndef TRACEE_SNAPSHOT_H
#define TRACEE_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "wire/message.h"

struct memory;
struct perfring_sample;
struct thread;
struct tracees;

/*
 * Identity, registers and stack of a stopped thread. stack has WIRE_STACK_MAX
 * bytes; ret->stack_size tells how many were filled.
 */
void snapshot_thread(struct thread *thread, const struct x86_registers *regs,
		     struct wire_side *ret, uint8_t *stack);

/* The same of a thread that runs on, from the kernel's record. */
void snapshot_sample(const struct tracees *tracees,
		     const struct perfring_sample *sample,
		     struct wire_side *ret, uint8_t *stack);

/*
 * The vector registers of the thread (NULL: it runs on), and memory near the
 * address and what ret->regs point to. `bytes' has WIRE_MACHINE_MAX.
 */
void snapshot_machine(const struct memory *memory, const struct thread *thread,
		      uint64_t address, struct wire_side *ret, uint8_t *bytes);
/* How many of them are filled. */
size_t snapshot_machine_size(const struct wire_side *side);

#endif

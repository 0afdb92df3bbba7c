/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The vector and mask registers of a thread, and PKRU, from the area that XSAVE writes
 * and ptrace(2) copies (NT_X86_XSTATE; Intel SDM volume 1, 13.4).
 */
#ifndef X86_VECTORS_H
#define X86_VECTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	X86_VECTORS = 32,
	X86_VECTOR_BYTES = 64,
	X86_MASKS = 8,
};

struct x86_vectors {
	bool known;
	uint8_t reg[X86_VECTORS][X86_VECTOR_BYTES];
	uint64_t mask[X86_MASKS];
};

/*
 * Read the area in the standard format, as this machine lays it out. *ret is
 * all unknown if it is too short for anything.
 */
void vectors_read(const uint8_t *area, size_t size, struct x86_vectors *ret);

/*
 * The lowest eight bytes of one of the first sixteen registers; 0 if the area is too
 * short. They lie where they always do: no CPUID is executed, for which a virtual
 * machine's host is asked. That takes 11 us, and vectors_read() does it four times.
 */
uint64_t vectors_low(const uint8_t *area, size_t size, unsigned int number);

/*
 * Does the instruction leave all that is in the area as it is? False where that is
 * not known, as it is of those that compilers use for numbers and addresses.
 */
bool vectors_are_left(const uint8_t *bytes, size_t size);

/*
 * The rights of protection keys (PKRU; SDM volume 3, 4.6.2), two bits a key. 0, all
 * is allowed: also where there is no such register.
 */
uint32_t vectors_key_rights(const uint8_t *area, size_t size);

#endif
